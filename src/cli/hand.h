/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_HAND_H
#define DW_CLI_HAND_H

#include <stddef.h>

#include "base/buf.h"
#include "dewar/error.h"

/*
 * Handing over to another program of ours: options are understood here, where help
 * and completion come from, and go there as words of the form "key=value".
 */
#define DW_HAND_MAX 32

struct dw_command;

/* Start from {0}. */
struct dw_hand {
	char *argv[DW_HAND_MAX + 1];
	size_t n;
	struct dw_buf room[DW_HAND_MAX];
};

/* Without a key the value stands alone. A value that is NULL is left out. */
void dw_hand_add(struct dw_hand *hand, const char *key, const char *value);
void dw_hand_finish(struct dw_hand *hand);

/*
 * A command that takes options and no operands, and is another program's to do: parse
 * into set, let fill add the words, and hand over. Returns the exit status where that
 * did not come about.
 */
int dw_hand_command(const struct dw_command *cmd, int argc, char **argv,
                    const char *program, void *set,
                    void (*fill)(struct dw_hand *hand, const void *set));

/* Become the program, whose name is the first word. Returns only to say why not. */
int dw_hand_over(struct dw_hand *hand, struct dw_error *err);

#endif
