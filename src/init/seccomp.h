/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_INIT_SECCOMP_H
#define DW_INIT_SECCOMP_H

struct dw_error;

#define DW_SECCOMP_FILTERS 3 /* that dw_seccomp_load() loads */

/*
 * Put the calling thread, and all that it will ever start, behind the filters of
 * seccomp_table.h. There is no way back, and execve() keeps them.
 *
 * The caller has set no_new_privs. On failure some of the filters may be in
 * place: on -1 the calling process must not run the caller's program.
 */
int dw_seccomp_load(struct dw_error *err);

/*
 * One filter more, before those: no file without a name, since no mount and no
 * Landlock rule stands between such a file and being executed.
 */
int dw_seccomp_forbid_memfd(struct dw_error *err);

#endif
