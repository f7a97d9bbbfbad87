/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_FOREGROUND_H
#define DW_CLI_FOREGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/run_options.h"
#include "dewar/pool.h"
#include "dewar/request.h"
#include "dewar/result.h"

/*
 * A command that runs something: parse its options into settings that begin with *set,
 * let prepare fill in the job, and run that in the foreground: output as it comes, or the
 * result as JSON or text at the end. Returns dewar's exit status: the program's, 125 if
 * Dewar failed, or 128 plus the signal that ended dewar.
 */
struct dw_command;
typedef int dw_prepare_fn(const struct dw_command *cmd, struct dw_run_options *job,
                          const struct dw_run_settings *set,
                          const struct dw_parsed *parsed, struct dw_error *err);
int dw_foreground_command(const struct dw_command *cmd, int argc, char **argv,
                          struct dw_run_settings *set, dw_prepare_fn *prepare);

/* ---- run_output.c ---- */

/*
 * The destination of a stream of the program: stdout or stderr, which may have no
 * reader.
 *
 * The thread that writes to a sink also enforces the run's deadline, so it must never
 * block: a full pipe would let the program outlive its deadline. Data that the reader
 * does not accept at once is buffered, and a second thread, started when first needed,
 * writes it. The run's output limit bounds the buffer.
 */
struct dw_cli_output {
	int fd;
	int broken_fd; /* an eventfd, signalled when a write to fd fails */
	char last;     /* the last byte put, or 0 */

	pthread_t thread;
	bool threaded;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t more;
	char *kept;
	size_t len;
	bool ended;
	int error; /* errno of the write that failed, or 0 */
};

void dw_cli_output_init(struct dw_cli_output *sink, int fd, int broken_fd);

/* Never blocks. */
void dw_cli_output_put(struct dw_cli_output *sink, const void *data, size_t len);

/* Wait until all is written. 0, or -errno of the write that failed. */
int dw_cli_output_drain(struct dw_cli_output *sink);

/* ---- save_files.c ---- */

/*
 * Writing files collected from a cell. The guest chooses their names and content: no
 * name leads out of the folder or through a link, nothing becomes executable, and an
 * existing file is replaced only if the caller gave its full name.
 */

/* Open the folder, or create it in an existing parent. A descriptor, or -1. */
int dw_collect_open(const char *folder, struct dw_error *err);

/* Returns how many files could not be written; each is reported in a line. */
size_t dw_collect_write(int dir_fd, const struct dw_request *req,
                        const struct dw_result *res);

/* ---- warm_pool.c ---- */

/*
 * A pool for one run: with a standby cell, or with a zygote to fork from. A request
 * that cannot be warm runs cold, and its result says so; *ret_pool is NULL then.
 */
int dw_warm_pool(const struct dw_run_settings *set, const struct dw_request *req,
                 struct dw_pool **ret_pool, struct dw_error *err);

#endif
