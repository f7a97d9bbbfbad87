/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "keys/keys.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/path.h"

struct place {
	char folder[64];
	char path[128];
};

static int make_place(void **state)
{
	static struct place place;

	(void)strcpy(place.folder, "/tmp/dewar-test-keys-XXXXXX");
	if (!mkdtemp(place.folder))
		return -1;
	(void)snprintf(place.path, sizeof(place.path), "%s/a/state/keys.db",
	               place.folder);
	*state = &place;
	return 0;
}

static int remove_place(void **state)
{
	const struct place *place = *state;
	autoclose int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dw_path_remove_tree(tmp, place->folder + strlen("/tmp/"));
}

static struct dw_keys *open_keys(void **state)
{
	const struct place *place = *state;
	struct dw_keys *keys = NULL;
	struct dw_error err = {0};

	if (dw_keys_open(place->path, &keys, &err) < 0)
		fail_msg("%s", err.text);
	return keys;
}

static struct dw_key sample(const char *name)
{
	struct dw_key key = {.grant = {.scopes = DW_SCOPE_RUN | DW_SCOPE_AUDIT,
	                               .concurrent = 3,
	                               .runs_per_minute = 4000000000U,
	                               .cpu_s_per_day = 5,
	                               .levels = "container,docker",
	                               .max = {1, 2, 3, 4, 5, 6, INT64_MAX, 0}}};

	(void)snprintf(key.name, sizeof(key.name), "%s", name);
	return key;
}

static struct dw_key add(struct dw_keys *keys, const char *name,
                         char text[DW_KEY_TEXT_MAX])
{
	struct dw_key key = sample(name);
	struct dw_error err = {0};

	if (dw_keys_add(keys, &key, text, &err) < 0)
		fail_msg("%s", err.text);
	return key;
}

static void tamper(void **state, const char *sql)
{
	const struct place *place = *state;
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(place->path, &db, SQLITE_OPEN_READWRITE, NULL),
	                 SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(db);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void a_key_is_accepted_and_has_its_grant(void **state)
{
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX] = "";
	struct dw_key made, found = {0};

	made = add(keys, "ci", text);
	assert_true(made.created_us > 0);
	assert_int_equal(made.revoked_us, 0);
	assert_true(dw_keys_check(keys, text, &found));
	assert_memory_equal(&found.grant.max, &made.grant.max, sizeof(found.grant.max));
	assert_string_equal(found.id, made.id);
	assert_string_equal(found.name, "ci");
	assert_string_equal(found.grant.levels, "container,docker");
	assert_int_equal(found.grant.scopes, DW_SCOPE_RUN | DW_SCOPE_AUDIT);
	assert_int_equal(found.grant.concurrent, 3);
	assert_int_equal(found.grant.runs_per_minute, 4000000000U);
	assert_int_equal(found.grant.cpu_s_per_day, 5);
	assert_int_equal(found.created_us, made.created_us);
	dw_keys_close(keys);

	/* It is still accepted after the file is opened again. */
	keys = open_keys(state);
	assert_true(dw_keys_check(keys, text, &found));
	dw_keys_close(keys);
	dw_keys_close(NULL);
}

static void the_text_of_a_key_is_its_id_and_32_random_bytes(void **state)
{
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX], other[DW_KEY_TEXT_MAX], padded[45];
	unsigned char bytes[48];
	struct dw_key key;
	size_t len = 0;

	for (int n = 0; n < 50; n++) {
		key = add(keys, "ci", text);
		assert_int_equal(strlen(text), 58);
		assert_memory_equal(text, "dewar_", 6);
		assert_memory_equal(text + 6, key.id, 8);
		assert_int_equal(strspn(key.id, "0123456789abcdef"), 8);
		assert_int_equal(text[14], '_');
		(void)snprintf(padded, sizeof(padded), "%s=", text + 15);
		for (char *p = padded; *p != '\0'; p++)
			*p = *p == '-' ? '+' : *p == '_' ? '/' : *p;
		assert_int_equal(dw_base64_decode(padded, 44, bytes, &len), 0);
		assert_int_equal(len, 32);
		(void)add(keys, "ci", other);
		assert_string_not_equal(text + 15, other + 15);
	}
	dw_keys_close(keys);
}

static void the_files_do_not_contain_the_secret(void **state)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	const struct place *place = *state;
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX], path[256];
	static char data[1 << 20];

	(void)add(keys, "ci", text);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		autoclose int fd = -1;
		ssize_t n;

		(void)snprintf(path, sizeof(path), "%s%s", place->path, ends[i]);
		assert_int_equal(mode_of(path), 0600);
		/* Read in another process, since closing the file here would drop SQLite's locks. */
		if (fork() == 0) {
			fd = open(path, O_RDONLY | O_CLOEXEC);
			n = read(fd, data, sizeof(data));
			_exit(n <= 0 || memmem(data, (size_t)n, text + 15, 43) ||
			      memmem(data, (size_t)n, text + 15, 20));
		} else {
			int status = -1;

			(void)wait(&status);
			assert_int_equal(status, 0);
		}
	}
	(void)snprintf(path, sizeof(path), "%s/a/state", place->folder);
	assert_int_equal(mode_of(path), 0700);
	dw_keys_close(keys);
}

static void any_other_text_is_refused(void **state)
{
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX], other[DW_KEY_TEXT_MAX], wrong[200];
	struct dw_key found = {.name = "untouched"};

	(void)add(keys, "ci", text);
	(void)add(keys, "cd", other);

	/* Change, remove or insert any one character. */
	for (size_t i = 0; i < strlen(text); i++) {
		(void)strcpy(wrong, text);
		wrong[i] = wrong[i] == 'a' ? 'b' : 'a';
		assert_false(dw_keys_check(keys, wrong, &found));
		memmove(wrong + i, text + i + 1, strlen(text + i));
		assert_false(dw_keys_check(keys, wrong, &found));
		(void)snprintf(wrong, sizeof(wrong), "%.*sx%s", (int)i, text, text + i);
		assert_false(dw_keys_check(keys, wrong, &found));
	}
	/* The id of one key with the secret of the other. */
	(void)snprintf(wrong, sizeof(wrong), "%.15s%s", text, other + 15);
	assert_false(dw_keys_check(keys, wrong, &found));
	(void)snprintf(wrong, sizeof(wrong), "%sx", text);
	assert_false(dw_keys_check(keys, wrong, &found));
	(void)snprintf(wrong, sizeof(wrong), "DEWAR%s", text + 5);
	assert_false(dw_keys_check(keys, wrong, &found));
	assert_false(dw_keys_check(keys, "", &found));
	memset(wrong, 'A', sizeof(wrong) - 1);
	wrong[sizeof(wrong) - 1] = '\0';
	assert_false(dw_keys_check(keys, wrong, &found));
	assert_string_equal(found.name, "untouched");
	dw_keys_close(keys);
}

static void a_revocation_applies_at_once_in_all_handles(void **state)
{
	struct dw_keys *daemon = open_keys(state), *cli = open_keys(state);
	char text[DW_KEY_TEXT_MAX], other[DW_KEY_TEXT_MAX];
	struct dw_error err = {0};
	struct dw_key key, found;

	for (int n = 0; n < 20; n++) {
		key = add(cli, "ci", text);
		(void)add(daemon, "mine", other);
		assert_true(dw_keys_check(daemon, text, &found));
		assert_true(dw_keys_check(cli, other, &found));
		assert_int_equal(dw_keys_revoke(cli, key.id, &err), 0);
		assert_false(dw_keys_check(daemon, text, &found));
		assert_false(dw_keys_check(cli, text, &found));
		/* Revoking again is no error. */
		assert_int_equal(dw_keys_revoke(daemon, key.id, &err), 0);
		assert_true(dw_keys_check(daemon, other, &found));
	}
	assert_int_equal(dw_keys_revoke(cli, "00000000x", &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_int_equal(dw_keys_revoke(cli, "", &err), -1);
	dw_keys_close(daemon);
	dw_keys_close(cli);
}

static void a_revocation_by_another_process_applies(void **state)
{
	const struct place *place = *state;
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX];
	struct dw_key key, found;
	int status = -1;

	key = add(keys, "ci", text);
	assert_true(dw_keys_check(keys, text, &found));
	if (fork() == 0) {
		struct dw_keys *own = NULL;

		_exit(dw_keys_open(place->path, &own, NULL) < 0 ||
		      dw_keys_revoke(own, key.id, NULL) < 0);
	}
	(void)wait(&status);
	assert_int_equal(status, 0);
	assert_false(dw_keys_check(keys, text, &found));
	dw_keys_close(keys);
}

static void revoking_the_last_key_still_requires_a_key(void **state)
{
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX];
	struct dw_error err = {0};
	struct dw_key key;

	assert_false(dw_keys_any(keys));
	key = add(keys, "ci", text);
	assert_true(dw_keys_any(keys));
	assert_int_equal(dw_keys_revoke(keys, key.id, &err), 0);
	assert_true(dw_keys_any(keys));
	dw_keys_close(keys);
}

struct seen {
	char names[200];
	unsigned revoked;
	int stop_after;
};

static int see(void *user, const struct dw_key *key)
{
	struct seen *seen = user;

	(void)strcat(seen->names, key->name);
	seen->revoked += key->revoked_us != 0;
	return --seen->stop_after == 0;
}

static void keys_are_listed_in_the_order_of_creation(void **state)
{
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX], name[2] = "a";
	struct seen seen = {0};
	struct dw_error err = {0};
	struct dw_key key = {0};

	assert_int_equal(dw_keys_each(keys, see, &seen, &err), 0);
	assert_string_equal(seen.names, "");
	for (int i = 0; i < 20; i++, name[0]++) {
		key = add(keys, name, text);
		(void)usleep(2);
	}
	assert_int_equal(dw_keys_revoke(keys, key.id, &err), 0);
	assert_int_equal(dw_keys_each(keys, see, &seen, &err), 0);
	assert_string_equal(seen.names, "abcdefghijklmnopqrst");
	assert_int_equal(seen.revoked, 1);
	seen = (struct seen){.stop_after = 3};
	assert_int_equal(dw_keys_each(keys, see, &seen, &err), 0);
	assert_string_equal(seen.names, "abc");
	dw_keys_close(keys);
}

static void an_invalid_key_is_refused(void **state)
{
	struct dw_keys *keys = open_keys(state);
	char text[DW_KEY_TEXT_MAX] = "untouched";
	struct dw_error err = {0};
	struct dw_key bad[6];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = sample("ci");
	bad[0].name[0] = '\0';
	memset(bad[1].name, 'x', sizeof(bad[1].name));
	(void)strcpy(bad[2].name, "a\nb");
	(void)strcpy(bad[3].name, "a\xff");
	bad[4].grant.scopes = 0;
	bad[5].grant.max.memory_bytes = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		err = (struct dw_error){0};
		assert_int_equal(dw_keys_add(keys, &bad[i], text, &err), -1);
		assert_int_equal(err.code, DW_E_INVALID);
		assert_string_equal(text, "untouched");
	}
	bad[0] = sample("ci");
	bad[0].grant.scopes = DW_SCOPE_ALL + 1;
	assert_int_equal(dw_keys_add(keys, &bad[0], text, &err), -1);
	assert_false(dw_keys_any(keys));
	dw_keys_close(keys);
}

static void a_file_accessible_to_other_users_is_refused(void **state)
{
	const struct place *place = *state;
	struct dw_keys *keys = open_keys(state);
	char folder[128];
	struct dw_error err = {0};

	dw_keys_close(keys);
	assert_int_equal(chmod(place->path, 0640), 0);
	assert_int_equal(dw_keys_open(place->path, &keys, &err), -1);
	assert_int_equal(err.code, DW_E_DENIED);
	assert_non_null(strstr(err.text, "0600"));
	assert_int_equal(chmod(place->path, 0600), 0);

	(void)snprintf(folder, sizeof(folder), "%s/a/state", place->folder);
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(dw_keys_open(place->path, &keys, &err), -1);
	assert_int_equal(err.code, DW_E_DENIED);
	assert_non_null(strstr(err.text, "0700"));
	assert_int_equal(chmod(folder, 0755), 0);
	dw_keys_close(open_keys(state));

	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(symlink("/etc/passwd", place->path), 0);
	assert_int_equal(dw_keys_open(place->path, &keys, &err), -1);
	assert_int_equal(err.code, DW_E_DENIED);

	if (geteuid() == 0) {
		assert_int_equal(unlink(place->path), 0);
		dw_keys_close(open_keys(state));
		assert_int_equal(chown(place->path, 12345, 12345), 0);
		assert_int_equal(dw_keys_open(place->path, &keys, &err), -1);
		assert_non_null(strstr(err.text, "12345"));
	}
}

static void a_file_of_another_kind_is_refused(void **state)
{
	const struct place *place = *state;
	struct dw_keys *keys = NULL;
	struct dw_error err = {0};
	FILE *file;

	assert_int_equal(dw_keys_open_existing(place->path, &keys, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_int_equal(access(place->folder, F_OK), 0);
	assert_int_not_equal(access(place->path, F_OK), 0);

	dw_keys_close(open_keys(state));
	tamper(state, "PRAGMA user_version = 2");
	assert_int_equal(dw_keys_open(place->path, &keys, &err), -1);
	assert_int_equal(err.code, DW_E_UNSUPPORTED);
	tamper(state, "PRAGMA user_version = 1; PRAGMA application_id = 7");
	assert_int_equal(dw_keys_open(place->path, &keys, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);

	file = fopen(place->path, "we");
	assert_non_null(file);
	for (int i = 0; i < 500; i++)
		(void)fputs("no database ", file);
	(void)fclose(file);
	assert_int_equal(dw_keys_open(place->path, &keys, &err), -1);
	assert_non_null(strstr(err.text, place->path));
	assert_null(keys);
}

static void a_damaged_file_accepts_no_key(void **state)
{
	static const char *const damages[] = {
		"UPDATE key SET concurrent = -1",
		"UPDATE key SET scopes = 4096",
		"UPDATE key SET hash = x'00'",
		"UPDATE key SET levels = printf('%200s', 'x')",
		"UPDATE key SET id = 'short'",
		"DROP TABLE key",
	};
	const struct place *place = *state;
	struct dw_keys *keys;
	char text[DW_KEY_TEXT_MAX];
	struct dw_error err = {0};
	struct dw_key found;

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		keys = open_keys(state);
		(void)add(keys, "ci", text);
		assert_true(dw_keys_check(keys, text, &found));
		tamper(state, damages[i]);
		assert_false(dw_keys_check(keys, text, &found));
		assert_true(dw_keys_any(keys));
		assert_int_equal(dw_keys_each(keys, see, &(struct seen){0}, &err), -1);
		dw_keys_close(keys);
		assert_int_equal(unlink(place->path), 0);
	}
}

static void a_deleted_file_accepts_no_key_until_it_is_replaced(void **state)
{
	const struct place *place = *state;
	struct dw_keys *daemon = open_keys(state), *cli;
	char old[DW_KEY_TEXT_MAX], text[DW_KEY_TEXT_MAX];
	struct dw_error err = {0};
	struct dw_key key = sample("x"), found;

	(void)add(daemon, "ci", old);
	assert_int_equal(unlink(place->path), 0);
	assert_false(dw_keys_check(daemon, old, &found));
	assert_true(dw_keys_any(daemon));
	assert_int_equal(dw_keys_add(daemon, &key, text, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_int_equal(dw_keys_revoke(daemon, "00000000", &err), -1);

	cli = open_keys(state);
	(void)add(cli, "cd", text);
	assert_true(dw_keys_check(daemon, text, &found));
	assert_false(dw_keys_check(daemon, old, &found));

	/* A file with the wrong mode does not replace it. */
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(mknod(place->path, S_IFREG | 0600, 0), 0);
	assert_int_equal(chmod(place->path, 0666), 0);
	assert_false(dw_keys_check(daemon, text, &found));
	assert_true(dw_keys_any(daemon));
	dw_keys_close(cli);
	dw_keys_close(daemon);
}

/* Threads check one key while another is added and revoked. */
struct crowd {
	struct dw_keys *keys;
	char good[DW_KEY_TEXT_MAX];
	unsigned refused;
};

static void *look(void *user)
{
	struct crowd *crowd = user;
	struct dw_key found;

	for (int i = 0; i < 300; i++)
		if (!dw_keys_check(crowd->keys, crowd->good, &found) ||
		    strcmp(found.name, "good") != 0)
			__atomic_add_fetch(&crowd->refused, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void many_threads_may_check_a_key_while_others_change(void **state)
{
	struct crowd crowd = {.keys = open_keys(state)};
	struct dw_keys *other = open_keys(state);
	char text[DW_KEY_TEXT_MAX];
	struct dw_error err = {0};
	struct dw_key key, found;
	pthread_t threads[4];

	(void)add(crowd.keys, "good", crowd.good);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look, &crowd), 0);
	for (int i = 0; i < 20; i++) {
		key = add(other, "passing", text);
		assert_true(dw_keys_check(crowd.keys, text, &found));
		assert_int_equal(dw_keys_revoke(other, key.id, &err), 0);
		assert_false(dw_keys_check(crowd.keys, text, &found));
	}
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		(void)pthread_join(threads[i], NULL);
	assert_int_equal(crowd.refused, 0);
	dw_keys_close(other);
	dw_keys_close(crowd.keys);
}

static void many_processes_may_create_the_file_at_once(void **state)
{
	const struct place *place = *state;
	struct seen seen = {0};
	struct dw_keys *keys;
	int status;

	for (int i = 0; i < 8; i++) {
		if (fork() == 0) {
			struct dw_key key = sample("x");
			char text[DW_KEY_TEXT_MAX];

			_exit(dw_keys_open(place->path, &keys, NULL) < 0 ||
			      dw_keys_add(keys, &key, text, NULL) < 0 ||
			      !dw_keys_check(keys, text, &key));
		}
	}
	for (int i = 0; i < 8; i++) {
		(void)wait(&status);
		assert_int_equal(status, 0);
	}
	keys = open_keys(state);
	assert_int_equal(dw_keys_each(keys, see, &seen, NULL), 0);
	assert_string_equal(seen.names, "xxxxxxxx");
	dw_keys_close(keys);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_key_is_accepted_and_has_its_grant),
		TEST(the_text_of_a_key_is_its_id_and_32_random_bytes),
		TEST(the_files_do_not_contain_the_secret),
		TEST(any_other_text_is_refused),
		TEST(a_revocation_applies_at_once_in_all_handles),
		TEST(a_revocation_by_another_process_applies),
		TEST(revoking_the_last_key_still_requires_a_key),
		TEST(keys_are_listed_in_the_order_of_creation),
		TEST(an_invalid_key_is_refused),
		TEST(a_file_accessible_to_other_users_is_refused),
		TEST(a_file_of_another_kind_is_refused),
		TEST(a_damaged_file_accepts_no_key),
		TEST(a_deleted_file_accepts_no_key_until_it_is_replaced),
		TEST(many_threads_may_check_a_key_while_others_change),
		TEST(many_processes_may_create_the_file_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
