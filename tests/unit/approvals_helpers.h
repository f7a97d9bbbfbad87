/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_TESTS_APPROVALS_HELPERS_H
#define DW_TESTS_APPROVALS_HELPERS_H

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

#include "approvals/approvals.h"
#include "base/cleanup.h"
#include "base/path.h"

/* Helpers shared by the tests of approvals. */

#define ALICE "uid:1000 (alice)"
#define BOB "uid:1001 (bob)"
#define RUN "0123456789abcdef0123456789abcdef"

struct place {
	char folder[64];
	char path[128];
};

static inline int make_place(void **state)
{
	static struct place place;

	(void)strcpy(place.folder, "/tmp/dewar-test-approvals-XXXXXX");
	if (!mkdtemp(place.folder))
		return -1;
	(void)snprintf(place.path, sizeof(place.path), "%s/a/state/approvals.db",
	               place.folder);
	*state = &place;
	return 0;
}

static inline int remove_place(void **state)
{
	const struct place *place = *state;
	autoclose int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dw_path_remove_tree(tmp, place->folder + strlen("/tmp/"));
}

static inline struct dw_approvals *open_with(void **state,
                                             const struct dw_approvals_config *config)
{
	const struct place *place = *state;
	struct dw_approvals *a = NULL;
	struct dw_error err = {0};

	if (dw_approvals_open(place->path, config, &a, &err) < 0)
		fail_msg("%s", err.text);
	return a;
}

static inline struct dw_approvals *open_approvals(void **state)
{
	return open_with(state, NULL);
}

static inline void tamper(void **state, const char *sql)
{
	const struct place *place = *state;
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(place->path, &db, SQLITE_OPEN_READWRITE, NULL),
	                 SQLITE_OK);
	(void)sqlite3_busy_timeout(db, 10000);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(db);
}

/* A request whose code is the text. */
static inline struct dw_request request(const char *code)
{
	struct dw_request req;

	dw_request_init(&req);
	req.language = "python";
	req.code = (struct dw_bytes){code, strlen(code)};
	return req;
}

static inline struct dw_asking question(const struct dw_request *req)
{
	return (struct dw_asking){.run = RUN,
	                          .who = ALICE,
	                          .door = "http",
	                          .session = "s1",
	                          .rule = "network",
	                          .reason = "it wants the network",
	                          .findings = "[{\"rule\": \"import:socket\"}]",
	                          .req = req};
}

static inline struct dw_approval ask(struct dw_approvals *a, const struct dw_asking *q,
                                     bool want_new)
{
	struct dw_approval approval = {0};
	struct dw_error err = {0};
	bool is_new = !want_new;

	if (dw_approvals_ask(a, q, &approval, &is_new, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(is_new, want_new);
	return approval;
}

/* Asks for an approval of this code, otherwise with question()'s fields; stores its id. */
static inline void ask_code(struct dw_approvals *a, const char *code, char id[DW_ID_MAX])
{
	struct dw_request req = request(code);
	struct dw_asking q = question(&req);
	struct dw_approval approval = ask(a, &q, true);

	assert_int_equal(approval.state, DW_APPROVAL_PENDING);
	memcpy(id, approval.id, DW_ID_MAX);
	dw_approval_finish(&approval);
}

static inline int decide(struct dw_approvals *a, const char *id, bool yes,
                         const char *who, enum dw_remember remember)
{
	struct dw_ruling decision = {.yes = yes,
	                             .who = who,
	                             .note = "so be it",
	                             .remember = remember};
	struct dw_error err = {0};
	int r = dw_approvals_decide(a, id, &decision, NULL, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	return r;
}

static inline enum dw_approval_state state_of(struct dw_approvals *a, const char *id)
{
	struct dw_approval approval = {0};
	struct dw_error err = {0};
	enum dw_approval_state found;

	if (dw_approvals_get(a, id, &approval, &err) < 0)
		fail_msg("%s", err.text);
	found = approval.state;
	dw_approval_finish(&approval);
	return found;
}

/* Returns 0, or the code of the error. */
static inline int use(struct dw_approvals *a, const char *id, const char *code)
{
	struct dw_request req = request(code);
	struct dw_error err = {0};

	if (dw_approvals_use(a, id, ALICE, RUN, &req, &err) == 0)
		return 0;
	assert_true(err.text[0] != '\0');
	return (int)err.code;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

#endif
