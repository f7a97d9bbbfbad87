/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_EXEC_HELPER_H
#define DW_CLI_EXEC_HELPER_H

#include <stddef.h>

#include "base/buf.h"
#include "dewar/error.h"

/*
 * Functions that execute another program of Dewar. dewar parses the options itself,
 * because help and completion are generated from their tables.
 */
#define DW_HELPER_MAX 32

struct dw_command;

/*
 * For the commands of dewar-serve: check the arguments by parsing them, then execute
 * dewar-serve with the name of the command and the same arguments. Returns the exit
 * status only if that failed.
 */
int dw_helper_serve(const struct dw_command *cmd, int argc, char **argv);

/* Arguments that dewar builds: words of the form "key=value". Start from {0}. */
struct dw_helper {
	char *argv[DW_HELPER_MAX + 1];
	size_t n;
	struct dw_buf room[DW_HELPER_MAX];
};

/*
 * Add a word. If key is "", the word is the value alone; if value is NULL, nothing is
 * added.
 */
void dw_helper_add(struct dw_helper *helper, const char *key, const char *value);
void dw_helper_finish(struct dw_helper *helper);

/*
 * For other programs: parse the arguments into set, then execute program with the name of
 * the command and the words that fill adds. Returns the exit status only if that failed.
 */
int dw_helper_command(const struct dw_command *cmd, int argc, char **argv,
                      const char *program, void *set,
                      void (*fill)(struct dw_helper *helper, const void *set));

/* Execute the program that the first word names. Returns -1 if that failed. */
int dw_helper_exec(struct dw_helper *helper, struct dw_error *err);

#endif
