/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: allow itself everything in a Landlock ruleset of its own
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 * Because:  rulesets are stacked: each can only take away
 */
#include <linux/landlock.h>
#include <sys/prctl.h>

#include "attacks/attack.h"

ATTACK(allow_all_with_own_landlock)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE,
	};
	struct landlock_path_beneath_attr rule = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
		.parent_fd = open("/", O_PATH | O_CLOEXEC),
	};
	long fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	(void)syscall(SYS_landlock_restrict_self, fd, 0);
	(void)attack_spill_file(attack_value("FLAG"));
	return 0;
}
