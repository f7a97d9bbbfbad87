/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LANGUAGES_INSTALLED_H
#define DW_LANGUAGES_INSTALLED_H

#include <stddef.h>
#include <stdint.h>

struct dw_language;

/*
 * As dw_language_get(), but path and version stay empty: it starts no interpreter, so that
 * a run does not pay for it. 0, or -1 if there is no such index.
 */
int dw_language_peek(size_t index, struct dw_language *ret);

/*
 * Run a program of the host and read its stdout and stderr for at most that time; then
 * kill it. argv[0] is its path. 0 or -errno.
 */
int dw_program_ask(char *const *argv, uint64_t wait_ms, char *text, size_t size);

#endif
