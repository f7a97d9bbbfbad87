/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "levels/launched.h"

void dw_cell_init(struct dw_cell *cell, const struct dw_level *level)
{
	cell->level = level;
	cell->in = cell->out[DW_STDOUT] = cell->out[DW_STDERR] = cell->tmp_fd = -1;
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		cell->watch[i].fd = -1;
	cell->outcome.run_ms = cell->outcome.cpu_ms = cell->outcome.memory_mb = -1;
}

int dw_cell_open_stdio(struct dw_cell *cell, int child[3], bool socket,
                       struct dw_error *err)
{
	int pair[2];

	if ((socket ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)
	            : pipe2(pair, O_CLOEXEC)) < 0)
		goto fail;
	child[0] = pair[0];
	cell->in = pair[1];
	for (int i = 0; i < DW_STREAM_COUNT; i++) {
		if (pipe2(pair, O_CLOEXEC) < 0)
			goto fail;
		cell->out[i] = pair[0];
		child[i + 1] = pair[1];
		(void)dw_fd_nonblock(pair[0]);
	}
	/* We poll our ends; the program's stay blocking, as programs expect. */
	(void)dw_fd_nonblock(cell->in);
	return 0;
fail:
	return dw_fail(err, DW_E_INTERNAL, errno, "cannot create pipes for the cell");
}

void dw_cell_close(struct dw_cell *cell)
{
	dw_fd_close(&cell->in);
	dw_fd_close(&cell->tmp_fd);
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		dw_fd_close(&cell->out[i]);
}

const char *dw_launched_temp_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir == '/' && strlen(dir) < 32 ? dir : "/tmp";
}

void dw_cell_folder_name(char *ret, size_t size, const char *id)
{
	(void)snprintf(ret, size, "%s/dewar-%.16s", dw_launched_temp_folder(), id);
}

void dw_cell_folder_remove(const char *folder)
{
	const char *name = strrchr(folder, '/');
	autofree char *parent = name ? strndup(folder, (size_t)(name - folder)) : NULL;
	autoclose int fd = parent ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0)
		(void)dw_path_remove_tree(fd, name + 1);
}
