/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/foreground.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "approvals/approvals.h"
#include "base/account.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "cli/print.h"
#include "dewar/dewar.h"
#include "run/conduct.h"

/*
 * Theory of operation
 *
 * dw_run() blocks until the cell is gone. A signal, or a failure to write the output,
 * makes one eventfd readable: the request's cancel_fd, which ends the run early. dewar
 * exits only after dw_run() has returned, so that Ctrl-C never leaves a cell behind.
 *
 * dw_conduct() (run/conduct.h) defines the order of a run, from the policy to the record
 * of the outcome. dewar prints the answer after it returns, since a reader of the output
 * may block dewar forever.
 */

/* Globals, because a signal handler has no other way to reach them. */
static volatile sig_atomic_t caught;
static volatile sig_atomic_t cancel_fd = -1;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void on_ending(int sig)
{
	caught = sig;
	dw_fd_signal(cancel_fd);
}

static void on_pipe(int sig)
{
	(void)sig;
}

static void catch_signals(void)
{
	struct sigaction act = {.sa_handler = on_ending, .sa_flags = SA_RESTART};
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ending); i++) {
		/*
		 * Keep a signal ignored if the caller ignores it, as nohup and background
		 * jobs do.
		 */
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		(void)sigaction(ending[i], &act, NULL);
	}

	/*
	 * Catch SIGPIPE instead of ignoring it: exec resets a caught signal to its
	 * default, but programs in a cell would inherit an ignored one.
	 */
	act.sa_handler = on_pipe;
	(void)sigaction(SIGPIPE, &act, NULL);
}

/* From now on, Ctrl-C ends dewar as it ends any program. */
static void release_signals(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ending); i++)
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == on_ending)
			(void)sigaction(ending[i], &act, NULL);
}

struct streams {
	struct dw_cli_output sink[DW_STREAM_COUNT];
	bool noted; /* a progress line is on the terminal */
};

#define CLEAR "\r\033[K"

/* Show the progress of a pull on a terminal, in one line that is overwritten. */
static void on_note(void *user, const char *text)
{
	struct streams *streams = user;
	char line[600];
	int len = snprintf(line, sizeof(line), CLEAR "dewar: %.500s", text);

	streams->noted = true;
	if (len > 0)
		(void)dw_fd_write_all(STDERR_FILENO, line, (size_t)len);
}

/* Remove the progress line before other output. */
static void clear_note(struct streams *streams)
{
	if (streams->noted)
		(void)dw_fd_write_all(STDERR_FILENO, CLEAR, strlen(CLEAR));
	streams->noted = false;
}

static void on_output(void *user, enum dw_stream stream, const void *data, size_t len)
{
	struct streams *streams = user;

	clear_note(streams);
	if (stream < DW_STREAM_COUNT)
		dw_cli_output_put(&streams->sink[stream], data, len);
}

/*
 * Returns the exit status after a failed write: the reader closed the pipe, or the disk
 * is full.
 */
static int lost_output(int eno)
{
	if (eno == EPIPE)
		return 128 + SIGPIPE;

	dw_report_line("cannot write the program's output: %s", strerrordesc_np(eno));
	return DW_EXIT_OURS;
}

/* Print why the run ended, then the warnings and the walls. */
static void tell(const struct dw_result *res, const struct dw_run_settings *set,
                 const struct streams *streams)
{
	bool live = !set->json && !set->text;
	bool terminal = isatty(STDERR_FILENO) == 1;
	bool walls = set->walls || (live && terminal && !set->quiet);
	bool hint = live && !set->quiet && res->status != DW_STATUS_SUCCESS &&
	            res->reason != DW_REASON_EXIT;
	char last_out = streams->sink[DW_STDOUT].last;
	char last_err = streams->sink[DW_STDERR].last;
	autofree char *line = NULL;
	size_t i;

	/* Start on a new line if the program's last line has no newline. */
	if ((hint || walls) && ((last_err != 0 && last_err != '\n') ||
	                        (terminal && last_out != 0 && last_out != '\n')))
		(void)dw_fd_write_all(STDERR_FILENO, "\n", 1);

	if (hint)
		dw_report_line("%s", res->hint);
	if (!walls)
		return;

	for (i = 0; i < res->n_warnings; i++)
		dw_report_line("warning: %s", res->warnings[i]);
	line = dw_result_walls_line(res);
	if (line)
		dw_report_line("%s", line);
}

/* Print the whole result. Returns 0 or the exit status of a failure. */
static int print_result(const struct dw_result *res, bool json)
{
	autofree char *text = NULL;
	size_t len;
	int r;

	text = json ? dw_result_to_json(res) : dw_result_to_text(res);
	if (!text) {
		dw_report_line("cannot print the result: %s", strerrordesc_np(ENOMEM));
		return DW_EXIT_OURS;
	}

	len = strlen(text);
	r = dw_fd_write_all(STDOUT_FILENO, text, len);
	if (r == 0 && (len == 0 || text[len - 1] != '\n'))
		r = dw_fd_write_all(STDOUT_FILENO, "\n", 1);
	return r < 0 ? lost_output(-r) : 0;
}

static int answer(const struct dw_run_options *job, const struct dw_run_settings *set,
                  const struct dw_result *res, struct streams *streams, int into_fd)
{
	int status = res->ok && res->exit_code >= 0 ? res->exit_code : DW_EXIT_OURS;
	int r_out, r_err, r;

	r_out = dw_cli_output_drain(&streams->sink[DW_STDOUT]);
	r_err = dw_cli_output_drain(&streams->sink[DW_STDERR]);
	if (r_out < 0 || r_err < 0)
		return lost_output(r_out < 0 ? -r_out : -r_err);

	if (set->json || set->text) {
		r = print_result(res, set->json);
		if (r != 0)
			return r;
	}

	/* If the program never ran, Dewar failed: always print one line. */
	if (!res->ok)
		dw_report_line("%s", res->hint);
	else
		tell(res, set, streams);

	if (into_fd >= 0 && dw_collect_write(into_fd, &job->req, res) > 0 && status == 0)
		return DW_EXIT_OURS;
	return status;
}

/*
 * Run in a warm cell prepared for this run or, if the request has no template that can be
 * warm, cold.
 */
static int run_warm(const struct dw_run_settings *set, const struct dw_request *req,
                    struct dw_result **ret_res, struct dw_error *err)
{
	struct dw_pool *pool = NULL;
	int r;

	if (dw_warm_pool(set, req, &pool, err) < 0)
		return -1;
	r = pool ? dw_pool_run(pool, req, ret_res, err) : dw_run(req, ret_res, err);
	dw_pool_free(pool);
	return r;
}

/* ---- the run ---- */

struct foreground {
	const struct dw_run_settings *set;
	struct dw_approvals *approvals; /* opened when an approval is first needed */
};

static struct dw_approvals *on_approvals(void *user, struct dw_error *err)
{
	struct foreground *f = user;
	char path[DW_APPROVALS_PATH_MAX];

	if (!f->approvals && dw_approvals_path(f->set->approvals, path, err) == 0)
		(void)dw_approvals_open(path, NULL, &f->approvals, err);
	return f->approvals;
}

static void on_webhook_error(void *user, const char *text)
{
	const struct foreground *f = user;

	if (!f->set->quiet)
		dw_report_line("cannot notify the policy's webhook: %s", text);
}

static int on_execute(struct dw_conduct *run, struct dw_result **ret,
                      struct dw_error *err)
{
	const struct foreground *f = run->user;

	return f->set->warm ? run_warm(f->set, &run->req, ret, err)
	                    : dw_run(&run->req, ret, err);
}

static void report_waiting(const struct dw_permission *permission)
{
	int64_t left_s = (permission->approval.expires_us - dw_wall_us()) / 1000000;
	const char *id = permission->approval.id;
	char how[DW_ID_MAX + 64];

	if (permission->approval.self)
		(void)snprintf(how, sizeof(how), "`dewar approve yes %s`", id);
	else
		(void)snprintf(how, sizeof(how), "another person to decide approval %s",
		               id);
	dw_report_line(
		"the policy's rule %s requires approval: waiting for %s, up to %lld s",
		permission->rule, how, (long long)(left_s > 0 ? left_s : 0));
}

/*
 * Wait until a person decides. If the run is cancelled meanwhile, the approval stays
 * open.
 */
static bool wait_for_approval(const struct foreground *f, struct dw_conduct *run)
{
	const char *id = run->permission.approval.id;
	struct dw_approval approval = {0};
	bool pending;

	if (!f->set->quiet)
		report_waiting(&run->permission);
	if (dw_approvals_wait(f->approvals, id, UINT64_MAX, run->asked->cancel_fd,
	                      &approval, &run->error) < 0) {
		(void)dw_wrap(&run->error, "cannot wait for approval %s", id);
		return false;
	}
	pending = approval.state == DW_APPROVAL_PENDING;
	dw_approval_finish(&approval);
	if (pending)
		dw_permission_refuse(
			&run->permission, DW_REASON_APPROVAL_EXPIRED,
			"the run ended while it waited for approval %s, which stays "
			"open; run the same command again to use the decision",
			id);
	return true;
}

static int open_audit(const struct dw_run_settings *set, struct dw_audit **ret,
                      struct dw_error *err)
{
	char path[DW_AUDIT_PATH_MAX];

	if (set->no_audit)
		return 0;
	if ((!set->audit && dw_audit_default_path(path, err) < 0) ||
	    dw_audit_open(set->audit ? set->audit : path, 0, ret, err) < 0)
		return dw_wrap(err, "no record, no run");
	return 0;
}

/*
 * Take the run through its sequence, from the policy to the record of the outcome. Sets
 * run->res or, on failure, run->error.
 */
static void conduct(struct foreground *f, struct dw_conduct *run)
{
	struct dw_conductor_config config = {
		.policy = f->set->policy,
		.approver = {.approvals = on_approvals,
	                     .on_webhook_error = on_webhook_error,
	                     .user = f},
	};
	struct dw_conductor *conductor = NULL;

	run->step = DW_CONDUCT_INTENT;
	if (open_audit(f->set, &config.audit, &run->error) == 0) {
		run->step = DW_CONDUCT_PERMISSION;
		if (dw_conductor_create(&config, &conductor, &run->error) == 0)
			while (!dw_conduct(conductor, run))
				if (!wait_for_approval(f, run))
					break;
	}
	if (!run->res && run->step == DW_CONDUCT_INTENT) {
		size_t len = strlen(run->error.text);

		(void)snprintf(run->error.text + len, sizeof(run->error.text) - len,
		               "; use --audit FILE to record it elsewhere, or "
		               "--no-audit to "
		               "run without a record");
	}
	dw_conduct_finish(run);
	dw_conductor_free(conductor);
	dw_approvals_close(f->approvals);
	dw_audit_close(config.audit);
}

static int run_job(struct dw_run_options *job, const struct dw_run_settings *set)
{
	/*
	 * Static, because a writer thread that waits for a stuck reader may outlive this
	 * function.
	 */
	static struct streams streams;
	struct dw_request *req = &job->req;
	struct foreground f = {.set = set};
	struct dw_conduct run = {.door = "cli",
	                         .asked = req,
	                         .execute = on_execute,
	                         .user = &f};
	char who[96], id[DW_ID_MAX];
	struct dw_error err = {0};
	autoclose int end_fd = -1;
	autoclose int into_fd = -1;
	int status;

	/*
	 * Open the folder before the run, so that an unusable folder does not lose its
	 * results.
	 */
	if (req->n_collect > 0 && (set->into || !set->json)) {
		into_fd = dw_collect_open(set->into ? set->into : ".", &err);
		if (into_fd < 0)
			return dw_report_error(&err, set->json);
	}
	if (dw_id_make(id, &err) < 0)
		return dw_report_error(&err, set->json);
	end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (end_fd < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "cannot create an eventfd");
		return dw_report_error(&err, set->json);
	}

	dw_account_who(getuid(), who, sizeof(who));
	run.who = who;
	req->id = id;
	dw_cli_output_init(&streams.sink[DW_STDOUT], STDOUT_FILENO, end_fd);
	dw_cli_output_init(&streams.sink[DW_STDERR], STDERR_FILENO, end_fd);
	req->user = &streams;
	if (!set->json && !set->text)
		req->on_output = on_output;
	if (!set->quiet && isatty(STDERR_FILENO) == 1)
		req->on_note = on_note;

	req->cancel_fd = end_fd;
	cancel_fd = end_fd;
	catch_signals();
	conduct(&f, &run);
	release_signals();
	clear_note(&streams);
	req->id = NULL;

	/*
	 * After a signal, the user does not wait for the rest of the output, and a stuck
	 * reader must not delay the exit: do not drain the output. A caller that asked
	 * for JSON or text still gets the result.
	 */
	if (!run.res && !caught)
		status = dw_report_error(&run.error, set->json);
	else if (!caught)
		status = answer(job, set, run.res, &streams, into_fd);
	else
		status = 128 + caught;
	if (caught && run.res && (set->json || set->text))
		(void)print_result(run.res, set->json);
	if (run.unrecorded.code != DW_OK) {
		dw_report_line("%s", run.unrecorded.text);
		status = status == 0 ? DW_EXIT_OURS : status;
	}

	dw_result_free(run.res);
	return status;
}

int dw_foreground_command(const struct dw_command *cmd, int argc, char **argv,
                          struct dw_run_settings *set, dw_prepare_fn *prepare)
{
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	struct dw_run_options job;
	int r, status;

	dw_run_options_init(&job);
	r = dw_options_parse(cmd, argc, argv, set, &parsed, &err);
	if (r == 0 && set->json && set->text)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "--json and --text cannot be combined");
	if (r == 0)
		r = prepare(cmd, &job, set, &parsed, &err);
	if (r > 0)
		status = dw_report_flush();
	else if (r < 0)
		status = dw_report_error(&err,
		                         set->json || dw_options_want_json(argc, argv));
	else
		status = run_job(&job, set);

	dw_run_options_finish(&job);
	dw_parsed_finish(&parsed);
	dw_run_settings_finish(set);
	return status;
}
