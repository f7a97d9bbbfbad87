/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "verify/heard.h"
#include "verify/look.h"
#include "verify/oracles.h"
#include "verify/pool.h"
#include "verify/traces.h"

#define ATTEMPT_MS 15000
#define HELD_POLL_MS 3
#define QUIET_POLL_MS 50
/* Outside there are more processes to look through, and an image may have to be pulled. */
#define OUTSIDE_MS 180000
#define OUTSIDE_POLL_MS 10
#define BLIND_MS 2000

struct attempt {
	const struct dw_attack *attack;
	const struct dw_target *at;
	struct dw_stage stage;
	struct dw_listeners listeners;
	const struct dw_tools *tools;
	struct dw_party party[2]; /* the only one, or who is there before; the second */
	char reached[128];        /* which listener was */
	bool held;                /* the first of two stood ready for the second */
	bool called_off;          /* nobody waits for what comes of it */
	struct dw_observed *out;
};

static bool has_oracle(const struct dw_attack *attack, const char *kind)
{
	for (const char *const *o = attack->oracles; *o; o++)
		if (strncmp(*o, kind, strlen(kind)) == 0)
			return true;
	return false;
}

static void fire(struct attempt *a, const char *seen)
{
	if (!a->out->fired)
		(void)snprintf(a->out->seen, sizeof(a->out->seen), "%s", seen);
	a->out->fired = true;
}

/* Whatever a held or counted thing is, it is there now. */
static void look_while_held(struct attempt *a)
{
	char seen[256] = "";

	for (const char *const *o = a->attack->oracles; *o; o++) {
		if (strncmp(*o, "held", 4) != 0 && strncmp(*o, "count", 5) != 0)
			continue;
		if (dw_held_meets(a->stage.nonce, *o, seen, sizeof(seen)) ||
		    dw_count_meets(a->stage.nonce, *o, seen, sizeof(seen)))
			fire(a, seen);
	}
}

enum until {
	UNTIL_END,
	UNTIL_HELD, /* or its end */
};

static uint64_t time_for(const struct attempt *a)
{
	return a->stage.range->outside ? OUTSIDE_MS : ATTEMPT_MS;
}

/*
 * Processes in a kernel of their own are none of the host's, and cannot be looked at.
 * Who is still there after a while does its part: nobody else takes so long.
 */
static bool is_blind(const struct attempt *a)
{
	return a->stage.range->outside && dw_runtime_has_kernel(a->tools->runtime);
}

static int pause_of(const struct attempt *a, bool watchful)
{
	if (!watchful)
		return QUIET_POLL_MS;
	return a->stage.range->outside ? OUTSIDE_POLL_MS : HELD_POLL_MS;
}

/* Let a party go on, with the listeners at work. false: it takes too long. */
static bool go_on(struct attempt *a, struct dw_party *party, enum until until)
{
	uint64_t begin = dw_now_ms(), deadline = begin + time_for(a);
	bool looks = has_oracle(a->attack, "held") || has_oracle(a->attack, "count");
	bool sends = a->stage.range->outside && has_oracle(a->attack, "network");
	struct pollfd fds[DW_LISTEN_MAX + 4];

	while (!dw_party_look(party)) {
		size_t n = a->listeners.n;

		memcpy(fds, a->listeners.fds, sizeof(*fds) * n);
		fds[n] = (struct pollfd){.fd = party->fd[0], .events = POLLIN};
		fds[n + 1] = (struct pollfd){.fd = party->fd[1], .events = POLLIN};
		fds[n + 2] = (struct pollfd){.fd = party->pidfd, .events = POLLIN};
		fds[n + 3] = (struct pollfd){.fd = a->called_off ? -1
		                                                 : a->stage.range->leash};
		(void)poll(fds, n + 4,
		           pause_of(a, looks || until == UNTIL_HELD || sends));
		if (fds[n + 3].revents & (POLLHUP | POLLERR)) {
			a->called_off = true;
			dw_party_stop(party);
		}
		dw_listen_serve(&a->listeners, a->stage.secret, a->reached,
		                sizeof(a->reached));
		if ((looks || until == UNTIL_HELD) && dw_look_holding(a->stage.nonce)) {
			if (until == UNTIL_HELD) {
				a->held = true;
				return true;
			}
			look_while_held(a);
			dw_party_stop(party);
			looks = false;
		}
		if (until == UNTIL_HELD && is_blind(a) &&
		    dw_now_ms() > begin + BLIND_MS) {
			a->held = true;
			return true;
		}
		if (sends && a->reached[0] == '\0' && dw_look_sends(a->stage.nonce))
			(void)snprintf(a->reached, sizeof(a->reached),
			               "a packet left the container");
		if (dw_now_ms() > deadline)
			return false;
	}
	return !a->called_off;
}

static bool contains(const char *text, size_t len, const char *secret)
{
	return text && memmem(text, len, secret, strlen(secret)) != NULL;
}

static void check_secrets(struct attempt *a, const char *first, size_t first_len,
                          const char *second, size_t second_len)
{
	bool two = strcmp(a->attack->cells, "one") != 0;
	char seen[256] = "";

	if (!two && contains(first, first_len, a->stage.secret))
		fire(a, "the secret came out");
	/* Nobody plants anything in the files and names of a host that is in use. */
	if (!two && a->stage.range->outside && has_oracle(a->attack, "secret") &&
	    dw_told_names(first, seen, sizeof(seen)))
		fire(a, seen);
	if (two && contains(second, second_len, a->stage.secret))
		fire(a, "the second cell told the first one's secret");
	if (two && contains(first, first_len, a->stage.word))
		fire(a, "the first cell told what only the second one knew");
}

static void check_told(struct attempt *a, const char *said)
{
	char seen[256] = "";

	for (const char *const *o = a->attack->oracles; *o; o++)
		if (dw_told_meets(said, *o, seen, sizeof(seen)))
			fire(a, seen);
}

/* "count output_kb > N" is the one count that is taken at the end. */
static void check_output(struct attempt *a, size_t len)
{
	unsigned long long most;
	char seen[64];

	for (const char *const *o = a->attack->oracles; *o; o++) {
		/* NOLINTNEXTLINE(cert-err34-c): the table's maker has checked it */
		if (sscanf(*o, "count output_kb > %llu", &most) != 1 ||
		    len / 1024 <= most)
			continue;
		(void)snprintf(seen, sizeof(seen), "its output has %zu kB", len / 1024);
		fire(a, seen);
	}
}

static void check_host(struct attempt *a, const json_t *result)
{
	char seen[256] = "";

	if (has_oracle(a->attack, "files") &&
	    dw_traces_in_files(&a->stage, seen, sizeof(seen)))
		fire(a, seen);
	if (has_oracle(a->attack, "witness") &&
	    dw_witness_touched(&a->stage.witness, a->stage.secret, seen, sizeof(seen)))
		fire(a, seen);
	if (has_oracle(a->attack, "remains") &&
	    dw_traces_remain(&a->stage, seen, sizeof(seen)))
		fire(a, seen);
	dw_listen_serve(&a->listeners, a->stage.secret, a->reached, sizeof(a->reached));
	if (has_oracle(a->attack, "network") && a->reached[0] != '\0')
		fire(a, a->reached);
	if (has_oracle(a->attack, "network") && !a->stage.range->outside &&
	    dw_listen_counted())
		fire(a, "a packet crossed the host's network");
	if (has_oracle(a->attack, "forged") && dw_heard_forged(&a->party[0], result))
		fire(a, "the result says what the program made up");
}

/* ---- one attempt ---- */

static bool is_pool(const struct attempt *a)
{
	return dw_target_is_warm(a->at) && strcmp(a->attack->cells, "one") != 0;
}

/* Two warm cells are two of one zygote's: neighbours as close as they come. */
static int start(struct attempt *a, size_t i, const char *role, struct dw_error *err)
{
	if (is_pool(a))
		return i == 0 ? dw_pool_start(a->party, a->attack, a->at, &a->stage, err)
		              : dw_pool_go_on(a->party, a->attack, &a->stage, err);
	return dw_party_start(&a->party[i], a->attack, a->at, role, &a->stage, a->tools,
	                      err);
}

static int play(struct attempt *a, struct dw_error *err)
{
	const char *cells = a->attack->cells;
	bool in_time = true;

	if (strcmp(cells, "one") == 0) {
		if (start(a, 0, "", err) < 0)
			return -1;
		in_time = go_on(a, &a->party[0], UNTIL_END);
	} else {
		if (start(a, 0, "first", err) < 0)
			return -1;
		in_time = go_on(a, &a->party[0],
		                strcmp(cells, "pair") == 0 ? UNTIL_HELD : UNTIL_END);
		if (in_time && start(a, 1, "second", err) < 0)
			return -1;
		in_time = in_time && go_on(a, &a->party[1], UNTIL_END);
		dw_party_stop(&a->party[0]);
		in_time = go_on(a, &a->party[0], UNTIL_END) && in_time;
		if (is_pool(a))
			dw_pool_end(&a->party[0]);
	}
	if (!in_time)
		(void)snprintf(a->out->failed, sizeof(a->out->failed),
		               "it did not end within %d seconds",
		               (int)(time_for(a) / 1000));
	return 0;
}

/*
 * With two cells the first one must have done its part, or said what kept it from
 * doing it; else the second one finds nothing, and that proves nothing.
 */
static void check_first(struct attempt *a, const char *said, const json_t *result)
{
	static const char *const words[] = {"stopped: ", "ermission denied",
	                                    "not permitted", "Read-only file system",
	                                    "No such file"};
	bool pair = strcmp(a->attack->cells, "pair") == 0;
	const json_t *code = json_object_get(result, "exit_code");

	if (strcmp(a->attack->cells, "one") == 0 || a->out->failed[0] != '\0')
		return;
	if (pair ? a->held
	         : !a->party[0].cell ||
	                    (json_is_integer(code) && json_integer_value(code) == 0))
		return;
	for (size_t i = 0; said && i < ARRAY_SIZE(words); i++)
		if (strstr(said, words[i]))
			return;
	(void)snprintf(a->out->failed, sizeof(a->out->failed),
	               "the first cell did not do its part");
}

/* The verdict is about the last cell; what the first one is, is seen here. */
static void check_warm(struct attempt *a, const json_t *result)
{
	const json_t *metadata = json_object_get(result, "metadata");

	if (is_pool(a) && result && !json_is_true(json_object_get(metadata, "warm")))
		(void)snprintf(a->out->failed, sizeof(a->out->failed), "%s", DW_RAN_COLD);
}

static void keep_what_was_said(struct attempt *a)
{
	bool two = strcmp(a->attack->cells, "one") != 0;
	const char *base = a->stage.range->base;
	json_t *first_result = dw_heard_result(&a->party[0]);
	json_t *second_result = two ? dw_heard_result(&a->party[1]) : NULL;
	json_t *last = two ? second_result : first_result;
	autofree char *first = NULL;
	autofree char *second = NULL;
	size_t first_len = 0, second_len = 0;

	first = dw_heard_text(&a->party[0], first_result, a->attack, base, &first_len);
	if (two)
		second = dw_heard_text(&a->party[1], second_result, a->attack, base,
		                       &second_len);
	check_secrets(a, first, first_len, second, second_len);
	check_told(a, two ? second : first);
	check_first(a, first, first_result);
	check_output(a, first_len);
	check_warm(a, first_result);
	check_host(a, last);

	/* dewar itself failed, or it is not what we think it is. */
	if (a->party[0].cell && !last && a->out->failed[0] == '\0')
		(void)snprintf(a->out->failed, sizeof(a->out->failed),
		               "dewar gave no result: %.*s",
		               (int)strcspn(a->party[0].out[1].data ?: "", "\n"),
		               a->party[0].out[1].data ?: "");
	if (asprintf(&a->out->said, "%s\n%s", first ?: "", second ?: "") < 0)
		a->out->said = NULL;
	a->out->result = json_incref(last);
	json_decref(first_result);
	json_decref(second_result);
}

static int landlock_of_kernel(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	                   LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

int dw_attempt(const struct dw_attack *attack, const struct dw_target *at,
               const struct dw_range *range, const struct dw_tools *tools,
               struct dw_observed *ret, struct dw_error *err)
{
	struct attempt a = {
		.attack = attack,
		.at = at,
		.tools = tools,
		.out = ret,
	};
	int r;

	dw_party_init(&a.party[0]);
	dw_party_init(&a.party[1]);
	*ret = (struct dw_observed){
		.landlock = landlock_of_kernel(),
		.root = range->root,
	};
	if (range->outside)
		r = dw_listen_open_outside(&a.listeners, range->base, err);
	else if ((r = dw_range_new_network(err)) == 0)
		r = dw_listen_open(&a.listeners, range->base, err);
	if (r < 0)
		return -1;
	r = dw_stage_set(&a.stage, range, &a.listeners, attack, err);
	if (r == 0)
		r = play(&a, err);
	if (r == 0)
		keep_what_was_said(&a);
	dw_party_finish(&a.party[0]);
	dw_party_finish(&a.party[1]);
	dw_stage_strike(&a.stage);
	dw_listen_close(&a.listeners);
	return r;
}

void dw_observed_finish(struct dw_observed *outcome)
{
	free(outcome->said);
	json_decref(outcome->result);
	*outcome = (struct dw_observed){0};
}
