/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_REFUSAL_H
#define DW_SERVER_REFUSAL_H

#include "dewar/error.h"

/*
 * Why a caller does not get what it asked for, in the one form that every reply
 * of ours has: {"error": {"code", "message", "hint"}}, the hint null if there is
 * none.
 */
struct dw_refusal {
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
int dw_refuse(struct dw_refusal *ret, int status, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));

/* An error of the engine's, with the status that error.h gives its code. */
int dw_refuse_error(struct dw_refusal *ret, const struct dw_error *err);

/* NUL-terminated; free() it. NULL without memory. */
char *dw_refusal_to_json(const struct dw_refusal *refusal);

#endif
