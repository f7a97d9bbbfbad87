/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_TRACES_H
#define DW_VERIFY_TRACES_H

#include "verify/stage.h"

/*
 * What an attack leaves on the host: changes to what was planted, and what is
 * still there when it is over.
 */

/*
 * Once, before anything runs in the range. The kernel gives the number of a pid
 * namespace again, and cgroups are named by it: one that is there already was left by
 * somebody who is dead, and by none of our attacks.
 */
void dw_traces_begin(void);

/* Note how everything is, before the attack. */
int dw_traces_note(struct dw_stage *stage, struct dw_error *err);

/* Was something planted changed, or something made beside it? */
bool dw_traces_in_files(const struct dw_stage *stage, char *ret, size_t size);

/* Is something left: a process, a mount, a file, a queue, a key, a cgroup? */
bool dw_traces_remain(const struct dw_stage *stage, char *ret, size_t size);

/* Remove what is left, so that the next attack finds the range as this one did. */
void dw_traces_remove(const struct dw_stage *stage);

/* Remove all that is in a folder. */
void dw_traces_empty(const char *path);

#endif
