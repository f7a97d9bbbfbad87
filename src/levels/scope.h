/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_SCOPE_H
#define DW_LEVELS_SCOPE_H

#include <stdint.h>

/*
 * Where cells' groups go in version 2 of cgroups, systemd's part of it. Where our own
 * group is not ours to divide (cgroup/parent.h), dewar-scope gets a scope from
 * systemd and becomes a launcher in it, whose children are born there. We stay
 * where we are: a process may be moved between groups only by whoever may write to
 * the one above both, and that is systemd.
 */
struct dw_fork_server;

/* Find the home; before there is any child of ours that could be in the way. */
void dw_cgroup_scope_settle(void);

/* Who starts launchers in the scope; NULL if there is none. */
struct dw_fork_server *dw_cgroup_scope_launcher(void);

/* What dewar-scope says, once; if it went well, the scope's folder comes along. */
#define DW_SCOPE_MAGIC 0x31534457U
struct dw_scope_said {
	uint32_t magic;
	char failed[156]; /* why it did not; or "" */
};

#endif
