/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/verify_own.h"

#define TEXT_MAX (256U << 10)
#define CELLS_MAX 4

/*
 * Returns true if this process is pid 1 of the range: then every visible process is
 * part of the range.
 */
static bool in_range(void)
{
	return getpid() == 1;
}

static size_t list_pids(pid_t *ret, size_t max)
{
	autodir DIR *dir = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	while (dir && n < max && (e = readdir(dir)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 1)
			ret[n++] = (pid_t)pid;
	}
	return n;
}

char *dw_procs_read(pid_t pid, const char *name)
{
	char path[64], chunk[4096];
	autoclose int fd = -1;
	struct dw_buf buf;
	size_t len;
	ssize_t n;
	char *text;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	dw_buf_init(&buf, TEXT_MAX);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		if (dw_buf_add(&buf, chunk, (size_t)n) < 0)
			break;
	text = dw_buf_take(&buf, &len);
	for (size_t i = 0; text && i < len; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	return text;
}

unsigned long long dw_procs_field(pid_t pid, const char *file, const char *field)
{
	autofree char *text = dw_procs_read(pid, file);
	const char *at = text ? strstr(text, field) : NULL;

	return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

long dw_procs_stat(pid_t pid, enum dw_stat_field field)
{
	autofree char *text = dw_procs_read(pid, "stat");
	/* The second field is a name in brackets, which may hold any character. */
	const char *at = text ? strrchr(text, ')') : NULL;

	for (int i = 2; at && *at && i < (int)field; i++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return at ? strtol(at, NULL, 10) : 0;
}

/*
 * The inode of the pid namespace of a process; 0 if that namespace is ours or is not
 * readable.
 */
static ino_t cell_of(pid_t pid)
{
	struct stat own, its;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	if (stat("/proc/self/ns/pid", &own) < 0 || stat(path, &its) < 0)
		return 0;
	return its.st_ino == own.st_ino ? 0 : its.st_ino;
}

/* Returns true for pid 1 of a cell, which is never an attack. */
static bool is_init(pid_t pid)
{
	autofree char *status = dw_procs_read(pid, "status");
	const char *at = status ? strstr(status, "NSpid:") : NULL;
	size_t len = at ? strcspn(at, "\n") : 0;

	return len > 2 && strncmp(at + len - 2, "\t1", 2) == 0;
}

static bool has_nonce(pid_t pid, const char *nonce)
{
	autofree char *env = dw_procs_read(pid, "environ");
	char wanted[64];

	(void)snprintf(wanted, sizeof(wanted), "DW_NONCE=%s", nonce);
	return env && strstr(env, wanted);
}

/*
 * Returns the parent of a zombie, or 0 if the process is not a zombie. A zombie has
 * no environment to search, but its parent has.
 */
static pid_t parent_of_zombie(pid_t pid)
{
	autofree char *status = dw_procs_read(pid, "status");
	const char *at = status ? strstr(status, "PPid:") : NULL;

	return at && strstr(status, "State:\tZ") ? (pid_t)strtol(at + 5, NULL, 10) : 0;
}

static bool is_named_holding(pid_t pid)
{
	char path[64], comm[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return dw_fd_read_attr(AT_FDCWD, path, comm, sizeof(comm)) > 0 &&
	       strcmp(comm, "dw-hold") == 0;
}

bool dw_procs_is_holding(const char *nonce)
{
	pid_t pids[DW_PROCS_MAX];
	size_t n = list_pids(pids, DW_PROCS_MAX);

	for (size_t i = 0; i < n; i++)
		if (is_named_holding(pids[i]) &&
		    (has_nonce(pids[i], nonce) || (in_range() && cell_of(pids[i]) != 0)))
			return true;
	return false;
}

/* Find the cells that contain a holding process. */
static size_t find_cells(const pid_t *pids, size_t n, ino_t ret[CELLS_MAX])
{
	size_t found = 0;

	for (size_t i = 0; in_range() && i < n && found < CELLS_MAX; i++)
		if (is_named_holding(pids[i]) && cell_of(pids[i]) != 0)
			ret[found++] = cell_of(pids[i]);
	return found;
}

static bool is_in_cell(pid_t pid, const ino_t *cells, size_t n)
{
	ino_t cell = n > 0 ? cell_of(pid) : 0;

	for (size_t i = 0; i < n; i++)
		if (cell == cells[i])
			return !is_init(pid);
	return false;
}

size_t dw_procs_list(const char *nonce, pid_t *ret, size_t max)
{
	pid_t all[DW_PROCS_MAX];
	size_t n_all = list_pids(all, DW_PROCS_MAX), n = 0, n_alive, n_cells;
	ino_t cells[CELLS_MAX];

	n_cells = find_cells(all, n_all, cells);
	for (size_t i = 0; i < n_all && n < max; i++)
		if (has_nonce(all[i], nonce) || is_in_cell(all[i], cells, n_cells))
			ret[n++] = all[i];
	n_alive = n;
	for (size_t i = 0; i < n_all && n < max; i++) {
		pid_t parent = parent_of_zombie(all[i]);

		for (size_t j = 0; j < n_alive && parent > 0; j++)
			if (ret[j] == parent) {
				ret[n++] = all[i];
				break;
			}
	}
	return n;
}

bool dw_procs_left(const char *nonce, pid_t witness, char *ret, size_t size)
{
	pid_t pids[DW_PROCS_MAX];
	size_t n = list_pids(pids, DW_PROCS_MAX);

	for (size_t i = 0; i < n; i++) {
		autofree char *status = NULL;

		if (pids[i] == witness || (!in_range() && !has_nonce(pids[i], nonce)))
			continue;
		status = dw_procs_read(pids[i], "status");
		if (!status || strstr(status, "State:\tZ"))
			continue;
		(void)snprintf(ret, size, "process %d was left behind: %.*s", pids[i],
		               (int)strcspn(status, "\n"), status);
		return true;
	}
	return false;
}

bool dw_procs_sent_packet(const char *nonce)
{
	pid_t pids[DW_PROCS_MAX];
	size_t n = dw_procs_list(nonce, pids, DW_PROCS_MAX);

	for (size_t i = 0; i < n; i++) {
		autofree char *text = dw_procs_read(pids[i], "net/dev");
		char *save = NULL, name[32];
		unsigned long long sent;

		for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
		     line = strtok_r(NULL, "\n", &save))
			/* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers */
			if (sscanf(line,
			           " %31[^:]: %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
			           name, &sent) == 2 &&
			    strcmp(name, "lo") != 0 && sent > 0)
				return true;
	}
	return false;
}

static void kill_by_nonce(const char *nonce)
{
	pid_t pids[DW_PROCS_MAX];
	size_t n = dw_procs_list(nonce, pids, DW_PROCS_MAX);

	for (size_t i = 0; i < n; i++)
		(void)kill(pids[i], SIGKILL);
}

void dw_procs_kill(const char *nonce)
{
	if (!in_range()) {
		kill_by_nonce(nonce);
		return;
	}
	(void)kill(-1, SIGKILL); /* all processes but this one, pid 1 of the range */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}
