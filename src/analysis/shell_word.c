/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The expansion of words. A word is certain only if the shell can expand it in no other
 * way. The value of a variable, or the output of echo in a substitution, is a guess: good
 * enough for a finding, but not to allow a command.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/shell_read.h"
#include "base/buf.h"
#include "base/cleanup.h"

#define WORD_MAX 65536U
#define DEPTH_MAX 40U

/* A word while it is built. */
struct making {
	struct dw_buf text;
	bool unknown;
	bool guessed;
	bool pattern;
};

static void put(struct making *m, const char *text, size_t len)
{
	if (dw_buf_add(&m->text, text, len) < 0)
		m->unknown = true;
}

/* Outside quotes, a backslash quotes the next character. */
static void put_bare(struct making *m, const char *text, size_t len)
{
	/* Before a backslash, the grammar makes a newline part of the word. */
	for (; len > 0 && *text == '\n'; len--)
		text++;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\' && i + 1 < len) {
			i++;
			if (text[i] != '\n')
				put(m, text + i, 1);
			continue;
		}
		if (strchr("*?[", text[i]) ||
		    (text[i] == '~' && m->text.len == 0 && i == 0))
			m->pattern = true;
		/* dw_shell_words() expands {a,b}; as part of a word it is unknown. */
		if (text[i] == '{' && (memchr(text + i, ',', len - i) ||
		                       memmem(text + i, len - i, "..", 2)))
			m->unknown = true;
		put(m, text + i, 1);
	}
}

/* Inside double quotes, a backslash quotes only $, `, ", \ and a newline. */
static void put_quoted(struct making *m, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\' && i + 1 < len && strchr("$`\"\\\n", text[i + 1])) {
			i++;
			if (text[i] == '\n')
				continue;
		}
		put(m, text + i, 1);
	}
}

/* $'...' */
static void put_ansi(struct making *m, const char *text, size_t len)
{
	static const char letters[] = "a\ab\be\033E\033f\fn\nr\rt\tv\v";

	for (size_t i = 0; i < len; i++) {
		unsigned value = 0, digits = 0;
		char c = text[i];

		if (c != '\\' || i + 1 == len) {
			put(m, &c, 1);
			continue;
		}
		c = text[++i];
		if (c == 'x' || c == 'u' || c == 'U') {
			unsigned max = c == 'x' ? 2 : c == 'u' ? 4 : 8;

			while (digits < max && i + 1 < len &&
			       dw_digit(text[i + 1], 16) >= 0) {
				value = value * 16 + (unsigned)dw_digit(text[++i], 16);
				digits++;
			}
			/* Program names are ASCII: other characters are unknown. */
			if (value > 0x7f || value == 0)
				m->unknown = true;
			c = (char)value;
		} else if (c >= '0' && c <= '7') {
			value = (unsigned)(c - '0');
			while (digits++ < 2 && i + 1 < len && text[i + 1] >= '0' &&
			       text[i + 1] <= '7')
				value = value * 8 + (unsigned)(text[++i] - '0');
			c = (char)value;
		} else {
			for (size_t k = 0; k + 1 < sizeof(letters); k += 2)
				if (letters[k] == c) {
					c = letters[k + 1];
					break;
				}
		}
		put(m, &c, 1);
	}
}

static void make(struct dw_script *s, struct making *m, uint32_t part);

/* Add the value of the nearest assignment to the variable before this place. */
static void put_variable(struct dw_script *s, struct making *m, uint32_t name)
{
	const struct dw_part *p = dw_part(&s->tree, name);
	size_t len = p->end - p->start, seen = 0;
	const char *text = s->tree.code + p->start;

	m->guessed = true;
	for (size_t i = s->n_variables; i > 0 && seen < 512; i--, seen++) {
		const struct dw_variable *v = &s->variables[i - 1];

		if (v->at > p->start || v->len != len || memcmp(v->name, text, len) != 0)
			continue;
		if (v->value == 0)
			break;
		make(s, m, v->value);
		return;
	}
	m->unknown = true;
}

/* $(echo rm), $(printf rm): add the arguments, without options and the format %s. */
static void put_echo(struct dw_script *s, struct making *m, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t command = dw_child_named(tree, part), name, c;
	bool first = true;

	m->guessed = true;
	if (!command || dw_next_named(tree, command) ||
	    dw_kind(tree, command) != DW_K_COMMAND) {
		m->unknown = true;
		return;
	}
	name = dw_child_of(tree, command, DW_K_COMMAND_NAME);
	if (!name || !dw_text_in(tree, name, " echo printf ")) {
		m->unknown = true;
		return;
	}
	for (c = dw_next_named(tree, name); c; c = dw_next_named(tree, c)) {
		if (dw_part(tree, c)->field != DW_F_ARGUMENT ||
		    dw_text_in(tree, c, " -n -e "))
			continue;
		if (dw_text_is(tree, name, "printf") && dw_text_is(tree, c, "%s"))
			continue;
		if (!first)
			put(m, " ", 1);
		make(s, m, c);
		first = false;
	}
}

/* ${x}, ${x:-rm} */
static void put_expansion(struct dw_script *s, struct making *m, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t name = dw_child_of(tree, part, DW_K_VARIABLE_NAME);
	uint32_t sign = dw_child_in(tree, part, DW_F_OPERATOR), value = 0;
	size_t len = 0;
	const char *text = sign ? dw_text(tree, sign, &len) : "";

	m->guessed = true;
	if (!sign && name && !dw_next_named(tree, name)) {
		put_variable(s, m, name);
		return;
	}
	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c))
		if (c != name && c != sign)
			value = c;
	if (value && len > 0 && strchr("-=", text[len - 1]))
		make(s, m, value);
	else
		m->unknown = true;
}

static void put_parts(struct dw_script *s, struct making *m, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c))
		make(s, m, c);
}

/* "...": the text between the parts that the grammar names also belongs to the string. */
static void put_string(struct dw_script *s, struct making *m, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t at = dw_part(tree, part)->start + 1, end = dw_part(tree, part)->end;

	if (end <= at) {
		m->unknown = true;
		return;
	}
	end--;
	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		if (dw_kind(tree, c) == DW_K_STRING_CONTENT)
			continue;
		if (dw_part(tree, c)->start > at)
			put_quoted(m, tree->code + at, dw_part(tree, c)->start - at);
		make(s, m, c);
		at = dw_part(tree, c)->end;
	}
	if (at < end)
		put_quoted(m, tree->code + at, end - at);
}

static void make(struct dw_script *s, struct making *m, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t c;
	size_t len;
	const char *text;

	if (!part || s->depth >= DEPTH_MAX || *s->fuel == 0 ||
	    m->text.len > WORD_MAX / 2) {
		m->unknown = true;
		return;
	}
	--*s->fuel;
	s->depth++;
	text = dw_text(tree, part, &len);
	switch (dw_kind(tree, part)) {
	case DW_K_WORD:
	case DW_K_NUMBER:
	case DW_K_EXTGLOB_PATTERN:
		if (dw_child_named(tree, part)) /* a number with an expansion in it */
			m->unknown = true;
		put_bare(m, text, len);
		break;
	case DW_K_RAW_STRING:
		if (len >= 2)
			put(m, text + 1, len - 2);
		break;
	case DW_K_ANSI_C_STRING:
		if (len >= 3)
			put_ansi(m, text + 2, len - 3);
		break;
	case DW_K_STRING:
		put_string(s, m, part);
		break;
	case DW_K_CONCATENATION:
		/* a{b,c}d expands to several words: unknown. */
		for (c = dw_child_named(tree, part); c; c = dw_next_named(tree, c))
			if (dw_kind(tree, c) == DW_K_WORD && dw_text_is(tree, c, "{") &&
			    (memchr(text, ',', len) || memmem(text, len, "..", 2)))
				m->unknown = true;
		put_parts(s, m, part);
		break;
	case DW_K_TRANSLATED_STRING:
	case DW_K_COMMAND_NAME:
		put_parts(s, m, part);
		break;
	case DW_K_SIMPLE_EXPANSION:
		c = dw_child_of(tree, part, DW_K_VARIABLE_NAME);
		if (c)
			put_variable(s, m, c);
		else
			m->unknown = true;
		break;
	case DW_K_EXPANSION:
		put_expansion(s, m, part);
		break;
	case DW_K_COMMAND_SUBSTITUTION:
		put_echo(s, m, part);
		break;
	default:
		m->unknown = true;
		break;
	}
	s->depth--;
}

struct dw_shell_word dw_shell_word(struct dw_script *s, uint32_t part)
{
	struct dw_shell_word word = {0};
	struct making m = {0};

	dw_buf_init(&m.text, WORD_MAX);
	make(s, &m, part);
	word.guessed = m.guessed;
	word.pattern = m.pattern;
	if (!m.unknown && !m.text.failed &&
	    (m.text.len == 0 || !memchr(m.text.data, '\0', m.text.len)))
		word.text = dw_shell_keep(s, m.text.data ? m.text.data : "", m.text.len);
	dw_buf_finish(&m.text);
	return word;
}

static size_t split(struct dw_script *s, struct dw_shell_word word, const char *between,
                    struct dw_shell_word *words, size_t max)
{
	const char *p = word.text;
	size_t n = 0;

	while (n < max) {
		size_t len;

		p += between[1] ? strspn(p, between) : 0;
		if (*p == '\0' && between[1])
			break;
		len = strcspn(p, between);
		words[n] = word;
		words[n++].text = dw_shell_keep(s, p, len);
		p += len;
		if (*p == '\0')
			break;
		p++;
	}
	return n;
}

/*
 * Returns "a,b,c" if the whole word is {a,b,c}, without special characters inside;
 * otherwise NULL. In a command's name, the grammar parses the first brace as the start of
 * a group.
 */
static const char *braces(struct dw_script *s, uint32_t part)
{
	size_t len;
	const char *text = dw_text(&s->tree, part, &len);

	if (dw_kind(&s->tree, part) == DW_K_COMMAND_NAME && text > s->tree.code &&
	    text[-1] == '{') {
		text--;
		len++;
	}
	if (len < 3 || text[0] != '{' || text[len - 1] != '}' || !memchr(text, ',', len))
		return NULL;
	for (size_t i = 1; i + 1 < len; i++)
		if (strchr("{}\\'\"$`*?[~ \n", text[i]))
			return NULL;
	return dw_shell_keep(s, text + 1, len - 2);
}

size_t dw_shell_words(struct dw_script *s, uint32_t part, struct dw_shell_word *words,
                      size_t max)
{
	struct dw_shell_word word = {0};
	enum dw_kind kind = dw_kind(&s->tree, part);
	uint32_t inside = part;

	if (max == 0)
		return 0;
	word.text = braces(s, part);
	if (word.text)
		return split(s, word, ",", words, max);
	word = dw_shell_word(s, part);
	if (kind == DW_K_COMMAND_NAME) {
		inside = dw_child_named(&s->tree, part);
		kind = inside ? dw_kind(&s->tree, inside) : DW_K_OTHER;
	}
	/* The shell splits an unquoted expansion at blanks. */
	if (word.text && (kind == DW_K_SIMPLE_EXPANSION || kind == DW_K_EXPANSION ||
	                  kind == DW_K_COMMAND_SUBSTITUTION))
		return split(s, word, " \t\n", words, max);
	words[0] = word;
	return 1;
}
