/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "verify/verify_own.h"

#define TEXT_MAX (256U << 10)

/* List the target of each descriptor, and for a socket the name of its protocol. */
static char *describe_fds(pid_t pid)
{
	char path[64], target[256], proto[64];
	autodir DIR *dir = NULL;
	const struct dirent *e;
	struct dw_buf buf;
	struct stat st;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	dw_buf_init(&buf, TEXT_MAX);
	while (dir && (e = readdir(dir)) != NULL) {
		n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		/*
		 * An engine mounts /dev/null over files that it hides, so a link to
		 * it may show another name.
		 */
		if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISCHR(st.st_mode) &&
		    st.st_rdev == makedev(1, 3))
			(void)snprintf(target, sizeof(target), "/dev/null");
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", pid, e->d_name);
		n = getxattr(path, "system.sockprotoname", proto, sizeof(proto) - 1);
		proto[n < 0 ? 0 : n] = '\0';
		(void)dw_buf_printf(&buf, "%s %s\n", target, proto);
	}
	return dw_buf_take(&buf, NULL);
}

/* List the namespaces that a process does not share with its parent, one per line. */
static char *describe_new_ns(pid_t pid)
{
	static const char *const types[] = {"user", "mnt", "pid",    "net",
	                                    "ipc",  "uts", "cgroup", "time"};
	pid_t parent = (pid_t)dw_procs_field(pid, "status", "PPid:");
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

/* Returns "nice N policy N priority N"; NULL if memory runs out. */
static char *describe_priority(pid_t pid)
{
	char *ret = NULL;

	if (asprintf(&ret, "nice %ld policy %ld priority %ld\n",
	             dw_procs_stat(pid, DW_STAT_NICE), dw_procs_stat(pid, DW_STAT_POLICY),
	             dw_procs_stat(pid, DW_STAT_PRIORITY)) < 0)
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
	return dw_procs_read(pid, file);
}

static bool matches_held(const char *nonce, const char *file, const char *expression,
                         char *ret, size_t size)
{
	pid_t pids[DW_PROCS_MAX];
	size_t n = dw_procs_list(nonce, pids, DW_PROCS_MAX);
	bool met = false;
	regmatch_t match;
	regex_t regex;

	if (regcomp(&regex, expression, REG_EXTENDED | REG_NEWLINE) != 0) {
		(void)snprintf(ret, size, "%s is not a regular expression", expression);
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

bool dw_oracle_held(const char *nonce, const char *oracle, char *ret, size_t size)
{
	char file[32], expression[256];
	const char *at;

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
	return matches_held(nonce, file, expression, ret, size);
}
