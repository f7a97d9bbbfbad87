/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: set a breakpoint of the processor through perf
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[perf_event\]
 * Stops:    EPERM=seccomp
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "attacks/attack.h"

ATTACK(set_a_hardware_breakpoint)
{
	static int watched;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = HW_BREAKPOINT_LEN_4,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0)
		attack_stopped("perf_event_open");
	else
		attack_hold();
	return 0;
}
