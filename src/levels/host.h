/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_HOST_H
#define DW_LEVELS_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "cgroup/cgroup.h"

/*
 * What surrounds us, read from the kernel: looked at once something was refused, to
 * say who refuses it. No fact is derived from the refusal itself.
 */

/* Who keeps us in a container, as far as that decides how it is told to let go. */
enum dw_container {
	DW_CONTAINER_NONE = 0,
	DW_CONTAINER_DOCKER,
	DW_CONTAINER_PODMAN,
	DW_CONTAINER_OTHER,
	DW_CONTAINER_COUNT
};

enum dw_chroot {
	DW_CHROOT_NO = 0,
	DW_CHROOT_UNKNOWN, /* nothing that we may look at tells */
	DW_CHROOT_YES,
};

/* A setting that this kernel does not have. */
#define DW_HOST_NO_SETTING (-1L)

struct dw_host {
	bool proc;       /* a procfs is at /proc */
	char masked[96]; /* what is mounted over a part of /proc, or "" */
	bool proc_readonly;
	bool bound_etc; /* a file of /etc is a mount, as an engine's containers have it */
	bool ramfs;     /* our root is the initramfs, which nobody can leave */
	bool filtered;  /* a seccomp filter is around us */
	enum dw_chroot chroot;
	enum dw_container container;
	long userns_clone;    /* kernel.unprivileged_userns_clone, Debian's */
	long restrict_userns; /* kernel.apparmor_restrict_unprivileged_userns, Ubuntu's */
	char zero_namespaces[8]; /* of user.max_*_namespaces, the first that is 0; or "" */
	char no_namespaces[8];   /* a kind that this kernel was built without; or "" */
	char profile[96];        /* AppArmor's around us, or "" */
};

void dw_host_look(struct dw_host *ret);

/* From the text of /proc/self/mountinfo: masked, proc_readonly, bound_etc, ramfs. */
void dw_host_read_mounts(const char *text, struct dw_host *ret);

/* What would give us the controller, which is not held; or "". */
void dw_host_limit_remedy(enum dw_controller controller, char *ret, size_t size);

/* Why there is no Landlock here, and what helps (or ""); eno is what it was refused with. */
void dw_host_landlock(int eno, char *why, size_t why_size, char *remedy,
                      size_t remedy_size);

/* The list for the kernel's command line, from that which is in force now. */
void dw_host_lsm_line(const char *now, char *ret, size_t size);

#endif
