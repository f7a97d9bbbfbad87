/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with a nameless file of a process that no process
 *           may inspect, since its program is a file that no user may read
 * Promise:  limits
 * Options:  --memory 64M --tmp 512M
 * Oracle:   count memfd_mb > 128
 * Stops:    oom=limit:memory ENOMEM=limit:memory SIGKILL=limit:memory
 * Because:  in the end the file is handed to a process that can be looked into, so
 *           that it can be counted from outside. --tmp is large since at level
 *           process it holds every file. Where the kernel ends only one of them,
 *           its parent says SIGKILL
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "attacks/attack.h"

#define STEP ((size_t)1 << 20)
#define STEPS 200
#define LINE 7 /* the descriptor of the socket between the two processes */

static char data[STEP];

/* Send a descriptor, or receive one if fd is -1; returns it, or -1. */
static int pass(int fd)
{
	char byte = 0;
	struct iovec iov = {&byte, 1};
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.h = {.cmsg_len = CMSG_LEN(sizeof(int)),
	                   .cmsg_level = SOL_SOCKET,
	                   .cmsg_type = SCM_RIGHTS}};
	struct msghdr msg = {.msg_iov = &iov,
	                     .msg_iovlen = 1,
	                     .msg_control = &control,
	                     .msg_controllen = sizeof(control)};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
		return sendmsg(LINE, &msg, 0) < 0 ? -1 : fd;
	}
	if (recvmsg(LINE, &msg, 0) <= 0 || msg.msg_controllen == 0)
		return -1;
	memcpy(&fd, CMSG_DATA(&control.h), sizeof(fd));
	return fd;
}

static void fill(void)
{
	int fd = memfd_create("mine", MFD_CLOEXEC);

	for (int i = 0; i < STEPS; i++) {
		if (write(fd, data, sizeof(data)) < 0) {
			attack_stopped("write");
			return;
		}
		attack_pause(1);
	}
	attack_pause(300);
	(void)pass(fd);
	attack_pause(4000);
}

static void start_unreadable_copy(void)
{
	static char name[] = "hide-a-memfd";
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open("copy", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	char *argv[] = {name, name, NULL};
	ssize_t n;

	while ((n = read(from, data, sizeof(data))) > 0)
		(void)!write(to, data, (size_t)n);
	(void)fchmod(to, 0111);
	(void)close(to);
	(void)setenv("DW_ROLE", "copy", 1);
	(void)execv("copy", argv);
	attack_stopped("execv");
	_exit(1);
}

ATTACK(hide_a_memfd)
{
	int line[2];

	if (strcmp(role, "copy") == 0) {
		fill();
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) < 0) {
		attack_stopped("socketpair");
		return 0;
	}
	if (fork() == 0) {
		(void)dup2(line[1], LINE);
		start_unreadable_copy();
	}
	(void)dup2(line[0], LINE);
	(void)close(line[0]);
	(void)close(line[1]);
	if (pass(-1) < 0)
		attack_stopped_by("SIGKILL", "recvmsg");
	else
		attack_hold();
	return 0;
}
