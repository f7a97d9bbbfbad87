/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "init/init.h"
#include "wire/enter.h"

struct dw_walls dw_program_walls;

/* Limits are lowered, never raised. */
static int set_rlimits(const struct dw_plan *plan, struct dw_error *err)
{
	struct rlimit lim;

	for (uint32_t i = 0; i < plan->h->n_rlimits; i++) {
		const struct dw_plan_rlimit *want = &plan->h->rlimits[i];

		if (getrlimit((int)want->resource, &lim) < 0)
			return dw_fail(err, DW_E_INTERNAL, errno, "cannot read rlimit %u",
			               want->resource);
		/* gVisor refuses to set some limits, even to their current value. */
		if (lim.rlim_cur == lim.rlim_max && lim.rlim_max <= want->value)
			continue;
		if (want->value < lim.rlim_max)
			lim.rlim_max = want->value;
		lim.rlim_cur = lim.rlim_max;
		if (setrlimit((int)want->resource, &lim) < 0)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "cannot set rlimit %u to %llu", want->resource,
			               (unsigned long long)lim.rlim_max);
	}
	return 0;
}

/*
 * Stage 9.
 *
 * On entry:  inside the cell's tree, no capabilities, no_new_privs.
 * Leaves:    Landlock and the seccomp filter in force; the filter last, since it
 *            forbids what the stages before it do.
 */
int dw_program_raise_walls(const struct dw_plan *plan, int *ret_abi, struct dw_error *err)
{
	uint32_t flags = plan->h->flags;
	const char *cwd = dw_plan_text(plan, plan->h->cwd);
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
	(void)umask(022);
	/*
	 * Init sleeps until we exec. It may wake up on any core; we stay on this one
	 * until init lets us use all.
	 */
	(void)sched_setaffinity(getppid(), sizeof(plan->h->cpus), &plan->h->cpus);
	if (*cwd != '\0' && chdir(cwd) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot enter %s in the cell",
		               cwd);
	/* mutant: rlimits */
	if (set_rlimits(plan, err) < 0)
		return -1;
	/* mutant: landlock */
	if ((flags & DW_PLAN_LANDLOCK) && dw_landlock_apply(plan, ret_abi, err) < 0)
		return -1;
	if ((flags & DW_PLAN_COMMANDS) && dw_seccomp_forbid_memfd(err) < 0)
		return -1;
	/* mutant: seccomp */
	if ((flags & DW_PLAN_SECCOMP) && dw_seccomp_load(err) < 0)
		return -1;
	return 0;
}

_Noreturn void dw_program_start(const struct dw_plan *plan, int job)
{
	static char *argv[DW_PLAN_WORDS_MAX + 1], *env[DW_PLAN_WORDS_MAX + 1];
	struct dw_error err = {0};
	int abi = 0, r;

	for (uint32_t i = 0; i < plan->h->n_argv; i++)
		argv[i] = (char *)dw_plan_text(plan, plan->argv[i]);
	for (uint32_t i = 0; i < plan->h->n_env; i++)
		env[i] = (char *)dw_plan_text(plan, plan->env[i]);

	if (dw_program_raise_walls(plan, &abi, &err) < 0)
		dw_init_die(&err);

	dw_readback_own(0, abi, &dw_program_walls);
	if ((plan->h->flags & DW_PLAN_COMMANDS) &&
	    dw_readback_commands(plan, &dw_program_walls, &err) < 0) {
		dw_program_walls.known = false;
		dw_init_die(&err);
	}
	if (plan->h->flags & DW_PLAN_PROBE)
		_exit(0);

	/* All descriptors but 0, 1 and 2 are close-on-exec already; make sure. */
	/* mutant: close-on-exec */
	r = dw_fd_cloexec_from(3);
	if (r < 0) {
		dw_program_walls.known = false;
		(void)dw_fail(&err, DW_E_UNSUPPORTED, -r,
		              "cannot close dewar's descriptors to the program (Linux "
		              "5.11 or newer is needed, or a /proc)");
		dw_init_die(&err);
	}
	if (plan->h->flags & DW_PLAN_JOB)
		(void)dup3(job, DW_JOB_FD, 0);
	(void)execve(argv[0], argv, env);
	dw_program_walls.known = false;
	(void)dw_fail(&err, errno == ENOENT ? DW_E_NOT_FOUND : DW_E_INTERNAL, errno,
	              "cannot start %s in the cell", argv[0]);
	dw_init_die(&err);
}
