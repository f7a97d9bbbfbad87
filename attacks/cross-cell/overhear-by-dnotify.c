/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: overhear in which folder of the workspace another cell reads, with
 *           dnotify, which is part of fcntl and needs no inotify
 * Promise:  neighbours
 * Cells:    pair
 * Options:  --workspace {base}/ws
 * Oracle:   secret
 * Stops:    EPERM=seccomp EINVAL=seccomp
 * Because:  the order of the folders spells a secret
 */
#include <signal.h>
#include <time.h>

#include "attacks/attack.h"

#define FOLDERS 4
#define TURNS 64 /* two bits each */

static const char *const folders[FOLDERS] = {".", "src", "out", ".git"};
static const char *const files[FOLDERS] = {"readme.txt", "src/main.py", "out/old.txt",
                                           ".git/config"};

static void listen_in(void)
{
	const struct timespec patience = {.tv_sec = 2};
	unsigned digit = 0, now;
	int fds[FOLDERS];
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < FOLDERS; i++) {
		fds[i] = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fcntl(fds[i], F_SETSIG, SIGRTMIN) < 0 ||
		    fcntl(fds[i], F_NOTIFY, DN_ACCESS | DN_MULTISHOT) < 0) {
			attack_stopped("F_NOTIFY");
			break;
		}
	}
	attack_ready();
	for (int turn = 0; turn < TURNS; turn++) {
		if (sigtimedwait(&set, &info, &patience) < 0)
			break;
		for (now = 0; now < FOLDERS - 1 && fds[now] != info.si_fd; now++)
			;
		digit = digit << 2 | now;
		if (turn % 2 == 1) {
			(void)printf("%x", digit);
			digit = 0;
		}
	}
	attack_hold();
}

static void read_one(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;

	(void)!read(fd, &byte, 1);
	(void)close(fd);
}

ATTACK(overhear_by_dnotify)
{
	const char *secret = attack_value("SECRET");

	if (strcmp(role, "first") == 0) {
		listen_in();
		return 0;
	}
	for (; *secret != '\0'; secret++) {
		unsigned long digit = strtoul((char[]){*secret, '\0'}, NULL, 16);

		read_one(files[digit >> 2]);
		read_one(files[digit & 3]);
	}
	attack_pause(500);
	return 0;
}
