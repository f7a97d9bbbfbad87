/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask-hook TIMEOUT_MS URL | PROGRAM [ARGUMENT...]: asks the hook about what is on stdin,
 * and prints what it came to as a line of JSON. As ask-hook notify N TIMEOUT_MS ... it
 * tells it N times instead, without waiting, and prints each failure as a line; it ends
 * when its stdin does.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "approvals/hook.h"
#include "base/clock.h"
#include "base/fd.h"

static void print_failed(void *user, const char *text)
{
	(void)user;
	(void)printf("%s\n", text);
	(void)fflush(stdout);
}

static int notify(const struct dw_hook *hook, int n)
{
	struct dw_notifier *notifier = NULL;
	struct dw_error err = {0};
	char text[64];

	if (dw_notifier_create(hook, print_failed, NULL, &notifier, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (int i = 0; i < n; i++)
		dw_hook_notify(notifier, text,
		               (size_t)snprintf(text, sizeof(text), "{\"n\": %d}", i));
	(void)printf("told\n");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, text, sizeof(text)) > 0)
		;
	dw_notifier_free(notifier);
	return 0;
}

int main(int argc, char **argv)
{
	static char text[80 << 20];
	struct dw_hook_answer answer;
	struct dw_hook hook = {0};
	int notices = 0;
	json_t *said;
	ssize_t len;

	if (argc > 3 && strcmp(argv[1], "notify") == 0) {
		notices = atoi(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc < 3)
		return 2;
	hook.timeout_ms = strtoull(argv[1], NULL, 10);
	if (strstr(argv[2], "://"))
		hook.url = argv[2];
	else
		hook.argv = (const char *const *)argv + 2;
	if (notices > 0)
		return notify(&hook, notices);
	len = dw_fd_read_some(STDIN_FILENO, text, sizeof(text));
	if (len < 0)
		return 1;
	dw_hook_ask(&hook, text, (size_t)len, &answer);
	said = json_pack("{s:s, s:b, s:s, s:s}", "decision",
	                 dw_hook_decision_name(answer.decision), "failed", answer.failed,
	                 "reason", answer.reason, "detail", answer.detail);
	(void)json_dumpf(said, stdout, 0);
	json_decref(said);
	(void)putchar('\n');
	return 0;
}
