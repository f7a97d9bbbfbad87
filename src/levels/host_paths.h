/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_HOST_PATHS_H
#define DW_LEVELS_HOST_PATHS_H

#include "levels/level.h"
#include "wire/plan.h"

/*
 * What of the host a program gets to see. One list serves both levels: what
 * container binds into its root, process allows with Landlock.
 */

/* Called for each path of the host's own root that is shown, in order. */
typedef void dw_host_paths_fn(struct dw_plan_builder *plan, const char *path);

/* The host's programs and libraries, and the parts of /etc that they need. */
void dw_host_paths_host(struct dw_plan_builder *plan, dw_host_paths_fn *show);

/* Bind a host path at its own place in the cell; a link becomes the same link. */
void dw_host_paths_bind(struct dw_plan_builder *plan, const char *path);

/* Everything of a root file system in a folder, except what is the cell's own. */
int dw_host_paths_image(struct dw_plan_builder *plan, const char *image,
                        struct dw_error *err);

/*
 * The request's workspace and writable paths: checked, made absolute, and
 * handed to fn with the place where the cell sees them. A writable path is
 * relative to the workspace, or a host path of its own.
 */
typedef void dw_host_paths_share_fn(struct dw_plan_builder *plan, const char *host,
                                    const char *cell, bool writable);
int dw_host_paths_shares(struct dw_plan_builder *plan, const struct dw_request *req,
                         dw_host_paths_share_fn *fn, struct dw_error *err);

#endif
