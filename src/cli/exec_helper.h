/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_EXEC_HELPER_H
#define DW_CLI_EXEC_HELPER_H

#include <stddef.h>

#include "base/buf.h"
#include "dewar/error.h"

/*
 * Handing over to another program of ours: options are understood here, where help
 * and completion come from, and go there as words of the form "key=value".
 */
#define DW_HELPER_MAX 32

struct dw_command;

/* Start from {0}. */
struct dw_helper {
	char *argv[DW_HELPER_MAX + 1];
	size_t n;
	struct dw_buf room[DW_HELPER_MAX];
};

/* Without a key the value stands alone. A value that is NULL is left out. */
void dw_helper_add(struct dw_helper *hand, const char *key, const char *value);
void dw_helper_finish(struct dw_helper *hand);

/*
 * A command that takes options and no operands, and is another program's to do: parse
 * into set, let fill add the words, and hand over. Returns the exit status where that
 * did not come about.
 */
int dw_helper_command(const struct dw_command *cmd, int argc, char **argv,
                      const char *program, void *set,
                      void (*fill)(struct dw_helper *hand, const void *set));

/* Become the program, whose name is the first word. Returns only to say why not. */
int dw_helper_over(struct dw_helper *hand, struct dw_error *err);

#endif
