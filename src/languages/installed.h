/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LANGUAGES_INSTALLED_H
#define DW_LANGUAGES_INSTALLED_H

#include <stddef.h>
#include <stdint.h>

struct dw_language;

/*
 * As dw_language_get(), but nobody is asked: path and version stay empty. A run
 * must not pay for starting an interpreter only to learn that it has a name.
 * 0, or -1 if there is no such index.
 */
int dw_language_peek(size_t index, struct dw_language *ret);

/*
 * What a program of the host says, on stdout and stderr, within that time; then it
 * is ended. argv[0] is its path. 0 or -errno.
 */
int dw_program_ask(char *const *argv, uint64_t wait_ms, char *text, size_t size);

#endif
