/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_INPUT_H
#define DW_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "dewar/error.h"

/* What we take in, at most. */
#define DW_INPUT_CODE_MAX ((size_t)64 << 20)
#define DW_INPUT_FILE_MAX ((size_t)64 << 20)
#define DW_INPUT_FILES_MAX ((size_t)256 << 20) /* all the --file of a run */
#define DW_INPUT_REQUEST_MAX ((size_t)512 << 20)

/*
 * Read a regular file whole, or standard input if path is "-". The bytes are
 * *ret_data's, to be freed, with a NUL behind the last. Anything that is not a
 * regular file is refused without waiting for it; "-" may be anything.
 */
int dw_input_read(const char *path, size_t max, char **ret_data, size_t *ret_len,
                  struct dw_error *err);

/* Returns true if it is a Linux program that every user may read and execute. */
bool dw_input_is_program(const char *path);

#endif
