/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVE_WORDS_H
#define DW_SERVE_WORDS_H

/*
 * What `dewar` hands over: words of the form "key=value". Only it calls us, and it
 * has checked them.
 */

/* The value behind the key, or NULL. */
const char *dw_word(char *const *words, const char *key);

/* What dewar-serve can be told to do; the exit status. */
int dw_serve_main(char *const *words);
int dw_mcp_main(char *const *words);
int dw_tool_schema_main(char *const *words);

#endif
