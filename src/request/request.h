/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_REQUEST_REQUEST_H
#define DW_REQUEST_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "dewar/request.h"
#include "dewar/result.h"

/* What the rest of Dewar uses beside dewar/request.h and dewar/result.h. */

/* ---- request_json.c ---- */

/* The words of enum dw_network and enum dw_pull, ending in NULL: for dw_choose(). */
extern const char *const dw_network_words[];
extern const char *const dw_pull_words[];

/*
 * dw_request_from_json() in two steps, for front doors that have keys of their own
 * beside the request's.
 */

/* Parse, as strictly as requests are; NULL with DW_E_INVALID and where. */
json_t *dw_request_tree(const char *text, size_t len, struct dw_error *err);

/* The tree is the request's from here on, whatever comes of it. */
int dw_request_from_tree(struct dw_request *req, json_t *root, struct dw_error *err);

/* ---- result.c ---- */

/* The words of enum dw_severity, ending in NULL. */
extern const char *const dw_severity_words[];

/* A result that knows its request and nothing else yet; NULL without memory. */
struct dw_result *dw_result_blank(const struct dw_request *req);

#define DW_WARNINGS_MAX 64U

/* Add a line to the result's warnings; past the ceiling it is dropped. */
void dw_warn(struct dw_result *res, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
