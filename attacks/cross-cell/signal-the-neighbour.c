/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send another cell's process signals, with a secret in their values
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    unseen=namespace EPERM=landlock
 * Not promised: process=process-same-user
 * Because:  "unseen" is what it says if /proc shows no process of that name
 */
#include <signal.h>
#include <time.h>

#include "attacks/attack.h"

#define PARTS 8 /* of four letters each */

ATTACK(signal_the_neighbour)
{
	const struct timespec patience = {.tv_sec = 2};
	char text[PARTS * 4 + 1] = "";
	union sigval value;
	siginfo_t info;
	sigset_t set;
	pid_t pid;

	if (strcmp(role, "first") == 0) {
		sigemptyset(&set);
		sigaddset(&set, SIGRTMIN + 5);
		(void)sigprocmask(SIG_BLOCK, &set, NULL);
		attack_ready();
		for (int i = 0; i < PARTS && sigtimedwait(&set, &info, &patience) > 0;
		     i++)
			memcpy(text + (ptrdiff_t)4 * i, &info.si_value.sival_int, 4);
		(void)puts(text);
		attack_hold();
		return 0;
	}
	pid = attack_find_holder();
	(void)snprintf(text, sizeof(text), "%-32s", attack_value("SECRET"));
	for (int i = 0; i < PARTS && pid > 0; i++) {
		value.sival_ptr = NULL;
		memcpy(&value.sival_int, text + (ptrdiff_t)4 * i, 4);
		if (sigqueue(pid, SIGRTMIN + 5, value) < 0) {
			attack_stopped("sigqueue");
			return 0;
		}
	}
	if (pid > 0)
		attack_pause(500);
	return 0;
}
