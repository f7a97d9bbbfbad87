/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces parse.c if the build found no grammars. */
#include "analysis/reader.h"

bool dw_tree_has(const char *grammar)
{
	(void)grammar;
	return false;
}

int dw_tree_parse(struct dw_tree *tree, const char *grammar, const char *code, size_t len,
                  uint64_t timeout_ms, struct dw_error *err)
{
	(void)tree;
	(void)code;
	(void)len;
	(void)timeout_ms;
	return dw_fail(err, DW_E_UNSUPPORTED, 0,
	               "cannot analyse %s: this dewar was built without grammars; install "
	               "libtree-sitter-dev and npm, and build it again",
	               grammar);
}
