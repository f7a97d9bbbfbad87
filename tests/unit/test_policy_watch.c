/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "policy/policy.h"

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"

static char folder[] = "/tmp/dewar-watch-XXXXXX";
static char path[64], other[64];

static void put(const char *to, const char *text)
{
	FILE *file = fopen(to, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Replaces the file by a new one, as editors do. */
static void replace(const char *text)
{
	put(other, text);
	assert_int_equal(rename(other, path), 0);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/policy.yaml", folder);
	(void)snprintf(other, sizeof(other), "%s/new", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(path);
	(void)unlink(other);
	return rmdir(folder);
}

#define NO_RULES "version: 1\ndefault: allow\n"
#define ONE_RULE NO_RULES "rules: [{name: a, decision: deny}]\n"

static size_t rules_of(struct dw_policy_watch *watch)
{
	struct dw_policy *policy = dw_policy_watch_get(watch, NULL);
	size_t n = dw_policy_n_rules(policy);

	dw_policy_unref(policy);
	return n;
}

static void a_changed_file_is_read_again(void **state)
{
	struct dw_policy_watch *watch = NULL;
	struct dw_policy *before;
	struct dw_error err = {0};

	(void)state;
	put(path, NO_RULES);
	assert_int_equal(dw_policy_watch_open(path, &watch, &err), 0);
	assert_int_equal(dw_policy_watch_look(watch, &err), 0);
	before = dw_policy_watch_get(watch, NULL);
	assert_int_equal(dw_policy_n_rules(before), 0);

	replace(ONE_RULE);
	assert_int_equal(dw_policy_watch_look(watch, &err), 1);
	assert_int_equal(rules_of(watch), 1);
	assert_int_equal(dw_policy_watch_look(watch, &err), 0);
	/* A reference to the old policy stays valid. */
	assert_int_equal(dw_policy_n_rules(before), 0);
	dw_policy_unref(before);

	/* Written in place, with the same inode. */
	put(path, NO_RULES);
	assert_int_equal(dw_policy_watch_look(watch, &err), 1);
	assert_int_equal(rules_of(watch), 0);
	dw_policy_watch_close(watch);
	dw_policy_watch_close(NULL);
}

static void an_invalid_file_keeps_the_policy_and_is_reported_once(void **state)
{
	struct dw_policy_watch *watch = NULL;
	struct dw_error err = {0};

	(void)state;
	put(path, ONE_RULE);
	assert_int_equal(dw_policy_watch_open(path, &watch, &err), 0);
	replace(NO_RULES "rulez: 1\n");
	assert_int_equal(dw_policy_watch_look(watch, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_non_null(strstr(err.text, "policy.yaml:3: rulez: unknown key"));
	assert_int_equal(dw_policy_watch_look(watch, &err), 0);
	assert_int_equal(rules_of(watch), 1);

	assert_int_equal(unlink(path), 0);
	assert_int_equal(dw_policy_watch_look(watch, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_int_equal(dw_policy_watch_look(watch, &err), 0);
	assert_int_equal(rules_of(watch), 1);

	put(path, NO_RULES);
	assert_int_equal(dw_policy_watch_look(watch, &err), 1);
	assert_int_equal(rules_of(watch), 0);
	dw_policy_watch_close(watch);
}

/* get() itself checks the file once a second: a valid and an invalid change. */
static void get_follows_the_file(void **state)
{
	struct dw_policy_watch *watch = NULL;
	uint64_t end = dw_now_ms() + 30000;
	struct dw_error err = {0}, problem = {0};
	struct dw_policy *policy;

	(void)state;
	put(path, NO_RULES);
	assert_int_equal(dw_policy_watch_open(path, &watch, &err), 0);
	replace(ONE_RULE);
	while (rules_of(watch) == 0 && dw_now_ms() < end)
		(void)usleep(20000);
	assert_int_equal(rules_of(watch), 1);

	replace("nonsense");
	while (problem.code == DW_OK && dw_now_ms() < end) {
		policy = dw_policy_watch_get(watch, &problem);
		assert_int_equal(dw_policy_n_rules(policy), 1);
		dw_policy_unref(policy);
		(void)usleep(20000);
	}
	assert_int_equal(problem.code, DW_E_INVALID);
	policy = dw_policy_watch_get(watch, &problem);
	assert_int_equal(problem.code, DW_OK);
	dw_policy_unref(policy);
	dw_policy_watch_close(watch);
}

static atomic_bool stop;

/* Whatever happens to the file, get() returns one of the two valid policies. */
static void *ask_again_and_again(void *arg)
{
	struct dw_policy_watch *watch = arg;
	struct dw_error problem;

	while (!atomic_load(&stop)) {
		struct dw_policy *policy = dw_policy_watch_get(watch, &problem);

		assert(dw_policy_n_rules(policy) <= 1);
		assert(problem.code == DW_OK || problem.code == DW_E_INVALID);
		dw_policy_unref(policy);
		(void)usleep(100);
	}
	return NULL;
}

static void many_threads_share_a_watch(void **state)
{
	struct dw_policy_watch *watch = NULL;
	struct dw_error err = {0};
	pthread_t threads[4];
	int changes = 0;

	(void)state;
	put(path, NO_RULES);
	assert_int_equal(dw_policy_watch_open(path, &watch, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_again_and_again,
		                                watch),
		                 0);
	for (int i = 0; i < 100; i++) {
		replace(i % 3 == 0 ? ONE_RULE : i % 3 == 1 ? "nonsense" : NO_RULES);
		changes += dw_policy_watch_look(watch, &err) > 0;
	}
	assert_true(changes > 50);
	atomic_store(&stop, true);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	dw_policy_watch_close(watch);
}

static void the_first_policy_must_be_valid(void **state)
{
	struct dw_policy_watch *watch = NULL;
	struct dw_error err = {0};

	(void)state;
	put(path, "nonsense");
	assert_int_equal(dw_policy_watch_open(path, &watch, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(dw_policy_watch_open(path, &watch, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_int_equal(dw_policy_watch_open("strikt", &watch, &err), -1);
	assert_null(watch);
}

static void a_profile_never_changes(void **state)
{
	struct dw_policy_watch *watch = NULL;
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_policy_watch_open("strict", &watch, &err), 0);
	assert_int_equal(dw_policy_watch_look(watch, &err), 0);
	assert_true(rules_of(watch) > 0);
	dw_policy_watch_close(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_file_is_read_again),
		cmocka_unit_test(an_invalid_file_keeps_the_policy_and_is_reported_once),
		cmocka_unit_test(get_follows_the_file),
		cmocka_unit_test(many_threads_share_a_watch),
		cmocka_unit_test(the_first_policy_must_be_valid),
		cmocka_unit_test(a_profile_never_changes),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
