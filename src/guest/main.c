/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-guest: init of a container that an engine built.
 *
 * Theory of operation
 *
 * At level docker the engine creates the namespaces, the root and the cgroups. This
 * program does the rest. It is a static file that is mounted into any image, and the
 * container's entry point and first process:
 *
 *	1  send HELLO and wait: dewar-docker checks the container from outside, and
 *	   sends the order only if the limits are enforced
 *	2  write the code and the files into /tmp, a tmpfs of the container that no API
 *	   of the engine can write to
 *	3  check from inside what the engine promised (read-only root, no interface, size
 *	   of /tmp), and refuse to run if that is not so (start.c)
 *	4  fork the program; it raises the walls of dewar's other levels on top of the
 *	   engine's: limits, Landlock, our seccomp filter
 *	5  relay input and output, enforce what no cgroup enforces, reap orphans
 *	6  when the program ends: kill and reap the rest, send END and the requested files
 *	   (transfer.c), and exit when the stream is closed
 *
 * The program has our user id, but neither our streams nor access to us: pid 1 gets only
 * the signals that it handles, and we are not dumpable.
 */
#include "guest/guest_own.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "dewar/request.h"
#include "init/init.h"

#define DRAIN_ROUNDS 64
#define SAMPLES (DW_PLAN_SAMPLE_MEMORY | DW_PLAN_SAMPLE_CPU | DW_PLAN_SAMPLE_PIDS)

static char chunk[DW_GUEST_PAYLOAD_MAX];

/* ---- the order ---- */

static void read_order(struct dw_guest *g, size_t len)
{
	struct dw_guest_order *o = &g->order;
	struct dw_error err = {0};
	char *map;

	if (len < sizeof(*o) || len > DW_GUEST_ORDER_MAX)
		dw_guest_end();
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno,
		              "cannot allocate memory for the order");
		dw_init_die(&err);
	}
	dw_guest_read(o, sizeof(*o));
	len -= sizeof(*o);
	dw_guest_read(map, len);
	if ((uint64_t)o->plan + o->needs + o->collect != len)
		dw_guest_end();
	if (dw_plan_read(map, o->plan, &g->plan, &err) < 0)
		dw_init_die(&err);
	g->needs = map + o->plan;
	g->collect = g->needs + o->needs;
}

/* Read frames until GO. */
static void read_orders(struct dw_guest *g)
{
	struct dw_guest_frame frame;

	for (;;) {
		dw_guest_read(&frame, sizeof(frame));
		if (frame.kind == DW_GUEST_ORDER)
			read_order(g, frame.len);
		else if (frame.kind == DW_GUEST_FILE)
			dw_guest_take_file(frame.len);
		else if (frame.kind == DW_GUEST_GO && g->plan.h)
			return;
		else
			dw_guest_end();
	}
}

/* ---- while the program runs ---- */

static void close_input(struct dw_guest *g)
{
	dw_fd_close(&g->in);
	g->n_pending = 0;
}

static void write_input(struct dw_guest *g)
{
	ssize_t n = dw_fd_write_quietly(g->in, g->pending + g->at_pending, g->n_pending);

	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n < 0) {
		close_input(g);
		dw_guest_send(DW_GUEST_DEAF, "", 0);
		return;
	}
	g->at_pending += (size_t)n;
	g->n_pending -= (size_t)n;
	if (g->n_pending == 0)
		dw_guest_send(DW_GUEST_WANT, "", 0);
}

/* Returns true if the cell is to end now. */
static bool take_frame(struct dw_guest *g)
{
	struct dw_guest_frame frame;

	dw_guest_read(&frame, sizeof(frame));
	switch (frame.kind) {
	case DW_GUEST_INPUT:
		if (frame.len > sizeof(g->pending))
			dw_guest_end();
		dw_guest_read(g->pending, frame.len);
		g->at_pending = 0;
		g->n_pending = g->in >= 0 ? frame.len : 0;
		return false;
	case DW_GUEST_CLOSE:
		close_input(g);
		return false;
	case DW_GUEST_KILL:
		return true;
	default:
		dw_guest_end();
	}
}

/* Returns false if there is nothing to read now. */
static bool pass_output(struct dw_guest *g, enum dw_stream stream)
{
	ssize_t n = g->out[stream] < 0 ? 0 : read(g->out[stream], chunk, sizeof(chunk));

	if (n > 0) {
		dw_guest_send(stream == DW_STDOUT ? DW_GUEST_OUT : DW_GUEST_ERR, chunk,
		              (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		dw_fd_close(&g->out[stream]);
	return false;
}

/*
 * Returns the limit that the program exceeds, among those that no cgroup enforces, or
 * DW_REASON_EXIT.
 */
static enum dw_reason check_limits(const struct dw_guest *g, struct dw_report_end *end)
{
	const struct dw_plan_header *h = g->plan.h;

	if (h->deadline_ms != 0 && dw_now_ns() > g->start + h->deadline_ms * 1000000U)
		return DW_REASON_TIMEOUT_WALL;
	return h->flags & SAMPLES ? dw_sample_check(h, end) : DW_REASON_EXIT;
}

static void watch(struct dw_guest *g, struct dw_report_end *end)
{
	int sample_ms = g->plan.h->flags & SAMPLES ? 10 : 500;
	struct signalfd_siginfo info;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = g->init.children_fd, .events = POLLIN},
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = g->out[DW_STDOUT], .events = POLLIN},
			{.fd = g->out[DW_STDERR], .events = POLLIN},
			{.fd = g->in, .events = g->n_pending > 0 ? POLLOUT : 0},
		};
		bool kill_it = false;

		if (poll(fds, ARRAY_SIZE(fds), sample_ms) < 0 && errno != EINTR)
			dw_guest_end(); /* we could not enforce the limits */
		if (fds[0].revents)
			(void)!read(g->init.children_fd, &info, sizeof(info));
		if (fds[2].revents)
			(void)pass_output(g, DW_STDOUT);
		if (fds[3].revents)
			(void)pass_output(g, DW_STDERR);
		if (fds[4].revents & (POLLERR | POLLHUP)) {
			close_input(g);
			dw_guest_send(DW_GUEST_DEAF, "", 0);
		} else if (fds[4].revents) {
			write_input(g);
		}
		if (fds[1].revents)
			kill_it = take_frame(g);
		if (dw_procs_reap(g->program, &end->wait_status))
			return;
		end->hit = check_limits(g, end);
		if (kill_it || end->hit != DW_REASON_EXIT) {
			end->wait_status = SIGKILL;
			return;
		}
	}
}

static void finish(struct dw_guest *g, struct dw_report_end *end)
{
	int status;

	end->run_ns = dw_now_ns() - g->start;
	end->tmp_full = dw_init_tmp_is_full();
	if (g->plan.h->flags & DW_PLAN_SAMPLE_PIDS)
		(void)check_limits(g, end);
	do
		(void)kill(-1, SIGKILL); /* every process of the pid namespace but us */
	while (waitpid(-1, &status, 0) > 0 || errno == EINTR);
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		for (int round = 0; round < DRAIN_ROUNDS && pass_output(g, i); round++)
			;
	end->cpu_ns = dw_sample_dead_cpu_ns();
	end->max_rss = dw_init_max_rss();
}

static void prepare(struct dw_guest *g)
{
	struct dw_error err = {0};

	if (dw_init_prepare(&g->init, &err) < 0 || dw_init_close(&err) < 0)
		dw_init_die(&err);
	(void)umask(0); /* the order's modes are exact */
	(void)dw_fd_nonblock(STDOUT_FILENO);
}

/* dewar-docker checks that none of these namespaces is its own. */
static void send_hello(void)
{
	struct dw_guest_hello hello = {0};
	struct dw_walls shared = {0};

	dw_readback_shared(&shared);
	memcpy(hello.ns, shared.ns, sizeof(hello.ns));
	dw_guest_send(DW_GUEST_HELLO, &hello, sizeof(hello));
}

int main(void)
{
	static struct dw_guest g = {.in = -1, .out = {-1, -1}};
	struct dw_report report = {.kind = DW_REPORT_END};
	char byte;

	prepare(&g);
	send_hello();
	read_orders(&g);
	dw_guest_start_program(&g);
	watch(&g, &report.end);
	finish(&g, &report.end);
	dw_guest_report(DW_GUEST_END, &report);
	dw_guest_collect(g.collect, g.order.collect);
	dw_guest_send(DW_GUEST_DONE, "", 0);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
