/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process raises its own walls, in the order of stages 8 and 9 of dewar-launch. It has
 * already entered the namespaces, root, mounts and cgroups, and inherits most seccomp
 * filters from the zygote.
 */
#include "runners/zygote.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>

#include "seccomp_filter.h"

#define NO_ROOT                                                          \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |       \
	 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static bool take_id(uint32_t id, struct failure *f)
{
	return !failed(f, "take the cell's group", sys(__NR_setresgid, id, id, id)) &&
	       !failed(f, "take the cell's user", sys(__NR_setresuid, id, id, id));
}

static bool drop_capabilities(struct failure *f)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	long r = 0;

	if (failed(f, "set no_new_privs", sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) ||
	    failed(f, "lock the secure bits",
	           sys(__NR_prctl, PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0)))
		return false;
	/* mutant: warm-bounding-set */
	for (long cap = 0; r == 0; cap++)
		r = sys(__NR_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (r != -22 && failed(f, "empty the bounding set", r)) /* EINVAL: past the last */
		return false;
	/* mutant: warm-capabilities */
	return !failed(f, "clear ambient capabilities",
	               sys(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0,
	                   0)) &&
	       !failed(f, "drop all capabilities", sys(__NR_capset, &header, none));
}

/* Limits are lowered, never raised. */
static bool set_rlimits(const struct dw_enter *order, struct failure *f)
{
	for (uint32_t i = 0; i < order->n_rlimits; i++) {
		uint32_t resource = order->rlimits[i].resource;
		struct rlimit64 lim;

		if (failed(f, "read a limit", sys(__NR_prlimit64, 0, resource, 0, &lim)))
			return false;
		if (order->rlimits[i].value < lim.rlim_max)
			lim.rlim_max = order->rlimits[i].value;
		lim.rlim_cur = lim.rlim_max;
		if (failed(f, "set a limit", sys(__NR_prlimit64, 0, resource, &lim, 0)))
			return false;
	}
	return true;
}

static bool load_filter(const struct sock_filter *filter, size_t len, struct failure *f)
{
	struct sock_fprog prog = {
		.len = (unsigned short)len,
		.filter = (struct sock_filter *)filter,
	};

	return !failed(f, "load the seccomp filter",
	               sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog));
}

/* In the zygote: the walls that its children inherit. */
bool dw_walls_prepare(struct failure *f)
{
	/* mutant: warm-seccomp-filters */
	return !failed(f, "set no_new_privs",
	               sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) &&
	       load_filter(dw_seccomp_allow,
	                   sizeof(dw_seccomp_allow) / sizeof(*dw_seccomp_allow), f) &&
	       load_filter(dw_seccomp_args,
	                   sizeof(dw_seccomp_args) / sizeof(*dw_seccomp_args), f);
}

bool dw_walls_raise(const struct dw_enter *order, int ruleset, struct failure *f)
{
	/* mutant: warm-id */
	if (!take_id(order->id, f) || !drop_capabilities(f))
		return false;

	(void)sys(__NR_setsid);
	(void)sys(__NR_umask, 022);
	/* mutant: warm-rlimits */
	if (failed(f, "enter the working folder", sys(__NR_chdir, order->cwd)) ||
	    !set_rlimits(order, f))
		return false;
	/* mutant: warm-landlock */
	if (ruleset >= 0 && failed(f, "enter the Landlock domain",
	                           sys(__NR_landlock_restrict_self, ruleset, 0)))
		return false;
	/* Entering a user namespace made us undumpable. */
	(void)sys(__NR_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	/* mutant: warm-seccomp-last-filter */
	return load_filter(dw_seccomp_late,
	                   sizeof(dw_seccomp_late) / sizeof(*dw_seccomp_late), f);
}
