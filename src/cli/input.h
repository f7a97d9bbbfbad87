/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_INPUT_H
#define DW_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "dewar/error.h"

/* The largest inputs that we read. */
#define DW_INPUT_CODE_MAX ((size_t)64 << 20)
#define DW_INPUT_FILE_MAX ((size_t)64 << 20)
#define DW_INPUT_FILES_MAX ((size_t)256 << 20) /* the sum of all --file of a run */
#define DW_INPUT_REQUEST_MAX ((size_t)512 << 20)

/*
 * Read a whole regular file, or standard input if path is "-". The caller frees
 * *ret_data, which has a NUL after the last byte. A path that is not a regular file is
 * refused without blocking; standard input may be of any type.
 */
int dw_input_read(const char *path, size_t max, char **ret_data, size_t *ret_len,
                  struct dw_error *err);

/* Returns true if the file is an ELF program that every user may read and execute. */
bool dw_input_is_program(const char *path);

#endif
