/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to:     let every user write to a file of the workspace by an access control
 *               list
 * Promise:      host-writes
 * Oracle:       files
 * Options:      --workspace {base}/ws
 * Stops:        EROFS=mount
 * Not promised: process=process-attributes
 */
#include <sys/xattr.h>

#include "attacks/attack.h"

/* user::rwx group::rwx other::rwx in the kernel's format: tag, rights, id. */
struct acl_entry {
	uint16_t tag;
	uint16_t rights;
	uint32_t id;
};

ATTACK(set_acl_of_workspace_file)
{
	const struct {
		uint32_t version;
		struct acl_entry entries[3];
	} acl = {2, {{1, 7, ~0U}, {4, 7, ~0U}, {32, 7, ~0U}}};

	if (setxattr("readme.txt", "system.posix_acl_access", &acl, sizeof(acl), 0) < 0)
		attack_stopped("setxattr");
	return 0;
}
