/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with bytes that wait in pipes
 * Promise:  limits
 * Options:  --memory 8M
 * Oracle:   count queued_mb > 14
 * Stops:    oom=limit:memory ENOMEM=limit:memory
 * Not promised: sampled:memory=sampled-kernel-memory
 */
#include "attacks/attack.h"

#define PIPES 1500 /* enough if the host's own pipes leave us only small ones */
#define SIZE (1 << 20)
#define ENOUGH (20 << 20)

static char data[65536];

ATTACK(fill_pipes)
{
	size_t queued = 0;
	ssize_t n;
	int fds[2];

	for (int i = 0; i < PIPES && queued < ENOUGH; i++) {
		if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0) {
			attack_stopped("pipe2");
			return 0;
		}
		(void)fcntl(fds[1], F_SETPIPE_SZ, SIZE);
		while ((n = write(fds[1], data, sizeof(data))) > 0)
			queued += (size_t)n;
		if (errno != EAGAIN) {
			attack_stopped("write");
			return 0;
		}
		if (i % 8 == 0)
			attack_pause(1);
	}
	attack_pause(300);
	attack_hold();
	return 0;
}
