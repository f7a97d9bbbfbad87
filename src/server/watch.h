/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_WATCH_H
#define DW_SERVER_WATCH_H

/*
 * Clients that hang up while we work for them: nobody reads from a connection that
 * waits, so somebody has to look.
 */
struct dw_watch_hang_up;

/* What is to be told. It is held while it is watched, and while it is told. */
struct dw_watched {
	void (*gone)(void *user); /* perhaps more than once */
	void (*hold)(void *user);
	void (*release)(void *user);
};

/* It is told once the other end of fd is gone. NULL without memory. */
struct dw_watch_hang_up *dw_watch_start(int fd, const struct dw_watched *what,
                                        void *user);

/* Before fd is closed. Accepts NULL. */
void dw_watch_stop(struct dw_watch_hang_up *watch);

#endif
