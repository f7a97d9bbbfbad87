/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_EXPLAIN_H
#define DW_RUN_EXPLAIN_H

#include <jansson.h>

#include "run/permission.h"

/*
 * How a decision came about, for `dewar policy explain`. The question's limits may be
 * NULL, as for dw_permission_decide().
 */
int dw_permission_explain(struct dw_policy *policy,
                          const struct dw_policy_question *question,
                          struct dw_explanation *ret, struct dw_error *err);

/* As JSON; NULL without memory. */
json_t *dw_explanation_json(const struct dw_explanation *explanation);

#endif
