/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACKS_ATTACK_H
#define ATTACKS_ATTACK_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Functions that the attacks in C share. README.md in this folder describes how attacks
 * work.
 */

/* Each file defines one attack: ATTACK(name_of_the_file) { ... return 0; } */
#define ATTACK(ident)                         \
	int attack_##ident(const char *role); \
	int attack_##ident(__attribute__((unused)) const char *role)

struct attack {
	const char *name;
	int (*run)(const char *role);
};

/*
 * Returns the value of a variable that the suite sets, named without its DW_:
 * attack_value("FLAG"). Exits if the variable is not set.
 */
const char *attack_value(const char *name);
long attack_number(const char *name);

/* Print that the last call was refused: "stopped: EPERM at open". Keeps errno. */
void attack_stopped(const char *step);

/* The same with a word that is not the name of an errno. */
void attack_stopped_by(const char *word, const char *step);

/* Copy everything readable from fd to stdout, followed by a newline. */
void attack_spill(int fd);

/* Copy the file to stdout. Returns true if it could be opened; else prints why not. */
bool attack_spill_file(const char *path);

/* Open a file that every cell sees, and that no other suite on this host uses. */
int attack_open_shown(void);

/*
 * Make a system call as an i386 program does, with i386's numbers; pointers must fit into
 * 32 bits. Returns -1 with errno if it fails, or if this machine has no such calls.
 */
long attack_call_i386(long nr, long a, long b);

/*
 * Called when the attack holds something that it should not have: wait, so that the suite
 * can inspect this process from outside. Returns after a minute, if the suite has not
 * ended the process before.
 */
void attack_hold(void);

void attack_pause(int ms);

/* Take the name that the suite waits for, and return: the process has work to do. */
void attack_ready(void);

/*
 * Returns the pid of the process that holds, as /proc shows it. If there is no such
 * process, prints that it was stopped by "unseen", and returns 0.
 */
pid_t attack_find_holder(void);

#endif
