/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_COLLECT_H
#define DW_RUN_COLLECT_H

#include "dewar/request.h"
#include "dewar/result.h"

/* No more than this is brought out of a cell. */
#define DW_COLLECT_FILES_MAX 256U
#define DW_COLLECT_BYTES_MAX (64U << 20)
#define DW_COLLECT_LOOKS_MAX 20000U /* names looked at */

/*
 * Bring the files that the request names out of the folder tmp_fd of a cell that
 * is gone, into res->files. Only regular files, never through a link. What could
 * not be brought is told in res->warnings. except is a name to leave alone.
 */
int dw_collect(struct dw_result *res, const struct dw_request *req, int tmp_fd,
               const char *except, struct dw_error *err);

/* Is it a name or pattern that dw_collect() can look for? */
int dw_collect_check(const char *pattern, struct dw_error *err);

#endif
