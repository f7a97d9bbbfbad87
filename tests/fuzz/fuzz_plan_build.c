/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: words, each ending in a NUL; the last is also the content of a file. The launcher
 * reads from a plan exactly what a level wrote into it.
 */
#undef NDEBUG
#include <stdio.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/plan.h"

#define WORDS_MAX 16

static void check_plan(const struct dw_plan *plan, char *const *words, uint32_t n)
{
	const struct dw_plan_entry *file = &plan->entries[0], *bind = &plan->entries[1];
	const struct dw_plan_entry *exec = &plan->entries[2];

	assert(plan->h->n_argv == n && plan->h->n_env == n && plan->h->n_entries == 3);
	assert(strcmp(dw_plan_text(plan, plan->h->cwd), words[0]) == 0);
	assert(*dw_plan_text(plan, plan->h->hostname) == '\0');
	for (uint32_t i = 0; i < n; i++) {
		const char *env = dw_plan_text(plan, plan->env[i]);

		assert(strcmp(dw_plan_text(plan, plan->argv[i]), words[i]) == 0);
		assert(env[0] == (char)('A' + i) && env[1] == '=');
		/* The first variable was set a second time, to the last word. */
		assert(strcmp(env + 2, words[i == 0 ? n - 1 : i]) == 0);
	}
	assert(file->op == DW_PLAN_FILE && file->size == strlen(words[n - 1]));
	assert(memcmp(dw_plan_text(plan, file->src), words[n - 1], file->size) == 0);
	assert(bind->op == DW_PLAN_BIND);
	assert(strcmp(dw_plan_text(plan, bind->src), words[0]) == 0);
	assert(strcmp(dw_plan_text(plan, bind->dst), words[n - 1]) == 0);
	/* Writable paths are not executable; everything else is unchanged. */
	assert(file->flags == 0 && bind->flags == (DW_PLAN_WRITABLE | DW_PLAN_NOEXEC));
	assert(exec->op == DW_PLAN_EXEC && exec->flags == DW_PLAN_REFUSED);
	assert(strcmp(dw_plan_text(plan, exec->dst), words[0]) == 0);
}

static void build(char *const *words, uint32_t n)
{
	struct dw_plan_builder b;
	struct dw_error err = {0};
	autoclose int fd = -1;
	struct dw_plan plan;
	void *map;

	dw_plan_init(&b);
	b.h.cwd = dw_plan_add_text(&b, words[0]);
	dw_plan_file(&b, "/tmp/file", 0644, words[n - 1], strlen(words[n - 1]));
	dw_plan_bind(&b, words[0], words[n - 1], DW_PLAN_WRITABLE);
	dw_plan_exec(&b, words[0], DW_PLAN_REFUSED);
	dw_plan_forbid_exec(&b);
	for (uint32_t i = 0; i < n; i++) {
		dw_plan_add_arg(&b, words[i]);
		dw_plan_add_env(&b, (char[]){(char)('A' + i), '\0'}, words[i]);
	}
	dw_plan_add_env(&b, "A", words[n - 1]);
	fd = dw_plan_seal(&b, &err);
	assert(fd >= 0);
	map = mmap(NULL, b.h.size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert(map != MAP_FAILED && dw_plan_read(map, b.h.size, &plan, &err) == 0);
	check_plan(&plan, words, n);
	assert(munmap(map, b.h.size) == 0);
	dw_plan_finish(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *words[WORDS_MAX];
	uint32_t n = 0;

	do
		words[n++] = fuzz_text(&in);
	while (in.size > 0 && n < WORDS_MAX);
	build(words, n);
	while (n > 0)
		free(words[--n]);
	return 0;
}
