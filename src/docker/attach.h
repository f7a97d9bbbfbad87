/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_ATTACH_H
#define DW_DOCKER_ATTACH_H

#include "base/buf.h"
#include "docker/engine.h"

/*
 * A connection of its own that becomes the container's stdin, stdout and stderr.
 * Its descriptor, non-blocking; what came behind the engine's answer already is in
 * ret_rest.
 */
int dw_attach(const struct dw_engine *e, const char *id, int cancel_fd, int *ret_fd,
              struct dw_buf *ret_rest, struct dw_error *err);

/*
 * The status in the first line of an answer, once its head is complete: then *ret_len
 * is the length of the head. 0 if there is more to come, -1 for what is no HTTP.
 */
int dw_attach_head(const char *text, size_t len, size_t *ret_len);

#endif
