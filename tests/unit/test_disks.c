/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

static void whole_disks_are_found_once(void **state)
{
	struct dw_disks disks;
	char path[64];

	(void)state;
	assert_int_equal(dw_disks_find(&disks), 0);
	for (size_t i = 0; i < disks.n; i++) {
		(void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition",
		               major(disks.list[i]), minor(disks.list[i]));
		assert_int_not_equal(access(path, F_OK), 0);
		for (size_t k = 0; k < i; k++)
			assert_true(disks.list[i] != disks.list[k]);
	}
}

static void a_tmpfs_needs_no_disk(void **state)
{
	struct dw_disks none = {0};
	char kind[32];

	(void)state;
	assert_true(dw_disks_hold(&none, "/dev/shm", kind, sizeof(kind)));
}

static void the_kind_of_a_path_without_a_disk_is_reported(void **state)
{
	struct dw_disks disks;
	char kind[32];

	(void)state;
	assert_int_equal(dw_disks_find(&disks), 0);
	assert_false(dw_disks_hold(&disks, "/proc", kind, sizeof(kind)));
	assert_string_equal(kind, "proc");
	assert_false(dw_disks_hold(&disks, "/no/such/path", kind, sizeof(kind)));
	assert_string_equal(kind, "unknown");
}

static void a_disk_that_is_not_in_the_list_does_not_match(void **state)
{
	struct dw_disks disks, none = {0};
	struct stat st;
	char kind[32];

	(void)state;
	assert_int_equal(dw_disks_find(&disks), 0);
	assert_int_equal(stat("/usr", &st), 0);
	if (major(st.st_dev) == 0)
		skip(); /* an overlay or a tmpfs */
	assert_true(dw_disks_hold(&disks, "/usr", kind, sizeof(kind)));
	assert_false(dw_disks_hold(&none, "/usr", kind, sizeof(kind)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_disks_are_found_once),
		cmocka_unit_test(a_tmpfs_needs_no_disk),
		cmocka_unit_test(the_kind_of_a_path_without_a_disk_is_reported),
		cmocka_unit_test(a_disk_that_is_not_in_the_list_does_not_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
