/* SPDX-License-Identifier: Apache-2.0 */
#include "approvals/approvals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "approvals/approvals_own.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/path.h"

#define PENDING_MAX 500
#define PENDING_MAX_PER_CALLER 20
#define EXPIRES_MS (10 * 60 * 1000)
#define USE_MS (60 * 60 * 1000)

/* A hundred years: the sum of this and the clock does not overflow. */
#define TIME_MAX_MS UINT64_C(3153600000000)

static const char schema[] =
	"CREATE TABLE question ("
	"seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
	"state INTEGER NOT NULL, allow_self INTEGER NOT NULL, run TEXT NOT NULL,"
	/* prose: allow who is a column */
	"hash TEXT NOT NULL, caller TEXT NOT NULL, who TEXT NOT NULL, door TEXT NOT NULL,"
	"session TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL,"
	"findings TEXT NOT NULL, request TEXT NOT NULL, asked_us INTEGER NOT NULL,"
	"expires_us INTEGER NOT NULL, use_us INTEGER NOT NULL,"
	"decided_us INTEGER NOT NULL, decided_by TEXT NOT NULL, note TEXT NOT NULL,"
	"remember INTEGER NOT NULL, memory TEXT NOT NULL, used_us INTEGER NOT NULL,"
	"used_by TEXT NOT NULL) STRICT;"
	"CREATE INDEX question_state ON question (state, expires_us);"
	"CREATE INDEX question_caller ON question (caller, state);"
	"CREATE TABLE memory ("
	"id TEXT PRIMARY KEY, kind INTEGER NOT NULL, caller TEXT NOT NULL,"
	/* prose: allow who is a column */
	"who TEXT NOT NULL, hash TEXT NOT NULL, session TEXT NOT NULL,"
	"rule TEXT NOT NULL, decided_by TEXT NOT NULL, note TEXT NOT NULL,"
	"decided_us INTEGER NOT NULL, expires_us INTEGER NOT NULL) STRICT;"
	"CREATE INDEX memory_caller ON memory (caller);";

static const struct dw_sqlite_kind kind = {
	.what = "approvals",
	.application_id = 1148674416, /* "Dwap" */
	.version = 1,
	.schema = schema,
	.busy_ms = 10000,
};

size_t dw_approvals_identity(const char *who)
{
	return strcspn(who, " ");
}

bool dw_approvals_same(const char *who, const char *other)
{
	size_t len = dw_approvals_identity(who);

	return len == dw_approvals_identity(other) && memcmp(who, other, len) == 0;
}

int dw_approvals_path(const char *place, char ret[DW_APPROVALS_PATH_MAX],
                      struct dw_error *err)
{
	char folder[DW_STATE_PATH_MAX];
	struct stat st;
	int n;

	if (!place && dw_state_of_daemon(folder, err) < 0)
		return -1;
	if (place && stat(place, &st) == 0 && S_ISREG(st.st_mode))
		n = snprintf(ret, DW_APPROVALS_PATH_MAX, "%s", place);
	else
		n = snprintf(ret, DW_APPROVALS_PATH_MAX, "%s/" DW_APPROVALS_FILE,
		             place ? place : folder);
	if (n >= DW_APPROVALS_PATH_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "the path of the approvals file is too long");
	return 0;
}

static void fill_config(struct dw_approvals_config *config)
{
	if (config->pending_max == 0)
		config->pending_max = PENDING_MAX;
	if (config->pending_max_per_caller == 0)
		config->pending_max_per_caller = PENDING_MAX_PER_CALLER;
	if (config->expires_ms == 0)
		config->expires_ms = EXPIRES_MS;
	if (config->use_ms == 0)
		config->use_ms = USE_MS;
	if (config->expires_ms > TIME_MAX_MS)
		config->expires_ms = TIME_MAX_MS;
	if (config->use_ms > TIME_MAX_MS)
		config->use_ms = TIME_MAX_MS;
}

static int open_approvals(const char *path, const struct dw_approvals_config *config,
                          bool make, struct dw_approvals **ret, struct dw_error *err)
{
	struct dw_approvals *a = calloc(1, sizeof(*a));

	if (!a)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open %s", path);
	(void)pthread_mutex_init(&a->lock, NULL);
	if (config)
		a->config = *config;
	fill_config(&a->config);
	a->make = make;
	a->path = strdup(path);
	if (!a->path) {
		dw_approvals_close(a);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot open %s", path);
	}
	if (dw_id_make(a->epoch, err) < 0 ||
	    dw_sqlite_open(&a->store, &kind, path, make, err) < 0) {
		dw_approvals_close(a);
		return -1;
	}
	*ret = a;
	return 0;
}

int dw_approvals_open(const char *path, const struct dw_approvals_config *config,
                      struct dw_approvals **ret, struct dw_error *err)
{
	return open_approvals(path, config, true, ret, err);
}

int dw_approvals_open_existing(const char *path, const struct dw_approvals_config *config,
                               struct dw_approvals **ret, struct dw_error *err)
{
	return open_approvals(path, config, false, ret, err);
}

void dw_approvals_close(struct dw_approvals *a)
{
	if (!a)
		return;
	dw_sqlite_close(&a->store);
	(void)pthread_mutex_destroy(&a->lock);
	free(a->path);
	free(a);
}

/* ---- transactions ---- */

int dw_approvals_enter(struct dw_approvals *a, struct dw_error *err)
{
	(void)pthread_mutex_lock(&a->lock);
	/* An operator may have removed the file, or restored a backup. */
	if (dw_sqlite_replaced(&a->store, a->path)) {
		a->generation++;
		dw_sqlite_close(&a->store);
		if (dw_sqlite_open(&a->store, &kind, a->path, a->make, err) < 0) {
			(void)pthread_mutex_unlock(&a->lock);
			return -1;
		}
	}
	return 0;
}

void dw_approvals_leave(struct dw_approvals *a)
{
	(void)pthread_mutex_unlock(&a->lock);
}

/*
 * Expire what is overdue. The file records it, so that nothing becomes valid again if the
 * clock is set back.
 */
static int sweep(struct dw_approvals *a, struct dw_error *err)
{
	static const char *const statements[] = {
		"UPDATE question SET state = 3 WHERE state IN (0, 1) AND expires_us <= ?",
		"DELETE FROM memory WHERE expires_us != 0 AND expires_us <= ?",
	};
	int64_t now = dw_wall_us();

	_Static_assert(DW_APPROVAL_PENDING == 0 && DW_APPROVAL_APPROVED == 1 &&
	                       DW_APPROVAL_EXPIRED == 3,
	               "the statement uses these numbers");
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		sqlite3_stmt *stmt = dw_sqlite_prepare(&a->store, statements[i], err);

		DW_SQL_BIND(stmt, DW_SQL_NUMBER(now));
		if (dw_sqlite_change(&a->store, stmt, err) < 0)
			return -1;
	}
	return 0;
}

int dw_approvals_begin(struct dw_approvals *a, struct dw_error *err)
{
	if (dw_approvals_enter(a, err) < 0)
		return -1;
	if (dw_sqlite_exec(&a->store, "BEGIN IMMEDIATE", err) < 0) {
		dw_approvals_leave(a);
		return -1;
	}
	if (sweep(a, err) < 0)
		return dw_approvals_end(a, -1, NULL);
	return 0;
}

int dw_approvals_end(struct dw_approvals *a, int r, struct dw_error *err)
{
	if (r >= 0 && dw_sqlite_exec(&a->store, "COMMIT", err) < 0)
		r = -1;
	if (r < 0)
		(void)dw_sqlite_exec(&a->store, "ROLLBACK", NULL);
	a->generation++;
	dw_approvals_leave(a);
	return r;
}

/* ---- reading ---- */

int dw_approvals_get(struct dw_approvals *a, const char *id, struct dw_approval *ret,
                     struct dw_error *err)
{
	int r;

	if (dw_approvals_enter(a, err) < 0)
		return -1;
	r = dw_approvals_find(a, id, ret, err);
	dw_approvals_leave(a);
	return r;
}

static int each(struct dw_approvals *a, bool all, dw_approval_fn *fn, void *user,
                struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		dw_sqlite_prepare(&a->store,
	                          "SELECT " DW_APPROVALS_COLUMNS " FROM question "
	                          "WHERE ?1 OR (state = 0 AND expires_us > ?2) ORDER BY seq",
	                          err);
	struct dw_approval row = {0};
	bool more = true;
	int r = 0;

	DW_SQL_BIND(stmt, DW_SQL_NUMBER(all), DW_SQL_NUMBER(dw_wall_us()));
	while (more && (r = dw_sqlite_step(&a->store, stmt, err)) > 0) {
		if (dw_approvals_row(stmt, &row, err) < 0)
			return -1;
		more = fn(user, &row) == 0;
		dw_approval_finish(&row);
	}
	return r < 0 ? -1 : 0;
}

int dw_approvals_each(struct dw_approvals *a, bool all, dw_approval_fn *fn, void *user,
                      struct dw_error *err)
{
	int r;

	if (dw_approvals_enter(a, err) < 0)
		return -1;
	r = each(a, all, fn, user, err);
	dw_approvals_leave(a);
	return r;
}
