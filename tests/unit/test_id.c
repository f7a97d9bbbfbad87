/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/id.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"

/* Makes a system call fail from here on, as the seccomp filter of a container may. */
static void refuse(uint32_t nr, int eno)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)eno),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {ARRAY_SIZE(insns), insns};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		_exit(10);
}

/* Returns the exit status of fn in a child. */
static int in_child(int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int make_two_that_differ(void)
{
	char one[DW_ID_MAX], other[DW_ID_MAX];
	struct dw_error err = {0};

	if (dw_id_make(one, &err) < 0 || dw_id_make(other, &err) < 0)
		return 1;
	if (strlen(one) != DW_ID_MAX - 1 ||
	    strspn(one, "0123456789abcdef") != DW_ID_MAX - 1)
		return 2;
	return strcmp(one, other) == 0 ? 3 : 0;
}

static int without_getrandom(void)
{
	refuse(SYS_getrandom, EPERM);
	return make_two_that_differ();
}

static int on_an_old_kernel(void)
{
	refuse(SYS_getrandom, ENOSYS);
	return make_two_that_differ();
}

static int without_any_source(void)
{
	char id[DW_ID_MAX] = "left over";
	struct dw_error err = {0};
	uint64_t n = 0;

	refuse(SYS_getrandom, EPERM);
	refuse(SYS_openat, EACCES);
	if (dw_random(&n, sizeof(n)) != -EACCES)
		return 1;
	if (dw_id_make(id, &err) != -1 || id[0] != '\0')
		return 2;
	return err.code == DW_E_INTERNAL && err.sys_errno == EACCES ? 0 : 3;
}

static void ids_are_hex_digits_and_differ(void **state)
{
	(void)state;
	assert_int_equal(make_two_that_differ(), 0);
}

static void ids_differ_if_getrandom_is_refused(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_getrandom), 0);
	assert_int_equal(in_child(on_an_old_kernel), 0);
}

static void without_random_bytes_making_an_id_fails(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_any_source), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_hex_digits_and_differ),
		cmocka_unit_test(ids_differ_if_getrandom_is_refused),
		cmocka_unit_test(without_random_bytes_making_an_id_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
