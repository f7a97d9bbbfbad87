/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a map for programs of the kernel's BPF machine
 * Promise:  kernel-surface
 * Control:  root
 * Oracle:   held fd anon_inode:bpf-map
 * Stops:    EPERM=seccomp|capability
 * Because:  where unprivileged BPF is switched off, only the host's root gets one, and a
 *           plain user can prove nothing
 */
#include <linux/bpf.h>

#include "attacks/attack.h"

ATTACK(create_a_bpf_map)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};

	if (syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)) < 0)
		attack_stopped("bpf");
	else
		attack_hold();
	return 0;
}
