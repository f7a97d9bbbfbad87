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
 * Run a command in the foreground: parse its options into settings that begin with *set,
 * let prepare fill in the job, and run the job. The output is printed as it arrives, or
 * the result as JSON or text at the end. Returns dewar's exit status: the program's, 125
 * if Dewar failed, or 128 plus the signal that ended dewar.
 */
struct dw_command;
typedef int dw_prepare_fn(const struct dw_command *cmd, struct dw_run_options *job,
                          const struct dw_run_settings *set,
                          const struct dw_parsed *parsed, struct dw_error *err);
int dw_foreground_command(const struct dw_command *cmd, int argc, char **argv,
                          struct dw_run_settings *set, dw_prepare_fn *prepare);

/* ---- run_output.c ---- */

/*
 * The destination of one stream of the program: dewar's stdout or stderr, whose reader
 * may be slow or gone.
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
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t more;
	char *kept;
	size_t len;
	bool ended;
	int error; /* errno of the write that failed, or 0 */
};

void dw_cli_output_init(struct dw_cli_output *sink, int fd, int broken_fd);

/* Write data, or buffer it. Never blocks. */
void dw_cli_output_put(struct dw_cli_output *sink, const void *data, size_t len);

/* Wait until all data is written. Returns 0, or -errno of the write that failed. */
int dw_cli_output_drain(struct dw_cli_output *sink);

/* ---- save_files.c ---- */

/*
 * Writes files collected from a cell. The program chose their names and content: no name
 * leads out of the folder or through a link, no file becomes executable, and an existing
 * file is replaced only if the caller gave its full name.
 */

/*
 * Open the folder, or create it in an existing parent folder. Returns a descriptor, or
 * -1.
 */
int dw_collect_open(const char *folder, struct dw_error *err);

/*
 * Write the collected files. Returns how many could not be written; a line on stderr
 * reports each.
 */
size_t dw_collect_write(int dir_fd, const struct dw_request *req,
                        const struct dw_result *res);

/* ---- warm_pool.c ---- */

/*
 * Create a pool for one run, with a standby cell, or with a zygote to fork from. If the
 * request cannot be warm, *ret_pool is NULL: the run is cold, and its result says so.
 */
int dw_warm_pool(const struct dw_run_settings *set, const struct dw_request *req,
                 struct dw_pool **ret_pool, struct dw_error *err);

#endif
