/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/stat contains a name that the process chose, unquoted. The numbers after it are
 * read correctly whatever the name is.
 */
#undef NDEBUG
#include <stdio.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "init/init.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autofree char *name = fuzz_text(&in), *text = NULL;
	uint64_t field[25] = {0};
	char state = '?';

	(void)dw_sample_parse_stat(name, &state, field);

	assert(asprintf(&text,
	                "4 (%s) R 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 "
	                "24 25 26",
	                name) > 0);
	assert(dw_sample_parse_stat(text, &state, field) && state == 'R');
	for (size_t i = 4; i < ARRAY_SIZE(field); i++)
		assert(field[i] == i);
	return 0;
}
