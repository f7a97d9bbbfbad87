/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "verify/verify.h"

const struct dw_attack dw_attacks[] = {
#include "attacks_table.h"
};

const size_t dw_n_attacks = ARRAY_SIZE(dw_attacks);
