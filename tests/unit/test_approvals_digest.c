/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "approvals/approvals.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

/*
 * Every field of a request, by its name in the header, with a function that changes the
 * field; NULL if the field must not change the hash. A test compares the names with the
 * header, so that a new field needs a line here.
 */

static const char *const one[] = {"a"}, *const two[] = {"a", "b"},
			 *const joined[] = {"ab"};
static const char *const list_one[] = {"a", NULL}, *const list_none[] = {NULL};
static const struct dw_env env_one[] = {{"A", "1"}};
static const struct dw_file_in file_one[] = {{"f", {"data", 4}}};

#define SET(field, value)                               \
	static void set_##field(struct dw_request *req) \
	{                                               \
		req->field = value;                     \
	}
SET(language, "ruby")
SET(command, "ls")
SET(program, "/bin/true")
SET(level, "microvm")
SET(template, "python-data")
SET(image, "debian")
SET(runtime, "runsc")
SET(pull, DW_PULL_ALWAYS)
SET(stdin_fd, 0)
SET(n_args, 1)
SET(n_env, 1)
SET(n_files, 1)
SET(n_collect, 1)
SET(n_writable, 1)
SET(workspace, "/srv")
SET(allowed_commands, list_one)
SET(allowed_modules, list_none)
SET(network, DW_NETWORK_FULL)
SET(strict, true)

static void set_code(struct dw_request *req)
{
	req->code = (struct dw_bytes){"print(2)", 8};
}

static void set_stdin_data(struct dw_request *req)
{
	req->stdin_data = (struct dw_bytes){"x", 1};
}

static void set_limits(struct dw_request *req)
{
	req->limits.pids++;
}

static const struct {
	const char *name;
	void (*change)(struct dw_request *req); /* NULL: not part of the hash */
} fields[] = {
#define COUNTS(field)               \
	{                           \
#field, set_##field \
	}
	{"id", NULL},
	COUNTS(language),
	COUNTS(code),
	COUNTS(command),
	COUNTS(program),
	COUNTS(level),
	COUNTS(template),
	COUNTS(image),
	COUNTS(runtime),
	COUNTS(pull),
	COUNTS(stdin_data),
	COUNTS(stdin_fd),
	{"args", set_n_args},
	COUNTS(n_args),
	{"env", set_n_env},
	COUNTS(n_env),
	{"files", set_n_files},
	COUNTS(n_files),
	{"collect", set_n_collect},
	COUNTS(n_collect),
	COUNTS(workspace),
	{"writable", set_n_writable},
	COUNTS(n_writable),
	COUNTS(allowed_commands),
	COUNTS(allowed_modules),
	COUNTS(network),
	COUNTS(limits),
	COUNTS(strict),
	{"yields", NULL},
	{"on_output", NULL},
	{"on_note", NULL},
	{"user", NULL},
	{"cancel_fd", NULL},
	{"owned", NULL},
};

/* The lists are set, but their lengths are 0. */
static void fill(struct dw_request *req)
{
	dw_request_init(req);
	req->language = "python";
	req->code = (struct dw_bytes){"print(1)", 8};
	req->args = one;
	req->collect = one;
	req->writable = one;
	req->env = env_one;
	req->files = file_one;
}

static void digest(const struct dw_request *req, char ret[DW_APPROVAL_HASH_MAX])
{
	dw_approval_digest(req, ret);
	assert_int_equal(strspn(ret, "0123456789abcdef"), 64);
	assert_int_equal(ret[64], '\0');
}

static void assert_differ(const struct dw_request *a, const struct dw_request *b)
{
	char x[DW_APPROVAL_HASH_MAX], y[DW_APPROVAL_HASH_MAX];

	digest(a, x);
	digest(b, y);
	assert_string_not_equal(x, y);
}

static void every_field_that_affects_the_run_changes_the_hash(void **state)
{
	char hashes[ARRAY_SIZE(fields) + 1][DW_APPROVAL_HASH_MAX];
	size_t n = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct dw_request before, after;

		fill(&before);
		fill(&after);
		digest(&before, hashes[0]);
		if (!fields[i].change || strncmp(fields[i].name, "n_", 2) == 0)
			continue;
		fields[i].change(&after);
		digest(&after, hashes[n]);
		for (size_t k = 0; k < n; k++)
			if (strcmp(hashes[k], hashes[n]) == 0)
				fail_msg("%s does not change the hash", fields[i].name);
		n++;
	}
	assert_true(n > 15);
}

static void every_limit_changes_the_hash(void **state)
{
	struct dw_request before, after;
	uint64_t *limits = (uint64_t *)&after.limits;

	(void)state;
	for (size_t i = 0; i < sizeof(after.limits) / sizeof(*limits); i++) {
		fill(&before);
		fill(&after);
		limits[i] = 7;
		assert_differ(&before, &after);
		for (size_t k = 0; k < i; k++) {
			fill(&before);
			((uint64_t *)&before.limits)[k] = 7;
			assert_differ(&before, &after);
		}
	}
}

static void contents_and_borders_of_list_items_change_the_hash(void **state)
{
	static const struct dw_env envs[][2] = {{{"A", "1"}},
	                                        {{"A", "2"}},
	                                        {{"B", "1"}},
	                                        {{"A1", ""}}};
	static const struct dw_file_in files[][2] = {{{"f", {"data", 4}}},
	                                             {{"f", {"dat0", 4}}},
	                                             {{"f", {"data", 3}}},
	                                             {{"g", {"data", 4}}}};
	struct dw_request a, b;

	(void)state;
	fill(&a);
	fill(&b);
	a.args = two;
	a.n_args = 2;
	b.args = joined;
	b.n_args = 1;
	assert_differ(&a, &b);
	for (size_t i = 0; i < ARRAY_SIZE(envs); i++)
		for (size_t k = 0; k < i; k++) {
			fill(&a);
			fill(&b);
			a.n_env = b.n_env = 1;
			a.env = envs[i];
			b.env = envs[k];
			assert_differ(&a, &b);
			fill(&a);
			fill(&b);
			a.n_files = b.n_files = 1;
			a.files = files[i];
			b.files = files[k];
			assert_differ(&a, &b);
		}
}

static void the_id_and_the_callers_handles_do_not_change_the_hash(void **state)
{
	char x[DW_APPROVAL_HASH_MAX], y[DW_APPROVAL_HASH_MAX];
	struct dw_request a, b;

	(void)state;
	fill(&a);
	fill(&b);
	b.id = "0123456789abcdef0123456789abcdef";
	b.user = &a;
	b.cancel_fd = 3;
	digest(&a, x);
	digest(&b, y);
	assert_string_equal(x, y);
}

static bool in_table(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (strlen(fields[i].name) == len &&
		    strncmp(fields[i].name, name, len) == 0)
			return true;
	return false;
}

/* Finds the members of the struct in its header: the word before each semicolon. */
static void the_table_lists_every_field_of_the_struct(void **state)
{
	autofree char *text = calloc(1, 1 << 16);
	FILE *file = fopen(DW_SOURCE_ROOT "/include/dewar/request.h", "re");
	char *at, *end, *comment;
	size_t n = 0;

	(void)state;
	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 1000);
	(void)fclose(file);
	while ((comment = strstr(text, "/*")) != NULL)
		memset(comment, ' ', (size_t)(strstr(comment, "*/") + 2 - comment));
	at = strstr(text, "struct dw_request {");
	assert_non_null(at);
	end = strstr(at, "\n};");
	assert_non_null(end);
	for (char *semi = strchr(at, ';'); semi && semi < end;
	     semi = strchr(semi + 1, ';')) {
		char *word = semi;

		while (isalnum((unsigned char)word[-1]) || word[-1] == '_')
			word--;
		if (!in_table(word, (size_t)(semi - word)))
			fail_msg("%.*s is new: put it into dw_approval_digest() and here",
			         (int)(semi - word), word);
		n++;
	}
	assert_int_equal(n, ARRAY_SIZE(fields));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_that_affects_the_run_changes_the_hash),
		cmocka_unit_test(every_limit_changes_the_hash),
		cmocka_unit_test(contents_and_borders_of_list_items_change_the_hash),
		cmocka_unit_test(the_id_and_the_callers_handles_do_not_change_the_hash),
		cmocka_unit_test(the_table_lists_every_field_of_the_struct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
