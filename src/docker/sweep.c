/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remove containers that a killed dewar-docker left. Usually it leaves no container: the
 * guest ends when its stream does, and the engine then removes the container. A container
 * is left if the engine died too, or if dewar-docker was killed between creation and
 * start.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "docker/docker_own.h"

/* Leave the rest of the deadline to the run if the engine is slow. */
#define SWEEP_MS 3000U

#define SWEEP_MAX 16 /* in one run; the next run removes more */

/*
 * Returns field 22 of /proc/PID/stat, or 0 if the process is gone. Field 2, the name in
 * parentheses, may contain any byte.
 */
static unsigned long long start_time(long pid)
{
	char path[64], text[1024];
	const char *p;

	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static bool read_host(char boot[64], unsigned long long *ret_pidns)
{
	struct stat st;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 64) <= 0 ||
	    stat("/proc/self/ns/pid", &st) < 0)
		return false;
	*ret_pidns = st.st_ino;
	return true;
}

void dw_owner_make(char *ret, size_t size)
{
	unsigned long long pidns, start = start_time(getpid());
	char boot[64];

	ret[0] = '\0';
	if (start != 0 && read_host(boot, &pidns))
		(void)snprintf(ret, size, "%s:%llu:%d:%llu", boot, pidns, getpid(),
		               start);
}

/* Parse a number that ends at the given character; 0 if there is no such number. */
static unsigned long long next_number(const char **p, char until)
{
	unsigned long long n;
	char *end;

	if (**p < '0' || **p > '9')
		return 0;
	n = strtoull(*p, &end, 10);
	if (*end != until)
		return 0;
	*p = end + (until != '\0');
	return n;
}

bool dw_owner_is_dead(const char *label, bool running)
{
	const char *p = strchr(label, ':');
	unsigned long long pidns, their_ns, pid, start;
	char boot[64];

	if (!p || !read_host(boot, &pidns))
		return false;
	p++;
	their_ns = next_number(&p, ':');
	pid = next_number(&p, ':');
	start = next_number(&p, '\0');
	if (their_ns == 0 || pid == 0 || pid > INT32_MAX || start == 0)
		return false;
	/*
	 * Another boot: this host was restarted, or another machine shares the engine.
	 * Only a container that does not run is certainly abandoned.
	 */
	if (strlen(boot) != strcspn(label, ":") ||
	    strncmp(boot, label, strlen(boot)) != 0)
		return !running;
	/* A process in another pid namespace may be alive. */
	return their_ns == pidns && start_time((long)pid) != start;
}

void dw_sweep(const struct dw_engine *engine)
{
	struct dw_engine brief = *engine, *e = &brief;
	json_auto_t *filter = json_pack("{s:[s]}", "label", DW_LABEL_OWNER);
	autofree char *text = filter ? json_dumps(filter, JSON_COMPACT) : NULL;
	autofree char *escaped = text ? dw_docker_http_escape(text) : NULL;
	json_auto_t *list = NULL;
	struct dw_error err = {0};
	char path[256];
	int removed = 0;

	if (!escaped)
		return;
	if (e->deadline_ms > dw_now_ms() + SWEEP_MS)
		e->deadline_ms = dw_now_ms() + SWEEP_MS;
	(void)snprintf(path, sizeof(path), "/containers/json?all=1&filters=%s", escaped);
	if (dw_engine_call(e, "GET", path, NULL, &list, NULL, &err) < 0)
		return; /* the run will report the failure */
	for (size_t i = 0; i < json_array_size(list) && removed < SWEEP_MAX; i++) {
		const json_t *item = json_array_get(list, i);
		const char *id = json_string_value(json_object_get(item, "Id"));
		const char *state = json_string_value(json_object_get(item, "State"));
		const char *owner = json_string_value(
			json_object_get(json_object_get(item, "Labels"), DW_LABEL_OWNER));

		/* The engine may have ignored the filter. */
		if (!owner || !dw_container_is_id(id) ||
		    !dw_owner_is_dead(owner, state && strcmp(state, "running") == 0))
			continue;
		(void)dw_container_remove(e, id, &err);
		removed++;
	}
}
