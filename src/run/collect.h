/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_COLLECT_H
#define DW_RUN_COLLECT_H

#include "dewar/request.h"
#include "dewar/result.h"

/* Limits of what is copied out of a cell. */
#define DW_COLLECT_FILES_MAX 256U
#define DW_COLLECT_BYTES_MAX (64U << 20)
#define DW_COLLECT_LOOKS_MAX 20000U /* names examined */

/*
 * Copy the files that the request names from the folder tmp_fd of a cell that has ended
 * into res->files. Only regular files, never through a link. Adds a warning to
 * res->warnings for each file that cannot be copied. except is a name to skip.
 */
int dw_collect(struct dw_result *res, const struct dw_request *req, int tmp_fd,
               const char *except, struct dw_error *err);

/* Check that dw_collect() can look for the name or pattern. */
int dw_collect_check(const char *pattern, struct dw_error *err);

#endif
