/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEWAR_ERROR_H
#define DEWAR_ERROR_H

#if defined(__GNUC__)
#define DW_API __attribute__((visibility("default")))
#else
#define DW_API
#endif

/*
 * The reason why a call failed.
 *
 * An error is a failure of Dewar or the host; a failing program is a result, not an
 * error. The text is kept inside the struct, so that reporting an error
 * allocates nothing: it works after malloc() has failed, and in a child that
 * has not exec'd yet, and it can be written down a pipe as it is.
 */
enum dw_code {
	DW_OK = 0,
	DW_E_INVALID,     /* the request is invalid                      HTTP 400 */
	DW_E_DENIED,      /* a policy refuses it                         HTTP 403 */
	DW_E_NOT_FOUND,   /* no such run, key, approval, image or file   HTTP 404 */
	DW_E_BUSY,        /* a limit of Dewar is reached                 HTTP 429 */
	DW_E_UNSUPPORTED, /* this host cannot do it                      HTTP 501 */
	DW_E_INTERNAL,    /* the system or Dewar failed                  HTTP 500 */
	DW_E_COUNT
};

#define DW_ERROR_TEXT_MAX 512

/* Start from {0}. */
struct dw_error {
	enum dw_code code;
	int sys_errno;                /* the errno behind it, or 0 */
	char text[DW_ERROR_TEXT_MAX]; /* one line without newline; empty only if DW_OK */
};

/*
 * Fill *err (which may be NULL) and return -1; errno is preserved. If eno is
 * not 0, its message is appended to the text.
 */
DW_API int dw_fail(struct dw_error *err, enum dw_code code, int eno, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));

/*
 * Put what we were doing in front of the text, with a colon between them; if the text
 * begins with "must", put its subject in front, without a colon. Returns -1.
 */
DW_API int dw_wrap(struct dw_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), cold));

/* "invalid", "denied", "not_found", "busy", "unsupported", "internal" or "ok". */
DW_API const char *dw_code_name(enum dw_code code);

#endif
