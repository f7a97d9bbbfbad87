/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_LOOK_H
#define DW_VERIFY_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Looking at the processes of an attempt from outside, through /proc, as root of
 * the range. They are those with the attempt's nonce in their environment.
 */

/* A number of /proc/PID/stat, by its place as proc(5) counts them; 0 if unknown. */
long dw_look_stat(pid_t pid, int place);

/* Note what all of the host has now, for what is counted as more than that. */
void dw_look_begin(void);

/* Does one of them ask to be looked at? Its name is "dw-hold" then. */
bool dw_look_holding(const char *nonce);

/*
 * Does what is seen meet the oracle ("held status ^Seccomp:.0", "count processes
 * > 40")? What was seen, in ret.
 */
bool dw_look_meets(const char *nonce, const char *oracle, char *ret, size_t size);

/*
 * Is what only this host has ("host boot-id") in what an attack put out?
 */
bool dw_look_told(const char *said, const char *oracle, char *ret, size_t size);

/* Is there anybody in the range but us and the witness? */
bool dw_look_somebody(pid_t witness, char *ret, size_t size);

/* End everybody but us. */
void dw_look_end_all(void);

#endif
