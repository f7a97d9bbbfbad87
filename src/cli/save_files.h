/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SAVE_FILES_H
#define DW_CLI_SAVE_FILES_H

#include <stddef.h>

#include "dewar/request.h"
#include "dewar/result.h"

/*
 * Writing files collected from a cell. The guest chooses their names and content: no
 * name leads out of the folder or through a link, nothing becomes executable, and an
 * existing file is replaced only if the caller gave its full name.
 */

/* Open the folder, or create it in an existing parent. A descriptor, or -1. */
int dw_collect_open(const char *folder, struct dw_error *err);

/* Returns how many files could not be written; each is reported in a line. */
size_t dw_collect_write(int dir_fd, const struct dw_request *req,
                        const struct dw_result *res);

#endif
