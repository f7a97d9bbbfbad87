/* SPDX-License-Identifier: Apache-2.0 */
/* A number is refused with a reason, or survives printing and parsing. */
#undef NDEBUG
#include "base/values.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

#define COUNT_MAX 4194304

static int parse_count(const char *text, uint64_t *ret, struct dw_error *err)
{
	return dw_parse_uint(text, COUNT_MAX, ret, err);
}

static const struct {
	int (*parse)(const char *text, uint64_t *ret, struct dw_error *err);
	const char *unit; /* of the value that it returns */
	uint64_t max;
} kinds[] = {
	{parse_count, "", COUNT_MAX},
	{dw_parse_size, "", UINT64_MAX},
	{dw_parse_time, "ms", UINT64_MAX},
	{dw_parse_cpus, "%", UINT64_MAX},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autofree char *text = fuzz_text(&in);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t value = 42, again = 43;
		struct dw_error err = {0};
		char written[32];

		if (kinds[i].parse(text, &value, &err) < 0) {
			assert(value == 42 && err.code == DW_E_INVALID);
			fuzz_check_refusal(&err);
			continue;
		}
		assert(err.code == DW_OK && value <= kinds[i].max);
		/* No unit makes the value smaller; strtoull() saturates. */
		assert(value >= strtoull(text, NULL, 10));
		(void)snprintf(written, sizeof(written), "%llu%s",
		               (unsigned long long)value, kinds[i].unit);
		assert(kinds[i].parse(written, &again, &err) == 0 && again == value);
	}
	return 0;
}
