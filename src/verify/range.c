/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "verify/verify_own.h"

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID)

static int write_file(const char *path, const char *text, struct dw_error *err)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : dw_fd_write_all(fd, text, strlen(text));

	if (r < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, -r, "cannot write \"%s\" to %s",
		               text, path);
	return 0;
}

/*
 * Create a user namespace that maps the user's ids to themselves, so that they look
 * the same inside.
 */
static int own_user_namespace(uid_t uid, gid_t gid, struct dw_error *err)
{
	char text[64];

	if (unshare(CLONE_NEWUSER) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "cannot create a user namespace; run as root, or set "
		               "sysctl user.max_user_namespaces=10000 "
		               "kernel.apparmor_restrict_unprivileged_userns=0");
	if (write_file("/proc/self/setgroups", "deny", err) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%u %u 1", uid, uid);
	if (write_file("/proc/self/uid_map", text, err) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%u %u 1", gid, gid);
	return write_file("/proc/self/gid_map", text, err);
}

/*
 * Add the route "local 0/0 dev lo": every address becomes local, so an attack
 * reaches the listeners, and no packet leaves the range.
 */
static int route_all_locally(int fd, unsigned char family)
{
	struct {
		struct nlmsghdr h;
		struct rtmsg r;
		struct rtattr oif_attr;
		unsigned oif;
	} req = {
		.h = {.nlmsg_len = sizeof(req),
	              .nlmsg_type = RTM_NEWROUTE,
	              .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE},
		.r = {.rtm_family = family,
	              .rtm_table = RT_TABLE_LOCAL,
	              .rtm_protocol = RTPROT_STATIC,
	              .rtm_scope = RT_SCOPE_HOST,
	              .rtm_type = RTN_LOCAL},
		.oif_attr = {.rta_len = RTA_LENGTH(sizeof(unsigned)),
	                     .rta_type = RTA_OIF},
		.oif = 1,
	};
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char more[256];
	} answer;

	if (send(fd, &req, sizeof(req), 0) < 0)
		return -errno;
	if (recv(fd, &answer, sizeof(answer), 0) < (ssize_t)sizeof(answer.h) ||
	    answer.h.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return answer.e.error;
}

int dw_range_new_network(struct dw_error *err)
{
	struct ifreq ifr = {.ifr_flags = IFF_UP | IFF_RUNNING, .ifr_name = "lo"};
	autoclose int fd = -1;
	autoclose int v4 = -1;
	char groups[32];
	int r;

	if (unshare(CLONE_NEWNET) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "cannot create a network namespace");
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	v4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || v4 < 0 || ioctl(v4, SIOCSIFFLAGS, &ifr) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot set up the network of the range");
	r = route_all_locally(fd, AF_INET);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot route all addresses to the loopback");
	(void)route_all_locally(fd, AF_INET6); /* the host may lack IPv6 */

	/* Let a plain user listen on port 53 and send a ping. */
	(void)snprintf(groups, sizeof(groups), "%u %u", getegid(), getegid());
	(void)write_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0", NULL);
	(void)write_file("/proc/sys/net/ipv4/ping_group_range", groups, NULL);
	return 0;
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const char *dw_range_path(const struct dw_range *range, const char *name,
                          char ret[static DW_RANGE_PATH_MAX])
{
	(void)snprintf(ret, DW_RANGE_PATH_MAX, "%s/%s", range->base, name);
	return ret;
}

/* Returns the path of the planted file or folder that covers one of the host. */
static const char *name_cover(const struct dw_range *range, const char *name,
                              char ret[static DW_RANGE_PATH_MAX])
{
	(void)snprintf(ret, DW_RANGE_PATH_MAX, "%s/places/%s", range->base, name);
	return ret;
}

static void cover_folder(struct dw_range *range, size_t *n, const char *name,
                         const char *path, const struct dw_tools *tools)
{
	char buf[DW_RANGE_PATH_MAX];
	const char *from = name_cover(range, name, buf);

	/* The programs that the suite runs must stay visible. */
	if (is_below(tools->dewar, path) || is_below(tools->attacks, path))
		return;
	if (mkdir(from, 0755) == 0 && mount(from, path, NULL, MS_BIND, NULL) == 0)
		range->places[(*n)++] = (struct dw_cover){name, path};
}

/* Create an empty file, which is then mounted or used as a mount point. */
static bool make_file(const char *path, mode_t mode)
{
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	return fd >= 0;
}

static void cover_file(struct dw_range *range, size_t *n, const char *name, mode_t mode,
                       const char *path)
{
	char buf[DW_RANGE_PATH_MAX];
	const char *from = name_cover(range, name, buf);

	if (make_file(from, mode) && mount(from, path, NULL, MS_BIND, NULL) == 0)
		range->files[(*n)++] = (struct dw_cover){name, path};
}

void dw_range_recover_files(const struct dw_range *range)
{
	for (const struct dw_cover *p = range->files; p->name; p++) {
		char buf[DW_RANGE_PATH_MAX];
		const char *from = name_cover(range, p->name, buf);
		struct stat planted, seen;

		if (stat(from, &planted) == 0 && stat(p->path, &seen) == 0 &&
		    (planted.st_dev != seen.st_dev || planted.st_ino != seen.st_ino))
			(void)mount(from, p->path, NULL, MS_BIND, NULL);
	}
}

/*
 * A warm cell shows only /usr of the host. So mount the program with the attacks in
 * C there, unless it is there already.
 */
static void expose_attacks(struct dw_range *range, const char *program)
{
	static const char shown[] = "/usr/src/dewar-attacks";

	if (is_below(program, "/usr"))
		(void)snprintf(range->attacks, sizeof(range->attacks), "%s", program);
	else if (make_file(shown, 0755) &&
	         mount(program, shown, NULL, MS_BIND, NULL) == 0)
		(void)snprintf(range->attacks, sizeof(range->attacks), "%s", shown);
}

static int set_up_mounts(struct dw_range *range, const struct dw_tools *tools,
                         struct dw_error *err)
{
	static const char *const folders[] = {"places", "home", "cwd", "t", "into", "ws"};
	char path[DW_RANGE_PATH_MAX];
	size_t n = 0;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot make the mounts of the range private");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return dw_fail(
			err, DW_E_UNSUPPORTED, errno,
			"cannot mount /proc in the range (does an outer container mask it?)");
	if (mount("range", range->base, "tmpfs", MS_NODEV, "mode=755,size=1g") < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot mount a tmpfs on %s",
		               range->base);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (mkdir(dw_range_path(range, folders[i], path), 0755) < 0)
			return dw_fail(err, DW_E_INTERNAL, errno, "cannot create %s",
			               path);
	}

	cover_folder(range, &n, "USR", "/usr/src", tools);
	if (n > 0) /* otherwise /usr/src is the host's own folder */
		expose_attacks(range, tools->attacks);
	cover_folder(range, &n, "ETC", "/etc/opt", tools);
	cover_folder(range, &n, "VAR", "/var/opt", tools);
	cover_folder(range, &n, "MNT", "/mnt", tools);
	cover_folder(range, &n, "SRV", "/srv", tools);
	n = 0;
	cover_file(range, &n, "shadow", 0600, "/etc/shadow");
	cover_file(range, &n, "machine-id", 0644, "/etc/machine-id");
	cover_file(range, &n, "hostname", 0644, "/etc/hostname");
	(void)mount("range", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "size=64m");
	(void)mkdir("/dev/mqueue", 0755);
	(void)mount("range", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV, NULL);
	/* Give the witness a pid that no process in a cell has. */
	(void)write_file("/proc/sys/kernel/ns_last_pid", "1000", NULL);
	return 0;
}

/* Block or unblock the signals that stop the suite. */
static void mask_signals(int how)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(how, &set, NULL);
}

void dw_range_take_signals(void)
{
	mask_signals(SIG_UNBLOCK);
}

static pid_t inner;

static void forward_signal(int sig)
{
	(void)kill(inner, sig);
}

/*
 * Wait for pid 1 of the range, and exit with its status. This is the calling
 * process, which stays outside of the range and sees only an empty folder at base.
 */
static _Noreturn void wait_outside(const char *base)
{
	struct sigaction sa = {.sa_handler = forward_signal};
	int status = 0;

	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	/* A terminal sends SIGINT to both processes, which does no harm. */
	(void)sigaction(SIGINT, &sa, NULL);
	mask_signals(SIG_UNBLOCK);
	while (waitpid(inner, &status, 0) < 0 && errno == EINTR)
		;
	/* The worker on the host then notices the hang-up, and cleans up. */
	(void)dw_fd_close_from(STDERR_FILENO + 1);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	(void)umount2(base, MNT_DETACH);
	(void)rmdir(base);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int make_base(struct dw_range *range, struct dw_error *err)
{
	(void)snprintf(range->base, sizeof(range->base), "/tmp/dewar-verify-XXXXXX");
	if (!mkdtemp(range->base))
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create %s",
		               range->base);
	return 0;
}

int dw_range_on_host(struct dw_range *range, int hangup_fd, struct dw_error *err)
{
	*range = (struct dw_range){.root = geteuid() == 0,
	                           .on_host = true,
	                           .hangup_fd = hangup_fd};
	if (make_base(range, err) < 0)
		return -1;
	/* Make the folder accessible, so that its mode is not what stops an attack. */
	(void)chmod(range->base, 0755);
	return 0;
}

void dw_range_leave(const struct dw_range *range)
{
	autoclose int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (range->on_host && parent >= 0)
		(void)dw_path_remove_tree(parent, strrchr(range->base, '/') + 1);
}

int dw_range_enter(struct dw_range *range, const struct dw_tools *tools,
                   struct dw_error *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	*range = (struct dw_range){.root = uid == 0, .hangup_fd = -1};
	if (make_base(range, err) < 0)
		return -1;

	if (!range->root && own_user_namespace(uid, gid, err) < 0)
		goto out;
	if (unshare(NAMESPACES) < 0) {
		(void)dw_fail(err, DW_E_UNSUPPORTED, errno, "cannot create namespaces");
		goto out;
	}
	/* Block signals until both processes have installed handlers. */
	mask_signals(SIG_BLOCK);
	inner = fork();
	if (inner < 0) {
		mask_signals(SIG_UNBLOCK);
		(void)dw_fail(err, DW_E_INTERNAL, errno, "cannot fork into the range");
		goto out;
	}
	if (inner > 0)
		wait_outside(range->base);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return set_up_mounts(range, tools, err);
out:
	(void)rmdir(range->base);
	return -1;
}
