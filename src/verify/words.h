/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_WORDS_H
#define DW_VERIFY_WORDS_H

#include <stddef.h>

#include "verify/verify.h"

#define DW_WORDS_MAX 128

/* A command line, with room for those of its words that are made. Start from {0}. */
struct dw_words {
	const char *argv[DW_WORDS_MAX];
	size_t n;
	char room[16384];
	size_t used;
};

/* The word must live as long as the words do. */
void dw_words_add(struct dw_words *w, const char *word);
void dw_words_add_copy(struct dw_words *w, const char *word);

/* The options of an attack, "{base}" replaced. */
void dw_words_add_options(struct dw_words *w, const char *options, const char *base);

/* The interpreter for a language, and what its code is called; NULL if there is none. */
const char *dw_words_interpreter(const char *language, const char **ret_file);

/*
 * The attack as a program for a warm Python: the code, and what goes into its
 * arguments. One in another language, or in C, is an exec away, and that keeps
 * every wall. attacks: where a cell finds the program with those in C.
 */
const char *dw_words_warm(struct dw_words *args, const struct dw_attack *attack,
                          const char *attacks);

#endif
