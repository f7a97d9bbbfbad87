/* SPDX-License-Identifier: Apache-2.0 */
/* Input: a hook's answer. Only an explicit answer permits a run. */
#undef NDEBUG
#include "approvals/hook.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_hook_answer answer, untouched;
	struct dw_error err = {0};

	memset(&untouched, 0x5a, sizeof(untouched));
	answer = untouched;
	if (dw_hook_answer_parse((const char *)data, size, &answer, &err) < 0) {
		assert(memcmp(&answer, &untouched, sizeof(answer)) == 0);
		assert(err.code == DW_E_INVALID && err.text[0] != '\0');
		return 0;
	}
	assert(answer.decision < DW_HOOK_DECISION_COUNT && !answer.failed);
	/* Escapes could spell a key, but not the braces around it. */
	assert(size >= sizeof("{\"decision\":\"ask\"}") - 1);
	assert(memchr(data, '{', size) && memchr(data, '}', size));
	assert(strnlen(answer.reason, sizeof(answer.reason)) < sizeof(answer.reason));
	assert(dw_utf8_valid(answer.reason, strlen(answer.reason)));
	for (const char *p = answer.reason; *p != '\0'; p++)
		assert((unsigned char)*p >= 0x20 && *p != 0x7f);
	return 0;
}
