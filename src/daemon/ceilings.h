/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_CEILINGS_H
#define DW_DAEMON_CEILINGS_H

#include <stdbool.h>

#include "daemon/config.h"
#include "daemon/task.h"

#define DW_CEILINGS_IMAGES 64U
#define DW_CEILINGS_IMAGE_MAX 256U

/* What the daemon lets any client run; a caller's grant narrows it. */
struct dw_ceilings {
	char levels[256];        /* "container,docker" */
	char level[64];          /* if a request names none */
	struct dw_limits limits; /* likewise; 0: the engine's */
	struct dw_limits max;    /* 0: no limit */
	bool network;            /* the full network may be asked for */
	struct {
		char language[24];
		char image[DW_CEILINGS_IMAGE_MAX];
	} images[DW_CEILINGS_IMAGES]; /* at level docker, if a request names none */
	size_t n_images;
};

void dw_ceilings_from_config(struct dw_ceilings *ret, const struct dw_config *config);

/*
 * May the caller run this? Fills in what it left open. Nothing is lowered silently:
 * a limit that was asked for and is too high is refused, with the most there is.
 */
int dw_ceilings_apply(const struct dw_ceilings *rules, const struct dw_caller *caller,
                      struct dw_request *req, struct dw_api_error *why);

/*
 * May it run at the level that it has come to, which a policy may have raised? The
 * first part of what dw_ceilings_apply() asks; nothing is filled in.
 */
int dw_ceilings_check(const struct dw_ceilings *rules, const struct dw_caller *caller,
                      const struct dw_request *req, struct dw_api_error *why);

/* The image that the config has for such a request, or NULL. */
const char *dw_ceilings_image(const struct dw_ceilings *rules,
                              const struct dw_request *req);

#endif
