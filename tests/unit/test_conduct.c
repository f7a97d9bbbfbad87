/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "run/conduct.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "request/request.h"

/*
 * The sequence of a run with a real policy, real approvals and a real audit record; only
 * the program is not executed.
 */
static char folder[] = "/tmp/dewar-conduct-XXXXXX";
static char audit_path[64], approvals_path[64], policy_path[64];
static struct dw_audit *audit;
static struct dw_approvals *approvals;
static unsigned executed;

static const char alice[] = "uid:1000 (alice)";

static int set_up(void **state)
{
	struct dw_error err = {0};

	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/dewar-conduct-XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(audit_path, sizeof(audit_path), "%s/audit.db", folder);
	(void)snprintf(approvals_path, sizeof(approvals_path), "%s/approvals.db", folder);
	(void)snprintf(policy_path, sizeof(policy_path), "%s/policy.yaml", folder);
	executed = 0;
	if (dw_audit_open(audit_path, 0, &audit, &err) < 0 ||
	    dw_approvals_open(approvals_path, NULL, &approvals, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	dw_audit_close(audit);
	dw_approvals_close(approvals);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static struct dw_approvals *on_approvals(void *user, struct dw_error *err)
{
	(void)user;
	(void)err;
	return approvals;
}

static struct dw_conductor *conductor_with(const char *policy)
{
	struct dw_conductor_config config = {
		.policy = policy_path,
		.audit = audit,
		.approver = {.approvals = on_approvals},
	};
	struct dw_conductor *conductor = NULL;
	struct dw_error err = {0};
	FILE *file = fopen(policy_path, "we");

	assert_non_null(file);
	assert_true(fprintf(file, "version: 1\n%s\n", policy) > 0);
	assert_int_equal(fclose(file), 0);
	if (dw_conductor_create(&config, &conductor, &err) < 0)
		fail_msg("%s", err.text);
	return conductor;
}

static int on_execute(struct dw_conduct *run, struct dw_result **ret,
                      struct dw_error *err)
{
	(void)err;
	executed++;
	*ret = dw_result_blank(&run->req);
	assert_non_null(*ret);
	(*ret)->ok = true;
	return 0;
}

/* Makes a run of print(1), with an id that ends in this digit. */
static void make_run(struct dw_conduct *run, struct dw_request *req,
                     char ids[][DW_ID_MAX], unsigned n)
{
	(void)snprintf(ids[n], DW_ID_MAX, "0123456789abcdef0123456789abcde%u", n);
	dw_request_init(req);
	req->id = ids[n];
	req->language = "python";
	req->code = (struct dw_bytes){"print(1)", 8};
	*run = (struct dw_conduct){.door = "http",
	                           .who = alice,
	                           .asked = req,
	                           .execute = on_execute};
}

/* A conductor with a policy, and a run of print(1). */
struct trial {
	struct dw_conductor *conductor;
	struct dw_conduct run;
	struct dw_request req;
	char ids[1][DW_ID_MAX];
};

static void begin(struct trial *t, const char *policy)
{
	t->conductor = conductor_with(policy);
	make_run(&t->run, &t->req, t->ids, 0);
}

static void end(struct trial *t)
{
	dw_result_free(t->run.res);
	dw_conduct_finish(&t->run);
	dw_conductor_free(t->conductor);
}

static void approve(const struct dw_conduct *run)
{
	struct dw_ruling yes = {.yes = true, .who = "uid:0 (root)"};
	struct dw_error err = {0};

	if (dw_approvals_decide(approvals, run->permission.approval.id, &yes, NULL,
	                        &err) != 0)
		fail_msg("%s", err.text);
}

static enum dw_approval_state approval_state(const char *id)
{
	enum dw_approval_state state = DW_APPROVAL_STATE_COUNT;

	assert_int_equal(dw_approvals_state(approvals, id, &state, NULL), 0);
	return state;
}

struct rows {
	unsigned intents, outcomes;
	char decision[2][32], rule[2][600];
};

static int on_row(void *user, const struct dw_audit_record *rec)
{
	struct rows *rows = user;
	bool is_outcome = rec->kind.len == 7 && memcmp(rec->kind.data, "outcome", 7) == 0;
	int i = is_outcome;

	rows->intents += !is_outcome;
	rows->outcomes += is_outcome;
	(void)snprintf(rows->decision[i], sizeof(rows->decision[i]), "%.*s",
	               (int)rec->decision.len,
	               rec->decision.data ? (const char *)rec->decision.data : "");
	(void)snprintf(rows->rule[i], sizeof(rows->rule[i]), "%.*s", (int)rec->rule.len,
	               rec->rule.data ? (const char *)rec->rule.data : "");
	return 0;
}

static struct rows read_rows(void)
{
	struct dw_audit_reader *reader = NULL;
	struct dw_audit_filter all = {0};
	struct dw_error err = {0};
	struct rows rows = {0};

	if (dw_audit_reader_open(audit_path, &reader, &err) < 0 ||
	    dw_audit_each_record(reader, &all, on_row, &rows, &err) < 0)
		fail_msg("%s", err.text);
	dw_audit_reader_close(reader);
	return rows;
}

/* Makes SQLite refuse each new row of this kind, as a full disk would. */
static void refuse_rows(const char *kind)
{
	char text[256];
	sqlite3 *db = NULL;

	(void)snprintf(text, sizeof(text),
	               "CREATE TRIGGER full BEFORE INSERT ON record WHEN NEW.kind = '%s' "
	               "BEGIN SELECT RAISE(FAIL, 'disk full'); END",
	               kind);
	assert_int_equal(sqlite3_open(audit_path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#define DENY "default: allow\nrules: [{name: no, decision: deny}]"
#define ASK "default: ask"

static void intent_and_outcome_carry_the_decision_and_the_rule(void **state)
{
	struct trial t;
	struct rows rows;

	(void)state;
	begin(&t, DENY);
	assert_true(dw_conduct(t.conductor, &t.run));
	assert_int_equal(t.run.res->reason, DW_REASON_POLICY);
	assert_int_equal(executed, 0);
	rows = read_rows();
	assert_int_equal(rows.intents, 1);
	assert_int_equal(rows.outcomes, 1);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(rows.decision[i], "deny");
		assert_string_equal(rows.rule[i], "no");
	}
	end(&t);
}

static void an_invalid_request_is_not_recorded(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, "default: allow");
	t.req.command = "ls"; /* in addition to code */
	assert_true(dw_conduct(t.conductor, &t.run));
	assert_null(t.run.res);
	assert_int_equal(t.run.error.code, DW_E_INVALID);
	assert_int_equal(t.run.step, DW_CONDUCT_PERMISSION);
	assert_int_equal(read_rows().intents, 0);
	end(&t);
}

static void an_approval_is_kept_if_the_intent_cannot_be_recorded(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, ASK);
	assert_false(dw_conduct(t.conductor, &t.run));
	approve(&t.run);
	refuse_rows("intent");
	assert_true(dw_conduct(t.conductor, &t.run));
	assert_null(t.run.res);
	assert_int_equal(t.run.step, DW_CONDUCT_INTENT);
	assert_non_null(strstr(t.run.error.text, "no record, no run"));
	assert_int_equal(executed, 0);
	assert_int_equal(approval_state(t.run.permission.approval.id),
	                 DW_APPROVAL_APPROVED);
	end(&t);
}

static void an_approval_is_spent_by_the_run(void **state)
{
	struct trial t;
	struct rows rows;

	(void)state;
	begin(&t, ASK);
	assert_false(dw_conduct(t.conductor, &t.run));
	assert_int_equal(read_rows().intents, 0);
	approve(&t.run);
	assert_true(dw_conduct(t.conductor, &t.run));
	assert_true(t.run.res->ok);
	assert_int_equal(approval_state(t.run.permission.approval.id), DW_APPROVAL_USED);
	rows = read_rows();
	for (int i = 0; i < 2; i++) {
		assert_string_equal(rows.decision[i], "ask");
		assert_non_null(strstr(rows.rule[i],
		                       "default: approved by uid:0 (root), approval "));
	}
	end(&t);
}

static void a_run_whose_approval_another_run_used_asks_again(void **state)
{
	struct dw_conductor *conductor = conductor_with(ASK);
	struct dw_conduct runs[2];
	struct dw_request reqs[2];
	char ids[2][DW_ID_MAX];
	char first[DW_ID_MAX];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		make_run(&runs[i], &reqs[i], ids, i);
		assert_false(dw_conduct(conductor, &runs[i]));
	}
	(void)snprintf(first, sizeof(first), "%s", runs[0].permission.approval.id);
	assert_string_equal(runs[1].permission.approval.id, first);
	approve(&runs[0]);
	assert_true(dw_conduct(conductor, &runs[0]));
	assert_true(runs[0].res->ok);

	assert_false(dw_conduct(conductor, &runs[1]));
	assert_string_not_equal(runs[1].permission.approval.id, first);
	approve(&runs[1]);
	assert_true(dw_conduct(conductor, &runs[1]));
	assert_true(runs[1].res->ok);
	assert_int_equal(executed, 2);
	for (unsigned i = 0; i < 2; i++) {
		dw_result_free(runs[i].res);
		dw_conduct_finish(&runs[i]);
	}
	dw_conductor_free(conductor);
}

/* Uses the approval right before this run spends it, as a faster run would. */
static struct dw_conduct *robbed;
static bool answered;

static struct dw_approvals *rob(void *user, struct dw_error *err)
{
	struct dw_error why = {0};

	(void)user;
	(void)err;
	if (robbed && answered) {
		assert_int_equal(dw_approvals_use(approvals,
		                                  robbed->permission.approval.id, alice,
		                                  "robber", &robbed->req, &why),
		                 0);
		robbed = NULL;
	}
	answered = true;
	return approvals;
}

/* All limits are set, so that the digest of another caller's request is the same. */
static const struct dw_limits all_limits = {
	.timeout_ms = 1000,
	.memory_bytes = 64 << 20,
	.cpu_percent = 50,
	.output_bytes = 1000,
	.tmp_bytes = 1 << 20,
	.pids = 8,
	.files = 64,
};

static void no_intent_names_an_approval_that_another_run_used(void **state)
{
	struct dw_conductor_config config = {
		.policy = policy_path,
		.audit = audit,
		.approver = {.approvals = rob},
	};
	struct dw_conductor *conductor = NULL;
	char ids[1][DW_ID_MAX], first[DW_ID_MAX];
	struct dw_error err = {0};
	struct dw_conduct run;
	struct dw_request req;
	struct rows rows;

	(void)state;
	dw_conductor_free(conductor_with(ASK));
	if (dw_conductor_create(&config, &conductor, &err) < 0)
		fail_msg("%s", err.text);
	make_run(&run, &req, ids, 0);
	req.limits = all_limits;
	assert_false(dw_conduct(conductor, &run));
	(void)snprintf(first, sizeof(first), "%s", run.permission.approval.id);
	approve(&run);
	robbed = &run;
	answered = false;
	assert_false(dw_conduct(conductor, &run));
	assert_null(robbed);
	assert_string_not_equal(run.permission.approval.id, first);
	assert_int_equal(executed, 0);
	assert_int_equal(read_rows().intents, 0);

	approve(&run);
	assert_true(dw_conduct(conductor, &run));
	assert_true(run.res->ok);
	rows = read_rows();
	assert_int_equal(rows.intents, 1);
	assert_int_equal(rows.outcomes, 1);
	for (int i = 0; i < 2; i++) {
		assert_non_null(strstr(rows.rule[i], run.permission.approval.id));
		assert_null(strstr(rows.rule[i], first));
	}
	dw_result_free(run.res);
	dw_conduct_finish(&run);
	dw_conductor_free(conductor);
}

static void a_cancelled_run_spends_no_approval(void **state)
{
	struct trial t;
	autoclose int cancel = eventfd(1, EFD_CLOEXEC);
	struct rows rows;

	(void)state;
	begin(&t, ASK);
	t.req.cancel_fd = cancel;
	assert_false(dw_conduct(t.conductor, &t.run));
	approve(&t.run);
	assert_true(dw_conduct(t.conductor, &t.run));
	assert_int_equal(t.run.res->reason, DW_REASON_CANCELLED);
	assert_int_equal(executed, 0);
	assert_int_equal(approval_state(t.run.permission.approval.id),
	                 DW_APPROVAL_APPROVED);
	rows = read_rows();
	for (int i = 0; i < 2; i++)
		assert_string_equal(rows.rule[i], "default");
	end(&t);
}

static void an_outcome_that_cannot_be_recorded_is_reported_with_the_result(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, "default: allow");
	refuse_rows("outcome");
	assert_true(dw_conduct(t.conductor, &t.run));
	assert_true(t.run.res->ok);
	assert_int_not_equal(t.run.unrecorded.code, DW_OK);
	end(&t);
}

static int refuse_to_ask(struct dw_conduct *run, bool asking, struct dw_error *err)
{
	(void)run;
	return asking ? dw_fail(err, DW_E_BUSY, 0, "no room") : 0;
}

static void a_person_is_not_asked_about_a_run_that_the_front_door_refuses(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, ASK);
	t.run.admit = refuse_to_ask;
	assert_true(dw_conduct(t.conductor, &t.run));
	assert_null(t.run.res);
	assert_int_equal(t.run.error.code, DW_E_BUSY);
	assert_string_equal(t.run.permission.approval.id, "");
	assert_int_equal(read_rows().intents, 0);
	end(&t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(intent_and_outcome_carry_the_decision_and_the_rule),
		TEST(an_invalid_request_is_not_recorded),
		TEST(an_approval_is_kept_if_the_intent_cannot_be_recorded),
		TEST(an_approval_is_spent_by_the_run),
		TEST(a_run_whose_approval_another_run_used_asks_again),
		TEST(no_intent_names_an_approval_that_another_run_used),
		TEST(a_cancelled_run_spends_no_approval),
		TEST(an_outcome_that_cannot_be_recorded_is_reported_with_the_result),
		TEST(a_person_is_not_asked_about_a_run_that_the_front_door_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
