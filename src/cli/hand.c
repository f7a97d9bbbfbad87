/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hand.h"

#include <errno.h>
#include <unistd.h>

#include "base/program.h"

void dw_hand_add(struct dw_hand *hand, const char *key, const char *value)
{
	struct dw_buf *room = &hand->room[hand->n];

	if (hand->n == DW_HAND_MAX || !value)
		return;
	dw_buf_init(room, 65536);
	(void)dw_buf_printf(room, "%s%s%s", key, *key ? "=" : "", value);
	if (room->data)
		hand->argv[hand->n++] = room->data;
}

void dw_hand_finish(struct dw_hand *hand)
{
	for (size_t i = 0; i < hand->n; i++)
		dw_buf_finish(&hand->room[i]);
}

int dw_hand_over(struct dw_hand *hand, struct dw_error *err)
{
	char path[512];

	if (dw_program_find(hand->argv[0], NULL, path, sizeof(path), err) < 0)
		return -1;
	(void)execv(path, hand->argv);
	return dw_fail(err, DW_E_INTERNAL, errno, "start %s", path);
}
