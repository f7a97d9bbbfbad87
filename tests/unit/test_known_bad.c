/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "doctor/doctor.h"
#include "init/init.h"

#define RELEASE DW_NO_RC

static void assert_reads(const char *text, int major, int minor, int patch, int rc)
{
	struct dw_version v;

	assert_true(dw_version_read(text, &v));
	assert_int_equal(v.major, major);
	assert_int_equal(v.minor, minor);
	assert_int_equal(v.patch, patch);
	assert_int_equal(v.rc, rc);
}

static void versions_are_parsed_as_programs_print_them(void **state)
{
	(void)state;
	assert_reads("runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\ngo: go1.19.8",
	             1, 1, 5, RELEASE);
	assert_reads("runc version 1.0.0-rc93", 1, 0, 0, 93);
	assert_reads("runc version 1.0.0~rc93+ds1", 1, 0, 0, 93);
	assert_reads("runc version 1.4.0-rc.3", 1, 4, 0, 3);
	assert_reads("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", 7, 2,
	             22, RELEASE);
	assert_reads("containerd github.com/containerd/containerd v1.7.2 0cae528dd6cb55",
	             1, 7, 2, RELEASE);
	assert_reads("containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1",
	             1, 6, 20, RELEASE);
	assert_reads("6.18.44-fc-v490", 6, 18, 44, RELEASE);
	assert_reads("6.8.0-rc2+", 6, 8, 0, 2);
	assert_reads("5.10", 5, 10, 0, RELEASE);
}

static void text_without_a_version_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"runc",
		"1",
		"1.",
		".1",
		"a1.2",
		"go1.19",
		"99999999999999.1",
		"version x.y.z",
	};
	struct dw_version v;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(dw_version_read(texts[i], &v));
}

static void the_upstream_version_of_a_distributions_kernel_is_found(void **state)
{
	struct dw_version v;

	(void)state;
	assert_true(
		dw_version_of_kernel("6.1.0-13-amd64",
	                             "#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)",
	                             "", &v));
	assert_int_equal(v.patch, 55);
	assert_true(dw_version_of_kernel("5.15.0-91-generic", "#101-Ubuntu SMP",
	                                 "Ubuntu 5.15.0-91.101-generic 5.15.131", &v));
	assert_int_equal(v.patch, 131);
	assert_true(dw_version_of_kernel("6.9.3-arch1-1", "#1 SMP", "", &v));
	assert_int_equal(v.patch, 3);
	assert_false(dw_version_of_kernel("x", "y", "", &v));
}

static const struct dw_known_bad *find(const char *cve)
{
	size_t n;
	const struct dw_known_bad *table = dw_known_bad_table(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].cve, cve) == 0)
			return &table[i];
	fail_msg("no %s", cve);
	return NULL;
}

static void a_version_is_vulnerable_until_its_branch_is_fixed(void **state)
{
	static const struct {
		const char *cve, *version;
		bool has;
	} cases[] = {
		{"CVE-2022-0847", "5.7.19", false},
		{"CVE-2022-0847", "5.8", true},
		{"CVE-2022-0847", "5.10.101", true},
		{"CVE-2022-0847", "5.10.102", false},
		{"CVE-2022-0847", "5.14.21", true},
		{"CVE-2022-0847", "5.16.11", false},
		{"CVE-2022-0847", "5.17", false},
		{"CVE-2024-1086", "6.5.13", true},
		{"CVE-2024-1086", "6.6.15", false},
		{"CVE-2024-1086", "6.8", false},
		{"CVE-2024-1086", "3.14", false},
		{"CVE-2019-5736", "1.0.0-rc6", true},
		{"CVE-2019-5736", "1.0.0-rc7", false},
		{"CVE-2019-5736", "0.1.1", true},
		{"CVE-2019-5736", "1.0.0", false},
		{"CVE-2024-21626", "1.0.0-rc92", false},
		{"CVE-2024-21626", "1.1.11", true},
		{"CVE-2024-21626", "1.1.12", false},
		{"CVE-2025-31133", "1.1.15", true},
		{"CVE-2025-31133", "1.3.3", false},
		{"CVE-2025-31133", "1.4.0", false},
		{"CVE-2020-14364", "5.1.0", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dw_version v;

		assert_true(dw_version_read(cases[i].version, &v));
		if (dw_known_bad_has(find(cases[i].cve), &v) != cases[i].has)
			fail_msg("%s in %s", cases[i].cve, cases[i].version);
	}
}

static void every_entry_is_complete(void **state)
{
	size_t n;
	const struct dw_known_bad *table = dw_known_bad_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct dw_version before = {0}, v;

		assert_int_equal(strncmp(table[i].cve, "CVE-", 4), 0);
		assert_non_null(table[i].what);
		assert_non_null(table[i].fixed[0]);
		assert_true(!table[i].calls[0] || table[i].wall);
		for (size_t k = 0; k < DW_FIXED_MAX && table[i].fixed[k]; k++) {
			assert_true(dw_version_read(table[i].fixed[k], &v));
			assert_true(dw_version_compare(&before, &v) < 0);
			assert_false(dw_known_bad_has(&table[i], &v));
			before = v;
		}
	}
}

/* ---- the table agrees with the seccomp filter ---- */

static const struct {
	const char *name;
	long nr;
} numbers[] = {
	{"unshare", SYS_unshare},
	{"mount", SYS_mount},
	{"fsopen", SYS_fsopen},
	{"fsconfig", SYS_fsconfig},
	{"io_uring_setup", SYS_io_uring_setup},
	{"io_uring_enter", SYS_io_uring_enter},
	{"io_uring_register", SYS_io_uring_register},
};

/* The arguments are invalid for the kernel, but the filter does not look at them. */
static int answer(long nr, bool walled)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (walled)
			assert(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
			       dw_seccomp_load(NULL) == 0);
		_exit(syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L) < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void the_filter_refuses_the_calls_that_the_table_names(void **state)
{
	size_t n, tried = 0;
	const struct dw_known_bad *table = dw_known_bad_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < DW_CALLS_MAX && table[i].calls[k]; k++) {
			size_t at = 0;
			int walled, open;

			while (at < ARRAY_SIZE(numbers) &&
			       strcmp(numbers[at].name, table[i].calls[k]) != 0)
				at++;
			if (at == ARRAY_SIZE(numbers))
				fail_msg("no number for the system call %s",
				         table[i].calls[k]);
			walled = answer(numbers[at].nr, true);
			open = answer(numbers[at].nr, false);
			if (walled != EPERM && walled != ENOSYS)
				fail_msg("%s: %d", table[i].calls[k], walled);
			/* For root, a kernel with the call returns another error than the filter. */
			if (geteuid() == 0 && open != ENOSYS && open != EPERM)
				assert_int_not_equal(walled, open);
			tried++;
		}
	assert_true(tried > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_parsed_as_programs_print_them),
		cmocka_unit_test(text_without_a_version_is_refused),
		cmocka_unit_test(the_upstream_version_of_a_distributions_kernel_is_found),
		cmocka_unit_test(a_version_is_vulnerable_until_its_branch_is_fixed),
		cmocka_unit_test(every_entry_is_complete),
		cmocka_unit_test(the_filter_refuses_the_calls_that_the_table_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
