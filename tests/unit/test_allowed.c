/* SPDX-License-Identifier: Apache-2.0 */
/* Which files allowed_commands resolves to, in a root file system made by the tests. */
#include "levels/allowed_set.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

static char root[64];

static void make(const char *path, const char *text)
{
	char full[256];
	autoclose int fd = -1;

	(void)snprintf(full, sizeof(full), "%s%s", root, path);
	fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(dw_fd_write_all(fd, text, strlen(text)), 0);
}

static void make_link(const char *target, const char *path)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(symlink(target, full), 0);
}

static void make_hard_link(const char *target, const char *path)
{
	char from[256], to[256];

	(void)snprintf(from, sizeof(from), "%s%s", root, target);
	(void)snprintf(to, sizeof(to), "%s%s", root, path);
	assert_int_equal(link(from, to), 0);
}

static int make_root(void **state)
{
	static const char *const folders[] = {"",         "/usr", "/usr/bin",
	                                      "/usr/lib", "/etc", "/opt"};
	char full[128];

	(void)state;
	(void)strcpy(root, "/tmp/dewar-test-XXXXXX");
	assert_non_null(mkdtemp(root));
	for (size_t i = 1; i < ARRAY_SIZE(folders); i++) {
		(void)snprintf(full, sizeof(full), "%s%s", root, folders[i]);
		assert_int_equal(mkdir(full, 0755), 0);
	}
	make_link("usr/bin", "/bin");
	make("/usr/bin/mawk", "plain");
	make_link("/etc/awk", "/usr/bin/awk");
	make_link("/usr/bin/mawk", "/etc/awk");
	make("/usr/bin/env", "plain");
	make("/usr/bin/python3.11", "plain");
	make_link("python3.11", "/usr/bin/python3");
	make("/usr/bin/tool", "#! /bin/env -S A=1 python3 -u\nprint(1)\n");
	make("/usr/bin/loop", "#!/bin/loop\n");
	make("/usr/bin/out", "#!/../../../../../../../etc/passwd\n");
	make("/opt/java", "plain");
	make_link("/opt/java", "/usr/bin/java");
	make("/usr/bin/relative", "#!python3\n");
	make("/usr/bin/short", "#!");
	make("/usr/bin/folder", "#!/usr\n");
	make("/usr/bin/busybox", "plain");
	make_link("busybox", "/usr/bin/by-link");
	make_hard_link("/usr/bin/busybox", "/usr/bin/by-inode");
	make("/usr/bin/by-line", "#!/bin/busybox sh\n");
	return 0;
}

static int remove_root(void **state)
{
	autoclose int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(dw_path_remove_tree(tmp, root + strlen("/tmp/")), 0);
	return 0;
}

static bool has_file(const struct dw_allowed_set *set, const char *path)
{
	for (size_t i = 0; i < set->n_files; i++)
		if (strcmp(set->files[i], path) == 0)
			return true;
	return false;
}

static bool has_name(const struct dw_allowed_set *set, const char *path, const char *file)
{
	for (size_t i = 0; i < set->n_names; i++)
		if (strcmp(set->names[i].path, path) == 0 &&
		    strcmp(set->files[set->names[i].file], file) == 0)
			return true;
	return false;
}

static struct dw_allowed_set *with(const char *name)
{
	struct dw_error err = {0};
	struct dw_allowed_set *set = dw_allowed_set_new(root, &err);

	assert_non_null(set);
	assert_int_equal(dw_allowed_set_add(set, name, &err), 0);
	return set;
}

static void a_link_is_resolved_to_its_target_file(void **state)
{
	struct dw_allowed_set *set = with("awk");

	(void)state;
	assert_int_equal(set->n_files, 1);
	assert_true(has_file(set, "/usr/bin/mawk"));
	assert_int_equal(set->n_names, 1);
	assert_true(has_name(set, "/usr/bin/awk", "/usr/bin/mawk"));
	dw_allowed_set_free(set);

	set = with("java");
	assert_true(has_file(set, "/opt/java"));
	assert_true(has_name(set, "/usr/bin/java", "/opt/java"));
	dw_allowed_set_free(set);
}

static void a_script_adds_its_interpreter(void **state)
{
	struct dw_allowed_set *set = with("tool");

	(void)state;
	assert_int_equal(set->n_files, 3);
	assert_true(has_file(set, "/usr/bin/tool"));
	assert_true(has_file(set, "/usr/bin/env"));
	assert_true(has_file(set, "/usr/bin/python3.11"));
	/* Links in the folder part are resolved: /bin/python3 is listed below /usr/bin. */
	assert_int_equal(set->n_names, 1);
	assert_true(has_name(set, "/usr/bin/python3", "/usr/bin/python3.11"));
	dw_allowed_set_free(set);
}

static void an_invalid_interpreter_line_adds_no_file(void **state)
{
	static const char *const alone[] = {"loop", "out", "relative", "short", "folder"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++) {
		struct dw_allowed_set *set = with(alone[i]);

		assert_int_equal(set->n_files, 1);
		assert_int_equal(set->n_names, 0);
		dw_allowed_set_free(set);
	}
}

static void a_multi_call_binary_is_accepted_only_by_its_own_name(void **state)
{
	static const char *const hidden[] = {"by-link", "by-inode", "by-line"};
	struct dw_allowed_set *set = with(
		"busybox"); /* its own name permits all of its programs */

	(void)state;
	assert_int_equal(set->n_files, 1);
	dw_allowed_set_free(set);
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		struct dw_error err = {0};

		set = dw_allowed_set_new(root, &err);
		assert_non_null(set);
		assert_int_equal(dw_allowed_set_add(set, hidden[i], &err), -1);
		assert_int_equal(err.code, DW_E_UNSUPPORTED);
		assert_non_null(strstr(err.text, "many programs"));
		dw_allowed_set_free(set);
	}
}

static void a_missing_program_adds_no_file(void **state)
{
	struct dw_allowed_set *set = with("missing");
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(set->n_files, 0);
	dw_allowed_set_free(set);
	assert_null(dw_allowed_set_new("/no/such/image", &err));
	assert_int_equal(err.code, DW_E_NOT_FOUND);
}

static void a_program_of_the_host_adds_its_dynamic_loader(void **state)
{
	struct dw_error err = {0};
	struct dw_allowed_set *set = dw_allowed_set_new(NULL, &err);

	(void)state;
	assert_non_null(set);
	assert_int_equal(dw_allowed_set_add(set, "cat", &err), 0);
	assert_int_equal(set->n_files, 2);
	assert_true(has_file(set, "/usr/bin/cat") || has_file(set, "/bin/cat"));
	assert_non_null(strstr(set->files[1], "/ld-"));
	assert_int_equal(dw_allowed_set_add(set, "cat", &err), 0);
	assert_int_equal(set->n_files, 2);
	dw_allowed_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_resolved_to_its_target_file),
		cmocka_unit_test(a_script_adds_its_interpreter),
		cmocka_unit_test(an_invalid_interpreter_line_adds_no_file),
		cmocka_unit_test(a_multi_call_binary_is_accepted_only_by_its_own_name),
		cmocka_unit_test(a_missing_program_adds_no_file),
		cmocka_unit_test(a_program_of_the_host_adds_its_dynamic_loader),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
