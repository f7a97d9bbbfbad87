/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zygote: an interpreter that has started, and waits to be forked.
 *
 * Theory of operation
 *
 * An interpreter loads this library in its own cell, once it has loaded all that its
 * children need. The library's constructor (or a call of the interpreter: hooks.c,
 * python.c) does not return, but waits for orders on descriptor 0. For each order the
 * library forks, and returns in the child, when all walls are up: the interpreter goes on
 * in a cell that was built for one run. So any program that can load a shared library can
 * be a zygote.
 *
 * Dewar-launch has built the cell, with our init as its pid 1. The library puts a child
 * into the cell, whose parent is that init:
 *
 *	zygote ── vfork ──> A     setns: all seven namespaces; the pid namespace
 *	                          applies to A's children
 *	                    └─ vfork ──> B     in the cell: joins its cgroups
 *	                                 └─ fork ──> program
 *	                                 B ends: init becomes the program's parent
 *
 * A and B share the zygote's memory, so only the last fork copies it. The zygote needs no
 * capability: the cell's user namespace is below its own and was created under its id.
 *
 * The zygote never reads untrusted bytes: the job comes over a socket that only the child
 * reads. The library contains no libc; it calls the interpreter's fork(), which fixes up
 * what a fork changes (thread id, malloc, fork handlers).
 */
#include "runners/zygote.h"

#include <linux/magic.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <signal.h>
#include <sys/socket.h>

#define ORDERS_FD 0
/* mutant: warm-namespaces */
#define NAMESPACES                                                                  \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | \
	 CLONE_NEWUTS | CLONE_NEWCGROUP)
#define FIRST_OWN_FD (DW_JOB_FD + 1)
#define STOP_SIGNAL 19

/* Prefer the internal name: hooks.c replaces the public one. */
extern int libc_fork(void) __asm__("__fork") __attribute__((weak));
extern int fork(void);

enum who {
	ZYGOTE,
	PROGRAM,
};

/* The current order with its descriptors, and the failure that A or B met. */
static struct dw_enter order;
static int fds[DW_ENTER_FDS_MAX];
static uint32_t n_fds;
static struct failure failure;
static uint64_t signals_before;

long dw_receive(int sock, void *data, size_t len, int *ret, uint32_t max, uint32_t *ret_n)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * DW_ENTER_FDS_MAX)];
		struct cmsghdr align;
	} control;
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c = &control.align;
	uint32_t n = 0;
	long r;

	do
		r = sys(__NR_recvmsg, sock, &msg, MSG_CMSG_CLOEXEC);
	while (r == -4 /* EINTR */);
	if (r > 0 && msg.msg_controllen >= sizeof(*c) && c->cmsg_type == SCM_RIGHTS) {
		n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		dw_copy(ret, CMSG_DATA(c), sizeof(int) * (n < max ? n : max));
	}
	*ret_n = n;
	return r;
}

static void tell(int sock, const void *what, size_t len)
{
	(void)sys(__NR_sendto, sock, what, len, MSG_NOSIGNAL, 0, 0);
}

static void name_failure(char *ret, size_t size)
{
	size_t len = failure.what ? dw_length(failure.what) : 0;

	dw_copy(ret, failure.what, len < size ? len : size - 1);
}

static _Noreturn void end(int code)
{
	for (;;)
		(void)sys(__NR_exit_group, code);
}

/* ---- the program ---- */

static void send_ready(bool ok)
{
	struct dw_ready ready = {.magic = DW_ENTER_MAGIC, .eno = (int32_t)failure.eno};

	if (ok)
		ready.pid = (int32_t)sys(__NR_getpid);
	name_failure(ready.failed, sizeof(ready.failed));
	tell(DW_JOB_FD, &ready, sizeof(ready));
}

/* Move the descriptors: 0, 1 and 2 are the program's, 3 is the job's socket. */
static bool take_places(int *ret_ruleset)
{
	int ruleset = order.has_ruleset ? fds[DW_ENTER_RULESET] : -1;
	long r;

	/* No descriptor may have a number that is the target of another. */
	for (uint32_t i = 0; i < n_fds; i++)
		if (fds[i] < FIRST_OWN_FD)
			return !failed(&failure, "sort the descriptors", -9 /* EBADF */);
	for (int i = 0; i < 3; i++)
		if (failed(&failure, "take the program's stdio",
		           sys(__NR_dup3, fds[DW_ENTER_STDIN + i], i, 0)))
			return false;
	r = sys(__NR_dup3, fds[DW_ENTER_JOB], DW_JOB_FD, 02000000 /* CLOEXEC */);
	if (failed(&failure, "take the job's socket", r))
		return false;
	*ret_ruleset = ruleset;
	return true;
}

/* In the program: raise the walls, and leave none of the zygote's descriptors open. */
static bool become_program(bool walled)
{
	int ruleset = -1;

	/* mutant: warm-close-fds */
	if (!take_places(&ruleset) ||
	    (walled && !dw_walls_raise(&order, ruleset, &failure)) ||
	    failed(&failure, "close the zygote's descriptors",
	           sys(__NR_close_range, FIRST_OWN_FD, ~0U, 0)))
		return false;
	if (order.touch)
		dw_pages_touch();
	return true;
}

static void get_job(bool ok)
{
	/* mutant: warm-memory-holder */
	if (ok && order.hold)
		dw_hold_memory();
	(void)sys(__NR_rt_sigprocmask, SIG_SETMASK, &signals_before, 0, 8);
	send_ready(ok);
	if (ok && dw_job_take(DW_JOB_FD, order.order == DW_ORDER_TRIAL, &failure)) {
		(void)sys(__NR_close, DW_JOB_FD);
		if (dw_open_files_reopen(&failure))
			return;
		end(125);
	}
	if (ok)
		send_ready(false);
	end(125);
}

/* For a runner that has more to prepare in the child before it is ready for its job. */
void dewar_wait(void)
{
	get_job(true);
}

/* ---- the fork ---- */

int dw_libc_fork(void)
{
	return libc_fork ? libc_fork() : fork();
}

/* B: in the cell's pid namespace, with capabilities there, and the zygote's memory. */
static enum who fork_inside(void)
{
	uint32_t first = DW_ENTER_RULESET + order.has_ruleset;
	long pid;

	/* A thread that writes 0 into a cgroup's list moves itself. */
	/* mutant: warm-cgroup-join */
	for (uint32_t i = 0; i < order.n_cgroups; i++)
		if (failed(&failure, "join the cell's cgroups",
		           sys(__NR_write, fds[first + i], "0", 1)))
			end(1);
	pid = dw_libc_fork();
	if (pid == 0)
		return PROGRAM;
	if (pid < 0)
		(void)failed(&failure, "fork", pid);
	end(pid < 0);
}

/* A: leave the zygote's namespaces, and enter the cell's. */
static enum who enter_cell(void)
{
	long pid;

	if (failed(&failure, "enter the cell's namespaces",
	           sys(__NR_setns, fds[DW_ENTER_INIT], NAMESPACES)))
		end(1);
	pid = dw_vfork();
	if (pid == 0)
		return fork_inside();
	if (!failed(&failure, "fork into the cell", pid))
		(void)sys(__NR_wait4, pid, 0, __WALL, 0);
	end(failure.what != 0);
}

static enum who fork_into_cell(void)
{
	long pid = dw_vfork();

	if (pid == 0)
		return enter_cell();
	if (!failed(&failure, "fork", pid))
		(void)sys(__NR_wait4, pid, 0, __WALL, 0);
	return ZYGOTE;
}

/* ---- the trial ---- */

/* Trace the child to the moment before its end, when all its memory still exists. */
static uint32_t watch_trial(long pid)
{
	uint32_t pages = 0;
	int status = 0, sig;

	while (sys(__NR_wait4, pid, &status, __WALL, 0) == pid) {
		if ((status & 0x7f) == 0 || (status & 0xff) != 0x7f)
			return pages; /* it has ended */
		sig = status >> 8 & 0xff;
		if (status >> 16 == PTRACE_EVENT_EXIT) {
			pages = dw_pages_learn(pid);
			sig = 0;
		} else if (sig == STOP_SIGNAL) {
			(void)sys(__NR_ptrace, PTRACE_SETOPTIONS, pid, 0,
			          PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
			sig = 0;
		}
		(void)sys(__NR_ptrace, PTRACE_CONT, pid, 0, sig);
	}
	return pages;
}

static enum who fork_trial(uint32_t *ret_pages)
{
	long pid = dw_libc_fork();

	if (pid == 0) {
		(void)sys(__NR_ptrace, PTRACE_TRACEME, 0, 0, 0);
		(void)sys(__NR_kill, sys(__NR_getpid), STOP_SIGNAL);
		return PROGRAM;
	}
	if (!failed(&failure, "fork", pid))
		*ret_pages = watch_trial(pid);
	return ZYGOTE;
}

/* ---- orders ---- */

static bool is_sound(long len)
{
	uint32_t want = DW_ENTER_RULESET + order.n_cgroups + order.has_ruleset;

	if (len != sizeof(order) || order.magic != DW_ENTER_MAGIC || n_fds != want ||
	    order.n_cgroups > DW_ENTER_CGROUPS_MAX || order.has_ruleset > 1 ||
	    order.n_rlimits > DW_ENTER_RLIMITS_MAX)
		return !failed(&failure, "understand the order", -22 /* EINVAL */);
	return true;
}

static void answer(uint32_t pages)
{
	struct dw_zygote_reply said = {
		.magic = DW_ENTER_MAGIC,
		.eno = (int32_t)failure.eno,
		.pages = pages,
	};

	name_failure(said.failed, sizeof(said.failed));
	tell(ORDERS_FD, &said, sizeof(said));
}

/* Returns only in a child. */
static void take_orders(void)
{
	for (;;) {
		uint32_t pages = 0;
		enum who who = ZYGOTE;
		long len;

		failure = (struct failure){0};
		n_fds = 0;
		len = dw_receive(ORDERS_FD, &order, sizeof(order), fds, DW_ENTER_FDS_MAX,
		                 &n_fds);
		if (len <= 0)
			end(0); /* dewar has closed the socket */
		if (is_sound(len))
			who = order.order == DW_ORDER_TRIAL ? fork_trial(&pages)
			                                    : fork_into_cell();
		if (who == PROGRAM)
			return;
		for (uint32_t i = 0; i < n_fds && i < DW_ENTER_FDS_MAX; i++)
			(void)sys(__NR_close, fds[i]);
		answer(pages);
	}
}

void dw_zygote_wait(void)
{
	const uint64_t all = ~0ULL;
	bool ok;

	/* No signal handler may run while three processes share the memory. */
	(void)sys(__NR_rt_sigprocmask, SIG_SETMASK, &all, &signals_before, 8);
	dw_open_files_note();
	/* Keep DW_JOB_FD taken, so that an order's descriptors get higher numbers. */
	(void)sys(__NR_dup3, ORDERS_FD, DW_JOB_FD, 02000000 /* CLOEXEC */);
	ok = dw_walls_prepare(&failure);
	answer(0);
	if (!ok)
		end(1);
	take_orders();
	ok = become_program(order.order == DW_ORDER_FORK);
	if (!ok || !order.calls_back)
		get_job(ok);
}

__attribute__((constructor)) static void dewar_zygote(void)
{
	if (!dw_hooks_wait())
		dw_zygote_wait();
}
