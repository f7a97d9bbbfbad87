/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUNNERS_ZYGOTE_H
#define DW_RUNNERS_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/enter.h"
#include "runners/sys.h"

/*
 * The parts of the library. All of it is hidden but what an interpreter may ask
 * for afterwards (job.c).
 */

/* Where something failed, and how; what is 0 while nothing has. */
struct failure {
	const char *what;
	long eno;
};

static inline bool failed(struct failure *f, const char *what, long r)
{
	if (r >= 0)
		return false;
	f->what = what;
	f->eno = -r;
	return true;
}

/* walls.c: raise all that a program has of its own, in the process that calls. */
bool dw_walls_raise(const struct dw_enter *order, int ruleset, struct failure *f);
bool dw_walls_prepare(struct failure *f);

/* pages.c: what a whole run touches, seen once, and touched ahead ever after. */
uint32_t dw_pages_learn(long pid);
void dw_pages_touch(void);

/* job.c: wait for it, make its files. */
bool dw_job_take(int sock, bool again, struct failure *f);

/* The job's records, one after the other; from dewar_job on. */
struct dw_record {
	uint32_t kind;
	uint32_t name_len;
	uint32_t len;
	const char *name;
	const char *data;
};
bool dw_job_next(const char **at, struct dw_record *ret);

/* job_args.c: with what the job adds. The same ones, if it adds nothing. */
char **dw_job_args(char **argv, int *argc);
char **dw_job_env(char **env);

/* open_files.c: look at what is open in the zygote; have the same in the child. */
void dw_open_files_note(void);
bool dw_open_files_reopen(struct failure *f);

/* hooks.c: is it a call of the interpreter's that will wait? */
bool dw_hooks_wait(void);

/* python.c: is it Python that loads us? Then it says when to wait. */
bool dw_python_is_here(void);

/* zygote.c: wait for orders. Returns in a child, with its job, and nowhere else. */
void dw_zygote_wait(void);
int dw_libc_fork(void);

/* A packet with descriptors; how many came is in *n_fds. */
long dw_receive(int sock, void *data, size_t len, int *fds, uint32_t max,
                uint32_t *n_fds);

/*
 * hold.S: a process beside ours, in the same cell, that shares our memory, has
 * nothing open, hears no signal and does nothing. When we end, our memory is still
 * its own: a process that waits for our end need not wait until it is freed.
 */
void dw_hold_memory(void);

/* For the runner, by its name. */
__attribute__((visibility("default"))) void dewar_wait(void);

extern __attribute__((visibility("default"))) const char *dewar_job;
extern __attribute__((visibility("default"))) uint32_t dewar_job_len;

/* text.c */
size_t dw_length(const char *text);
void dw_copy(void *to, const void *from, size_t len);
bool dw_is_same(const char *a, const char *b);
/* What comes after start, or 0 if the text does not start so. */
const char *dw_after(const char *text, const char *start);
/* "/proc/", 42, "/maps" */
void dw_name(char *ret, const char *before, long number, const char *behind);

#endif
