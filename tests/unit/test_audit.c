/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "unit/audit_helpers.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "audit/audit.h"
#include "base/cleanup.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb2"

static void sha256_matches_the_published_test_vector(void **state)
{
	char hash[DW_AUDIT_HASH_MAX];

	(void)state;
	dw_audit_sha256("abc", 3, hash);
	assert_string_equal(
		hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* Computed independently, with Python's struct and hashlib: it must never change. */
static void the_hash_of_a_known_record_is_constant(void **state)
{
	struct dw_audit_record rec;
	char hash[DW_AUDIT_HASH_MAX];

	(void)state;
	dw_audit_record_init(&rec);
	rec.seq = 1;
	rec.time_us = 1700000000000000;
	rec.kind = dw_audit_text_of("intent");
	rec.run = dw_audit_text_of("00ff");
	rec.request = dw_audit_text_of("{}");
	rec.exit_code = 0;
	rec.prev_hash = dw_audit_text_of(dw_audit_genesis);
	dw_audit_record_hash(&rec, hash);
	assert_string_equal(
		hash, "249613fc734b3164cf446e4ace1762ed32d6fa34e0cb48e33a8db4afdf011604");
}

static void null_differs_from_zero_and_field_borders_are_hashed(void **state)
{
	struct dw_audit_record rec;
	char one[DW_AUDIT_HASH_MAX], two[DW_AUDIT_HASH_MAX];

	(void)state;
	dw_audit_record_init(&rec);
	dw_audit_record_hash(&rec, one);
	rec.exit_code = 0;
	dw_audit_record_hash(&rec, two);
	assert_string_not_equal(one, two);

	rec.status = dw_audit_text_of("");
	dw_audit_record_hash(&rec, one);
	assert_string_not_equal(one, two);

	rec.status = dw_audit_text_of("ab");
	rec.reason = dw_audit_text_of("c");
	dw_audit_record_hash(&rec, one);
	rec.status = dw_audit_text_of("a");
	rec.reason = dw_audit_text_of("bc");
	dw_audit_record_hash(&rec, two);
	assert_string_not_equal(one, two);
}

static void times_are_utc(void **state)
{
	char text[DW_AUDIT_TIME_MAX];

	(void)state;
	dw_audit_time_text(1700000000123456, text);
	assert_string_equal(text, "2023-11-14T22:13:20.123456Z");
	dw_audit_time_text(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000000Z");
	dw_audit_time_text(INT64_MAX, text);
	assert_string_equal(text, "?");
	dw_audit_time_text(INT64_MIN, text);
	assert_string_equal(text, "?");
}

static void a_described_request_can_be_run_again(void **state)
{
	static const char text[] =
		"{\"language\":\"python\",\"code\":\"print(1)\\n\",\"level\":\"process,container\","
		"\"image\":\"i\",\"runtime\":\"runsc\",\"pull\":\"never\","
		"\"stdin\":\"in\",\"args\":[\"a\",\"b c\"],\"env\":{\"X\":\"1\"},"
		"\"files\":{\"in.txt\":\"aGVsbG8=\"},\"collect\":[\"*.png\"],"
		"\"workspace\":\"/w\",\"writable_paths\":[\"/x\"],"
		"\"allowed_commands\":[\"ls\"],\"allowed_modules\":[],\"network\":\"full\","
		"\"limits\":{\"timeout_s\":2.5,\"memory_mb\":64,\"pids\":3},\"strict\":true}";
	autofree char *described = NULL;
	struct dw_error err = {0};
	struct dw_request req;

	(void)state;
	dw_request_init(&req);
	assert_int_equal(dw_request_from_json(&req, text, strlen(text), &err), 0);
	described = dw_audit_describe(&req);
	dw_request_finish(&req);
	assert_string_equal(described, text);
}

static void non_utf8_is_described_as_base64_and_large_data_as_a_digest(void **state)
{
	static const char *const args[] = {"\xff"};
	static const struct dw_env env[] = {{"\xfe", "v"}};
	autofree char *large = calloc(1, DW_AUDIT_WHOLE_MAX + 1), *described = NULL;
	struct dw_file_in files[] = {{"big", {large, DW_AUDIT_WHOLE_MAX + 1}}};
	struct dw_request req;

	(void)state;
	assert_non_null(large);
	dw_request_init(&req);
	req.language = "sh";
	req.code = (struct dw_bytes){"a\xff\0b", 4};
	req.args = args;
	req.n_args = 1;
	req.env = env;
	req.n_env = 1;
	req.files = files;
	req.n_files = 1;
	described = dw_audit_describe(&req);
	assert_string_equal(
		described,
		"{\"language\":\"sh\",\"code\":{\"base64\":\"Yf8AYg==\"},"
		"\"args\":[{\"base64\":\"/w==\"}],\"env\":{\"base64:/g==\":\"v\"},"
		"\"files\":{\"big\":{\"size\":65537,\"sha256\":"
		"\"3266304f31be278d06c3bd3eb9aa3e00c59bedec0a890de466568b0b90b0e01f\"}},"
		"\"network\":\"none\"}");
}

static void file_and_folder_are_private_to_their_owner(void **state)
{
	const struct place *place = *state;
	static const char *const suffixes[] = {"", "-wal", "-shm", "-locks"};
	mode_t mask = umask(0);
	struct stat st;
	char name[160];

	record_runs(place->path, 1);
	(void)umask(mask);
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", place->path, suffixes[i]);
		if (stat(name, &st) < 0)
			continue;
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	(void)snprintf(name, sizeof(name), "%s/state", place->folder);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

struct seen {
	size_t n;
	char statuses[512];
	char kinds[512];
};

static int see_run(void *user, const struct dw_audit_entry *entry)
{
	struct seen *seen = user;

	seen->n++;
	(void)strncat(seen->statuses, entry->status, 32);
	(void)strcat(seen->statuses, " ");
	assert_true(dw_audit_text_is(entry->intent->kind, "intent"));
	assert_true(dw_audit_text_is(entry->intent->who, "uid:7 (tester)"));
	return 0;
}

static int see_record(void *user, const struct dw_audit_record *rec)
{
	struct seen *seen = user;

	seen->n++;
	(void)strncat(seen->kinds, rec->kind.data, 32);
	(void)strcat(seen->kinds, " ");
	return 0;
}

static struct seen look(const char *path, const struct dw_audit_filter *filter)
{
	struct dw_audit_reader *reader = NULL;
	struct dw_error err = {0};
	struct seen seen = {0};

	if (dw_audit_reader_open(path, &reader, &err) < 0 ||
	    dw_audit_each_run(reader, filter, see_run, &seen, &err) < 0)
		fail_msg("%s", err.text);
	seen.n = 0;
	if (dw_audit_each_record(reader, filter, see_record, &seen, &err) < 0)
		fail_msg("%s", err.text);
	dw_audit_reader_close(reader);
	return seen;
}

static void runs_are_listed_with_their_status(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = open_audit(place->path);
	struct dw_audit_run run = {.id = ID_B, .who = "uid:7 (tester)"};
	struct dw_error why = {.code = DW_E_INVALID, .text = "no such language"};
	struct seen seen;

	intend(audit, ID_A, "1");
	seen = look(place->path, &(struct dw_audit_filter){0});
	assert_string_equal(seen.statuses, "running ");
	end_well(audit, ID_A);
	intend(audit, ID_B, "2");
	assert_int_equal(dw_audit_outcome(audit, &run, NULL, &why, NULL), 0);

	seen = look(place->path, &(struct dw_audit_filter){0});
	assert_string_equal(seen.statuses, "error success ");
	assert_string_equal(seen.kinds, "intent outcome intent outcome ");
	seen = look(place->path, &(struct dw_audit_filter){.limit = 1});
	assert_string_equal(seen.statuses, "error ");
	assert_string_equal(seen.kinds, "outcome ");
	seen = look(place->path, &(struct dw_audit_filter){.status = "success"});
	assert_string_equal(seen.statuses, "success ");
	seen = look(place->path, &(struct dw_audit_filter){.id = "aaaa"});
	assert_string_equal(seen.statuses, "success ");
	assert_int_equal(seen.n, 2);
	seen = look(place->path, &(struct dw_audit_filter){.id = "ab"});
	assert_int_equal(seen.n, 0);
	seen = look(place->path, &(struct dw_audit_filter){.since_us = INT64_MAX});
	assert_int_equal(seen.n, 0);
	seen = look(place->path, &(struct dw_audit_filter){.until_us = 1});
	assert_int_equal(seen.n, 0);
	dw_audit_close(audit);
}

static void a_run_has_one_outcome(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = open_audit(place->path);
	struct dw_audit_run run = {.id = ID_A, .who = "x"};
	struct dw_error why = {.code = DW_E_INTERNAL, .text = "x"}, err = {0};

	assert_int_equal(dw_audit_outcome(audit, &run, NULL, &why, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	intend(audit, ID_A, "1");
	end_well(audit, ID_A);
	assert_int_equal(dw_audit_outcome(audit, &run, NULL, &why, &err), -1);
	dw_audit_close(audit);
	assert_sound(place->path, 2);
}

static void the_runs_of_a_killed_process_are_interrupted(void **state)
{
	const struct place *place = *state;
	struct dw_audit *living = open_audit(place->path), *other;
	int ready[2], status;
	struct seen seen;
	pid_t pid;

	intend(living, ID_A, "1");
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* The child needs its own handle: the one above is its parent's. */
		other = open_audit(place->path);
		intend(other, ID_B, "2");
		(void)!write(ready[1], "x", 1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &status, 1), 1);
	seen = look(place->path, &(struct dw_audit_filter){0});
	assert_string_equal(seen.statuses, "running running ");

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	seen = look(place->path, &(struct dw_audit_filter){0});
	assert_string_equal(seen.statuses, "interrupted running ");
	assert_string_equal(seen.kinds, "intent intent ");

	/* The next writer records the interruption; runs of live processes stay running. */
	record_runs(place->path, 1);
	seen = look(place->path, &(struct dw_audit_filter){0});
	assert_string_equal(seen.statuses, "success interrupted running ");
	assert_string_equal(seen.kinds, "intent intent interrupted intent outcome ");
	end_well(living, ID_A);
	dw_audit_close(living);
	(void)close(ready[0]);
	(void)close(ready[1]);
	assert_sound(place->path, 6);
}

static int64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static size_t retain(struct dw_audit *audit, int64_t since_us, uint64_t bytes)
{
	struct dw_audit_keep keep = {.since_us = since_us, .bytes = bytes};
	struct dw_error err = {0};
	size_t removed = 0;

	if (dw_audit_retain(audit, &keep, &removed, &err) < 0)
		fail_msg("%s", err.text);
	return removed;
}

static void old_records_are_deleted_and_the_rest_verifies(void **state)
{
	const struct place *place = *state;
	struct dw_audit_verdict verdict;
	struct dw_audit *audit;
	int64_t then;

	record_runs(place->path, 5);
	then = now_us();
	record_runs(place->path, 3);
	audit = open_audit(place->path);
	assert_int_equal(retain(audit, 1, 0), 0);
	assert_sound(place->path, 16);
	assert_int_equal(retain(audit, then, 0), 10);
	assert_sound(place->path, 7);
	verdict = verify(place->path);
	assert_int_equal(verdict.first_seq, 11);
	assert_int_equal(verdict.head_seq, 17);

	/* Nothing is left to delete; later everything is, except for the new checkpoint. */
	assert_int_equal(retain(audit, then, 0), 0);
	assert_int_equal(retain(audit, now_us() + 1000000, 0), 7);
	assert_sound(place->path, 1);
	assert_int_equal(retain(audit, now_us() + 1000000, 0), 0);
	dw_audit_close(audit);
	record_runs(place->path, 1);
	assert_sound(place->path, 3);
}

static void rows_deleted_after_a_checkpoint_are_reported_missing(void **state)
{
	const struct place *place = *state;
	struct dw_audit_verdict verdict;
	struct dw_audit *audit;
	int64_t then;

	record_runs(place->path, 2);
	then = now_us();
	record_runs(place->path, 2);
	audit = open_audit(place->path);
	assert_int_equal(retain(audit, then, 0), 4);
	dw_audit_close(audit);
	assert_int_equal(tamper(place->path, "DELETE FROM record WHERE seq = 5"),
	                 SQLITE_CONSTRAINT);
	assert_int_equal(tamper(place->path,
	                        WITHOUT_TRIGGERS "DELETE FROM record WHERE seq = 5"),
	                 SQLITE_OK);
	verdict = verify(place->path);
	assert_int_equal(verdict.fault, DW_AUDIT_MISSING);
	assert_int_equal(verdict.seq, 5);
}

static void retention_keeps_the_intent_of_an_active_run(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = open_audit(place->path);

	record_runs(place->path, 2);
	intend(audit, ID_A, "1");
	record_runs(place->path, 2);
	assert_int_equal(retain(audit, now_us() + 1000000, 0), 4);
	end_well(audit, ID_A);
	assert_sound(place->path, 7);
	dw_audit_close(audit);
}

static int64_t used(const char *path)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	int64_t pages;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL),
	                 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
	                                    "SELECT page_count - freelist_count FROM "
	                                    "pragma_page_count, pragma_freelist_count",
	                                    -1, &stmt, NULL),
	                 SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	pages = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	return pages * 4096;
}

static void a_file_above_its_size_loses_its_oldest_records(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit;

	record_runs(place->path, 400);
	assert_true(used(place->path) > 300000);
	audit = open_audit(place->path);
	assert_int_equal(retain(audit, 0, 100000000), 0);
	assert_true(retain(audit, 0, 200000) > 100);
	assert_true(used(place->path) <= 220000);
	assert_true(used(place->path) >= 100000);
	dw_audit_close(audit);
	assert_int_equal(verify(place->path).fault, DW_AUDIT_SOUND);
}

static void the_error_names_a_path_that_cannot_be_written(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = NULL;
	struct dw_error err = {0};
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/file/audit.db", place->folder);
	path[strlen(path) - strlen("/audit.db")] = '\0';
	(void)fclose(fopen(path, "w"));
	path[strlen(path)] = '/';
	assert_int_equal(dw_audit_open(path, 0, &audit, &err), -1);
	assert_non_null(strstr(err.text, place->folder));
	assert_int_equal(dw_audit_open(place->folder, 0, &audit, &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_null(audit);
	dw_audit_close(NULL);
	dw_audit_reader_close(NULL);
}

/* RLIMIT_FSIZE keeps every file from growing, as a full disk would. */
static void a_full_disk_is_an_error_and_keeps_the_chain_sound(void **state)
{
	const struct place *place = *state;
	struct dw_audit *audit = open_audit(place->path);
	struct dw_audit_run run = {.id = ID_A, .who = "uid:7 (tester)"};
	struct rlimit before, full;
	struct dw_error err = {0};
	struct dw_request req;

	dw_request_init(&req);
	req.command = "true";
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	full = (struct rlimit){.rlim_cur = 1, .rlim_max = before.rlim_max};
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	assert_int_equal(dw_audit_intent(audit, &run, &req, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err.code, DW_E_INTERNAL);
	assert_non_null(strstr(err.text, "cannot write the audit file"));

	intend(audit, ID_A, "1");
	end_well(audit, ID_A);
	dw_audit_close(audit);
	assert_sound(place->path, 2);
}

static void the_default_path_follows_the_environment(void **state)
{
	char path[DW_AUDIT_PATH_MAX];

	(void)state;
	assert_int_equal(setenv("HOME", "/h", 1), 0);
	assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
	assert_int_equal(dw_audit_default_path(path, NULL), 0);
	assert_string_equal(path, "/h/.local/state/dewar/audit.db");
	assert_int_equal(setenv("XDG_STATE_HOME", "relative", 1), 0);
	assert_int_equal(dw_audit_default_path(path, NULL), 0);
	assert_string_equal(path, "/h/.local/state/dewar/audit.db");
	assert_int_equal(setenv("XDG_STATE_HOME", "/s", 1), 0);
	assert_int_equal(dw_audit_default_path(path, NULL), 0);
	assert_string_equal(path, "/s/dewar/audit.db");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_matches_the_published_test_vector),
		cmocka_unit_test(the_hash_of_a_known_record_is_constant),
		cmocka_unit_test(null_differs_from_zero_and_field_borders_are_hashed),
		cmocka_unit_test(times_are_utc),
		cmocka_unit_test(a_described_request_can_be_run_again),
		cmocka_unit_test(
			non_utf8_is_described_as_base64_and_large_data_as_a_digest),
		TEST(file_and_folder_are_private_to_their_owner),
		TEST(runs_are_listed_with_their_status),
		TEST(a_run_has_one_outcome),
		TEST(the_runs_of_a_killed_process_are_interrupted),
		TEST(old_records_are_deleted_and_the_rest_verifies),
		TEST(rows_deleted_after_a_checkpoint_are_reported_missing),
		TEST(retention_keeps_the_intent_of_an_active_run),
		TEST(a_file_above_its_size_loses_its_oldest_records),
		TEST(the_error_names_a_path_that_cannot_be_written),
		TEST(a_full_disk_is_an_error_and_keeps_the_chain_sound),
		cmocka_unit_test(the_default_path_follows_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
