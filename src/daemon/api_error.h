/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_API_ERROR_H
#define DW_DAEMON_API_ERROR_H

#include "dewar/error.h"

/*
 * Why a request is refused. Its JSON is {"error": {"code", "message", "hint"}}, as at
 * every front door. Codes that the CLI uses as well have the names that dw_code_name()
 * returns.
 */
struct dw_api_error {
	int status;             /* of the HTTP reply */
	const char *code;       /* "invalid", "unauthorized", "too_large", ...; static */
	unsigned retry_after_s; /* 0: do not retry, it would fail again */
	char message[DW_ERROR_TEXT_MAX];
	char hint[256]; /* the fix, or "" */
};

/*
 * Fill *ret and return -1. The code follows from the status; 429 and 503 set
 * retry_after_s to 1, which the caller may change. The hint may be NULL. errno is
 * preserved.
 */
int dw_api_fail(struct dw_api_error *ret, int status, const char *hint, const char *fmt,
                ...) __attribute__((format(printf, 4, 5), cold));

/* Fill *ret from a struct dw_error, with the status that dewar/error.h gives its code. */
int dw_api_fail_with(struct dw_api_error *ret, const struct dw_error *err);

/* Returns a string to be freed with free(), or NULL if memory runs out. */
char *dw_api_error_to_json(const struct dw_api_error *error);

#endif
