/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_WARM_POOL_H
#define DW_CLI_WARM_POOL_H

#include "cli/run_options.h"
#include "dewar/pool.h"

/*
 * A pool for one run: with a standby cell, or with a zygote to fork from. A request
 * that cannot be warm runs cold, and its result says so; *ret_pool is NULL then.
 */
int dw_warm_pool(const struct dw_run_settings *set, const struct dw_request *req,
                 struct dw_pool **ret_pool, struct dw_error *err);

#endif
