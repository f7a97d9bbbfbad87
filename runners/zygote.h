/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUNNERS_ZYGOTE_H
#define DW_RUNNERS_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runners/sys.h"
#include "wire/enter.h"

/*
 * The parts of the library. Only the symbols that a runner uses are visible.
 */

/* The first failure; what is 0 without a failure. */
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

/* walls.c: raise the walls of the calling process. */
bool dw_walls_raise(const struct dw_enter *order, int ruleset, struct failure *f);
bool dw_walls_prepare(struct failure *f);

/* pages.c: note the pages that a trial run writes, and touch them ahead of a run. */
uint32_t dw_pages_learn(long pid);
void dw_pages_touch(void);

/* job.c: wait for the job, make its files. */
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

/* job_args.c: add the job's arguments or variables. The same array if the job has none. */
char **dw_job_args(char **argv, int *argc);
char **dw_job_env(char **env);

/* open_files.c: note what is open in the zygote; open the same in the child. */
void dw_open_files_note(void);
bool dw_open_files_reopen(struct failure *f);

/* hooks.c: returns true if a call of the interpreter will wait. */
bool dw_hooks_wait(void);

/* python.c: returns true if Python loads the library; its runner says when to wait. */
bool dw_python_is_here(void);

/* zygote.c: wait for orders. Returns only in a child, with its job. */
void dw_zygote_wait(void);
int dw_libc_fork(void);

/* A packet with descriptors; how many came is in *n_fds. */
long dw_receive(int sock, void *data, size_t len, int *fds, uint32_t max,
                uint32_t *n_fds);

/*
 * hold.S: start a process in our cell that shares our memory, has nothing open, blocks
 * all signals and sleeps. When we end, our memory is still in use: init need not wait
 * until it is freed.
 */
void dw_hold_memory(void);

/* For runners. */
__attribute__((visibility("default"))) void dewar_wait(void);

extern __attribute__((visibility("default"))) const char *dewar_job;
extern __attribute__((visibility("default"))) uint32_t dewar_job_len;

/* text.c */
size_t dw_length(const char *text);
void dw_copy(void *to, const void *from, size_t len);
bool dw_is_same(const char *a, const char *b);
/* The rest of the text after start, or 0 if it does not begin with that. */
const char *dw_after(const char *text, const char *start);
/* "/proc/", 42, "/maps" */
void dw_name(char *ret, const char *before, long number, const char *behind);

#endif
