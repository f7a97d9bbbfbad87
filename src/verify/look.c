/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

#define PIDS_MAX 4096
#define TEXT_MAX (256U << 10)
#define CPU_WINDOW_MS 400

enum {
	STAT_NICE = 19,
	STAT_RT_PRIORITY = 40,
	STAT_POLICY = 41
};

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

/* A whole file of /proc/PID; NULs in it become newlines. */
static char *read_proc(pid_t pid, const char *name)
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

long dw_look_stat(pid_t pid, int place)
{
	autofree char *text = read_proc(pid, "stat");
	/* The second one is a name in brackets, and may have anything in it. */
	const char *at = text ? strrchr(text, ')') : NULL;

	for (int i = 2; at && *at && i < place; i++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return at ? strtol(at, NULL, 10) : 0;
}

static bool is_of_attempt(pid_t pid, const char *nonce)
{
	autofree char *env = read_proc(pid, "environ");
	char wanted[64];

	(void)snprintf(wanted, sizeof(wanted), "DW_NONCE=%s", nonce);
	return env && strstr(env, wanted);
}

/* Whose a dead process is; 0 if it lives, for then it can be asked itself. */
static pid_t parent_of_dead(pid_t pid)
{
	autofree char *status = read_proc(pid, "status");
	const char *at = status ? strstr(status, "PPid:") : NULL;

	return at && strstr(status, "State:\tZ") ? (pid_t)strtol(at + 5, NULL, 10) : 0;
}

static size_t list_attempt(const char *nonce, pid_t *ret, size_t max)
{
	pid_t all[PIDS_MAX];
	size_t n_all = list_pids(all, PIDS_MAX), n = 0, n_alive;

	for (size_t i = 0; i < n_all && n < max; i++)
		if (is_of_attempt(all[i], nonce))
			ret[n++] = all[i];
	n_alive = n;
	for (size_t i = 0; i < n_all && n < max; i++) {
		pid_t parent = parent_of_dead(all[i]);

		for (size_t j = 0; j < n_alive && parent > 0; j++)
			if (ret[j] == parent) {
				ret[n++] = all[i];
				break;
			}
	}
	return n;
}

bool dw_look_holding(const char *nonce)
{
	pid_t pids[PIDS_MAX];
	size_t n = list_pids(pids, PIDS_MAX);
	char path[64], comm[32];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/comm", pids[i]);
		if (dw_fd_read_attr(AT_FDCWD, path, comm, sizeof(comm)) > 0 &&
		    strcmp(comm, "dw-hold") == 0 && is_of_attempt(pids[i], nonce))
			return true;
	}
	return false;
}

/* ---- held FILE EXPRESSION ---- */

/* Where each descriptor leads, and for a socket the name of its protocol. */
static char *describe_fds(pid_t pid)
{
	char path[64], target[256], proto[64];
	autodir DIR *dir = NULL;
	const struct dirent *e;
	struct dw_buf buf;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	dw_buf_init(&buf, TEXT_MAX);
	while (dir && (e = readdir(dir)) != NULL) {
		n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", pid, e->d_name);
		n = getxattr(path, "system.sockprotoname", proto, sizeof(proto) - 1);
		proto[n < 0 ? 0 : n] = '\0';
		(void)dw_buf_printf(&buf, "%s %s\n", target, proto);
	}
	return dw_buf_take(&buf, NULL);
}

static pid_t parent_of(pid_t pid)
{
	autofree char *status = read_proc(pid, "status");
	const char *at = status ? strstr(status, "PPid:") : NULL;

	return at ? (pid_t)strtol(at + 5, NULL, 10) : 0;
}

/* The namespaces that a process has and its parent has not, a line each. */
static char *describe_new_ns(pid_t pid)
{
	static const char *const types[] = {"user", "mnt", "pid",    "net",
	                                    "ipc",  "uts", "cgroup", "time"};
	pid_t parent = parent_of(pid);
	char path[64];
	struct stat own, other;
	struct dw_buf buf;

	dw_buf_init(&buf, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(types) && parent > 0; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, types[i]);
		if (stat(path, &own) < 0)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", parent, types[i]);
		if (stat(path, &other) == 0 && own.st_ino != other.st_ino)
			(void)dw_buf_printf(&buf, "%s\n", types[i]);
	}
	return dw_buf_take(&buf, NULL);
}

/* "nice N policy N priority N" */
static char *describe_priority(pid_t pid)
{
	char *ret = NULL;

	if (asprintf(&ret, "nice %ld policy %ld priority %ld\n",
	             dw_look_stat(pid, STAT_NICE), dw_look_stat(pid, STAT_POLICY),
	             dw_look_stat(pid, STAT_RT_PRIORITY)) < 0)
		return NULL;
	return ret;
}

static char *describe(pid_t pid, const char *file)
{
	if (strcmp(file, "fd") == 0)
		return describe_fds(pid);
	if (strcmp(file, "ns") == 0)
		return describe_new_ns(pid);
	if (strcmp(file, "priority") == 0)
		return describe_priority(pid);
	return read_proc(pid, file);
}

static bool meets_held(const char *nonce, const char *file, const char *expression,
                       char *ret, size_t size)
{
	pid_t pids[PIDS_MAX];
	size_t n = list_attempt(nonce, pids, PIDS_MAX);
	bool met = false;
	regmatch_t match;
	regex_t regex;

	if (regcomp(&regex, expression, REG_EXTENDED | REG_NEWLINE) != 0) {
		(void)snprintf(ret, size, "%s is no expression", expression);
		return false;
	}
	for (size_t i = 0; i < n && !met; i++) {
		autofree char *text = describe(pids[i], file);

		met = text && regexec(&regex, text, 1, &match, 0) == 0;
		if (met)
			(void)snprintf(ret, size, "seen from outside in %s: %.*s", file,
			               (int)strcspn(text + match.rm_so, "\n"),
			               text + match.rm_so);
	}
	regfree(&regex);
	return met;
}

/* ---- count NAME > N ---- */

/* The sum of a field of /proc/PID/FILE, in its own unit. */
static unsigned long long field_of(pid_t pid, const char *file, const char *field)
{
	autofree char *text = read_proc(pid, file);
	const char *at = text ? strstr(text, field) : NULL;

	return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

static unsigned long long count_fds(pid_t pid)
{
	autodir DIR *dir = NULL;
	unsigned long long n = 0;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && readdir(dir) != NULL)
		n++;
	return n > 2 ? n - 2 : 0; /* . and .. */
}

/* Bytes in the nameless files of a process, mapped or not. */
static unsigned long long count_memfds(pid_t pid)
{
	unsigned long long sum = 0;
	const struct dirent *e;
	autodir DIR *dir = NULL;
	char path[64], target[64];
	struct stat st;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir)) != NULL) {
		n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		if (strncmp(target, "/memfd:", 7) == 0 &&
		    fstatat(dirfd(dir), e->d_name, &st, 0) == 0)
			sum += (unsigned long long)st.st_blocks * 512;
	}
	return sum;
}

/* Bytes that wait in the pipes of a process; of each of them, once. */
static unsigned long long count_queued(pid_t pid)
{
	static ino_t seen[1024];
	unsigned long long sum = 0;
	size_t n_seen = 0, known;
	const struct dirent *e;
	autodir DIR *dir = NULL;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && n_seen < ARRAY_SIZE(seen) && (e = readdir(dir)) != NULL) {
		autoclose int fd = -1;
		struct stat st;
		int bytes = 0;

		/* To open anything but a pipe could mean something to its owner. */
		if (fstatat(dirfd(dir), e->d_name, &st, 0) < 0 || !S_ISFIFO(st.st_mode))
			continue;
		for (known = 0; known < n_seen && seen[known] != st.st_ino; known++)
			;
		if (known < n_seen)
			continue;
		seen[n_seen++] = st.st_ino;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0)
			sum += (unsigned long long)bytes;
	}
	return sum;
}

/* What its threads have had of the processor; clock ticks would be too coarse. */
static unsigned long long cpu_ns(pid_t pid)
{
	unsigned long long sum = 0;
	const struct dirent *e;
	autodir DIR *dir = NULL;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir)) != NULL) {
		autofree char *text = NULL;

		(void)snprintf(path, sizeof(path), "task/%.16s/schedstat", e->d_name);
		text = e->d_name[0] == '.' ? NULL : read_proc(pid, path);
		sum += text ? strtoull(text, NULL, 10) : 0;
	}
	return sum;
}

static unsigned long long count_cpu(const pid_t *pids, size_t n)
{
	const struct timespec window = {.tv_nsec = CPU_WINDOW_MS * 1000000L};
	static unsigned long long before[PIDS_MAX];
	unsigned long long now, sum = 0, begin = dw_now_ms();

	for (size_t i = 0; i < n; i++)
		before[i] = cpu_ns(pids[i]);
	(void)nanosleep(&window, NULL);
	for (size_t i = 0; i < n; i++) {
		now = cpu_ns(pids[i]); /* nothing, if it has ended since */
		sum += now > before[i] ? now - before[i] : 0;
	}
	return sum / 10000 / (dw_now_ms() - begin);
}

/*
 * Memory in memfds, in shared mappings and in tmpfs, of the whole host: it has no
 * owner that could be asked for it.
 */
static unsigned long long shared_kb(void)
{
	char text[8192];
	const char *at = NULL;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/meminfo", text, sizeof(text)) > 0)
		at = strstr(text, "\nShmem:");
	return at ? strtoull(at + 7, NULL, 10) : 0;
}

static unsigned long long shared_before;

void dw_look_begin(void)
{
	shared_before = shared_kb();
}

static unsigned long long count(const char *what, const pid_t *pids, size_t n)
{
	unsigned long long sum = 0, one;
	struct statvfs vfs;
	char path[64];

	if (strcmp(what, "processes") == 0)
		return n;
	if (strcmp(what, "shared_mb") == 0) {
		one = shared_kb();
		return one > shared_before ? (one - shared_before) / 1024 : 0;
	}
	if (strcmp(what, "cpu_percent") == 0)
		return count_cpu(pids, n);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(what, "threads") == 0)
			sum += field_of(pids[i], "status", "Threads:");
		else if (strcmp(what, "memory_mb") == 0)
			sum += field_of(pids[i], "smaps_rollup", "Pss:");
		else if (strcmp(what, "locked_mb") == 0)
			sum += field_of(pids[i], "status", "VmLck:");
		else if (strcmp(what, "memfd_mb") == 0)
			sum += count_memfds(pids[i]) / 1024;
		else if (strcmp(what, "queued_mb") == 0)
			sum += count_queued(pids[i]) / 1024;
		else if (strcmp(what, "open_files") == 0) {
			one = count_fds(pids[i]);
			sum = one > sum ? one : sum;
		}
	}
	if (strlen(what) > 3 && strcmp(what + strlen(what) - 3, "_mb") == 0 &&
	    strcmp(what, "tmp_mb") != 0)
		return sum / 1024;
	if (n > 0 && strncmp(what, "tmp_", 4) == 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/cwd", pids[0]);
		if (statvfs(path, &vfs) < 0)
			return 0;
		return strcmp(what, "tmp_files") == 0
		               ? vfs.f_files - vfs.f_ffree
		               : (vfs.f_blocks - vfs.f_bfree) * vfs.f_frsize >> 20;
	}
	return sum;
}

static bool meets_count(const char *nonce, const char *spec, char *ret, size_t size)
{
	pid_t pids[PIDS_MAX];
	size_t n = list_attempt(nonce, pids, PIDS_MAX);
	unsigned long long most, seen;
	char what[32];

	/* NOLINTNEXTLINE(cert-err34-c): the table's maker has checked it */
	if (sscanf(spec, "%31s > %llu", what, &most) != 2)
		return false;
	seen = count(what, pids, n);
	(void)snprintf(ret, size, "counted from outside: %s %llu", what, seen);
	return seen > most;
}

bool dw_look_meets(const char *nonce, const char *oracle, char *ret, size_t size)
{
	char file[32], expression[256];
	const char *at;

	if (strncmp(oracle, "count ", 6) == 0)
		return meets_count(nonce, oracle + 6, ret, size);
	if (strncmp(oracle, "held ", 5) != 0 || sscanf(oracle + 5, "%31s", file) != 1)
		return false;

	at = oracle + 5 + strlen(file) + 1;
	(void)snprintf(expression, sizeof(expression), "%s", at);
	at = strstr(expression, "NONCE");
	if (at) {
		char with[256];

		(void)snprintf(with, sizeof(with), "%.*s%s%s", (int)(at - expression),
		               expression, nonce, at + 5);
		memcpy(expression, with, sizeof(with));
	}
	return meets_held(nonce, file, expression, ret, size);
}

/* ---- host NAME ---- */

/* The last line of a file, without its end. */
static void last_line(const char *path, char *ret, size_t size)
{
	char text[64U << 10];
	ssize_t n = dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text));
	const char *at = n > 0 ? strrchr(text, '\n') : NULL;

	(void)snprintf(ret, size, "%.4000s", n <= 0 ? "" : at ? at + 1 : text);
}

/*
 * What the disk that holds /usr is called, wherever it is plugged in. Ext4 has a
 * question of its own for it, others the common one (Linux 6.9), some none.
 */
static void disk_id(char *ret, size_t size)
{
	struct {
		unsigned int len, flags;
		unsigned char id[16];
	} ext = {.len = 16};
	struct {
		unsigned char len, id[16];
	} any = {0};
	autoclose int fd = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const unsigned char *id = NULL;
	size_t at;

	if (ioctl(fd, _IOR('f', 44, unsigned int[2]), &ext) == 0)
		id = ext.id;
	else if (ioctl(fd, _IOR(0x15, 0, any), &any) == 0)
		id = any.id;
	else
		return;
	at = (size_t)snprintf(ret, size, "disk ");
	for (size_t i = 0; i < 16; i++)
		at += (size_t)snprintf(ret + at, size - at, "%02x", id[i]);
}

bool dw_look_told(const char *said, const char *oracle, char *ret, size_t size)
{
	char value[4096] = "";
	struct statfs fs;
	int id[2];

	if (strcmp(oracle, "host boot-id") == 0)
		last_line("/proc/sys/kernel/random/boot_id", value, sizeof(value));
	else if (strcmp(oracle, "host command-line") == 0)
		last_line("/proc/cmdline", value, sizeof(value));
	else if (strcmp(oracle, "host account") == 0)
		last_line("/etc/passwd", value, sizeof(value));
	else if (strcmp(oracle, "host caller") == 0)
		(void)snprintf(value, sizeof(value), "caller %u\n", getuid());
	else if (strcmp(oracle, "host disk") == 0)
		disk_id(value, sizeof(value));
	else if (strcmp(oracle, "host file-system") == 0 && statfs("/usr", &fs) == 0) {
		memcpy(id, &fs.f_fsid, sizeof(id));
		(void)snprintf(value, sizeof(value), "file system %08x%08x", id[0],
		               id[1]);
	}
	if (value[0] == '\0' || !said || !strstr(said, value))
		return false;
	(void)snprintf(ret, size, "it told the %s: %.64s", oracle, value);
	return true;
}

/* ---- who is left ---- */

bool dw_look_somebody(pid_t witness, char *ret, size_t size)
{
	pid_t pids[PIDS_MAX];
	size_t n = list_pids(pids, PIDS_MAX);

	for (size_t i = 0; i < n; i++) {
		autofree char *status = NULL;

		if (pids[i] == witness)
			continue;
		status = read_proc(pids[i], "status");
		if (!status || strstr(status, "State:\tZ"))
			continue;
		(void)snprintf(ret, size, "process %d is left: %.*s", pids[i],
		               (int)strcspn(status, "\n"), status);
		return true;
	}
	return false;
}

void dw_look_end_all(void)
{
	(void)kill(-1, SIGKILL); /* all that pid 1 of the range can see is its own */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}
