/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_RUN_OUTPUT_H
#define DW_CLI_RUN_OUTPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

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

#endif
