/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/account.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/cgroup.h"
#include "levels/host.h"

/* ---- cgroups ---- */

struct groups {
	bool mounted; /* any version, at /sys/fs/cgroup */
	bool unified; /* only version 2 */
	bool readonly;
	bool has;          /* version 2: our own group has the controller */
	bool at_top;       /* version 2: the top group has the controller */
	bool systemd;      /* systemd manages the groups */
	bool user_manager; /* systemd has a manager for this user */
	bool built_in;     /* the kernel supports version 2 */
};

static bool has_controller(const char *folder, const char *name)
{
	char path[1200], list[512];

	(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", folder);
	return dw_fd_read_attr(AT_FDCWD, path, list, sizeof(list)) > 0 &&
	       dw_cgroup_has_word(list, name);
}

static void look_at_groups(const char *controller, struct groups *ret)
{
	char text[8192], own[1024], path[1100];
	struct statvfs flags;
	struct statfs fs;

	*ret = (struct groups){0};
	if (statfs("/sys/fs/cgroup", &fs) == 0) {
		ret->unified = fs.f_type == CGROUP2_SUPER_MAGIC;
		ret->mounted = ret->unified || fs.f_type == TMPFS_MAGIC;
	}
	(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s", ret->unified ? "" : "/",
	               ret->unified ? "" : controller);
	ret->readonly = statvfs(path, &flags) == 0 && (flags.f_flag & ST_RDONLY);
	ret->at_top = has_controller("/sys/fs/cgroup", controller);
	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) > 0 &&
	    dw_cgroup_own_path(text, NULL, own, sizeof(own)) == 0) {
		(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s", own);
		ret->has = has_controller(path, controller);
	}
	ret->systemd = access("/run/systemd/system", F_OK) == 0;
	(void)snprintf(path, sizeof(path), "/run/user/%u/systemd", geteuid());
	ret->user_manager = access(path, F_OK) == 0;
	ret->built_in = dw_fd_read_attr(AT_FDCWD, "/proc/filesystems", text,
	                                sizeof(text)) > 0 &&
	                strstr(text, "\tcgroup2\n") != NULL;
}

static const char *user_name(char *ret, size_t size)
{
	struct dw_account account;

	if (dw_account_find(geteuid(), &account) == 0)
		(void)snprintf(ret, size, "%.32s", account.name);
	else
		(void)snprintf(ret, size, "%u", geteuid());
	return ret;
}

/* The fix for a plain user on a host with version 2. */
static void remedy_for_user(const struct groups *g, char *ret, size_t size)
{
	char name[64];

	if (g->systemd && !g->user_manager)
		(void)snprintf(ret, size, "loginctl enable-linger %s",
		               user_name(name, sizeof(name)));
	else if (g->systemd && g->at_top && !g->has)
		(void)snprintf(ret, size,
		               "mkdir -p /etc/systemd/system/user@.service.d && printf "
		               "'[Service]\\nDelegate=cpu io memory pids\\n' > "
		               "/etc/systemd/system/user@.service.d/dewar.conf && systemctl "
		               "daemon-reload && systemctl restart user@%u",
		               geteuid());
	else if (g->systemd)
		(void)snprintf(ret, size,
		               "systemd-run --user --scope -p Delegate=yes dewar ...");
	else
		(void)snprintf(ret, size,
		               "as root: cd /sys/fs/cgroup && echo +memory +cpu +pids > "
		               "cgroup.subtree_control && mkdir -p dewar/%u && chown -R %u "
		               "dewar && echo %d > dewar/%u/cgroup.procs",
		               geteuid(), geteuid(), getppid(), geteuid());
}

void dw_host_limit_remedy(enum dw_controller controller, char *ret, size_t size)
{
	const char *name = dw_controller_name(controller);
	struct dw_host host;
	struct groups g;
	bool root = geteuid() == 0;

	dw_host_look(&host);
	look_at_groups(name, &g);
	*ret = '\0';
	if (!host.proc)
		(void)snprintf(ret, size, "mount -t proc proc /proc");
	else if (host.container != DW_CONTAINER_NONE && (g.readonly || !g.mounted))
		(void)snprintf(ret, size,
		               "limit the container instead: docker run --memory 2g --cpus 2 "
		               "--pids-limit 512 ...");
	else if (!g.mounted && g.built_in)
		(void)snprintf(ret, size, "mount -t cgroup2 cgroup2 /sys/fs/cgroup");
	else if (!g.mounted)
		(void)snprintf(ret, size,
		               "a kernel with CONFIG_CGROUPS=y and CONFIG_%s=y",
		               controller == DW_CONTROLLER_MEMORY ? "MEMCG"
		               : controller == DW_CONTROLLER_CPU  ? "CFS_BANDWIDTH"
		                                                  : "CGROUP_PIDS");
	else if (g.readonly)
		(void)snprintf(ret, size, "mount -o remount,rw /sys/fs/cgroup%s%s",
		               g.unified ? "" : "/", g.unified ? "" : name);
	else if (g.unified && !g.at_top)
		(void)snprintf(ret, size,
		               "boot with cgroup_enable=%s on the kernel's command line",
		               name);
	else if (g.unified && !root)
		remedy_for_user(&g, ret, size);
	else if (g.unified && g.systemd)
		(void)snprintf(ret, size,
		               "systemd-run --scope -p Delegate=yes dewar ... "
		               "(in a unit: Delegate=yes)");
	else if (!root && g.systemd)
		(void)snprintf(ret, size,
		               "boot with systemd.unified_cgroup_hierarchy=1 on the kernel's "
		               "command line, or run dewar as root");
	else if (!root)
		(void)snprintf(ret, size, "run dewar as root: sudo dewar ...");
}

/* ---- Landlock ---- */

void dw_host_lsm_line(const char *now, char *ret, size_t size)
{
	static const char always[] = "capability,";
	int len = (int)strcspn(now, " \n");

	/* The kernel always adds "capability". */
	if (strncmp(now, always, strlen(always)) == 0) {
		now += strlen(always);
		len -= (int)strlen(always);
	} else if (len == (int)strlen(always) - 1 &&
	           strncmp(now, always, (size_t)len) == 0) {
		len = 0;
	}
	(void)snprintf(ret, size, "lsm=landlock%s%.*s", len > 0 ? "," : "", len, now);
}

/* Read the list in force from the kernel, or else from the kernel's command line. */
static bool read_lsm(char *ret, size_t size)
{
	char text[4096];
	const char *at;

	if (dw_fd_read_attr(AT_FDCWD, "/sys/kernel/security/lsm", ret, size) > 0)
		return true;
	if (dw_fd_read_attr(AT_FDCWD, "/proc/cmdline", text, sizeof(text)) <= 0)
		return false;
	for (at = text; (at = strstr(at, "lsm=")) != NULL; at += 4)
		if (at == text || at[-1] == ' ') {
			(void)snprintf(ret, size, "%.*s", (int)strcspn(at + 4, " \n"),
			               at + 4);
			return true;
		}
	return false;
}

void dw_host_landlock(int eno, char *why, size_t why_size, char *remedy,
                      size_t remedy_size)
{
	char now[256], line[300];
	struct dw_host host;

	dw_host_look(&host);
	*remedy = '\0';
	if (eno == EOPNOTSUPP) {
		(void)snprintf(why, why_size, "Landlock is switched off in this kernel");
		if (read_lsm(now, sizeof(now)))
			dw_host_lsm_line(now, line, sizeof(line));
		else
			(void)snprintf(line, sizeof(line),
			               "lsm=landlock, in front of those in "
			               "/sys/kernel/security/lsm");
		(void)snprintf(remedy, remedy_size,
		               "boot with %s on the kernel's command line "
		               "(GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub)",
		               line);
	} else if (host.filtered) {
		(void)snprintf(why, why_size,
		               "a seccomp filter around dewar refuses Landlock");
		(void)snprintf(remedy, remedy_size, "%s",
		               host.container == DW_CONTAINER_DOCKER
		                       ? "docker run --security-opt seccomp=unconfined ..."
		                       : "start dewar outside of that filter");
	} else {
		(void)snprintf(why, why_size, "this kernel has no Landlock");
		(void)snprintf(remedy, remedy_size,
		               "a kernel of 5.13 or newer with CONFIG_SECURITY_LANDLOCK=y");
	}
}
