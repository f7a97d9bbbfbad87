/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_SPAWNER_H
#define DW_LEVELS_SPAWNER_H

#include <pthread.h>
#include <sched.h>

#include "dewar/error.h"
#include "kernel/plan.h"

/*
 * A launcher that stays and forks others (launch/serve.c), for who starts many
 * cells. From any thread. If it is gone, dw_spawn_launcher() is still there.
 */
struct dw_spawner {
	pthread_mutex_t lock;
	int sock;
	int pid;
};

int dw_spawner_start(struct dw_spawner *s, struct dw_error *err);
void dw_spawner_stop(struct dw_spawner *s);

/* As dw_spawn_launcher(). -1: it could not. */
int dw_spawner_fork(struct dw_spawner *s, const int fds[DW_LAUNCH_FD + 1], int cgroup,
                    int *ret_pid, cpu_set_t *ret_cpus);

#endif
