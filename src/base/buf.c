/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void dw_buf_init(struct dw_buf *buf, size_t ceiling)
{
	*buf = (struct dw_buf){.ceiling = ceiling};
}

void dw_buf_finish(struct dw_buf *buf)
{
	int saved = errno;

	free(buf->data);
	*buf = (struct dw_buf){.ceiling = buf->ceiling};
	errno = saved;
}

static int grow(struct dw_buf *buf, size_t more)
{
	size_t need, size = buf->size ? buf->size : 256;
	char *data;

	if (__builtin_add_overflow(buf->len, more, &need) || need > buf->ceiling ||
	    __builtin_add_overflow(need, 1, &need)) {
		buf->failed = true;
		return -E2BIG;
	}
	if (buf->data && need <= buf->size)
		return 0;
	while (size < need)
		if (__builtin_mul_overflow(size, 2, &size))
			size = need;
	data = realloc(buf->data, size);
	if (!data) {
		buf->failed = true;
		return -ENOMEM;
	}
	buf->data = data;
	buf->size = size;
	return 0;
}

int dw_buf_add(struct dw_buf *buf, const void *data, size_t len)
{
	int r = grow(buf, len);

	if (r < 0)
		return r;
	if (len > 0)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return 0;
}

int dw_buf_puts(struct dw_buf *buf, const char *text)
{
	return dw_buf_add(buf, text, strlen(text));
}

int dw_buf_printf(struct dw_buf *buf, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		buf->failed = true;
		return -ENOMEM;
	}
	return dw_buf_add(buf, text, (size_t)n);
}

long dw_buf_add_upto(struct dw_buf *buf, const void *data, size_t len)
{
	size_t room = buf->ceiling - buf->len;
	int r;

	if (len > room)
		len = room;
	r = dw_buf_add(buf, data, len);
	return r < 0 ? r : (long)len;
}

char *dw_buf_take(struct dw_buf *buf, size_t *ret_len)
{
	char *data;

	if (!buf->data && dw_buf_add(buf, "", 0) < 0)
		return NULL;
	data = TAKE_PTR(buf->data);
	if (ret_len)
		*ret_len = buf->len;
	*buf = (struct dw_buf){.ceiling = buf->ceiling};
	return data;
}
