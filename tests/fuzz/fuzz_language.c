/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: the name of a file, a NUL, its first bytes. The answer is a known language, and an
 * extension has precedence over the first bytes.
 */
#undef NDEBUG
#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "fuzz/fuzz.h"
#include "languages/runtime.h"

static bool is_known(const char *name)
{
	struct dw_language lang;

	for (size_t i = 0; dw_language_peek(i, &lang) == 0; i++)
		if (strcmp(lang.name, name) == 0)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autofree char *name = fuzz_text(&in);
	const char *found = dw_language_of_file(name, in.data, in.size);
	const char *by_name = dw_language_of_file(name, "", 0);

	assert(!found || is_known(found));
	assert(!by_name || found == by_name);
	assert(by_name || found == dw_language_of_file("", in.data, in.size));
	return 0;
}
