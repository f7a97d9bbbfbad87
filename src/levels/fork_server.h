/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_FORK_SERVER_H
#define DW_LEVELS_FORK_SERVER_H

#include <pthread.h>
#include <sched.h>

#include "dewar/error.h"
#include "wire/plan.h"

/*
 * A launcher that stays and forks others (launch/fork_server.c), for who starts many
 * cells. From any thread. If it is gone, dw_spawn_launcher() is still there.
 */
struct dw_fork_server {
	pthread_mutex_t lock;
	int sock;
	int pid;
};

int dw_fork_server_start(struct dw_fork_server *s, struct dw_error *err);
void dw_fork_server_stop(struct dw_fork_server *s);

/* As dw_spawn_launcher(). -1: it could not. */
int dw_fork_server_fork(struct dw_fork_server *s, const int fds[DW_LAUNCH_FD + 1],
                        int cgroup, int *ret_pid, cpu_set_t *ret_cpus);

#endif
