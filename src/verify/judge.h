/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_JUDGE_H
#define DW_VERIFY_JUDGE_H

#include "verify/attempt.h"

/*
 * From what was seen to what is said. Pure: nothing here looks at the world.
 */

/* Is the attack any good here? Fills in the row's control, from its outcome. */
void dw_judge_control(const struct dw_observed *outcome, struct dw_row *row);

/*
 * The verdict on the row's attack at the row's level; its control has been
 * judged. Contained is only what an oracle did not see get through, whose control
 * did get through, and which says that it was stopped by what its file expects,
 * while a wall stood, by the run's own proof, that does this.
 */
void dw_judge(const struct dw_observed *outcome, struct dw_row *row);

#endif
