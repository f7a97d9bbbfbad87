/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: hold more memory than its limit in files that nobody sees, since who runs
 *           a program that it may not read cannot be looked at
 * Promise:  limits
 * Options:  --memory 128M
 * Oracle:   count memfd_mb > 250
 * Stops:    oom=limit:memory
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include "attacks/attack.h"

static char room[1U << 20];

static void run_unreadable(void)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open("unreadable", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	ssize_t n;

	while ((n = read(in, room, sizeof(room))) > 0)
		(void)!write(out, room, (size_t)n);
	(void)close(out);
	(void)chmod("unreadable", 0111);
	(void)setenv("DW_UNREADABLE", "1", 1);
	(void)execl("./unreadable", "unreadable", "hide-memory-by-unreadable-program",
	            NULL);
	attack_stopped("exec");
	_exit(0);
}

static void fill(void)
{
	for (int i = 0; i < 10; i++) {
		int fd = memfd_create("hidden", 0);

		for (int mb = 0; mb < 50; mb++)
			if (write(fd, room, sizeof(room)) < 0)
				attack_stopped("write");
	}
	(void)!write(STDERR_FILENO, "f", 1);
	(void)sleep(3);
}

ATTACK(hide_memory_by_unreadable_program)
{
	int filled[2];
	char c;

	if (getenv("DW_UNREADABLE")) {
		fill();
		return 0;
	}
	if (pipe2(filled, O_CLOEXEC) < 0 || fork() == 0) {
		(void)dup2(filled[1], STDERR_FILENO);
		run_unreadable();
	}
	(void)close(filled[1]);
	if (read(filled[0], &c, 1) == 1)
		attack_hold();
	return 0;
}
