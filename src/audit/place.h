/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_PLACE_H
#define DW_AUDIT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * Where the file lies, and who has it open.
 *
 * Beside the file is one that is empty and only locked, byte by byte: byte 0 by
 * who makes the tables, and a byte of its own, by chance, by every process that
 * writes. The kernel lets go of it when the process ends, however it ends; so
 * whoever finds it free knows that its owner is gone.
 */

/* Make the file and its folder if need be; mode 0600 and 0700. */
int dw_audit_place_make(const char *path, struct dw_error *err);

/* Its folder is on disk, with the names of what is new in it. */
void dw_audit_place_sync(const char *path);

/* Make and open the file of locks. */
int dw_audit_locks_open(const char *path, int *ret_fd, struct dw_error *err);

/* The same to look only: -1 if there is none. */
int dw_audit_locks_look(const char *path);

/* Lock a byte that nobody else has, for as long as the descriptor is open. */
int dw_audit_locks_claim(int fd, int64_t *ret_owner, struct dw_error *err);

/* Is it locked through another descriptor? */
bool dw_audit_locks_held(int fd, int64_t owner);

/* Wait for byte 0, and let go of it. */
int dw_audit_locks_enter(int fd, struct dw_error *err);
void dw_audit_locks_leave(int fd);

#endif
