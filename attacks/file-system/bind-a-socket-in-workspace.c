/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a socket, a pipe and a link in the workspace, without ever opening a
 *           file
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws
 * Stops:    EROFS=mount EACCES=landlock EPERM=landlock
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "attacks/attack.h"

ATTACK(bind_a_socket_in_workspace)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = "gotcha.sock"};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		attack_stopped("bind");
	if (mkfifo("gotcha.pipe", 0666) < 0)
		attack_stopped("mkfifo");
	if (symlink("/etc/passwd", "gotcha.link") < 0)
		attack_stopped("symlink");
	return 0;
}
