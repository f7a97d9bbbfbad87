/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SAVE_FILES_H
#define DW_CLI_SAVE_FILES_H

#include <stddef.h>

#include "dewar/request.h"
#include "dewar/result.h"

/*
 * Writing what came out of a cell. The names and the bytes are the guest's: no
 * name leads out of the folder or through a link, nothing becomes executable,
 * and a file that is already there is replaced only if the caller named it in
 * full.
 */

/* The folder, made if it is missing but its parent is there. A descriptor, or -1. */
int dw_collect_open(const char *folder, struct dw_error *err);

/* How many files could not be written; each has been reported in a line. */
size_t dw_collect_write(int dir_fd, const struct dw_request *req,
                        const struct dw_result *res);

#endif
