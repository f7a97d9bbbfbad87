/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_PRINT_H
#define DW_CLI_PRINT_H

#include <stdbool.h>

#include <jansson.h>

#include "dewar/error.h"

/* The exit status if Dewar itself failed. */
#define DW_EXIT_OURS 125

/* Print one line on stderr that begins with "dewar: ". The text may contain any bytes. */
void dw_report_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Overwrite the characters that a terminal hides or interprets, except those in keep, and
 * bytes that are not UTF-8.
 */
void dw_report_clean(char *line, const char *keep);

/*
 * Report an error: print a line on stderr and, if json is true, {"error": ...} on stdout
 * as well. Returns DW_EXIT_OURS.
 */
int dw_report_error(const struct dw_error *err, bool json);

/*
 * Returns a JSON string, with U+FFFD in place of bytes that are not UTF-8, or null if
 * text is NULL.
 */
json_t *dw_report_string(const char *text);

/* Print the value on stdout and free it. Returns 0 or DW_EXIT_OURS. */
int dw_report_json(json_t *value);

/* Flush stdout. Returns 0, or DW_EXIT_OURS if a write has failed. */
int dw_report_flush(void);

/* Returns true if output to this descriptor may have colours. */
bool dw_report_colour(int fd);

#endif
