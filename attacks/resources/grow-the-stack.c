/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with its stack
 * Promise:  limits
 * Options:  --memory 32M
 * Oracle:   count memory_mb > 64
 * Stops:    oom=limit:memory
 */
#include <alloca.h>
#include <sys/resource.h>

#include "attacks/attack.h"

#define STEP ((size_t)1 << 20)
#define STEPS 96

/* The pages stay allocated after the function returns. */
static void reach_down(int step)
{
	volatile char *memory = alloca(STEP);

	for (size_t i = 0; i < STEP; i += 4096)
		memory[i] = 1;
	attack_pause(1);
	if (step < STEPS)
		reach_down(step + 1); /* NOLINT(misc-no-recursion): as deep as STEPS */
	memory[0] = 2;
}

ATTACK(grow_the_stack)
{
	struct rlimit lim = {0};

	(void)getrlimit(RLIMIT_STACK, &lim);
	lim.rlim_cur = lim.rlim_max;
	(void)setrlimit(RLIMIT_STACK, &lim);
	reach_down(0);
	attack_pause(300);
	attack_hold();
	return 0;
}
