/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "unit/approvals_helpers.h"

#include <sys/stat.h>

#include "approvals/approvals_own.h"
#include "base/clock.h"

static void a_pending_approval_describes_the_request(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request req = request("import socket\n");
	struct dw_asking q = question(&req);
	struct dw_approval asked = ask(a, &q, true), found = {0};
	struct dw_error err = {0};

	assert_int_equal(dw_approvals_get(a, asked.id, &found, &err), 0);
	assert_int_equal(found.state, DW_APPROVAL_PENDING);
	assert_string_equal(found.hash, asked.hash);
	assert_string_equal(found.run, RUN);
	assert_string_equal(found.who, ALICE);
	assert_string_equal(found.door, "http");
	assert_string_equal(found.session, "s1");
	assert_string_equal(found.rule, "network");
	assert_string_equal(found.reason, "it wants the network");
	assert_string_equal(found.findings, "[{\"rule\":\"import:socket\"}]");
	assert_string_equal(found.request,
	                    "{\"language\":\"python\",\"code\":\"import socket\\n\","
	                    "\"network\":\"none\"}");
	assert_true(found.asked_us > 0 && found.expires_us > found.asked_us);
	assert_int_equal(found.decided_us, 0);
	assert_string_equal(found.decided_by, "");
	assert_string_equal(found.memory, "");
	dw_approval_finish(&asked);
	dw_approval_finish(&found);
	dw_approvals_close(a);
}

static void the_file_must_be_private_to_its_owner(void **state)
{
	const struct place *place = *state;
	struct dw_approvals *a = NULL;
	struct dw_error err = {0};
	struct stat st;

	assert_int_equal(dw_approvals_open_existing(place->path, NULL, &a, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	dw_approvals_close(open_approvals(state));
	assert_int_equal(stat(place->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(chmod(place->path, 0644), 0);
	assert_int_equal(dw_approvals_open(place->path, NULL, &a, &err), -1);
	assert_int_equal(err.code, DW_E_DENIED);
}

static void an_approval_is_used_once(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	char id[DW_ID_MAX], again[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(use(a, id, "1"), DW_E_DENIED);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_NO), 0);
	assert_int_equal(state_of(a, id), DW_APPROVAL_APPROVED);
	assert_int_equal(use(a, id, "1"), 0);
	assert_int_equal(state_of(a, id), DW_APPROVAL_USED);
	assert_int_equal(use(a, id, "1"), DW_E_BUSY);
	ask_code(a, "1", again);
	assert_string_not_equal(id, again);
	dw_approvals_close(a);
}

static void an_approval_covers_only_its_request_and_its_caller(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request req = request("1");
	struct dw_error err = {0};
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_NO), 0);
	assert_int_equal(use(a, id, "2"), DW_E_DENIED);
	assert_int_equal(dw_approvals_use(a, id, BOB, RUN, &req, &err), -1);
	assert_int_equal(err.code, DW_E_DENIED);
	req.limits.memory_bytes = 1;
	assert_int_equal(dw_approvals_use(a, id, ALICE, RUN, &req, &err), -1);
	assert_int_equal(err.code, DW_E_DENIED);
	/* The uid identifies the account, not the name. */
	req = request("1");
	assert_int_equal(dw_approvals_use(a, id, "uid:1000", RUN, &req, &err), 0);
	dw_approvals_close(a);
}

static void a_denial_is_final(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_ruling yes = {.yes = true, .who = BOB};
	struct dw_approval told = {0};
	struct dw_error err = {0};
	char id[DW_ID_MAX], line[DW_APPROVAL_LINE_MAX];

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, false, "uid:0 (root)", DW_REMEMBER_NO), 0);
	assert_int_equal(use(a, id, "1"), DW_E_DENIED);
	assert_int_equal(dw_approvals_decide(a, id, &yes, &told, &err), 1);
	assert_int_equal(told.state, DW_APPROVAL_DENIED);
	assert_string_equal(told.decided_by, "uid:0 (root)");
	assert_true(told.decided_us >= told.asked_us);
	dw_approval_line(&told, line);
	assert_ptr_equal(strstr(line, "denied by uid:0 (root) at 2"), line);
	assert_non_null(strstr(line, ": so be it"));
	dw_approval_finish(&told);
	assert_int_equal(use(a, id, "1"), DW_E_DENIED);
	dw_approvals_close(a);
}

static void asking_again_returns_the_same_approval(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request req = request("1");
	struct dw_asking q = question(&req);
	struct dw_approval again;
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	q.run = "fedcba9876543210fedcba9876543210";
	again = ask(a, &q, false);
	assert_string_equal(again.id, id);
	assert_int_equal(again.state, DW_APPROVAL_PENDING);
	dw_approval_finish(&again);

	/* Also after it was approved. */
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_NO), 0);
	again = ask(a, &q, false);
	assert_string_equal(again.id, id);
	assert_int_equal(again.state, DW_APPROVAL_APPROVED);
	dw_approval_finish(&again);

	/* Another rule or another caller gets an approval of its own. */
	q.rule = "other";
	again = ask(a, &q, true);
	assert_string_not_equal(again.id, id);
	dw_approval_finish(&again);
	q.rule = "network";
	q.who = BOB;
	again = ask(a, &q, true);
	dw_approval_finish(&again);
	dw_approvals_close(a);
}

static void approvals_survive_a_restart(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	char pending[DW_ID_MAX], approved[DW_ID_MAX], denied[DW_ID_MAX];

	ask_code(a, "1", pending);
	ask_code(a, "2", approved);
	ask_code(a, "3", denied);
	assert_int_equal(decide(a, approved, true, BOB, DW_REMEMBER_NO), 0);
	assert_int_equal(decide(a, denied, false, BOB, DW_REMEMBER_NO), 0);
	dw_approvals_close(a);

	a = open_approvals(state);
	assert_int_equal(state_of(a, pending), DW_APPROVAL_PENDING);
	assert_int_equal(state_of(a, approved), DW_APPROVAL_APPROVED);
	assert_int_equal(state_of(a, denied), DW_APPROVAL_DENIED);
	assert_int_equal(use(a, approved, "2"), 0);
	assert_int_equal(decide(a, pending, true, BOB, DW_REMEMBER_NO), 0);
	assert_int_equal(use(a, pending, "1"), 0);
	dw_approvals_close(a);
}

static void a_caller_cannot_approve_their_own_request(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_ruling yes = {.yes = true, .who = "uid:1000 (alias)"};
	struct dw_request req = request("2");
	struct dw_asking q = question(&req);
	struct dw_error err = {0};
	struct dw_approval approval;
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(dw_approvals_decide(a, id, &yes, NULL, &err), -1);
	assert_int_equal(err.code, DW_E_DENIED);
	assert_int_equal(state_of(a, id), DW_APPROVAL_PENDING);
	yes.allow_self = true;
	assert_int_equal(dw_approvals_decide(a, id, &yes, NULL, &err), 0);

	/* Unless the policy permitted it when the request was made. */
	yes.allow_self = false;
	q.allow_self = true;
	approval = ask(a, &q, true);
	assert_int_equal(dw_approvals_decide(a, approval.id, &yes, NULL, &err), 0);
	dw_approval_finish(&approval);

	/* uid 10001 only starts like uid 1000; and a caller may deny their own request. */
	ask_code(a, "3", id);
	yes.who = "uid:10001";
	assert_int_equal(dw_approvals_decide(a, id, &yes, NULL, &err), 0);
	ask_code(a, "4", id);
	assert_int_equal(decide(a, id, false, ALICE, DW_REMEMBER_NO), 0);
	dw_approvals_close(a);
}

static void an_expired_approval_is_neither_decided_nor_used(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_ruling yes = {.yes = true, .who = BOB};
	struct dw_approval told = {0};
	struct dw_error err = {0};
	char id[DW_ID_MAX], line[DW_APPROVAL_LINE_MAX];

	ask_code(a, "1", id);
	tamper(state, "UPDATE question SET expires_us = 5");
	assert_int_equal(state_of(a, id), DW_APPROVAL_EXPIRED);
	assert_int_equal(dw_approvals_decide(a, id, &yes, &told, &err), 1);
	assert_int_equal(told.state, DW_APPROVAL_EXPIRED);
	dw_approval_line(&told, line);
	assert_string_equal(line,
	                    "expired at 1970-01-01T00:00:00.000005Z without a decision");
	dw_approval_finish(&told);

	/* It stays expired when the clock is set back. */
	tamper(state, "UPDATE question SET expires_us = 9000000000000000");
	assert_int_equal(state_of(a, id), DW_APPROVAL_EXPIRED);

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_NO), 0);
	tamper(state, "UPDATE question SET expires_us = 5");
	assert_int_equal(use(a, id, "1"), DW_E_DENIED);
	assert_int_equal(state_of(a, id), DW_APPROVAL_EXPIRED);
	dw_approvals_close(a);
}

static void a_wait_after_a_restart_ends_when_the_approval_expires(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request req = request("1");
	struct dw_asking q = question(&req);
	struct dw_approval asked, seen = {0};
	struct dw_error err = {0};

	q.expires_ms = 150;
	asked = ask(a, &q, true);
	dw_approvals_close(a);
	a = open_approvals(state);
	assert_int_equal(dw_approvals_wait(a, asked.id, UINT64_MAX, -1, &seen, &err), 0);
	assert_int_equal(seen.state, DW_APPROVAL_EXPIRED);
	dw_approval_finish(&asked);
	dw_approval_finish(&seen);
	dw_approvals_close(a);
}

static void a_wait_ends_at_its_deadline_or_when_cancelled(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_approval seen = {0};
	struct dw_error err = {0};
	char id[DW_ID_MAX];
	int fds[2];

	ask_code(a, "1", id);
	assert_int_equal(dw_approvals_wait(a, id, dw_now_ms() + 20, -1, &seen, &err), 0);
	assert_int_equal(seen.state, DW_APPROVAL_PENDING);
	dw_approval_finish(&seen);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	(void)close(fds[1]);
	assert_int_equal(dw_approvals_wait(a, id, UINT64_MAX, fds[0], &seen, &err), 0);
	assert_int_equal(seen.state, DW_APPROVAL_PENDING);
	dw_approval_finish(&seen);
	(void)close(fds[0]);
	assert_int_equal(dw_approvals_wait(a, RUN, UINT64_MAX, -1, &seen, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	dw_approvals_close(a);
}

/* ---- remembered approvals ---- */

/* Asks; a remembered approval must answer (want), or must not. */
static void assert_answered(struct dw_approvals *a, const struct dw_asking *q, bool want)
{
	struct dw_approval approval = ask(a, q, !want);
	struct dw_error err = {0};

	assert_int_equal(approval.state,
	                 want ? DW_APPROVAL_APPROVED : DW_APPROVAL_PENDING);
	if (want) {
		assert_int_equal(strlen(approval.memory), DW_ID_MAX - 1);
		assert_string_equal(approval.decided_by, BOB);
		assert_int_equal(dw_approvals_use(a, approval.id, q->who, RUN, q->req,
		                                  &err),
		                 0);
	} else {
		assert_int_equal(decide(a, approval.id, false, BOB, DW_REMEMBER_NO), 0);
	}
	dw_approval_finish(&approval);
}

static int keep_memory(void *user, const struct dw_memory *memory)
{
	*(struct dw_memory *)user = *memory;
	return 0;
}

static void forget_all(struct dw_approvals *a)
{
	struct dw_memory memory = {0};
	struct dw_error err = {0};

	assert_int_equal(dw_approvals_memories(a, keep_memory, &memory, &err), 0);
	assert_int_equal(strlen(memory.id), DW_ID_MAX - 1);
	memory.id[8] = '\0';
	assert_int_equal(dw_approvals_forget(a, memory.id, &err), 0);
	assert_int_equal(dw_approvals_forget(a, memory.id, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
}

static void code_is_remembered_for_its_caller_until_it_is_forgotten(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request req = request("1"), other = request("2");
	struct dw_asking q = question(&req);
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_CODE), 0);
	assert_int_equal(use(a, id, "1"), 0);
	dw_approvals_close(a);
	a = open_approvals(state);
	assert_answered(a, &q, true);
	assert_answered(a, &q, true);
	q.session = "s2";
	assert_answered(a, &q, true);
	q.req = &other;
	assert_answered(a, &q, false);
	q.req = &req;
	q.who = "uid:1002 (carol)";
	assert_answered(a, &q, false);
	q.who = ALICE;
	forget_all(a);
	assert_answered(a, &q, false);
	dw_approvals_close(a);
}

static void a_session_is_remembered_with_its_rule_for_a_day(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request other = request("2");
	struct dw_asking q = question(&other);
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_SESSION), 0);
	assert_answered(a, &q, true);
	q.rule = "other";
	assert_answered(a, &q, false);
	q.rule = "network";
	q.session = "s2";
	assert_answered(a, &q, false);
	q.session = "s1";
	assert_answered(a, &q, true);
	tamper(state, "UPDATE memory SET expires_us = expires_us - 86400000000");
	assert_answered(a, &q, false);
	dw_approvals_close(a);
}

static void without_a_session_id_a_session_ends_at_a_restart(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request req = request("1"), other = request("2");
	struct dw_asking q = question(&req);
	struct dw_approval approval;

	q.session = NULL;
	approval = ask(a, &q, true);
	assert_int_equal(decide(a, approval.id, true, BOB, DW_REMEMBER_SESSION), 0);
	dw_approval_finish(&approval);
	q.req = &other;
	assert_answered(a, &q, true);
	dw_approvals_close(a);
	a = open_approvals(state);
	assert_answered(a, &q, false);
	dw_approvals_close(a);
}

static void a_rule_is_remembered_for_its_caller(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request other = request("2");
	struct dw_asking q = question(&other);
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_RULE), 0);
	q.session = "s2";
	assert_answered(a, &q, true);
	q.who = "key:1f2e3d4c (ci)";
	assert_answered(a, &q, false);
	q.who = ALICE;
	q.rule = "network2";
	assert_answered(a, &q, false);
	q.rule = "network";
	forget_all(a);
	assert_answered(a, &q, false);
	dw_approvals_close(a);
}

static void a_remembered_approval_answers_pending_requests(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	char first[DW_ID_MAX], second[DW_ID_MAX], third[DW_ID_MAX];

	ask_code(a, "1", first);
	ask_code(a, "2", second);
	ask_code(a, "3", third);
	assert_int_equal(decide(a, first, true, BOB, DW_REMEMBER_RULE), 0);
	assert_int_equal(state_of(a, second), DW_APPROVAL_APPROVED);
	assert_int_equal(use(a, second, "2"), 0);
	/* Forgetting withdraws unused approvals that it gave, but not one that a person gave. */
	forget_all(a);
	assert_int_equal(use(a, third, "3"), DW_E_DENIED);
	assert_int_equal(use(a, first, "1"), 0);
	dw_approvals_close(a);
}

static void a_remembered_approval_is_for_the_run_that_asked(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_request req = request("2");
	struct dw_asking q = question(&req);
	struct dw_approval first, second;
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_SESSION), 0);
	first = ask(a, &q, false);
	second = ask(a, &q, false);
	assert_string_not_equal(first.id, second.id);
	dw_approval_finish(&second);
	/* After the session ended, a request finds no unused approval of another run. */
	tamper(state, "UPDATE memory SET expires_us = 5");
	second = ask(a, &q, true);
	assert_int_equal(second.state, DW_APPROVAL_PENDING);
	assert_int_equal(use(a, first.id, "2"), 0);
	dw_approval_finish(&first);
	dw_approval_finish(&second);
	dw_approvals_close(a);
}

static void a_denial_cannot_be_remembered(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_ruling no = {.who = BOB, .remember = DW_REMEMBER_RULE};
	enum dw_remember kind = DW_REMEMBER_NO;
	struct dw_error err = {0};
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	assert_int_equal(dw_approvals_decide(a, id, &no, NULL, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_int_equal(state_of(a, id), DW_APPROVAL_PENDING);
	assert_int_equal(dw_remember_parse("session", &kind, &err), 0);
	assert_int_equal(kind, DW_REMEMBER_SESSION);
	assert_int_equal(dw_remember_parse("no", &kind, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	dw_approvals_close(a);
}

/* ---- bounds ---- */

static void assert_busy(struct dw_approvals *a, const struct dw_asking *q)
{
	struct dw_approval approval = {0};
	struct dw_error err = {0};

	assert_int_equal(dw_approvals_ask(a, q, &approval, NULL, &err), -1);
	assert_int_equal(err.code, DW_E_BUSY);
	assert_null(approval.who);
}

static void pending_approvals_are_limited_per_caller_and_in_total(void **state)
{
	struct dw_approvals *a =
		open_with(state,
	                  &(struct dw_approvals_config){.pending_max = 3,
	                                                .pending_max_per_caller = 2});
	struct dw_request req = request("3");
	struct dw_asking q = question(&req);
	struct dw_approval approval;
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	ask_code(a, "2", id);
	assert_busy(a, &q);
	q.who = BOB;
	approval = ask(a, &q, true);
	dw_approval_finish(&approval);
	q.who = "key:1 (ci)";
	assert_busy(a, &q);
	/* Asking again does not count; a decision frees a place. */
	q.who = BOB;
	approval = ask(a, &q, false);
	dw_approval_finish(&approval);
	assert_int_equal(decide(a, id, false, BOB, DW_REMEMBER_NO), 0);
	q.who = ALICE;
	approval = ask(a, &q, true);
	dw_approval_finish(&approval);
	dw_approvals_close(a);
}

static void a_request_too_large_to_review_is_refused(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	autofree char *code = malloc(DW_APPROVALS_REQUEST_MAX + 1);
	struct dw_approval approval = {0};
	struct dw_error err = {0};
	struct dw_request req;
	struct dw_asking q;

	assert_non_null(code);
	memset(code, 'x', DW_APPROVALS_REQUEST_MAX);
	code[DW_APPROVALS_REQUEST_MAX] = '\0';
	req = request(code);
	q = question(&req);
	assert_int_equal(dw_approvals_ask(a, &q, &approval, NULL, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);

	/* Names are compared, so they are never truncated; reasons are only shown, so they are. */
	code[DW_APPROVALS_TEXT_MAX + 1] = '\0';
	req = request("1");
	q.rule = code;
	assert_int_equal(dw_approvals_ask(a, &q, &approval, NULL, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	q.rule = "network";
	q.reason = code;
	approval = ask(a, &q, true);
	assert_int_equal(strlen(approval.reason), DW_APPROVALS_TEXT_MAX);
	dw_approval_finish(&approval);
	dw_approvals_close(a);
}

static void only_the_first_of_many_findings_are_stored(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	size_t room = 2 * DW_APPROVALS_FINDINGS_MAX, len = 1;
	autofree char *findings = malloc(room + 64);
	struct dw_request req = request("1");
	struct dw_asking q = question(&req);
	struct dw_approval approval;

	assert_non_null(findings);
	findings[0] = '[';
	while (len < room)
		len += (size_t)sprintf(findings + len, "%s\"import:%zu\"",
		                       len > 1 ? "," : "", len);
	(void)strcpy(findings + len, "]");
	q.findings = findings;
	approval = ask(a, &q, true);
	assert_true(strlen(approval.findings) <= DW_APPROVALS_FINDINGS_MAX);
	assert_true(strlen(approval.findings) > DW_APPROVALS_FINDINGS_MAX / 4);
	assert_memory_equal(approval.findings, "[\"import:1\",", 12);
	dw_approval_finish(&approval);
	dw_approvals_close(a);
}

static int count_one(void *user, const struct dw_approval *approval)
{
	(void)approval;
	(*(int *)user)++;
	return 0;
}

static void old_and_surplus_decided_approvals_are_deleted(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_error err = {0};
	char id[DW_ID_MAX];
	int n = 0;

	ask_code(a, "old", id);
	assert_int_equal(decide(a, id, false, BOB, DW_REMEMBER_NO), 0);
	tamper(state, "UPDATE question SET expires_us = 5");
	ask_code(a, "new", id);
	assert_int_equal(dw_approvals_each(a, true, count_one, &n, &err), 0);
	assert_int_equal(n, 1);

	tamper(state,
	       "INSERT INTO question SELECT NULL, printf('%032x', value), 2, allow_self, run, "
	       /* prose: allow the name of a column */
	       "hash, caller, who, door, session, rule, reason, findings, request, asked_us, "
	       "expires_us, use_us, decided_us, decided_by, note, remember, memory, used_us, "
	       "used_by FROM question, (WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL "
	       "SELECT value + 1 FROM c WHERE value < 1200) SELECT value FROM c)");
	ask_code(a, "newer", id);
	n = 0;
	assert_int_equal(dw_approvals_each(a, true, count_one, &n, &err), 0);
	assert_int_equal(n, 1002);
	n = 0;
	assert_int_equal(dw_approvals_each(a, false, count_one, &n, &err), 0);
	assert_int_equal(n, 2);
	dw_approvals_close(a);
}

/* ---- ids ---- */

static void an_unambiguous_prefix_of_an_id_is_accepted(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct dw_approval found = {0};
	struct dw_error err = {0};
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	tamper(state, "UPDATE question SET id = 'abcd0000000000000000000000000000'");
	ask_code(a, "2", id);
	tamper(state, "UPDATE question SET id = 'abce0000000000000000000000000000' "
	              "WHERE id NOT LIKE 'abcd%'");
	assert_int_equal(dw_approvals_get(a, "abcd", &found, &err), 0);
	assert_string_equal(found.id, "abcd0000000000000000000000000000");
	dw_approval_finish(&found);
	assert_int_equal(dw_approvals_get(a, "abc", &found, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_int_equal(dw_approvals_get(a, "abcf", &found, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	for (const char **bad =
	             (const char *[]){"", "xyz", "a%", "' OR 1", RUN "0", NULL};
	     *bad; bad++) {
		assert_int_equal(dw_approvals_get(a, *bad, &found, &err), -1);
		assert_int_equal(err.code, DW_E_INVALID);
	}
	/* A decision accepts a prefix; a run needs the full id. */
	assert_int_equal(decide(a, "abcd", true, BOB, DW_REMEMBER_NO), 0);
	assert_int_equal(use(a, "abcd", "1"), DW_E_INVALID);
	dw_approvals_close(a);
}

static void deleting_the_file_deletes_its_approvals(void **state)
{
	const struct place *place = *state;
	struct dw_approvals *a = open_approvals(state);
	struct dw_approval seen = {0};
	struct dw_error err = {0};
	char id[DW_ID_MAX], again[DW_ID_MAX], name[160];

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_RULE), 0);
	for (const char **end = (const char *[]){"", "-wal", "-shm", NULL}; *end; end++) {
		(void)snprintf(name, sizeof(name), "%s%s", place->path, *end);
		assert_int_equal(unlink(name), 0);
	}
	assert_int_equal(use(a, id, "1"), DW_E_NOT_FOUND);
	assert_int_equal(dw_approvals_wait(a, id, UINT64_MAX, -1, &seen, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	ask_code(a, "1", again);
	assert_int_equal(state_of(a, again), DW_APPROVAL_PENDING);
	dw_approvals_close(a);
}

static void an_approval_belongs_to_the_callers_uid(void **state)
{
	(void)state;
	assert_true(dw_approvals_same(ALICE, "uid:1000 (otherwise)"));
	assert_false(dw_approvals_same(ALICE, "uid:100"));
	assert_false(dw_approvals_same(ALICE, "uid:10000"));
	assert_false(dw_approvals_same(ALICE, ""));
}

static void a_damaged_file_approves_nothing(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	char id[DW_ID_MAX];

	ask_code(a, "1", id);
	tamper(state, "UPDATE question SET state = 17");
	assert_int_equal(use(a, id, "1"), DW_E_INTERNAL);
	dw_approvals_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pending_approval_describes_the_request),
		TEST(the_file_must_be_private_to_its_owner),
		TEST(an_approval_is_used_once),
		TEST(an_approval_covers_only_its_request_and_its_caller),
		TEST(a_denial_is_final),
		TEST(asking_again_returns_the_same_approval),
		TEST(approvals_survive_a_restart),
		TEST(a_caller_cannot_approve_their_own_request),
		TEST(an_expired_approval_is_neither_decided_nor_used),
		TEST(a_wait_after_a_restart_ends_when_the_approval_expires),
		TEST(a_wait_ends_at_its_deadline_or_when_cancelled),
		TEST(code_is_remembered_for_its_caller_until_it_is_forgotten),
		TEST(a_session_is_remembered_with_its_rule_for_a_day),
		TEST(without_a_session_id_a_session_ends_at_a_restart),
		TEST(a_rule_is_remembered_for_its_caller),
		TEST(a_remembered_approval_answers_pending_requests),
		TEST(a_remembered_approval_is_for_the_run_that_asked),
		TEST(a_denial_cannot_be_remembered),
		TEST(pending_approvals_are_limited_per_caller_and_in_total),
		TEST(a_request_too_large_to_review_is_refused),
		TEST(only_the_first_of_many_findings_are_stored),
		TEST(old_and_surplus_decided_approvals_are_deleted),
		TEST(an_unambiguous_prefix_of_an_id_is_accepted),
		TEST(deleting_the_file_deletes_its_approvals),
		TEST(an_approval_belongs_to_the_callers_uid),
		TEST(a_damaged_file_approves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
