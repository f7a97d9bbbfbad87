/* SPDX-License-Identifier: Apache-2.0 */
/* Input: contents of /proc/self/cgroup. A path that is found is in it, in full. */
#undef NDEBUG
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cgroup/cgroup.h"
#include "fuzz/fuzz.h"

/* Another implementation of: is this word in the list? */
static bool has_word(const char *list, const char *word)
{
	autofree char *copy = strdup(list);
	char *rest = NULL;

	assert(copy);
	for (char *p = strtok_r(copy, " ,", &rest); p; p = strtok_r(NULL, " ,", &rest))
		if (strcmp(p, word) == 0)
			return true;
	return false;
}

static void find(const char *text, const char *controller, size_t room)
{
	char path[2048] = "untouched";
	autofree char *tail = NULL;
	int r = dw_cgroup_own_path(text, controller, path, room);

	if (r < 0) {
		assert(r == -ENOENT || r == -ENAMETOOLONG);
		assert(strcmp(path, "untouched") == 0);
		return;
	}
	assert(strlen(path) < room && !strchr(path, '\n') &&
	       asprintf(&tail, ":%s\n", path) > 0);
	assert(strstr(text, tail));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const controllers[] = {NULL, "cpu", "memory", "pids"};
	struct fuzz_input in = {data, size};
	autofree char *line = fuzz_text(&in), *text = NULL;

	/* The kernel ends the last line with a newline. */
	assert(asprintf(&text, "%s\n", line) > 0);
	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
		find(text, controllers[i], 16);
		find(text, controllers[i], 2048);
		if (controllers[i])
			assert(dw_cgroup_has_word(line, controllers[i]) ==
			       has_word(line, controllers[i]));
	}
	return 0;
}
