/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_REQUEST_WARNINGS_H
#define DW_REQUEST_WARNINGS_H

#include "dewar/result.h"

#define DW_WARNINGS_MAX 64U

/* Add a line to the result's warnings; past the ceiling it is dropped. */
void dw_warn(struct dw_result *res, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
