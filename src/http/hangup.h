/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_HANGUP_H
#define DW_HTTP_HANGUP_H

/*
 * Detects clients that hang up while we work for them: libmicrohttpd does not look at
 * a connection that is suspended.
 */
struct dw_hangup;

/* The object to notify. It is held while it is watched and while gone() runs. */
struct dw_watched {
	void (*gone)(void *user); /* from another thread */
	void (*hold)(void *user);
	void (*release)(void *user);
};

/*
 * Call what->gone() once the other end of fd has closed its side. An fd has at most
 * one watch at a time. NULL if the system lacks memory or descriptors; then hang-ups
 * of this client go unnoticed until its reply is sent.
 */
struct dw_hangup *dw_hangup_start(int fd, const struct dw_watched *what, void *user);

/* Must come before fd is closed. gone() may still be running. Accepts NULL. */
void dw_hangup_stop(struct dw_hangup *watch);

#endif
