/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: init's report of how a program ended, then its stderr. Status, reason, exit code
 * and hint are always consistent.
 */
#undef NDEBUG
#include "run/run_own.h"

#include <signal.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

static bool is_timeout(enum dw_reason reason)
{
	return reason == DW_REASON_TIMEOUT_WALL || reason == DW_REASON_TIMEOUT_CPU;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct dw_outcome outcome = {.cpu_ms = -1, .memory_mb = 1.5};
	struct dw_result res = {0};
	struct dw_spec spec = {0};
	enum dw_cause cause = fuzz_byte(&in) % (DW_CAUSE_STUCK + 1);
	autofree char *said = NULL;

	outcome.hit = fuzz_byte(&in) % DW_REASON_COUNT;
	outcome.ended = fuzz_byte(&in) & 1;
	outcome.tmp_full = fuzz_byte(&in) & 1;
	fuzz_take(&in, &outcome.wait_status, sizeof(outcome.wait_status));
	fuzz_take(&in, &spec.limits.memory_bytes, sizeof(spec.limits.memory_bytes));
	said = fuzz_copy(&in, in.size, &res.out_len[DW_STDERR]);
	res.out[DW_STDERR] = said;
	dw_verdict_run(&res, &outcome, cause, &spec);

	assert((unsigned)res.reason < DW_REASON_COUNT);
	assert((unsigned)res.status < DW_STATUS_COUNT);
	assert((res.status == DW_STATUS_TIMEOUT) == is_timeout(res.reason));
	assert(res.exit_code >= 0 && res.exit_code <= 255);
	assert(res.signal >= 0 && (res.signal == 0 || res.exit_code == 128 + res.signal));
	assert(outcome.ended || res.signal == SIGKILL);
	assert(memchr(res.hint, '\0', sizeof(res.hint)));
	assert((res.hint[0] == '\0') == (res.status == DW_STATUS_SUCCESS));
	assert(res.status != DW_STATUS_SUCCESS || res.exit_code == 0);
	return 0;
}
