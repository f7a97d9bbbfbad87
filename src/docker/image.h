/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_IMAGE_H
#define DW_DOCKER_IMAGE_H

#include "docker/engine.h"

/*
 * "python:3.11-slim" as the API wants it: the name, and the tag or "". Without a
 * tag it is "latest", since an engine would pull all that there are.
 */
int dw_image_split(const char *image, char *ret_name, size_t size, char *ret_tag,
                   size_t tag_size, struct dw_error *err);

/* Called with a line for a person, now and then. */
typedef void dw_image_note_fn(void *user, const char *text);

/*
 * Pull it. As long as the engine tells of progress there is time, and the engine's
 * deadline is put off by what it took.
 */
int dw_image_pull(struct dw_engine *e, const char *image, dw_image_note_fn *note,
                  void *user, struct dw_error *err);

#endif
