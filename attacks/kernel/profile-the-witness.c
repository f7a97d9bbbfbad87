/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: watch a process of the host with perf
 * Promise:  host-processes
 * Oracle:   held fd anon_inode:\[perf_event\]
 * Stops:    EPERM=seccomp
 */
#include <linux/perf_event.h>

#include "attacks/attack.h"

ATTACK(profile_the_witness)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (syscall(SYS_perf_event_open, &attr, (pid_t)attack_number("PID"), -1, -1, 0) <
	    0)
		attack_stopped("perf_event_open");
	else
		attack_hold();
	return 0;
}
