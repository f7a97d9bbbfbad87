/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_API_ERROR_H
#define DW_DAEMON_API_ERROR_H

#include "dewar/error.h"

/*
 * Why a caller does not get what it asked for, in the one form that every reply
 * of ours has: {"error": {"code", "message", "hint"}}, the hint null if there is
 * none.
 */
struct dw_api_error {
	int status;             /* HTTP's */
	const char *code;       /* "invalid", "unauthorized", "too_large", ...; static */
	unsigned retry_after_s; /* 0: it makes no sense to try again */
	char message[DW_ERROR_TEXT_MAX];
	char hint[256]; /* what to do, or "" */
};

/*
 * Fill *ret and return -1. The code goes with the status; 429 and 503 come with a
 * second to wait, for the caller to change where it knows better. The hint may be
 * NULL. errno is preserved.
 */
int dw_api_fail(struct dw_api_error *ret, int status, const char *hint, const char *fmt,
                ...) __attribute__((format(printf, 4, 5), cold));

/* An error of the engine's, with the status that error.h gives its code. */
int dw_api_fail_with(struct dw_api_error *ret, const struct dw_error *err);

/* NUL-terminated; free() it. NULL without memory. */
char *dw_api_error_to_json(const struct dw_api_error *refusal);

#endif
