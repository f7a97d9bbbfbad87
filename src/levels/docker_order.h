/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_DOCKER_ORDER_H
#define DW_LEVELS_DOCKER_ORDER_H

#include <jansson.h>

#include "levels/level.h"
#include "wire/plan.h"

/*
 * From a request to what dewar-docker is told: which engine, which container, and
 * what is to happen in it. Nothing here talks to anybody.
 */

/* The image for a language where none is named, or NULL. */
const char *dw_docker_image(const struct dw_runtime *runtime);

/* Where engines listen, in the order in which they are tried; a new reference. */
json_t *dw_docker_sockets(struct dw_error *err);

/*
 * The body of the call that creates the container. guest is the path of our init on
 * the host. A new reference, or NULL.
 */
json_t *dw_docker_body(const struct dw_spec *spec, const char *image, const char *guest,
                       struct dw_error *err);

/* What the guest is to do: the program, its files, its own walls. */
int dw_docker_plan(const struct dw_spec *spec, struct dw_plan_builder *plan,
                   struct dw_error *err);

/*
 * The whole order; folder is where collected files go, or NULL. A new reference,
 * or NULL.
 */
json_t *dw_docker_order(const struct dw_spec *spec, const char *image, const char *guest,
                        const char *folder, struct dw_error *err);

/* The same for a container that waits, for so long, for an order of its own. */
json_t *dw_docker_order_waiting(const struct dw_spec *spec, const char *image,
                                const char *guest, uint64_t idle_ms,
                                struct dw_error *err);

/* Who the program is: nobody, by whatever name an image has for it. */
#define DW_DOCKER_NOBODY 65534U

/* Where a program of the host's is seen. */
#define DW_DOCKER_PROGRAM "/.dewar/main"

#endif
