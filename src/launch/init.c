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
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "launch/launch.h"

#define KILL_ROUNDS 2000 /* of 1 ms each */
#define DEADLINE_LOOK_MS 1000
#define SAMPLES (DW_PLAN_SAMPLE_MEMORY | DW_PLAN_SAMPLE_CPU | DW_PLAN_SAMPLE_PIDS)

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/* CPU time of those that init has buried. */
static uint64_t dead_cpu_ms(void)
{
	struct rusage ru;

	(void)getrusage(RUSAGE_CHILDREN, &ru);
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000U +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1000U;
}

/* Which limit is passed, or DW_REASON_EXIT. Keeps the peaks. */
static enum dw_reason check_limits(const struct dw_plan *plan, struct dw_report_end *end)
{
	const struct dw_plan_header *h = plan->h;
	struct dw_sample now;

	dw_sample_take(h->memory, end->peak_memory, &now);
	if (now.memory > end->peak_memory)
		end->peak_memory = now.memory;
	if (now.pids > end->peak_pids)
		end->peak_pids = now.pids;

	if ((h->flags & DW_PLAN_SAMPLE_MEMORY) && now.memory > h->memory)
		return DW_REASON_OOM;
	if ((h->flags & DW_PLAN_SAMPLE_PIDS) && now.pids > h->pids)
		return DW_REASON_PIDS;
	if ((h->flags & DW_PLAN_SAMPLE_CPU) && now.cpu_ms + dead_cpu_ms() > h->cpu_ms)
		return DW_REASON_TIMEOUT_CPU;
	return DW_REASON_EXIT;
}

/*
 * How long until the next look: as long as it takes to fill the room that is
 * left, at 2 GB/s, and never so long that a burst of processes is missed.
 */
static int next_look_ms(const struct dw_plan *plan, const struct dw_report_end *end)
{
	uint64_t room, ms = 20;

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

/* Bury whoever has died; true once that was the program. */
static bool reap(pid_t program, int *ret_status)
{
	bool over = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == program) {
			*ret_status = status;
			over = true;
		}
	}
	return over;
}

/* Everything in the cell, until nothing is left to be waited for. */
static void end_all(const struct dw_plan *plan)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	int status;
	pid_t pid;

	if (plan->h->flags & DW_PLAN_NAMESPACES) {
		/* One call reaches all of the pid namespace but us, at once. */
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

static bool tmp_is_full(const struct dw_plan *plan)
{
	struct statvfs vfs;

	if (!(plan->h->flags & DW_PLAN_NAMESPACES) || statvfs("/tmp", &vfs) < 0)
		return false;
	return vfs.f_bavail == 0 || vfs.f_favail == 0;
}

/*
 * Dewar is gone without having been able to clean up after itself. Every program
 * of the cell is dead by now, so the heap that this takes is nobody else's.
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

/*
 * Wait for an end of any kind. Dewar holds the deadline; if it is late by more
 * than a look (stopped, or stuck with its own caller), we do.
 */
static void watch(const struct dw_plan *plan, pid_t program, int sfd, uint64_t start,
                  struct dw_report_end *end)
{
	uint64_t deadline = start + plan->h->deadline_ms * 1000000U;
	struct pollfd fds[] = {
		{.fd = sfd, .events = POLLIN},
		{.fd = DW_LAUNCH_FD, .events = POLLIN},
	};
	struct signalfd_siginfo info;

	for (bool look = true;; look = fds[0].revents != 0) {
		if (look && reap(program, &end->wait_status)) {
			/* What it left behind tells whether it ran against the limit. */
			if (plan->h->flags & DW_PLAN_SAMPLE_PIDS)
				(void)check_limits(plan, end);
			return;
		}
		/* Who cannot wait cannot guard. */
		if (poll(fds, 2, next_look_ms(plan, end)) < 0 && errno != EINTR) {
			end->hit = DW_REASON_INTERNAL;
			end->wait_status = SIGKILL;
			return;
		}
		if (fds[0].revents)
			(void)!read(sfd, &info, sizeof(info));
		if (fds[1].revents) {
			end->wait_status = SIGKILL;
			return;
		}
		if (plan->h->flags & SAMPLES)
			end->hit = check_limits(plan, end);
		if (plan->h->deadline_ms != 0 && now_ns() > deadline)
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
	dw_readback_shared(&report.walls);
	(void)dw_report_send(DW_LAUNCH_FD, &report, -1);
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

	/* Our memory, descriptors and executable are closed to the program. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "close init to the program");
	return 0;
}

_Noreturn void dw_init_run(const struct dw_plan *plan, const struct dw_init *init,
                           pid_t program)
{
	struct dw_report report = {.kind = DW_REPORT_END};
	uint64_t start = now_ns();

	(void)sched_setaffinity(program, sizeof(plan->h->cpus), &plan->h->cpus);
	if (init->oom_fd >= 0)
		(void)dw_fd_write_all(init->oom_fd, "0", 1);
	close_program_side();
	report_walls();

	watch(plan, program, init->children_fd, start, &report.end);
	report.end.run_ns = now_ns() - start;
	report.end.tmp_full = tmp_is_full(plan);
	end_all(plan);
	if (dw_report_send(DW_LAUNCH_FD, &report, -1) < 0)
		remove_workdir(plan);
	_exit(0);
}
