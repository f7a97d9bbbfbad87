/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ruby's scanner, with a margin (see scanner.c) and one thing more: it saves the length
 * of a here-document's word in one byte, and ends the whole process by an assertion
 * when it reads back another length than it wrote. A state with such a word is not
 * saved at all, as one that does not fit.
 */
#include <tree_sitter/parser.h>

#undef TREE_SITTER_SERIALIZATION_BUFFER_SIZE
#define TREE_SITTER_SERIALIZATION_BUFFER_SIZE 1000

#define tree_sitter_ruby_external_scanner_serialize ruby_serialize_unchecked
#include <scanner.c>
#undef tree_sitter_ruby_external_scanner_serialize

unsigned tree_sitter_ruby_external_scanner_serialize(void *payload, char *buffer);

unsigned tree_sitter_ruby_external_scanner_serialize(void *payload, char *buffer)
{
	const Scanner *scanner = payload;

	for (uint32_t i = 0; i < scanner->open_heredocs.size; i++)
		if (scanner->open_heredocs.contents[i].word.size > UINT8_MAX)
			return 0;
	return ruby_serialize_unchecked(payload, buffer);
}
