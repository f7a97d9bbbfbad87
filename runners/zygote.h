/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUNNERS_ZYGOTE_H
#define DW_RUNNERS_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runners/sys.h"
#include "wire/enter.h"

/*
 * The parts of the library. Its only visible symbols are those that a runner or an
 * interpreter uses.
 */

/* A failure: the step that failed, or NULL, and its errno. */
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

/* job.c: wait for the job, make its files. again: replace files that exist (trial). */
bool dw_job_take(int sock, bool again, struct failure *f);

/* dw_job_next() parses the record at *at, beginning with dewar_job, and advances *at. */
struct dw_record {
	uint32_t kind;
	uint32_t name_len;
	uint32_t len;
	const char *name;
	const char *data;
};
bool dw_job_next(const char **at, struct dw_record *ret);

/*
 * job_args.c: return the array with the job's arguments or variables added, or the same
 * array if the job has none.
 */
char **dw_job_args(char **argv, int *argc);
char **dw_job_env(char **env);

/* open_files.c: note the zygote's open files; open the same files in the child. */
void dw_open_files_note(void);
bool dw_open_files_reopen(struct failure *f);

/* hooks.c: returns true if a later call of the interpreter will wait for orders. */
bool dw_hooks_wait(void);

/* python.c: returns true if Python loads the library; its runner calls fork() to wait. */
bool dw_python_is_here(void);

/* zygote.c: wait for orders. Returns only in a child, with its job. */
void dw_zygote_wait(void);
int dw_libc_fork(void);

/* Receive a packet with descriptors; *n_fds is how many were attached. */
long dw_receive(int sock, void *data, size_t len, int *fds, uint32_t max,
                uint32_t *n_fds);

/*
 * hold.S: start the holder, a process in our cell that shares our memory, has no open
 * descriptor, blocks all signals and sleeps. When we end, our memory is still in use:
 * init need not wait until the kernel has freed it.
 */
void dw_hold_memory(void);

/* For runners: wait for the job. Then dewar_job points to its records. */
__attribute__((visibility("default"))) void dewar_wait(void);

extern __attribute__((visibility("default"))) const char *dewar_job;
extern __attribute__((visibility("default"))) uint32_t dewar_job_len;

/* text.c */
size_t dw_length(const char *text);
void dw_copy(void *to, const void *from, size_t len);
bool dw_is_same(const char *a, const char *b);
/* The rest of text behind start, or NULL if text does not begin with start. */
const char *dw_after(const char *text, const char *start);
/* "/proc/", 42 and "/maps" give "/proc/42/maps". */
void dw_name(char *ret, const char *before, long number, const char *behind);

#endif
