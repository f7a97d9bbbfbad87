/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "hooks_embedded.h"
#include "languages/runtime.h"

static const struct {
	const char *language;
	const char *file;
	const unsigned char *text;
	size_t len;
} hooks[] = {
	{"python", "hook.py", dw_hook_python, sizeof(dw_hook_python)},
	{"javascript", "hook.js", dw_hook_node, sizeof(dw_hook_node)},
};

const char *dw_runtime_hook(const struct dw_runtime *runtime, const char **ret_file,
                            size_t *ret_len)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (strcmp(hooks[i].language, runtime->name) != 0)
			continue;
		*ret_file = hooks[i].file;
		*ret_len = hooks[i].len;
		return (const char *)hooks[i].text;
	}
	return NULL;
}
