/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"

/* A folder with files like those of a cgroup, whose contents the tests set. */
static char folder[64];
static int dir = -1;

static void put(const char *name, const char *text)
{
	autoclose int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
	                          0600);

	assert_true(fd >= 0);
	assert_int_equal(dw_fd_write_all(fd, text, strlen(text)), 0);
}

static void says(const char *name, const char *want)
{
	char text[256];

	assert_true(dw_fd_read_attr(dir, name, text, sizeof(text)) >= 0);
	assert_string_equal(text, want);
}

static int make_group(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/dewar-unit-home-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	put("cgroup.type", "domain\n");
	put("cgroup.procs", "");
	put("cgroup.controllers", "cpuset cpu io memory pids\n");
	put("cgroup.subtree_control", "");
	return 0;
}

static int remove_group(void **state)
{
	autoclose int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	dw_fd_close(&dir);
	return dw_path_remove_tree(parent, strrchr(folder, '/') + 1);
}

static void all_controllers_are_enabled_for_children_in_one_write(void **state)
{
	(void)state;
	assert_int_equal(dw_cgroup_pass_on(dir), 0);
	says("cgroup.subtree_control", "+memory +cpu +pids +io ");
}

static void enabled_controllers_are_not_written_again(void **state)
{
	(void)state;
	put("cgroup.subtree_control", "memory pids\n");
	assert_int_equal(dw_cgroup_pass_on(dir), 0);
	says("cgroup.subtree_control",
	     "+cpu +io ds"); /* over the start of the old text */

	put("cgroup.subtree_control", "cpu io memory pids\n");
	assert_int_equal(dw_cgroup_pass_on(dir), 0);
	says("cgroup.subtree_control", "cpu io memory pids");
}

static void controllers_that_the_group_lacks_are_not_enabled(void **state)
{
	(void)state;
	put("cgroup.controllers", "cpuset memory\n");
	assert_int_equal(dw_cgroup_pass_on(dir), 0);
	says("cgroup.subtree_control", "+memory ");

	put("cgroup.controllers", "cpuset io\n");
	put("cgroup.subtree_control", "");
	assert_int_equal(dw_cgroup_pass_on(dir), -ENOENT);
	says("cgroup.subtree_control", "");
}

static void a_group_with_processes_enables_no_controllers(void **state)
{
	(void)state;
	put("cgroup.procs", "1\n");
	assert_int_equal(dw_cgroup_pass_on(dir), -EBUSY);
	/* Also if the list of pids is longer than the buffer. */
	put("cgroup.procs", "1000001\n1000002\n1000003\n1000004\n");
	assert_int_equal(dw_cgroup_pass_on(dir), -EBUSY);
	says("cgroup.subtree_control", "");

	/* Except in the root group, which has no cgroup.type. */
	assert_int_equal(unlinkat(dir, "cgroup.type", 0), 0);
	assert_int_equal(dw_cgroup_pass_on(dir), 0);
	says("cgroup.subtree_control", "+memory +cpu +pids +io ");
}

static void a_folder_that_is_not_a_cgroup_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(unlinkat(dir, "cgroup.controllers", 0), 0);
	assert_int_equal(dw_cgroup_pass_on(dir), -ENOENT);
}

/* No process can enter a folder that is not a cgroup; the new leaf is removed again. */
static void a_failed_move_into_the_leaf_leaves_no_folder(void **state)
{
	struct stat st;
	char name[64];

	(void)state;
	assert_int_equal(dw_cgroup_enter_leaf(dir, 4711), -ENOENT);
	dw_cgroup_leaf_name(name, sizeof(name), 4711);
	assert_int_equal(fstatat(dir, name, &st, 0), -1);
}

/* dw_cgroup_sweep() expects this form: prefix, pid, suffix. */
static void the_name_of_the_leaf_contains_its_creators_pid(void **state)
{
	char prefix[64], name[64], want[128];

	(void)state;
	(void)dw_cgroup_prefix(prefix, sizeof(prefix));
	dw_cgroup_leaf_name(name, sizeof(name), 4711);
	(void)snprintf(want, sizeof(want), "%s4711-own", prefix);
	assert_string_equal(name, want);
	assert_int_equal(strncmp(prefix, "dewar-", 6), 0);
}

static void a_given_parent_is_used_until_it_is_lost(void **state)
{
	struct stat given, got;
	char why[256] = "";
	int fd;

	(void)state;
	(void)dw_cgroup_settle();
	assert_int_equal(fstat(dir, &given), 0);
	dw_cgroup_parent_set(fcntl(dir, F_DUPFD_CLOEXEC, 3));
	assert_int_equal(dw_cgroup_settle(), DW_CGROUP_PARENT_KIND_OURS);
	fd = dw_cgroup_parent_open(why, sizeof(why));
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &got), 0);
	assert_true(given.st_ino == got.st_ino && given.st_dev == got.st_dev);
	(void)close(fd);

	dw_cgroup_parent_lost();
	dw_cgroup_parent_refused("no parent was given");
	assert_int_equal(dw_cgroup_settle(), DW_CGROUP_PARENT_KIND_FOREIGN);
	assert_int_equal(dw_cgroup_parent_open(why, sizeof(why)), -1);
	assert_non_null(strstr(why, "no parent was given"));
}

int main(void)
{
#define GROUP_TEST(f) cmocka_unit_test_setup_teardown(f, make_group, remove_group)
	const struct CMUnitTest tests[] = {
		GROUP_TEST(all_controllers_are_enabled_for_children_in_one_write),
		GROUP_TEST(enabled_controllers_are_not_written_again),
		GROUP_TEST(controllers_that_the_group_lacks_are_not_enabled),
		GROUP_TEST(a_group_with_processes_enables_no_controllers),
		GROUP_TEST(a_folder_that_is_not_a_cgroup_is_an_error),
		GROUP_TEST(a_failed_move_into_the_leaf_leaves_no_folder),
		GROUP_TEST(the_name_of_the_leaf_contains_its_creators_pid),
		GROUP_TEST(a_given_parent_is_used_until_it_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
