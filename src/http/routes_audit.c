/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/values.h"
#include "http/http_own.h"

#define LIMIT_DEFAULT 100U
#define LIMIT_MAX 1000U
#define BYTES_MAX (16U << 20)

/* A query and its result: the state of the exchange. */
struct query {
	struct dw_audit_filter filter;
	char id[DW_ID_MAX];
	json_t *runs;
	size_t bytes; /* size of the runs so far */
	bool more;    /* there are more runs */
	struct dw_error err;
};

static void free_query(void *state)
{
	struct query *q = state;

	json_decref(q->runs);
	free(q);
}

static int on_run(void *user, const struct dw_audit_entry *entry)
{
	struct query *q = user;
	json_t *run;

	/* An intent contains the whole code, so bound the size of the reply. */
	q->bytes += entry->intent->request.len;
	if (q->bytes > BYTES_MAX && json_array_size(q->runs) > 0) {
		q->more = true;
		return 1;
	}
	run = json_pack("{s:s, s:o}", "status", entry->status, "intent",
	                dw_audit_record_to_json(entry->intent));

	if (entry->end)
		(void)json_object_set_new(run, "end",
		                          dw_audit_record_to_json(entry->end));
	return json_array_append_new(q->runs, run);
}

static void find_runs(struct dw_exchange *x)
{
	struct query *q = x->state;
	struct dw_audit_reader *reader = NULL;

	if (dw_audit_reader_open(x->context->audit, &reader, &q->err) < 0)
		return;
	(void)dw_audit_each_run(reader, &q->filter, on_run, q, &q->err);
	q->more = q->more || json_array_size(q->runs) == q->filter.limit;
	dw_audit_reader_close(reader);
}

static void show(struct dw_exchange *x)
{
	struct query *q = x->state;
	autofree char *text = NULL;
	json_auto_t *root = NULL;
	struct dw_api_error why;

	if (q->err.code != DW_OK) {
		(void)dw_api_fail_with(&why, &q->err);
		dw_reply_error(x, &why);
		return;
	}
	root = json_pack("{s:O, s:b}", "runs", q->runs, "more", q->more);
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	dw_reply_json(x, 200, text);
}

/* Parse "2026-11-15T14:44:35Z". */
static bool read_time(const char *text, int64_t *ret_us)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (!end || *end != '\0')
		return false;
	*ret_us = (int64_t)timegm(&tm) * 1000000;
	return true;
}

static int read_query(struct dw_exchange *x, struct query *q, struct dw_api_error *why)
{
	const char *id = dw_exchange_query(x, "id");
	const char *status = dw_exchange_query(x, "status");
	const char *since = dw_exchange_query(x, "since");
	const char *until = dw_exchange_query(x, "until");
	const char *limit = dw_exchange_query(x, "limit");
	uint64_t n = LIMIT_DEFAULT;
	struct dw_error err = {0};
	int chosen;

	if ((since && !read_time(since, &q->filter.since_us)) ||
	    (until && !read_time(until, &q->filter.until_us)))
		return dw_api_fail(
			why, 400, NULL,
			"since and until must be times such as 2026-11-15T14:44:35Z");
	if (limit && (dw_parse_uint(limit, LIMIT_MAX, &n, NULL) < 0 || n == 0))
		return dw_api_fail(why, 400, NULL, "limit must be 1 to %u", LIMIT_MAX);
	if (id && strlen(id) >= sizeof(q->id))
		return dw_api_fail(why, 400, NULL, "id is too long");
	chosen = status ? dw_choose("status", status, dw_audit_status_words, &err) : 0;
	if (chosen < 0)
		return dw_api_fail_with(why, &err);
	q->filter.limit = n;
	if (id)
		q->filter.id = memcpy(q->id, id, strlen(id) + 1);
	if (status)
		q->filter.status = dw_audit_status_words[chosen];
	return 0;
}

void dw_api_audit(struct dw_exchange *x)
{
	struct query *q = calloc(1, sizeof(*q));
	struct dw_api_error why;

	if (!q) {
		dw_reply_json(x, 500, NULL);
		return;
	}
	q->runs = json_array();
	x->state = q;
	x->free_state = free_query;
	if (read_query(x, q, &why) < 0)
		dw_reply_error(x, &why);
	else
		dw_exchange_offload(x, find_runs, show);
}
