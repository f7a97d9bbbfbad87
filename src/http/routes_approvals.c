/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/approvals.h"
#include "base/cleanup.h"
#include "base/values.h"
#include "http/http_own.h"

/*
 * Approvals and memories, for approvers. They are stored in a file, so each route works
 * in a thread of its own and stores the reply in the exchange's state; show() sends it.
 */
struct work {
	json_t *reply;
	struct dw_api_error why; /* status 0: no error */
	bool all;

	/* Used only for a decision: */
	bool yes;
	enum dw_remember remember;
	char *note;
};

static void free_work(void *state)
{
	struct work *work = state;

	json_decref(work->reply);
	free(work->note);
	free(work);
}

static struct work *start(struct dw_exchange *x)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work) {
		dw_reply_json(x, 500, NULL);
		return NULL;
	}
	x->state = work;
	x->free_state = free_work;
	return work;
}

/* The daemon opened them when it started, so this cannot fail. */
static struct dw_approvals *approvals_of(struct dw_exchange *x)
{
	return dw_service_approvals(dw_exchange_service(x), NULL);
}

static void show(struct dw_exchange *x)
{
	struct work *work = x->state;
	autofree char *text = NULL;

	if (work->why.status != 0) {
		dw_reply_error(x, &work->why);
		return;
	}
	text = work->reply ? json_dumps(work->reply, JSON_COMPACT) : NULL;
	dw_reply_json(x, 200, text);
}

/* ---- lists ---- */

/* A request may be a megabyte: only GET of a single approval returns it. */
static int add_approval(void *user, const struct dw_approval *approval)
{
	json_t *one = dw_approval_to_json(approval);

	(void)json_object_del(one, "request");
	(void)json_object_del(one, "findings");
	return json_array_append_new(user, one) < 0;
}

static int add_memory(void *user, const struct dw_memory *memory)
{
	return json_array_append_new(user, dw_memory_to_json(memory)) < 0;
}

/* Takes ownership of the list. */
static void finish_list(struct work *work, const char *key, json_t *list, int r,
                        const struct dw_error *err)
{
	work->reply = json_pack("{s:o}", key, list);
	if (r < 0)
		(void)dw_api_fail_with(&work->why, err);
}

static void list_approvals(struct dw_exchange *x)
{
	struct work *work = x->state;
	json_t *list = json_array();
	struct dw_error err = {0};
	int r = dw_approvals_each(approvals_of(x), work->all, add_approval, list, &err);

	finish_list(work, "approvals", list, r, &err);
}

static void list_memories(struct dw_exchange *x)
{
	json_t *list = json_array();
	struct dw_error err = {0};
	int r = dw_approvals_memories(approvals_of(x), add_memory, list, &err);

	finish_list(x->state, "memories", list, r, &err);
}

void dw_api_approvals(struct dw_exchange *x)
{
	const char *all = dw_exchange_query(x, "all");
	struct work *work = start(x);

	if (!work)
		return;
	if (all && strcmp(all, "true") != 0 && strcmp(all, "false") != 0) {
		(void)dw_api_fail(&work->why, 400, NULL, "all must be true or false");
		show(x);
		return;
	}
	work->all = all && strcmp(all, "true") == 0;
	dw_exchange_offload(x, list_approvals, show);
}

void dw_api_memories(struct dw_exchange *x)
{
	if (start(x))
		dw_exchange_offload(x, list_memories, show);
}

/* ---- a single approval or memory ---- */

static void get(struct dw_exchange *x)
{
	struct work *work = x->state;
	struct dw_approval approval = {0};
	struct dw_error err = {0};

	if (dw_approvals_get(approvals_of(x), x->param, &approval, &err) < 0)
		(void)dw_api_fail_with(&work->why, &err);
	else
		work->reply = dw_approval_to_json(&approval);
	dw_approval_finish(&approval);
}

void dw_api_approval_get(struct dw_exchange *x)
{
	if (start(x))
		dw_exchange_offload(x, get, show);
}

static void forget(struct dw_exchange *x)
{
	struct work *work = x->state;
	struct dw_error err = {0};

	if (dw_approvals_forget(approvals_of(x), x->param, &err) < 0)
		(void)dw_api_fail_with(&work->why, &err);
	else
		work->reply = json_pack("{s:s}", "forgotten", x->param);
}

void dw_api_memory_forget(struct dw_exchange *x)
{
	if (start(x))
		dw_exchange_offload(x, forget, show);
}

/* ---- deciding ---- */

static void decide(struct dw_exchange *x)
{
	struct work *work = x->state;
	const struct dw_ruling ruling = {
		.yes = work->yes,
		.who = x->caller.who,
		.note = work->note,
		.remember = work->remember,
	};
	struct dw_approval approval = {0};
	char line[DW_APPROVAL_LINE_MAX];
	struct dw_error err = {0};
	int r = dw_approvals_decide(approvals_of(x), x->param, &ruling, &approval, &err);

	if (r < 0) {
		(void)dw_api_fail_with(&work->why, &err);
	} else if (r > 0) {
		dw_approval_line(&approval, line);
		(void)dw_api_fail(&work->why, 409, "GET /v1/approvals/{id} shows it",
		                  "already decided: %.200s", line);
	} else {
		work->reply = dw_approval_to_json(&approval);
		dw_service_decided(dw_exchange_service(x));
	}
	dw_approval_finish(&approval);
}

static int read_text(const json_t *tree, const char *key, const char **ret,
                     struct dw_api_error *why)
{
	const json_t *value = json_object_get(tree, key);

	*ret = json_string_value(value);
	if (!value || json_is_null(value) || json_is_string(value))
		return 0;
	return dw_api_fail(why, 400, NULL, "%s must be a string", key);
}

static int check_keys(json_t *tree, struct dw_api_error *why)
{
	static const char *const known[] = {"decision", "remember", "note", NULL};
	const char *key;
	json_t *value;

	json_object_foreach (tree, key, value)
		if (dw_choose(NULL, key, known, NULL) < 0)
			return dw_api_fail(why, 400,
			                   "the keys are decision, remember and note",
			                   "unknown key \"%.64s\"", key);
	return 0;
}

static int read_ruling(json_t *tree, struct work *work)
{
	static const char *const words[] = {"yes", "no", NULL};
	const char *decision, *remember, *note;
	int chosen;
	struct dw_error err = {0};

	if (!json_is_object(tree))
		return dw_api_fail(&work->why, 400, NULL,
		                   "the decision must be a JSON object");
	if (check_keys(tree, &work->why) < 0 ||
	    read_text(tree, "decision", &decision, &work->why) < 0 ||
	    read_text(tree, "remember", &remember, &work->why) < 0 ||
	    read_text(tree, "note", &note, &work->why) < 0)
		return -1;
	if (!decision)
		return dw_api_fail(&work->why, 400, NULL, "decision must be yes or no");
	chosen = dw_choose("decision", decision, words, &err);
	if (chosen < 0)
		return dw_api_fail_with(&work->why, &err);
	work->yes = chosen == 0;
	if (remember && dw_remember_parse(remember, &work->remember, &err) < 0) {
		(void)dw_wrap(&err, "remember");
		return dw_api_fail_with(&work->why, &err);
	}
	if (note && strlen(note) > DW_APPROVALS_TEXT_MAX)
		return dw_api_fail(&work->why, 400, NULL, "note must be at most %d bytes",
		                   DW_APPROVALS_TEXT_MAX);
	work->note = note ? strdup(note) : NULL;
	return 0;
}

void dw_api_approval_decide(struct dw_exchange *x)
{
	struct work *work = start(x);
	json_auto_t *tree = NULL;

	if (!work)
		return;
	tree = json_loadb(x->body.data ? x->body.data : "", x->body.len,
	                  JSON_REJECT_DUPLICATES, NULL);
	if (dw_exchange_check_json(x, &work->why) < 0 || read_ruling(tree, work) < 0)
		show(x);
	else
		dw_exchange_offload(x, decide, show);
}
