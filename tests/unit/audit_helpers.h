/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_TESTS_AUDIT_HELPERS_H
#define DW_TESTS_AUDIT_HELPERS_H

#include <fcntl.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/id.h"
#include "base/path.h"

/* Helpers shared by the tests of the audit record: a folder per test, and runs. */

struct place {
	char folder[64];
	char path[128];
};

static int make_place(void **state)
{
	static struct place place;

	(void)strcpy(place.folder, "/tmp/dewar-test-audit-XXXXXX");
	if (!mkdtemp(place.folder))
		return -1;
	(void)snprintf(place.path, sizeof(place.path), "%s/state/audit.db", place.folder);
	*state = &place;
	return 0;
}

static int remove_place(void **state)
{
	const struct place *place = *state;
	autoclose int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dw_path_remove_tree(tmp, place->folder + strlen("/tmp/"));
}

static inline struct dw_audit *open_audit(const char *path)
{
	struct dw_audit *audit = NULL;
	struct dw_error err = {0};

	if (dw_audit_open(path, 0, &audit, &err) < 0)
		fail_msg("%s", err.text);
	return audit;
}

static inline void intend(struct dw_audit *audit, const char *id, const char *code)
{
	struct dw_audit_run run = {.id = id, .who = "uid:7 (tester)"};
	struct dw_error err = {0};
	struct dw_request req;

	dw_request_init(&req);
	req.language = "python";
	req.code = (struct dw_bytes){code, strlen(code)};
	if (dw_audit_intent(audit, &run, &req, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void end_well(struct dw_audit *audit, const char *id)
{
	struct dw_audit_run run = {.id = id, .who = "uid:7 (tester)"};
	struct dw_result res = {.execution_time_ms = 1.5,
	                        .cpu_time_ms = -1,
	                        .memory_used_mb = 2,
	                        .ok = true};
	struct dw_error err = {0};

	(void)strcpy(res.proof.requested, "container");
	(void)strcpy(res.proof.achieved, "container");
	if (dw_audit_outcome(audit, &run, &res, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

/* Records n runs, each with its intent and its outcome. */
static inline void record_runs(const char *path, int n)
{
	struct dw_audit *audit = open_audit(path);
	char id[DW_ID_MAX], code[32];

	for (int i = 0; i < n; i++) {
		assert_int_equal(dw_id_make(id, NULL), 0);
		(void)snprintf(code, sizeof(code), "print(%d)", i);
		intend(audit, id, code);
		end_well(audit, id);
	}
	dw_audit_close(audit);
}

static inline struct dw_audit_verdict verify_from(const char *path,
                                                  const struct dw_audit_anchor *anchor)
{
	struct dw_audit_verdict verdict = {0};
	struct dw_audit_reader *reader = NULL;
	struct dw_error err = {0};

	if (dw_audit_reader_open(path, &reader, &err) < 0 ||
	    dw_audit_verify(reader, anchor, &verdict, &err) < 0)
		fail_msg("%s", err.text);
	dw_audit_reader_close(reader);
	return verdict;
}

static inline struct dw_audit_verdict verify(const char *path)
{
	return verify_from(path, NULL);
}

static inline void assert_sound(const char *path, uint64_t records)
{
	struct dw_audit_verdict verdict = verify(path);

	if (verdict.fault != DW_AUDIT_SOUND)
		fail_msg("%s", verdict.text);
	assert_int_equal(verdict.records, records);
}

/* Executes SQL as any user with write access to the file could; returns SQLite's code. */
static inline int tamper(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	int r;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL),
	                 SQLITE_OK);
	r = sqlite3_exec(db, sql, NULL, NULL, NULL);
	(void)sqlite3_close(db);
	return r;
}

#define WITHOUT_TRIGGERS               \
	"DROP TRIGGER record_appends;" \
	"DROP TRIGGER record_stays;"   \
	"DROP TRIGGER record_is_kept;"

#endif
