/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: set the resource limits of another cell's process, to values in which
 *           it finds a secret
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    unseen=namespace EPERM=namespace
 * Not promised: process=process-same-user
 * Because:  "unseen" is what it says if /proc shows no process of that name
 */
#include <sys/resource.h>

#include "attacks/attack.h"

#define PARTS 3
#define DIGITS 11 /* digits of the secret in each part */

static const int harmless[PARTS] = {RLIMIT_RSS, RLIMIT_LOCKS, RLIMIT_RTTIME};

static bool print_limits(void)
{
	struct rlimit lim;

	if (getrlimit(harmless[PARTS - 1], &lim) < 0 || lim.rlim_cur == RLIM_INFINITY)
		return false;
	for (int i = 0; i < PARTS && getrlimit(harmless[i], &lim) == 0; i++)
		(void)printf("%0*llx", i < PARTS - 1 ? DIGITS : 32 - DIGITS * (PARTS - 1),
		             (unsigned long long)lim.rlim_cur);
	(void)puts("");
	return true;
}

ATTACK(change_limits_of_the_neighbour)
{
	const char *secret = attack_value("SECRET");
	struct rlimit lim = {.rlim_max = RLIM_INFINITY};
	char part[DIGITS + 1];
	pid_t pid;

	if (strcmp(role, "first") == 0) {
		attack_ready();
		for (int ms = 0; ms < 2000 && !print_limits(); ms++)
			attack_pause(1);
		attack_hold();
		return 0;
	}
	pid = attack_find_holder();
	for (int i = 0; i < PARTS && pid > 0; i++) {
		(void)snprintf(part, sizeof(part), "%s", secret + (ptrdiff_t)DIGITS * i);
		lim.rlim_cur = strtoull(part, NULL, 16);
		if (prlimit(pid, (enum __rlimit_resource)harmless[i], &lim, NULL) < 0) {
			attack_stopped("prlimit");
			return 0;
		}
	}
	if (pid > 0)
		attack_pause(500);
	return 0;
}
