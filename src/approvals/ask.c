/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/approvals_own.h"
#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"

/* How many approvals that are neither pending nor approved are kept, and for how long. */
#define KEPT_MAX 1000
#define KEPT_US INT64_C(604800000000)

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

/* Names that are compared are never cut: a cut name may equal another caller's. */
static int check_name(const char *text, const char *what, struct dw_error *err)
{
	if (!text || text[0] == '\0')
		return dw_fail(err, DW_E_INVALID, 0, "an approval request needs %s",
		               what);
	if (strlen(text) > DW_APPROVALS_TEXT_MAX)
		return dw_fail(err, DW_E_INVALID, 0, "%s is longer than %d bytes", what,
		               DW_APPROVALS_TEXT_MAX);
	return 0;
}

static char *copy_text(const char *text)
{
	size_t len = text ? strnlen(text, DW_APPROVALS_TEXT_MAX) : 0;

	return len == 0 ? strdup("") : strndup(text, len - dw_utf8_unfinished(text, len));
}

/* Copy the findings; while they are too long, drop the second half of them. */
static char *copy_findings(const char *text)
{
	json_auto_t *array = json_loads(text ? text : "[]", 0, NULL);
	char *copy = json_is_array(array) ? json_dumps(array, JSON_COMPACT) : NULL;

	while (copy && strlen(copy) > DW_APPROVALS_FINDINGS_MAX) {
		for (size_t n = json_array_size(array), half = n / 2; n > half; n--)
			(void)json_array_remove(array, n - 1);
		free(copy);
		copy = json_dumps(array, JSON_COMPACT);
	}
	return copy ? copy : strdup("[]");
}

static int fill(const struct dw_approvals *a, const struct dw_asking *q,
                struct dw_approval *draft, struct dw_error *err)
{
	uint64_t expires_ms = q->expires_ms ? q->expires_ms : a->config.expires_ms;
	const char *session = q->session && q->session[0] != '\0' ? q->session : a->epoch;

	if (dw_id_make(draft->id, err) < 0)
		return -1;
	dw_approval_digest(q->req, draft->hash);
	draft->allow_self = q->allow_self;
	draft->asked_us = dw_wall_us();
	if (__builtin_mul_overflow(expires_ms, 1000, &draft->expires_us) ||
	    __builtin_add_overflow(draft->expires_us, draft->asked_us,
	                           &draft->expires_us))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the time to wait for approval is too long");
	if (q->run)
		(void)snprintf(draft->run, sizeof(draft->run), "%s", q->run);
	draft->who = strdup(q->who);
	draft->rule = strdup(q->rule);
	draft->session = strdup(session);
	draft->door = copy_text(q->door);
	draft->reason = copy_text(q->reason);
	draft->findings = copy_findings(q->findings);
	draft->request = dw_audit_describe(q->req);
	draft->decided_by = strdup("");
	draft->note = strdup("");
	if (!draft->who || !draft->rule || !draft->session || !draft->door ||
	    !draft->reason || !draft->findings || !draft->request || !draft->decided_by ||
	    !draft->note)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM,
		               "cannot store the approval request");
	if (strlen(draft->request) > DW_APPROVALS_REQUEST_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "the request needs approval, but %zu kB is too large for a "
		               "person to read; at most %zu kB",
		               strlen(draft->request) >> 10,
		               DW_APPROVALS_REQUEST_MAX >> 10);
	return 0;
}

/*
 * Find an approval of this caller for the same request and rule that is pending, or
 * approved and not used. Skip those that a remembered approval decided: each of them
 * belongs to the run that requested it.
 */
static int find_open(struct dw_approvals *a, struct dw_approval *draft,
                     struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		dw_sqlite_prepare(&a->store,
	                          "SELECT " DW_APPROVALS_COLUMNS
	                          " FROM question WHERE caller = ? AND "
	                          "state IN (0, 1) AND memory = '' AND hash = ? AND rule = ? "
	                          "ORDER BY state DESC, seq LIMIT 1",
	                          err);
	struct dw_approval found = {0};
	int r;

	DW_SQL_BIND(stmt, DW_SQL_CALLER(draft->who), DW_SQL_TEXT(draft->hash),
	            DW_SQL_TEXT(draft->rule));
	r = dw_sqlite_step(&a->store, stmt, err);
	if (r <= 0)
		return r;
	if (dw_approvals_row(stmt, &found, err) < 0)
		return -1;
	dw_approval_finish(draft);
	*draft = found;
	return 1;
}

static int count_open(struct dw_approvals *a, const char *who, int64_t *ret,
                      struct dw_error *err)
{
	sqlite3_stmt *stmt = dw_sqlite_prepare(
		&a->store,
		who ? "SELECT count(*) FROM question WHERE state = 0 AND caller = ?"
		    : "SELECT count(*) FROM question WHERE state = 0",
		err);

	if (who)
		DW_SQL_BIND(stmt, DW_SQL_CALLER(who));
	return dw_sqlite_number(&a->store, stmt, 0, ret, err);
}

static int check_room(struct dw_approvals *a, const char *who, struct dw_error *err)
{
	int64_t own = 0, all = 0;

	if (count_open(a, who, &own, err) < 0 || count_open(a, NULL, &all, err) < 0)
		return -1;
	if (own >= a->config.pending_max_per_caller)
		return dw_fail(err, DW_E_BUSY, 0,
		               "%u of your runs are waiting for approval, which is the "
		               "limit; retry when they are decided",
		               a->config.pending_max_per_caller);
	if (all >= a->config.pending_max)
		return dw_fail(err, DW_E_BUSY, 0,
		               "%u runs are waiting for approval, which is the limit; "
		               "retry later",
		               a->config.pending_max);
	return 0;
}

/* Remove old approvals that are neither pending nor approved, and those over KEPT_MAX. */
static int prune(struct dw_approvals *a, struct dw_error *err)
{
	sqlite3_stmt *stmt = dw_sqlite_prepare(
		&a->store,
		"DELETE FROM question WHERE state >= 2 AND (expires_us < ? OR seq <= "
		"(SELECT seq FROM question WHERE state >= 2 ORDER BY seq DESC LIMIT 1 "
		"OFFSET " STRING(KEPT_MAX) "))",
		err);

	_Static_assert(DW_APPROVAL_DENIED == 2, "the statement uses this number");
	DW_SQL_BIND(stmt, DW_SQL_NUMBER(dw_wall_us() - KEPT_US));
	return dw_sqlite_change(&a->store, stmt, err) < 0 ? -1 : 0;
}

static int find_or_insert(struct dw_approvals *a, struct dw_approval *draft,
                          bool *ret_new, struct dw_error *err)
{
	int r = prune(a, err);

	if (r == 0)
		r = dw_approvals_recall(a, draft, err);
	if (r == 1) {
		*ret_new = false;
		return dw_approvals_insert(a, draft, err);
	}
	if (r == 0)
		r = find_open(a, draft, err);
	if (r != 0) {
		*ret_new = false;
		return r < 0 ? -1 : 0;
	}
	if (check_room(a, draft->who, err) < 0)
		return -1;
	*ret_new = true;
	return dw_approvals_insert(a, draft, err);
}

int dw_approvals_ask(struct dw_approvals *a, const struct dw_asking *asking,
                     struct dw_approval *ret, bool *ret_new, struct dw_error *err)
{
	struct dw_approval draft = {0};
	bool fresh = false;
	int r = 0;

	if (check_name(asking->who, "a caller", err) < 0 ||
	    check_name(asking->rule, "a rule", err) < 0)
		return -1;
	if (asking->session && strlen(asking->session) > DW_APPROVALS_TEXT_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "the session is longer than %d bytes",
		               DW_APPROVALS_TEXT_MAX);
	if (asking->run && strlen(asking->run) >= sizeof(draft.run))
		return dw_fail(err, DW_E_INVALID, 0, "the id of the run is too long");
	r = fill(a, asking, &draft, err);
	if (r == 0)
		r = dw_approvals_begin(a, err);
	if (r == 0)
		r = dw_approvals_end(a, find_or_insert(a, &draft, &fresh, err), err);
	if (r < 0) {
		dw_approval_finish(&draft);
		return dw_wrap(err, "cannot ask for approval");
	}
	*ret = draft;
	if (ret_new)
		*ret_new = fresh;
	return 0;
}
