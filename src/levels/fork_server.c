/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/fork_server.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "levels/scope.h"
#include "levels/spawn.h"
#include "wire/report.h"

int dw_fork_server_start(struct dw_fork_server *s, struct dw_error *err)
{
	int pair[2], r;

	dw_cgroup_scope_settle(); /* a child of ours would be in its way */
	*s = (struct dw_fork_server){.sock = -1};
	(void)pthread_mutex_init(&s->lock, NULL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make a socket for a launcher");
	r = dw_spawn_server(pair[1], &s->pid, err);
	(void)close(pair[1]);
	if (r < 0)
		(void)close(pair[0]);
	else
		s->sock = pair[0];
	return r;
}

void dw_fork_server_stop(struct dw_fork_server *s)
{
	dw_fd_close(&s->sock); /* it ends by itself */
	if (s->pid > 0)
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	(void)pthread_mutex_destroy(&s->lock);
}

int dw_fork_server_fork(struct dw_fork_server *s, const int fds[DW_LAUNCH_FD + 1],
                        int cgroup, int *ret_pid, cpu_set_t *ret_cpus)
{
	int all[DW_LAUNCH_FD + 2] = {fds[0], fds[1], fds[2], fds[DW_LAUNCH_FD], cgroup};
	int count = DW_LAUNCH_FD + 1 + (cgroup >= 0);
	int64_t pid = -1;
	ssize_t n = -1;

	if (sched_getaffinity(0, sizeof(*ret_cpus), ret_cpus) < 0)
		return -1;
	pthread_mutex_lock(&s->lock);
	if (s->sock >= 0 && dw_report_send_fds(s->sock, all, count) == 0)
		do
			n = recv(s->sock, &pid, sizeof(pid), 0);
		while (n < 0 && errno == EINTR);
	if (n != sizeof(pid))
		dw_fd_close(&s->sock); /* it is gone: nobody asks it again */
	pthread_mutex_unlock(&s->lock);
	if (n != sizeof(pid) || pid <= 0)
		return -1;
	*ret_pid = (int)pid;
	return 0;
}
