/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "wire/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "wire/report.h"

#define MUTATIONS 200000

static char first[] = "first file";
static char second[] = {'\0', '\1', '\0', '\xff'};

/* A plan with one of everything. */
static void build(struct dw_plan_builder *b)
{
	dw_plan_init(b);
	b->h.flags = DW_PLAN_NAMESPACES | DW_PLAN_SECCOMP;
	b->h.cwd = dw_plan_add_text(b, "/tmp");
	b->h.workdir = dw_plan_add_text(b, "/tmp/dewar-1");
	b->h.hostname = dw_plan_add_text(b, "");
	b->h.inside_id = 1000;
	b->h.become = 65534;
	b->h.memory = 1ULL << 40;
	dw_plan_dir(b, "/dir", 0751);
	dw_plan_file(b, "/tmp/first", 0644, first, sizeof(first) - 1);
	dw_plan_symlink(b, "usr/bin", "/bin");
	dw_plan_bind(b, "/usr", "/usr", DW_PLAN_OPTIONAL);
	dw_plan_file(b, "/tmp/empty", 0600, NULL, 0);
	dw_plan_tmpfs(b, "/tmp", 01777, 5ULL << 32, 77);
	dw_plan_file(b, "/tmp/second", 0400, second, sizeof(second));
	dw_plan_proc(b, "/proc");
	dw_plan_allow(b, "/usr", DW_PLAN_WRITABLE);
	dw_plan_add_arg(b, "/bin/sh");
	dw_plan_add_arg(b, "");
	dw_plan_add_arg(b, "last");
	dw_plan_add_env(b, "HOME", "/home");
	dw_plan_add_env(b, "EMPTY", "");
	dw_plan_add_env(b, "HOME", "/tmp"); /* replaces the first one */
	dw_plan_add_rlimit(b, RLIMIT_NOFILE, 64);
	dw_plan_add_rlimit(b, RLIMIT_FSIZE, UINT64_MAX);
}

static int sealed(void)
{
	struct dw_plan_builder b;
	struct dw_error err = {0};
	int fd;

	build(&b);
	fd = dw_plan_seal(&b, &err);
	dw_plan_finish(&b);
	if (fd < 0)
		fail_msg("%s", err.text);
	return fd;
}

/*
 * Returns the plan's bytes in memory of exactly their size, so that a sanitizer detects
 * a read past the end.
 */
static char *plan_bytes(size_t *ret_len)
{
	autoclose int fd = sealed();
	struct stat st;
	char *data;

	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_non_null(data);
	assert_int_equal(pread(fd, data, (size_t)st.st_size, 0), st.st_size);
	*ret_len = (size_t)st.st_size;
	return data;
}

static const char *text(const struct dw_plan *plan, uint32_t offset)
{
	return dw_plan_text(plan, offset);
}

static void a_plan_is_read_as_it_was_built(void **state)
{
	static const struct {
		enum dw_plan_op op;
		uint32_t flags, mode, inodes;
		const char *src, *dst;
		uint64_t size;
	} want[] = {
		{DW_PLAN_DIR, 0, 0751, 0, NULL, "/dir", 0},
		{DW_PLAN_FILE, 0, 0644, 0, NULL, "/tmp/first", sizeof(first) - 1},
		{DW_PLAN_SYMLINK, 0, 0, 0, "usr/bin", "/bin", 0},
		{DW_PLAN_BIND, DW_PLAN_OPTIONAL, 0, 0, "/usr", "/usr", 0},
		{DW_PLAN_FILE, 0, 0600, 0, NULL, "/tmp/empty", 0},
		{DW_PLAN_TMPFS, 0, 01777, 77, NULL, "/tmp", 5ULL << 32},
		{DW_PLAN_FILE, 0, 0400, 0, NULL, "/tmp/second", sizeof(second)},
		{DW_PLAN_PROC, 0, 0, 0, NULL, "/proc", 0},
		{DW_PLAN_ALLOW, DW_PLAN_WRITABLE, 0, 0, NULL, "/usr", 0},
	};
	autofree char *data = NULL;
	struct dw_error err = {0};
	struct dw_plan plan;
	size_t len;

	(void)state;
	data = plan_bytes(&len);
	assert_int_equal(dw_plan_read(data, len, &plan, &err), 0);
	assert_int_equal(plan.h->flags, DW_PLAN_NAMESPACES | DW_PLAN_SECCOMP);
	assert_string_equal(text(&plan, plan.h->cwd), "/tmp");
	assert_string_equal(text(&plan, plan.h->workdir), "/tmp/dewar-1");
	assert_string_equal(text(&plan, plan.h->hostname), "");
	assert_int_equal(plan.h->inside_id, 1000);
	assert_int_equal(plan.h->become, 65534);
	assert_int_equal(plan.h->memory, 1ULL << 40);

	assert_int_equal(plan.h->n_entries, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct dw_plan_entry *e = &plan.entries[i];

		assert_int_equal(e->op, want[i].op);
		assert_int_equal(e->flags, want[i].flags);
		assert_int_equal(e->mode, want[i].mode);
		assert_int_equal(e->inodes, want[i].inodes);
		assert_int_equal(e->size, want[i].size);
		assert_string_equal(text(&plan, e->dst), want[i].dst);
		if (want[i].src)
			assert_string_equal(text(&plan, e->src), want[i].src);
	}

	assert_int_equal(plan.h->n_argv, 3);
	assert_string_equal(text(&plan, plan.argv[0]), "/bin/sh");
	assert_string_equal(text(&plan, plan.argv[1]), "");
	assert_string_equal(text(&plan, plan.argv[2]), "last");
	assert_int_equal(plan.h->n_env, 2);
	assert_string_equal(text(&plan, plan.env[0]), "HOME=/tmp");
	assert_string_equal(text(&plan, plan.env[1]), "EMPTY=");
	assert_int_equal(plan.h->n_rlimits, 2);
	assert_int_equal(plan.h->rlimits[0].resource, RLIMIT_NOFILE);
	assert_int_equal(plan.h->rlimits[0].value, 64);
	assert_int_equal(plan.h->rlimits[1].resource, RLIMIT_FSIZE);
	assert_true(plan.h->rlimits[1].value == UINT64_MAX);
}

static void data_of_files_follows_the_texts_in_order(void **state)
{
	autofree char *data = NULL;
	const struct dw_plan_entry *e;
	struct dw_plan plan;
	size_t len;

	(void)state;
	data = plan_bytes(&len);
	assert_int_equal(dw_plan_read(data, len, &plan, NULL), 0);
	e = plan.entries;
	assert_memory_equal(plan.blob + e[1].src, first, sizeof(first) - 1);
	assert_memory_equal(plan.blob + e[6].src, second, sizeof(second));
	assert_int_equal(e[4].src, e[1].src + e[1].size);
	assert_int_equal(e[6].src, e[4].src + e[4].size);
	assert_int_equal(e[6].src + e[6].size, plan.h->blob);
	assert_true(e[1].src > plan.env[1]);
	assert_ptr_equal(plan.blob + plan.h->blob, data + len);
}

/* The header says borrowed: the bytes are copied when the plan is sealed. */
static void data_of_files_is_borrowed_until_the_plan_is_sealed(void **state)
{
	struct dw_plan_builder b;
	autoclose int fd = -1;
	char bytes[] = "before", back[6];
	struct stat st;

	(void)state;
	dw_plan_init(&b);
	dw_plan_file(&b, "/f", 0600, bytes, 6);
	memcpy(bytes, "behind", 6);
	fd = dw_plan_seal(&b, NULL);
	dw_plan_finish(&b);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pread(fd, back, 6, st.st_size - 6), 6);
	assert_memory_equal(back, "behind", 6);
}

static void a_plan_with_only_a_command_is_valid(void **state)
{
	struct dw_plan_builder b;
	autoclose int fd = -1;
	char data[sizeof(struct dw_plan_header) + 64];
	struct dw_plan plan;
	ssize_t n;

	(void)state;
	dw_plan_init(&b);
	dw_plan_add_arg(&b, "x");
	fd = dw_plan_seal(&b, NULL);
	dw_plan_finish(&b);
	n = pread(fd, data, sizeof(data), 0);
	assert_true(n > 0);
	assert_int_equal(dw_plan_read(data, (size_t)n, &plan, NULL), 0);
	assert_int_equal(plan.h->n_entries, 0);
	assert_string_equal(text(&plan, plan.h->cwd), "");
}

/* ---- ceilings ---- */

static void refuses_to_seal(struct dw_plan_builder *b)
{
	struct dw_error err = {0};

	assert_int_equal(dw_plan_seal(b, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_int_equal(err.sys_errno, E2BIG);
	assert_true(err.text[0] != '\0');
	dw_plan_finish(b);
}

static void add_variable(struct dw_plan_builder *b, uint32_t number)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "A%u", number);
	dw_plan_add_env(b, name, "");
}

static void exceeding_any_ceiling_is_refused_when_sealing(void **state)
{
	struct dw_plan_builder b;

	(void)state;
	dw_plan_init(&b);
	for (uint32_t i = 0; i <= DW_PLAN_ENTRIES_MAX; i++)
		dw_plan_dir(&b, "/d", 0755);
	refuses_to_seal(&b);

	dw_plan_init(&b);
	for (uint32_t i = 0; i <= DW_PLAN_WORDS_MAX; i++)
		dw_plan_add_arg(&b, "");
	refuses_to_seal(&b);

	dw_plan_init(&b);
	for (uint32_t i = 0; i <= DW_PLAN_WORDS_MAX; i++)
		add_variable(&b, i);
	refuses_to_seal(&b);

	dw_plan_init(&b);
	for (uint32_t i = 0; i <= DW_PLAN_RLIMITS_MAX; i++)
		dw_plan_add_rlimit(&b, RLIMIT_CORE, 0);
	refuses_to_seal(&b);

	/* A length beyond the buffer: refused before the data is read. */
	dw_plan_init(&b);
	dw_plan_file(&b, "/f", 0600, first, (size_t)DW_PLAN_SIZE_MAX);
	refuses_to_seal(&b);
	dw_plan_init(&b);
	dw_plan_file(&b, "/f", 0600, first, 1ULL << 32);
	refuses_to_seal(&b);
}

static void exactly_the_maximum_can_be_sealed(void **state)
{
	struct dw_plan_builder b;
	autoclose int fd = -1;
	autofree char *data = NULL;
	struct dw_error err = {0};
	struct dw_plan plan;
	struct stat st;

	(void)state;
	dw_plan_init(&b);
	for (uint32_t i = 0; i < DW_PLAN_ENTRIES_MAX; i++)
		dw_plan_file(&b, "/d", 0755, "x", 1);
	for (uint32_t i = 0; i < DW_PLAN_WORDS_MAX; i++) {
		dw_plan_add_arg(&b, "a");
		add_variable(&b, i);
	}
	for (uint32_t i = 0; i < DW_PLAN_RLIMITS_MAX; i++)
		dw_plan_add_rlimit(&b, RLIMIT_CORE, 0);
	fd = dw_plan_seal(&b, &err);
	dw_plan_finish(&b);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_non_null(data);
	assert_int_equal(pread(fd, data, (size_t)st.st_size, 0), st.st_size);
	assert_int_equal(dw_plan_read(data, (size_t)st.st_size, &plan, &err), 0);
	assert_int_equal(plan.h->n_entries, DW_PLAN_ENTRIES_MAX);
	assert_int_equal(plan.h->n_argv, DW_PLAN_WORDS_MAX);
	assert_int_equal(plan.h->n_rlimits, DW_PLAN_RLIMITS_MAX);
}

/* ---- damage ---- */

/* A copy of a valid plan for a test to damage. */
struct sample {
	char *data;
	size_t len;
	struct dw_plan_header *h;
	struct dw_plan_entry *entries;
	uint32_t *argv, *env;
	char *blob;
};

static void sample_finish(struct sample *s)
{
	free(s->data);
}

#define autosample __attribute__((cleanup(sample_finish)))

static void sample_init(struct sample *s)
{
	s->data = plan_bytes(&s->len);
	s->h = (struct dw_plan_header *)s->data;
	s->entries = (struct dw_plan_entry *)(s->data + sizeof(*s->h));
	s->argv = (uint32_t *)(s->entries + s->h->n_entries);
	s->env = s->argv + s->h->n_argv;
	s->blob = (char *)(s->env + s->h->n_env);
}

/* Checks that a plan is refused with a reason, and that *ret is unchanged. */
static void refused(const void *data, size_t len)
{
	struct dw_error err = {0};
	struct dw_plan plan = {.blob = "untouched"};

	assert_int_equal(dw_plan_read(data, len, &plan, &err), -1);
	assert_int_equal(err.code, DW_E_INTERNAL);
	assert_memory_equal(err.text, "the plan is damaged: ", 21);
	assert_null(plan.h);
	assert_string_equal(plan.blob, "untouched");
}

#define REFUSED_WITH(s, field, bad)                     \
	do {                                            \
		const __typeof__(field) was_ = (field); \
		(field) = (__typeof__(field))(bad);     \
		refused((s)->data, (s)->len);           \
		(field) = was_;                         \
	} while (0)

static void a_truncated_plan_is_refused_at_each_length(void **state)
{
	autosample struct sample s;

	(void)state;
	sample_init(&s);
	for (size_t len = 0; len < s.len; len++) {
		autofree char *part = malloc(len ? len : 1);

		assert_non_null(part);
		memcpy(part, s.data, len);
		refused(part, len);

		/* With a matching size in the header, its parts do not fit. */
		if (len < sizeof(*s.h))
			continue;
		((struct dw_plan_header *)part)->size = (uint32_t)len;
		refused(part, len);
	}
}

static void a_plan_with_trailing_bytes_is_refused(void **state)
{
	autosample struct sample s;
	autofree char *more = NULL;

	(void)state;
	sample_init(&s);
	more = calloc(1, s.len + 8);
	assert_non_null(more);
	memcpy(more, s.data, s.len);
	refused(more, s.len + 8);
	((struct dw_plan_header *)more)->size = (uint32_t)s.len + 8;
	refused(more, s.len + 8);
}

static void another_magic_or_size_is_refused(void **state)
{
	autosample struct sample s;

	(void)state;
	sample_init(&s);
	REFUSED_WITH(&s, s.h->magic, 0);
	REFUSED_WITH(&s, s.h->magic, DW_PLAN_MAGIC + 1);
	REFUSED_WITH(&s, s.h->magic, __builtin_bswap32(DW_PLAN_MAGIC));
	REFUSED_WITH(&s, s.h->size, 0);
	REFUSED_WITH(&s, s.h->size, s.len - 1);
	REFUSED_WITH(&s, s.h->size, s.len + 1);
	REFUSED_WITH(&s, s.h->size, UINT32_MAX);
	refused(s.data, (size_t)DW_PLAN_SIZE_MAX + 1);
	assert_int_equal(dw_plan_read(s.data, s.len, &(struct dw_plan){0}, NULL), 0);
}

static void a_wrong_count_is_refused(void **state)
{
	autosample struct sample s;

	(void)state;
	sample_init(&s);
	uint32_t *const counts[] = {&s.h->n_entries, &s.h->n_argv, &s.h->n_env,
	                            &s.h->blob};
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		REFUSED_WITH(&s, *counts[i], *counts[i] + 1);
		REFUSED_WITH(&s, *counts[i], *counts[i] - 1);
		REFUSED_WITH(&s, *counts[i], DW_PLAN_WORDS_MAX);
		REFUSED_WITH(&s, *counts[i], DW_PLAN_WORDS_MAX + 1);
		REFUSED_WITH(&s, *counts[i], 1U << 30);
		REFUSED_WITH(&s, *counts[i], UINT32_MAX);
		REFUSED_WITH(&s, *counts[i],
		             UINT32_MAX / sizeof(struct dw_plan_entry) + 2);
	}
	REFUSED_WITH(&s, s.h->n_rlimits, DW_PLAN_RLIMITS_MAX + 1);
	REFUSED_WITH(&s, s.h->n_rlimits, UINT32_MAX);
}

/* The arguments are counted as variables: only the command is missing. */
static void a_plan_without_a_command_is_refused(void **state)
{
	autosample struct sample s;

	(void)state;
	sample_init(&s);
	s.h->n_env += s.h->n_argv;
	s.h->n_argv = 0;
	refused(s.data, s.len);
	s.h->n_argv = 1;
	s.h->n_env--;
	assert_int_equal(dw_plan_read(s.data, s.len, &(struct dw_plan){0}, NULL), 0);
}

static void an_offset_out_of_bounds_is_refused(void **state)
{
	autosample struct sample s;
	uint32_t *offsets[64];
	size_t n = 0;

	(void)state;
	sample_init(&s);
	offsets[n++] = &s.h->cwd;
	offsets[n++] = &s.h->workdir;
	offsets[n++] = &s.h->hostname;
	for (uint32_t i = 0; i < s.h->n_argv; i++)
		offsets[n++] = &s.argv[i];
	for (uint32_t i = 0; i < s.h->n_env; i++)
		offsets[n++] = &s.env[i];
	for (uint32_t i = 0; i < s.h->n_entries; i++) {
		offsets[n++] = &s.entries[i].dst;
		if (s.entries[i].op == DW_PLAN_BIND || s.entries[i].op == DW_PLAN_SYMLINK)
			offsets[n++] = &s.entries[i].src;
	}
	for (size_t i = 0; i < n; i++) {
		REFUSED_WITH(&s, *offsets[i], s.h->blob);
		REFUSED_WITH(&s, *offsets[i], s.h->blob + 1);
		REFUSED_WITH(&s, *offsets[i], UINT32_MAX);
		/* The last byte of the last file is 0xff: no NUL from there on. */
		REFUSED_WITH(&s, *offsets[i], s.h->blob - 1);
	}
	assert_int_equal(dw_plan_read(s.data, s.len, &(struct dw_plan){0}, NULL), 0);
}

static void a_text_without_a_nul_is_refused(void **state)
{
	autosample struct sample s;

	(void)state;
	sample_init(&s);
	for (uint32_t i = 0; i < s.h->blob; i++)
		if (s.blob[i] == '\0')
			s.blob[i] = 'x';
	refused(s.data, s.len);
	s.blob[s.h->blob - 1] = '\0';
	assert_int_equal(dw_plan_read(s.data, s.len, &(struct dw_plan){0}, NULL), 0);
}

static void data_of_a_file_out_of_bounds_is_refused(void **state)
{
	autosample struct sample s;
	struct dw_plan_entry *e;

	(void)state;
	sample_init(&s);
	e = &s.entries[6];
	assert_int_equal(e->op, DW_PLAN_FILE);
	REFUSED_WITH(&s, e->size, e->size + 1);
	REFUSED_WITH(&s, e->size, UINT64_MAX);
	REFUSED_WITH(&s, e->size, UINT64_MAX - e->src + 1);
	REFUSED_WITH(&s, e->size, 1ULL << 32);
	REFUSED_WITH(&s, e->src, e->src + 1);
	REFUSED_WITH(&s, e->src, s.h->blob + 1);
	REFUSED_WITH(&s, e->src, UINT32_MAX);
}

static void an_unknown_operation_is_refused(void **state)
{
	autosample struct sample s;

	(void)state;
	sample_init(&s);
	for (uint32_t i = 0; i < s.h->n_entries; i++) {
		REFUSED_WITH(&s, s.entries[i].op, DW_PLAN_OP_COUNT);
		REFUSED_WITH(&s, s.entries[i].op, UINT32_MAX);
	}
}

/* ---- mutations ---- */

static uint64_t random_state = 0x9e3779b97f4a7c15ULL;

static uint32_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32);
}

static void text_is_inside(const struct dw_plan *plan, uint32_t offset, const char *end)
{
	const char *p = dw_plan_text(plan, offset);

	if (p < plan->blob || p >= end ||
	    strnlen(p, (size_t)(end - p)) == (size_t)(end - p))
		fail_msg("offset %u was accepted", offset);
}

static void all_is_inside(const struct dw_plan *plan, const char *data, size_t len)
{
	const struct dw_plan_header *h = plan->h;
	const char *end = data + len;

	assert_ptr_equal(h, data);
	assert_true(h->n_rlimits <= DW_PLAN_RLIMITS_MAX);
	assert_true(h->n_argv > 0);
	assert_true((const char *)(plan->entries + h->n_entries) <= end);
	assert_true((const char *)(plan->argv + h->n_argv) <= end);
	assert_true((const char *)(plan->env + h->n_env) <= plan->blob);
	assert_ptr_equal(plan->blob + h->blob, end);
	text_is_inside(plan, h->cwd, end);
	text_is_inside(plan, h->workdir, end);
	text_is_inside(plan, h->hostname, end);
	for (uint32_t i = 0; i < h->n_argv; i++)
		text_is_inside(plan, plan->argv[i], end);
	for (uint32_t i = 0; i < h->n_env; i++)
		text_is_inside(plan, plan->env[i], end);
	for (uint32_t i = 0; i < h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];

		assert_true(e->op < DW_PLAN_OP_COUNT);
		text_is_inside(plan, e->dst, end);
		if (e->op == DW_PLAN_BIND || e->op == DW_PLAN_SYMLINK)
			text_is_inside(plan, e->src, end);
		if (e->op == DW_PLAN_FILE)
			assert_true(e->src <= h->blob && e->size <= h->blob - e->src);
	}
}

/* Flips a bit, or overwrites a byte or an aligned number with a boundary value. */
static void mutate(char *data, size_t len)
{
	static const uint32_t trouble[] = {
		0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 512, 513, 8192,
	};
	uint32_t word;
	size_t at;

	switch (random_word() % 4) {
	case 0:
		data[random_word() % len] ^= (char)(1U << random_word() % 8);
		return;
	case 1:
		data[random_word() % len] = (char)random_word();
		return;
	case 2:
		word = trouble[random_word() % ARRAY_SIZE(trouble)];
		break;
	default:
		word = random_word() % (uint32_t)(len + 16);
		break;
	}
	at = random_word() % (len / 4) * 4;
	if (at + 4 <= len)
		memcpy(data + at, &word, 4);
}

static void no_accepted_mutation_is_out_of_bounds(void **state)
{
	autosample struct sample s;
	autofree char *copy = NULL;
	size_t accepted = 0, refusals = 0;
	struct dw_plan plan;

	(void)state;
	sample_init(&s);
	copy = malloc(s.len);
	assert_non_null(copy);
	for (size_t i = 0; i < MUTATIONS; i++) {
		struct dw_error err = {0};

		memcpy(copy, s.data, s.len);
		for (uint32_t n = 1 + random_word() % 4; n > 0; n--)
			mutate(copy, s.len);
		if (dw_plan_read(copy, s.len, &plan, &err) == 0) {
			accepted++;
			all_is_inside(&plan, copy, s.len);
		} else {
			refusals++;
			assert_true(err.text[0] != '\0');
		}
	}
	/* Both must happen, or the test proves nothing. */
	assert_true(accepted > MUTATIONS / 100);
	assert_true(refusals > MUTATIONS / 100);
}

/* ---- the seal ---- */

static void a_sealed_plan_can_neither_change_nor_be_unsealed(void **state)
{
	autoclose int fd = -1, again = -1;
	char path[64];
	struct stat st;
	size_t len;

	(void)state;
	fd = sealed();
	assert_int_equal(fstat(fd, &st), 0);
	len = (size_t)st.st_size;
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GET_SEALS) & DW_REPORT_SEALS, DW_REPORT_SEALS);

	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(pwrite(fd, "x", 1, st.st_size), -1);
	assert_int_equal(ftruncate(fd, st.st_size + 1), -1);
	assert_int_equal(ftruncate(fd, st.st_size - 1), -1);
	assert_int_equal(fallocate(fd, 0, 0, st.st_size + 4096), -1);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 16),
	                 -1);
	assert_ptr_equal(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
	                 MAP_FAILED);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, 0), -1);

	/* Opening it again through /proc does not make it writable. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	if (again >= 0)
		assert_int_equal(pwrite(again, "x", 1, 0), -1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, len);
}

static void a_refused_plan_leaves_no_descriptor(void **state)
{
	struct dw_plan_builder b;
	int before = dup(0), after;

	(void)state;
	(void)close(before);
	dw_plan_init(&b);
	dw_plan_file(&b, "/f", 0600, first, 1ULL << 33);
	refuses_to_seal(&b);
	after = dup(0);
	(void)close(after);
	assert_int_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_read_as_it_was_built),
		cmocka_unit_test(data_of_files_follows_the_texts_in_order),
		cmocka_unit_test(data_of_files_is_borrowed_until_the_plan_is_sealed),
		cmocka_unit_test(a_plan_with_only_a_command_is_valid),
		cmocka_unit_test(exceeding_any_ceiling_is_refused_when_sealing),
		cmocka_unit_test(exactly_the_maximum_can_be_sealed),
		cmocka_unit_test(a_truncated_plan_is_refused_at_each_length),
		cmocka_unit_test(a_plan_with_trailing_bytes_is_refused),
		cmocka_unit_test(another_magic_or_size_is_refused),
		cmocka_unit_test(a_wrong_count_is_refused),
		cmocka_unit_test(a_plan_without_a_command_is_refused),
		cmocka_unit_test(an_offset_out_of_bounds_is_refused),
		cmocka_unit_test(a_text_without_a_nul_is_refused),
		cmocka_unit_test(data_of_a_file_out_of_bounds_is_refused),
		cmocka_unit_test(an_unknown_operation_is_refused),
		cmocka_unit_test(no_accepted_mutation_is_out_of_bounds),
		cmocka_unit_test(a_sealed_plan_can_neither_change_nor_be_unsealed),
		cmocka_unit_test(a_refused_plan_leaves_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
