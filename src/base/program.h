/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_PROGRAM_H
#define DW_BASE_PROGRAM_H

#include <stddef.h>

#include "dewar/error.h"

/*
 * Where a program of ours is: as the variable says, if there is one; beside the
 * program that calls, as in the build folder; or where it was installed.
 */
int dw_program_find(const char *name, const char *variable, char *ret, size_t size,
                    struct dw_error *err);

#endif
