/* SPDX-License-Identifier: Apache-2.0 */
/* The names of each scope, with every value that they are bound to. */
#include "analysis/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct binding {
	uint32_t next; /* the previous binding of the name in this scope; 0: none */
	uint32_t at;   /* the byte from which it is valid */
	uint32_t part;
	const char *path;
	enum dw_binding_kind kind;
	bool busy; /* being evaluated: detects a binding that depends on itself */
	bool known;
	struct dw_value value;
};

struct entry {
	const char *name; /* NULL: free */
	size_t len;
	uint32_t scope;
	uint32_t last; /* the latest binding */
	uint32_t n;
	uint32_t first; /* index in order[], after dw_names_seal() */
	uint32_t named; /* its first binding to a library name; valid if asked */
	bool asked;
};

struct dw_names {
	struct entry *entries;
	size_t n_entries;
	size_t size;          /* a power of two */
	struct binding *list; /* bindings; [0] is unused */
	uint32_t n_list;      /* 1 if there are no bindings */
	uint32_t *order;      /* bindings by entry and position; NULL in the first pass */
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

void dw_bind(struct dw_reading *r, uint32_t scope, const char *name, size_t len,
             uint32_t at, enum dw_binding_kind kind, uint32_t part, const char *path)
{
	struct dw_names *names = r->names;
	struct binding binding = {.at = at, .part = part, .path = path, .kind = kind};
	struct entry *entry;

	if (len == 0)
		return;
	if (names->n_entries * 2 >= names->size && names_grow(names) < 0) {
		r->no_memory = true;
		return;
	}
	entry = entry_find(names, scope, name, len);
	if (!entry->name) {
		*entry = (struct entry){.name = name, .len = len, .scope = scope};
		names->n_entries++;
	}
	binding.next = entry->last;
	if (!DW_APPEND(names->list, names->n_list, binding)) {
		r->no_memory = true;
		return;
	}
	entry->last = names->n_list - 1;
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
	const struct binding *x = (const struct binding *)list + *(const uint32_t *)a;
	const struct binding *y = (const struct binding *)list + *(const uint32_t *)b;

	return x->at < y->at ? -1 : x->at > y->at;
}

int dw_names_seal(struct dw_names *names)
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

struct dw_names *dw_names_create(void)
{
	struct dw_names *names = calloc(1, sizeof(*names));

	if (names)
		names->n_list = 1;
	return names;
}

void dw_names_free(struct dw_names *names)
{
	if (!names)
		return;
	free(names->entries);
	free(names->list);
	free(names->order);
	free(names);
}

static struct dw_value bound_value(struct dw_reading *r, uint32_t index);

static struct dw_value compute(struct dw_reading *r, const struct binding *b)
{
	switch (b->kind) {
	case DW_BIND_VALUE:
		return dw_eval(r, b->part);
	case DW_BIND_APPEND:
		return dw_value_join(r, b->next ? bound_value(r, b->next) : dw_unknown,
		                     dw_eval(r, b->part));
	case DW_BIND_NAME:
		return dw_value_name(b->path);
	case DW_BIND_MEMBER:
		return r->language->member(r, dw_eval(r, b->part), b->path,
		                           strlen(b->path));
	case DW_BIND_OPAQUE:
	case DW_BIND_OTHER:
		break;
	}
	return dw_unknown;
}

/* The value of one binding; unknown if it depends on itself. */
static struct dw_value bound_value(struct dw_reading *r, uint32_t index)
{
	struct binding *b = &r->names->list[index];

	if (b->known)
		return b->value;
	if (b->busy || r->depth >= DW_DEPTH_MAX || !dw_step(r))
		return dw_unknown;
	b->busy = true;
	r->depth++;
	b->value = compute(r, b);
	r->depth--;
	b->busy = false;
	b->known = r->names->order != NULL;
	return b->value;
}

/* The entry of the name in the innermost scope that binds it, or NULL. */
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
		/* Methods do not see the names of their class. */
		do {
			if (here == 0)
				return NULL;
			here = dw_part(&r->tree, here)->scope;
		} while (here != 0 && dw_kind(&r->tree, here) == DW_K_CLASS_DEFINITION);
	}
}

/* How many of the name's bindings are valid at that byte; they come first in order[]. */
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

/* The first binding of the name to a library name, at any position; 0: none. */
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

/* How many of the nearest bindings are evaluated. */
#define NEAR 32U

/*
 * Any binding of the name is possible. The nearest name of the library is preferred,
 * then the nearest known value.
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
	/* During the first pass, use the latest binding. */
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
