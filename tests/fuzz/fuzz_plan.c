/* SPDX-License-Identifier: Apache-2.0 */
/* No offset in an accepted plan is out of bounds; a refused plan leaves *ret unchanged. */
#undef NDEBUG
#include "wire/plan.h"

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

static void check_text(const struct dw_plan *plan, uint32_t offset)
{
	const char *text = dw_plan_text(plan, offset);

	assert(text >= plan->blob && text < plan->blob + plan->h->blob);
	assert(strlen(text) < plan->h->blob - offset);
}

static void check_plan(const struct dw_plan *plan, const char *end)
{
	const struct dw_plan_header *h = plan->h;

	assert(h->n_argv > 0 && plan->blob + h->blob == end);
	check_text(plan, h->cwd);
	check_text(plan, h->workdir);
	check_text(plan, h->hostname);
	for (uint32_t i = 0; i < h->n_argv; i++)
		check_text(plan, plan->argv[i]);
	for (uint32_t i = 0; i < h->n_env; i++)
		check_text(plan, plan->env[i]);
	for (uint32_t i = 0; i < h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];

		assert(e->op < DW_PLAN_OP_COUNT);
		check_text(plan, e->dst);
		if (e->op == DW_PLAN_BIND || e->op == DW_PLAN_SYMLINK)
			check_text(plan, e->src);
		if (e->op == DW_PLAN_FILE)
			assert((size_t)(end - dw_plan_text(plan, e->src)) >= e->size);
	}
}

static void read_plan(const void *data, size_t size)
{
	static const struct dw_plan none;
	struct dw_plan plan = none;
	struct dw_error err = {0};

	if (dw_plan_read(data, size, &plan, &err) == 0) {
		check_plan(&plan, (const char *)data + size);
		return;
	}
	assert(memcmp(&plan, &none, sizeof(plan)) == 0 && err.code == DW_E_INTERNAL);
	fuzz_check_refusal(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autofree char *plan = fuzz_copy(&in, size, &size); /* aligned */
	struct dw_plan_header *h = (void *)plan;
	size_t parts;

	read_plan(plan, size);

	/* And again with a valid magic and size, to get past the first checks. */
	if (size < sizeof(*h))
		return 0;
	h->magic = DW_PLAN_MAGIC;
	h->size = (uint32_t)size;
	parts = sizeof(*h) + h->n_entries * sizeof(struct dw_plan_entry) +
	        ((size_t)h->n_argv + h->n_env) * sizeof(uint32_t);
	h->blob = (uint32_t)(size - parts);
	read_plan(plan, size);
	return 0;
}
