/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send another cell a secret over an abstract unix socket (stream)
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    ECONNREFUSED=namespace EPERM=landlock
 * Not promised: process=process-network
 * Because:  the name is looked for in the cell's own network namespace, where
 *           no process listens; the control shows that one does elsewhere
 */
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attacks/attack.h"

ATTACK(meet_by_abstract_stream)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	const char *secret = attack_value("SECRET");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	socklen_t len;

	(void)snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "%s",
	               attack_value("NONCE"));
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                  strlen(name.sun_path + 1));
	if (strcmp(role, "second") == 0) {
		if (connect(fd, (struct sockaddr *)&name, len) < 0)
			attack_stopped("connect");
		else
			attack_spill(fd);
		return 0;
	}
	if (bind(fd, (struct sockaddr *)&name, len) < 0 || listen(fd, 4) < 0)
		attack_stopped("bind");
	attack_ready();
	if (poll(&wait, 1, 3000) == 1) {
		fd = accept(fd, NULL, NULL);
		(void)!write(fd, secret, strlen(secret));
		attack_hold();
	}
	return 0;
}
