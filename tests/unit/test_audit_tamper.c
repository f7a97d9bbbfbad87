/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "unit/audit_helpers.h"

#include <sys/stat.h>

/* prose: allow the name of a column */
#define CHANGE_CALLER "UPDATE record SET who = 'me' WHERE seq "

static void found(const char *path, enum dw_audit_fault fault, int64_t seq,
                  const char *words)
{
	struct dw_audit_verdict verdict = verify(path);

	if (verdict.fault != fault || verdict.seq != seq || !strstr(verdict.text, words))
		fail_msg("%s at %lld: %s", dw_audit_fault_name(verdict.fault),
		         (long long)verdict.seq, verdict.text);
}

static void spoiled(const char *path, const char *sql)
{
	char all[1024];

	(void)snprintf(all, sizeof(all), "%s%s", WITHOUT_TRIGGERS, sql);
	assert_int_equal(tamper(path, all), SQLITE_OK);
}

static void triggers_refuse_plain_sql_statements(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 3);
	assert_int_equal(tamper(place->path, CHANGE_CALLER "= 2"), SQLITE_CONSTRAINT);
	assert_int_equal(tamper(place->path, "DELETE FROM record WHERE seq = 6"),
	                 SQLITE_CONSTRAINT);
	assert_int_equal(tamper(place->path, "DELETE FROM record"), SQLITE_CONSTRAINT);
	assert_int_equal(tamper(place->path,
	                        "INSERT INTO record (seq, time_us, kind, prev_hash, hash) "
	                        "VALUES (9, 0, 'intent', 'x', 'y')"),
	                 SQLITE_CONSTRAINT);
	assert_int_equal(tamper(place->path,
	                        "INSERT INTO record (seq, time_us, kind, prev_hash, hash) "
	                        "VALUES (7, 0, 'intent', 'x', 'y')"),
	                 SQLITE_CONSTRAINT);
	assert_int_equal(tamper(place->path, "INSERT OR REPLACE INTO record "
	                                     "(seq, time_us, kind, prev_hash, hash) "
	                                     "VALUES (2, 0, 'intent', 'x', 'y')"),
	                 SQLITE_CONSTRAINT);
	assert_sound(place->path, 6);
}

/* Changes every field of a record, one at a time. */
static void a_change_of_any_field_is_detected(void **state)
{
	const struct place *place = *state;
	char sql[256], copy[160];

	record_runs(place->path, 3);
	assert_int_equal(tamper(place->path,
	                        WITHOUT_TRIGGERS "PRAGMA journal_mode=DELETE"),
	                 SQLITE_OK);
	for (size_t i = 1; i < DW_AUDIT_FIELDS; i++) {
		const struct dw_audit_field *field = &dw_audit_fields[i];

		(void)snprintf(copy, sizeof(copy), "%s-%zu", place->path, i);
		(void)snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", copy);
		assert_int_equal(tamper(place->path, sql), SQLITE_OK);
		if (strcmp(field->name, "kind") == 0)
			(void)snprintf(sql, sizeof(sql),
			               "UPDATE record SET kind = 'interrupted' WHERE seq "
			               "= 4");
		else if (field->type == DW_AUDIT_NUMBER)
			(void)snprintf(sql, sizeof(sql),
			               "UPDATE record SET %s = coalesce(%s, 0) + 1 WHERE "
			               "seq = 4",
			               field->name, field->name);
		else
			(void)snprintf(sql, sizeof(sql),
			               "UPDATE record SET %s = coalesce(%s, '') || ' ' "
			               "WHERE seq = 4",
			               field->name, field->name);
		assert_int_equal(tamper(copy, sql), SQLITE_OK);
		if (strcmp(field->name, "through_seq") == 0)
			assert_int_not_equal(verify(copy).fault, DW_AUDIT_SOUND);
		else
			found(copy, DW_AUDIT_CHANGED, 4, "record 4 was changed");
	}
}

static void bytes_after_a_nul_are_hashed(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 2);
	spoiled(place->path,
	        /* prose: allow the name of a column */
	        "UPDATE record SET who = who || char(0) || 'x' WHERE seq = 3");
	found(place->path, DW_AUDIT_CHANGED, 3, "record 3 was changed");
}

static void the_first_of_several_changes_is_reported(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 5);
	spoiled(place->path, CHANGE_CALLER "IN (7, 3, 9)");
	found(place->path, DW_AUDIT_CHANGED, 3, "record 3");
	assert_int_equal(verify(place->path).records, 2);
}

static void a_deleted_row_is_reported_missing(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 3);
	spoiled(place->path, "DELETE FROM record WHERE seq = 3");
	found(place->path, DW_AUDIT_MISSING, 3, "record 3 is missing");
}

static void rows_deleted_at_either_end_are_reported_missing(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 3);
	spoiled(place->path, "DELETE FROM record WHERE seq > 4");
	found(place->path, DW_AUDIT_MISSING, 5, "records 5 to 6 are missing at the end");
	assert_int_equal(tamper(place->path, "DELETE FROM record WHERE seq < 3"),
	                 SQLITE_OK);
	found(place->path, DW_AUDIT_MISSING, 1,
	      "records 1 to 2 are missing at the begin");
	assert_int_equal(tamper(place->path, "DELETE FROM record"), SQLITE_OK);
	found(place->path, DW_AUDIT_MISSING, 1, "records 1 to 6 are missing at the end");
}

static void swapped_rows_are_reported(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 3);
	spoiled(place->path, "UPDATE record SET seq = 100 WHERE seq = 3;"
	                     "UPDATE record SET seq = 3 WHERE seq = 5;"
	                     "UPDATE record SET seq = 5 WHERE seq = 100;");
	found(place->path, DW_AUDIT_OUT_OF_ORDER, 3, "it was record 5 before");
}

static void an_inserted_row_is_detected(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 3);
	spoiled(place->path,
	        "UPDATE record SET seq = seq + 100 WHERE seq > 3;"
	        "INSERT INTO record (seq, time_us, kind, run, prev_hash, hash) SELECT 4, "
	        "time_us, kind, 'f00', hash, hash FROM record WHERE seq = 3;"
	        "UPDATE record SET seq = seq - 99 WHERE seq > 100;");
	found(place->path, DW_AUDIT_CHANGED, 4, "record 4 was changed");
}

/* Recomputes the rest of the chain, as any user with write access to the file could ... */
static void remake(const char *path, int64_t from)
{
	char hash[DW_AUDIT_HASH_MAX], prev[DW_AUDIT_HASH_MAX];
	struct dw_audit_record rec;
	sqlite3_stmt *read = NULL, *write = NULL;
	sqlite3 *db = NULL;
	int64_t seq;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL),
	                 SQLITE_OK);
	for (seq = from;; seq++) {
		assert_int_equal(
			sqlite3_prepare_v2(
				db,
				/* prose: allow the name of a column */
				"SELECT seq, time_us, kind, run, who, request, decision, "
				"rule, level_asked, level_achieved, proof_sha256, status, "
				"reason, hint, exit_code, signal, run_us, cpu_us, "
				"memory_bytes, through_seq, through_hash, prev_hash, hash,"
				"(SELECT p.hash FROM record p WHERE p.seq = r.seq - 1) "
				"FROM record r WHERE seq = ?",
				-1, &read, NULL),
			SQLITE_OK);
		(void)sqlite3_bind_int64(read, 1, seq);
		if (sqlite3_step(read) != SQLITE_ROW)
			break;
		dw_audit_record_init(&rec);
		for (int i = 0; i < DW_AUDIT_FIELDS; i++) {
			if (sqlite3_column_type(read, i) == SQLITE_NULL)
				continue;
			if (dw_audit_fields[i].type == DW_AUDIT_NUMBER)
				*dw_audit_number(&rec,
				                 (size_t)i) = sqlite3_column_int64(read,
				                                                   i);
			else
				*dw_audit_text(&rec, (size_t)i) = dw_audit_text_of(
					(const char *)sqlite3_column_text(read, i));
		}
		(void)snprintf(prev, sizeof(prev), "%s",
		               (const char *)sqlite3_column_text(read, 23));
		rec.prev_hash = dw_audit_text_of(prev);
		dw_audit_record_hash(&rec, hash);
		(void)sqlite3_finalize(read);
		read = NULL;
		assert_int_equal(sqlite3_prepare_v2(db,
		                                    "UPDATE record SET prev_hash = ?, hash = ? "
		                                    "WHERE seq = ?",
		                                    -1, &write, NULL),
		                 SQLITE_OK);
		(void)sqlite3_bind_text(write, 1, prev, -1, SQLITE_STATIC);
		(void)sqlite3_bind_text(write, 2, hash, -1, SQLITE_STATIC);
		(void)sqlite3_bind_int64(write, 3, seq);
		assert_int_equal(sqlite3_step(write), SQLITE_DONE);
		(void)sqlite3_finalize(write);
	}
	(void)sqlite3_finalize(read);
	(void)sqlite3_close(db);
}

/* ... which only an anchor that is stored elsewhere reveals. */
static void a_recomputed_chain_differs_from_its_anchor(void **state)
{
	const struct place *place = *state;
	struct dw_audit_verdict before, after;
	struct dw_audit_anchor anchor;

	record_runs(place->path, 4);
	before = verify(place->path);
	anchor = (struct dw_audit_anchor){before.head_seq, before.head_hash};
	assert_int_equal(verify_from(place->path, &anchor).fault, DW_AUDIT_SOUND);
	record_runs(place->path, 1);
	assert_int_equal(verify_from(place->path, &anchor).fault, DW_AUDIT_SOUND);

	spoiled(place->path, CHANGE_CALLER "= 3");
	remake(place->path, 3);
	assert_sound(place->path, 10);
	after = verify_from(place->path, &anchor);
	assert_int_equal(after.fault, DW_AUDIT_CHANGED);
	assert_int_equal(after.seq, 8);
}

static void a_replaced_record_breaks_the_chain(void **state)
{
	const struct place *place = *state;

	record_runs(place->path, 3);
	spoiled(place->path,
	        CHANGE_CALLER "= 3;"
	                      "UPDATE record SET seq = seq + 100 WHERE seq > 3;");
	remake(place->path, 3);
	assert_int_equal(tamper(place->path,
	                        "UPDATE record SET seq = seq - 100 WHERE seq > 100"),
	                 SQLITE_OK);
	found(place->path, DW_AUDIT_UNLINKED, 4, "record 4 does not follow record 3");
}

static void cut(const char *path, const char *suffix, double share)
{
	char name[160];
	struct stat st;

	(void)snprintf(name, sizeof(name), "%s%s", path, suffix);
	assert_int_equal(stat(name, &st), 0);
	assert_true(st.st_size > 0);
	assert_int_equal(truncate(name, (off_t)((double)st.st_size * share)), 0);
}

static void a_truncated_file_is_reported_damaged(void **state)
{
	const struct place *place = *state;
	struct dw_audit_verdict verdict;

	record_runs(place->path, 200);
	assert_int_equal(tamper(place->path, "PRAGMA wal_checkpoint(TRUNCATE)"),
	                 SQLITE_OK);
	cut(place->path, "", 0.5);
	verdict = verify(place->path);
	assert_int_equal(verdict.fault, DW_AUDIT_DAMAGED);
	assert_true(verdict.seq > 1 || verdict.records == 0);
	assert_non_null(strstr(verdict.text, "damaged"));
}

/* As after a power failure: the end of the write-ahead log is lost, the rest is sound. */
static void a_truncated_write_ahead_log_leaves_a_sound_beginning(void **state)
{
	const struct place *place = *state;
	struct dw_audit_verdict before, after;
	struct dw_audit_anchor anchor;

	record_runs(place->path, 6);
	before = verify(place->path);
	anchor = (struct dw_audit_anchor){before.head_seq, before.head_hash};
	cut(place->path, "-wal", 0.5);
	after = verify(place->path);
	assert_int_equal(after.fault, DW_AUDIT_SOUND);
	assert_true(after.records > 0 && after.records < 12);
	after = verify_from(place->path, &anchor);
	assert_int_equal(after.fault, DW_AUDIT_MISSING);

	/* And new records can be appended. */
	record_runs(place->path, 1);
	assert_int_equal(verify(place->path).fault, DW_AUDIT_SOUND);
}

static void a_file_of_another_kind_is_refused(void **state)
{
	const struct place *place = *state;
	struct dw_audit_reader *reader = NULL;
	struct dw_audit *audit = NULL;
	struct dw_error err = {0};
	char path[160];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/other", place->folder);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs("This is a text, and no database of any kind, by far. It goes on for "
	            "more than a hundred bytes, as it should.\n",
	            file);
	(void)fclose(file);
	assert_int_equal(dw_audit_open(path, 0, &audit, &err), -1);
	assert_non_null(strstr(err.text, "not a database"));
	assert_int_equal(dw_audit_reader_open(path, &reader, &err), -1);
	assert_null(audit);
	assert_null(reader);

	(void)snprintf(path, sizeof(path), "%s/foreign.db", place->folder);
	(void)fclose(fopen(path, "w"));
	assert_int_equal(tamper(path, "CREATE TABLE other (x)"), SQLITE_OK);
	assert_int_equal(dw_audit_open(path, 0, &audit, &err), -1);
	assert_non_null(strstr(err.text, "is not a dewar audit file"));

	assert_int_equal(dw_audit_reader_open("/nowhere/audit.db", &reader, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(triggers_refuse_plain_sql_statements),
		TEST(a_change_of_any_field_is_detected),
		TEST(bytes_after_a_nul_are_hashed),
		TEST(the_first_of_several_changes_is_reported),
		TEST(a_deleted_row_is_reported_missing),
		TEST(rows_deleted_at_either_end_are_reported_missing),
		TEST(swapped_rows_are_reported),
		TEST(an_inserted_row_is_detected),
		TEST(a_recomputed_chain_differs_from_its_anchor),
		TEST(a_replaced_record_breaks_the_chain),
		TEST(a_truncated_file_is_reported_damaged),
		TEST(a_truncated_write_ahead_log_leaves_a_sound_beginning),
		TEST(a_file_of_another_kind_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
