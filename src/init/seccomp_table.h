/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_INIT_SECCOMP_TABLE_H
#define DW_INIT_SECCOMP_TABLE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/close_range.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

/*
 * The system calls that a program in a cell may make.
 *
 * This is an allow-list: a call that is not named here fails with ENOSYS, as if
 * the kernel lacked it, so a libc that tries a new call falls back to an old one.
 * A name that the libseccomp we are built with does not know is skipped; that
 * call fails with ENOSYS too. Calls that an architecture lacks are listed at the end.
 *
 * There are five tables; the comment at the end lists what is left out on purpose:
 *
 *   dw_seccomp_allowed    the call is allowed;
 *   dw_seccomp_arguments  ... but only with these arguments;
 *   dw_seccomp_refused    the call fails with EPERM;
 *   dw_seccomp_last       the same, but a zygote itself needs these calls;
 *   dw_seccomp_ignored    the call returns success, and does nothing.
 *
 * A zygote (runners/zygote.c) loads nearly all of this for itself, and its children
 * inherit it, because the kernel takes long to compile a filter. The calls that the
 * children need on their way into a cell are refused by a last, short filter, which each
 * child loads itself: dw_seccomp_last, and the rules that are LAST.
 *
 * Only tools/seccomp-gen.c reads this; the launcher has the compiled filters.
 */

/* Related names share a line; clang-format would arrange them in columns. */
/* clang-format off */

static const char *const dw_seccomp_allowed[] = {
	/* To read and write. */
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev",
	"preadv2", "pwritev2", "lseek", "close", "close_range",
	"dup", "dup2", "dup3", "fcntl", "flock", "ioctl", "pipe", "pipe2",

	/* To move bytes without reading them: cp, node's fs.copyFile, Go's io.Copy. */
	"sendfile", "copy_file_range", "splice", "tee", "vmsplice",

	/* To find, make and remove files. */
	"open", "openat", "creat", "access", "faccessat", "faccessat2",
	"stat", "fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs",
	"readlink", "readlinkat", "getdents", "getdents64", "getcwd", "chdir", "fchdir",
	"mkdir", "mkdirat", "rmdir", "unlink", "unlinkat",
	"rename", "renameat", "renameat2", "link", "linkat",
	"symlink", "symlinkat", "mknod", "mknodat",
	"truncate", "ftruncate", "fallocate", "umask",
	"chmod", "fchmod", "fchmodat", "fchmodat2",
	"utime", "utimes", "futimesat", "utimensat",

	/* Without capabilities these change nothing that is not the caller's. */
	"chown", "fchown", "lchown", "fchownat",
	"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
	"setxattr", "lsetxattr", "fsetxattr",
	"removexattr", "lremovexattr", "fremovexattr",

	/* To get data onto the disk: databases and editors. */
	"fsync", "fdatasync", "sync_file_range", "fadvise64", "readahead",

	/* To wait for events; node, Go and Python's asyncio use epoll. */
	"poll", "ppoll", "select", "pselect6",
	"epoll_create", "epoll_create1", "epoll_ctl",
	"epoll_wait", "epoll_pwait", "epoll_pwait2",
	"eventfd", "eventfd2", "signalfd", "signalfd4",
	"timerfd_create", "timerfd_settime", "timerfd_gettime",

	/* Memory. The JVM and Go use mincore to inspect their own stacks and pages. */
	"brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "msync", "mincore",
	"mseal", "memfd_create",
	/* RLIMIT_MEMLOCK limits locked memory, and the cell's cgroup counts it. */
	"mlock", "mlock2", "munlock", "mlockall", "munlockall",
	/* V8 protects the pages of the code that it compiles. */
	"pkey_alloc", "pkey_free", "pkey_mprotect",

	/* Processes and threads. clone has rules below; clone3 is left out. */
	"clone", "fork", "vfork", "execve", "execveat", "exit", "exit_group",
	"wait4", "waitid", "pidfd_open", "pidfd_send_signal",
	"getpid", "getppid", "gettid", "getpgid", "getpgrp", "getsid",
	"setpgid", "setsid",
	"set_tid_address", "set_robust_list", "get_robust_list", "rseq", "membarrier",
	"futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue",
	/* Every libc sets up its thread pointer and shadow stack with these. */
	"arch_prctl", "map_shadow_stack",
	"personality", "prctl",

	/* Signals reach only processes in the pid namespace. */
	"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
	"rt_sigaction", "rt_sigprocmask", "rt_sigpending", "rt_sigsuspend",
	"rt_sigtimedwait", "rt_sigreturn", "sigaltstack", "pause", "restart_syscall",

	/* Ids. Without capabilities a process changes only to an id that it already has. */
	"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
	"setfsuid", "setfsgid", "setgroups", "capget", "capset",

	/* Priorities and limits: an unprivileged process can only lower them. */
	"getpriority", "setpriority", "ioprio_get", "ioprio_set",
	"getrlimit", "setrlimit", "prlimit64", "getrusage",
	"sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam",
	"sched_setparam", "sched_getscheduler", "sched_setscheduler", "sched_getattr",
	"sched_setattr", "sched_get_priority_max", "sched_get_priority_min",
	"sched_rr_get_interval", "getcpu",

	/* Time is read, never set. */
	"time", "gettimeofday", "times",
	"clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep",
	"alarm", "getitimer", "setitimer",
	"timer_create", "timer_settime", "timer_gettime",
	"timer_getoverrun", "timer_delete",

	/* Facts about the machine that programs read when they start. */
	"uname", "sysinfo", "getrandom",

	/* Sockets; socket, socketpair and setsockopt have rules below. */
	"socket", "socketpair", "bind", "connect", "listen", "accept", "accept4",
	"shutdown", "getsockname", "getpeername", "getsockopt", "setsockopt",
	"sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg",

	/* The cell has its own ipc namespace; PHP's shmop and Perl's IPC::SysV need these. */
	"shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl",
	"msgget", "msgsnd", "msgrcv", "msgctl",
	"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive",
	"mq_notify", "mq_getsetattr",

	/* A program may restrict itself further: these calls cannot grant anything. */
	"seccomp",
	"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
};

/*
 * A rule compares the low 32 bits of one argument, because the kernel uses only these:
 * if 64 bits were compared, a bit set above them would evade the rule (CVE-2019-10063).
 * So there is no rule for a pointer, an offset or a size, except for pointers that must
 * be NULL, which have a rule for each half. The rules of a call are adjacent, and all of
 * them must hold.
 */
enum dw_seccomp_test {
	DW_ONE_OF,
	DW_NONE_OF
};

struct dw_seccomp_argument {
	const char *name;
	struct {
		bool set;
		bool any;
		unsigned arg;
		uint32_t value;
	} when; /* the rule applies only if this argument has this value or, with any
		 * set, any of its bits */
	unsigned arg;
	bool high; /* compare the upper 32 bits, for a pointer that must be NULL */
	uint32_t mask;
	enum dw_seccomp_test test;
	const uint32_t *values;
	size_t n_values;
	int answer; /* the errno of a call that breaks the rule */
	bool last;  /* the rule is in the last filter */
};

#define ALWAYS {.set = false}
#define WHEN(n, v) {.set = true, .arg = (n), .value = (v)}
#define WHEN_ANY(n, v) {.set = true, .any = true, .arg = (n), .value = (v)}
#define ARG(n) .arg = (n), .mask = UINT32_MAX
#define BITS(n, m) .arg = (n), .mask = (m)
#define UPPER(n) .arg = (n), .high = true, .mask = UINT32_MAX
#define LIST(...) .values = (const uint32_t[]){__VA_ARGS__}, \
	.n_values = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define ONE_OF(...) .test = DW_ONE_OF, LIST(__VA_ARGS__)
#define NONE_OF(...) .test = DW_NONE_OF, LIST(__VA_ARGS__)
#define ELSE(e) .answer = (e)
#define LAST .last = true

/* The kernel's SOCK_TYPE_MASK: SOCK_CLOEXEC and SOCK_NONBLOCK are above it. */
#define TYPE 0xfU

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
                    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* Newer than Debian 12's headers, or not in any that programs may use. */
#define GET_FS_UUID _IOR(0x15, 0, char[17])
#define GET_FS_SYSFS_PATH _IOR(0x15, 1, char[129])
#define EXT4_GET_FS_UUID _IOR('f', 44, uint64_t)
#define EXT4_GET_ES_CACHE _IOWR('f', 42, struct fiemap)

#define SET_ID (S_ISUID | S_ISGID)
/* O_CREAT, and O_TMPFILE without the O_DIRECTORY that is part of it. */
#define CREATES (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))

static const struct dw_seccomp_argument dw_seccomp_arguments[] = {
	/*
	 * No new namespaces: in its own user namespace a program has every capability,
	 * and reaches the kernel code where most escapes begin. CLONE_NEWTIME is not
	 * in the list because clone(2) takes its bit as part of the exit signal.
	 * CLONE_PARENT would give the caller's parent a child that it does not expect.
	 */
	{"clone", ALWAYS, BITS(0, NAMESPACES | CLONE_PARENT), ONE_OF(0), ELSE(EPERM)},
	/*
	 * Threads must share their descriptors, as in every libc: init inspects one
	 * descriptor table per process to add up what a cell holds.
	 */
	{"clone", WHEN_ANY(0, CLONE_THREAD), BITS(0, CLONE_FILES), ONE_OF(CLONE_FILES),
	 ELSE(EPERM)},
	{"close_range", ALWAYS, BITS(2, CLOSE_RANGE_UNSHARE), ONE_OF(0), ELSE(EINVAL)},

	/*
	 * Only the families that programs use: AF_ALG, AF_VSOCK, AF_RXRPC, AF_PACKET,
	 * AF_KEY, AF_TIPC and the rest load kernel modules that are rarely reviewed.
	 */
	{"socket", ALWAYS, ARG(0), ONE_OF(AF_UNIX, AF_INET, AF_INET6, AF_NETLINK),
	 ELSE(EAFNOSUPPORT)},
	{"socket", WHEN(0, AF_UNIX), BITS(1, TYPE),
	 ONE_OF(SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET), ELSE(EPERM)},
	/* Raw sockets forge packets; SOCK_PACKET turns AF_INET into AF_PACKET. */
	{"socket", WHEN(0, AF_INET), BITS(1, TYPE), ONE_OF(SOCK_STREAM, SOCK_DGRAM),
	 ELSE(EPERM)},
	{"socket", WHEN(0, AF_INET6), BITS(1, TYPE), ONE_OF(SOCK_STREAM, SOCK_DGRAM),
	 ELSE(EPERM)},
	/*
	 * SCTP, L2TP, SMC, MPTCP and UDP-Lite use ordinary socket types. The errno is
	 * that of a kernel without them, after which Go falls back to plain TCP.
	 */
	{"socket", WHEN(0, AF_INET), ARG(2),
	 ONE_OF(0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP), ELSE(EPROTONOSUPPORT)},
	{"socket", WHEN(0, AF_INET6), ARG(2),
	 ONE_OF(0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6), ELSE(EPROTONOSUPPORT)},
	/* getifaddrs() needs rtnetlink; NETFILTER, XFRM and the rest help escapes. */
	{"socket", WHEN(0, AF_NETLINK), ARG(2), ONE_OF(NETLINK_ROUTE), ELSE(EPERM)},

	/* AF_UNIX is the only allowed family with socket pairs. */
	{"socketpair", ALWAYS, ARG(0), ONE_OF(AF_UNIX), ELSE(EAFNOSUPPORT)},
	{"socketpair", ALWAYS, BITS(1, TYPE),
	 ONE_OF(SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET), ELSE(EPERM)},

	/* These load BPF programs into the kernel. */
	{"setsockopt", WHEN(1, SOL_SOCKET), ARG(2),
	 NONE_OF(SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF,
	         SO_ATTACH_REUSEPORT_EBPF), ELSE(ENOPROTOOPT)},
	/* These switch an open socket to TLS, ESP or SMC in the kernel. */
	{"setsockopt", WHEN(1, IPPROTO_TCP), ARG(2), NONE_OF(TCP_ULP),
	 ELSE(ENOPROTOOPT)},
	{"setsockopt", WHEN(1, IPPROTO_UDP), ARG(2), NONE_OF(UDP_ENCAP),
	 ELSE(ENOPROTOOPT)},

	/*
	 * A deny-list: each driver defines its own ioctls, and the cell's /dev has few
	 * drivers. The filter refuses ioctls that type into a terminal for its owner
	 * (CVE-2017-5226), take a terminal over, load a line discipline, or tell where
	 * on the host's disk a file is. Without TIOCSCTTY forkpty() fails.
	 */
	{"ioctl", ALWAYS, ARG(1),
	 NONE_OF(TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSCTTY, TIOCSETD, FIBMAP,
	         FS_IOC_FIEMAP), ELSE(EPERM)},
	/* These concern keys that a file system would keep after the end of the cell. */
	{"ioctl", ALWAYS, ARG(1),
	 NONE_OF(FS_IOC_ADD_ENCRYPTION_KEY, FS_IOC_REMOVE_ENCRYPTION_KEY,
	         FS_IOC_SET_ENCRYPTION_POLICY), ELSE(ENOTTY)},
	/* These change a file's flags, unchecked by Landlock; verity is permanent. */
	{"ioctl", ALWAYS, ARG(1),
	 NONE_OF(FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION,
	         FS_IOC32_SETVERSION, FS_IOC_ENABLE_VERITY), ELSE(ENOTTY)},
	/* These read names of the host's file systems; a cell's own have no such name. */
	{"ioctl", ALWAYS, ARG(1),
	 NONE_OF(FS_IOC_GETFSLABEL, GET_FS_UUID, GET_FS_SYSFS_PATH, EXT4_GET_FS_UUID,
	         BTRFS_IOC_FS_INFO, BTRFS_IOC_GET_SUBVOL_INFO), ELSE(ENOTTY)},
	/* This one also tells where on the disk a file is. */
	{"ioctl", ALWAYS, ARG(1), NONE_OF(EXT4_GET_ES_CACHE), ELSE(ENOTTY)},

	/* Huge pages come from a pool of the host, and no limit of the cell counts them. */
	{"mmap", ALWAYS, BITS(3, MAP_HUGETLB), ONE_OF(0), ELSE(ENOMEM)},
	{"memfd_create", ALWAYS, BITS(1, MFD_HUGETLB), ONE_OF(0), ELSE(EINVAL)},
	{"shmget", ALWAYS, BITS(2, SHM_HUGETLB), ONE_OF(0), ELSE(ENOMEM)},

	/*
	 * A lease makes other processes that open the file wait for its holder, and the
	 * files of a workspace belong to the caller. F_NOTIFY is the older directory
	 * watch.
	 */
	{"fcntl", ALWAYS, ARG(1), NONE_OF(F_SETLEASE, F_NOTIFY), ELSE(EPERM)},

	/*
	 * Init has the same user id as the program, and these calls check only the id.
	 * The program must not change init's limits, priority or core. In a cell, init
	 * is pid 1. At level process it has another pid, and with a lower limit of open
	 * files it could not inspect the cell: so prlimit64 accepts only pid 0, the
	 * caller itself.
	 */
	{"prlimit64", ALWAYS, ARG(0), ONE_OF(0), ELSE(EPERM), LAST},
	/* The limit on core files keeps the host's crash handler from being started. */
	{"prlimit64", WHEN(1, RLIMIT_CORE), ARG(2), ONE_OF(0), ELSE(EPERM), LAST},
	{"prlimit64", WHEN(1, RLIMIT_CORE), UPPER(2), ONE_OF(0), ELSE(EPERM), LAST},
	{"setrlimit", ALWAYS, ARG(0), NONE_OF(RLIMIT_CORE), ELSE(EPERM)},
	{"sched_setaffinity", ALWAYS, ARG(0), NONE_OF(1), ELSE(EPERM)},
	{"sched_setscheduler", ALWAYS, ARG(0), NONE_OF(1), ELSE(EPERM)},
	{"sched_setparam", ALWAYS, ARG(0), NONE_OF(1), ELSE(EPERM)},
	{"sched_setattr", ALWAYS, ARG(0), NONE_OF(1), ELSE(EPERM)},
	{"setpriority", ALWAYS, ARG(0), NONE_OF(PRIO_USER), ELSE(EPERM)},
	{"setpriority", WHEN(0, PRIO_PROCESS), ARG(1), NONE_OF(1), ELSE(EPERM)},
	{"ioprio_set", ALWAYS, ARG(0), NONE_OF(IOPRIO_WHO_USER), ELSE(EPERM)},
	{"ioprio_set", WHEN(0, IOPRIO_WHO_PROCESS), ARG(1), NONE_OF(1), ELSE(EPERM)},
	/*
	 * A program's own filter may refuse calls, but neither write to the host's log
	 * nor pass calls to another process.
	 */
	{"seccomp", ALWAYS, BITS(1, SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_NEW_LISTENER),
	 ONE_OF(0), ELSE(EINVAL)},
	/* Init cannot inspect a process that is not dumpable, and so could not count it. */
	{"prctl", ALWAYS, ARG(0), NONE_OF(PR_SET_DUMPABLE), ELSE(EPERM), LAST},

	/*
	 * A file that a cell leaves in a writable folder has an owner on the host. With
	 * a set-id bit any user could run it as that owner, possibly root. Without
	 * O_CREAT the mode of open() is unset, so it is not checked.
	 */
	{"chmod", ALWAYS, BITS(1, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"fchmod", ALWAYS, BITS(1, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"fchmodat", ALWAYS, BITS(2, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"fchmodat2", ALWAYS, BITS(2, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"creat", ALWAYS, BITS(1, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"open", WHEN_ANY(1, CREATES), BITS(2, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"openat", WHEN_ANY(2, CREATES), BITS(3, SET_ID), ONE_OF(0), ELSE(EPERM)},
	/*
	 * No devices, not even the whiteout device of overlayfs, which a rename can
	 * also create.
	 */
	{"renameat2", ALWAYS, BITS(4, RENAME_WHITEOUT), ONE_OF(0), ELSE(EPERM)},
	{"mknod", ALWAYS, BITS(1, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"mknod", ALWAYS, BITS(1, S_IFMT), ONE_OF(0, S_IFREG, S_IFIFO, S_IFSOCK),
	 ELSE(EPERM)},
	{"mknodat", ALWAYS, BITS(2, SET_ID), ONE_OF(0), ELSE(EPERM)},
	{"mknodat", ALWAYS, BITS(2, S_IFMT), ONE_OF(0, S_IFREG, S_IFIFO, S_IFSOCK),
	 ELSE(EPERM)},

	/*
	 * Allowed: Linux, 32 bit Linux, an old version in uname, and reading the
	 * current value. The other flags make exploits easier: no randomization,
	 * readable means executable, a page at address 0.
	 */
	{"personality", ALWAYS, ARG(0),
	 ONE_OF(PER_LINUX, PER_LINUX32, UNAME26, UNAME26 | PER_LINUX32, 0xffffffff),
	 ELSE(EPERM)},
};

#undef ALWAYS
#undef WHEN
#undef WHEN_ANY
#undef ARG
#undef BITS
#undef UPPER
#undef LIST
#undef ONE_OF
#undef NONE_OF
#undef ELSE
#undef LAST
#undef TYPE
#undef NAMESPACES
#undef SET_ID
#undef GET_FS_UUID
#undef GET_FS_SYSFS_PATH
#undef EXT4_GET_FS_UUID
#undef EXT4_GET_ES_CACHE
#undef CREATES

static const char *const dw_seccomp_refused[] = {
	/* New namespaces; see clone. */
	"unshare",

	/* The mounts are a wall; both the old and the new calls change them. */
	"mount", "umount", "umount2", "pivot_root", "chroot",
	"fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "open_tree_attr",
	"move_mount", "mount_setattr",
	/* These open a file by inode number, whatever directory it is in ("shocker"). */
	"open_by_handle_at", "name_to_handle_at",

	/* These access the memory and descriptors of another process; see ptrace. */
	"process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd",
	"kcmp", "move_pages", "migrate_pages",

	/* Large interfaces, where kernel exploits begin or become reliable. */
	"bpf", "perf_event_open", "userfaultfd", "modify_ldt",

	/* Keyrings are not in any namespace: the next cell would find this cell's keys. */
	"add_key", "request_key", "keyctl",

	/* These watch whole mounts, and can block open() in every process. */
	"fanotify_init", "fanotify_mark",

	/* The host: its kernel, modules, clock, name, disks, ports and log. */
	"kexec_load", "kexec_file_load", "reboot",
	"init_module", "finit_module", "delete_module", "create_module", "query_module",
	"get_kernel_syms",
	"settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "stime",
	"sethostname", "setdomainname",
	"swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "nfsservctl",
	"iopl", "ioperm", "syslog", "lookup_dcookie", "vhangup",
};

static const char *const dw_seccomp_last[] = {
	/* Joins other namespaces: a zygote's child needs it to enter its cell. */
	"setns",
	/*
	 * Accesses the memory and registers of another process: a zygote needs it to
	 * learn which pages a run touches. Without ptrace, gdb, strace and gcc's
	 * LeakSanitizer do not work (for the last, set ASAN_OPTIONS=detect_leaks=0).
	 */
	"ptrace",
};

/*
 * On the host these two flush the files of all processes, so one cell could slow all
 * others down. They do nothing instead: sync() cannot fail, and a cell's own files are in
 * memory. fsync() makes a file in a shared folder durable.
 */
static const char *const dw_seccomp_ignored[] = {
	"sync", "syncfs",
};

/*
 * Names above that an architecture lacks; its libc uses other calls, which are also
 * above. A name that is neither a call of the architecture nor listed here fails the
 * build.
 */
static const char *const dw_seccomp_not_x86_64[] = {
	"umount", "stime",
};

static const char *const dw_seccomp_not_aarch64[] = {
	/* The older calls, each of which has a successor: dup3, openat, ... */
	"dup2", "pipe", "open", "creat", "access", "stat", "lstat", "readlink", "getdents",
	"mkdir", "rmdir", "unlink", "rename", "link", "symlink", "mknod", "chmod",
	"utime", "utimes", "futimesat", "chown", "lchown", "poll", "select",
	"epoll_create", "epoll_wait", "eventfd", "signalfd", "fork", "vfork", "getpgrp",
	"pause", "time", "alarm", "umount", "stime",
	/* Calls that exist only on x86, and of old kernels. */
	"arch_prctl", "modify_ldt", "iopl", "ioperm",
	"create_module", "query_module", "get_kernel_syms",
};

/* clang-format on */

/*
 * Omitted on purpose, so they fail with ENOSYS:
 *
 *   clone3               its flags are in memory, which a filter cannot read; every
 *                        libc falls back to clone
 *   openat2              its mode is in memory too; see chmod
 *   io_uring_*           performs most calls above without passing the filter
 *   io_setup, io_submit  the older interface; programs fall back to threads
 *   get_mempolicy, set_mempolicy, mbind, set_mempolicy_home_node
 *                        on ENOSYS libnuma assumes that there is no NUMA
 *   cachestat            tells which pages of the host's /usr other processes read
 *   inotify_*            tells when other processes and cells open a file of the host's
 *                        /usr; tail -f falls back to polling, node's fs.watch fails
 *   memfd_secret         memory that the kernel cannot reclaim
 *   process_mrelease     useful only to a process that kills others: in a cell, init
 *   statmount, listmount, lsm_*
 *                        they reveal the walls, and no program needs them yet
 *   setxattrat and similar calls, file_getattr, file_setattr
 *                        new; programs fall back to the older calls
 *   rtas, s390_*, spu_*, sys_debug_setcontext
 *                        of architectures that Dewar does not support
 *   remap_file_pages, uselib, ustat, sysfs, _sysctl, get_thread_area,
 *   set_thread_area, getpmsg, putpmsg, afs_syscall, tuxcall, security, vserver
 *                        obsolete
 */

#endif
