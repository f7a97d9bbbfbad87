/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage 10: read the program's walls back from the kernel. Nothing here repeats the plan:
 * every field is the kernel's answer, or says that the kernel gave no answer.
 *
 * The program's own process reads what it could change later, just before the exec. Init
 * reads what it shares with the program (namespaces, the tree, the network), while the
 * program already runs. If a zygote forked the program, init reads both, before the
 * program gets its job (entered.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "init/init.h"

static const char *const cap_fields[] = {
	[DW_CAP_EFFECTIVE] = "\nCapEff:",   [DW_CAP_PERMITTED] = "\nCapPrm:",
	[DW_CAP_INHERITABLE] = "\nCapInh:", [DW_CAP_BOUNDING] = "\nCapBnd:",
	[DW_CAP_AMBIENT] = "\nCapAmb:",
};
_Static_assert(ARRAY_SIZE(cap_fields) == DW_CAP_SET_COUNT, "a field for each set");

static int32_t number_after(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	return at ? (int32_t)strtol(at + strlen(field), NULL, 10) : -1;
}

static void read_status(pid_t pid, struct dw_walls *ret)
{
	char path[64] = "/proc/self/status", text[4096];
	const char *at;

	if (pid != 0)
		(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return;
	ret->uid = (uint32_t)number_after(text, "\nUid:");
	ret->gid = (uint32_t)number_after(text, "\nGid:");
	for (int i = 0; i < DW_CAP_SET_COUNT; i++) {
		at = strstr(text, cap_fields[i]);
		if (at)
			ret->caps[i] = strtoull(at + strlen(cap_fields[i]), NULL, 16);
	}
	ret->no_new_privs = number_after(text, "\nNoNewPrivs:");
	ret->seccomp_mode = number_after(text, "\nSeccomp:");
	ret->seccomp_filters = number_after(text, "\nSeccomp_filters:");
}

static uint64_t read_rlimit(pid_t pid, int resource)
{
	struct rlimit lim;

	return prlimit(pid, resource, NULL, &lim) == 0 ? lim.rlim_cur : 0;
}

void dw_readback_own(pid_t pid, int landlock_abi, struct dw_walls *ret)
{
	*ret = (struct dw_walls){
		.known = true,
		.uid = UINT32_MAX,
		.gid = UINT32_MAX,
		.no_new_privs = -1,
		.seccomp_mode = -1,
		.seccomp_filters = -1,
		.landlock_abi = landlock_abi,
		.others_refused = -1,
		.root_read_only = -1,
		.interfaces = -1,
		.routes = -1,
		.rlimit_files = read_rlimit(pid, RLIMIT_NOFILE),
		.rlimit_pids = read_rlimit(pid, RLIMIT_NPROC),
		.rlimit_file_size = read_rlimit(pid, RLIMIT_FSIZE),
	};
	memset(ret->caps, 0xff, sizeof(ret->caps));
	read_status(pid, ret);
}

/* Newer than Debian 12's headers: check whether a file may be executed (Linux 6.14). */
#define EXECVE_CHECK 0x10000

static int is_refused(const char *path)
{
	static char *const none[] = {NULL};

	if (syscall(SYS_execveat, AT_FDCWD, path, none, none, EXECVE_CHECK) == 0)
		return 0;
	return errno == EACCES ? 1 : -1;
}

int dw_readback_commands(const struct dw_plan *plan, struct dw_walls *walls,
                         struct dw_error *err)
{
	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];

		if (e->op != DW_PLAN_EXEC)
			continue;
		if (e->flags & DW_PLAN_REFUSED)
			walls->others_refused = is_refused(dw_plan_text(plan, e->dst));
		else
			walls->commands++;
	}
	if (walls->landlock_abi > 0 && walls->others_refused == 0)
		return dw_fail(
			err, DW_E_INTERNAL, 0,
			"a program that is not in allowed_commands could be executed");
	return 0;
}

bool dw_readback_shares_all(pid_t pid, const struct dw_walls *shared)
{
	for (int i = 0; i < DW_NS_COUNT; i++)
		if (shared->ns[i] == 0 || dw_ns_of(pid, i) != shared->ns[i])
			return false;
	return true;
}

void dw_readback_join(const struct dw_walls *shared, struct dw_walls *own)
{
	memcpy(own->ns, shared->ns, sizeof(own->ns));
	own->tmp_bytes = shared->tmp_bytes;
	own->tmp_inodes = shared->tmp_inodes;
	own->root_read_only = shared->root_read_only;
	own->interfaces = shared->interfaces;
	own->routes = shared->routes;
}

void dw_readback_shared(struct dw_walls *walls)
{
	struct statvfs vfs;

	for (int i = 0; i < DW_NS_COUNT; i++)
		walls->ns[i] = dw_ns_of(0, i);
	if (statvfs("/tmp", &vfs) == 0) {
		walls->tmp_bytes = (uint64_t)vfs.f_blocks * vfs.f_frsize;
		walls->tmp_inodes = vfs.f_files;
	}
	if (statvfs("/", &vfs) == 0)
		walls->root_read_only = (vfs.f_flag & ST_RDONLY) != 0;

	walls->interfaces = dw_net_count(RTM_GETLINK);
	walls->routes = dw_net_count(RTM_GETROUTE);
}
