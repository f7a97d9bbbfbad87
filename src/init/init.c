/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages 8 and 10: the cell's first process.
 *
 * It reaps orphans, waits for the program, holds the limits that the kernel
 * does not hold here, and ends everything: when the program ends, when a limit
 * is passed, or when dewar is gone (the report socket hangs up). It is never the
 * program itself, so that signals and orphans behave in a cell as anywhere.
 *
 * It has the program's id but is out of its reach: as pid 1 it gets no signal
 * that it did not ask for, it is not dumpable, so its memory, descriptors and
 * executable are closed to the program, and the Landlock domain of the program
 * does not contain it.
 */
#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"

#define KILL_ROUNDS 2000 /* of 1 ms each */
#define DEADLINE_LOOK_MS 1000
#define LATE_WORD_MS 1000
#define SAMPLES (DW_PLAN_SAMPLE_MEMORY | DW_PLAN_SAMPLE_CPU | DW_PLAN_SAMPLE_PIDS)

/* CPU time of a process; of all that ended in the cell and of init, for pid 0. */
static uint64_t cpu_ns(pid_t pid)
{
	struct timespec ts = {0};
	clockid_t id;

	if (pid != 0) {
		if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &ts) < 0)
			return 0;
		return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
	}
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec +
	       dw_sample_dead_cpu_ns();
}

/* Where the run stands. */
struct watch {
	pid_t program;
	int children_fd;
	bool waits;         /* for its job: it has not begun */
	uint64_t start;     /* ns */
	uint64_t deadline;  /* ns, or 0 */
	uint64_t spent_cpu; /* ns, before it began */
};

/*
 * How long until the next look: as long as it takes to fill the room that is
 * left, at 2 GB/s, and never so long that a burst of processes is missed.
 */
static int next_look_ms(const struct dw_plan *plan, const struct watch *w,
                        const struct dw_report_end *end)
{
	uint64_t room, ms = 20;

	if (w->waits)
		return -1; /* our own code: there is nothing to hold yet */
	if (!(plan->h->flags & SAMPLES))
		return DEADLINE_LOOK_MS;
	if (plan->h->flags & DW_PLAN_SAMPLE_MEMORY) {
		room = plan->h->memory > end->peak_memory
		               ? plan->h->memory - end->peak_memory
		               : 0;
		ms = room / (2U << 20);
	}
	return ms < 1 ? 1 : ms > 20 ? 20 : (int)ms;
}

static uint64_t max_rss(void)
{
	struct rusage ru = {0};

	(void)getrusage(RUSAGE_CHILDREN, &ru);
	return (uint64_t)ru.ru_maxrss << 10;
}

/* Everything in the cell, until nothing is left to be waited for. */
static void end_all(const struct dw_plan *plan)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	int status;
	pid_t pid;

	if (plan->h->flags & DW_PLAN_NAMESPACES) {
		/* All in here descend from us: without a child we are alone. */
		if (waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD)
			return;
		/*
		 * One call reaches all of the pid namespace but us, at once; it takes
		 * the longer the more processes the host has.
		 */
		(void)kill(-1, SIGKILL);
		while (waitpid(-1, &status, 0) > 0 || errno == EINTR)
			;
		return;
	}

	for (int round = 0; round < KILL_ROUNDS; round++) {
		(void)dw_procs_signal(SIGKILL);
		do
			pid = waitpid(-1, &status, WNOHANG);
		while (pid > 0);
		if (pid < 0 && errno == ECHILD)
			return;
		(void)nanosleep(&ms, NULL);
	}
}

/* Returns true if it is our only child, and has no child itself. */
static bool is_only_child(pid_t pid)
{
	char path[64], text[64];
	char *end;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/1/task/1/children", text, sizeof(text)) <=
	            0 ||
	    strtol(text, &end, 10) != pid || *end != ' ' || end[1] != '\0')
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	return dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) == 0;
}

/*
 * Returns true if only the holder of the program's memory was left, and is killed.
 * All that is left for it is to free that memory, and no answer need wait for that.
 */
static bool end_holder(void)
{
	return dw_entered_holder != 0 && is_only_child(dw_entered_holder) &&
	       kill(dw_entered_holder, SIGKILL) == 0;
}

static bool tmp_is_full(const struct dw_plan *plan)
{
	struct statvfs vfs;

	if (!(plan->h->flags & DW_PLAN_NAMESPACES) || statvfs("/tmp", &vfs) < 0)
		return false;
	return vfs.f_bavail == 0 || vfs.f_favail == 0;
}

/*
 * Dewar is gone without having been able to clean up after itself. Every program
 * of the cell is dead by now, so using the heap here harms none.
 */
static void remove_workdir(const struct dw_plan *plan)
{
	const char *path = dw_plan_text(plan, plan->h->workdir);
	const char *name = strrchr(path, '/');
	char parent[64];
	int fd;

	if (!name || (size_t)(name - path) >= sizeof(parent))
		return;
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(name - path), path);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)dw_path_remove_tree(fd, name + 1);
}

static void close_program_side(void)
{
	for (int fd = 0; fd < 3; fd++)
		(void)close(fd);
}

/* Returns false if the cell is to end. */
static bool take_word(struct watch *w)
{
	struct dw_word word;

	if (!w->waits || !dw_entered_word(&word))
		return false;
	if (word.kind == DW_WORD_READY) {
		dw_entered_find_holder(w->program);
		w->spent_cpu = cpu_ns(w->program) + cpu_ns(0);
	} else if (word.kind == DW_WORD_GO) {
		w->waits = false;
		w->start = word.at_ns;
		if (word.deadline_ms != 0)
			w->deadline = w->start + word.deadline_ms * 1000000U;
	}
	return true;
}

/*
 * The program hears of its start before we do, and a short one has ended before we
 * hear of it. One that died while it waited never started.
 */
static void hear_late_word(struct watch *w)
{
	struct pollfd fd = {.fd = DW_LAUNCH_FD, .events = POLLIN};

	while (w->waits && poll(&fd, 1, LATE_WORD_MS) > 0 && take_word(w))
		;
}

/*
 * Wait for an end of any kind. Dewar holds the deadline; if it is late by more
 * than a look (stopped, or stuck with its own caller), we do.
 */
static void watch(const struct dw_plan *plan, struct watch *w, struct dw_report_end *end)
{
	struct pollfd fds[] = {
		{.fd = w->children_fd, .events = POLLIN},
		{.fd = DW_LAUNCH_FD, .events = POLLIN},
	};
	struct signalfd_siginfo info;

	for (bool look = true;; look = fds[0].revents != 0) {
		if (look && dw_procs_reap(w->program, &end->wait_status)) {
			hear_late_word(w);
			/* Processes that it left behind tell whether it hit the limit. */
			if (plan->h->flags & DW_PLAN_SAMPLE_PIDS)
				(void)dw_sample_check(plan->h, end);
			return;
		}
		/* Without poll() we cannot hold the limits: end the cell. */
		if (poll(fds, 2, next_look_ms(plan, w, end)) < 0 && errno != EINTR) {
			end->hit = DW_REASON_INTERNAL;
			end->wait_status = SIGKILL;
			return;
		}
		if (fds[0].revents)
			(void)!read(w->children_fd, &info, sizeof(info));
		if (fds[1].revents && !take_word(w)) {
			end->wait_status = SIGKILL;
			return;
		}
		if (w->waits)
			continue;
		/* mutant: sampling */
		if (plan->h->flags & SAMPLES)
			end->hit = dw_sample_check(plan->h, end);
		if (w->deadline != 0 && dw_now_ns() > w->deadline)
			end->hit = DW_REASON_TIMEOUT_WALL;
		if (end->hit != DW_REASON_EXIT) {
			end->wait_status = SIGKILL;
			return;
		}
	}
}

static void report_walls(void)
{
	struct dw_report report = {.kind = DW_REPORT_WALLS, .walls = dw_program_walls};

	if (!report.walls.known)
		return;
	if (report.walls.ns[DW_NS_USER] == 0) /* else it was read before (entered.c) */
		dw_readback_shared(&report.walls);
	(void)dw_report_send(DW_LAUNCH_FD, &report, -1);
}

/*
 * The cells of a zygote that has ended are still in our pid namespace: they go
 * when we do, and so we stay until dewar lets us.
 */
static void outlive(const struct dw_report *report)
{
	char word;
	int status;

	(void)signal(SIGCHLD, SIG_IGN); /* from now on the kernel reaps them */
	(void)dw_procs_reap(0, &status);
	(void)dw_report_send(DW_LAUNCH_FD, report, -1);
	while (recv(DW_LAUNCH_FD, &word, 1, 0) < 0 && errno == EINTR)
		;
}

int dw_init_prepare(struct dw_init *ret, struct dw_error *err)
{
	sigset_t all, children;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	ret->children_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ret->children_fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "watch the program");

	/*
	 * If memory runs out in the cell's cgroup, the program is to go, and not init,
	 * which could not tell then what happened. The program is born with the value
	 * that we have now; ours is taken back once it is there.
	 */
	ret->oom_fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (ret->oom_fd >= 0)
		(void)dw_fd_write_all(ret->oom_fd, "1000", 4);

	return 0;
}

/* Our memory, descriptors and executable are closed to the program. */
int dw_init_close(struct dw_error *err)
{
	/* mutant: init-closed */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "close init to the program");
	return 0;
}

_Noreturn void dw_init_run(const struct dw_plan *plan, const struct dw_init *init,
                           pid_t program)
{
	struct dw_report report = {.kind = DW_REPORT_END};
	struct watch w = {
		.program = program,
		.children_fd = init->children_fd,
		.waits = (plan->h->flags & (DW_PLAN_ENTERED | DW_PLAN_JOB)) != 0,
		.start = dw_now_ns(),
	};

	if (plan->h->deadline_ms != 0)
		w.deadline = w.start + plan->h->deadline_ms * 1000000U;
	(void)sched_setaffinity(program, sizeof(plan->h->cpus), &plan->h->cpus);
	if (init->oom_fd >= 0)
		(void)dw_fd_write_all(init->oom_fd, "0", 1);
	close_program_side();
	report_walls();

	if (plan->h->flags & DW_PLAN_ENTERED)
		w.spent_cpu = cpu_ns(program) + cpu_ns(0);

	watch(plan, &w, &report.end);
	if (plan->h->flags & DW_PLAN_ZYGOTE)
		outlive(&report);
	report.end.run_ns = dw_now_ns() - w.start;
	report.end.tmp_full = tmp_is_full(plan);
	/* mutant: end-the-cell */
	if (!end_holder())
		end_all(plan);
	report.end.cpu_ns = cpu_ns(0);
	report.end.cpu_ns -= w.spent_cpu < report.end.cpu_ns ? w.spent_cpu
	                                                     : report.end.cpu_ns;
	report.end.max_rss = max_rss();
	if (dw_report_send(DW_LAUNCH_FD, &report, -1) < 0)
		remove_workdir(plan);
	_exit(0); /* the kernel waits here for processes that are still dying */
}
