/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exchange two folders of the workspace in one step
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws
 * Stops:    EROFS=mount EACCES=landlock EXDEV=mount|landlock
 */
#include "attacks/attack.h"

ATTACK(exchange_workspace_files)
{
	if (renameat2(AT_FDCWD, "src", AT_FDCWD, ".git", RENAME_EXCHANGE) < 0)
		attack_stopped("renameat2");
	return 0;
}
