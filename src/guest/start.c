/* SPDX-License-Identifier: Apache-2.0 */
/* Steps 3 and 4: check the container's walls, then fork the program. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "dewar/request.h"
#include "guest/guest_own.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define ENV_MAX 1024
#define BLOCKED_MS 30000U /* added to the deadline, to finish transfers */

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

static void check_needs(const struct dw_guest *g)
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

/*
 * Returns true if the root is mounted read-only. In mountinfo, the root's line is
 * "8 7 0:8 / / ro,relatime - ...".
 */
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

/* The engine accepted these settings; check from inside that they are in force. */
static void check_walls(const struct dw_guest *g, struct dw_walls *shared)
{
	struct dw_error err = {0};

	dw_readback_shared(shared);
	/* gVisor's statvfs() returns no mount flags. */
	if (shared->root_read_only != 1)
		shared->root_read_only = is_root_mounted_read_only();
	/* mutant: guest-check-walls */
	if (getpid() != 1)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine gave the container no pid namespace, or its own "
		              "init");
	else if (shared->root_read_only != 1)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine left the container's root writable");
	else if ((g->order.flags & DW_GUEST_NO_NETWORK) && shared->interfaces > 0)
		(void)dw_fail(
			&err, DW_E_UNSUPPORTED, 0,
			"the engine gave the container a network, which was not requested");
	else if (!(g->order.flags & DW_GUEST_NO_NETWORK) && shared->interfaces == 0)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "the engine, or its runtime, gave the container no network, "
		              "although one was requested; does the network \"bridge\" "
		              "exist?");
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

/*
 * The variables of the order come first, then those of the image that the order does not
 * set.
 */
static void make_env(const struct dw_guest *g, char **env)
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

/* gVisor's /proc/self/status lacks these fields. */
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
			(void)dw_fail(
				&err, DW_E_UNSUPPORTED, 0,
				"the engine did not drop all capabilities of the container");
	if (walls->no_new_privs != 1)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "no_new_privs is not set in the container");
	if (walls->seccomp_mode != 2)
		(void)dw_fail(&err, DW_E_UNSUPPORTED, 0,
		              "no seccomp filter is in force in the container");
	if (err.code != DW_OK)
		dw_init_die(&err);
}

static _Noreturn void be_program(const struct dw_guest *g, const int stdio[3])
{
	static char *argv[DW_PLAN_WORDS_MAX + 1], *env[DW_PLAN_WORDS_MAX + ENV_MAX + 1];
	static char path[2048];
	struct dw_error err = {0};
	int abi = 0;

	for (int i = 0; i < 3; i++)
		if (dup2(stdio[i], i) < 0) {
			(void)dw_fail(&err, DW_E_INTERNAL, errno,
			              "cannot connect the program");
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
	              "cannot start %s in the container", path);
	dw_init_die(&err);
}

static void make_pipe(int fds[2])
{
	struct dw_error err = {0};

	if (pipe2(fds, O_CLOEXEC) == 0)
		return;
	(void)dw_fail(&err, DW_E_INTERNAL, errno, "cannot make pipes for the program");
	dw_init_die(&err);
}

void dw_guest_start_program(struct dw_guest *g)
{
	struct dw_report report = {.kind = DW_REPORT_WALLS};
	struct dw_walls shared = {0};
	struct dw_error err = {0};
	int in[2], out[2], errs[2];
	pid_t program;

	check_needs(g);
	check_walls(g, &shared);
	/* The engine should have dropped them; check_own_walls() shows what is left. */
	/* mutant: guest-drop-capabilities */
	(void)dw_caps_drop(false, &err);
	make_pipe(in);
	make_pipe(out);
	make_pipe(errs);
	dw_init_set_oom(&g->init, DW_INIT_OOM_FIRST);

	/*
	 * As in launch/main.c, the program's process shares our memory until its exec,
	 * and stores its walls there.
	 */
	program = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): as said */
	if (program == 0)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): as said */
		be_program(g, (int[]){in[0], out[1], errs[1]});
	g->program = program;
	g->start = dw_now_ns();
	if (g->plan.h->deadline_ms != 0)
		dw_guest_give_up_ns = g->start +
		                      (g->plan.h->deadline_ms + BLOCKED_MS) * 1000000U;
	dw_init_set_oom(&g->init, DW_INIT_OOM_LAST);
	if (g->program < 0)
		(void)dw_fail(&dw_guest_failure, DW_E_INTERNAL, errno,
		              "cannot fork the program");
	if (!dw_program_walls.known)
		dw_init_die(&dw_guest_failure);

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
	dw_guest_report(DW_GUEST_WALLS, &report);
	dw_guest_send(DW_GUEST_WANT, "", 0);
}
