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

#define WORDS_MAX 128
#define TEXT_ROOM 16384
#define OUTPUT_MAX (8U << 20)
#define LOOK_READS 256
#define LEAKED_FD 9 /* a caller's descriptor that nobody closed */

struct words {
	const char *argv[WORDS_MAX];
	size_t n;
	char room[TEXT_ROOM];
	size_t used;
};

static void add(struct words *w, const char *word)
{
	if (w->n < WORDS_MAX - 1)
		w->argv[w->n++] = word;
}

/* A word of ours, kept in the room. */
static const char *keep(struct words *w, const char *text, size_t len)
{
	char *at = w->room + w->used;

	if (w->used + len + 1 > sizeof(w->room))
		return "";
	memcpy(at, text, len);
	at[len] = '\0';
	w->used += len + 1;
	return at;
}

/* "--workspace {base}/ws": words with the name of the range's folder in them. */
static void add_options(struct words *w, const char *options, const char *base)
{
	char word[256];

	while (*options) {
		size_t len = strcspn(options, " ");
		const char *mark = strstr(options, "{base}");

		if (mark && mark < options + len)
			(void)snprintf(word, sizeof(word), "%.*s%s%.*s",
			               (int)(mark - options), options, base,
			               (int)(len - (size_t)(mark - options) - 6),
			               mark + 6);
		else
			(void)snprintf(word, sizeof(word), "%.*s", (int)len, options);
		add(w, keep(w, word, strlen(word)));
		options += len;
		options += strspn(options, " ");
	}
}

/* dewar run, as a user would type it. */
static void command_of_cell(struct words *w, const struct dw_attack *attack,
                            const char *level, const char *env,
                            const struct dw_stage *stage, const struct dw_tools *tools)
{
	char into[64];

	(void)snprintf(into, sizeof(into), "%s/into", stage->range->base);
	add(w, tools->dewar);
	add(w, "run");
	add(w, "--json");
	add(w, "--level");
	add(w, level);
	add(w, "--timeout");
	add(w, "5s");
	add(w, "--into");
	add(w, keep(w, into, strlen(into)));
	add_options(w, attack->options, stage->range->base);
	for (; *env; env += strlen(env) + 1) {
		add(w, "--env");
		add(w, env);
	}
	if (attack->language[0] == '\0') {
		add(w, tools->attacks);
		add(w, "--");
		add(w, attack->name);
	} else {
		add(w, attack->language);
		add(w, "-c");
		add(w, attack->source);
	}
}

static int command_without(struct words *w, const struct dw_attack *attack,
                           const struct dw_stage *stage, const struct dw_tools *tools,
                           struct dw_error *err)
{
	static const struct {
		const char *language;
		const char *program;
	} known[] = {
		{"python", "python3"}, {"bash", "bash"}, {"javascript", "node"},
		{"perl", "perl"},      {"ruby", "ruby"},
	};
	autoclose int fd = -1;
	char path[64];

	if (attack->language[0] == '\0') {
		add(w, tools->attacks);
		add(w, attack->name);
		return 0;
	}
	(void)snprintf(path, sizeof(path), "%s/code", stage->range->base);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || dw_fd_write_all(fd, attack->source, strlen(attack->source)) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "write %s", path);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(attack->language, known[i].language) == 0)
			add(w, known[i].program);
	if (w->n == 0)
		return dw_fail(err, DW_E_INTERNAL, 0, "nothing here runs %s",
		               attack->language);
	add(w, keep(w, path, strlen(path)));
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

static _Noreturn void run_program(const struct words *w, const int out[2], const char *at,
                                  const char *env, const struct dw_stage *stage)
{
	char path[64];
	int fd;

	dw_plant_join_group(stage);
	/* A host that is not empty: a secret in the environment, and an open file. */
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
	for (; *env; env += strlen(env) + 1)
		(void)putenv((char *)env);
	(void)snprintf(path, sizeof(path), "%s/cwd", stage->range->base);
	if (chdir(path) < 0)
		_exit(127);
	(void)snprintf(path, sizeof(path), "%s/flag", stage->range->base);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || dup2(fd, LEAKED_FD) < 0 || dup2(out[0], 1) < 0 ||
	    dup2(out[1], 2) < 0)
		_exit(127);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || dup2(fd, 0) < 0)
		_exit(127);
	if (strcmp(at, DW_AT_ROOT) == 0)
		keep_all_capabilities();
	if (w->n > 0)
		(void)execvp(w->argv[0], (char *const *)w->argv);
	(void)dprintf(2, "start %s: %s\n", w->argv[0], strerrordesc_np(errno));
	_exit(127);
}

int dw_party_start(struct dw_party *party, const struct dw_attack *attack, const char *at,
                   const char *role, const struct dw_stage *stage,
                   const struct dw_tools *tools, struct dw_error *err)
{
	struct words words = {.n = 0};
	char env[4096];
	int out[2][2];

	*party = (struct dw_party){.pid = -1, .pidfd = -1, .fd = {-1, -1}};
	party->cell = strcmp(at, DW_AT_BARE) != 0 && strcmp(at, DW_AT_ROOT) != 0;
	dw_buf_init(&party->out[0], OUTPUT_MAX);
	dw_buf_init(&party->out[1], OUTPUT_MAX);
	dw_stage_env(stage, role, env, sizeof(env));
	if (party->cell)
		command_of_cell(&words, attack, at, env, stage, tools);
	else if (command_without(&words, attack, stage, tools, err) < 0)
		return -1;

	if (pipe2(out[0], O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make a pipe");
	if (pipe2(out[1], O_CLOEXEC) < 0) {
		(void)close(out[0][0]);
		(void)close(out[0][1]);
		return dw_fail(err, DW_E_INTERNAL, errno, "make a pipe");
	}
	party->pid = fork();
	if (party->pid == 0)
		run_program(&words, (int[]){out[0][1], out[1][1]}, at,
		            party->cell ? "" : env, stage);
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
	return party->pid < 0;
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
	for (int i = 0; i < 2; i++) {
		dw_fd_close(&party->fd[i]);
		dw_buf_finish(&party->out[i]);
	}
}
