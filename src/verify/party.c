/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/party.h"

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
#include "verify/pool.h"
#include "verify/words.h"

#define OUTPUT_MAX (8U << 20)
#define LOOK_READS 256
#define OWN_KERNEL_PIDS "256"
#define LEAKED_FD 9 /* a caller's descriptor that nobody closed */

static void add_code(struct dw_words *w, const struct dw_attack *attack,
                     const struct dw_target *at, const struct dw_stage *stage,
                     const struct dw_tools *tools)
{
	struct dw_words args = {.n = 0};

	if (dw_target_is_warm(at)) {
		dw_words_add(w, "--warm");
		dw_words_add(w, at->way);
		dw_words_add(w, "python");
		dw_words_add(w, "-c");
		dw_words_add(w, dw_words_warm(&args, attack, stage->range->attacks));
		dw_words_add(w, "--");
		for (size_t i = 0; i < args.n; i++)
			dw_words_add_copy(w, args.argv[i]);
	} else if (attack->language[0] == '\0') {
		dw_words_add(w, tools->attacks);
		dw_words_add(w, "--");
		dw_words_add(w, attack->name);
	} else {
		dw_words_add(w, attack->language);
		dw_words_add(w, "-c");
		dw_words_add(w, attack->source);
	}
}

/* dewar run, as a user would type it. */
static void command_of_cell(struct dw_words *w, const struct dw_attack *attack,
                            const struct dw_target *at, const char *env,
                            const struct dw_stage *stage, const struct dw_tools *tools)
{
	char into[64];

	(void)snprintf(into, sizeof(into), "%s/into", stage->range->base);
	dw_words_add(w, tools->dewar);
	dw_words_add(w, "run");
	dw_words_add(w, "--json");
	dw_words_add(w, "--no-audit"); /* attacks are nobody's runs */
	dw_words_add(w, "--level");
	dw_words_add(w, at->level);
	if (tools->runtime && dw_target_is_outside(at)) {
		dw_words_add(w, "--runtime");
		dw_words_add(w, tools->runtime);
	}
	dw_words_add(w, "--timeout");
	dw_words_add(w, "5s");
	dw_words_add(w, "--into");
	dw_words_add_copy(w, into);
	if (tools->image && dw_target_is_outside(at)) {
		dw_words_add(w, "--image");
		dw_words_add(w, tools->image);
	}
	/* Its own threads count as well; where an attack is about them, it stays so. */
	if (dw_runtime_has_kernel(tools->runtime) && dw_target_is_outside(at) &&
	    !strstr(attack->options, "--pids")) {
		dw_words_add(w, "--pids");
		dw_words_add(w, OWN_KERNEL_PIDS);
	}
	dw_words_add_options(w, attack->options, stage->range->base);
	for (; *env; env += strlen(env) + 1) {
		dw_words_add(w, "--env");
		dw_words_add(w, env);
	}
	add_code(w, attack, at, stage, tools);
}

static int command_without(struct dw_words *w, const struct dw_attack *attack,
                           const struct dw_stage *stage, const struct dw_tools *tools,
                           struct dw_error *err)
{
	const char *program, *file;
	autoclose int fd = -1;
	char path[64];

	if (attack->language[0] == '\0') {
		dw_words_add(w, tools->attacks);
		dw_words_add(w, attack->name);
		return 0;
	}
	(void)snprintf(path, sizeof(path), "%s/code", stage->range->base);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || dw_fd_write_all(fd, attack->source, strlen(attack->source)) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "write %s", path);
	program = dw_words_interpreter(attack->language, &file);
	if (!program)
		return dw_fail(err, DW_E_INTERNAL, 0, "nothing here runs %s",
		               attack->language);
	dw_words_add(w, program);
	dw_words_add_copy(w, path);
	return 0;
}

/* Capabilities that outlive an exec, for whoever is not root by name. */
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

/* A host that is not empty: secrets in the environment. */
static void set_environment(const struct dw_stage *stage)
{
	char path[64];

	(void)setenv("HOST_SECRET", stage->secret, 1);
	(void)setenv("LOGNAME", stage->secret, 1);
	(void)snprintf(path, sizeof(path), "/run/%s/agent", stage->secret);
	(void)setenv("SSH_AUTH_SOCK", path, 1);
	(void)snprintf(path, sizeof(path), "/run/%s/kubeconfig", stage->secret);
	(void)setenv("KUBECONFIG", path, 1);
	(void)snprintf(path, sizeof(path), "%s/home", stage->range->base);
	(void)setenv("HOME", path, 1);
	(void)snprintf(path, sizeof(path), "%s/t", stage->range->base);
	(void)setenv("TMPDIR", path, 1);
	(void)unsetenv("DEWAR_WARM"); /* the way is the suite's to choose */
}

/* What a program is started with: 0, 1, 2, and 3 if there is one. */
#define STDIO_MAX 4

static void take_stdio(const int fds[STDIO_MAX], const struct dw_stage *stage)
{
	char path[64];
	int fd;

	for (int i = 0; i < STDIO_MAX; i++)
		if (fds[i] >= 0 && dup2(fds[i], i) < 0)
			_exit(127);
	/* An open file that nobody closed. */
	(void)snprintf(path, sizeof(path), "%s/flag", stage->range->base);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || dup2(fd, LEAKED_FD) < 0)
		_exit(127);
}

static _Noreturn void run_program(const struct dw_words *w, const int fds[STDIO_MAX],
                                  bool mighty, const char *env,
                                  const struct dw_stage *stage)
{
	const char *program = w->n > 0 ? w->argv[0] : "";
	char path[64];

	dw_plant_join_group(stage);
	set_environment(stage);
	for (; *env; env += strlen(env) + 1)
		(void)putenv((char *)env);
	(void)snprintf(path, sizeof(path), "%s/cwd", stage->range->base);
	if (chdir(path) < 0)
		_exit(127);
	if (strcmp(program, DW_POOL_NAME) == 0)
		program = "/proc/self/exe";
	take_stdio(fds, stage);
	if (mighty)
		keep_all_capabilities();
	(void)execvp(program, (char *const *)w->argv);
	(void)dprintf(2, "start %s: %s\n", program, strerrordesc_np(errno));
	_exit(127);
}

void dw_party_init(struct dw_party *party)
{
	*party = (struct dw_party){.pid = -1, .pidfd = -1, .fd = {-1, -1}, .in = -1};
	dw_buf_init(&party->out[0], OUTPUT_MAX);
	dw_buf_init(&party->out[1], OUTPUT_MAX);
}

/* in and more are the program's, and closed here. */
static int spawn(struct dw_party *party, const struct dw_words *words, int in, int more,
                 bool mighty, const char *env, const struct dw_stage *stage,
                 struct dw_error *err)
{
	autoclose int stdin_fd = in;
	autoclose int more_fd = more;
	int out[2][2];

	if (pipe2(out[0], O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make a pipe");
	if (pipe2(out[1], O_CLOEXEC) < 0) {
		(void)close(out[0][0]);
		(void)close(out[0][1]);
		return dw_fail(err, DW_E_INTERNAL, errno, "make a pipe");
	}
	party->pid = fork();
	if (party->pid == 0)
		run_program(words, (int[]){stdin_fd, out[0][1], out[1][1], more_fd},
		            mighty, env, stage);
	for (int i = 0; i < 2; i++) {
		(void)close(out[i][1]);
		party->fd[i] = out[i][0];
		(void)dw_fd_nonblock(out[i][0]);
	}
	if (party->pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "fork");
	party->pidfd = (int)syscall(SYS_pidfd_open, party->pid, 0);
	return 0;
}

int dw_party_spawn(struct dw_party *party, const struct dw_words *words, int in, int more,
                   const struct dw_stage *stage, struct dw_error *err)
{
	return spawn(party, words, in, more, false, "", stage, err);
}

int dw_party_start(struct dw_party *party, const struct dw_attack *attack,
                   const struct dw_target *at, const char *role,
                   const struct dw_stage *stage, const struct dw_tools *tools,
                   struct dw_error *err)
{
	bool mighty = strcmp(at->level, DW_AT_ROOT) == 0;
	struct dw_words words = {.n = 0};
	char env[4096];
	int null;

	dw_party_init(party);
	party->cell = !mighty && strcmp(at->level, DW_AT_BARE) != 0;
	dw_stage_env(stage, role, env, sizeof(env));
	if (party->cell)
		command_of_cell(&words, attack, at, env, stage, tools);
	else if (command_without(&words, attack, stage, tools, err) < 0)
		return -1;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open /dev/null");
	return spawn(party, &words, null, -1, mighty, party->cell ? "" : env, stage, err);
}

bool dw_party_look(struct dw_party *party)
{
	char data[8192];
	ssize_t n;

	/*
	 * First whether it has ended, then what it wrote: the other way round, its last
	 * words could be missed. A child that it left behind may hold the pipes open;
	 * that is no reason to wait.
	 */
	if (party->pid > 0 && waitpid(party->pid, NULL, WNOHANG) == party->pid)
		party->pid = -1;
	for (int i = 0; i < 2; i++) {
		/* Who never stops talking does not keep us from looking at the clock. */
		for (int k = 0; k < LOOK_READS && party->fd[i] >= 0; k++) {
			n = read(party->fd[i], data, sizeof(data));
			if (n < 0)
				break;
			(void)dw_buf_add_upto(&party->out[i], data, (size_t)n);
			if (n == 0)
				dw_fd_close(&party->fd[i]);
		}
	}
	return party->shared ? party->fd[0] < 0 : party->pid < 0;
}

void dw_party_stop(const struct dw_party *party)
{
	if (party->pid > 0)
		(void)kill(party->pid, party->cell ? SIGTERM : SIGKILL);
}

void dw_party_finish(struct dw_party *party)
{
	if (party->pid > 0) {
		(void)kill(party->pid, SIGKILL);
		(void)waitpid(party->pid, NULL, 0);
		party->pid = -1;
	}
	dw_fd_close(&party->pidfd);
	dw_fd_close(&party->in);
	for (int i = 0; i < 2; i++) {
		dw_fd_close(&party->fd[i]);
		dw_buf_finish(&party->out[i]);
	}
}
