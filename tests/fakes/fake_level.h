/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_FAKES_FAKE_LEVEL_H
#define DW_FAKES_FAKE_LEVEL_H

#include "levels/level.h"

/*
 * A level without walls, for tests of what is above the levels: an ordinary
 * struct dw_level whose cell is a child that runs a function of the test's, and
 * that misbehaves as the test says.
 */

struct fake_script {
	/*
	 * The program, with 0, 1 and 2 as its stdio and no other descriptor; returns
	 * its exit code. cmocka's asserts do not work in it.
	 */
	int (*program)(const void *user);
	const void *user;

	int deaf;         /* ignore this many kills */
	const int *bell;  /* an eventfd that the first of them writes to, or NULL */
	bool never_built; /* the walls are never reported */
	bool at_once;     /* it has ended before start() returns */
	bool hold;        /* another process keeps its stdio open, to the very end */
};

/* Set before create(); borrowed until destroy(). */
extern const struct fake_script *fake_script;

extern const struct dw_level fake_level;

/* How often the cell was asked to die. */
int fake_kills(const struct dw_cell *cell);

#endif
