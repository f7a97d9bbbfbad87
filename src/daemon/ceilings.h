/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_CEILINGS_H
#define DW_DAEMON_CEILINGS_H

#include <stdbool.h>

#include "daemon/config.h"
#include "daemon/task.h"

#define DW_CEILINGS_IMAGES 64U
#define DW_CEILINGS_IMAGE_MAX 256U

/* What the daemon permits its clients; a caller's grant may permit less. */
struct dw_ceilings {
	char levels[256];        /* the permitted levels: "container,docker" */
	char level[64];          /* for a request that names no level */
	struct dw_limits limits; /* the defaults; 0: the level's default */
	struct dw_limits max;    /* the highest values; 0: no ceiling */
	bool network;            /* a request may ask for the full network */
	struct {
		char language[24];
		char image[DW_CEILINGS_IMAGE_MAX];
	} images[DW_CEILINGS_IMAGES]; /* at level docker, if a request names none */
	size_t n_images;
};

void dw_ceilings_from_config(struct dw_ceilings *ret, const struct dw_config *config);

/*
 * Check that the caller may run the request, and fill in what the request leaves open. No
 * limit is lowered silently: a limit above its ceiling is refused, and the error names
 * the ceiling.
 */
int dw_ceilings_apply(const struct dw_ceilings *ceilings, const struct dw_caller *caller,
                      struct dw_request *req, struct dw_api_error *why);

/*
 * Check only that the caller may run at the request's level, which a policy may have
 * raised since dw_ceilings_apply().
 */
int dw_ceilings_check(const struct dw_ceilings *ceilings, const struct dw_caller *caller,
                      const struct dw_request *req, struct dw_api_error *why);

/*
 * Returns the image that the config sets for the request's language; NULL if it sets
 * none, the request names an image, or the level uses no engine.
 */
const char *dw_ceilings_image(const struct dw_ceilings *ceilings,
                              const struct dw_request *req);

#endif
