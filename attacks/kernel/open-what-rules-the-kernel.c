/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open, for writing, what decides which program the kernel starts as root when
 *           another one crashes, and its like
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd /proc/sys(rq-trigger|/kernel/(core_pattern|modprobe|msg_next_id))
 * Stops:    EACCES=landlock|capability ENOENT=mount|absent
 *           docker:EACCES=capability
 * Because:  nothing is written; of these a plain user of the host, with all capabilities in
 *           a namespace of its own, gets at the last
 */
#include "attacks/attack.h"

ATTACK(open_what_rules_the_kernel)
{
	static const char *const files[] = {
		"/proc/sys/kernel/core_pattern",
		"/proc/sys/kernel/modprobe",
		"/proc/sysrq-trigger",
		"/proc/sys/kernel/msg_next_id",
	};
	bool got = false;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (open(files[i], O_WRONLY | O_CLOEXEC) >= 0)
			got = true;
		else
			attack_stopped(files[i]);
	}
	if (got)
		attack_hold();
	return 0;
}
