/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_OUTPUT_H
#define DW_CLI_OUTPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Where a stream of the program goes while it runs: one of our own descriptors,
 * that nobody may be reading.
 *
 * The thread that feeds a sink is the one that keeps the run's deadline, so it
 * must never wait for our reader: a pipe that nobody empties would let the
 * program live on past its time. What the reader does not take at once is kept,
 * and a second thread, started when first needed, waits in our stead. What is
 * kept cannot grow past the run's own cap on output.
 */
struct dw_cli_output {
	int fd;
	int broken_fd; /* an eventfd that is told when fd takes no more */
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

/* Never waits. */
void dw_cli_output_put(struct dw_cli_output *sink, const void *data, size_t len);

/* Wait until the reader has it all. 0, or -errno of the write that failed. */
int dw_cli_output_drain(struct dw_cli_output *sink);

#endif
