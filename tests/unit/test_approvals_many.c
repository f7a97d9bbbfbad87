/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "unit/approvals_helpers.h"

#include <pthread.h>
#include <sys/wait.h>

#include "approvals/approvals_own.h"
#include "base/clock.h"

/* Threads and processes that decide at the same time: exactly one decision counts. */

#define DECIDERS 8
#define ROUNDS 20
#define TIMEOUT_MS 20000

struct decider {
	struct dw_approvals *a; /* shared, or NULL: the thread opens its own */
	void **state;
	const char *id;
	pthread_barrier_t *barrier;
	int number;
	int won;
	enum dw_approval_state told;
	char by[64];
};

/* Even numbers approve, odd numbers deny. */
static void *decide_once(void *user)
{
	struct decider *d = user;
	struct dw_approvals *a = d->a ? d->a : open_approvals(d->state);
	struct dw_ruling decision = {.yes = d->number % 2 == 0};
	struct dw_approval told = {0};
	struct dw_error err = {0};
	char who[64];
	int r;

	(void)snprintf(who, sizeof(who), "uid:%d", 2000 + d->number);
	decision.who = who;
	(void)pthread_barrier_wait(d->barrier);
	r = dw_approvals_decide(a, d->id, &decision, &told, &err);
	d->won = r;
	if (r >= 0) {
		d->told = told.state;
		(void)snprintf(d->by, sizeof(d->by), "%s", told.decided_by);
	}
	dw_approval_finish(&told);
	if (!d->a)
		dw_approvals_close(a);
	return NULL;
}

static void race(void **state, struct dw_approvals *a, const char *id, bool shared)
{
	struct decider deciders[DECIDERS];
	pthread_t threads[DECIDERS];
	pthread_barrier_t barrier;
	int winner = -1;

	assert_int_equal(pthread_barrier_init(&barrier, NULL, DECIDERS), 0);
	for (int i = 0; i < DECIDERS; i++) {
		deciders[i] = (struct decider){.a = shared ? a : NULL,
		                               .state = state,
		                               .id = id,
		                               .barrier = &barrier,
		                               .number = i};
		assert_int_equal(pthread_create(&threads[i], NULL, decide_once,
		                                &deciders[i]),
		                 0);
	}
	for (int i = 0; i < DECIDERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < DECIDERS; i++)
		if (deciders[i].won == 0) {
			assert_int_equal(winner, -1);
			winner = i;
		}
	assert_int_not_equal(winner, -1);
	/* All others were told the winner's name and decision. */
	for (int i = 0; i < DECIDERS; i++) {
		assert_int_equal(deciders[i].won, i != winner);
		assert_int_equal(deciders[i].told, winner % 2 == 0 ? DW_APPROVAL_APPROVED
		                                                   : DW_APPROVAL_DENIED);
		assert_string_equal(deciders[i].by, deciders[winner].by);
	}
	(void)pthread_barrier_destroy(&barrier);
}

static void exactly_one_of_many_deciding_threads_wins(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	char id[DW_ID_MAX];

	for (int i = 0; i < ROUNDS; i++) {
		ask_code(a, "1", id);
		race(state, a, id, i % 2 == 0);
		if (state_of(a, id) == DW_APPROVAL_APPROVED)
			assert_int_equal(use(a, id, "1"), 0);
	}
	dw_approvals_close(a);
}

static void exactly_one_of_many_deciding_processes_wins(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	char id[DW_ID_MAX], byte;
	pid_t pids[DECIDERS];
	int status, won = 0, gate[2];

	ask_code(a, "1", id);
	dw_approvals_close(a); /* an SQLite connection must not be used across fork() */
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	for (int i = 0; i < DECIDERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			(void)close(gate[1]);
			a = open_approvals(state);
			(void)!read(gate[0], &byte, 1);
			_exit(decide(a, id, i % 2 == 0, BOB, DW_REMEMBER_NO) == 0 ? 10
			                                                          : 11);
		}
	}
	(void)close(gate[1]);
	for (int i = 0; i < DECIDERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		assert_true(WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 11);
		won += WEXITSTATUS(status) == 10;
	}
	(void)close(gate[0]);
	assert_int_equal(won, 1);
}

struct user {
	struct dw_approvals *a;
	const char *id;
	pthread_barrier_t *barrier;
	int got;
};

static void *use_once(void *user)
{
	struct user *u = user;

	(void)pthread_barrier_wait(u->barrier);
	u->got = use(u->a, u->id, "1");
	return NULL;
}

static void exactly_one_of_many_runs_uses_the_approval(void **state)
{
	struct dw_approvals *a = open_approvals(state), *b = open_approvals(state);
	struct user users[DECIDERS];
	pthread_t threads[DECIDERS];
	pthread_barrier_t barrier;
	char id[DW_ID_MAX];
	int won = 0;

	ask_code(a, "1", id);
	assert_int_equal(decide(a, id, true, BOB, DW_REMEMBER_NO), 0);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, DECIDERS), 0);
	for (int i = 0; i < DECIDERS; i++) {
		users[i] = (struct user){i % 2 ? a : b, id, &barrier, -1};
		assert_int_equal(pthread_create(&threads[i], NULL, use_once, &users[i]),
		                 0);
	}
	for (int i = 0; i < DECIDERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		won += users[i].got == 0;
		assert_true(users[i].got == 0 || users[i].got == DW_E_BUSY);
	}
	assert_int_equal(won, 1);
	(void)pthread_barrier_destroy(&barrier);
	dw_approvals_close(a);
	dw_approvals_close(b);
}

struct waiter {
	struct dw_approvals *a;
	char id[DW_ID_MAX];
	int r;
	enum dw_approval_state seen;
};

static void *wait_once(void *user)
{
	struct waiter *w = user;
	uint64_t deadline_ms = dw_now_ms() + TIMEOUT_MS;
	struct dw_approval seen = {0};

	w->r = dw_approvals_wait(w->a, w->id, deadline_ms, -1, &seen, NULL);
	/* At the deadline the state is read in any case: that is no notification. */
	if (dw_now_ms() >= deadline_ms)
		w->r = -2;
	w->seen = seen.state;
	dw_approval_finish(&seen);
	return NULL;
}

#define WAITERS 16

/* Returns when the waiting threads have checked the file this many times. */
static void let_them_look(struct dw_approvals *a, int times)
{
	uint64_t before = 0, now;

	while (times > 0) {
		(void)usleep(10000);
		(void)pthread_mutex_lock(&a->lock);
		now = a->checked_ms;
		(void)pthread_mutex_unlock(&a->lock);
		times -= now != before;
		before = now;
	}
}

/* Another process decides, as `dewar approve` would, while the threads wait. */
static void waiting_threads_see_the_decisions_of_another_process(void **state)
{
	struct dw_approvals *a = open_approvals(state);
	struct waiter waiters[WAITERS];
	pthread_t threads[WAITERS];
	char code[16], byte = 0;
	int status, gate[2];
	pid_t pid;

	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	for (int i = 0; i < WAITERS; i++) {
		(void)snprintf(code, sizeof(code), "%d", i);
		ask_code(a, code, waiters[i].id);
	}
	dw_approvals_close(a);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		a = open_approvals(state);
		if (read(gate[0], &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < WAITERS; i++)
			(void)decide(a, waiters[i].id, i % 2 == 0, BOB, DW_REMEMBER_NO);
		_exit(0);
	}
	a = open_approvals(state);
	for (int i = 0; i < WAITERS; i++) {
		waiters[i].a = a;
		assert_int_equal(pthread_create(&threads[i], NULL, wait_once,
		                                &waiters[i]),
		                 0);
	}
	let_them_look(a, 3);
	assert_int_equal(write(gate[1], &byte, 1), 1);
	for (int i = 0; i < WAITERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(waiters[i].r, 0);
		assert_int_equal(waiters[i].seen,
		                 i % 2 == 0 ? DW_APPROVAL_APPROVED : DW_APPROVAL_DENIED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)close(gate[0]);
	(void)close(gate[1]);
	dw_approvals_close(a);
}

static void *ask_once(void *user)
{
	struct waiter *w = user;
	struct dw_request req = request("1");
	struct dw_asking q = question(&req);
	struct dw_approval approval = {0};
	bool fresh = false;

	w->r = dw_approvals_ask(w->a, &q, &approval, &fresh, NULL);
	if (w->r == 0)
		memcpy(w->id, approval.id, DW_ID_MAX);
	w->seen = fresh;
	dw_approval_finish(&approval);
	return NULL;
}

static void concurrent_identical_requests_share_one_approval(void **state)
{
	struct dw_approvals *a = open_approvals(state), *b = open_approvals(state);
	struct waiter askers[DECIDERS];
	pthread_t threads[DECIDERS];
	int fresh = 0;

	for (int i = 0; i < DECIDERS; i++) {
		askers[i] = (struct waiter){.a = i % 2 ? a : b};
		assert_int_equal(pthread_create(&threads[i], NULL, ask_once, &askers[i]),
		                 0);
	}
	for (int i = 0; i < DECIDERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(askers[i].r, 0);
		fresh += (int)askers[i].seen;
		assert_string_equal(askers[i].id, askers[0].id);
	}
	assert_int_equal(fresh, 1);
	dw_approvals_close(a);
	dw_approvals_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exactly_one_of_many_deciding_threads_wins),
		TEST(exactly_one_of_many_deciding_processes_wins),
		TEST(exactly_one_of_many_runs_uses_the_approval),
		TEST(waiting_threads_see_the_decisions_of_another_process),
		TEST(concurrent_identical_requests_share_one_approval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
