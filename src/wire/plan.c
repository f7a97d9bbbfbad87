/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/plan.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

/* This file reads a plan; plan_build.c writes it. */

static int bad(struct dw_error *err, const char *what)
{
	return dw_fail(err, DW_E_INTERNAL, 0, "the plan is damaged: %s", what);
}

/* Returns true if a string starts at the offset and ends inside the blob. */
static bool is_text(const struct dw_plan *plan, uint32_t offset)
{
	uint32_t len = plan->h->blob;

	return offset < len && memchr(plan->blob + offset, '\0', len - offset) != NULL;
}

static bool are_texts(const struct dw_plan *plan, const uint32_t *offsets, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!is_text(plan, offsets[i]))
			return false;
	return true;
}

static bool is_entry(const struct dw_plan *plan, const struct dw_plan_entry *e)
{
	if (e->op >= DW_PLAN_OP_COUNT || !is_text(plan, e->dst))
		return false;
	if (e->op == DW_PLAN_FILE)
		return e->src <= plan->h->blob && e->size <= plan->h->blob - e->src;
	if (e->op == DW_PLAN_BIND || e->op == DW_PLAN_SYMLINK)
		return is_text(plan, e->src);
	return true;
}

int dw_plan_read(const void *data, size_t len, struct dw_plan *ret, struct dw_error *err)
{
	const struct dw_plan_header *h = data;
	struct dw_plan plan = {.h = h};
	const char *p = data;
	size_t need = sizeof(*h);

	if (len < sizeof(*h) || len > DW_PLAN_SIZE_MAX || h->magic != DW_PLAN_MAGIC ||
	    h->size != len)
		return bad(err, "it is not a plan of this version");
	if (h->n_entries > DW_PLAN_ENTRIES_MAX || h->n_argv > DW_PLAN_WORDS_MAX ||
	    h->n_env > DW_PLAN_WORDS_MAX || h->n_rlimits > DW_PLAN_RLIMITS_MAX)
		return bad(err, "a count is too large");

	plan.entries = (const void *)(p + need);
	need += h->n_entries * sizeof(*plan.entries);
	plan.argv = (const void *)(p + need);
	need += h->n_argv * sizeof(*plan.argv);
	plan.env = (const void *)(p + need);
	need += h->n_env * sizeof(*plan.env);
	if (need > len || h->blob != len - need)
		return bad(err, "its size does not match its parts");
	plan.blob = p + need;

	if (!is_text(&plan, h->cwd) || !is_text(&plan, h->hostname) ||
	    !is_text(&plan, h->workdir))
		return bad(err, "a string offset is out of bounds");
	if (!are_texts(&plan, plan.argv, h->n_argv) ||
	    !are_texts(&plan, plan.env, h->n_env))
		return bad(err, "a word offset is out of bounds");
	if (h->n_argv == 0)
		return bad(err, "no command");
	for (uint32_t i = 0; i < h->n_entries; i++)
		if (!is_entry(&plan, &plan.entries[i]))
			return bad(err, "an entry is out of bounds");

	*ret = plan;
	return 0;
}
