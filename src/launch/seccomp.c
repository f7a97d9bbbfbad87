/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dewar/error.h"
#include "seccomp_filter.h"

static int load(const char *what, const struct sock_filter *filter, size_t len,
                struct dw_error *err)
{
	/* The kernel copies and does not write; its header forgot the const. */
	struct sock_fprog prog = {
		.len = (unsigned short)len,
		.filter = (struct sock_filter *)filter,
	};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
		return 0;
	if (errno == ENOSYS || errno == EINVAL)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "this kernel lacks CONFIG_SECCOMP_FILTER");
	return dw_fail(err, DW_E_INTERNAL, errno, "load the seccomp filter for %s", what);
}

int dw_seccomp_load(struct dw_error *err)
{
	_Static_assert(ARRAY_SIZE(dw_seccomp_args) <= BPF_MAXINSNS, "fits the kernel");
	_Static_assert(ARRAY_SIZE(dw_seccomp_allow) <= BPF_MAXINSNS, "fits the kernel");
	_Static_assert(ARRAY_SIZE(dw_seccomp_late) <= BPF_MAXINSNS, "fits the kernel");

	/* Any order will do: each lets seccomp() through once more. */
	if (load("calls", dw_seccomp_allow, ARRAY_SIZE(dw_seccomp_allow), err) < 0 ||
	    load("arguments", dw_seccomp_args, ARRAY_SIZE(dw_seccomp_args), err) < 0)
		return -1;
	return load("the last", dw_seccomp_late, ARRAY_SIZE(dw_seccomp_late), err);
}
