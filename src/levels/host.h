/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_HOST_H
#define DW_LEVELS_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "cgroup/cgroup.h"
#include "wire/report.h"

/*
 * Facts about this host, read from the kernel after it refused something, to name the
 * cause. None is derived from the refusal itself.
 */

/* The kind of container that we run in; the fixes differ by kind. */
enum dw_container {
	DW_CONTAINER_NONE = 0,
	DW_CONTAINER_DOCKER,
	DW_CONTAINER_PODMAN,
	DW_CONTAINER_OTHER,
	DW_CONTAINER_COUNT
};

enum dw_chroot {
	DW_CHROOT_NO = 0,
	DW_CHROOT_UNKNOWN, /* we may not read the files that would tell */
	DW_CHROOT_YES,
};

/* This kernel does not have the setting. */
#define DW_HOST_NO_SETTING (-1L)

struct dw_host {
	bool proc;       /* a procfs is at /proc */
	char masked[96]; /* a path in /proc with a mount on it, or "" */
	bool proc_readonly;
	bool bound_etc; /* a file of /etc is a mount, as in an engine's container */
	bool ramfs;     /* our root is the initramfs, which pivot_root cannot leave */
	bool filtered;  /* we run under a seccomp filter */
	enum dw_chroot chroot;
	enum dw_container container;
	long userns_clone;    /* kernel.unprivileged_userns_clone, of Debian */
	long restrict_userns; /* kernel.apparmor_restrict_unprivileged_userns, of Ubuntu */
	char zero_namespaces[8]; /* the first of user.max_*_namespaces that is 0, or "" */
	char no_namespaces[8];   /* a kind that this kernel was built without, or "" */
	char profile[96];        /* the AppArmor profile that we run under, or "" */
};

void dw_host_look(struct dw_host *ret);

/* Fill in masked, proc_readonly, bound_etc and ramfs from /proc/self/mountinfo. */
void dw_host_read_mounts(const char *text, struct dw_host *ret);

/* How to make a controller available that we cannot use; or "". */
void dw_host_limit_remedy(enum dw_controller controller, char *ret, size_t size);

/* Why Landlock failed with eno, and the fix (or ""). */
void dw_host_landlock(int eno, char *why, size_t why_size, char *remedy,
                      size_t remedy_size);

/* The lsm= option that adds Landlock to the list in force now. */
void dw_host_lsm_line(const char *now, char *ret, size_t size);

/* ---- failure_cause.c ---- */

/*
 * A cell could not be built: append the cause and the fix to the launcher's error, as
 * "<what>: <errno>; <cause>; try: <fix>". If no cause is found the error stays as it is.
 */
void dw_failure_cause_explain(enum dw_report_stage stage, struct dw_error *err);

/* The same, with the facts given by the caller. */
void dw_failure_cause_explain_on(const struct dw_host *host, enum dw_report_stage stage,
                                 struct dw_error *err);

/* The text after the last "try: ", or "". */
const char *dw_failure_cause_remedy(const char *text);

#endif
