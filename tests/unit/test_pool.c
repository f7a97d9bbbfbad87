/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the pool with real zygotes and real cells. */
#undef NDEBUG
#include "dewar/pool.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"

#define WARM_UP_MS 30000U

/* Depth in pid namespaces, this process being at 1: see find_python(). */
#define ZYGOTE 2U
#define PROGRAM 3U

static const struct dw_template_config python = {.name = "python", .language = "python"};

static struct dw_pool *new_pool(struct dw_pool_config config, unsigned standby)
{
	struct dw_pool *pool = NULL;
	struct dw_error err = {0};

	if (!config.templates) {
		config.templates = &python;
		config.n_templates = 1;
	}
	if (dw_pool_new(&config, &pool, &err) < 0)
		fail_msg("%s", err.text);
	if (dw_pool_warm_up(pool, "python", standby, WARM_UP_MS, &err) < 0)
		fail_msg("%s", err.text);
	return pool;
}

static struct dw_result *run_request(struct dw_pool *pool, struct dw_request *req,
                                     const char *code)
{
	struct dw_result *res = NULL;
	struct dw_error err = {0};

	req->language = "python";
	req->code = (struct dw_bytes){code, strlen(code)};
	if (dw_pool_run(pool, req, &res, &err) < 0)
		fail_msg("%s", err.text);
	return res;
}

static struct dw_result *run(struct dw_pool *pool, const char *code)
{
	struct dw_request req;

	dw_request_init(&req);
	return run_request(pool, &req, code);
}

/* Checks that the code prints this output in a warm run. */
static void runs_warm(struct dw_pool *pool, const char *code, const char *output)
{
	struct dw_result *res = run(pool, code);

	if (!res->out[DW_STDOUT] || strcmp(res->out[DW_STDOUT], output) != 0)
		fail_msg("%s%s", res->out[DW_STDERR] ? res->out[DW_STDERR] : "",
		         res->hint);
	assert_true(res->warm);
	dw_result_free(res);
}

static struct dw_template_stats stats_of(struct dw_pool *pool)
{
	struct dw_template_stats stats;

	dw_pool_stats(pool, 0, &stats);
	return stats;
}

static void pause_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	(void)nanosleep(&t, NULL);
}

static bool read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(text, 1, size - 1, file) : 0;

	if (file)
		(void)fclose(file);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[n] = '\0';
	return n > 0;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], text[4096];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	at = read_text(path, text, sizeof(text)) ? strstr(text, "\nPPid:") : NULL;
	return at ? (pid_t)strtol(at + strlen("\nPPid:"), NULL, 10) : 0;
}

/* Returns in how many pid namespaces the process is, beginning with ours. */
static unsigned depth_of(pid_t pid)
{
	char path[64], text[4096];
	const char *at;
	unsigned n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	at = read_text(path, text, sizeof(text)) ? strstr(text, "\nNSpid:") : NULL;
	for (at = at ? at + strlen("\nNSpid:") : ""; *at && *at != '\n'; at++)
		n += *at == '\t';
	return n;
}

static bool is_ours(pid_t pid)
{
	for (int i = 0; i < 5 && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid == getpid())
			return true;
	}
	return false;
}

/*
 * Returns the interpreter of a zygote that this process started (depth 2), or a program
 * that the zygote forked into a cell (depth 3); 0 if neither exists.
 */
static pid_t find_python(unsigned depth)
{
	autodir DIR *proc = opendir("/proc");
	char path[300], text[512];
	struct dirent *d;
	pid_t found = 0;

	while ((d = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);

		(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
		if (pid > 0 && is_ours(pid) && read_text(path, text, sizeof(text)) &&
		    strstr(text, "/tmp/.dewar/zygote.py") && depth_of(pid) == depth)
			found = pid;
	}
	return found;
}

static size_t count_open(void)
{
	autodir DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	return n;
}

static size_t count_children(void)
{
	char path[64], text[4096];
	FILE *file;
	size_t n, spaces = 0;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	n = fread(text, 1, sizeof(text), file);
	(void)fclose(file);
	for (size_t i = 0; i < n; i++)
		spaces += text[i] == ' ';
	return spaces;
}

/* ---- standby, forked and cold runs ---- */

static void a_run_uses_a_standby_cell(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 1);

	(void)state;
	runs_warm(pool, "print(6 * 7)", "42\n");
	assert_int_equal(stats_of(pool).runs_standby, 1);
	dw_pool_free(pool);
}

static void without_a_standby_cell_the_zygote_forks(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){.fork_only = true}, 0);

	(void)state;
	for (int i = 0; i < 12; i++)
		runs_warm(pool, "print(6 * 7)", "42\n");
	assert_int_equal(stats_of(pool).runs_forked, 12);
	assert_int_equal(stats_of(pool).runs_standby, 0);
	dw_pool_free(pool);
}

static void a_request_that_cannot_be_warm_runs_cold(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 1);
	const struct dw_env env = {"PYTHONHASHSEED", "1"};
	struct dw_result *res;
	struct dw_request req;

	(void)state;
	dw_request_init(&req);
	req.env = &env;
	req.n_env = 1;
	res = run_request(pool, &req, "import os; print(os.environ['PYTHONHASHSEED'])");
	assert_string_equal(res->out[DW_STDOUT], "1\n");
	assert_false(res->warm);
	dw_result_free(res);
	assert_int_equal(stats_of(pool).runs_cold, 1);
	dw_pool_free(pool);
}

static void a_request_with_other_limits_gets_its_own_cell(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 1);
	struct dw_result *res;
	struct dw_request req;

	(void)state;
	dw_request_init(&req);
	req.limits.files = 77;
	req.limits.tmp_bytes = 8 << 20;
	req.workspace = "/usr/share";
	res = run_request(pool, &req,
	                  "import os, resource\n"
	                  "print(resource.getrlimit(resource.RLIMIT_NOFILE),\n"
	                  "      os.statvfs('/tmp').f_blocks * 4096, os.getcwd())");
	assert_string_equal(res->out[DW_STDOUT], "(77, 77) 8388608 /work\n");
	assert_true(res->warm);
	assert_int_equal(stats_of(pool).runs_forked, 1);
	dw_result_free(res);
	dw_pool_free(pool);
}

/* ---- isolation between runs ---- */

static void two_forks_have_different_random_numbers(void **state)
{
	static const char code[] =
		"import random, secrets, uuid, tempfile, os\n"
		"print(random.random(), secrets.token_hex(), uuid.uuid1(), uuid.uuid4(),\n"
		"      tempfile.mktemp(), os.urandom(8))";
	const char *const modules[] = {"random", "secrets", "uuid", "tempfile", NULL};
	const struct dw_template_config loaded = {.name = "python",
	                                          .language = "python",
	                                          .preload = modules,
	                                          .standby = 2};
	struct dw_pool *pool = new_pool((struct dw_pool_config){.templates = &loaded,
	                                                        .n_templates = 1},
	                                2);
	struct dw_result *a = run(pool, code), *b = run(pool, code);
	char *save_a, *save_b;
	char *word_a = strtok_r(a->out[DW_STDOUT], " ", &save_a);
	char *word_b = strtok_r(b->out[DW_STDOUT], " ", &save_b);
	size_t n = 0;

	(void)state;
	assert_true(a->warm && b->warm);
	for (; word_a && word_b; n++) {
		assert_string_not_equal(word_a, word_b);
		word_a = strtok_r(NULL, " ", &save_a);
		word_b = strtok_r(NULL, " ", &save_b);
	}
	assert_int_equal(n, 6);
	dw_result_free(a);
	dw_result_free(b);
	dw_pool_free(pool);
}

static void a_program_inherits_nothing_of_the_zygote(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 1);

	(void)state;
	/* Descriptor 3 is the listing itself. */
	runs_warm(pool, "import os; print(os.listdir('/proc/self/fd'))",
	          "['0', '1', '2', '3']\n");
	runs_warm(pool, "import os; print(sorted(os.listdir('/tmp')))", "['main.py']\n");
	runs_warm(pool, "import os; print(os.getppid(), sorted(os.environ))",
	          "1 ['HOME', 'LANG', 'OMP_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', "
	          "'PYTHONUNBUFFERED', 'TMPDIR', 'USER']\n");
	dw_pool_free(pool);
}

static void a_standby_cell_takes_long_code(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 1);
	char *code = malloc(300000);

	(void)state;
	memset(code, '#', 299998);
	memcpy(code, "print(len(open(__file__).read()))\n", 34);
	memcpy(code + 299998, "\n", 2);
	runs_warm(pool, code, "299999\n");
	free(code);
	dw_pool_free(pool);
}

/* ---- failures ---- */

static void a_zygote_that_is_killed_is_replaced(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){.fork_only = true}, 0);
	struct dw_result *res;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(kill(find_python(ZYGOTE), SIGKILL), 0);
		/* Warm or cold: no request is lost. */
		res = run(pool, "print(1)");
		assert_int_equal(res->status, DW_STATUS_SUCCESS);
		dw_result_free(res);
		for (int ms = 0; stats_of(pool).zygotes < (uint64_t)i + 2; ms += 20) {
			assert_true(ms < 20000);
			pause_ms(20);
		}
	}
	runs_warm(pool, "print(1)", "1\n");
	dw_pool_free(pool);
}

static void *kill_later(void *arg)
{
	pause_ms(300);
	(void)kill(*(pid_t *)arg, SIGKILL);
	return NULL;
}

static void runs_in_progress_outlive_their_zygote(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 1);
	pid_t zygote = find_python(ZYGOTE);
	struct dw_result *res;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, kill_later, &zygote), 0);
	res = run(pool, "import time; time.sleep(1); print('still here')");
	(void)pthread_join(thread, NULL);
	assert_string_equal(res->out[DW_STDOUT], "still here\n");
	assert_true(res->warm);
	dw_result_free(res);
	dw_pool_free(pool);
}

static void a_stuck_zygote_delays_a_run_only_briefly(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){.fork_only = true}, 0);
	pid_t zygote = find_python(ZYGOTE);
	struct timespec before, after;
	struct dw_result *res;

	(void)state;
	assert_int_equal(kill(zygote, SIGSTOP), 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	res = run(pool, "print(1)");
	(void)clock_gettime(CLOCK_MONOTONIC, &after);
	assert_int_equal(res->status, DW_STATUS_SUCCESS);
	assert_true(after.tv_sec - before.tv_sec < 10);
	dw_result_free(res);
	for (int ms = 0; stats_of(pool).zygotes < 2; ms += 20) {
		assert_true(ms < 20000);
		pause_ms(20);
	}
	runs_warm(pool, "print(1)", "1\n");
	(void)kill(zygote, SIGCONT);
	dw_pool_free(pool);
}

static void a_pool_whose_zygote_stalls_is_warm_again(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 1);
	pid_t zygote = find_python(ZYGOTE);
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(kill(zygote, SIGSTOP), 0);
	/* The keeper asks the stopped zygote for another cell, and waits in vain. */
	runs_warm(pool, "print(1)", "1\n");
	for (int ms = 0; stats_of(pool).zygotes < 2 && ms < 60000; ms += 20)
		pause_ms(20);
	(void)kill(zygote, SIGCONT);
	if (dw_pool_warm_up(pool, "python", 1, WARM_UP_MS, &err) < 0)
		fail_msg("%s", err.text);
	runs_warm(pool, "print(1)", "1\n");
	dw_pool_free(pool);
}

static void a_dead_standby_cell_is_not_used(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 2);
	struct dw_result *res;
	pid_t pid;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dw_pool_warm_up(pool, "python", 2, WARM_UP_MS, NULL), 0);
		pid = find_python(PROGRAM);
		assert_true(pid > 0);
		assert_int_equal(kill(pid, SIGKILL), 0);
		pause_ms(50);
		res = run(pool, "print(1)");
		assert_int_equal(res->status, DW_STATUS_SUCCESS);
		assert_true(res->warm);
		dw_result_free(res);
	}
	dw_pool_free(pool);
}

static void a_template_with_an_unknown_language_is_refused(void **state)
{
	const struct dw_template_config wrong = {.name = "nonsense", .language = "cobol"};
	const struct dw_pool_config config = {.templates = &wrong, .n_templates = 1};
	struct dw_pool *pool = NULL;
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_pool_new(&config, &pool, &err), -1);
	assert_non_null(strstr(err.text, "cobol"));
}

/* ---- size of the pool ---- */

static void a_template_with_too_many_modules_is_refused(void **state)
{
	static char name[201];
	const char *modules[65] = {NULL};
	struct dw_template_config config = {.name = "odd",
	                                    .language = "python",
	                                    .preload = modules};
	struct dw_pool_config pool_config = {.templates = &config, .n_templates = 1};
	struct dw_pool *pool = NULL;
	struct dw_error err = {0};

	(void)state;
	memset(name, 'm', sizeof(name) - 1);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(modules); i++)
		modules[i] = name;
	assert_int_equal(dw_pool_new(&pool_config, &pool, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_string_equal(err.text, "template odd: too many modules to load");
}

static void memory_limits_the_number_of_standby_cells(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){.memory_bytes = 16 << 20},
	                                1);
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_pool_warm_up(pool, "python", 200, WARM_UP_MS, &err), -1);
	assert_non_null(strstr(err.text, "memory"));
	assert_true(stats_of(pool).standby >= 1 && stats_of(pool).standby < 100);
	runs_warm(pool, "print(1)", "1\n");
	dw_pool_free(pool);
}

static void an_idle_template_is_released(void **state)
{
	struct dw_pool *pool = NULL;
	const struct dw_pool_config config = {
		.templates = &python,
		.n_templates = 1,
		.idle_ms = 1500,
	};
	struct dw_result *res;

	(void)state;
	assert_int_equal(dw_pool_new(&config, &pool, NULL), 0);
	res = run(pool, "print(1)"); /* cold; the template warms up from now on */
	dw_result_free(res);
	for (int ms = 0; stats_of(pool).standby == 0; ms += 20) {
		assert_true(ms < 20000);
		pause_ms(20);
	}
	for (int ms = 0; stats_of(pool).warm; ms += 20) {
		assert_true(ms < 20000);
		pause_ms(20);
	}
	res = run(pool, "print(1)");
	assert_int_equal(res->status, DW_STATUS_SUCCESS);
	dw_result_free(res);
	dw_pool_free(pool);
}

static void *run_some(void *arg)
{
	char code[64], output[16];

	for (int i = 0; i < 15; i++) {
		struct dw_result *res;

		(void)snprintf(code, sizeof(code), "print(%d)", i);
		(void)snprintf(output, sizeof(output), "%d\n", i);
		res = run(arg, code);
		if (res->status != DW_STATUS_SUCCESS ||
		    strcmp(res->out[DW_STDOUT], output) != 0)
			return (void *)"wrong";
		dw_result_free(res);
	}
	return NULL;
}

static void many_threads_share_a_pool(void **state)
{
	struct dw_pool *pool = new_pool((struct dw_pool_config){0}, 4);
	pthread_t threads[8];
	void *wrong;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_some, pool), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		(void)pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	dw_pool_free(pool);
}

static void no_descriptor_and_no_process_is_left(void **state)
{
	size_t open = count_open(), children = count_children();

	(void)state;
	for (int i = 0; i < 3; i++)
		without_a_standby_cell_the_zygote_forks(state);
	many_threads_share_a_pool(state);
	assert_int_equal(count_open(), open);
	assert_int_equal(count_children(), children);
	assert_int_equal(find_python(ZYGOTE), 0);
	assert_int_equal(find_python(PROGRAM), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_uses_a_standby_cell),
		cmocka_unit_test(without_a_standby_cell_the_zygote_forks),
		cmocka_unit_test(a_request_that_cannot_be_warm_runs_cold),
		cmocka_unit_test(a_request_with_other_limits_gets_its_own_cell),
		cmocka_unit_test(two_forks_have_different_random_numbers),
		cmocka_unit_test(a_program_inherits_nothing_of_the_zygote),
		cmocka_unit_test(a_standby_cell_takes_long_code),
		cmocka_unit_test(a_zygote_that_is_killed_is_replaced),
		cmocka_unit_test(runs_in_progress_outlive_their_zygote),
		cmocka_unit_test(a_stuck_zygote_delays_a_run_only_briefly),
		cmocka_unit_test(a_pool_whose_zygote_stalls_is_warm_again),
		cmocka_unit_test(a_dead_standby_cell_is_not_used),
		cmocka_unit_test(a_template_with_an_unknown_language_is_refused),
		cmocka_unit_test(a_template_with_too_many_modules_is_refused),
		cmocka_unit_test(memory_limits_the_number_of_standby_cells),
		cmocka_unit_test(an_idle_template_is_released),
		cmocka_unit_test(many_threads_share_a_pool),
		cmocka_unit_test(no_descriptor_and_no_process_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
