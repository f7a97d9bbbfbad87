/* SPDX-License-Identifier: Apache-2.0 */
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
#include "verify/verify_own.h"

#define ATTEMPT_MS 15000
#define HELD_POLL_MS 3
#define QUIET_POLL_MS 50
/* On the host there are more processes to inspect, and an image may have to be pulled. */
#define ON_HOST_MS 180000
#define ON_HOST_POLL_MS 10
#define UNSEEN_MS 2000

struct attempt {
	const struct dw_attack *attack;
	const struct dw_target *at;
	struct dw_fixture fixture;
	struct dw_listeners listeners;
	const struct dw_tools *tools;
	struct dw_attacker attacker[2]; /* the only one, or the first and the second */
	char reached[128];              /* the first listener that was reached */
	bool first_ready; /* of two attackers, the first is ready for the second */
	bool cancelled;   /* the suite has closed its end of the socket */
	struct dw_observation *out;
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

/* Inspect what the attack has achieved, while it holds (waits to be inspected). */
static void inspect_held(struct attempt *a)
{
	char seen[256] = "";

	for (const char *const *o = a->attack->oracles; *o; o++)
		if (dw_oracle_held(a->fixture.nonce, *o, seen, sizeof(seen)) ||
		    dw_oracle_count(a->fixture.nonce, *o, seen, sizeof(seen)))
			fire(a, seen);
}

enum until {
	UNTIL_END,
	UNTIL_HELD, /* until the attacker holds or ends */
};

static uint64_t time_for(const struct attempt *a)
{
	return a->fixture.range->on_host ? ON_HOST_MS : ATTEMPT_MS;
}

/*
 * Returns true if the host cannot see the attacker's processes, because the runtime
 * has a kernel of its own. An attack that still runs after UNSEEN_MS is then assumed
 * to hold: no other attack runs for so long.
 */
static bool cannot_inspect(const struct attempt *a)
{
	return a->fixture.range->on_host && dw_runtime_has_kernel(a->tools->runtime);
}

static int poll_interval(const struct attempt *a, bool watchful)
{
	if (!watchful)
		return QUIET_POLL_MS;
	return a->fixture.range->on_host ? ON_HOST_POLL_MS : HELD_POLL_MS;
}

/* Wait until there is output or a client, the attacker ends, or the suite hangs up. */
static void poll_all(struct attempt *a, struct dw_attacker *attacker, int timeout_ms)
{
	struct pollfd fds[DW_LISTEN_MAX + 4];
	size_t n = a->listeners.n;
	struct pollfd *hangup = &fds[n + 3];

	memcpy(fds, a->listeners.fds, sizeof(*fds) * n);
	fds[n] = (struct pollfd){.fd = attacker->fd[0], .events = POLLIN};
	fds[n + 1] = (struct pollfd){.fd = attacker->fd[1], .events = POLLIN};
	fds[n + 2] = (struct pollfd){.fd = attacker->pidfd, .events = POLLIN};
	*hangup = (struct pollfd){.fd = a->cancelled ? -1 : a->fixture.range->hangup_fd};
	(void)poll(fds, n + 4, timeout_ms);
	if (hangup->revents & (POLLHUP | POLLERR)) {
		a->cancelled = true;
		dw_attacker_stop(attacker);
	}
	dw_listen_serve(&a->listeners, a->fixture.secret, a->reached, sizeof(a->reached));
}

/*
 * Serve the listeners until the attacker holds or ends. Returns false after a
 * timeout or a hang-up.
 */
static bool wait_for(struct attempt *a, struct dw_attacker *attacker, enum until until)
{
	uint64_t begin = dw_now_ms();
	bool inspects = has_oracle(a->attack, "held") || has_oracle(a->attack, "count");
	bool sends = a->fixture.range->on_host && has_oracle(a->attack, "network");
	bool holds;

	while (!dw_attacker_poll(attacker)) {
		poll_all(a, attacker,
		         poll_interval(a, inspects || until == UNTIL_HELD || sends));
		holds = (inspects || until == UNTIL_HELD) &&
		        dw_procs_is_holding(a->fixture.nonce);
		if (until == UNTIL_HELD &&
		    (holds || (cannot_inspect(a) && dw_now_ms() > begin + UNSEEN_MS))) {
			a->first_ready = true;
			return true;
		}
		if (holds) {
			inspect_held(a);
			dw_attacker_stop(attacker);
			inspects = false;
		}
		if (sends && a->reached[0] == '\0' &&
		    dw_procs_sent_packet(a->fixture.nonce))
			(void)snprintf(a->reached, sizeof(a->reached),
			               "a packet left the container");
		if (dw_now_ms() > begin + time_for(a))
			return false;
	}
	return !a->cancelled;
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

	if (!two && contains(first, first_len, a->fixture.secret))
		fire(a, "the secret came out");
	/*
	 * On the host, files such as /etc/machine-id and names have no planted
	 * secret: compare with the real ones.
	 */
	if (!two && a->fixture.range->on_host && has_oracle(a->attack, "secret") &&
	    dw_oracle_host_names(first, seen, sizeof(seen)))
		fire(a, seen);
	if (two && contains(second, second_len, a->fixture.secret))
		fire(a, "the second cell has the first one's secret");
	if (two && contains(first, first_len, a->fixture.word))
		fire(a, "the first cell has the second one's secret");
}

static void check_host_facts(struct attempt *a, const char *output)
{
	char seen[256] = "";

	for (const char *const *o = a->attack->oracles; *o; o++)
		if (dw_oracle_host(output, *o, seen, sizeof(seen)))
			fire(a, seen);
}

/* "count output_kb > N" is the only count that is checked after the attack has ended. */
static void check_output(struct attempt *a, size_t len)
{
	unsigned long long most;
	char seen[64];

	for (const char *const *o = a->attack->oracles; *o; o++) {
		/* NOLINTNEXTLINE(cert-err34-c): tools/attacks.py has checked it */
		if (sscanf(*o, "count output_kb > %llu", &most) != 1 ||
		    len / 1024 <= most)
			continue;
		(void)snprintf(seen, sizeof(seen), "its output has %zu kB", len / 1024);
		fire(a, seen);
	}
}

static void check_traces(struct attempt *a, const json_t *result)
{
	char seen[256] = "";

	if (has_oracle(a->attack, "files") &&
	    dw_snapshot_files_changed(&a->fixture, seen, sizeof(seen)))
		fire(a, seen);
	if (has_oracle(a->attack, "witness") &&
	    dw_witness_touched(&a->fixture.witness, a->fixture.secret, seen,
	                       sizeof(seen)))
		fire(a, seen);
	if (has_oracle(a->attack, "remains") &&
	    dw_snapshot_leftovers(&a->fixture, seen, sizeof(seen)))
		fire(a, seen);
	dw_listen_serve(&a->listeners, a->fixture.secret, a->reached, sizeof(a->reached));
	if (has_oracle(a->attack, "network") && a->reached[0] != '\0')
		fire(a, a->reached);
	if (has_oracle(a->attack, "network") && !a->fixture.range->on_host &&
	    dw_listen_saw_packets())
		fire(a, "a packet crossed the host's network");
	if (has_oracle(a->attack, "forged") &&
	    dw_output_is_forged(&a->attacker[0], result))
		fire(a, "the result was forged by the program");
}

/* ---- one attempt ---- */

static bool is_warm_pair(const struct attempt *a)
{
	return dw_target_is_warm(a->at) && strcmp(a->attack->cells, "one") != 0;
}

/* Two warm cells share one zygote: no other cells share as much. */
static int start(struct attempt *a, size_t i, const char *role, struct dw_error *err)
{
	if (is_warm_pair(a))
		return i == 0 ? dw_warm_pair_start(a->attacker, a->attack, a->at,
		                                   &a->fixture, err)
		              : dw_warm_pair_continue(a->attacker, a->attack, a->at,
		                                      &a->fixture, err);
	return dw_attacker_start(&a->attacker[i], a->attack, a->at, role, &a->fixture,
	                         a->tools, err);
}

static int run_attackers(struct attempt *a, struct dw_error *err)
{
	const char *cells = a->attack->cells;
	bool in_time = true;

	if (strcmp(cells, "one") == 0) {
		if (start(a, 0, "", err) < 0)
			return -1;
		in_time = wait_for(a, &a->attacker[0], UNTIL_END);
	} else {
		if (start(a, 0, "first", err) < 0)
			return -1;
		in_time = wait_for(a, &a->attacker[0],
		                   strcmp(cells, "pair") == 0 ? UNTIL_HELD : UNTIL_END);
		if (in_time && start(a, 1, "second", err) < 0)
			return -1;
		in_time = in_time && wait_for(a, &a->attacker[1], UNTIL_END);
		dw_attacker_stop(&a->attacker[0]);
		in_time = wait_for(a, &a->attacker[0], UNTIL_END) && in_time;
		if (is_warm_pair(a))
			dw_warm_pair_end(&a->attacker[0]);
	}
	if (!in_time)
		(void)snprintf(a->out->failed, sizeof(a->out->failed),
		               "it did not end within %d seconds",
		               (int)(time_for(a) / 1000));
	return 0;
}

/*
 * With two cells, the first must have done its part, or have reported why it could
 * not. Otherwise it proves nothing if the second finds nothing.
 */
static void check_first(struct attempt *a, const char *output, const json_t *result)
{
	static const char *const words[] = {"stopped: ", "ermission denied",
	                                    "not permitted", "Read-only file system",
	                                    "No such file"};
	bool pair = strcmp(a->attack->cells, "pair") == 0;
	const json_t *code = json_object_get(result, "exit_code");

	if (strcmp(a->attack->cells, "one") == 0 || a->out->failed[0] != '\0')
		return;
	if (pair ? a->first_ready
	         : !a->attacker[0].cell ||
	                    (json_is_integer(code) && json_integer_value(code) == 0))
		return;
	for (size_t i = 0; output && i < ARRAY_SIZE(words); i++)
		if (strstr(output, words[i]))
			return;
	(void)snprintf(a->out->failed, sizeof(a->out->failed),
	               "the first cell did not do its part");
}

/*
 * The verdict checks only that the last cell was warm; the first of a pair must be,
 * too.
 */
static void check_warm(struct attempt *a, const json_t *result)
{
	const json_t *metadata = json_object_get(result, "metadata");

	if (is_warm_pair(a) && result && !json_is_true(json_object_get(metadata, "warm")))
		(void)snprintf(a->out->failed, sizeof(a->out->failed), "%s", DW_RAN_COLD);
}

static void collect_output(struct attempt *a)
{
	bool two = strcmp(a->attack->cells, "one") != 0;
	const struct dw_range *range = a->fixture.range;
	json_auto_t *first_result = dw_output_result(&a->attacker[0]);
	json_auto_t *second_result = two ? dw_output_result(&a->attacker[1]) : NULL;
	json_t *last = two ? second_result : first_result;
	autofree char *first = NULL;
	autofree char *second = NULL;
	size_t first_len = 0, second_len = 0;

	first = dw_output_text(&a->attacker[0], first_result, a->attack, range,
	                       &first_len);
	if (two)
		second = dw_output_text(&a->attacker[1], second_result, a->attack, range,
		                        &second_len);
	check_secrets(a, first, first_len, second, second_len);
	check_host_facts(a, two ? second : first);
	check_first(a, first, first_result);
	check_output(a, first_len);
	check_warm(a, first_result);
	check_traces(a, last);

	/*
	 * Without a result, dewar itself failed, or it is not the program that we
	 * expect.
	 */
	if (a->attacker[0].cell && !last && a->out->failed[0] == '\0')
		(void)snprintf(a->out->failed, sizeof(a->out->failed),
		               "dewar gave no result: %.*s",
		               (int)strcspn(a->attacker[0].out[1].data ?: "", "\n"),
		               a->attacker[0].out[1].data ?: "");
	if (asprintf(&a->out->output, "%s\n%s", first ?: "", second ?: "") < 0)
		a->out->output = NULL;
	a->out->result = json_incref(last);
}

static int landlock_of_kernel(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	                   LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

int dw_attempt(const struct dw_attack *attack, const struct dw_target *at,
               const struct dw_range *range, const struct dw_tools *tools,
               struct dw_observation *ret, struct dw_error *err)
{
	struct attempt a = {
		.attack = attack,
		.at = at,
		.tools = tools,
		.out = ret,
	};
	int r;

	dw_attacker_init(&a.attacker[0]);
	dw_attacker_init(&a.attacker[1]);
	*ret = (struct dw_observation){
		.landlock = landlock_of_kernel(),
		.root = range->root,
	};
	if ((!range->on_host && dw_range_new_network(err) < 0) ||
	    dw_listen_open(&a.listeners, range, err) < 0)
		return -1;
	r = dw_fixture_create(&a.fixture, range, &a.listeners, attack, err);
	if (r == 0)
		r = run_attackers(&a, err);
	if (r == 0)
		collect_output(&a);
	dw_attacker_finish(&a.attacker[0]);
	dw_attacker_finish(&a.attacker[1]);
	dw_fixture_remove(&a.fixture);
	dw_listen_close(&a.listeners);
	return r;
}
