/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask-approval PLACE CALLER RULE SESSION EXPIRES_MS [FINDINGS]: asks about the request on
 * stdin, as a front door would, and prints the question as a line of JSON. Then waits
 * for the answer, and uses it; another line says how that went: the state, and the
 * error, "" if the run may begin. The approvals' own session if SESSION is "".
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "approvals/approvals.h"
#include "base/fd.h"

static int fail(const struct dw_error *err)
{
	(void)fprintf(stderr, "ask-approval: %s: %s\n", dw_code_name(err->code),
	              err->text);
	return 1;
}

static void print(json_t *value)
{
	(void)json_dumpf(value, stdout, JSON_COMPACT);
	(void)putchar('\n');
	(void)fflush(stdout);
	json_decref(value);
}

int main(int argc, char **argv)
{
	static char text[4 << 20];
	struct dw_approval asked = {0}, answer = {0};
	char path[DW_APPROVALS_PATH_MAX];
	struct dw_approvals *a = NULL;
	struct dw_asking q = {.door = "test", .reason = "the rule says so"};
	struct dw_error err = {0};
	struct dw_request req;
	ssize_t len;

	if (argc < 6)
		return 2;
	len = dw_fd_read_some(STDIN_FILENO, text, sizeof(text));
	dw_request_init(&req);
	if (len < 0 || dw_request_from_json(&req, text, (size_t)len, &err) < 0)
		return fail(&err);
	q.who = argv[2];
	q.rule = argv[3];
	q.session = argv[4];
	q.expires_ms = strtoull(argv[5], NULL, 10);
	q.findings = argv[6];
	q.req = &req;
	if (dw_approvals_path(argv[1], path, &err) < 0 ||
	    dw_approvals_open(path, NULL, &a, &err) < 0 ||
	    dw_approvals_ask(a, &q, &asked, NULL, &err) < 0)
		return fail(&err);
	print(dw_approval_to_json(&asked));

	if (dw_approvals_wait(a, asked.id, UINT64_MAX, -1, &answer, &err) < 0)
		return fail(&err);
	if (dw_approvals_use(a, asked.id, q.who, asked.id, &req, &err) == 0)
		err = (struct dw_error){0};
	print(json_pack("{s:s, s:s, s:s}", "state", dw_approval_state_name(answer.state),
	                "code", dw_code_name(err.code), "error", err.text));
	dw_approval_finish(&asked);
	dw_approval_finish(&answer);
	dw_approvals_close(a);
	dw_request_finish(&req);
	return 0;
}
