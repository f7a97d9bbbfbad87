/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: count events of the processor with perf
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[perf_event\]
 * Stops:    EPERM=seccomp
 */
#include <linux/perf_event.h>

#include "attacks/attack.h"

ATTACK(count_cpu_events)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0)
		attack_stopped("perf_event_open");
	else
		attack_hold();
	return 0;
}
