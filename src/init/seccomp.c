/* SPDX-License-Identifier: Apache-2.0 */
#include "init/init.h"

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
	/* The kernel only reads the filter; its header lacks the const. */
	struct sock_fprog prog = {
		.len = (unsigned short)len,
		.filter = (struct sock_filter *)filter,
	};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
		return 0;
	if (errno == ENOSYS || errno == EINVAL)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "this kernel lacks CONFIG_SECCOMP_FILTER");
	return dw_fail(err, DW_E_INTERNAL, errno, "cannot load the seccomp filter for %s",
	               what);
}

int dw_seccomp_forbid_memfd(struct dw_error *err)
{
	/* No check of the ABI: the filter for calls kills the calls of another ABI. */
	static const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return load("files without a name", filter, ARRAY_SIZE(filter), err);
}

int dw_seccomp_load(struct dw_error *err)
{
	_Static_assert(ARRAY_SIZE(dw_seccomp_args) <= BPF_MAXINSNS, "fits the kernel");
	_Static_assert(ARRAY_SIZE(dw_seccomp_allow) <= BPF_MAXINSNS, "fits the kernel");
	_Static_assert(ARRAY_SIZE(dw_seccomp_late) <= BPF_MAXINSNS, "fits the kernel");

	/* Any order works: each of these filters allows seccomp(). */
	/* mutant: seccomp-filters */
	if (load("calls", dw_seccomp_allow, ARRAY_SIZE(dw_seccomp_allow), err) < 0 ||
	    load("arguments", dw_seccomp_args, ARRAY_SIZE(dw_seccomp_args), err) < 0)
		return -1;
	/* mutant: seccomp-last-filter */
	return load("the last", dw_seccomp_late, ARRAY_SIZE(dw_seccomp_late), err);
}
