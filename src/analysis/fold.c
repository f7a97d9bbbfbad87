/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates common functions and operators on constants, so that a name that the program
 * builds from pieces is recognised. Unknown goes in, unknown comes out.
 */
#include "analysis/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"

static size_t put_utf8(char *out, uint32_t c)
{
	static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	out[0] = (char)(first[more] | c >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		out[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
	return more + 1;
}

int dw_digit(char c, int base)
{
	int value = c >= '0' && c <= '9'   ? c - '0'
	            : c >= 'a' && c <= 'f' ? c - 'a' + 10
	            : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                                   : 99;

	return value < base ? value : -1;
}

/* Parse at most max digits; returns how many there were. */
static size_t digits(const char *text, size_t len, int base, size_t max, uint32_t *ret)
{
	size_t n = 0;

	*ret = 0;
	while (n < len && n < max && dw_digit(text[n], base) >= 0 && *ret < 0x110000)
		*ret = *ret * (uint32_t)base + (uint32_t)dw_digit(text[n++], base);
	return n;
}

/* Decode the escape sequence after a backslash; returns how many bytes were read. */
static size_t unescape_one(const char *text, size_t len, char *out, size_t *n_out)
{
	static const char letters[] = "a\ab\be\033f\fn\nr\rt\tv\v";
	uint32_t c = 0;
	size_t n;

	*n_out = 0;
	if (text[0] == 'x' || text[0] == 'u' || text[0] == 'U') {
		size_t max = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : 8;

		if (len > 1 && text[1] == '{') {
			n = digits(text + 2, len - 2, 16, 6, &c) + 2;
			n += n < len && text[n] == '}';
		} else {
			n = digits(text + 1, len - 1, 16, max, &c) + 1;
		}
		*n_out = put_utf8(out, c < 0x110000 ? c : '?');
		return n;
	}
	n = digits(text, len, 8, 3, &c);
	if (n > 0) {
		*n_out = put_utf8(out, c & 0xff);
		return n;
	}
	if (text[0] == '\n')
		return 1;
	if (text[0] == '\r')
		return len > 1 && text[1] == '\n' ? 2 : 1;
	*n_out = 1;
	out[0] = text[0];
	for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
		if (text[0] == letters[i])
			out[0] = letters[i + 1];
	return 1;
}

struct dw_value dw_unescape(struct dw_reading *r, const char *text, size_t len)
{
	char out[DW_FOLD_MAX + 4];
	size_t n = 0, made, i = 0;

	if (len > DW_FOLD_MAX)
		return dw_unknown;
	while (i < len && n < DW_FOLD_MAX) {
		if (text[i] != '\\' || i + 1 == len) {
			out[n++] = text[i++];
			continue;
		}
		i += 1 + unescape_one(text + i + 1, len - i - 1, out + n, &made);
		n += made;
	}
	return dw_value_text(r, out, n);
}

static struct dw_value fold_char(struct dw_reading *r, struct dw_value number)
{
	char text[24];

	if (number.type != DW_V_NUMBER || number.number < 0 || number.number > 0x10ffff)
		return dw_unknown;
	(void)snprintf(text, sizeof(text), "\\u{%llx}",
	               (unsigned long long)number.number);
	return dw_unescape(r, text, strlen(text));
}

struct dw_value dw_fold_chars(struct dw_reading *r, uint32_t list)
{
	struct dw_value all = dw_value_text(r, "", 0);
	uint32_t c = dw_child_named(&r->tree, list);

	for (; c && all.type == DW_V_TEXT; c = dw_next_named(&r->tree, c))
		all = dw_value_join(r, all, fold_char(r, dw_eval(r, c)));
	return all;
}

struct dw_value dw_fold_list(struct dw_reading *r, uint32_t list, struct dw_value between)
{
	struct dw_value all = dw_value_text(r, "", 0);
	uint32_t c = dw_child_named(&r->tree, list);
	bool first = true;

	for (; c && all.type == DW_V_TEXT; c = dw_next_named(&r->tree, c)) {
		if (!first)
			all = dw_value_join(r, all, between);
		all = dw_value_join(r, all, dw_eval(r, c));
		first = false;
	}
	return all;
}

struct dw_value dw_fold_replace(struct dw_reading *r, struct dw_value v,
                                struct dw_value old, struct dw_value new, bool all)
{
	struct dw_value made = dw_value_text(r, "", 0);
	const char *p = v.text, *next;

	if (v.type != DW_V_TEXT || old.type != DW_V_TEXT || new.type != DW_V_TEXT ||
	    old.len == 0)
		return dw_unknown;
	while (made.type == DW_V_TEXT && (next = strstr(p, old.text))) {
		made = dw_value_join(r, made, dw_value_text(r, p, (size_t)(next - p)));
		made = dw_value_join(r, made, new);
		p = next + old.len;
		if (!all)
			break;
	}
	return dw_value_join(r, made, dw_value_text(r, p, strlen(p)));
}

static char shifted(char c, char first, char last, int by)
{
	return c >= first && c <= last ? (char)(c + by) : c;
}

struct dw_value dw_fold_case(struct dw_reading *r, struct dw_value v, bool upper)
{
	char text[DW_FOLD_MAX];

	if (v.type != DW_V_TEXT || v.len > sizeof(text))
		return dw_unknown;
	for (size_t i = 0; i < v.len; i++)
		text[i] = upper ? shifted(v.text[i], 'a', 'z', 'A' - 'a')
		                : shifted(v.text[i], 'A', 'Z', 'a' - 'A');
	return dw_value_text(r, text, v.len);
}

static struct dw_value fold_rot13(struct dw_reading *r, struct dw_value v)
{
	char text[DW_FOLD_MAX];

	if (v.type != DW_V_TEXT || v.len > sizeof(text))
		return dw_unknown;
	for (size_t i = 0; i < v.len; i++) {
		char c = v.text[i], base = c >= 'a' ? 'a' : 'A';
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		text[i] = letter ? (char)(base + (c - base + 13) % 26) : c;
	}
	return dw_value_text(r, text, v.len);
}

static struct dw_value fold_times(struct dw_reading *r, struct dw_value v,
                                  struct dw_value times)
{
	struct dw_value all = dw_value_text(r, "", 0);

	if (v.type != DW_V_TEXT || times.type != DW_V_NUMBER || times.number > 64)
		return dw_unknown;
	for (int64_t n = times.number; n > 0; n--)
		all = dw_value_join(r, all, v);
	return all;
}

struct dw_value dw_fold_slice(struct dw_reading *r, struct dw_value v, int64_t from,
                              int64_t to, int64_t step)
{
	int64_t len = (int64_t)v.len;
	char out[DW_FOLD_MAX];
	size_t n = 0;

	if (v.type != DW_V_TEXT || step == 0)
		return dw_unknown;
	/* Indexes beyond either end select nothing. */
	from = from < -1 ? -1 : from > len ? len : from;
	to = to < -1 ? -1 : to > len ? len : to;
	for (int64_t i = from; step > 0 ? i < to : i > to; i += step)
		if (i >= 0 && i < len && n < sizeof(out))
			out[n++] = v.text[i];
	return dw_value_text(r, out, n);
}

static struct dw_value fold_reverse(struct dw_reading *r, struct dw_value v)
{
	return dw_fold_slice(r, v, (int64_t)v.len - 1, -1, -1);
}

static struct dw_value fold_base64(struct dw_reading *r, struct dw_value v)
{
	char data[DW_FOLD_MAX];
	size_t len;

	if (v.type != DW_V_TEXT || dw_base64_room(v.len) > sizeof(data) ||
	    dw_base64_decode(v.text, v.len, data, &len) < 0)
		return dw_unknown;
	return dw_value_text(r, data, len);
}

static struct dw_value fold_hex(struct dw_reading *r, struct dw_value v)
{
	char text[DW_FOLD_MAX];
	size_t n = 0;

	if (v.type != DW_V_TEXT)
		return dw_unknown;
	for (size_t i = 0; i + 1 < v.len && n + 4 < sizeof(text); i += 2) {
		text[n++] = '\\';
		text[n++] = 'x';
		text[n++] = v.text[i];
		text[n++] = v.text[i + 1];
	}
	return dw_unescape(r, text, n);
}

/* Decode %41 as if it were \x41. */
static struct dw_value fold_percent(struct dw_reading *r, struct dw_value v)
{
	char text[DW_FOLD_MAX];
	size_t n = 0;

	if (v.type != DW_V_TEXT || strchr(v.text, '\\'))
		return dw_unknown;
	for (size_t i = 0; i < v.len && n + 2 < sizeof(text); i++) {
		if (v.text[i] == '%') {
			text[n++] = '\\';
			text[n++] = 'x';
		} else {
			text[n++] = v.text[i];
		}
	}
	return dw_unescape(r, text, n);
}

/* Replace each placeholder ("%s", "{}") with the next string, from part first on. */
static struct dw_value fold_format(struct dw_reading *r, struct dw_value form,
                                   const char *hole, uint32_t first)
{
	struct dw_value all = dw_value_text(r, "", 0);
	const char *p = form.text, *next;

	if (form.type != DW_V_TEXT)
		return dw_unknown;
	while ((next = strstr(p, hole)) && first) {
		all = dw_value_join(r, all, dw_value_text(r, p, (size_t)(next - p)));
		all = dw_value_join(r, all, dw_eval(r, first));
		p = next + strlen(hole);
		first = dw_next_named(&r->tree, first);
	}
	return dw_value_join(r, all, dw_value_text(r, p, strlen(p)));
}

static struct dw_value fold_sum(struct dw_reading *r, struct dw_value a,
                                struct dw_value b, bool minus)
{
	uint64_t x = (uint64_t)a.number, y = (uint64_t)b.number;

	if (a.type == DW_V_NUMBER && b.type == DW_V_NUMBER)
		return dw_value_number((int64_t)(minus ? x - y : x + y));
	return minus ? dw_unknown : dw_value_join(r, a, b);
}

struct dw_value dw_fold_binary(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	enum dw_kind kind;
	uint32_t left = dw_child_in(tree, part, DW_F_LEFT);
	uint32_t right = dw_child_in(tree, part, DW_F_RIGHT);
	uint32_t token = dw_child_in(tree, part, DW_F_OPERATOR);
	struct dw_value a;

	kind = token ? dw_kind(tree, token) : DW_K_OTHER;
	if (!right || !dw_is_any(dw_kind_name(kind), r->language->operators))
		return dw_unknown;
	if (kind == DW_K_T_OR_OR || kind == DW_K_T_AND_AND)
		return dw_eval_either(r, right, left);
	a = dw_eval(r, left);
	if (a.type == DW_V_UNKNOWN)
		return a;
	switch (kind) {
	case DW_K_T_PLUS:
	case DW_K_T_HEREDOC: /* << */
	case DW_K_T_MINUS:
		return fold_sum(r, a, dw_eval(r, right), kind == DW_K_T_MINUS);
	case DW_K_T_DOT:
		return dw_value_join(r, a, dw_eval(r, right));
	case DW_K_T_STAR:
		return fold_times(r, a, dw_eval(r, right));
	case DW_K_T_PERCENT: /* "%s" % x */
		return fold_format(r, a, "%s",
		                   dw_kind(tree, right) == DW_K_TUPLE
		                           ? dw_child_named(tree, right)
		                           : right);
	default:
		return dw_unknown;
	}
}

struct dw_value dw_fold_command(struct dw_reading *r, struct dw_value line,
                                uint32_t first)
{
	struct dw_value all = line, word;

	for (uint32_t c = first; c; c = dw_next_named(&r->tree, c)) {
		word = dw_eval(r, c);
		if (word.type != DW_V_TEXT || strchr(word.text, '\''))
			word = dw_value_text(r, "?", 1);
		all = dw_value_join(r, all, dw_value_text(r, " '", 2));
		all = dw_value_join(r, all, word);
		all = dw_value_join(r, all, dw_value_text(r, "'", 1));
	}
	return all;
}

/* text.slice(a, b): from a up to b, or to the end without b. */
static struct dw_value fold_part(struct dw_reading *r, struct dw_value v,
                                 struct dw_value from, struct dw_value to)
{
	if (from.type != DW_V_NUMBER || from.number < 0)
		return dw_unknown;
	return dw_fold_slice(r, v, from.number,
	                     to.type == DW_V_NUMBER ? to.number : (int64_t)v.len, 1);
}

struct dw_value dw_fold(struct dw_reading *r, enum dw_fold fold, struct dw_value v,
                        uint32_t call, unsigned first)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval_argument(r, call, first);
	struct dw_value b = dw_eval_argument(r, call, first + 1);

	switch (fold) {
	case DW_FOLD_SAME:
		return v;
	case DW_FOLD_APPEND:
		return dw_value_join(r, v, a);
	case DW_FOLD_APPEND_ALL:
		for (unsigned i = first; i < 8 && dw_argument(r, call, i); i++)
			v = dw_value_join(r, v, dw_eval_argument(r, call, i));
		return v;
	case DW_FOLD_BASE64:
		return fold_base64(r, v);
	case DW_FOLD_CHAR:
		return fold_char(r, v);
	case DW_FOLD_CHARS:
		return v.type == DW_V_PART ? dw_fold_chars(r, v.part) : v;
	case DW_FOLD_CHARS_OF_CALL:
		return dw_fold_chars(r, dw_child_in(tree, call, DW_F_ARGUMENTS));
	case DW_FOLD_CHAR_AT:
		return a.type == DW_V_NUMBER && a.number >= 0 && a.number < (int64_t)v.len
		               ? dw_fold_slice(r, v, a.number, a.number + 1, 1)
		               : dw_unknown;
	case DW_FOLD_FORMAT:
		return fold_format(r, v, "{}", dw_argument(r, call, first));
	case DW_FOLD_HEX:
		return fold_hex(r, v);
	case DW_FOLD_JOIN:
		return dw_fold_list(r, v.part, a);
	case DW_FOLD_JOIN_BARE:
		return dw_fold_list(r, v.part,
		                    a.type == DW_V_TEXT ? a : dw_value_text(r, "", 0));
	case DW_FOLD_LOWER:
	case DW_FOLD_UPPER:
		return dw_fold_case(r, v, fold == DW_FOLD_UPPER);
	case DW_FOLD_PACK:
		if (a.type == DW_V_TEXT && strchr("cCU", a.text[0]))
			return dw_fold_chars(r, v.part);
		return a.type == DW_V_TEXT && a.text[0] == 'H'
		               ? fold_hex(r, dw_eval(r, dw_child_named(tree, v.part)))
		               : dw_unknown;
	case DW_FOLD_PERCENT:
		return fold_percent(r, v);
	case DW_FOLD_REPEAT:
		return fold_times(r, v, a);
	case DW_FOLD_REPLACE:
	case DW_FOLD_REPLACE_FIRST:
		return dw_fold_replace(r, v, a, b, fold == DW_FOLD_REPLACE);
	case DW_FOLD_REVERSE:
		return fold_reverse(r, v);
	case DW_FOLD_ROT13:
		return fold_rot13(r, v);
	case DW_FOLD_SLICE:
		return fold_part(r, v, a, b);
	case DW_FOLD_SPLIT:
		return a.type == DW_V_TEXT && a.len == 0 ? v : dw_unknown;
	case DW_FOLD_UNPACK:
		return dw_value_is(a, DW_V_TEXT, "m") || dw_value_is(a, DW_V_TEXT, "m0")
		               ? fold_base64(r, v)
		               : dw_unknown;
	case DW_FOLD_NONE:
	case DW_FOLD_HOOK:
		break;
	}
	return dw_unknown;
}
