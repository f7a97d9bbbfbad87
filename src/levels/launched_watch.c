/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "levels/host.h"
#include "levels/launched.h"
#include "wire/report.h"

void dw_launched_reap_launcher(struct dw_launched *l)
{
	int status;

	if (l->launcher > 0 && l->launcher != l->pid)
		while (waitpid(l->launcher, &status, 0) < 0 && errno == EINTR)
			;
	l->launcher = 0;
}

/* The cell asks for its network; HELLO, with the pid of init, may come later. */
static void on_network(struct dw_launched *l)
{
	struct dw_outcome *o = &l->cell.outcome;

	l->wants_network = l->pid == 0;
	if (l->wants_network)
		return;
	if (dw_pasta_start(l->pid, l->spec->deadline_ms, &l->pasta, &o->error) < 0)
		dw_launched_kill(&l->cell);
	else
		(void)send(l->report, "g", 1, MSG_NOSIGNAL);
}

/* A report that is repeated replaces the descriptor of the first one. */
static void replace_fd(int *slot, int fd)
{
	dw_fd_close(slot);
	*slot = fd;
}

static void on_hello(struct dw_launched *l, int fd)
{
	l->greeted = true;
	l->pid = dw_pidfd_pid(fd); /* in our pid namespace, not the sender's */
	replace_fd(&l->pidfd, fd);
	l->cell.watch[DW_WATCH_INIT] = (struct dw_watch){fd, POLLIN};
	dw_launched_reap_launcher(l);
	if (l->kills > 0)
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	else if (l->wants_network)
		on_network(l);
}

static void on_end(struct dw_launched *l, const struct dw_report_end *end)
{
	struct dw_outcome *o = &l->cell.outcome;

	o->ended = true;
	o->wait_status = end->wait_status;
	o->run_ms = (double)end->run_ns / 1e6;
	o->cpu_ms = (double)end->cpu_ns / 1e6;
	o->tmp_full = end->tmp_full != 0;
	if (end->peak_memory > 0)
		o->memory_mb = (double)end->peak_memory / (1 << 20);
	if (end->hit != DW_REASON_EXIT && end->hit < DW_REASON_COUNT)
		o->hit = end->hit;
	if (o->hit == DW_REASON_EXIT && end->peak_pids > l->spec->limits.pids)
		o->hit = DW_REASON_PIDS;
	if (!l->early)
		return;
	/* Only init is still alive; destroying the cell waits for its exit. */
	if (o->memory_mb < (double)end->max_rss / (1 << 20))
		o->memory_mb = (double)end->max_rss / (1 << 20);
	l->cell.state = DW_CELL_GONE;
}

static void on_report(struct dw_launched *l)
{
	struct dw_outcome *o = &l->cell.outcome;
	struct dw_report report;
	int fd = -1, r;

	while ((r = dw_report_receive(l->report, &report, &fd)) > 0) {
		switch (report.kind) {
		case DW_REPORT_HANDED:
			dw_launched_reap_launcher(l);
			l->launcher = report.pid;
			if (l->greeted) /* else it would count as a process of the cell */
				dw_launched_reap_launcher(l);
			break;
		case DW_REPORT_HELLO:
			on_hello(l, TAKE_FD(fd));
			break;
		case DW_REPORT_NETWORK:
			on_network(l);
			break;
		case DW_REPORT_TMP:
			replace_fd(&l->cell.tmp_fd, TAKE_FD(fd));
			break;
		case DW_REPORT_USERNS:
			replace_fd(&l->userns, TAKE_FD(fd));
			break;
		case DW_REPORT_PIDNS:
			replace_fd(&l->pidns, TAKE_FD(fd));
			break;
		case DW_REPORT_EMPTY:
			replace_fd(&l->ruleset, TAKE_FD(fd));
			l->empty = true;
			break;
		case DW_REPORT_START:
			o->started = true;
			break;
		case DW_REPORT_WALLS:
			o->walls = report.walls;
			l->cell.state = DW_CELL_RUNNING;
			o->own_ns = o->walls.known ? dw_ns_not_ours(o->walls.ns) : 0;
			/* We are idle now. A pool is not: it sweeps with its zygote. */
			if (!l->spec->role || l->spec->role->kind == DW_ROLE_ZYGOTE)
				dw_cgroup_sweep(&l->cgroup);
			break;
		case DW_REPORT_END:
			on_end(l, &report.end);
			break;
		case DW_REPORT_ERROR:
			if (o->error.code == DW_OK) {
				o->error = report.error;
				dw_failure_cause_explain(report.stage, &o->error);
			}
			break;
		default:
			break;
		}
		dw_fd_close(&fd);
	}
	if (r == -EAGAIN)
		return;

	/* The other end is closed. Without an init, no process is left to wait for. */
	l->cell.watch[DW_WATCH_REPORT].fd = -1;
	if (l->pidfd < 0) {
		dw_launched_reap_launcher(l);
		if (o->error.code == DW_OK)
			(void)dw_fail(&o->error, DW_E_INTERNAL, 0, "dewar-launch died");
		l->cell.state = DW_CELL_GONE;
	}
}

/* Init has exited, and all processes of its pid namespace. Its rusage includes theirs. */
static void on_init_gone(struct dw_launched *l)
{
	struct dw_outcome *o = &l->cell.outcome;
	struct rusage ru = {0};
	siginfo_t info;

	if (l->report >= 0)
		on_report(l);
	if (syscall(SYS_waitid, P_PIDFD, l->pidfd, &info, WEXITED, &ru) == 0) {
		if (!l->spec->role) /* a warm cell used cpu time before this run */
			o->cpu_ms = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) *
			                    1e3 +
			            (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) /
			                    1e3;
		if (o->memory_mb < (double)ru.ru_maxrss / 1024)
			o->memory_mb = (double)ru.ru_maxrss / 1024;
	}
	if (l->launcher == l->pid) /* a level without namespaces: just reaped */
		l->launcher = 0;
	l->cell.watch[DW_WATCH_INIT].fd = -1;
	l->cell.state = DW_CELL_GONE;
}

/*
 * A limit of the cell's cgroup was hit: kill the cell. Check both limits, whichever of
 * them woke us: version 1 signals only once, just before the kernel kills a process for
 * memory and counts that.
 */
static void on_limit(struct dw_launched *l, size_t index)
{
	struct dw_cgroup_usage usage;

	dw_cgroup_rearm(l->cell.watch[index].fd);
	dw_cgroup_read(&l->cgroup, &usage);
	if (usage.oom_kills != UINT64_MAX && usage.oom_kills > 0)
		l->cell.outcome.hit = DW_REASON_OOM;
	else if (usage.pids_refused != UINT64_MAX && usage.pids_refused > 0)
		l->cell.outcome.hit = DW_REASON_PIDS;
	else
		return;
	l->cell.watch[DW_WATCH_OOM].fd = -1;
	l->cell.watch[DW_WATCH_PIDS].fd = -1;
	dw_launched_kill(&l->cell);
}

void dw_launched_on_event(struct dw_cell *cell, size_t index)
{
	struct dw_launched *l = dw_launched(cell);

	if (index == DW_WATCH_REPORT)
		on_report(l);
	else if (index == DW_WATCH_INIT)
		on_init_gone(l);
	else
		on_limit(l, index);
}
