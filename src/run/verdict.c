/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_own.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"

#define MB(bytes) ((double)(bytes) / (1 << 20))

static void say(struct dw_result *res, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Add a sentence to the hint. */
static void say(struct dw_result *res, const char *fmt, ...)
{
	size_t len = strlen(res->hint);
	va_list ap;

	if (len > 0 && len + 1 < sizeof(res->hint))
		res->hint[len++] = ' ';
	va_start(ap, fmt);
	(void)vsnprintf(res->hint + len, sizeof(res->hint) - len, fmt, ap);
	va_end(ap);
}

/* The limit that ended the program; DW_REASON_EXIT if none did. */
static enum dw_reason limit_reason(const struct dw_outcome *o, enum dw_cause cause)
{
	switch (cause) {
	case DW_CAUSE_DEADLINE:
		return DW_REASON_TIMEOUT_WALL;
	case DW_CAUSE_OUTPUT:
		return DW_REASON_OUTPUT;
	case DW_CAUSE_CANCELLED:
		return DW_REASON_CANCELLED;
	case DW_CAUSE_STUCK:
		return DW_REASON_INTERNAL;
	default:
		return o->hit;
	}
}

/* The reason that follows from the program's own exit. */
static enum dw_reason end_reason(const struct dw_outcome *o, const char *said)
{
	int status = o->wait_status;
	bool per_file = o->limits[DW_LIMIT_TMP].by &&
	                strcmp(o->limits[DW_LIMIT_TMP].by, "rlimit") == 0;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return DW_REASON_EXIT;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return DW_REASON_SECCOMP;
	if (o->tmp_full ||
	    (per_file && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ))
		return DW_REASON_DISK;
	/*
	 * A program that removes its files leaves no full /tmp. If it failed and reports
	 * a full disk, it means /tmp: there is no other disk that it can write to.
	 */
	if (said && (strstr(said, "No space left on device") || strstr(said, "ENOSPC")))
		return DW_REASON_DISK;
	return WIFSIGNALED(status) ? DW_REASON_SIGNAL : DW_REASON_EXIT;
}

static enum dw_status status_of(enum dw_reason reason, int exit_code)
{
	switch (reason) {
	case DW_REASON_EXIT:
		return exit_code == 0 ? DW_STATUS_SUCCESS : DW_STATUS_ERROR;
	case DW_REASON_TIMEOUT_WALL:
	case DW_REASON_TIMEOUT_CPU:
		return DW_STATUS_TIMEOUT;
	case DW_REASON_OOM:
	case DW_REASON_PIDS:
	case DW_REASON_DISK:
	case DW_REASON_OUTPUT:
		return DW_STATUS_RESOURCE_EXCEEDED;
	default:
		return DW_STATUS_ERROR;
	}
}

/* Messages of programs that meet a wall, and the fix. */
static const struct {
	const char *says;
	const char *hint;
} complaints[] = {
	{"Read-only file system",
         "Only /tmp and the paths of --writable can be written to."},
	{"Network is unreachable",
         "The cell has no network; --network full gives it one."},
	{"Temporary failure in name resolution",
         "The cell has no network; --network full gives it one."},
	{"Cannot allocate memory",
         "The program ran out of memory: raise limits.memory_mb (--memory)."},
};

static void hint_exit(struct dw_result *res, const struct dw_limits *limits)
{
	const char *text = res->out[DW_STDERR];

	say(res, "The program ended with exit code %d%s.", res->exit_code,
	    res->out_len[DW_STDERR] > 0 ? "; stderr says why" : "");
	if (text && strstr(text, "Too many open files"))
		say(res,
		    "The program reports too many open files: limits.files (--files) is "
		    "%llu.",
		    (unsigned long long)limits->files);
	for (size_t i = 0; text && i < ARRAY_SIZE(complaints); i++)
		if (strstr(text, complaints[i].says)) {
			say(res, "%s", complaints[i].hint);
			return;
		}
}

static void hint(struct dw_result *res, const struct dw_outcome *o,
                 const struct dw_spec *spec)
{
	const struct dw_limits *limits = &spec->limits;
	const char *name = res->signal ? sigabbrev_np(res->signal) : NULL;

	switch (res->reason) {
	case DW_REASON_EXIT:
		hint_exit(res, limits);
		break;
	case DW_REASON_SIGNAL:
		say(res, "The program was killed by SIG%s (%d).", name ? name : "?",
		    res->signal);
		break;
	case DW_REASON_TIMEOUT_WALL:
		say(res,
		    "The program did not end within %g s (limits.timeout_s, --timeout) and was "
		    "killed%s.",
		    (double)limits->timeout_ms / 1000,
		    o->tmp_full ? "; /tmp was full, too" : "");
		break;
	case DW_REASON_TIMEOUT_CPU:
		say(res,
		    "The program used more cpu time than %llu %% of a core allow in %g s "
		    "(limits.cpu_percent, --cpus).",
		    (unsigned long long)limits->cpu_percent,
		    (double)limits->timeout_ms / 1000);
		if (o->cpu_ms >= 0)
			say(res, "It used %.0f ms.", o->cpu_ms);
		break;
	case DW_REASON_OOM:
		say(res,
		    "The memory limit of %.0f MB was reached: use less, or raise "
		    "limits.memory_mb (--memory).",
		    MB(limits->memory_bytes));
		if (o->memory_mb >= 0)
			say(res, "The peak was %.1f MB.", o->memory_mb);
		break;
	case DW_REASON_PIDS:
		say(res,
		    "The limit of %llu processes and threads was reached: start fewer, or raise "
		    "limits.pids (--pids).",
		    (unsigned long long)limits->pids);
		break;
	case DW_REASON_DISK:
		say(res,
		    "The limit of %.0f MB (and one file for each 4 KiB of it) in /tmp was "
		    "reached: write less, or raise limits.tmp_mb (--tmp).",
		    MB(limits->tmp_bytes));
		break;
	case DW_REASON_OUTPUT:
		say(res,
		    "The program wrote more than %llu bytes to %s: print less, or raise "
		    "limits.output_bytes (--output).",
		    (unsigned long long)limits->output_bytes,
		    res->truncated[DW_STDOUT] ? "stdout" : "stderr");
		break;
	case DW_REASON_SECCOMP:
		say(res,
		    "The program was killed by SIGSYS: it made a system call of a foreign "
		    "ABI.");
		break;
	case DW_REASON_CANCELLED:
		say(res, "The caller cancelled the run.");
		break;
	default:
		say(res,
		    "The cell did not end when it was killed; this is a bug in Dewar.");
		break;
	}
}

void dw_verdict_run(struct dw_result *res, const struct dw_outcome *o,
                    enum dw_cause cause, const struct dw_spec *spec)
{
	int status = o->ended ? o->wait_status : SIGKILL;

	res->ok = o->walls.known;
	res->reason = limit_reason(o, cause);
	if (res->reason == DW_REASON_EXIT)
		res->reason = o->ended ? end_reason(o, res->out[DW_STDERR])
		                       : DW_REASON_SIGNAL;

	res->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	res->exit_code = res->signal ? 128 + res->signal : WEXITSTATUS(status);
	res->status = status_of(res->reason, res->exit_code);
	if (res->status != DW_STATUS_SUCCESS)
		hint(res, o, spec);
}

void dw_verdict_not_run(struct dw_result *res, const struct dw_error *err)
{
	static const enum dw_reason reasons[] = {
		[DW_OK] = DW_REASON_INTERNAL,
		[DW_E_INVALID] = DW_REASON_INTERNAL, /* dw_run() returns those itself */
		[DW_E_DENIED] = DW_REASON_POLICY,
		[DW_E_NOT_FOUND] = DW_REASON_UNAVAILABLE,
		[DW_E_BUSY] = DW_REASON_BUSY,
		[DW_E_UNSUPPORTED] = DW_REASON_UNAVAILABLE,
		[DW_E_INTERNAL] = DW_REASON_INTERNAL,
	};

	_Static_assert(ARRAY_SIZE(reasons) == DW_E_COUNT, "a reason for each code");
	res->ok = false;
	res->status = DW_STATUS_ERROR;
	res->reason = reasons[err->code];
	res->exit_code = -1;
	res->signal = 0;
	(void)snprintf(res->hint, sizeof(res->hint), "%s", err->text);
}
