/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "approvals/approvals_own.h"
#include "base/cleanup.h"
#include "base/clock.h"

/*
 * Another process may decide, and does not signal this one. So the waiting threads ask
 * SQLite, at most once in LOOK_MS for all of them, whether another process has written
 * (PRAGMA data_version). Only after a write does each thread read its own approval.
 */
#define LOOK_MS 100

/* Increase the generation if the file has changed. The caller holds the lock. */
static int look(struct dw_approvals *a, struct dw_error *err)
{
	uint64_t now = dw_now_ms();
	int64_t version;

	if (now - a->checked_ms < LOOK_MS)
		return 0;
	if (dw_sqlite_version(&a->store, &version, err) < 0)
		return -1;
	if (version != a->version)
		a->generation++;
	a->version = version;
	a->checked_ms = now;
	return 0;
}

static int read_state(struct dw_approvals *a, const char *id, int *ret_state,
                      int64_t *ret_expires_us, struct dw_error *err)
{
	autostmt sqlite3_stmt *stmt =
		dw_sqlite_prepare(&a->store,
	                          "SELECT state, expires_us FROM question WHERE id = ?",
	                          err);
	int r;

	DW_SQL_BIND(stmt, DW_SQL_TEXT(id));
	r = dw_sqlite_step(&a->store, stmt, err);
	if (r == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "unknown approval %.32s", id);
	if (r < 0)
		return -1;
	*ret_state = sqlite3_column_int(stmt, 0);
	*ret_expires_us = sqlite3_column_int64(stmt, 1);
	return 0;
}

struct watch {
	const char *id;
	uint64_t seen; /* the generation of the fields below */
	int state;
	int64_t expires_us;
};

static int update(struct dw_approvals *a, struct watch *watch, struct dw_error *err)
{
	int r;

	if (dw_approvals_enter(a, err) < 0)
		return -1;
	r = look(a, err);
	if (r == 0 && a->generation != watch->seen) {
		watch->seen = a->generation;
		r = read_state(a, watch->id, &watch->state, &watch->expires_us, err);
	}
	dw_approvals_leave(a);
	return r;
}

/* How long to sleep; 0 if the deadline or expiry has passed. */
static int pause_ms(const struct watch *watch, uint64_t deadline_ms)
{
	int64_t left_us = watch->expires_us - dw_wall_us();
	int ms = LOOK_MS;

	if (deadline_ms != UINT64_MAX && dw_ms_until(deadline_ms) < ms)
		ms = dw_ms_until(deadline_ms);
	if (left_us <= 0)
		return 0;
	return left_us / 1000 < ms ? (int)(left_us / 1000) + 1 : ms;
}

int dw_approvals_wait(struct dw_approvals *a, const char *id, uint64_t deadline_ms,
                      int cancel_fd, struct dw_approval *ret, struct dw_error *err)
{
	struct watch watch = {.id = id, .seen = UINT64_MAX};
	struct pollfd cancel = {.fd = cancel_fd, .events = POLLIN};
	bool over = false;

	while (!over) {
		int ms;

		if (update(a, &watch, err) < 0)
			return -1;
		if (watch.state != DW_APPROVAL_PENDING)
			break;
		ms = pause_ms(&watch, deadline_ms);
		over = ms == 0 || poll(&cancel, 1, ms) > 0;
	}
	/* Store the expiry, so that all processes agree. */
	if (watch.state == DW_APPROVAL_PENDING && watch.expires_us <= dw_wall_us() &&
	    (dw_approvals_begin(a, err) < 0 || dw_approvals_end(a, 0, err) < 0))
		return -1;
	return dw_approvals_get(a, id, ret, err);
}

int dw_approvals_changed(struct dw_approvals *a, uint64_t *seen, struct dw_error *err)
{
	int r;

	if (dw_approvals_enter(a, err) < 0)
		return -1;
	r = look(a, err);
	if (r == 0)
		r = a->generation != *seen;
	*seen = a->generation;
	dw_approvals_leave(a);
	return r;
}

int dw_approvals_state(struct dw_approvals *a, const char *id,
                       enum dw_approval_state *ret, struct dw_error *err)
{
	int64_t expires_us = 0;
	int state = 0, r;

	if (dw_approvals_enter(a, err) < 0)
		return -1;
	r = read_state(a, id, &state, &expires_us, err);
	dw_approvals_leave(a);
	if (r < 0)
		return -1;
	if (state <= DW_APPROVAL_APPROVED && expires_us <= dw_wall_us())
		state = DW_APPROVAL_EXPIRED;
	*ret = (enum dw_approval_state)state;
	return 0;
}
