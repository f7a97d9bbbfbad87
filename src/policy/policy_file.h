/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_POLICY_FILE_H
#define DW_POLICY_POLICY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "dewar/error.h"

/* Does the name mean a file, and no profile? */
bool dw_policy_is_file(const char *name);

/* The name that NULL stands for. */
const char *dw_policy_default(void);

/*
 * Read the whole, a NUL behind it; free() it. *ret_st is the file as it was before the
 * first byte was read, so that who compares it later sees any change.
 */
int dw_policy_file_read(const char *path, struct stat *ret_st, char **ret_text,
                        size_t *ret_len, struct dw_error *err);

#endif
