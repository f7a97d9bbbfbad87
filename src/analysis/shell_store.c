/* SPDX-License-Identifier: Apache-2.0 */
/* What is found in a script, and kept: texts, lists, notes and their places. */
#include "analysis/shell_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE_MAX ((size_t)16 << 20)

/* Bytes that live as long as the answer. */
struct dw_shell_store {
	struct dw_shell_store *next;
	size_t all;
	_Alignas(max_align_t) char data[];
};

char *dw_shell_keep(struct dw_script *s, const char *text, size_t len)
{
	struct dw_shell_store *old = s->shell->store, *new;
	size_t all = (old ? old->all : 0) + len + sizeof(*new);

	if (all > STORE_MAX) {
		*s->fuel = 0;
		return NULL;
	}
	new = malloc(sizeof(*new) + len + 1);
	if (!new) {
		*s->no_memory = true;
		return NULL;
	}
	new->next = old;
	new->all = all;
	if (len > 0)
		memcpy(new->data, text, len);
	new->data[len] = '\0';
	s->shell->store = new;
	return new->data;
}

void dw_shell_finish(struct dw_shell *shell)
{
	while (shell->store) {
		struct dw_shell_store *next = shell->store->next;

		free(shell->store);
		shell->store = next;
	}
	free(shell->commands);
	free(shell->redirects);
	free(shell->notes);
	*shell = (struct dw_shell){0};
}

void dw_shell_place(struct dw_script *s, uint32_t part, uint32_t *line, uint32_t *column)
{
	uint32_t byte = dw_part(&s->tree, part)->start;

	if (s->inner > 0) {
		*line = s->line;
		*column = s->column;
		return;
	}
	/* Mostly we go forward. */
	if (byte < s->last_byte)
		s->last_byte = s->last_line = s->last_column = 0;
	for (; s->last_byte < byte; s->last_byte++) {
		uint8_t c = (uint8_t)s->tree.code[s->last_byte];

		s->last_column = c == '\n' ? 0 : s->last_column + ((c & 0xc0) != 0x80);
		s->last_line += c == '\n';
	}
	*line = s->last_line + 1;
	*column = s->last_column + 1;
}

void *dw_shell_one_more(struct dw_script *s, void *list, size_t n, size_t size)
{
	void *larger;

	if (n >= DW_SHELL_COMMANDS_MAX) {
		*s->fuel = 0;
		return NULL;
	}
	if ((n & (n - 1)) != 0)
		return list;
	larger = realloc(list, (n > 0 ? n * 2 : 1) * size);
	if (!larger)
		*s->no_memory = true;
	return larger;
}

void dw_shell_note(struct dw_script *s, uint32_t part, enum dw_shell_remark remark,
                   const char *fmt, ...)
{
	struct dw_shell_note note = {.remark = remark}, *list;
	char text[DW_MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	dw_shell_place(s, part, &note.line, &note.column);
	note.text = dw_shell_keep(s, text, strlen(text));
	if (!note.text)
		return;
	list = dw_shell_one_more(s, s->shell->notes, s->shell->n_notes, sizeof(*list));
	if (!list)
		return;
	s->shell->notes = list;
	list[s->shell->n_notes++] = note;
}

void dw_shell_doubt(struct dw_script *s, uint32_t part, const char *name)
{
	dw_shell_note(s, part, DW_SHELL_DOUBT, "what %s runs cannot be told", name);
}
