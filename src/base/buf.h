/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_BUF_H
#define DW_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A growing buffer with a ceiling. A NUL always follows the last byte, so that text can be
 * used as a string.
 *
 * A failed call leaves the contents unchanged and sets failed, so that the caller can
 * check a series of appends once, at its end.
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

/* Append as much as fits below the ceiling. The number of bytes appended, or -ENOMEM. */
long dw_buf_add_upto(struct dw_buf *buf, const void *data, size_t len);

/* Take the bytes, to be freed, and leave the buffer empty. NULL only without memory. */
char *dw_buf_take(struct dw_buf *buf, size_t *ret_len);

#define autobuf __attribute__((cleanup(dw_buf_finish)))

#endif
