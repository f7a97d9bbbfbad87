/* SPDX-License-Identifier: Apache-2.0 */
/* A path is plain exactly if it stays below its folder. */
#undef NDEBUG
#include "base/path.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "run/run_own.h"

/* Another implementation of the rule. */
static bool stays_below(const char *path)
{
	autofree char *framed = NULL;
	size_t slashes = 0;

	assert(asprintf(&framed, "/%s/", path) >= 0);
	for (const char *p = path; *p != '\0'; p++)
		slashes += *p == '/';
	return strlen(path) <= 1024 && slashes < 32 && !strstr(framed, "//") &&
	       !strstr(framed, "/./") && !strstr(framed, "/../");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autofree char *path = fuzz_text(&in);
	const char *pattern = strncmp(path, "/tmp/", 5) == 0 ? path + 5 : path;
	struct dw_error err = {0};

	assert(dw_path_is_plain(path) == stays_below(path));
	if (dw_collect_check(path, &err) < 0) {
		assert(err.code == DW_E_INVALID && !stays_below(pattern));
		fuzz_check_refusal(&err);
	} else {
		assert(stays_below(pattern));
	}
	return 0;
}
