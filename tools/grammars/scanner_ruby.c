/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile Ruby's scanner with a smaller buffer size (see scanner.c), and work around
 * another bug: it saves the length of a here-document's word in one byte, and an
 * assertion ends the whole process when it reads back another length than it wrote. So a
 * state with a longer word is not saved at all, like a state that does not fit into the
 * buffer.
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
