/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_BUF_H
#define DW_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bytes that grow, up to a ceiling given at birth. There is always a NUL behind
 * the last byte, so that text can be used as such.
 *
 * After a failed call the buffer is what it was before, and stays failed: a
 * long row of appends can be checked once, at its end.
 */
struct dw_buf {
	char *data; /* NULL while empty */
	size_t len;
	size_t size;
	size_t ceiling;
	bool failed;
};

void dw_buf_init(struct dw_buf *buf, size_t ceiling);
void dw_buf_finish(struct dw_buf *buf);

/* 0, -ENOMEM, or -E2BIG past the ceiling. */
int dw_buf_add(struct dw_buf *buf, const void *data, size_t len);
int dw_buf_puts(struct dw_buf *buf, const char *text);
int dw_buf_printf(struct dw_buf *buf, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As much as still fits below the ceiling; how much that was, or -ENOMEM. */
long dw_buf_add_upto(struct dw_buf *buf, const void *data, size_t len);

/* Hand the bytes over (never NULL unless memory ran out); the buffer is empty then. */
char *dw_buf_take(struct dw_buf *buf, size_t *ret_len);

#define autobuf __attribute__((cleanup(dw_buf_finish)))

#endif
