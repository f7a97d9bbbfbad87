/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave another cell a message in a POSIX message queue
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    ENOENT=namespace EACCES=landlock
 * Not promised: process=process-ipc
 */
#include <mqueue.h>

#include "attacks/attack.h"

ATTACK(meet_by_posix_message)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 64};
	bool first = strcmp(role, "first") == 0;
	const char *secret = attack_value("SECRET");
	char name[64], text[64];
	ssize_t n;
	mqd_t queue;

	(void)snprintf(name, sizeof(name), "/%s", attack_value("NONCE"));
	queue = mq_open(name, O_RDWR | O_NONBLOCK | (first ? O_CREAT : 0), 0666,
	                first ? &attr : NULL);
	if (queue < 0) {
		attack_stopped("mq_open");
		return 0;
	}
	if (first) {
		if (mq_send(queue, secret, strlen(secret), 0) < 0)
			attack_stopped("mq_send");
		attack_hold();
		return 0;
	}
	n = mq_receive(queue, text, sizeof(text), NULL);
	if (n > 0)
		(void)printf("%.*s\n", (int)n, text);
	(void)mq_unlink(name);
	return 0;
}
