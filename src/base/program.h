/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_PROGRAM_H
#define DW_BASE_PROGRAM_H

#include <stddef.h>

#include "dewar/error.h"

/*
 * Find a program of Dewar: in the environment variable, if it is set; beside the running
 * program, as in the build folder; or in the folder of the installation.
 */
int dw_program_find(const char *name, const char *variable, char *ret, size_t size,
                    struct dw_error *err);

#endif
