/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_ORDER_H
#define DW_DOCKER_ORDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "wire/docker.h"
#include "wire/plan.h"

/* What dewar wants, as levels/docker_order.c writes it. Texts are in the root. */
struct dw_docker_order {
	json_t *root;
	const json_t *sockets;
	json_t *body;
	const char *id;
	const char *image;
	const char *pull;    /* "never", "missing" or "always" */
	const char *runtime; /* or NULL */
	const char *folder;  /* for what is collected, or NULL */
	uint64_t deadline_ms;
	uint64_t asked[DW_DOCKER_LIMIT_COUNT];
	uint64_t tmp_bytes;
	uint64_t cpu_ms;  /* to hold in sum, where nobody holds the share */
	uint64_t wait_ms; /* for an order with a plan, once it is MADE; 0: this is one */
	bool probe;
	bool strict;
	bool no_network;
	struct dw_plan plan;
};

/* From a memfd with JSON, and for a run one with a sealed plan. */
int dw_docker_order_read(struct dw_docker_order *o, int json_fd, int plan_fd,
                         struct dw_error *err);

/*
 * The payload of an ORDER for the guest: the plan without its files, told to hold by
 * looking what held says that nobody else does.
 */
int dw_docker_order_write(const struct dw_docker_order *o,
                          const struct dw_docker_held *held, struct dw_buf *ret,
                          struct dw_error *err);

#endif
