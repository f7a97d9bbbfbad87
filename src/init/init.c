/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages 8 and 10: the cell's first process.
 *
 * It reaps orphans, waits for the program, enforces the limits that the kernel does not
 * enforce here, and ends the cell: when the program ends, when a limit is exceeded, or
 * when dewar is gone (the report socket hangs up). It is never the program itself, so that
 * signals and orphans behave in a cell as anywhere else.
 *
 * Init has the same user id as the program, but the program cannot reach it: pid 1 gets
 * only the signals that it handles; init is not dumpable, so its memory, descriptors and
 * executable are closed; and it is outside the program's Landlock domain.
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
#define DEADLINE_CHECK_MS 1000
#define LATE_MESSAGE_MS 1000
#define SAMPLES (DW_PLAN_SAMPLE_MEMORY | DW_PLAN_SAMPLE_CPU | DW_PLAN_SAMPLE_PIDS)

/* CPU time of the process; for pid 0, of init and all processes that it has reaped. */
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

/* The state of the run. */
struct watch {
	pid_t program;
	int children_fd;
	bool waits;         /* the program has not got its job yet */
	uint64_t start;     /* ns */
	uint64_t deadline;  /* ns, or 0 */
	uint64_t spent_cpu; /* ns, before the run started */
};

/*
 * The time until the next sample: as long as it takes to fill the remaining memory at
 * 2 GB/s, and at most 20 ms, so that no burst of processes is missed.
 */
static int next_sample_ms(const struct dw_plan *plan, const struct watch *w,
                          const struct dw_report_end *end)
{
	uint64_t room, ms = 20;

	if (w->waits)
		return -1; /* only our own code runs: there is nothing to limit yet */
	if (!(plan->h->flags & SAMPLES))
		return DEADLINE_CHECK_MS;
	if (plan->h->flags & DW_PLAN_SAMPLE_MEMORY) {
		room = plan->h->memory > end->peak_memory
		               ? plan->h->memory - end->peak_memory
		               : 0;
		ms = room / (2U << 20);
	}
	return ms < 1 ? 1 : ms > 20 ? 20 : (int)ms;
}

uint64_t dw_init_max_rss(void)
{
	struct rusage ru = {0};

	(void)getrusage(RUSAGE_CHILDREN, &ru);
	return (uint64_t)ru.ru_maxrss << 10;
}

/* Kill and reap every process in the cell. */
static void end_all(const struct dw_plan *plan)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	int status;
	pid_t pid;

	if (plan->h->flags & DW_PLAN_NAMESPACES) {
		/* All processes here descend from init: without a child, init is alone. */
		if (waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD)
			return;
		/*
		 * One call signals all of the pid namespace but us. It takes longer the
		 * more processes the host has.
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

/* Returns true if the process is our only child, and has no child itself. */
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
 * Returns true if only the holder of the program's memory was left, and has been killed.
 * The kernel then only has to free that memory, and the caller's answer need not wait.
 */
static bool end_holder(void)
{
	return dw_entered_holder != 0 && is_only_child(dw_entered_holder) &&
	       kill(dw_entered_holder, SIGKILL) == 0;
}

bool dw_init_tmp_is_full(void)
{
	struct statvfs vfs;

	if (statvfs("/tmp", &vfs) < 0)
		return false;
	/* gVisor does not count inodes. */
	return vfs.f_bavail == 0 || (vfs.f_files > 0 && vfs.f_favail == 0);
}

/*
 * Dewar is gone and cannot clean up. Every program of the cell is dead, so we may use the
 * heap here.
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
static bool read_message(struct watch *w)
{
	struct dw_init_message m;

	if (!w->waits || !dw_entered_receive(&m))
		return false;
	if (m.kind == DW_INIT_READY) {
		dw_entered_find_holder(w->program);
		w->spent_cpu = cpu_ns(w->program) + cpu_ns(0);
	} else if (m.kind == DW_INIT_GO) {
		w->waits = false;
		w->start = m.at_ns;
		if (m.deadline_ms != 0)
			w->deadline = w->start + m.deadline_ms * 1000000U;
	}
	return true;
}

/*
 * The program gets its job before we get GO, and a short program may have ended by then.
 * If no GO comes, the program died while it waited for its job.
 */
static void read_late_message(struct watch *w)
{
	struct pollfd fd = {.fd = DW_LAUNCH_FD, .events = POLLIN};

	while (w->waits && poll(&fd, 1, LATE_MESSAGE_MS) > 0 && read_message(w))
		;
}

/*
 * Wait until the cell has to end. Dewar enforces the deadline; if it is late (stopped, or
 * blocked by its caller), we do.
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
			read_late_message(w);
			/* The processes that are left show whether the limit was hit. */
			if (plan->h->flags & DW_PLAN_SAMPLE_PIDS)
				(void)dw_sample_check(plan->h, end);
			return;
		}
		/* Without poll() we cannot enforce the limits: end the cell. */
		if (poll(fds, 2, next_sample_ms(plan, w, end)) < 0 && errno != EINTR) {
			end->hit = DW_REASON_INTERNAL;
			end->wait_status = SIGKILL;
			return;
		}
		if (fds[0].revents)
			(void)!read(w->children_fd, &info, sizeof(info));
		if (fds[1].revents && !read_message(w)) {
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
	if (report.walls.ns[DW_NS_USER] == 0) /* entered.c has not read them */
		dw_readback_shared(&report.walls);
	(void)dw_report_send(DW_LAUNCH_FD, &report, -1);
}

/*
 * The cells of a zygote that has ended are in our pid namespace and would end with us, so
 * we stay until dewar closes the socket.
 */
static void outlive(const struct dw_report *report)
{
	char message;
	int status;

	(void)signal(SIGCHLD, SIG_IGN); /* the kernel reaps from now on */
	(void)dw_procs_reap(0, &status);
	(void)dw_report_send(DW_LAUNCH_FD, report, -1);
	while (recv(DW_LAUNCH_FD, &message, 1, 0) < 0 && errno == EINTR)
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
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot watch the program");

	ret->oom_fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	return 0;
}

void dw_init_set_oom(const struct dw_init *init, const char *score)
{
	if (init->oom_fd >= 0)
		(void)dw_fd_write_all(init->oom_fd, score, strlen(score));
}

int dw_init_close(struct dw_error *err)
{
	/* mutant: init-closed */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot make init undumpable");
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
	dw_init_set_oom(init, DW_INIT_OOM_LAST);
	close_program_side();
	report_walls();

	if (plan->h->flags & DW_PLAN_ENTERED)
		w.spent_cpu = cpu_ns(program) + cpu_ns(0);

	watch(plan, &w, &report.end);
	if (plan->h->flags & DW_PLAN_ZYGOTE)
		outlive(&report);
	report.end.run_ns = dw_now_ns() - w.start;
	report.end.tmp_full = (plan->h->flags & DW_PLAN_NAMESPACES) &&
	                      dw_init_tmp_is_full();
	/* mutant: end-the-cell */
	if (!end_holder())
		end_all(plan);
	report.end.cpu_ns = cpu_ns(0);
	report.end.cpu_ns -= w.spent_cpu < report.end.cpu_ns ? w.spent_cpu
	                                                     : report.end.cpu_ns;
	report.end.max_rss = dw_init_max_rss();
	if (dw_report_send(DW_LAUNCH_FD, &report, -1) < 0)
		remove_workdir(plan);
	_exit(0); /* the kernel waits here for processes that are still dying */
}
