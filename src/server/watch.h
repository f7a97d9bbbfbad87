/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_WATCH_H
#define DW_SERVER_WATCH_H

#include "server/task.h"

/*
 * Clients that hang up while their run goes on: nobody reads from a connection that
 * waits, so somebody has to look.
 */
struct dw_watch_hang_up;

/* The task is cancelled once the other end of fd is gone. NULL without memory. */
struct dw_watch_hang_up *dw_watch_start(int fd, struct dw_task *task);

/* Before fd is closed. Accepts NULL. */
void dw_watch_stop(struct dw_watch_hang_up *watch);

#endif
