/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_REQUEST_REQUEST_H
#define DW_REQUEST_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "dewar/request.h"
#include "dewar/result.h"

/* Internal functions on requests and results, beside the public headers. */

/* ---- request_json.c ---- */

/* The words of enum dw_network and enum dw_pull, ending in NULL: for dw_choose(). */
extern const char *const dw_network_words[];
extern const char *const dw_pull_words[];

/*
 * dw_request_from_json() in two steps, for front doors whose JSON objects also have keys
 * that are not part of the request.
 */

/* Parse JSON; refuses duplicate keys. NULL with an error that has line and column. */
json_t *dw_request_tree(const char *text, size_t len, struct dw_error *err);

/* Fill the request from a tree. Takes ownership of root, also on failure. */
int dw_request_from_tree(struct dw_request *req, json_t *root, struct dw_error *err);

/* ---- result.c ---- */

/* The words of enum dw_severity, ending in NULL. */
extern const char *const dw_severity_words[];

/* A new result with id, level and image of the request; NULL on failure. */
struct dw_result *dw_result_blank(const struct dw_request *req);

#define DW_WARNINGS_MAX 64U

/* Add a line to the result's warnings; lines after DW_WARNINGS_MAX are dropped. */
void dw_warn(struct dw_result *res, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
