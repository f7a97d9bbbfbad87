/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/values.h"
#include "dewar/dewar.h"
#include "languages/runtime.h"

#define VERSION_DEADLINE_MS 5000
#define VERSION_OUTPUT_MAX 4096

/* Larger than the table; a test checks this. */
#define LANGUAGES_MAX 64
#define ALIASES_TEXT_MAX 96

/* ---- the list ---- */

static char aliases[LANGUAGES_MAX][ALIASES_TEXT_MAX];

static void join_aliases(void)
{
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);

	for (size_t i = 0; i < n && i < LANGUAGES_MAX; i++) {
		size_t at = 0;

		for (size_t k = 0; table[i].aliases[k] && at < ALIASES_TEXT_MAX; k++)
			at += (size_t)snprintf(aliases[i] + at, ALIASES_TEXT_MAX - at,
			                       "%s%s", k > 0 ? " " : "",
			                       table[i].aliases[k]);
	}
}

const char *dw_language_name(const char *alias)
{
	const struct dw_runtime *rt = dw_runtime_find(alias);

	return rt ? rt->name : NULL;
}

int dw_language_check(const char *alias, struct dw_error *err)
{
	struct dw_guess guess = {.typed = alias};
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);

	if (dw_runtime_find(alias))
		return 0;
	for (size_t i = 0; i < n; i++)
		dw_guess_offer(&guess, table[i].name);
	(void)dw_fail(err, DW_E_INVALID, 0, "unknown language \"%.64s\"", alias);
	if (err && !guess.best)
		for (size_t i = 0, len = strlen(err->text);
		     i < n && len < sizeof(err->text); i++)
			len += (size_t)snprintf(err->text + len, sizeof(err->text) - len,
			                        "%s%s",
			                        i > 0 ? ", " : "; must be one of ",
			                        table[i].name);
	return dw_suggest(err, &guess, "");
}

size_t dw_language_count(void)
{
	size_t n;

	(void)dw_runtime_table(&n);
	return n < LANGUAGES_MAX ? n : LANGUAGES_MAX;
}

int dw_language_peek(size_t index, struct dw_language *ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);

	if (index >= dw_language_count())
		return -1;
	(void)pthread_once(&once, join_aliases);
	*ret = (struct dw_language){
		.name = table[index].name,
		.aliases = aliases[index],
		.package = table[index].package,
	};
	return 0;
}

/* ---- asking for a version ---- */

/* Read until the end of the output, the deadline or a full buffer. */
static void read_until(int fd, uint64_t deadline, char *text, size_t size)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	size_t len = 0;

	while (len < size - 1) {
		uint64_t now = dw_now_ms();
		ssize_t n;
		int r;

		if (now >= deadline)
			break;
		r = poll(&pfd, 1, (int)(deadline - now));
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		n = read(fd, text + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
}

static int spawn(const char *path, char *const *argv, int out, pid_t *ret_pid)
{
	static char path_env[] = "PATH=" DW_RUNTIME_PATH;
	static char locale_env[] = "LC_ALL=C.UTF-8";
	char *const envp[] = {path_env, locale_env, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int r;

	r = posix_spawn_file_actions_init(&files);
	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attr);
	if (r != 0) {
		(void)posix_spawn_file_actions_destroy(&files);
		return -r;
	}

	/* The child must not inherit blocked or ignored signals. */
	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setsigdefault(&attr, &all);
	(void)posix_spawnattr_setflags(&attr,
	                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

	/* Some programs print their version on stdout, some on stderr. */
	r = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, out, 1);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, out, 2);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &files, &attr, argv, envp);

	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

int dw_program_ask(char *const *argv, uint64_t wait_ms, char *text, size_t size)
{
	autoclose int in = -1, out = -1;
	int fds[2], r;
	pid_t pid = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	in = fds[0];
	out = fds[1];

	r = spawn(argv[0], argv, out, &pid);
	if (r < 0)
		return r;
	(void)close(TAKE_FD(out));
	read_until(in, dw_now_ms() + wait_ms, text, size);

	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

static int run_version(const struct dw_runtime *rt, const char *path, char *text,
                       size_t size)
{
	char *argv[1 + ARRAY_SIZE(rt->version) + 1] = {(char *)path};

	for (size_t i = 0; i < ARRAY_SIZE(rt->version) && rt->version[i]; i++)
		argv[i + 1] = (char *)rt->version[i];
	return dw_program_ask(argv, VERSION_DEADLINE_MS, text, size);
}

/* Find the first version, like 3.11.2, 3.1.2p20 or 2.1.0-beta3. */
static void find_version(const char *text, char *ret, size_t size)
{
	static const char digits[] = "0123456789";
	const char *p = text, *end;

	for (;; p = end) {
		p += strcspn(p, digits);
		if (*p == '\0')
			return;
		end = p + strspn(p, digits);
		if (end[0] == '.' && isdigit((unsigned char)end[1]))
			break;
	}
	while (end[0] == '.' && isdigit((unsigned char)end[1]))
		end += 1 + strspn(end + 1, digits);

	/* Keep "-beta3"; drop "-14+deb12u1", which the distribution adds. */
	if (end[0] == '-' && isalpha((unsigned char)end[1]))
		end++;
	while (isalnum((unsigned char)*end))
		end++;
	(void)snprintf(ret, size, "%.*s", (int)(end - p), p);
}

/* The shell cannot report its version: use the name that sh links to. */
static void name_behind(const char *path, char *ret, size_t size)
{
	autofree char *real = realpath(path, NULL);
	const char *slash = strrchr(real ? real : path, '/');

	(void)snprintf(ret, size, "%.64s", slash ? slash + 1 : path);
}

static void fill_version(const struct dw_runtime *rt, struct dw_language *lang)
{
	char text[VERSION_OUTPUT_MAX + 1] = "";

	if (!rt->version[0]) {
		name_behind(lang->path, lang->version, sizeof(lang->version));
		return;
	}
	if (run_version(rt, lang->path, text, sizeof(text)) == 0)
		find_version(text, lang->version, sizeof(lang->version));
	if (lang->version[0] == '\0')
		(void)snprintf(lang->version, sizeof(lang->version), "unknown");
}

int dw_language_get(size_t index, struct dw_language *ret, struct dw_error *err)
{
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);
	const struct dw_runtime *rt;
	autoclose int root = -1;
	struct dw_language lang;

	if (dw_language_peek(index, &lang) < 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "there is no language number %zu",
		               index);
	rt = &table[index];

	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open /");

	if (rt->executable) {
		struct utsname host;

		/* The kernel runs programs of its own architecture. */
		(void)snprintf(lang.path, sizeof(lang.path), "(the program itself)");
		if (uname(&host) == 0)
			(void)snprintf(lang.version, sizeof(lang.version), "ELF %s",
			               host.machine);
	} else if (!dw_runtime_missing(rt, root, DW_RUNTIME_PATH) &&
	           dw_runtime_locate(root, DW_RUNTIME_PATH, rt->needs[0], lang.path,
	                             sizeof(lang.path)) == 0) {
		fill_version(rt, &lang);
	}
	*ret = lang;
	return 0;
}

/* ---- the language of a file ---- */

/* Compare with case first (.c and .C differ), then without. */
static const char *by_extension(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash ? slash + 1 : name, '.');
	const char *loose = NULL;
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);

	if (!dot)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; table[i].extensions[k]; k++) {
			if (strcmp(table[i].extensions[k], dot) == 0)
				return table[i].name;
			if (!loose && strcasecmp(table[i].extensions[k], dot) == 0)
				loose = table[i].name;
		}
	}
	return loose;
}

/* Take the next word from *text; false at its end. */
static bool next_word(char **text, char **ret)
{
	char *p = *text + strspn(*text, " \t");
	size_t len = strcspn(p, " \t");

	if (len == 0)
		return false;
	*ret = p;
	*text = p + len + (p[len] != '\0');
	p[len] = '\0';
	return true;
}

/* "/usr/bin/python3.11" is "python". */
static void bare_name(char **program)
{
	char *slash = strrchr(*program, '/');
	char *name = slash ? slash + 1 : *program;
	size_t len = strlen(name);

	while (len > 1 && (isdigit((unsigned char)name[len - 1]) ||
	                   name[len - 1] == '.' || name[len - 1] == '-'))
		len--;
	name[len] = '\0';
	*program = name;
}

static const char *by_shebang(const char *head, size_t len)
{
	char line[256], *rest = line, *word;
	const char *newline;
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);

	if (len < 2 || memcmp(head, "#!", 2) != 0)
		return NULL;
	head += 2;
	len -= 2;
	newline = memchr(head, '\n', len);
	if (newline)
		len = (size_t)(newline - head);
	if (len > 0 && head[len - 1] == '\r')
		len--;
	if (len >= sizeof(line))
		len = sizeof(line) - 1;
	memcpy(line, head, len);
	line[len] = '\0';

	if (!next_word(&rest, &word))
		return NULL;
	bare_name(&word);
	if (strcmp(word, "env") == 0) {
		/* Skip options and variables: env -S A=b python3 -u. */
		do {
			if (!next_word(&rest, &word))
				return NULL;
		} while (word[0] == '-' || strchr(word, '='));
		bare_name(&word);
	}

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; table[i].shebangs[k]; k++)
			if (strcmp(table[i].shebangs[k], word) == 0)
				return table[i].name;
	return NULL;
}

static const char *by_magic(const char *head, size_t len)
{
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);

	if (len < 4 || memcmp(head, "\177ELF", 4) != 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (table[i].executable)
			return table[i].name;
	return NULL;
}

const char *dw_language_of_file(const char *name, const void *head, size_t len)
{
	const char *found = by_extension(name);

	if (!found)
		found = by_shebang(head, len);
	if (!found)
		found = by_magic(head, len);
	return found;
}
