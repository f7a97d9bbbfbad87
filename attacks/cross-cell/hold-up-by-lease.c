/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: delay every process that opens a file of the workspace, which both cells may
 *           only read, and so learn which one they open (leases)
 * Promise:  neighbours
 * Cells:    pair
 * Options:  --workspace {base}/ws
 * Oracle:   secret
 * Stops:    EPERM=seccomp EINVAL=seccomp EACCES=capability
 * Because:  which of the other files comes next spells a secret. EACCES is for a process that
 *           does not own the file, and has no capability in place of that
 */
#include <signal.h>
#include <time.h>

#include "attacks/attack.h"

#define FILES 4
#define TURNS 81 /* 3 to this power is more than 2 to the power of 128 */

static const char *const files[FILES] = {"readme.txt", "src/main.py", "out/old.txt",
                                         ".git/config"};

/* Take a lease, and choose the signal that reports another process's open. */
static bool take_lease(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGRTMIN) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
		return true;
	attack_stopped("F_SETLEASE");
	return false;
}

/*
 * Print the secret that the order of the opened files spells. The other cell's open
 * succeeds only after the previous file is leased again, so that no open is missed.
 */
static void guard(void)
{
	const struct timespec patience = {.tv_sec = 2};
	unsigned __int128 heard = 0, weight = 1;
	int fds[FILES], last = 0, now;
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < FILES; i++) {
		fds[i] = open(files[i], O_RDONLY | O_CLOEXEC);
		if (!take_lease(fds[i]))
			break;
	}
	attack_ready();
	for (int turn = 0; turn < TURNS; turn++) {
		if (sigtimedwait(&set, &info, &patience) < 0)
			break;
		for (now = 0; now < FILES - 1 && fds[now] != info.si_fd; now++)
			;
		heard += weight * (unsigned)((now - last + FILES - 1) % FILES);
		weight *= 3;
		if (turn > 0 && !take_lease(fds[last]))
			break;
		(void)fcntl(fds[now], F_SETLEASE, F_UNLCK);
		last = now;
	}
	(void)printf("%016llx%016llx\n", (unsigned long long)(heard >> 64),
	             (unsigned long long)heard);
	attack_hold();
}

ATTACK(hold_up_by_lease)
{
	const char *secret = attack_value("SECRET");
	unsigned __int128 number = 0;
	int last = 0;

	if (strcmp(role, "first") == 0) {
		guard();
		return 0;
	}
	for (; *secret != '\0'; secret++)
		number = number << 4 | strtoul((char[]){*secret, '\0'}, NULL, 16);
	(void)alarm(4);
	for (int turn = 0; turn < TURNS; turn++) {
		last = (last + 1 + (int)(number % 3)) % FILES;
		number /= 3;
		(void)close(open(files[last], O_RDONLY | O_CLOEXEC));
	}
	attack_pause(500);
	return 0;
}
