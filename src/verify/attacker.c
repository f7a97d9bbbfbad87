/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/verify_own.h"

#define OUTPUT_MAX (8U << 20)
#define POLL_READS 256
#define OWN_KERNEL_PIDS "256"
#define LEAKED_FD 9 /* simulates a descriptor that the caller of dewar left open */

static void add_code(struct dw_argv *w, const struct dw_attack *attack,
                     const struct dw_target *at, const struct dw_range *range,
                     const struct dw_tools *tools)
{
	struct dw_argv args = {.n = 0};
	const char *code;

	if (dw_target_is_warm(at)) {
		code = dw_argv_warm(&args, attack, range->attacks);
		dw_argv_add(w, "--warm", at->way, "python", "-c", code, "--", NULL);
		for (size_t i = 0; i < args.n; i++)
			dw_argv_add(w, args.argv[i], NULL);
	} else if (attack->language[0] == '\0') {
		dw_argv_add(w, tools->attacks, "--", attack->name, NULL);
	} else {
		dw_argv_add(w, attack->language, "-c", attack->source, NULL);
	}
}

/* Build the `dewar run` command that a user would type. */
static void command_of_cell(struct dw_argv *w, const struct dw_attack *attack,
                            const struct dw_target *at, const char *env,
                            const struct dw_range *range, const struct dw_tools *tools)
{
	char into[DW_RANGE_PATH_MAX];

	/* Attacks are not runs of the user, so they are not recorded. */
	dw_argv_add(w, tools->dewar, "run", "--json", "--no-audit", "--level", at->level,
	            "--timeout", "5s", "--into", NULL);
	dw_argv_add_copy(w, dw_range_path(range, "into", into));
	if (tools->runtime && at->on_host)
		dw_argv_add(w, "--runtime", tools->runtime, NULL);
	if (tools->image && at->on_host)
		dw_argv_add(w, "--image", tools->image, NULL);
	/*
	 * A runtime with its own kernel has threads that count as well; raise the
	 * limit, unless the attack sets it.
	 */
	if (dw_runtime_has_kernel(tools->runtime) && at->on_host &&
	    !strstr(attack->options, "--pids"))
		dw_argv_add(w, "--pids", OWN_KERNEL_PIDS, NULL);
	dw_argv_add_options(w, attack->options, range->base);
	for (; *env; env += strlen(env) + 1)
		dw_argv_add(w, "--env", env, NULL);
	add_code(w, attack, at, range, tools);
}

static int command_without_cell(struct dw_argv *w, const struct dw_attack *attack,
                                const struct dw_range *range,
                                const struct dw_tools *tools, struct dw_error *err)
{
	const char *program, *file;
	autoclose int fd = -1;
	char path[DW_RANGE_PATH_MAX];

	if (attack->language[0] == '\0') {
		dw_argv_add(w, tools->attacks, attack->name, NULL);
		return 0;
	}
	fd = open(dw_range_path(range, "code", path),
	          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || dw_fd_write_all(fd, attack->source, strlen(attack->source)) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot write %s", path);
	program = dw_argv_interpreter(attack->language, &file);
	if (!program)
		return dw_fail(err, DW_E_INTERNAL, 0, "no interpreter for %s",
		               attack->language);
	dw_argv_add(w, program, NULL);
	dw_argv_add_copy(w, path);
	return 0;
}

/* Make all capabilities ambient, so that a user other than root keeps them over exec. */
static void keep_all_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(data); i++)
		data[i].inheritable = data[i].permitted;
	if (syscall(SYS_capset, &header, data) < 0)
		return;
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
}

/* Plant secrets in the environment, which a real host has there too. */
static void set_environment(const struct dw_fixture *fixture)
{
	char path[DW_RANGE_PATH_MAX];

	(void)setenv("HOST_SECRET", fixture->secret, 1);
	(void)setenv("LOGNAME", fixture->secret, 1);
	(void)snprintf(path, sizeof(path), "/run/%s/agent", fixture->secret);
	(void)setenv("SSH_AUTH_SOCK", path, 1);
	(void)snprintf(path, sizeof(path), "/run/%s/kubeconfig", fixture->secret);
	(void)setenv("KUBECONFIG", path, 1);
	(void)setenv("HOME", dw_range_path(fixture->range, "home", path), 1);
	(void)setenv("TMPDIR", dw_range_path(fixture->range, "t", path), 1);
	(void)unsetenv("DEWAR_WARM"); /* the suite chooses the way */
}

/* The number of descriptors that a program starts with: 0, 1, 2, and perhaps 3. */
#define STDIO_MAX 4

static void set_stdio(const int fds[STDIO_MAX], const struct dw_range *range)
{
	char path[DW_RANGE_PATH_MAX];
	int fd;

	for (int i = 0; i < STDIO_MAX; i++)
		if (fds[i] >= 0 && dup2(fds[i], i) < 0)
			_exit(127);
	fd = open(dw_range_path(range, "flag", path), O_RDWR | O_CLOEXEC);
	if (fd < 0 || dup2(fd, LEAKED_FD) < 0)
		_exit(127);
}

static _Noreturn void run_program(const struct dw_argv *w, const int fds[STDIO_MAX],
                                  bool privileged, const char *env,
                                  const struct dw_fixture *fixture)
{
	const char *program = w->n > 0 ? w->argv[0] : "";
	char path[DW_RANGE_PATH_MAX];

	dw_fixture_join_cgroup(fixture);
	set_environment(fixture);
	for (; *env; env += strlen(env) + 1)
		(void)putenv((char *)env);
	if (chdir(dw_range_path(fixture->range, "cwd", path)) < 0)
		_exit(127);
	if (strcmp(program, DW_WARM_PAIR_NAME) == 0)
		program = "/proc/self/exe";
	set_stdio(fds, fixture->range);
	if (privileged)
		keep_all_capabilities();
	(void)execvp(program, (char *const *)w->argv);
	(void)dprintf(2, "cannot start %s: %s\n", program, strerrordesc_np(errno));
	_exit(127);
}

void dw_attacker_init(struct dw_attacker *attacker)
{
	*attacker = (struct dw_attacker){.pid = -1, .pidfd = -1, .fd = {-1, -1}, .in = -1};
	dw_buf_init(&attacker->out[0], OUTPUT_MAX);
	dw_buf_init(&attacker->out[1], OUTPUT_MAX);
}

/*
 * The program inherits the descriptors in and more; this function closes its own
 * copies.
 */
static int spawn(struct dw_attacker *attacker, const struct dw_argv *words, int in,
                 int more, bool privileged, const char *env,
                 const struct dw_fixture *fixture, struct dw_error *err)
{
	autoclose int stdin_fd = in;
	autoclose int more_fd = more;
	int out[2][2];

	if (pipe2(out[0], O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create a pipe");
	if (pipe2(out[1], O_CLOEXEC) < 0) {
		(void)close(out[0][0]);
		(void)close(out[0][1]);
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create a pipe");
	}
	attacker->pid = fork();
	if (attacker->pid == 0)
		run_program(words, (int[]){stdin_fd, out[0][1], out[1][1], more_fd},
		            privileged, env, fixture);
	for (int i = 0; i < 2; i++) {
		(void)close(out[i][1]);
		attacker->fd[i] = out[i][0];
		(void)dw_fd_nonblock(out[i][0]);
	}
	if (attacker->pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot fork");
	attacker->pidfd = (int)syscall(SYS_pidfd_open, attacker->pid, 0);
	return 0;
}

int dw_attacker_spawn(struct dw_attacker *attacker, const struct dw_argv *words, int in,
                      int more, const struct dw_fixture *fixture, struct dw_error *err)
{
	return spawn(attacker, words, in, more, false, "", fixture, err);
}

int dw_attacker_start(struct dw_attacker *attacker, const struct dw_attack *attack,
                      const struct dw_target *at, const char *role,
                      const struct dw_fixture *fixture, const struct dw_tools *tools,
                      struct dw_error *err)
{
	bool privileged = strcmp(at->level, DW_AT_ROOT) == 0;
	struct dw_argv words = {.n = 0};
	char env[DW_ENV_MAX];
	int null;

	dw_attacker_init(attacker);
	attacker->cell = !privileged && strcmp(at->level, DW_AT_BARE) != 0;
	dw_fixture_env(fixture, role, env);
	if (attacker->cell)
		command_of_cell(&words, attack, at, env, fixture->range, tools);
	else if (command_without_cell(&words, attack, fixture->range, tools, err) < 0)
		return -1;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open /dev/null");
	return spawn(attacker, &words, null, -1, privileged, attacker->cell ? "" : env,
	             fixture, err);
}

bool dw_attacker_poll(struct dw_attacker *attacker)
{
	char data[8192];
	ssize_t n;

	/*
	 * Wait first, then read: in the other order the program's last output could
	 * be lost. A child that the program left behind may hold the pipes open; we
	 * do not wait for it.
	 */
	if (attacker->pid > 0 && waitpid(attacker->pid, NULL, WNOHANG) == attacker->pid)
		attacker->pid = -1;
	for (int i = 0; i < 2; i++) {
		/* Bounded: endless output must not delay the timeout. */
		for (int k = 0; k < POLL_READS && attacker->fd[i] >= 0; k++) {
			n = read(attacker->fd[i], data, sizeof(data));
			if (n < 0)
				break;
			(void)dw_buf_add_upto(&attacker->out[i], data, (size_t)n);
			if (n == 0)
				dw_fd_close(&attacker->fd[i]);
		}
	}
	return attacker->shared ? attacker->fd[0] < 0 : attacker->pid < 0;
}

void dw_attacker_stop(const struct dw_attacker *attacker)
{
	if (attacker->pid > 0)
		(void)kill(attacker->pid, attacker->cell ? SIGTERM : SIGKILL);
}

void dw_attacker_finish(struct dw_attacker *attacker)
{
	if (attacker->pid > 0) {
		(void)kill(attacker->pid, SIGKILL);
		(void)waitpid(attacker->pid, NULL, 0);
		attacker->pid = -1;
	}
	dw_fd_close(&attacker->pidfd);
	dw_fd_close(&attacker->in);
	for (int i = 0; i < 2; i++) {
		dw_fd_close(&attacker->fd[i]);
		dw_buf_finish(&attacker->out[i]);
	}
}
