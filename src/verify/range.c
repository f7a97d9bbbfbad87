/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/range.h"

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

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID)

static int write_file(const char *path, const char *text, struct dw_error *err)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : dw_fd_write_all(fd, text, strlen(text));

	if (r < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, -r, "write \"%s\" to %s", text,
		               path);
	return 0;
}

/* Our own ids, under their own names: who looks at them sees no difference. */
static int own_user_namespace(uid_t uid, gid_t gid, struct dw_error *err)
{
	char text[64];

	if (unshare(CLONE_NEWUSER) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "make a user namespace to attack in; run it as root, or try: "
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
 * "local 0/0 dev lo": whatever address an attack names is ours, so that it meets
 * our listeners and nothing of it goes anywhere.
 */
static int answer_for_everybody(int fd, unsigned char family)
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
		return dw_fail(err, DW_E_UNSUPPORTED, errno, "make a network to attack");
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	v4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || v4 < 0 || ioctl(v4, SIOCSIFFLAGS, &ifr) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "set up the range's network");
	r = answer_for_everybody(fd, AF_INET);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "take every address for ourselves");
	(void)answer_for_everybody(fd, AF_INET6); /* a host may have none */

	/* Here a plain user may listen on port 53 and send a ping. */
	(void)snprintf(groups, sizeof(groups), "%u %u", getegid(), getegid());
	(void)write_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0", NULL);
	(void)write_file("/proc/sys/net/ipv4/ping_group_range", groups, NULL);
	return 0;
}

static bool must_stay(const char *place, const char *const *keep)
{
	size_t len = strlen(place);

	for (; *keep; keep++)
		if (strncmp(*keep, place, len) == 0 &&
		    ((*keep)[len] == '/' || (*keep)[len] == '\0'))
			return true;
	return false;
}

/* The path of what covers a place of the host's. */
static const char *name_cover(const struct dw_range *range, const char *name,
                              char ret[static 64])
{
	(void)snprintf(ret, 64, "%s/places/%s", range->base, name);
	return ret;
}

/* Cover a folder of the host's with one of ours. */
static void take_place(struct dw_range *range, size_t *n, const char *name,
                       const char *path, const char *const *keep)
{
	char buf[64];
	const char *from = name_cover(range, name, buf);

	if (must_stay(path, keep))
		return;
	if (mkdir(from, 0755) == 0 && mount(from, path, NULL, MS_BIND, NULL) == 0)
		range->places[(*n)++] = (struct dw_place){name, path};
}

static void cover_file(struct dw_range *range, size_t *n, const char *name, mode_t mode,
                       const char *path)
{
	char buf[64];
	const char *from = name_cover(range, name, buf);
	int fd = open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0)
		return;
	(void)close(fd);
	if (mount(from, path, NULL, MS_BIND, NULL) == 0)
		range->files[(*n)++] = (struct dw_place){name, path};
}

void dw_range_cover_again(const struct dw_range *range)
{
	for (const struct dw_place *p = range->files; p->name; p++) {
		char buf[64];
		const char *from = name_cover(range, p->name, buf);
		struct stat ours, seen;

		if (stat(from, &ours) == 0 && stat(p->path, &seen) == 0 &&
		    (ours.st_dev != seen.st_dev || ours.st_ino != seen.st_ino))
			(void)mount(from, p->path, NULL, MS_BIND, NULL);
	}
}

/*
 * A cell that is made before anybody asks shows nothing but /usr, and so the attacks
 * in C go there, unless they are there already.
 */
static void show_attacks(struct dw_range *range, const char *program)
{
	static const char shown[] = "/usr/src/dewar-attacks";
	int fd;

	if (strncmp(program, "/usr/", 5) == 0) {
		(void)snprintf(range->attacks, sizeof(range->attacks), "%s", program);
		return;
	}
	fd = open(shown, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0)
		return;
	(void)close(fd);
	if (mount(program, shown, NULL, MS_BIND, NULL) == 0)
		(void)snprintf(range->attacks, sizeof(range->attacks), "%s", shown);
}

static int set_up_mounts(struct dw_range *range, const char *const *keep,
                         struct dw_error *err)
{
	static const char *const folders[] = {"places", "home", "cwd", "t", "into", "ws"};
	char path[64];
	size_t n = 0;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cut the range's mounts off");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return dw_fail(
			err, DW_E_UNSUPPORTED, errno,
			"mount /proc in the range (does an outer container mask it?)");
	if (mount("range", range->base, "tmpfs", MS_NODEV, "mode=755,size=1g") < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "mount a tmpfs on %s",
		               range->base);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", range->base, folders[i]);
		if (mkdir(path, 0755) < 0)
			return dw_fail(err, DW_E_INTERNAL, errno, "make %s", path);
	}

	take_place(range, &n, "USR", "/usr/src", keep);
	if (n > 0) /* else /usr/src is the host's own */
		show_attacks(range, keep[1]);
	take_place(range, &n, "ETC", "/etc/opt", keep);
	take_place(range, &n, "VAR", "/var/opt", keep);
	take_place(range, &n, "MNT", "/mnt", keep);
	take_place(range, &n, "SRV", "/srv", keep);
	n = 0;
	cover_file(range, &n, "shadow", 0600, "/etc/shadow");
	cover_file(range, &n, "machine-id", 0644, "/etc/machine-id");
	cover_file(range, &n, "hostname", 0644, "/etc/hostname");
	(void)mount("range", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "size=64m");
	(void)mkdir("/dev/mqueue", 0755);
	(void)mount("range", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV, NULL);
	/* The witness shall not have a number that somebody in a cell has, too. */
	(void)write_file("/proc/sys/kernel/ns_last_pid", "1000", NULL);
	return 0;
}

/* Those that stop the suite. */
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

static void pass_on(int sig)
{
	(void)kill(inner, sig);
}

/* The calling process: all that is left outside is an empty folder. */
static _Noreturn void wait_outside(const char *base)
{
	struct sigaction sa = {.sa_handler = pass_on};
	int status = 0;

	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	(void)sigaction(SIGINT, &sa,
	                NULL); /* twice from a terminal, which does no harm */
	mask_signals(SIG_UNBLOCK);
	while (waitpid(inner, &status, 0) < 0 && errno == EINTR)
		;
	/* Whoever is at work outside sees us hang up, and cleans up. */
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
		return dw_fail(err, DW_E_INTERNAL, errno, "make a folder %s",
		               range->base);
	return 0;
}

int dw_range_outside(struct dw_range *range, int leash, struct dw_error *err)
{
	*range = (struct dw_range){.root = geteuid() == 0,
	                           .outside = true,
	                           .leash = leash};
	if (make_base(range, err) < 0)
		return -1;
	/* It shall not be the mode of this folder that keeps anybody out. */
	(void)chmod(range->base, 0755);
	return 0;
}

void dw_range_leave(const struct dw_range *range)
{
	autoclose int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (range->outside && parent >= 0)
		(void)dw_path_remove_tree(parent, strrchr(range->base, '/') + 1);
}

int dw_range_enter(struct dw_range *range, const char *const *keep, struct dw_error *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	*range = (struct dw_range){.root = uid == 0, .leash = -1};
	if (make_base(range, err) < 0)
		return -1;

	if (!range->root && own_user_namespace(uid, gid, err) < 0)
		goto out;
	if (unshare(NAMESPACES) < 0) {
		(void)dw_fail(err, DW_E_UNSUPPORTED, errno,
		              "make namespaces to attack in");
		goto out;
	}
	/* Signals wait until both processes have handlers. */
	mask_signals(SIG_BLOCK);
	inner = fork();
	if (inner < 0) {
		mask_signals(SIG_UNBLOCK);
		(void)dw_fail(err, DW_E_INTERNAL, errno, "fork into the range");
		goto out;
	}
	if (inner > 0)
		wait_outside(range->base);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return set_up_mounts(range, keep, err);
out:
	(void)rmdir(range->base);
	return -1;
}
