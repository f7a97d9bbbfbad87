/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call is made twice, each time in a new child process: with the filter, where the
 * answer must be the filter's, and without it, where the answer must be another one (a
 * call that the kernel refuses anyway proves nothing). The arguments make a call that the
 * filter lets through harmless.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/close_range.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dewar/error.h"
#include "init/init.h"

/* The kernel truncates an int argument to 32 bits: a filter that does not is bypassed. */
#define HIGH (1UL << 32)
#define NOWHERE 1UL /* an address that is never mapped: EFAULT */
#define NO_FD ((unsigned long)-1)

/* System calls of kernels newer than the headers. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* The answer of a child, in shared memory. */
static int *told;

static int make_shared(void **state)
{
	(void)state;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
	            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told == MAP_FAILED ? -1 : 0;
}

static void raise_wall(void)
{
	struct dw_error err = {0};

	assert(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	assert(dw_seccomp_load(&err) == 0);
}

/* Returns what fn() returns in a new child, or the negative signal that killed it. */
static int in_child(bool walled, int (*fn)(const void *), const void *arg)
{
	int status;
	pid_t pid;

	*told = INT32_MIN;
	(void)fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (walled)
			raise_wall();
		*told = fn(arg);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return -WTERMSIG(status);
	assert_int_not_equal(*told, INT32_MIN);
	return *told;
}

struct call {
	long nr;
	unsigned long a[6];
};

/* Returns 0 or the errno. */
static int make_call(const void *arg)
{
	const struct call *c = arg;
	pid_t self = getpid();
	long r;

	r = syscall(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
	/* The call was clone(), and this is the new process. */
	if (getpid() != self)
		_exit(0);
	return r < 0 ? errno : 0;
}

#define ANSWER(walled, ...) \
	in_child((walled), make_call, &(const struct call){__VA_ARGS__})
#define WALLED(...) ANSWER(true, __VA_ARGS__)
#define OPEN(...) ANSWER(false, __VA_ARGS__)

/*
 * Returns true if the answer is the same without the filter, so that the probe cannot fail.
 * An exception is EPERM for a plain user, where root gets further: the tests also run as
 * root.
 */
static bool proves_nothing(int want, int open)
{
	return open == want && (want != EPERM || geteuid() == 0);
}

enum control {
	MUST_DIFFER,
	IF_BUILT, /* some kernels lack the call, which leaves no control */
	HARMFUL,  /* must not be made without the filter */
};

struct probe {
	const char *what;
	struct call call;
	enum control control;
};

/* clang-format mistakes #name for a directive. */
/* clang-format off */
#define MUST(name, ...)                                           \
	{                                                         \
#name, {SYS_##name, {__VA_ARGS__ } }, MUST_DIFFER \
	}
#define MAY(name, ...)                                         \
	{                                                      \
#name, {SYS_##name, {__VA_ARGS__ } }, IF_BUILT \
	}
/* clang-format on */

static void all_answer(const struct probe *probes, size_t n, int want)
{
	int walled, open;

	for (size_t i = 0; i < n; i++) {
		walled = in_child(true, make_call, &probes[i].call);
		if (walled != want)
			fail_msg("%s: %d with the filter, not %d", probes[i].what, walled,
			         want);
		if (probes[i].control == HARMFUL)
			continue;

		open = in_child(false, make_call, &probes[i].call);
		if (open == want && probes[i].control == IF_BUILT)
			print_message("%s: missing in this kernel, no control\n",
			              probes[i].what);
		else if (proves_nothing(want, open))
			fail_msg("%s: %d without the filter, too", probes[i].what, open);
	}
}

static void calls_refused_by_name_are_not_permitted(void **state)
{
	static const struct probe probes[] = {
		MUST(unshare, 0),
		MUST(setns, NO_FD),
		MUST(mount, NOWHERE, NOWHERE, NOWHERE),
		MUST(umount2, NOWHERE, 0x1000),
		MUST(pivot_root, NOWHERE, NOWHERE),
		MUST(chroot, NOWHERE),
		MUST(fsopen, NOWHERE),
		MUST(fsconfig, NO_FD),
		MUST(fsmount, NO_FD),
		MUST(fspick, NO_FD, NOWHERE),
		MUST(open_tree, NO_FD, NOWHERE),
		MUST(move_mount, NO_FD, NOWHERE, NO_FD, NOWHERE),
		MUST(mount_setattr, NO_FD, NOWHERE),
		MUST(open_by_handle_at, NO_FD, NOWHERE),
		MUST(name_to_handle_at, NO_FD, NOWHERE),
		MUST(ptrace, PTRACE_PEEKDATA),
		MUST(process_vm_readv, 0, 0, 0, 0, 0, 1),
		MUST(process_vm_writev, 0, 0, 0, 0, 0, 1),
		MUST(process_madvise, NO_FD),
		MUST(pidfd_getfd, NO_FD),
		MUST(kcmp, 0),
		MUST(move_pages, 0, 0, 0, 0, 0, 0xff),
		MUST(migrate_pages, 0, 0, NOWHERE, NOWHERE),
		MUST(bpf, 0xffff, NOWHERE, 8),
		MUST(perf_event_open, NOWHERE),
		MUST(userfaultfd, 0x7),
		MUST(add_key, NOWHERE, NOWHERE),
		MUST(request_key, NOWHERE, NOWHERE),
		MUST(keyctl, 0xffff),
		MUST(fanotify_init, 0xffffff),
		MUST(fanotify_mark, NO_FD),
		MUST(kexec_load, 0, 0, 0, 0xffff),
		MUST(reboot, 0),
		MUST(init_module, NOWHERE, 0, NOWHERE),
		MUST(finit_module, NO_FD),
		MUST(delete_module, NOWHERE),
		MUST(settimeofday, NOWHERE),
		MUST(clock_settime, 0, NOWHERE),
		MUST(adjtimex, NOWHERE),
		MUST(clock_adjtime, 0, NOWHERE),
		MUST(sethostname, NOWHERE, NO_FD),
		MUST(setdomainname, NOWHERE, NO_FD),
		MUST(swapon, NOWHERE),
		MUST(swapoff, NOWHERE),
		MUST(acct, NOWHERE),
		MUST(quotactl, 0xffff, NOWHERE),
		MUST(quotactl_fd, NO_FD),
		MUST(nfsservctl, 0),
		MUST(lookup_dcookie, 0),
		MUST(syslog, 99),
		{"vhangup", {SYS_vhangup, {0}}, HARMFUL},
#ifdef __x86_64__
		MUST(modify_ldt, 99),
		MUST(iopl, 99),
		MUST(ioperm, NO_FD, 1, 1),
		MUST(create_module, 0),
		MUST(query_module, 0),
		MUST(get_kernel_syms, 0),
		MUST(kexec_file_load, NO_FD, NO_FD, 0, 0, 0xffff),
#endif
	};

	(void)state;
	all_answer(probes, ARRAY_SIZE(probes), EPERM);
}

static void calls_missing_from_the_table_do_not_exist(void **state)
{
	static const struct probe probes[] = {
		MUST(clone3, 0),
		MUST(get_mempolicy, 0),
		MUST(set_mempolicy, 99),
		MAY(io_uring_setup, 0, NOWHERE),
		MAY(io_uring_enter, NO_FD),
		MAY(io_uring_register, NO_FD),
		MAY(io_setup, 0, NOWHERE),
		MAY(memfd_secret, 99),
		MAY(cachestat, NO_FD),
		/* A call that no kernel has yet. */
		{"the next one", {1000, {0}}, IF_BUILT},
	};

	(void)state;
	all_answer(probes, ARRAY_SIZE(probes), ENOSYS);
}

static void sync_succeeds_and_does_nothing(void **state)
{
	(void)state;
	assert_int_equal(WALLED(SYS_sync, {0}), 0);
	/* Success with an invalid descriptor shows that the call did nothing. */
	assert_int_equal(WALLED(SYS_syncfs, {NO_FD}), 0);
	assert_int_equal(OPEN(SYS_syncfs, {NO_FD}), EBADF);
	assert_int_equal(WALLED(SYS_fsync, {NO_FD}), EBADF);
}

static void clone_cannot_create_a_namespace(void **state)
{
	static const unsigned long bad[] = {
		CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,  CLONE_NEWIPC,
		CLONE_NEWPID, CLONE_NEWNET,    CLONE_NEWUSER,
	};
	unsigned long flags;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		flags = bad[i] | SIGCHLD;
		assert_int_equal(WALLED(SYS_clone, {flags}), EPERM);
		assert_int_equal(WALLED(SYS_clone, {flags | HIGH}), EPERM);
		assert_int_equal(WALLED(SYS_clone, {flags | CLONE_NEWUSER}), EPERM);
		assert_false(proves_nothing(EPERM, OPEN(SYS_clone, {flags})));
	}
}

static void clone_cannot_give_a_child_to_the_parent(void **state)
{
	unsigned long flags = CLONE_PARENT | SIGCHLD;

	(void)state;
	assert_int_equal(WALLED(SYS_clone, {flags}), EPERM);
	assert_int_equal(OPEN(SYS_clone, {flags}), 0);
	/* Without the filter, the test itself became the new process's parent. */
	assert_true(wait(NULL) > 0);
}

static void *return_arg(void *arg)
{
	return arg;
}

static int fork_and_thread(const void *arg)
{
	pthread_t thread;
	void *back = NULL;
	int status;
	pid_t pid;

	(void)arg;
	pid = fork();
	if (pid == 0)
		_exit(3);
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
		return 1;
	if (pthread_create(&thread, NULL, return_arg, &status) != 0)
		return 2;
	if (pthread_join(thread, &back) != 0 || back != &status)
		return 3;
	return 0;
}

static void fork_and_threads_work(void **state)
{
	(void)state;
	assert_int_equal(in_child(true, fork_and_thread, NULL), 0);
}

static int new_time_namespace(const void *arg)
{
	char before[64] = "", after[64] = "";
	int status;
	long pid;

	(void)arg;
	assert(readlink("/proc/self/ns/time", before, sizeof(before) - 1) > 0);
	pid = syscall(SYS_clone, 0x80UL /* CLONE_NEWTIME */, 0UL, 0UL, 0UL, 0UL);
	if (pid == 0) {
		assert(readlink("/proc/self/ns/time", after, sizeof(after) - 1) > 0);
		_exit(strcmp(before, after) == 0 ? 0 : 1);
	}
	/* A refusal is as good. */
	if (pid < 0)
		return 0;
	assert(waitpid((pid_t)pid, &status, __WALL) == pid);
	return status;
}

static void clone_ignores_the_time_namespace_bit(void **state)
{
	(void)state;
	if (access("/proc/self/ns/time", F_OK) < 0)
		skip();
	assert_int_equal(in_child(true, new_time_namespace, NULL), 0);
}

static bool is_allowed_family(unsigned long family)
{
	return family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
	       family == AF_NETLINK;
}

static void only_four_socket_families_exist(void **state)
{
	size_t other = 0;

	(void)state;
	for (unsigned long f = 0; f <= 45; f++) {
		if (is_allowed_family(f)) {
			assert_int_equal(WALLED(SYS_socket, {f, SOCK_DGRAM}), 0);
			assert_int_equal(WALLED(SYS_socket, {f | HIGH, SOCK_DGRAM}), 0);
			continue;
		}
		for (unsigned long type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++) {
			assert_int_equal(WALLED(SYS_socket, {f, type}), EAFNOSUPPORT);
			if (OPEN(SYS_socket, {f, type}) != EAFNOSUPPORT)
				other++;
		}
		assert_int_equal(WALLED(SYS_socket, {f | HIGH, SOCK_DGRAM}),
		                 EAFNOSUPPORT);
	}
	/* Without the filter this kernel has other families. */
	assert_true(other > 0);
}

static void an_unknown_socket_family_is_refused(void **state)
{
	(void)state;
	for (unsigned bit = 6; bit < 32; bit++) {
		assert_int_equal(WALLED(SYS_socket, {AF_INET | 1UL << bit, SOCK_STREAM}),
		                 EAFNOSUPPORT);
		assert_int_equal(WALLED(SYS_socketpair,
		                        {AF_UNIX | 1UL << bit, SOCK_STREAM}),
		                 EAFNOSUPPORT);
	}
}

static bool is_allowed_type(unsigned long family, unsigned long type)
{
	return type == SOCK_STREAM || type == SOCK_DGRAM ||
	       (type == SOCK_SEQPACKET && family == AF_UNIX);
}

static void raw_and_odd_socket_types_are_not_permitted(void **state)
{
	static const unsigned long families[] = {AF_UNIX, AF_INET, AF_INET6};
	static const unsigned long flags[] = {0, SOCK_CLOEXEC,
	                                      SOCK_CLOEXEC | SOCK_NONBLOCK, HIGH};
	unsigned long f;
	int want;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		f = families[i];
		for (unsigned long type = 0; type <= 15; type++) {
			want = is_allowed_type(f, type) ? 0 : EPERM;
			for (size_t k = 0; k < ARRAY_SIZE(flags); k++)
				assert_int_equal(WALLED(SYS_socket, {f, type | flags[k]}),
				                 want);
		}
	}
	/* The kernel treats a raw AF_UNIX socket as a datagram socket. */
	assert_int_equal(OPEN(SYS_socket, {AF_UNIX, SOCK_RAW}), 0);
	assert_false(proves_nothing(EPERM,
	                            OPEN(SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_ICMP})));
	assert_false(proves_nothing(EPERM, OPEN(SYS_socket, {AF_INET, SOCK_PACKET})));
}

static void unusual_protocols_are_not_supported(void **state)
{
	static const struct {
		unsigned long type, protocol;
	} odd[] = {
		{SOCK_STREAM, 132 /* SCTP */},    {SOCK_STREAM, 262 /* MPTCP */},
		{SOCK_STREAM, 256 /* SMC */},     {SOCK_DGRAM, 115 /* L2TP */},
		{SOCK_DGRAM, 136 /* UDP-Lite */}, {SOCK_DGRAM, 2 /* IGMP */},
	};
	static const unsigned long families[] = {AF_INET, AF_INET6};
	unsigned long f, type, p;
	size_t other = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(families); k++) {
			f = families[k];
			type = odd[i].type;
			p = odd[i].protocol;
			assert_int_equal(WALLED(SYS_socket, {f, type, p}),
			                 EPROTONOSUPPORT);
			assert_int_equal(WALLED(SYS_socket, {f, type, p | HIGH}),
			                 EPROTONOSUPPORT);
			if (OPEN(SYS_socket, {f, type, p}) != EPROTONOSUPPORT)
				other++;
		}
	}
	if (other == 0)
		print_message("this kernel has none of these protocols: no control\n");
	assert_int_equal(WALLED(SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_TCP}), 0);
	assert_int_equal(WALLED(SYS_socket, {AF_INET6, SOCK_DGRAM, IPPROTO_UDP}), 0);
}

static void netlink_is_for_routes_only(void **state)
{
	size_t other = 0;

	(void)state;
	/* The socket that getifaddrs() opens. */
	assert_int_equal(WALLED(SYS_socket,
	                        {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE}),
	                 0);
	for (unsigned long p = 1; p < 32; p++) {
		assert_int_equal(WALLED(SYS_socket, {AF_NETLINK, SOCK_RAW, p}), EPERM);
		assert_int_equal(WALLED(SYS_socket, {AF_NETLINK, SOCK_DGRAM, p | HIGH}),
		                 EPERM);
		if (OPEN(SYS_socket, {AF_NETLINK, SOCK_RAW, p}) == 0)
			other++;
	}
	assert_true(other > 0);
}

static int pair_of(const void *arg)
{
	const unsigned long *what = arg;
	int fds[2];

	return syscall(SYS_socketpair, what[0], what[1], 0UL, fds) < 0 ? errno : 0;
}

static void socket_pairs_are_unix_sockets(void **state)
{
	(void)state;
#define PAIR(walled, ...) \
	in_child((walled), pair_of, (const unsigned long[]){__VA_ARGS__})
	assert_int_equal(PAIR(true, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC), 0);
	assert_int_equal(PAIR(true, AF_UNIX, SOCK_DGRAM), 0);
	assert_int_equal(PAIR(true, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK), 0);
	assert_int_equal(PAIR(true, AF_UNIX | HIGH, SOCK_STREAM | HIGH), 0);
	assert_int_equal(PAIR(true, AF_UNIX, SOCK_RAW), EPERM);
	assert_int_equal(PAIR(false, AF_UNIX, SOCK_RAW), 0);
	assert_int_equal(PAIR(true, AF_INET, SOCK_STREAM), EAFNOSUPPORT);
	assert_int_not_equal(PAIR(false, AF_INET, SOCK_STREAM), EAFNOSUPPORT);
	assert_int_equal(PAIR(true, AF_TIPC, SOCK_STREAM), EAFNOSUPPORT);
#undef PAIR
}

/* With an invalid descriptor, the kernel's own answer is always EBADF. */
static void socket_options_cannot_load_code_into_the_kernel(void **state)
{
	static const unsigned long bad[][2] = {
		{SOL_SOCKET, SO_ATTACH_FILTER},
		{SOL_SOCKET, SO_ATTACH_BPF},
		{SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF},
		{SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF},
		{IPPROTO_TCP, TCP_ULP},
		{IPPROTO_UDP, UDP_ENCAP},
	};
	unsigned long level, name;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		level = bad[i][0];
		name = bad[i][1];
		assert_int_equal(WALLED(SYS_setsockopt, {NO_FD, level, name}),
		                 ENOPROTOOPT);
		assert_int_equal(WALLED(SYS_setsockopt,
		                        {NO_FD, level | HIGH, name | HIGH}),
		                 ENOPROTOOPT);
		assert_int_equal(OPEN(SYS_setsockopt, {NO_FD, level, name}), EBADF);
		/* The same number at another level is another option. */
		assert_int_equal(WALLED(SYS_setsockopt, {NO_FD, IPPROTO_IP, name}),
		                 EBADF);
	}
	assert_int_equal(WALLED(SYS_setsockopt, {NO_FD, SOL_SOCKET, SO_REUSEADDR}),
	                 EBADF);
	assert_int_equal(WALLED(SYS_setsockopt, {NO_FD, IPPROTO_TCP, TCP_NODELAY}),
	                 EBADF);
}

static void dangerous_ioctls_are_not_permitted(void **state)
{
	static const unsigned long bad[] = {
		TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSCTTY, TIOCSETD, FIBMAP, FS_IOC_FIEMAP,
	};
	static const unsigned long good[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX,
	                                     FICLONE};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(WALLED(SYS_ioctl, {NO_FD, bad[i]}), EPERM);
		assert_int_equal(OPEN(SYS_ioctl, {NO_FD, bad[i]}), EBADF);
		/* CVE-2019-10063, with each bit that the kernel ignores. */
		for (unsigned bit = 32; bit < 64; bit++)
			assert_int_equal(WALLED(SYS_ioctl, {NO_FD, bad[i] | 1UL << bit}),
			                 EPERM);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(WALLED(SYS_ioctl, {NO_FD, good[i]}), EBADF);
}

static void mknod_cannot_create_devices(void **state)
{
	static const struct {
		unsigned long mode;
		int want;
	} kinds[] = {
		{0600, 0},
		{S_IFREG | 0600, 0},
		{S_IFIFO | 0600, 0},
		{S_IFSOCK | 0600, 0},
		{S_IFCHR | 0600, EPERM},
		{S_IFBLK | 0600, EPERM},
		/* The kernel truncates a mode to 16 bits. */
		{S_IFCHR | 0600 | 0x10000, EPERM},
		{S_IFBLK | 0600 | HIGH, EPERM},
	};
	char dir[] = "/tmp/test_seccomp.XXXXXX";
	char path[64];
	unsigned long p = (unsigned long)path, mode;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/node", dir);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		mode = kinds[i].mode;
		assert_int_equal(WALLED(SYS_mknodat,
		                        {(unsigned long)AT_FDCWD, p, mode, 0x103}),
		                 kinds[i].want);
		(void)unlink(path);
#ifdef SYS_mknod
		assert_int_equal(WALLED(SYS_mknod, {p, mode, 0x103}), kinds[i].want);
		(void)unlink(path);
#endif
		if (kinds[i].want == 0)
			continue;
		assert_false(
			proves_nothing(EPERM, OPEN(SYS_mknodat, {(unsigned long)AT_FDCWD,
		                                                 p, mode, 0x103})));
		(void)unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void no_file_can_get_a_set_id_bit(void **state)
{
	static const unsigned long bad[] = {04755, 02755, 06000, 04755 | 0x10000,
	                                    04755 | HIGH};
	const unsigned long at = (unsigned long)AT_FDCWD;
	char dir[] = "/tmp/test_seccomp.XXXXXX";
	char path[64];
	unsigned long p = (unsigned long)path, d = (unsigned long)dir;
	int fd, new_answer;
	bool has_new;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	/* A kernel or libseccomp may be too old for this call. */
	has_new = WALLED(SYS_fchmodat2, {at, p, 0644, 0}) == 0;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const unsigned long mode = bad[i];

		/* The control: without the filter each of these calls succeeds. */
		assert_int_equal(OPEN(SYS_fchmodat, {at, p, mode}), 0);
		assert_int_equal(WALLED(SYS_fchmodat, {at, p, mode}), EPERM);
		assert_int_equal(WALLED(SYS_fchmod, {(unsigned long)fd, mode}), EPERM);
		assert_int_equal(WALLED(SYS_openat, {at, p, O_CREAT | O_RDWR, mode}),
		                 EPERM);
		assert_int_equal(WALLED(SYS_openat, {at, d, O_TMPFILE | O_RDWR, mode}),
		                 EPERM);
		assert_int_equal(WALLED(SYS_mknodat, {at, p, S_IFREG | mode, 0}), EPERM);
		new_answer = WALLED(SYS_fchmodat2, {at, p, mode, 0});
		assert_true(new_answer == EPERM || (new_answer == ENOSYS && !has_new));
#ifdef SYS_chmod
		assert_int_equal(WALLED(SYS_chmod, {p, mode}), EPERM);
		assert_int_equal(WALLED(SYS_creat, {p, mode}), EPERM);
		assert_int_equal(WALLED(SYS_open, {p, O_CREAT | O_RDWR, mode}), EPERM);
#endif
	}
	/* Its mode is in memory, which the filter cannot read. */
	assert_int_equal(WALLED(SYS_openat2, {at, p, 0, 0}), ENOSYS);

	/* Ordinary modes are permitted, and so is a mode that the kernel ignores. */
	assert_int_equal(WALLED(SYS_fchmodat, {at, p, 01755}), 0);
	assert_int_equal(WALLED(SYS_openat, {at, p, O_RDONLY, 04755}), 0);
	assert_int_equal(WALLED(SYS_openat, {at, p, O_CREAT | O_RDWR, 0644}), 0);
	(void)close(fd);
	(void)unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

#define NO_IOPRIO (7UL << 13) /* an invalid class */
#define UNUSED_UID 0x7ffffff1UL

static void a_program_cannot_change_init_or_other_processes(void **state)
{
	/* Harmless without the filter: they set existing values, or address no process. */
	const struct {
		long nr;
		unsigned long args[3];
	} bad[] = {
		{SYS_prlimit64, {1, RLIMIT_NOFILE}},
		{SYS_prlimit64, {1 | HIGH, RLIMIT_NOFILE}},
		{SYS_sched_setaffinity, {1, 0}},
		{SYS_sched_setscheduler, {1, 0}},
		{SYS_sched_setparam, {1, 0}},
		{SYS_sched_setattr, {1, 0}},
		{SYS_setpriority,
	         {PRIO_PROCESS, 1, (unsigned long)getpriority(PRIO_PROCESS, 1)}},
		{SYS_setpriority, {PRIO_USER, UNUSED_UID, 19}},
		{SYS_ioprio_set, {IOPRIO_WHO_PROCESS, 1, NO_IOPRIO}},
		{SYS_ioprio_set, {IOPRIO_WHO_USER, 0, NO_IOPRIO}},
		{SYS_prctl, {PR_SET_DUMPABLE, 0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(WALLED(bad[i].nr,
		                        {bad[i].args[0], bad[i].args[1], bad[i].args[2]}),
		                 EPERM);

	/* The same calls are permitted for the calling process itself. */
	assert_int_equal(WALLED(SYS_prlimit64, {0, RLIMIT_NOFILE, 0}), 0);
	assert_int_equal(WALLED(SYS_setpriority, {PRIO_PROCESS, 0, 19}), 0);
	assert_int_equal(WALLED(SYS_sched_setaffinity, {0, 0}), EINVAL);
	assert_int_equal(WALLED(SYS_ioprio_set, {IOPRIO_WHO_PROCESS, 0, NO_IOPRIO}),
	                 EINVAL);
	assert_int_equal(OPEN(SYS_ioprio_set, {IOPRIO_WHO_USER, 0, NO_IOPRIO}), EINVAL);
	assert_int_equal(OPEN(SYS_prctl, {PR_SET_DUMPABLE, 0}), 0);
}

static void the_core_limit_cannot_be_changed(void **state)
{
	static const struct rlimit none = {0, 0};
	const unsigned long p = (unsigned long)&none;

	(void)state;
	assert_int_equal(WALLED(SYS_prlimit64, {0, RLIMIT_CORE, p, 0}), EPERM);
	/* Half of the address is zero: the kernel would still read it. */
	assert_int_equal(WALLED(SYS_prlimit64, {0, RLIMIT_CORE, HIGH, 0}), EPERM);
	assert_int_equal(WALLED(SYS_prlimit64, {0, RLIMIT_CORE, 0x1000, 0}), EPERM);
	assert_int_equal(OPEN(SYS_prlimit64, {0, RLIMIT_CORE, 0x1000, 0}), EFAULT);
	assert_int_equal(OPEN(SYS_prlimit64, {0, RLIMIT_CORE, HIGH, 0}), EFAULT);
	assert_int_equal(OPEN(SYS_prlimit64, {0, RLIMIT_CORE, p, 0}), 0);
	assert_int_equal(WALLED(SYS_prlimit64, {0, RLIMIT_CORE, 0, 0}), 0);
	assert_int_equal(WALLED(SYS_prlimit64, {0, RLIMIT_NOFILE, p, 0}), 0);
#ifdef SYS_setrlimit
	assert_int_equal(WALLED(SYS_setrlimit, {RLIMIT_CORE, p}), EPERM);
	assert_int_equal(WALLED(SYS_setrlimit, {RLIMIT_NOFILE, p}), 0);
#endif
}

static void the_hosts_huge_pages_are_not_available(void **state)
{
	const unsigned long none = (unsigned long)-1, rw = PROT_READ | PROT_WRITE;
	const unsigned long own = MAP_PRIVATE | MAP_ANONYMOUS;

	(void)state;
	assert_int_equal(WALLED(SYS_mmap, {0, 4096, rw, own, none, 0}), 0);
	/* With an invalid descriptor, which the kernel checks and the filter does not. */
	assert_int_equal(WALLED(SYS_mmap,
	                        {0, 2 << 20, rw, MAP_PRIVATE | MAP_HUGETLB, none, 0}),
	                 ENOMEM);
	assert_int_equal(OPEN(SYS_mmap,
	                      {0, 2 << 20, rw, MAP_PRIVATE | MAP_HUGETLB, none, 0}),
	                 EBADF);
	assert_int_equal(WALLED(SYS_memfd_create, {(unsigned long)"x", MFD_HUGETLB}),
	                 EINVAL);
	assert_int_equal(OPEN(SYS_memfd_create, {(unsigned long)"x", MFD_HUGETLB}), 0);
	assert_int_equal(WALLED(SYS_memfd_create, {(unsigned long)"x", 0}), 0);
	assert_int_equal(WALLED(SYS_shmget, {IPC_PRIVATE, 0, SHM_HUGETLB | 0600}),
	                 ENOMEM);
	assert_int_equal(OPEN(SYS_shmget, {IPC_PRIVATE, 0, SHM_HUGETLB | 0600}), EINVAL);
}

#ifdef SYS_mknod
static void the_older_mknod_cannot_create_set_id_files(void **state)
{
	const unsigned long path = (unsigned long)"/no/such/folder/x";

	(void)state;
	assert_int_equal(WALLED(SYS_mknod, {path, S_IFREG | S_ISUID | 0755, 0}), EPERM);
	assert_int_equal(OPEN(SYS_mknod, {path, S_IFREG | S_ISUID | 0755, 0}), ENOENT);
	assert_int_equal(WALLED(SYS_mknod, {path, S_IFREG | 0755, 0}), ENOENT);
}
#endif

/* With an invalid descriptor the kernel's answer is always EBADF, the filter's ENOTTY. */
static void the_ioctls_of_file_systems_are_refused(void **state)
{
	static const unsigned long bad[] = {
		FS_IOC_ADD_ENCRYPTION_KEY,
		FS_IOC_REMOVE_ENCRYPTION_KEY,
		FS_IOC_SET_ENCRYPTION_POLICY,
		FS_IOC_SETFLAGS,
		FS_IOC32_SETFLAGS,
		FS_IOC_FSSETXATTR,
		FS_IOC_SETVERSION,
		FS_IOC32_SETVERSION,
		FS_IOC_ENABLE_VERITY,
		FS_IOC_GETFSLABEL,
		_IOR(0x15, 0, char[17]),       /* FS_IOC_GETFSUUID */
		_IOR(0x15, 1, char[129]),      /* FS_IOC_GETFSSYSFSPATH */
		_IOR('f', 44, uint64_t),       /* EXT4_IOC_GETFSUUID */
		_IOWR('f', 42, struct fiemap), /* EXT4_IOC_GET_ES_CACHE */
		BTRFS_IOC_FS_INFO,
		BTRFS_IOC_GET_SUBVOL_INFO,
	};
	const unsigned long none = (unsigned long)-1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(WALLED(SYS_ioctl, {none, bad[i], 0}), ENOTTY);
		assert_int_equal(OPEN(SYS_ioctl, {none, bad[i], 0}), EBADF);
	}
	assert_int_equal(WALLED(SYS_ioctl, {none, FS_IOC_GETFLAGS, 0}), EBADF);
}

static void threads_cannot_have_their_own_descriptors(void **state)
{
	const unsigned long thread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;

	(void)state;
	/* Without the filter the kernel refuses the call, since CLONE_SIGHAND is missing. */
	assert_int_equal(WALLED(SYS_clone, {thread & ~(unsigned long)CLONE_SIGHAND, 0}),
	                 EPERM);
	assert_int_equal(OPEN(SYS_clone, {thread & ~(unsigned long)CLONE_SIGHAND, 0}),
	                 EINVAL);
	assert_int_equal(WALLED(SYS_clone, {CLONE_VM | CLONE_THREAD | CLONE_FILES, 0}),
	                 EINVAL);
	assert_int_equal(WALLED(SYS_close_range, {1000, 1001, CLOSE_RANGE_UNSHARE}),
	                 EINVAL);
	assert_int_equal(OPEN(SYS_close_range, {1000, 1001, CLOSE_RANGE_UNSHARE}), 0);
	assert_int_equal(WALLED(SYS_close_range, {1000, 1001, 0}), 0);
}

static void files_can_be_neither_leased_nor_watched(void **state)
{
	const unsigned long fd = STDIN_FILENO;

	(void)state;
	assert_int_equal(WALLED(SYS_fcntl, {fd, F_SETLEASE, F_RDLCK}), EPERM);
	assert_int_equal(WALLED(SYS_fcntl, {fd, F_SETLEASE | HIGH, F_RDLCK}), EPERM);
	assert_int_equal(WALLED(SYS_fcntl, {fd, F_NOTIFY, 1}), EPERM);
	assert_int_equal(WALLED(SYS_fcntl, {fd, F_GETFD, 0}), 0);
	assert_int_equal(WALLED(SYS_inotify_init1, {0}), ENOSYS);
	assert_int_equal(OPEN(SYS_inotify_init1, {0}), 0);
	/* ENOENT shows that the filter let the call through. */
	assert_int_equal(WALLED(SYS_renameat2,
	                        {(unsigned long)AT_FDCWD, (unsigned long)"/no/a",
	                         (unsigned long)AT_FDCWD, (unsigned long)"/no/b",
	                         RENAME_WHITEOUT}),
	                 EPERM);
	assert_int_equal(WALLED(SYS_renameat2,
	                        {(unsigned long)AT_FDCWD, (unsigned long)"/no/a",
	                         (unsigned long)AT_FDCWD, (unsigned long)"/no/b",
	                         RENAME_NOREPLACE}),
	                 ENOENT);
}

static void personality_cannot_weaken_memory_protection(void **state)
{
	static const unsigned long good[] = {
		PER_LINUX, PER_LINUX32, UNAME26, UNAME26 | PER_LINUX32, 0xffffffff,
	};
	static const unsigned long bad[] = {
		ADDR_NO_RANDOMIZE,
		READ_IMPLIES_EXEC,
		MMAP_PAGE_ZERO,
		ADDR_COMPAT_LAYOUT,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(WALLED(SYS_personality, {good[i]}), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(WALLED(SYS_personality, {bad[i]}), EPERM);
		assert_int_equal(WALLED(SYS_personality, {bad[i] | HIGH}), EPERM);
		assert_int_equal(WALLED(SYS_personality, {bad[i] | UNAME26}), EPERM);
		assert_int_equal(OPEN(SYS_personality, {bad[i]}), 0);
	}
}

#ifdef __x86_64__
/* Only from 512 on do the numbers of x32 differ from those of x86_64. */
static void an_x32_call_kills_the_process(void **state)
{
	static const long calls[] = {SYS_getpid, SYS_read, SYS_unshare, 512, 547};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		assert_int_equal(WALLED(calls[i] | 0x40000000L, {NO_FD}), -SIGSYS);
		assert_int_not_equal(OPEN(calls[i] | 0x40000000L, {NO_FD}), -SIGSYS);
	}
}

static int call_as_i386(const void *arg)
{
	const int *nr = arg;
	int r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(*nr), "b"(-1) : "memory");
	return r < 0 ? -r : 0;
}

static void an_i386_call_kills_the_process(void **state)
{
	/* getpid, socketcall, and x86_64's number of getpid. */
	static const int calls[] = {20, 102, 39};

	(void)state;
	/* A kernel without the 32 bit entry reports an invalid instruction. */
	if (in_child(false, call_as_i386, &calls[0]) == -SIGSEGV) {
		print_message("this kernel has no i386 calls\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		assert_int_equal(in_child(true, call_as_i386, &calls[i]), -SIGSYS);
		assert_int_not_equal(in_child(false, call_as_i386, &calls[i]), -SIGSYS);
	}
}
#endif

static int nest(const void *arg)
{
	const unsigned long *flags = arg;
	struct sock_filter all[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
	struct sock_fprog prog = {ARRAY_SIZE(all), all};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, *flags, &prog) < 0)
		return errno;
	return make_call(&(const struct call){SYS_unshare, {0}});
}

static void a_filter_of_the_program_permits_nothing_more(void **state)
{
	static const unsigned long good[] = {0, SECCOMP_FILTER_FLAG_TSYNC};
	static const unsigned long bad[] = {SECCOMP_FILTER_FLAG_LOG,
	                                    SECCOMP_FILTER_FLAG_NEW_LISTENER};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(in_child(true, nest, &good[i]), EPERM);
	/* Flags that write to the host's log or pass calls to another process are refused. */
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(in_child(true, nest, &bad[i]), EINVAL);
}

/* The steps that the launcher takes after it loaded the filter. */
static int finish_launch(const void *arg)
{
	char status[4096];
	const char *mode;
	int pair[2];
	ssize_t n;
	int fd;

	(void)arg;
	fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 1;
	n = read(fd, status, sizeof(status) - 1);
	if (n <= 0 || close(fd) < 0)
		return 2;
	status[n] = '\0';
	mode = strstr(status, "\nSeccomp:\t2\n");
	if (!mode)
		return 3;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    write(pair[0], "x", 1) != 1)
		return 4;
	/* Set before, since a successful exec does not return. */
	*told = 0;
	(void)execl("/bin/true", "true", (char *)NULL);
	return 5;
}

static void the_launcher_can_finish_with_the_filter_loaded(void **state)
{
	(void)state;
	assert_int_equal(in_child(true, finish_launch, NULL), 0);
	assert_int_equal(in_child(false, finish_launch, NULL), 3);
}

static int load_without_no_new_privs(const void *arg)
{
	struct dw_error err = {0};

	(void)arg;
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 1;
	if (dw_seccomp_load(&err) == 0)
		return 2;
	return err.code == DW_E_INTERNAL && err.sys_errno == EACCES && err.text[0] ? 0
	                                                                           : 3;
}

static void a_filter_that_cannot_be_loaded_is_an_error(void **state)
{
	(void)state;
	/* no_new_privs may already be set by the parent: then loading cannot fail. */
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		skip();
	assert_int_equal(in_child(false, load_without_no_new_privs, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_refused_by_name_are_not_permitted),
		cmocka_unit_test(calls_missing_from_the_table_do_not_exist),
		cmocka_unit_test(sync_succeeds_and_does_nothing),
		cmocka_unit_test(clone_cannot_create_a_namespace),
		cmocka_unit_test(clone_cannot_give_a_child_to_the_parent),
		cmocka_unit_test(fork_and_threads_work),
		cmocka_unit_test(clone_ignores_the_time_namespace_bit),
		cmocka_unit_test(only_four_socket_families_exist),
		cmocka_unit_test(an_unknown_socket_family_is_refused),
		cmocka_unit_test(raw_and_odd_socket_types_are_not_permitted),
		cmocka_unit_test(unusual_protocols_are_not_supported),
		cmocka_unit_test(netlink_is_for_routes_only),
		cmocka_unit_test(socket_pairs_are_unix_sockets),
		cmocka_unit_test(socket_options_cannot_load_code_into_the_kernel),
		cmocka_unit_test(dangerous_ioctls_are_not_permitted),
		cmocka_unit_test(mknod_cannot_create_devices),
		cmocka_unit_test(no_file_can_get_a_set_id_bit),
		cmocka_unit_test(a_program_cannot_change_init_or_other_processes),
		cmocka_unit_test(the_core_limit_cannot_be_changed),
		cmocka_unit_test(the_hosts_huge_pages_are_not_available),
#ifdef SYS_mknod
		cmocka_unit_test(the_older_mknod_cannot_create_set_id_files),
#endif
		cmocka_unit_test(the_ioctls_of_file_systems_are_refused),
		cmocka_unit_test(threads_cannot_have_their_own_descriptors),
		cmocka_unit_test(files_can_be_neither_leased_nor_watched),
		cmocka_unit_test(personality_cannot_weaken_memory_protection),
#ifdef __x86_64__
		cmocka_unit_test(an_x32_call_kills_the_process),
		cmocka_unit_test(an_i386_call_kills_the_process),
#endif
		cmocka_unit_test(a_filter_of_the_program_permits_nothing_more),
		cmocka_unit_test(the_launcher_can_finish_with_the_filter_loaded),
		cmocka_unit_test(a_filter_that_cannot_be_loaded_is_an_error),
	};

	return cmocka_run_group_tests_name("seccomp", tests, make_shared, NULL);
}
