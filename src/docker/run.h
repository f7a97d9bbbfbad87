/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_RUN_H
#define DW_DOCKER_RUN_H

#include "docker/engine.h"
#include "docker/order.h"

/*
 * One run, from the creation of a container to its removal. What happened goes to
 * dewar, errors included.
 */
int dw_docker_run(struct dw_engine *e, const struct dw_docker_order *o,
                  struct dw_error *err);

#endif
