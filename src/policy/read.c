/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* Bounds of one reading, beside those that users are told of. */
#define ARENA_MAX ((size_t)16 << 20)
#define FUEL (4U << 20)
#define PARSE_COST 4096U
#define DEPTH_MAX 150U
#define INNER_MAX 3U

const struct dw_value dw_unknown = {0};

/* What folding makes lives until the reading ends. */
struct dw_arena {
	struct dw_arena *next;
	size_t used;
	size_t size;
	size_t all; /* in this one and those behind it */
	char data[];
};

#define CHUNK ((size_t)64 << 10)

char *dw_keep(struct dw_reading *r, const char *text, size_t len)
{
	struct dw_arena *arena = r->arena;
	char *at;

	if (!arena || arena->size - arena->used <= len) {
		size_t size = len + 1 > CHUNK ? len + 1 : CHUNK;

		if (arena && arena->all + size > ARENA_MAX) {
			r->fuel = 0;
			return NULL;
		}
		arena = malloc(sizeof(*arena) + size);
		if (!arena) {
			r->no_memory = true;
			return NULL;
		}
		arena->next = r->arena;
		arena->used = 0;
		arena->size = size;
		arena->all = (r->arena ? r->arena->all : 0) + size;
		r->arena = arena;
	}
	at = arena->data + arena->used;
	arena->used += len + 1;
	if (len > 0)
		memcpy(at, text, len);
	at[len] = '\0';
	return at;
}

static void arena_free(struct dw_arena *arena)
{
	while (arena) {
		struct dw_arena *next = arena->next;

		free(arena);
		arena = next;
	}
}

bool dw_step(struct dw_reading *r)
{
	if (r->fuel == 0)
		return false;
	r->fuel--;
	return true;
}

/* Values. */

struct dw_value dw_value_text(struct dw_reading *r, const char *text, size_t len)
{
	const char *kept = len <= DW_FOLD_MAX ? dw_keep(r, text, len) : NULL;

	if (!kept)
		return dw_unknown;
	return (struct dw_value){.type = DW_V_TEXT, .text = kept, .len = len};
}

struct dw_value dw_value_name(struct dw_reading *r, const char *path)
{
	(void)r;
	return (struct dw_value){.type = DW_V_NAME, .text = path, .len = strlen(path)};
}

struct dw_value dw_value_number(int64_t number)
{
	return (struct dw_value){.type = DW_V_NUMBER, .number = number};
}

struct dw_value dw_value_part(uint32_t part)
{
	return (struct dw_value){.type = DW_V_PART, .part = part};
}

struct dw_value dw_value_join(struct dw_reading *r, struct dw_value a, struct dw_value b)
{
	char text[DW_FOLD_MAX];

	if (a.type != DW_V_TEXT || b.type != DW_V_TEXT || a.len + b.len > sizeof(text))
		return dw_unknown;
	if (a.len > 0)
		memcpy(text, a.text, a.len);
	if (b.len > 0)
		memcpy(text + a.len, b.text, b.len);
	return dw_value_text(r, text, a.len + b.len);
}

#define PATH_MAX_LEN 256U

struct dw_value dw_value_member(struct dw_reading *r, struct dw_value base,
                                const char *member, size_t len)
{
	char path[PATH_MAX_LEN];
	const char *kept;
	int n;

	if (base.type != DW_V_NAME || base.len + len + 2 > sizeof(path))
		return dw_unknown;
	n = snprintf(path, sizeof(path), "%s.%.*s", base.text, (int)len, member);
	kept = n > 0 ? dw_keep(r, path, (size_t)n) : NULL;
	return kept ? dw_value_name(r, kept) : dw_unknown;
}

bool dw_value_is(struct dw_value v, enum dw_value_type type, const char *text)
{
	return v.type == type && v.text && strcmp(v.text, text) == 0;
}

bool dw_value_same(struct dw_value a, struct dw_value b)
{
	return a.type == b.type && a.len == b.len && a.number == b.number &&
	       (!a.text || memcmp(a.text, b.text, a.len) == 0);
}

struct dw_value dw_value_element(struct dw_reading *r, uint32_t list, int64_t index)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c = dw_child_named(tree, list);

	for (; c && index > 0 && dw_step(r); index--)
		c = dw_next_named(tree, c);
	return index == 0 ? dw_eval(r, c) : dw_unknown;
}

struct dw_value dw_eval(struct dw_reading *r, uint32_t part)
{
	struct dw_value v = dw_unknown;

	if (part == 0 || r->depth >= DEPTH_MAX || !dw_step(r))
		return v;
	r->depth++;
	v = r->reader->eval(r, part);
	r->depth--;
	return v;
}

/* Names. */

struct entry {
	const char *name; /* NULL: free */
	size_t len;
	uint32_t scope;
	uint32_t last; /* binding */
	uint32_t n;
	uint32_t first; /* in order[], once all are known */
	uint32_t named; /* the first binding to a name of the library, if asked */
	bool asked;
};

struct dw_names {
	struct entry *entries;
	size_t n_entries;
	size_t size;             /* a power of two */
	struct dw_binding *list; /* [0] is nobody's */
	uint32_t n_list;
	uint32_t room;
	uint32_t *order; /* the bindings, by entry and place; NULL while they are made */
};

static size_t hash(uint32_t scope, const char *name, size_t len)
{
	uint64_t h = 14695981039346656037U ^ scope;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 1099511628211U;
	return (size_t)(h ^ (h >> 29));
}

static struct entry *entry_find(const struct dw_names *names, uint32_t scope,
                                const char *name, size_t len)
{
	size_t i = hash(scope, name, len) & (names->size - 1);

	while (names->entries[i].name &&
	       (names->entries[i].scope != scope || names->entries[i].len != len ||
	        memcmp(names->entries[i].name, name, len) != 0))
		i = (i + 1) & (names->size - 1);
	return &names->entries[i];
}

static int names_grow(struct dw_names *names)
{
	struct dw_names larger = *names;

	larger.size = names->size > 0 ? names->size * 2 : 256;
	larger.entries = calloc(larger.size, sizeof(*larger.entries));
	if (!larger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < names->size; i++) {
		const struct entry *old = &names->entries[i];

		if (old->name)
			*entry_find(&larger, old->scope, old->name, old->len) = *old;
	}
	free(names->entries);
	*names = larger;
	return 0;
}

static int list_grow(struct dw_names *names)
{
	uint32_t room = names->room > 0 ? names->room * 2 : 256;
	struct dw_binding *list = realloc(names->list, room * sizeof(*list));

	if (!list)
		return -ENOMEM;
	names->list = list;
	names->room = room;
	if (names->n_list == 0)
		names->list[names->n_list++] = (struct dw_binding){0};
	return 0;
}

void dw_bind(struct dw_reading *r, uint32_t scope, const char *name, size_t len,
             uint32_t at, enum dw_binding_kind kind, uint32_t part, const char *path)
{
	struct dw_names *names = r->names;
	struct entry *entry;

	if (len == 0)
		return;
	if ((names->n_entries * 2 >= names->size && names_grow(names) < 0) ||
	    (names->n_list == names->room && list_grow(names) < 0)) {
		r->no_memory = true;
		return;
	}
	entry = entry_find(names, scope, name, len);
	if (!entry->name) {
		*entry = (struct entry){.name = name, .len = len, .scope = scope};
		names->n_entries++;
	}
	names->list[names->n_list] = (struct dw_binding){.next = entry->last,
	                                                 .at = at,
	                                                 .part = part,
	                                                 .path = path,
	                                                 .kind = kind};
	entry->last = names->n_list++;
	entry->n++;
}

void dw_bind_name(struct dw_reading *r, uint32_t name, uint32_t at,
                  enum dw_binding_kind kind, uint32_t part, const char *path)
{
	size_t len;
	const char *text = dw_text(&r->tree, name, &len);

	dw_bind(r, dw_part(&r->tree, name)->scope, text, len, at, kind, part, path);
}

static int by_at(const void *a, const void *b, void *list)
{
	const struct dw_binding *x = (const struct dw_binding *)list +
	                             *(const uint32_t *)a;
	const struct dw_binding *y = (const struct dw_binding *)list +
	                             *(const uint32_t *)b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* All names have been given what they are given: make it quick to find. */
static int names_seal(struct dw_names *names)
{
	uint32_t used = 0;

	names->order = calloc(names->n_list + 1, sizeof(*names->order));
	if (!names->order)
		return -ENOMEM;
	for (size_t i = 0; i < names->size; i++) {
		struct entry *e = &names->entries[i];
		uint32_t at = used + e->n;
		bool sorted = true;

		if (!e->name)
			continue;
		e->first = used;
		for (uint32_t b = e->last; b; b = names->list[b].next) {
			names->order[--at] = b;
			if (names->list[b].next &&
			    names->list[names->list[b].next].at > names->list[b].at)
				sorted = false;
		}
		if (!sorted)
			qsort_r(names->order + e->first, e->n, sizeof(*names->order),
			        by_at, names->list);
		used += e->n;
	}
	return 0;
}

static void names_free(struct dw_names *names)
{
	if (!names)
		return;
	free(names->entries);
	free(names->list);
	free(names->order);
	free(names);
}

static struct dw_value bound_value(struct dw_reading *r, uint32_t index);

static struct dw_value compute(struct dw_reading *r, const struct dw_binding *b)
{
	switch (b->kind) {
	case DW_BIND_VALUE:
		return dw_eval(r, b->part);
	case DW_BIND_APPEND:
		return dw_value_join(r, b->next ? bound_value(r, b->next) : dw_unknown,
		                     dw_eval(r, b->part));
	case DW_BIND_NAME:
		return dw_value_name(r, b->path);
	case DW_BIND_MEMBER:
		return r->reader->member(r, dw_eval(r, b->part), b->path,
		                         strlen(b->path));
	case DW_BIND_OPAQUE:
	case DW_BIND_OTHER:
	case DW_BIND_COUNT:
		break;
	}
	return dw_unknown;
}

/* What a name was given there. Given itself, it is unknown. */
static struct dw_value bound_value(struct dw_reading *r, uint32_t index)
{
	struct dw_binding *b = &r->names->list[index];

	if (b->known)
		return b->value;
	if (b->busy || r->depth >= DEPTH_MAX || !dw_step(r))
		return dw_unknown;
	b->busy = true;
	r->depth++;
	b->value = compute(r, b);
	r->depth--;
	b->busy = false;
	b->known = r->names->order != NULL;
	return b->value;
}

uint32_t dw_scope_parent(const struct dw_reading *r, uint32_t scope)
{
	return scope > 0 ? r->tree.parts[scope].scope : 0;
}

/* The name in the innermost scope that has it; NULL: none. */
static struct entry *entry_around(const struct dw_reading *r, uint32_t scope,
                                  const char *name, size_t len)
{
	const struct dw_names *names = r->names;
	uint32_t here = scope;

	if (names->size == 0)
		return NULL;
	for (;;) {
		struct entry *entry = entry_find(names, here, name, len);

		if (entry->name)
			return entry;
		/* What a class holds is not seen from its methods. */
		do {
			if (here == 0)
				return NULL;
			here = dw_scope_parent(r, here);
		} while (here != 0 && dw_kind(&r->tree, here) == DW_K_CLASS_DEFINITION);
	}
}

/* How many of the name's bindings hold at that byte: the first so many in order. */
static uint32_t count_before(const struct dw_names *names, const struct entry *e,
                             uint32_t at)
{
	uint32_t low = 0, high = e->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (names->list[names->order[e->first + middle]].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The name's first binding to a name of the library, wherever it is; 0: none. */
static uint32_t named_binding(struct dw_reading *r, struct entry *e)
{
	if (e->asked)
		return e->named;
	e->asked = true;
	for (uint32_t i = 0; i < e->n && dw_step(r); i++) {
		uint32_t b = r->names->order[e->first + i];

		if (bound_value(r, b).type != DW_V_NAME)
			continue;
		e->named = b;
		break;
	}
	return e->named;
}

/* How many bindings we look at before we settle for any. */
#define NEAR 32U

/*
 * All that the name was ever given is possible. The nearest name of the library is
 * what we are after, then what is nearest of all else that we know.
 */
enum dw_bound dw_lookup(struct dw_reading *r, uint32_t scope, const char *name,
                        size_t len, uint32_t at, struct dw_value *ret)
{
	struct entry *e = entry_around(r, scope, name, len);
	const struct dw_names *names = r->names;
	struct dw_value best = dw_unknown, v;
	bool sure = false;
	uint32_t before, b;

	*ret = dw_unknown;
	if (!e)
		return DW_BOUND_NOT;
	/* While names are still given, the last is all that is known. */
	if (!names->order) {
		*ret = bound_value(r, e->last);
		return ret->type == DW_V_NAME ? DW_BOUND_SURELY : DW_BOUND_PERHAPS;
	}
	before = count_before(names, e, at);
	for (uint32_t i = 0; i < NEAR && i < before && best.type != DW_V_NAME; i++) {
		b = names->order[e->first + before - 1 - i];
		sure = sure || names->list[b].kind == DW_BIND_OTHER;
		v = bound_value(r, b);
		if (v.type == DW_V_NAME || best.type == DW_V_UNKNOWN)
			best = v;
	}
	for (uint32_t i = before; i < e->n && i < before + NEAR && scope != 0; i++)
		sure = sure ||
		       names->list[names->order[e->first + i]].kind == DW_BIND_OTHER;
	if (best.type != DW_V_NAME && (b = named_binding(r, e)))
		best = bound_value(r, b);
	if (best.type == DW_V_UNKNOWN && before < e->n)
		best = bound_value(r, names->order[e->first + before]);
	*ret = best;
	if (before == 0 && e->scope == scope && !sure)
		return DW_BOUND_LATER;
	return sure || best.type == DW_V_NAME ? DW_BOUND_SURELY : DW_BOUND_PERHAPS;
}

/* Findings. */

static int find_lines(struct dw_reading *r)
{
	const char *code = r->tree.code;
	size_t n = 1, len = r->tree.len;

	for (size_t i = 0; i < len; i++)
		n += code[i] == '\n';
	r->lines = malloc(n * sizeof(*r->lines));
	if (!r->lines)
		return -ENOMEM;
	r->lines[0] = 0;
	r->n_lines = 1;
	for (size_t i = 0; i < len; i++)
		if (code[i] == '\n')
			r->lines[r->n_lines++] = (uint32_t)(i + 1);
	return 0;
}

static void locate(const struct dw_reading *r, uint32_t byte, struct dw_finding *f)
{
	size_t low = 0, high = r->n_lines;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (r->lines[middle] <= byte)
			low = middle;
		else
			high = middle;
	}
	f->line = (uint32_t)(low + 1);
	f->column = 1;
	for (uint32_t i = r->lines[low]; i < byte && i < r->tree.len; i++)
		f->column += ((uint8_t)r->tree.code[i] & 0xc0) != 0x80;
}

/* Names in it come from the program: one line, printable, UTF-8. */
static void make_plain(char *text, bool blanks)
{
	bool valid = dw_utf8_valid(text, strlen(text));

	for (char *p = text; *p != '\0'; p++)
		if ((uint8_t)*p < ' ' || *p == 0x7f || (!blanks && *p == ' ') ||
		    ((uint8_t)*p >= 0x80 && !valid))
			*p = '?';
}

static bool is_known(const struct dw_findings *found, const struct dw_finding *f)
{
	for (size_t i = found->n; i > 0; i--) {
		const struct dw_finding *old = &found->list[i - 1];

		if (old->line == f->line && old->column == f->column &&
		    strcmp(old->rule, f->rule) == 0)
			return true;
	}
	return false;
}

/* What the caller wants to know of this language; NULL: what is usual. */
static const struct dw_analyse_list *list_of(const struct dw_reading *r)
{
	const struct dw_analyse_list *list = r->options ? r->options->lists : NULL;

	for (; list && list->language; list++)
		if (strcmp(list->language, r->reader->name) == 0)
			return list;
	return NULL;
}

static bool is_wanted(const struct dw_reading *r, const char *rule)
{
	static const char family[] = "builtin:";
	const struct dw_analyse_list *list = list_of(r);

	if (!list || !list->builtins || strncmp(rule, family, sizeof(family) - 1) != 0)
		return true;
	for (const char *const *name = list->builtins; *name; name++)
		if (strcmp(*name, rule + sizeof(family) - 1) == 0)
			return true;
	return false;
}

static void add_finding(struct dw_reading *r, const struct dw_finding *f)
{
	if (r->cut || is_known(&r->found, f))
		return;
	if (r->found.n == DW_ANALYSE_FINDINGS_MAX) {
		r->cut = true;
		return;
	}
	if (r->found.n == r->room) {
		size_t room = r->room > 0 ? r->room * 2 : 16;
		struct dw_finding *list = realloc(r->found.list, room * sizeof(*list));

		if (!list) {
			r->no_memory = true;
			return;
		}
		r->found.list = list;
		r->room = room;
	}
	r->found.list[r->found.n++] = *f;
}

__attribute__((format(printf, 3, 0))) static void fill(struct dw_finding *f,
                                                       const char *rule, const char *fmt,
                                                       va_list args)
{
	(void)snprintf(f->rule, sizeof(f->rule), "%s", rule);
	(void)vsnprintf(f->message, sizeof(f->message), fmt, args);
	make_plain(f->rule, false);
	make_plain(f->message, true);
}

__attribute__((format(printf, 5, 0))) static void found_at(struct dw_reading *r,
                                                           uint32_t byte,
                                                           enum dw_severity severity,
                                                           const char *rule,
                                                           const char *fmt, va_list args)
{
	struct dw_finding f = {.severity = severity};

	if (r->cut || !is_wanted(r, rule))
		return;
	if (!r->lines && find_lines(r) < 0) {
		r->no_memory = true;
		return;
	}
	fill(&f, rule, fmt, args);
	locate(r, byte, &f);
	add_finding(r, &f);
}

void dw_found_line(struct dw_reading *r, uint32_t line, uint32_t column,
                   enum dw_severity severity, const char *rule, const char *fmt, ...)
{
	struct dw_finding f = {.severity = severity, .line = line, .column = column};
	va_list args;

	if (!is_wanted(r, rule))
		return;
	va_start(args, fmt);
	fill(&f, rule, fmt, args);
	va_end(args);
	add_finding(r, &f);
}

void dw_found_inside(struct dw_reading *r, uint32_t line, uint32_t column,
                     const struct dw_finding *found)
{
	struct dw_finding f = *found;

	f.line = line;
	f.column = column;
	add_finding(r, &f);
}

void dw_found_at(struct dw_reading *r, uint32_t byte, enum dw_severity severity,
                 const char *rule, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	found_at(r, byte, severity, rule, fmt, args);
	va_end(args);
}

void dw_found(struct dw_reading *r, uint32_t part, enum dw_severity severity,
              const char *rule, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	found_at(r, r->tree.parts[part].start, severity, rule, fmt, args);
	va_end(args);
}

/* What each family is said to do; where the code is only a hint, it is a hint. */
static const struct {
	const char *family;
	const char *text;
} families[] = {
	{"builtin:open", "%s opens files"},
	{"builtin:fopen", "%s opens files"},
	{"builtin:file_", "%s opens files"},
	{"builtin:readfile", "%s opens files"},
	{"builtin:input", "%s waits for somebody to type"},
	{"builtin:gets", "%s waits for somebody to type"},
	{"builtin:", "%s runs text as code"},
	{"delete:", "%s removes files"},
	{"dynamic:", "%s runs code that is made at run time"},
	{"native:", "%s reaches native code"},
	{"network:", "%s talks to the network"},
	{"reflection:", "%s gets at things around their names"},
	{"shell:", "%s runs another program"},
	{"loop:", "%s has no end in sight"},
	{"privilege:", "%s asks for other rights"},
};

/*
 * "*" at the end stands for one more name, "**" for the rest of this name; "()" is
 * what a call gave, and only met by itself.
 */
static bool path_fits(const char *pattern, const char *path)
{
	size_t len = strlen(pattern);

	if (len > 2 && strcmp(pattern + len - 2, "**") == 0) {
		len -= 2;
		return strncmp(pattern, path, len) == 0 && !strpbrk(path + len, ".(");
	}
	if (len > 2 && strcmp(pattern + len - 2, ".*") == 0)
		return strncmp(pattern, path, len - 1) == 0 &&
		       !strpbrk(path + len - 1, ".(");
	return strcmp(pattern, path) == 0;
}

const struct dw_danger *dw_danger_find(const struct dw_reader *reader, const char *path)
{
	for (const struct dw_danger *d = reader->dangers; d && d->path; d++)
		if (d->path[0] == path[0] && path_fits(d->path, path))
			return d;
	return NULL;
}

/* The last name of a built-in, the whole path of all else. */
static const char *shown(const char *path)
{
	static const char builtins[] = "builtins.";

	return strncmp(path, builtins, sizeof(builtins) - 1) == 0
	               ? path + sizeof(builtins) - 1
	               : path;
}

const struct dw_danger *dw_check_danger(struct dw_reading *r, uint32_t part,
                                        struct dw_value v)
{
	const struct dw_danger *d;
	char rule[DW_RULE_MAX];
	const char *text = "%s needs a reason";
	size_t len;

	if (v.type != DW_V_NAME)
		return NULL;
	d = dw_danger_find(r->reader, v.text);
	if (!d)
		return NULL;
	len = strcspn(d->rule, ":") + 1;
	(void)snprintf(rule, sizeof(rule), "%s%s", d->rule,
	               d->rule[len] == '\0' ? shown(v.text) : "");
	for (size_t i = ARRAY_SIZE(families); i > 0; i--)
		if (strncmp(families[i - 1].family, rule,
		            strlen(families[i - 1].family)) == 0)
			text = families[i - 1].text;
			/* The texts are those above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	dw_found(r, part, d->severity, rule, text, shown(v.text));
#pragma GCC diagnostic pop
	return d;
}

/* "os" of "os.path", "fs" of "node:fs" and "fs/promises"; scopes of npm are kept. */
static bool module_fits(const char *known, const char *name, size_t len)
{
	size_t n = strlen(known);

	if (len > 5 && strncmp(name, "node:", 5) == 0) {
		name += 5;
		len -= 5;
	}
	return len >= n && memcmp(name, known, n) == 0 &&
	       (len == n || name[n] == '.' || name[n] == '/');
}

void dw_check_module(struct dw_reading *r, uint32_t part, const char *name, size_t len)
{
	const struct dw_analyse_list *list = list_of(r);
	const char *const *allowed = r->options ? r->options->allowed_modules : NULL;
	const char *const *known = r->reader->modules;
	char rule[DW_RULE_MAX];

	if (!allowed && list)
		allowed = list->allowed;
	if (list && list->forbidden)
		known = list->forbidden;

	if (len == 0)
		return;
	if (allowed) {
		for (; *allowed; allowed++)
			if (module_fits(*allowed, name, len))
				return;
		(void)snprintf(rule, sizeof(rule), "import:%.*s", (int)len, name);
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "module %.*s is not on the list of those that are allowed",
		         (int)(len < 100 ? len : 100), name);
		return;
	}
	for (; known && *known; known++) {
		if (!module_fits(*known, name, len))
			continue;
		(void)snprintf(rule, sizeof(rule), "import:%s", *known);
		dw_found(r, part, DW_SEVERITY_WARNING, rule, "module %.*s needs a reason",
		         (int)(len < 100 ? len : 100), name);
		return;
	}
}

void dw_check_inner(struct dw_reading *r, uint32_t part, enum dw_code_kind kind,
                    struct dw_value code)
{
	const struct dw_reader *reader = kind == DW_CODE_SHELL ? &dw_reader_bash
	                                                       : r->reader;
	struct dw_findings found = {0};
	struct dw_error err = {0};
	struct dw_finding here = {0};

	if (kind == DW_CODE_NONE || code.type != DW_V_TEXT || code.len == 0)
		return;
	if (r->inner >= INNER_MAX) {
		dw_found(r, part, DW_SEVERITY_WARNING, "analysis:nested",
		         "programs inside programs are read %u deep, and no further",
		         INNER_MAX);
		return;
	}
	if (!r->lines && find_lines(r) < 0) {
		r->no_memory = true;
		return;
	}
	locate(r, r->tree.parts[part].start, &here);
	if (dw_read_program(reader, code.text, code.len, r->options, r, &found, &err) <
	    0) {
		r->no_memory = true;
		return;
	}
	for (size_t i = 0; i < found.n; i++) {
		/* That a text is no program of ours is no news: eval() will say so. */
		if (strncmp(found.list[i].rule, "syntax:", 7) == 0 &&
		    kind == DW_CODE_SELF)
			continue;
		dw_found_inside(r, here.line, here.column, &found.list[i]);
	}
	dw_findings_finish(&found);
}

/* What several languages need. */

bool dw_loop_ends(struct dw_reading *r, uint32_t loop,
                  int (*leaves)(struct dw_reading *r, uint32_t part))
{
	const struct dw_tree *tree = &r->tree;
	uint32_t inner = 0; /* we are in another loop up to here */

	for (uint32_t i = loop + 1; i < tree->parts[loop].past; i++) {
		int how;

		if (!dw_step(r))
			return true;
		how = leaves(r, i);
		if (how == 2 || (how == 1 && i >= inner))
			return true;
		if (how == -1 && tree->parts[i].past > inner)
			inner = tree->parts[i].past;
		if (how == -2)
			i = tree->parts[i].past - 1;
	}
	return false;
}

struct dw_value dw_literal_number(const struct dw_tree *tree, uint32_t part)
{
	size_t len, n = 0;
	const char *text = dw_text(tree, part, &len);
	char plain[32], *end = NULL;
	long long number;
	int base = 10;

	for (size_t i = 0; i < len && n + 1 < sizeof(plain); i++)
		if (text[i] != '_')
			plain[n++] = text[i];
	plain[n] = '\0';
	if (n > 2 && plain[0] == '0' && strchr("xX", plain[1]))
		base = 16;
	else if (n > 2 && plain[0] == '0' && strchr("oO", plain[1]))
		base = 8;
	else if (n > 2 && plain[0] == '0' && strchr("bB", plain[1]))
		base = 2;
	errno = 0;
	number = strtoll(base == 8 || base == 2 ? plain + 2 : plain, &end, base);
	if (errno != 0 || n == 0 || *end != '\0' || len >= sizeof(plain))
		return dw_unknown;
	return dw_value_number(number);
}

bool dw_word_in(const char *words, const char *word, size_t len)
{
	const char *p = words;

	if (len == 0 || memchr(word, ' ', len))
		return false;
	while ((p = memmem(p, strlen(p), word, len))) {
		if (p > words && p[-1] == ' ' && p[len] == ' ')
			return true;
		p++;
	}
	return false;
}

/* The whole. */

static int by_place(const void *a, const void *b)
{
	const struct dw_finding *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return strcmp(x->rule, y->rule);
}

static void set_scopes(struct dw_reading *r)
{
	struct dw_tree *tree = &r->tree;

	if (!r->reader->is_scope)
		return;
	for (uint32_t i = 1; i < tree->n_parts; i++) {
		uint32_t parent = tree->parts[i].parent;

		tree->parts[i].scope = parent > 0 && r->reader->is_scope(tree, parent)
		                               ? parent
		                               : tree->parts[parent].scope;
	}
}

/* One for each place, but not for what is inside it. */
static void check_syntax(struct dw_reading *r)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t i = 0; tree->errors && i < tree->n_parts; i++) {
		if (!(tree->parts[i].flags & (DW_PART_ERROR | DW_PART_MISSING)))
			continue;
		dw_found(r, i, DW_SEVERITY_WARNING, "syntax:error",
		         "this is no %s that we understand: it was not looked at in full",
		         r->reader->name);
		if (i > 0)
			i = tree->parts[i].past - 1;
	}
}

static void look(struct dw_reading *r)
{
	const struct dw_reader *reader = r->reader;

	if (reader->read) {
		reader->read(r);
		return;
	}
	check_syntax(r);
	set_scopes(r);
	for (uint32_t i = 0; i < r->tree.n_parts; i++)
		reader->bind(r, i);
	if (names_seal(r->names) < 0) {
		r->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < r->tree.n_parts && !r->cut; i++)
		reader->check(r, i);
}

static void say_bounds(struct dw_reading *r)
{
	if (r->fuel == 0)
		dw_found_at(r, 0, DW_SEVERITY_ERROR, "analysis:too-complex",
		            "this takes too many steps to understand: it was not looked "
		            "at in full");
	if (!r->cut)
		return;
	/* In the place of the last one. */
	r->cut = false;
	r->found.n--;
	dw_found_at(r, 0, DW_SEVERITY_ERROR, "analysis:too-many",
	            "there is more than these %d findings", DW_ANALYSE_FINDINGS_MAX);
}

int dw_read_program(const struct dw_reader *reader, const char *code, size_t len,
                    const struct dw_analyse_options *options, struct dw_reading *outer,
                    struct dw_findings *ret, struct dw_error *err)
{
	struct dw_reading r = {.reader = reader, .options = options, .fuel = FUEL};
	int parsed = 0;

	if (outer) {
		/* A parser and its tree are worth some steps. */
		outer->fuel = outer->fuel > PARSE_COST ? outer->fuel - PARSE_COST : 0;
		r.inner = outer->inner + 1;
		r.fuel = outer->fuel;
	}
	r.names = calloc(1, sizeof(*r.names));
	if (!r.names)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "analyse %s", reader->name);
	if (len > DW_ANALYSE_CODE_MAX) {
		r.tree = (struct dw_tree){.code = code};
		dw_found_at(&r, 0, DW_SEVERITY_ERROR, "analysis:too-large",
		            "%zu bytes of code were not looked at: %zu are the most", len,
		            DW_ANALYSE_CODE_MAX);
		/* Without a grammar we say so, however long it is. */
		if (!dw_tree_has(reader->grammar))
			parsed = dw_tree_parse(&r.tree, reader->grammar, "", 0, 1, err);
	} else {
		parsed = dw_tree_parse(&r.tree, reader->grammar, code, len,
		                       DW_ANALYSE_TIMEOUT_MS, err);
		if (parsed == DW_PARSE_WHOLE)
			look(&r);
		else if (parsed > 0)
			dw_found_at(&r, 0, DW_SEVERITY_ERROR,
			            parsed == DW_PARSE_TIMEOUT ? "analysis:timeout"
			                                       : "analysis:too-complex",
			            "this takes too long to parse: it was not looked at");
		say_bounds(&r);
	}

	if (outer)
		outer->fuel = r.fuel;
	names_free(r.names);
	arena_free(r.arena);
	free(r.lines);
	dw_tree_finish(&r.tree);
	if (parsed >= 0 && r.no_memory)
		parsed = dw_fail(err, DW_E_INTERNAL, ENOMEM, "analyse %s", reader->name);
	if (parsed < 0) {
		dw_findings_finish(&r.found);
		return -1;
	}
	if (r.found.n > 0)
		qsort(r.found.list, r.found.n, sizeof(*r.found.list), by_place);
	*ret = r.found;
	return 0;
}
