/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/fake_level.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

const struct fake_script *fake_script;

struct fake_cell {
	struct dw_cell cell; /* first */
	const struct fake_script *script;
	int child[3]; /* its ends of the stdio */
	int pidfd;
	pid_t pid; /* 0 once it is reaped */
	int kills;
};

static struct fake_cell *fake(struct dw_cell *cell)
{
	return (struct fake_cell *)cell;
}

int fake_kills(const struct dw_cell *cell)
{
	return ((const struct fake_cell *)cell)->kills;
}

static int fake_probe(struct dw_error *err)
{
	(void)err;
	return 0;
}

static void fake_destroy(struct dw_cell *cell)
{
	struct fake_cell *f = fake(cell);

	if (!f)
		return;
	if (f->pid > 0) {
		(void)kill(f->pid, SIGKILL);
		(void)waitpid(f->pid, NULL, 0);
	}
	dw_fd_close(&f->pidfd);
	dw_fd_close(&cell->in);
	for (int i = 0; i < 3; i++)
		dw_fd_close(&f->child[i]);
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		dw_fd_close(&cell->out[i]);
	free(f);
}

static int fake_create(const struct dw_spec *spec, struct dw_cell **ret_cell,
                       struct dw_error *err)
{
	struct fake_cell *f = calloc(1, sizeof(*f));
	int pipes[3][2];

	(void)spec;
	if (!f)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a cell");
	f->script = fake_script;
	f->pidfd = f->cell.tmp_fd = -1;
	f->cell.level = &fake_level;
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		f->cell.watch[i].fd = -1;
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			abort();
	f->child[0] = pipes[0][0];
	f->child[1] = pipes[1][1];
	f->child[2] = pipes[2][1];
	f->cell.in = pipes[0][1];
	f->cell.out[DW_STDOUT] = pipes[1][0];
	f->cell.out[DW_STDERR] = pipes[2][0];
	(void)dw_fd_nonblock(f->cell.in);
	(void)dw_fd_nonblock(f->cell.out[DW_STDOUT]);
	(void)dw_fd_nonblock(f->cell.out[DW_STDERR]);
	f->cell.outcome.run_ms = f->cell.outcome.cpu_ms = f->cell.outcome.memory_mb = -1;
	*ret_cell = &f->cell;
	return 0;
}

static void run_program(const struct fake_cell *f)
{
	for (int i = 0; i < 3; i++)
		if (dup2(f->child[i], i) < 0)
			_exit(120);
	/* Our own ends too: a process that holds both never sees the end of a pipe. */
	(void)close_range(3, ~0U, 0);
	(void)signal(SIGPIPE, SIG_DFL);
	_exit(f->script->program(f->script->user));
}

static int fake_start(struct dw_cell *cell, struct dw_error *err)
{
	struct fake_cell *f = fake(cell);
	siginfo_t info;

	f->pid = fork();
	if (f->pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "fork");
	if (f->pid == 0)
		run_program(f);
	f->pidfd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	if (f->pidfd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open a pidfd");
	for (int i = 0; i < 3 && !f->script->hold; i++)
		dw_fd_close(&f->child[i]);
	if (f->script->at_once)
		(void)waitid(P_PID, (id_t)f->pid, &info, WEXITED | WNOWAIT);
	cell->watch[0] = (struct dw_watch){f->pidfd, POLLIN};
	cell->outcome.walls.known = !f->script->never_built;
	cell->state = f->script->never_built ? DW_CELL_BUILDING : DW_CELL_RUNNING;
	return 0;
}

static void fake_on_event(struct dw_cell *cell, size_t index)
{
	struct fake_cell *f = fake(cell);

	(void)index;
	if (waitpid(f->pid, &cell->outcome.wait_status, 0) != f->pid)
		abort();
	f->pid = 0;
	cell->outcome.ended = true;
	cell->watch[0].fd = -1;
	cell->state = DW_CELL_GONE;
}

/* On return it is dead, but not reaped yet. */
static void fake_kill(struct dw_cell *cell)
{
	struct fake_cell *f = fake(cell);
	siginfo_t info;

	if (f->kills == 0 && f->script->bell)
		(void)eventfd_write(*f->script->bell, 1);
	if (++f->kills <= f->script->deaf || f->pid <= 0)
		return;
	(void)kill(f->pid, SIGKILL);
	(void)waitid(P_PID, (id_t)f->pid, &info, WEXITED | WNOWAIT);
}

static void fake_measure(struct dw_cell *cell)
{
	(void)cell;
}

const struct dw_level fake_level = {
	.name = "fake",
	.timeout_ms = 1000,
	.probe = fake_probe,
	.create = fake_create,
	.start = fake_start,
	.on_event = fake_on_event,
	.kill = fake_kill,
	.measure = fake_measure,
	.destroy = fake_destroy,
};
