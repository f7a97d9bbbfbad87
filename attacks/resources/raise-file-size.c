/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: raise its limit on the size of files, and then exceed it
 * Promise:  limits
 * Options:  --tmp 8M
 * Oracle:   count tmp_mb > 20
 * Stops:    EPERM=capability ENOSPC=limit:tmp disk=limit:tmp EFBIG=limit:tmp
 */
#include <signal.h>
#include <sys/resource.h>

#include "attacks/attack.h"

#define STEP ((size_t)1 << 20)
#define STEPS 40

static char data[STEP];

/* Write a whole step. The write after one that the limit cut short returns the error. */
static bool fill(int fd, off_t at)
{
	size_t done = 0;
	ssize_t n;

	for (; done < STEP; done += (size_t)n) {
		n = pwrite(fd, data + done, STEP - done, at + (off_t)done);
		if (n <= 0)
			return false;
	}
	return true;
}

ATTACK(raise_file_size)
{
	const struct rlimit lim = {RLIM_INFINITY, RLIM_INFINITY};
	int fd = open("filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &lim) < 0)
		attack_stopped("setrlimit");
	for (int i = 0; i < STEPS; i++)
		if (!fill(fd, (off_t)i * (off_t)STEP)) {
			attack_stopped("pwrite");
			return 0;
		}
	attack_hold();
	return 0;
}
