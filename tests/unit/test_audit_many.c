/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "unit/audit_helpers.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"

#define PROCESSES 8
#define THREADS 8

static void eight_processes_write_one_chain(void **state)
{
	const struct place *place = *state;
	pid_t pids[PROCESSES];
	int status;

	/* None of them finds a file: they all try to create it. */
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			record_runs(place->path, 25);
			_exit(0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	assert_sound(place->path, PROCESSES * 50);
	assert_int_equal(verify(place->path).open, 0);
}

static void *write_many(void *user)
{
	struct dw_audit *audit = user;
	char id[DW_ID_MAX];

	for (int i = 0; i < 100; i++) {
		assert_int_equal(dw_id_make(id, NULL), 0);
		intend(audit, id, "pass");
		end_well(audit, id);
	}
	return NULL;
}

static void eight_threads_write_one_chain(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = open_audit(place->path);
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, audit), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	dw_audit_close(audit);
	assert_sound(place->path, THREADS * 200);
}

/* A duplicate id fails alone, without the other records of its transaction. */
static void *write_and_fail(void *user)
{
	struct dw_audit *audit = user;
	struct dw_audit_run twice = {.id = "0000000000000000000000000000000d"};
	struct dw_request req;
	char id[DW_ID_MAX];

	dw_request_init(&req);
	req.command = "true";
	for (int i = 0; i < 50; i++) {
		assert_int_equal(dw_audit_intent(audit, &twice, &req, NULL), -1);
		assert_int_equal(dw_id_make(id, NULL), 0);
		intend(audit, id, "pass");
		end_well(audit, id);
	}
	return NULL;
}

static void a_bad_record_does_not_fail_the_others(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = open_audit(place->path);
	pthread_t threads[THREADS];

	intend(audit, "0000000000000000000000000000000d", "pass");
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_and_fail, audit),
		                 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	end_well(audit, "0000000000000000000000000000000d");
	dw_audit_close(audit);
	assert_sound(place->path, THREADS * 100 + 2);
}

/* Writers are killed while they write, again and again: the chain stays sound. */
static void killed_writers_leave_a_sound_chain(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit;
	struct dw_error err = {0};
	struct timespec pause;
	size_t n = 0;
	int status;
	pid_t pid;

	for (int i = 0; i < 12; i++) {
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			for (;;)
				record_runs(place->path, 1000);
		}
		pause = (struct timespec){.tv_nsec = 3000000L * (i + 1)};
		(void)nanosleep(&pause, NULL);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	audit = open_audit(place->path);
	if (dw_audit_recover(audit, &n, &err) < 0)
		fail_msg("%s", err.text);
	dw_audit_close(audit);
	assert_int_equal(verify(place->path).fault, DW_AUDIT_SOUND);
	assert_int_equal(verify(place->path).open, 0);
}

static void readers_and_retention_do_not_disturb_writers(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = open_audit(place->path);
	struct dw_audit_keep keep = {.bytes = 60000};
	struct dw_error err = {0};
	pthread_t threads[2];
	size_t removed, all = 0;

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, audit), 0);
	for (int i = 0; i < 20; i++) {
		if (dw_audit_retain(audit, &keep, &removed, &err) < 0)
			fail_msg("%s", err.text);
		all += removed;
		assert_int_equal(verify(place->path).fault, DW_AUDIT_SOUND);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	if (dw_audit_retain(audit, &keep, &removed, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(all + removed > 0);
	dw_audit_close(audit);
	assert_int_equal(verify(place->path).fault, DW_AUDIT_SOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(eight_processes_write_one_chain),
		TEST(eight_threads_write_one_chain),
		TEST(a_bad_record_does_not_fail_the_others),
		TEST(killed_writers_leave_a_sound_chain),
		TEST(readers_and_retention_do_not_disturb_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
