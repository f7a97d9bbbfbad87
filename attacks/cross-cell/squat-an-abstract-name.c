/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take the abstract name of another cell's service before the service
 *           does, so that its clients come to us
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    mine=namespace EPERM=landlock
 * Not promised: process=process-network
 * Because:  "mine" is what the second cell says when the name was free for it
 */
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attacks/attack.h"

ATTACK(squat_an_abstract_name)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	const char *secret = attack_value("SECRET");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	socklen_t len;
	bool taken;

	(void)snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "db-%s",
	               attack_value("NONCE"));
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                  strlen(name.sun_path + 1));
	taken = bind(fd, (struct sockaddr *)&name, len) < 0;
	if (strcmp(role, "first") == 0) {
		(void)listen(fd, 4);
		attack_ready();
		if (poll(&wait, 1, 3000) == 1) {
			fd = accept(fd, NULL, NULL);
			attack_spill(fd);
			(void)close(fd);
			attack_hold();
		}
	} else if (!taken) {
		attack_stopped_by("mine", "bind");
	} else if (connect(fd, (struct sockaddr *)&name, len) < 0 ||
	           write(fd, secret, strlen(secret)) < 0) {
		attack_stopped("connect");
	} else {
		attack_spill(fd); /* returns without data, once the secret is read */
	}
	return 0;
}
