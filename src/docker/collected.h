/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_COLLECTED_H
#define DW_DOCKER_COLLECTED_H

#include <stddef.h>
#include <stdint.h>

/*
 * Files that come out of a container, written into a folder of ours for dewar to
 * look at as it looks at any cell's /tmp. Whoever sends them is taken for hostile:
 * a name must be plain, and nothing but regular files is ever made, below the
 * folder, with ceilings on their number and bytes.
 */
struct dw_collected {
	const char *folder; /* made when the first file comes; NULL: none may */
	int dir_fd;         /* of it, or -1 */
	int fd;             /* of the file that is being written, or -1 */
	uint64_t left;
	uint64_t bytes;
	unsigned files;
};

void dw_collected_open(struct dw_collected *c, const char *folder);
void dw_collected_close(struct dw_collected *c);

/* 0, or -EPROTO if an honest guest would never send this, or -errno. */
int dw_collected_file(struct dw_collected *c, const char *payload, size_t len);
int dw_collected_data(struct dw_collected *c, const char *payload, size_t len);

#endif
