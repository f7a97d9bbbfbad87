/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/level.h"

/*
 * Levels that this version lacks. A request for one fails; it never gets another level
 * instead.
 */

static int probe(struct dw_error *err)
{
	return dw_fail(
		err, DW_E_UNSUPPORTED, 0,
		"this level is not part of this version; container and docker are the strongest");
}

static int create(const struct dw_spec *spec, struct dw_cell **ret_cell,
                  struct dw_error *err)
{
	(void)spec;
	(void)ret_cell;
	return probe(err);
}

const struct dw_level dw_level_microvm = {
	.name = "microvm",
	.guarantees = DW_G_IMAGE | DW_G_NO_NETWORK | DW_G_WALLS | DW_G_ISOLATED |
                      DW_G_ROOT,
	.summary = "",
	.timeout_ms = 30000,
	.probe = probe,
	.create = create,
};
