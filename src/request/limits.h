/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_REQUEST_LIMITS_H
#define DW_REQUEST_LIMITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/values.h"
#include "dewar/error.h"
#include "dewar/request.h"
#include "dewar/result.h"

/*
 * The table of limits (dewar/limits.def), and the functions by which every front door
 * parses, checks and describes limits.
 */

/* How users write the value, and so which parser of base/values.h reads it. */
enum dw_limit_kind {
	DW_LIMIT_KIND_TIME = 0, /* "500ms" */
	DW_LIMIT_KIND_SIZE,     /* "256M" */
	DW_LIMIT_KIND_CPUS,     /* "0.5", "50%" */
	DW_LIMIT_KIND_COUNT,    /* "64" */
};

/* The columns of limits.def. */
struct dw_limit_row {
	const char *member;
	enum dw_limit_kind kind;
	const char *option;
	const char *key;
	uint64_t scale;
	const char *unit;
	uint64_t normal, least, most;
	const char *name;
	const char *word;
	const char *what;
};

extern const struct dw_limit_row dw_limit_rows[DW_LIMIT_COUNT];

/* The member of struct dw_limits that belongs to a row, for loops over the table. */
uint64_t *dw_limit_of(struct dw_limits *limits, size_t row);
uint64_t dw_limit_get(const struct dw_limits *limits, size_t row);

/*
 * Parse and check a value from a command line or the environment. On failure *ret is
 * untouched, and the caller adds the option's name to the error: "must be at least 1M".
 */
int dw_limit_parse(size_t row, const char *text, uint64_t *ret, struct dw_error *err);

/* Check a parsed value; errors are the same. */
int dw_limit_check(size_t row, uint64_t value, struct dw_error *err);

/* Format a value as dw_limit_parse() reads it: "30s", "256M", "50%". */
const char *dw_limit_text(size_t row, uint64_t value, char ret[DW_VALUE_TEXT_MAX]);

/* Read a value of a request. Errors name the key: "limits.memory_mb must be ...". */
int dw_limit_from_json(size_t row, const json_t *value, uint64_t *ret,
                       struct dw_error *err);

/* Check the range of every limit that is set. Errors name the key: "limits.memory_mb". */
int dw_limits_check(const struct dw_limits *limits, struct dw_error *err);

/*
 * Returns true if a cell that was built with the limits `built` enforces the wanted ones:
 * all must be equal, except timeout and output, which the supervisor enforces for each
 * run.
 */
bool dw_limits_fit(const struct dw_limits *built, const struct dw_limits *wanted);

/* Set each limit that is 0 to its value in otherwise. */
void dw_limits_fill(struct dw_limits *limits, const struct dw_limits *otherwise);

/* The default of every limit; a level may have a timeout of its own. */
struct dw_limits dw_limits_normal(void);

/* The JSON Schema of a limit's key; NULL if out of memory. */
json_t *dw_limit_schema(size_t row, bool nullable);

#endif
