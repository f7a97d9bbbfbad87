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
 * What the attacks in C share. README.md beside this file says how they work.
 */

/* Each file has one: ATTACK(name_of_the_file) { ... return 0; } */
#define ATTACK(ident)                         \
	int attack_##ident(const char *role); \
	int attack_##ident(__attribute__((unused)) const char *role)

struct attack {
	const char *name;
	int (*run)(const char *role);
};

/* A variable that the suite sets, without its DW_: attack_value("FLAG"). */
const char *attack_value(const char *name);
long attack_number(const char *name);

/* Say that the last call was refused: "stopped: EPERM at open". Keeps errno. */
void attack_stopped(const char *step);

/* Say so with a word that is no errno. */
void attack_stopped_by(const char *word, const char *step);

/* Copy everything readable from fd to stdout, followed by a newline. */
void attack_spill(int fd);

/* Open the file and spill it; true if it could be opened. Else says stopped. */
bool attack_spill_file(const char *path);

/* A file that every cell is shown, and that no other suite on this host has. */
int attack_open_shown(void);

/*
 * A system call as an i386 program makes it, with that machine's numbers; pointers
 * must fit into 32 bits. -1 and errno if it fails, or if this machine has no such way.
 */
long attack_call_i386(long nr, long a, long b);

/*
 * We have something that should not be ours: stand still, so that the suite
 * can inspect this process from outside. Returns after some seconds.
 */
void attack_hold(void);

void attack_pause(int ms);

/* Take the name that the suite waits for, and return: the process has clients to serve. */
void attack_ready(void);

/* The process that holds, as /proc shows it; else 0, and says stopped by unseen. */
pid_t attack_find_holder(void);

#endif
