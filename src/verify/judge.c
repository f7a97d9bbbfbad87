/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "verify/verify.h"

#define STOPS_MAX 32

static const char *const verdict_names[] = {
	[DW_CONTAINED] = "contained",
	[DW_ESCAPED] = "escaped",
	[DW_NOT_PROMISED] = "not_promised",
	[DW_CANNOT_TELL] = "cannot_tell",
};
_Static_assert(ARRAY_SIZE(verdict_names) == DW_VERDICT_COUNT, "a name for each verdict");

const char *dw_verdict_name(enum dw_verdict verdict)
{
	return verdict_names[verdict];
}

struct dw_summary dw_rows_sum(const struct dw_rows *rows, const struct dw_target *target)
{
	struct dw_summary sum = {0};
	const struct dw_attack *last = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		if (target && rows->list[i].target != target)
			continue;
		sum.by[rows->list[i].verdict]++;
		sum.attacks += rows->list[i].attack != last;
		last = rows->list[i].attack;
	}
	return sum;
}

void dw_observation_finish(struct dw_observation *observation)
{
	free(observation->output);
	json_decref(observation->result);
	*observation = (struct dw_observation){0};
}

/* ---- what stopped an attack ---- */

struct stops {
	char words[STOPS_MAX][24];
	size_t n;
};

static void add_stop(struct stops *stops, const char *word, size_t len)
{
	if (len == 0 || len >= sizeof(stops->words[0]) || stops->n == STOPS_MAX)
		return;
	memcpy(stops->words[stops->n], word, len);
	stops->words[stops->n++][len] = '\0';
}

/* Shells and tools print the description of an error instead of its name. */
static void find_texts(const char *output, struct stops *stops)
{
	static const int errors[] = {EPERM,        EACCES, ENOENT, EROFS,
	                             EHOSTUNREACH, ENOSYS, ENOSPC, EAFNOSUPPORT,
	                             ENETUNREACH,  ESRCH,  EMFILE, EAGAIN,
	                             ENODEV,       EXDEV,  ENXIO,  EBADF,
	                             EDQUOT};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		const char *name = strerrorname_np(errors[i]);

		if (strstr(output, strerrordesc_np(errors[i])))
			add_stop(stops, name, strlen(name));
	}
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void find_stops(const struct dw_observation *outcome, struct stops *stops)
{
	static const char *const reasons[] = {"oom", "pids", "disk", "seccomp",
	                                      "timeout_cpu"};
	static const char mark[] = "stopped: ";
	const char *reason = text_of(outcome->result, "reason");
	const char *at = outcome->output ? outcome->output : "";

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (strcmp(reason, reasons[i]) == 0)
			add_stop(stops, reason, strcspn(reason, "_"));
	while ((at = strstr(at, mark)) != NULL) {
		at += sizeof(mark) - 1;
		add_stop(stops, at, strcspn(at, " \n:,"));
	}
	if (stops->n == 0 && outcome->output)
		find_texts(outcome->output, stops);
	/*
	 * A timeout or an output limit can stop any attack, so it counts only if
	 * nothing else did.
	 */
	if (stops->n == 0 && strcmp(reason, "timeout_wall") == 0)
		add_stop(stops, "deadline", strlen("deadline"));
	if (stops->n == 0 && strcmp(reason, "output") == 0)
		add_stop(stops, reason, strlen(reason));
}

/* Find what stopped an attack after its end, which only dewar can report. */
static void find_late_stops(const struct dw_observation *outcome,
                            const struct dw_attack *attack, struct stops *stops)
{
	json_int_t code = json_integer_value(
		json_object_get(outcome->result, "exit_code"));
	const json_t *warning;
	size_t i;

	/*
	 * An attack that died early has tried nothing: consider only one that
	 * reached its end.
	 */
	if (strcmp(text_of(outcome->result, "reason"), "exit") != 0 ||
	    (code != 0 && code != DW_FORGER_EXIT))
		return;
	json_array_foreach (json_object_get(outcome->result, "warnings"), i, warning) {
		const char *text = json_string_value(warning);

		if (text && strncmp(text, "collect: ", 9) == 0)
			add_stop(stops, "collect", 7);
	}
	for (const char *const *o = attack->oracles; *o; o++) {
		if (strcmp(*o, "forged") == 0)
			add_stop(stops, "result", 6);
		if (strcmp(*o, "remains") == 0)
			add_stop(stops, "gone", 4);
	}
}

/* ---- which walls were up ---- */

static const json_t *proof_of(const struct dw_observation *outcome, const char *part)
{
	return json_object_get(json_object_get(outcome->result, "proof"), part);
}

static bool holds_by(const struct dw_observation *outcome, const char *by)
{
	const json_t *limit;
	const char *key;

	json_object_foreach ((json_t *)proof_of(outcome, "limits"), key, limit)
		if (strncmp(text_of(limit, "by"), by, strlen(by)) == 0)
			return true;
	return false;
}

static bool is_empty_set(const char *hex)
{
	return *hex != '\0' && hex[strspn(hex, "0")] == '\0';
}

/* Returns true if the proof of this run shows the wall. */
static bool was_up(const struct dw_observation *outcome, const char *wall)
{
	const json_t *walls = proof_of(outcome, "walls");
	const json_t *ns = json_object_get(walls, "namespaces"), *one;
	const char *key;

	if (strcmp(wall, "mount") == 0)
		return json_is_true(json_object_get(ns, "mount"));
	if (strcmp(wall, "namespace") == 0) {
		json_object_foreach ((json_t *)ns, key, one)
			if (json_is_true(one))
				return true;
		return false;
	}
	if (strcmp(wall, "seccomp") == 0)
		return json_integer_value(
			       json_object_get(json_object_get(walls, "seccomp"),
		                               "mode")) == 2;
	if (strcmp(wall, "landlock") == 0)
		return json_integer_value(
			       json_object_get(json_object_get(walls, "landlock"),
		                               "abi")) > 0;
	if (strcmp(wall, "capability") == 0)
		return is_empty_set(
			text_of(json_object_get(walls, "capabilities"), "effective"));
	if (strcmp(wall, "cgroup") == 0)
		return holds_by(outcome, "cgroup");
	if (strcmp(wall, "rlimit") == 0)
		return holds_by(outcome, "rlimit");
	return true; /* absent and supervisor: the proof has no entry for them */
}

/*
 * For "limit:memory": returns the wall that enforces this limit according to the
 * proof.
 */
static const char *wall_of_limit(const struct dw_observation *outcome, const char *name)
{
	static const struct {
		const char *by;
		const char *wall;
	} known[] = {
		{"cgroup1", "cgroup"},   {"cgroup2", "cgroup"},
		{"rlimit", "rlimit"},    {"tmpfs", "mount"},
		{"dewar", "supervisor"}, {"sampling", "supervisor"},
	};
	const char *by = text_of(json_object_get(proof_of(outcome, "limits"), name),
	                         "by");

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(by, known[i].by) == 0)
			return known[i].wall;
	return NULL;
}

static const char *const wall_names[] = {"namespace", "mount",      "seccomp",
                                         "landlock",  "capability", "cgroup",
                                         "rlimit",    "absent",     "supervisor"};

static const char *known_wall(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(wall_names); i++)
		if (strlen(wall_names[i]) == len &&
		    strncmp(wall_names[i], text, len) == 0)
			return wall_names[i];
	return NULL;
}

/* For "EPERM=seccomp|capability": returns the first of the walls that was up. */
static const char *find_wall(const struct dw_observation *outcome, const char *stop)
{
	const char *at = strchr(stop, '=') + 1;

	while (*at != '\0') {
		size_t len = strcspn(at, "|");
		const char *wall = NULL;
		char limit[24];

		if (strncmp(at, "limit:", 6) == 0) {
			(void)snprintf(limit, sizeof(limit), "%.*s", (int)len - 6,
			               at + 6);
			wall = wall_of_limit(outcome, limit);
		} else {
			wall = known_wall(at, len);
			if (wall && !was_up(outcome, wall))
				wall = NULL;
		}
		if (wall)
			return wall;
		at += len + (at[len] == '|');
	}
	return NULL;
}

static const char *find_stop(const struct dw_attack *attack, const char *word)
{
	size_t len = strlen(word);

	for (const char *const *stop = attack->stops; *stop; stop++)
		if (strncmp(*stop, word, len) == 0 && (*stop)[len] == '=')
			return *stop;
	return NULL;
}

/* The requested runtime, or else the one in the proof; a failed run has no proof. */
static const char *runtime_of(const struct dw_observation *outcome,
                              const struct dw_row *row)
{
	return row->target->runtime
	               ? row->target->runtime
	               : json_string_value(
				 json_object_get(json_object_get(outcome->result,
	                                                         "proof"),
	                                         "runtime"));
}

/*
 * Returns the wall behind an error that only a runtime's own kernel returns: ENOSYS
 * for a system call that this kernel lacks, and EHOSTUNREACH for a network without
 * interfaces.
 */
static const char *find_own_kernel(const struct dw_observation *outcome,
                                   const struct dw_row *row, const char *word)
{
	const json_t *network = json_object_get(proof_of(outcome, "walls"), "network");

	if (!dw_runtime_has_kernel(runtime_of(outcome, row)))
		return NULL;
	if (strcmp(word, "ENOSYS") == 0)
		return "ENOSYS=absent";
	if (strcmp(word, "EHOSTUNREACH") == 0 &&
	    json_is_integer(json_object_get(network, "interfaces")) &&
	    json_integer_value(json_object_get(network, "interfaces")) == 0)
		return "EHOSTUNREACH=namespace";
	return NULL;
}

/* At level docker, "docker:EACCES=capability" takes precedence over "EACCES=landlock". */
static const char *find_expected(const struct dw_observation *outcome,
                                 const struct dw_row *row, const char *word)
{
	const char *found;
	char own[64];

	(void)snprintf(own, sizeof(own), "%s:%s", row->target->level, word);
	found = find_stop(row->attack, own);
	if (!found)
		found = find_stop(row->attack, word);
	return found ? found : find_own_kernel(outcome, row, word);
}

/* ---- verdicts ---- */

static const json_t *metadata_of(const struct dw_observation *outcome, const char *key)
{
	return json_object_get(json_object_get(outcome->result, "metadata"), key);
}

/*
 * The detail may contain output of a cell: make it one line without control
 * characters.
 */
static void sanitize(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
		if (text[0] == '\xc2' && (unsigned char)text[1] >= 0x80 &&
		    (unsigned char)text[1] < 0xa0)
			text[0] = text[1] = '?'; /* C1 controls */
	}
}

static void set_verdict(struct dw_row *row, enum dw_verdict verdict, const char *detail)
{
	row->verdict = verdict;
	if (detail != row->detail)
		(void)snprintf(row->detail, sizeof(row->detail), "%s", detail);
	sanitize(row->detail);
}

/* Returns true if text is PREFIX followed by name. */
static bool is_prefixed(const char *text, const char *prefix, const char *name)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 && strcmp(text + len, name) == 0;
}

/* Returns true for "landlock6:process" if the kernel's Landlock has an ABI below 6. */
static bool exempts_old_landlock(const char *condition, int abi, const char *level)
{
	static const char word[] = "landlock";
	char *rest;

	if (strncmp(condition, word, strlen(word)) != 0)
		return false;
	return abi < strtol(condition + strlen(word), &rest, 10) &&
	       is_prefixed(rest, ":", level);
}

/*
 * Matches "unenforced:memory", "noted:..." and "sampled:..." with the proof's entry
 * for the limit.
 */
static bool exempts_limit(const char *condition, const struct dw_observation *outcome,
                          const struct dw_target *target)
{
	const char *name = strchr(condition, ':');
	const json_t *limit = name ? json_object_get(proof_of(outcome, "limits"),
	                                             name + 1)
	                           : NULL;

	if (strncmp(condition, "unenforced:", 11) == 0)
		return json_is_false(json_object_get(limit, "enforced"));
	/* At other levels a note is no reason for an exemption. */
	if (strncmp(condition, "noted:", 6) == 0)
		return target->on_host && text_of(limit, "note")[0] != '\0';
	return strncmp(condition, "sampled:", 8) == 0 &&
	       strcmp(text_of(limit, "by"), "sampling") == 0;
}

/*
 * Returns the sentence that exempts this row from the promise, or NULL. The
 * condition that precedes the sentence names a level or a limit. A level is named
 * alone, or for a plain user, for warm cells, for a runtime with its own kernel, or
 * for a kernel with an old Landlock or none. A limit is exempt if the proof says
 * that it is unenforced, has a note, or is sampled, since sampling can miss a short
 * peak. If the kernel has Landlock but the proof shows none, nothing is exempt.
 */
static const char *find_exemption(const struct dw_observation *outcome,
                                  const struct dw_row *row)
{
	const char *level = row->target->level;
	char without[32];

	(void)snprintf(without, sizeof(without), "%s-without-landlock", level);
	for (const char *const *p = row->attack->unpromised; *p; p += 2)
		if (strcmp(p[0], level) == 0 ||
		    (!outcome->root && is_prefixed(p[0], "plain:", level)) ||
		    (dw_target_is_warm(row->target) &&
		     is_prefixed(p[0], "warm:", level)) ||
		    (dw_runtime_has_kernel(runtime_of(outcome, row)) &&
		     is_prefixed(p[0], "foreign:", level)) ||
		    (outcome->landlock == 0 && strcmp(p[0], without) == 0) ||
		    exempts_old_landlock(p[0], outcome->landlock, level) ||
		    exempts_limit(p[0], outcome, row->target))
			return p[1];
	return NULL;
}

static const char *first_line(const char *text)
{
	static char line[128];

	text = text ? text + strspn(text, "\n ") : "";
	(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	return line[0] != '\0' ? line : "nothing";
}

/* The attack failed, but did not report why. */
static void judge_silent(const struct dw_observation *outcome, struct dw_row *row)
{
	const char *runtime = runtime_of(outcome, row);
	char detail[sizeof(row->detail)];

	if (dw_runtime_has_kernel(runtime))
		(void)snprintf(detail, sizeof(detail),
		               "%s has its own kernel, which cannot be inspected from "
		               "outside (reason %s): %s",
		               runtime, text_of(outcome->result, "reason"),
		               first_line(outcome->output));
	else
		(void)snprintf(detail, sizeof(detail),
		               "it neither succeeded nor reported what stopped it "
		               "(reason %s): %s",
		               text_of(outcome->result, "reason"),
		               first_line(outcome->output));
	set_verdict(row, DW_CANNOT_TELL, detail);
}

/* The attack failed. Every error that stopped it must be an expected one. */
static void judge_stopped(const struct dw_observation *outcome, struct dw_row *row)
{
	struct stops stops = {.n = 0};
	const char *expected, *wall;
	char detail[sizeof(row->detail)];

	find_stops(outcome, &stops);
	if (stops.n == 0)
		find_late_stops(outcome, row->attack, &stops);
	if (stops.n == 0) {
		judge_silent(outcome, row);
		return;
	}
	for (size_t i = 0; i < stops.n; i++) {
		expected = find_expected(outcome, row, stops.words[i]);
		wall = expected ? find_wall(outcome, expected) : NULL;
		if (!wall) {
			(void)snprintf(detail, sizeof(detail),
			               expected ? "stopped by %s, but no wall that "
			                          "causes it was up"
			                        : "stopped by %s, which proves nothing "
			                          "here",
			               stops.words[i]);
			row->wall = NULL;
			set_verdict(row, DW_CANNOT_TELL, detail);
			return;
		}
		if (i == 0)
			row->wall = wall;
	}
	set_verdict(row, DW_CONTAINED, stops.words[0]);
}

void dw_judge(const struct dw_observation *outcome, struct dw_row *row)
{
	const char *sentence = find_exemption(outcome, row);
	char detail[sizeof(row->detail)];

	row->wall = NULL;
	if (outcome->fired) {
		set_verdict(row, sentence ? DW_NOT_PROMISED : DW_ESCAPED,
		            sentence ? sentence : outcome->seen);
		return;
	}
	if (row->control != DW_ESCAPED) {
		(void)snprintf(
			detail, sizeof(detail),
			"the attack proves nothing here: it also fails without walls: %.180s",
			row->control_detail);
		set_verdict(row, DW_CANNOT_TELL, detail);
	} else if (outcome->failed[0] != '\0') {
		set_verdict(row, DW_CANNOT_TELL, outcome->failed);
	} else if (!json_is_true(metadata_of(outcome, "ok"))) {
		set_verdict(row, DW_CANNOT_TELL, text_of(outcome->result, "hint"));
	} else if (dw_target_is_warm(row->target) &&
	           !json_is_true(metadata_of(outcome, "warm"))) {
		set_verdict(row, DW_CANNOT_TELL, DW_RAN_COLD);
		return; /* exemptions for warm cells do not apply to a cold run */
	} else {
		judge_stopped(outcome, row);
	}
	if (row->verdict == DW_CANNOT_TELL && sentence)
		set_verdict(row, DW_NOT_PROMISED, sentence);
}

void dw_judge_control(const struct dw_observation *outcome, struct dw_row *row)
{
	struct stops stops = {.n = 0};

	row->control = outcome->fired ? DW_ESCAPED : DW_CANNOT_TELL;
	find_stops(outcome, &stops);
	(void)snprintf(row->control_detail, sizeof(row->control_detail), "%s",
	               outcome->fired               ? outcome->seen
	               : outcome->failed[0] != '\0' ? outcome->failed
	               : stops.n > 0                ? stops.words[0]
	                                            : first_line(outcome->output));
	sanitize(row->control_detail);
}
