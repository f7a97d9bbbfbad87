/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: tell another cell a secret by where, on a page of a file in /usr that
 *           both map, it has threads waiting (futex)
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    EFAULT=mount
 * Not promised: process=shared-files container=shared-files docker=shared-files
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "attacks/attack.h"

#define DIGITS 32
static _Atomic int waiting;

#define AT(page, i, digit) ((page) + (size_t)16 * (i) + (digit))

static void *wait_there(void *at)
{
	const struct timespec patience = {.tv_sec = 4};

	waiting++;
	(void)syscall(SYS_futex, at, FUTEX_WAIT, *(uint32_t *)at, &patience, NULL, 0);
	return NULL;
}

static void wait_everywhere(uint32_t *page, const char *secret)
{
	pthread_attr_t attr;
	pthread_t thread;
	size_t digit;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 65536);
	for (size_t i = 0; i < DIGITS; i++) {
		digit = strtoul((char[]){secret[i], '\0'}, NULL, 16);
		if (pthread_create(&thread, &attr, wait_there, AT(page, i, digit)) != 0)
			attack_stopped("pthread_create");
	}
	for (int ms = 0; ms < 1000 && waiting < DIGITS; ms++)
		attack_pause(1);
	attack_pause(200);
	attack_hold();
}

ATTACK(whisper_by_futex)
{
	int fd = attack_open_shown();
	uint32_t *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED) {
		attack_stopped("mmap");
		return 0;
	}
	if (strcmp(role, "first") == 0) {
		wait_everywhere(page, attack_value("SECRET"));
		return 0;
	}
	for (size_t i = 0; i < DIGITS; i++)
		for (size_t digit = 0; digit < 16; digit++)
			if (syscall(SYS_futex, AT(page, i, digit), FUTEX_WAKE, INT_MAX,
			            NULL, NULL, 0) > 0)
				(void)printf("%zx", digit);
	(void)puts("");
	return 0;
}
