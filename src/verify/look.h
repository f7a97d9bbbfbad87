/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_LOOK_H
#define DW_VERIFY_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Looking at the processes of an attempt from outside, through /proc, as root of
 * the range. They are those with the attempt's nonce in their environment, and all in
 * a cell where somebody holds: what was forked from a zygote shows the environment
 * that the zygote was started with.
 *
 * Outside of the range there are others: there, only the nonce counts.
 */

#define DW_LOOK_MAX 4096 /* processes of one attempt */

/* The processes of an attempt; how many there are. */
size_t dw_look_list(const char *nonce, pid_t *ret, size_t max);

/* A whole file of /proc/PID, NULs in it as newlines; free() it. NULL if it is not there. */
char *dw_look_read(pid_t pid, const char *name);

enum dw_stat_place {
	DW_STAT_NICE = 19,
	DW_STAT_PRIORITY = 40, /* of a real-time policy */
	DW_STAT_POLICY = 41
};

/* A number of /proc/PID/stat, by its place as proc(5) counts them; 0 if unknown. */
long dw_look_stat(pid_t pid, enum dw_stat_place place);

/* Does one of them ask to be looked at? Its name is "dw-hold" then. */
bool dw_look_holding(const char *nonce);

/* Is there anybody in the range but us and the witness; outside, with the nonce? */
bool dw_look_somebody(const char *nonce, pid_t witness, char *ret, size_t size);

/* End everybody but us; outside of the range, whoever has the nonce. */
void dw_look_end_all(const char *nonce);

/* Has one of them sent a packet by an interface that is not the loopback? */
bool dw_look_sends(const char *nonce);

#endif
