/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_REPORT_H
#define DW_CLI_REPORT_H

#include <stdbool.h>

#include <jansson.h>

#include "dewar/error.h"

/* The exit status of whatever went wrong on our side. */
#define DW_EXIT_OURS 125

/* One line on stderr, behind "dewar: ", whatever bytes the text is made of. */
void dw_report_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Blank out what a terminal would act on, but for the bytes to keep. */
void dw_report_clean(char *line, const char *keep);

/*
 * Tell of a failure of ours: a line on stderr and, if json, an object on stdout
 * too. Always DW_EXIT_OURS.
 */
int dw_report_error(const struct dw_error *err, bool json);

/* A JSON string, with U+FFFD for what is not UTF-8; null if text is NULL. */
json_t *dw_report_string(const char *text);

/* Print the value on stdout, and free it. 0 or DW_EXIT_OURS. */
int dw_report_json(json_t *value);

/* What was printed with stdio reached its reader: 0, or DW_EXIT_OURS. */
int dw_report_flush(void);

/* May what goes to this descriptor have colours? */
bool dw_report_colour(int fd);

#endif
