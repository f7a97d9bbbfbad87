/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-guest: init of a container that an engine built.
 *
 * Theory of operation
 *
 * At level docker the engine makes the namespaces, the root and the cgroups; what
 * it cannot do is what this program is for. It is the container's entry point, a
 * static file that is shown inside whatever image there is, and stays its first
 * process:
 *
 *	1  say HELLO, and wait: the other side looks at the container from outside,
 *	   and hands the order over only if the limits stand
 *	2  write the code and the files into /tmp, which no API of an engine reaches,
 *	   since it is a tmpfs of the container's own
 *	3  look from inside at what the engine promised (root read-only, no interface,
 *	   size of /tmp), and refuse if it is not so
 *	4  fork the program; it raises the walls that dewar's other levels have, on top
 *	   of the engine's: limits, Landlock, our seccomp filter
 *	5  pass input and output on, hold what no cgroup holds, bury orphans
 *	6  when the program ends: kill and bury the rest, say END, send the files that
 *	   were asked for, and go when the stream is closed
 *
 * The program has our id, but neither our streams nor a way to us: as pid 1 we get
 * no signal that we did not ask for, and we are not dumpable.
 */
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "dewar/request.h"
#include "init/init.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define ENV_MAX 1024
#define DRAIN_ROUNDS 64
#define HELD_UP_MS 30000U /* past the deadline: files may be on their way */
#define SAMPLES (DW_PLAN_SAMPLE_MEMORY | DW_PLAN_SAMPLE_CPU | DW_PLAN_SAMPLE_PIDS)

struct guest {
	struct dw_guest_order order;
	struct dw_plan plan;
	const char *needs;
	const char *collect;
	int children_fd;
	int oom_fd;
	pid_t program;
	int in;     /* our ends of the program's stdio */
	int out[2]; /* by enum dw_stream */
	uint64_t start;
	size_t n_pending; /* input that the program has not taken yet */
	size_t at_pending;
	char pending[DW_GUEST_PAYLOAD_MAX];
};

static char chunk[DW_GUEST_PAYLOAD_MAX];

/* ---- the stream ---- */

_Noreturn void dw_guest_end(void)
{
	if (getpid() == 1)
		(void)kill(-1, SIGKILL);
	_exit(0);
}

/*
 * If the reader is slow we wait for it, but not beyond the deadline: until then no
 * limit of the program is checked.
 */
static uint64_t give_up_ns = UINT64_MAX;

static void write_all(const char *data, size_t len)
{
	struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
	ssize_t n;

	while (len > 0) {
		n = write(STDOUT_FILENO, data, len);
		if (n < 0 && errno == EAGAIN && dw_now_ns() < give_up_ns)
			(void)poll(&fd, 1, 1000);
		else if (n < 0 && errno != EINTR)
			dw_guest_end();
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
}

void dw_guest_send(enum dw_guest_kind kind, const void *data, size_t len)
{
	struct dw_guest_frame frame = {.kind = kind, .len = (uint32_t)len};

	write_all((const char *)&frame, sizeof(frame));
	write_all(data, len);
}

void dw_guest_read(void *data, size_t len)
{
	if (dw_fd_read_some(STDIN_FILENO, data, len) != (ssize_t)len)
		dw_guest_end();
}

static void send_report(enum dw_guest_kind kind, const struct dw_report *report)
{
	dw_guest_send(kind, report, sizeof(*report));
}

/*
 * Called by the program's own stage, too, which shares our memory and must not
 * write to our stream: it leaves the error for us.
 */
static struct dw_error failure;

_Noreturn void dw_init_die(const struct dw_error *err)
{
	struct dw_report report = {.kind = DW_REPORT_ERROR, .error = *err};

	if (getpid() != 1) {
		failure = *err;
		_exit(125);
	}
	send_report(DW_GUEST_ERROR, &report);
	/* dewar-docker closes the stream once it has read the error. */
	while (read(STDIN_FILENO, chunk, sizeof(chunk)) > 0)
		;
	dw_guest_end();
}

/* ---- the order ---- */

static void read_order(struct guest *g, size_t len)
{
	struct dw_guest_order *o = &g->order;
	struct dw_error err = {0};
	char *map;

	if (len < sizeof(*o) || len > DW_GUEST_ORDER_MAX)
		dw_guest_end();
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "make room for the order");
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

/* Until GO. */
static void take_orders(struct guest *g)
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

/* ---- what there must be ---- */

static bool locate(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/')) {
		(void)snprintf(ret, size, "%s", name);
		return true;
	}
	if (!path || *path == '\0')
		path = DEFAULT_PATH;
	for (const char *p = path; *p != '\0';) {
		size_t len = strcspn(p, ":");
		struct stat st;

		(void)snprintf(ret, size, "%.*s/%s", (int)len, p, name);
		if (ret[0] == '/' && stat(ret, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(ret, X_OK) == 0)
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

static void check_needs(const struct guest *g)
{
	struct dw_error err = {0};
	char path[2048];

	for (const char *p = g->needs; p < g->needs + g->order.needs;
	     p += strlen(p) + 1) {
		if (locate(p, path, sizeof(path)))
			continue;
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0, "the image has no %s", p);
		dw_init_die(&err);
	}
}

/* "8 7 0:8 / / ro,relatime - ...": the options of what is mounted at the root. */
static bool is_root_mounted_read_only(void)
{
	static char text[65536];
	char *save = NULL;
	bool read_only = false;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/mountinfo", text, sizeof(text)) <= 0)
		return false;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char place[16], options[256];

		if (sscanf(line, "%*s %*s %*s %*s %15s %255s", place, options) == 2 &&
		    strcmp(place, "/") == 0)
			read_only = strncmp(options, "ro", 2) == 0 &&
			            (options[2] == ',' || options[2] == '\0');
	}
	return read_only;
}

/* The engine said yes to all of this; what counts is what it is like in here. */
static void check_walls(const struct guest *g, struct dw_walls *shared)
{
	struct dw_error err = {0};

	dw_readback_shared(shared);
	/* gVisor's statvfs() has no flags. */
	if (shared->root_read_only != 1)
		shared->root_read_only = is_root_mounted_read_only();
	/* mutant: guest-check-walls */
	if (getpid() != 1)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine gave the container no pid namespace, or an init "
		              "of its own");
	else if (shared->root_read_only != 1)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine left the container's root writable");
	else if ((g->order.flags & DW_GUEST_NO_NETWORK) && shared->interfaces > 0)
		(void)dw_fail(
			&err, DW_E_UNSUPPORTED, 0,
			"the engine gave the container a network that it must not have");
	else if (!(g->order.flags & DW_GUEST_NO_NETWORK) && shared->interfaces == 0)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine, or its runtime, gave the container no network, which "
		              "was asked for (is there no network \"bridge\"?)");
	else if (shared->tmp_bytes > g->order.tmp_bytes)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine made /tmp larger than its limit");
	else if (geteuid() == 0)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine runs the container as root");
	else
		return;
	dw_init_die(&err);
}

/* ---- the program ---- */

static void name_of(const char *variable, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%.*s", (int)strcspn(variable, "="), variable);
}

/* The order's variables, and those of the image that it does not name. */
static void make_env(const struct guest *g, char **env)
{
	uint32_t n = 0, own = g->plan.h->n_env;
	char name[256], other[256];

	for (; n < own; n++)
		env[n] = (char *)dw_plan_text(&g->plan, g->plan.env[n]);
	for (char **e = environ; *e && n < own + ENV_MAX; e++) {
		bool taken = false;

		name_of(*e, name, sizeof(name));
		for (uint32_t i = 0; i < own && !taken; i++) {
			name_of(env[i], other, sizeof(other));
			taken = strcmp(name, other) == 0;
		}
		if (!taken)
			env[n++] = *e;
	}
	env[n] = NULL;
}

/* What gVisor's /proc/self/status does not have, asked for in another way. */
static void complete(struct dw_walls *walls)
{
	if (walls->no_new_privs < 0)
		walls->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	if (walls->caps[DW_CAP_AMBIENT] == UINT64_MAX &&
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 0, 0, 0) < 0)
		walls->caps[DW_CAP_AMBIENT] = 0; /* there is no such set */
}

/* Refuse to run the program if a promised wall is missing. */
static void check_own_walls(const struct dw_walls *walls)
{
	struct dw_error err = {0};

	for (int i = 0; i < DW_CAP_SET_COUNT; i++)
		if (walls->caps[i] != 0)
			(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
			              "the engine left the container capabilities");
	if (walls->no_new_privs != 1)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "no_new_privs is not set in the container");
	if (walls->seccomp_mode != 2)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "no seccomp filter is in force in the container");
	if (err.code != DW_OK)
		dw_init_die(&err);
}

static _Noreturn void be_program(const struct guest *g, const int stdio[3])
{
	static char *argv[DW_PLAN_WORDS_MAX + 1], *env[DW_PLAN_WORDS_MAX + ENV_MAX + 1];
	static char path[2048];
	struct dw_error err = {0};
	int abi = 0;

	for (int i = 0; i < 3; i++)
		if (dup2(stdio[i], i) < 0) {
			(void)dw_fail(&err, DW_E_INTERNAL, errno, "connect the program");
			dw_init_die(&err);
		}
	for (uint32_t i = 0; i < g->plan.h->n_argv; i++)
		argv[i] = (char *)dw_plan_text(&g->plan, g->plan.argv[i]);
	make_env(g, env);
	if (!locate(argv[0], path, sizeof(path))) {
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0, "the image has no %s", argv[0]);
		dw_init_die(&err);
	}
	if (dw_program_raise_walls(&g->plan, &abi, &err) < 0)
		dw_init_die(&err);
	dw_readback_own(0, abi, &dw_program_walls);
	complete(&dw_program_walls);
	dw_program_walls.known = false;
	/* mutant: guest-check-capabilities */
	check_own_walls(&dw_program_walls);
	dw_program_walls.known = true;
	argv[0] = path;
	(void)execve(path, argv, env);
	dw_program_walls.known = false;
	(void)dw_fail(&err, errno == ENOENT ? DW_E_UNSUPPORTED : DW_E_INTERNAL, errno,
	              "start %s in the container", path);
	dw_init_die(&err);
}

static void make_pipe(int fds[2])
{
	struct dw_error err = {0};

	if (pipe2(fds, O_CLOEXEC) == 0)
		return;
	(void)dw_fail(&err, DW_E_INTERNAL, errno, "make pipes for the program");
	dw_init_die(&err);
}

static void start_program(struct guest *g)
{
	struct dw_report report = {.kind = DW_REPORT_WALLS};
	struct dw_walls shared = {0};
	struct dw_error err = {0};
	int in[2], out[2], errs[2];
	pid_t program;

	check_needs(g);
	check_walls(g, &shared);
	/* The engine did it already; what could not be done is seen in what is read back. */
	/* mutant: guest-drop-capabilities */
	(void)dw_caps_drop(false, &err);
	make_pipe(in);
	make_pipe(out);
	make_pipe(errs);
	/* It is born with this; ours is taken back, so that we outlive it. */
	if (g->oom_fd >= 0)
		(void)dw_fd_write_all(g->oom_fd, "1000", 4);

	/* As in main.c: it borrows our memory until it execs, and leaves word there. */
	program = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): as said */
	if (program == 0)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): as said */
		be_program(g, (int[]){in[0], out[1], errs[1]});
	g->program = program;
	g->start = dw_now_ns();
	if (g->plan.h->deadline_ms != 0)
		give_up_ns = g->start + (g->plan.h->deadline_ms + HELD_UP_MS) * 1000000U;
	if (g->oom_fd >= 0)
		(void)dw_fd_write_all(g->oom_fd, "0", 1);
	if (g->program < 0)
		(void)dw_fail(&failure, DW_E_INTERNAL, errno, "fork the program");
	if (!dw_program_walls.known)
		dw_init_die(&failure);

	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(errs[1]);
	g->in = in[1];
	g->out[DW_STDOUT] = out[0];
	g->out[DW_STDERR] = errs[0];
	(void)dw_fd_nonblock(g->in);
	(void)dw_fd_nonblock(out[0]);
	(void)dw_fd_nonblock(errs[0]);
	report.walls = dw_program_walls;
	dw_readback_join(&shared, &report.walls);
	send_report(DW_GUEST_WALLS, &report);
	dw_guest_send(DW_GUEST_WANT, "", 0);
}

/* ---- while it runs ---- */

static void close_input(struct guest *g)
{
	dw_fd_close(&g->in);
	g->n_pending = 0;
}

static void write_input(struct guest *g)
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
static bool take_frame(struct guest *g)
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
static bool pass_output(struct guest *g, enum dw_stream stream)
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

/* Which limit is passed of those that no cgroup holds, or DW_REASON_EXIT. */
static enum dw_reason check_limits(const struct guest *g, struct dw_report_end *end)
{
	const struct dw_plan_header *h = g->plan.h;

	if (h->deadline_ms != 0 && dw_now_ns() > g->start + h->deadline_ms * 1000000U)
		return DW_REASON_TIMEOUT_WALL;
	return h->flags & SAMPLES ? dw_sample_check(h, end) : DW_REASON_EXIT;
}

static void watch(struct guest *g, struct dw_report_end *end)
{
	int look_ms = g->plan.h->flags & SAMPLES ? 10 : 500;
	struct signalfd_siginfo info;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = g->children_fd, .events = POLLIN},
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = g->out[DW_STDOUT], .events = POLLIN},
			{.fd = g->out[DW_STDERR], .events = POLLIN},
			{.fd = g->in, .events = g->n_pending > 0 ? POLLOUT : 0},
		};
		bool kill_it = false;

		if (poll(fds, ARRAY_SIZE(fds), look_ms) < 0 && errno != EINTR)
			dw_guest_end(); /* we could not hold the limits */
		if (fds[0].revents)
			(void)!read(g->children_fd, &info, sizeof(info));
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

static bool tmp_is_full(void)
{
	struct statvfs vfs;

	if (statvfs("/tmp", &vfs) < 0)
		return false;
	return vfs.f_bavail == 0 || (vfs.f_files > 0 && vfs.f_favail == 0);
}

static void finish(struct guest *g, struct dw_report_end *end)
{
	struct rusage ru = {0};
	int status;

	end->run_ns = dw_now_ns() - g->start;
	end->tmp_full = tmp_is_full();
	if (g->plan.h->flags & DW_PLAN_SAMPLE_PIDS)
		(void)check_limits(g, end);
	do
		(void)kill(-1, SIGKILL); /* all of the pid namespace but us */
	while (waitpid(-1, &status, 0) > 0 || errno == EINTR);
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		for (int round = 0; round < DRAIN_ROUNDS && pass_output(g, i); round++)
			;
	(void)getrusage(RUSAGE_CHILDREN, &ru);
	end->cpu_ns = dw_sample_dead_cpu_ns();
	end->max_rss = (uint64_t)ru.ru_maxrss << 10;
}

static void prepare(struct guest *g)
{
	struct dw_error err = {0};
	sigset_t all, children;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	g->children_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	g->oom_fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	(void)umask(0); /* every mode of the order says it all */
	(void)dw_fd_nonblock(STDOUT_FILENO);
	if (g->children_fd < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "prepare to guard the program");
		dw_init_die(&err);
	}
}

/* dewar-docker checks that none of these namespaces is its own. */
static void say_hello(void)
{
	struct dw_guest_hello hello = {0};
	struct dw_walls shared = {0};

	dw_readback_shared(&shared);
	memcpy(hello.ns, shared.ns, sizeof(hello.ns));
	dw_guest_send(DW_GUEST_HELLO, &hello, sizeof(hello));
}

int main(void)
{
	static struct guest g = {.in = -1, .out = {-1, -1}};
	struct dw_report report = {.kind = DW_REPORT_END};
	char byte;

	prepare(&g);
	say_hello();
	take_orders(&g);
	start_program(&g);
	watch(&g, &report.end);
	finish(&g, &report.end);
	send_report(DW_GUEST_END, &report);
	dw_guest_collect(g.collect, g.order.collect);
	dw_guest_send(DW_GUEST_DONE, "", 0);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
