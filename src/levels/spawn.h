/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_SPAWN_H
#define DW_LEVELS_SPAWN_H

#include <sched.h>

#include "dewar/error.h"
#include "wire/plan.h"

/*
 * Start dewar-launch with these descriptors as its 0, 1, 2 and DW_LAUNCH_FD; it
 * waits for its plan. *ret_cpus are those that the caller may run on, and so may
 * the program. With cgroup, a folder of version 2, it is born in that; -1 for none.
 */
int dw_spawn_launcher(const int fds[DW_LAUNCH_FD + 1], int cgroup, int *ret_pid,
                      cpu_set_t *ret_cpus, struct dw_error *err);

/* Start dewar-docker, with these as its 0, 1, 2 and 3; it waits for its order. */
int dw_spawn_courier(const int fds[4], int *ret_pid, struct dw_error *err);

/* Start one that stays, and forks launchers when it is asked (fork_server.h). */
int dw_spawn_server(int sock, int *ret_pid, struct dw_error *err);

/*
 * Start dewar-scope: it gets itself a scope of systemd's, says so (scope.h), and
 * becomes such a launcher there.
 */
int dw_spawn_scope(int sock, int *ret_pid, struct dw_error *err);

#endif
