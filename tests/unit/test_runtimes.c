/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "languages/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "dewar/dewar.h"

/* ---- the table ---- */

static size_t n_table;
static const struct dw_runtime *table;

static int load_table(void **state)
{
	(void)state;
	table = dw_runtime_table(&n_table);
	return table ? 0 : -1;
}

static void every_promised_language_is_in_the_table(void **state)
{
	static const char *const names[] = {
		"python", "javascript", "typescript", "ruby", "php",    "perl",
		"lua",    "r",          "bash",       "sh",   "zsh",    "c",
		"c++",    "go",         "rust",       "java", "binary",
	};

	(void)state;
	assert_int_equal(n_table, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_non_null(dw_runtime_find(names[i]));
		assert_string_equal(dw_runtime_find(names[i])->name, names[i]);
	}
}

static void every_entry_has_what_a_run_needs(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		const struct dw_runtime *rt = &table[i];

		assert_non_null(rt->file);
		assert_true(dw_path_is_plain(rt->file));
		assert_null(strchr(rt->file, '/'));
		assert_non_null(rt->command[0]);
		assert_non_null(rt->package);
		assert_true(rt->package[0] != '\0');
		/* Only `binary` needs no interpreter, and has no extension. */
		assert_true(rt->executable || rt->needs[0]);
		assert_true(rt->executable || rt->extensions[0]);
	}
}

/* A list that fills its array would have no NULL at its end. */
static void every_list_ends_in_null(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		const struct dw_runtime *rt = &table[i];

		assert_null(rt->aliases[ARRAY_SIZE(rt->aliases) - 1]);
		assert_null(rt->extensions[ARRAY_SIZE(rt->extensions) - 1]);
		assert_null(rt->shebangs[ARRAY_SIZE(rt->shebangs) - 1]);
		assert_null(rt->command[ARRAY_SIZE(rt->command) - 1]);
		assert_null(rt->needs[ARRAY_SIZE(rt->needs) - 1]);
		assert_null(rt->version[ARRAY_SIZE(rt->version) - 1]);
		assert_null(rt->env[ARRAY_SIZE(rt->env) - 1]);
	}
}

static void every_command_names_the_code_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		size_t files = 0;

		for (size_t k = 0; table[i].command[k]; k++)
			files += strcmp(table[i].command[k], "%f") == 0;
		assert_int_equal(files, 1);
	}
}

static void every_variable_has_a_name_and_a_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		for (size_t k = 0; table[i].env[k]; k++) {
			const char *equals = strchr(table[i].env[k], '=');

			assert_non_null(equals);
			assert_true(equals > table[i].env[k]);
			assert_true(equals[1] != '\0');
		}
	}
}

static size_t count_name(const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < n_table; i++) {
		found += strcasecmp(table[i].name, name) == 0;
		for (size_t k = 0; table[i].aliases[k]; k++)
			found += strcasecmp(table[i].aliases[k], name) == 0;
	}
	return found;
}

static size_t count_extension(const char *extension)
{
	size_t found = 0;

	for (size_t i = 0; i < n_table; i++)
		for (size_t k = 0; table[i].extensions[k]; k++)
			found += strcmp(table[i].extensions[k], extension) == 0;
	return found;
}

static size_t count_shebang(const char *program)
{
	size_t found = 0;

	for (size_t i = 0; i < n_table; i++)
		for (size_t k = 0; table[i].shebangs[k]; k++)
			found += strcmp(table[i].shebangs[k], program) == 0;
	return found;
}

static void every_name_is_of_one_language(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		assert_int_equal(count_name(table[i].name), 1);
		for (size_t k = 0; table[i].aliases[k]; k++)
			assert_int_equal(count_name(table[i].aliases[k]), 1);
	}
}

static void every_extension_is_of_one_language(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		for (size_t k = 0; table[i].extensions[k]; k++) {
			assert_true(table[i].extensions[k][0] == '.');
			assert_int_equal(count_extension(table[i].extensions[k]), 1);
		}
	}
}

/* Versions are removed before the comparison, so the table must not contain any. */
static void every_shebang_is_of_one_language_and_without_a_version(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		for (size_t k = 0; table[i].shebangs[k]; k++) {
			const char *name = table[i].shebangs[k];

			assert_int_equal(count_shebang(name), 1);
			assert_false(isdigit((unsigned char)name[strlen(name) - 1]));
		}
	}
}

static void a_code_file_has_an_extension_of_its_language(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_table; i++)
		if (!table[i].executable)
			assert_string_equal(dw_language_of_file(table[i].file, "", 0),
			                    table[i].name);
}

static void names_and_aliases_are_found_in_any_case(void **state)
{
	(void)state;
	assert_string_equal(dw_runtime_find("Python")->name, "python");
	assert_string_equal(dw_runtime_find("PY")->name, "python");
	assert_string_equal(dw_runtime_find("NodeJS")->name, "javascript");
	assert_string_equal(dw_runtime_find("TS")->name, "typescript");
	assert_string_equal(dw_runtime_find("R")->name, "r");
	assert_string_equal(dw_runtime_find("CPP")->name, "c++");
	assert_string_equal(dw_runtime_find("C")->name, "c");
}

static void an_unknown_language_is_not_found(void **state)
{
	(void)state;
	assert_null(dw_runtime_find(NULL));
	assert_null(dw_runtime_find(""));
	assert_null(dw_runtime_find("cobol"));
	assert_null(dw_runtime_find("pytho"));
	assert_null(dw_runtime_find("python "));
	assert_null(dw_runtime_find("../python"));
}

/* ---- locating, in a made-up root ---- */

struct fixture {
	char path[64];
	int fd;
};

static void add_folder(const struct fixture *f, const char *path)
{
	assert_int_equal(mkdirat(f->fd, path, 0755), 0);
}

static void add_file(const struct fixture *f, const char *path, mode_t mode)
{
	autoclose int fd = openat(f->fd, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
	                          mode);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void add_link(const struct fixture *f, const char *path, const char *target)
{
	assert_int_equal(symlinkat(target, f->fd, path), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	(void)strcpy(f->path, "/tmp/dewar-runtimes-XXXXXX");
	if (!mkdtemp(f->path))
		return -1;
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0)
		return -1;
	add_folder(f, "usr");
	add_folder(f, "usr/bin");
	add_folder(f, "usr/local");
	add_folder(f, "usr/local/bin");
	add_folder(f, "etc");
	add_folder(f, "etc/alternatives");
	add_link(f, "bin", "usr/bin");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	autoclose int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = dw_path_remove_tree(tmp, strrchr(f->path, '/') + 1);

	(void)close(f->fd);
	free(f);
	return r;
}

static int locate(const struct fixture *f, const char *program, char *ret, size_t size)
{
	return dw_runtime_locate(f->fd, DW_RUNTIME_PATH, program, ret, size);
}

static void a_plain_program_is_located(void **state)
{
	char path[256] = "";

	add_file(*state, "usr/bin/python3", 0755);
	assert_int_equal(locate(*state, "python3", path, sizeof(path)), 0);
	assert_string_equal(path, "/usr/bin/python3");
}

static void the_first_folder_of_the_path_wins(void **state)
{
	char path[256] = "";

	add_file(*state, "usr/bin/python3", 0755);
	add_file(*state, "usr/local/bin/python3", 0755);
	assert_int_equal(locate(*state, "python3", path, sizeof(path)), 0);
	assert_string_equal(path, "/usr/local/bin/python3");
}

static void a_file_that_cannot_be_executed_is_skipped(void **state)
{
	char path[256] = "";

	add_file(*state, "usr/local/bin/ruby", 0644);
	add_file(*state, "usr/bin/ruby", 0755);
	assert_int_equal(locate(*state, "ruby", path, sizeof(path)), 0);
	assert_string_equal(path, "/usr/bin/ruby");

	add_folder(*state, "usr/local/bin/perl");
	assert_int_equal(locate(*state, "perl", path, sizeof(path)), -ENOENT);
	assert_int_equal(mkfifoat(((struct fixture *)*state)->fd, "usr/bin/lua", 0777),
	                 0);
	assert_int_equal(locate(*state, "lua", path, sizeof(path)), -ENOENT);
}

static void absolute_links_are_followed_within_the_root(void **state)
{
	char path[256] = "";

	/* As on Debian, with a name that exists on no host. */
	add_link(*state, "usr/bin/dewar-php", "/etc/alternatives/dewar-php");
	add_link(*state, "etc/alternatives/dewar-php", "/usr/bin/dewar-php8.2");
	assert_int_equal(locate(*state, "dewar-php", path, sizeof(path)), -ENOENT);

	add_file(*state, "usr/bin/dewar-php8.2", 0755);
	assert_int_equal(locate(*state, "dewar-php", path, sizeof(path)), 0);
	/* The path is the link's own: some programs depend on the name that starts them. */
	assert_string_equal(path, "/usr/bin/dewar-php");
}

static void links_never_lead_out_of_the_root(void **state)
{
	const struct fixture *f = *state;
	char path[256] = "untouched";

	assert_int_equal(access("/bin/sh", X_OK), 0);
	add_link(f, "usr/bin/absolute", "/bin/sh");
	add_link(f, "usr/bin/upward", "../../../../../../../../bin/sh");
	add_link(f, "usr/bin/magic", "/proc/self/root/bin/sh");
	assert_int_equal(locate(f, "absolute", path, sizeof(path)), -ENOENT);
	assert_int_equal(locate(f, "upward", path, sizeof(path)), -ENOENT);
	assert_int_equal(locate(f, "magic", path, sizeof(path)), -ENOENT);
	assert_int_equal(locate(f, "../../../../../bin/sh", path, sizeof(path)), -ENOENT);
	assert_string_equal(path, "untouched");

	/* If the root contains the file, the link leads to that. */
	add_file(f, "usr/bin/sh", 0755);
	assert_int_equal(locate(f, "absolute", path, sizeof(path)), 0);
	assert_int_equal(locate(f, "upward", path, sizeof(path)), 0);
}

static void a_loop_of_links_is_not_found(void **state)
{
	char path[256];

	add_link(*state, "usr/bin/a", "b");
	add_link(*state, "usr/bin/b", "a");
	assert_int_equal(locate(*state, "a", path, sizeof(path)), -ENOENT);
}

static void a_path_that_does_not_fit_is_an_error(void **state)
{
	char path[sizeof("/usr/bin/zsh") - 1] = "";

	add_file(*state, "usr/bin/zsh", 0755);
	assert_int_equal(locate(*state, "zsh", path, sizeof(path)), -ENAMETOOLONG);
	assert_string_equal(path, "");
}

static void empty_and_relative_folders_are_never_searched(void **state)
{
	const struct fixture *f = *state;
	char path[256];

	add_file(f, "usr/bin/sh", 0755);
	add_file(f, "here", 0755);
	assert_int_equal(dw_runtime_locate(f->fd, "", "here", path, sizeof(path)),
	                 -ENOENT);
	assert_int_equal(dw_runtime_locate(f->fd, "::", "here", path, sizeof(path)),
	                 -ENOENT);
	assert_int_equal(dw_runtime_locate(f->fd, ".:usr/bin", "sh", path, sizeof(path)),
	                 -ENOENT);
	assert_int_equal(dw_runtime_locate(f->fd, ":.:/usr/bin:", "sh", path,
	                                   sizeof(path)),
	                 0);
	assert_string_equal(path, "/usr/bin/sh");
	assert_int_equal(locate(f, "", path, sizeof(path)), -ENOENT);
}

static void the_first_missing_program_is_named(void **state)
{
	const struct fixture *f = *state;
	const struct dw_runtime *ts = dw_runtime_find("typescript");

	assert_string_equal(dw_runtime_missing(ts, f->fd, DW_RUNTIME_PATH), "esbuild");
	add_file(f, "usr/bin/esbuild", 0755);
	assert_string_equal(dw_runtime_missing(ts, f->fd, DW_RUNTIME_PATH), "node");
	add_file(f, "usr/bin/node", 0755);
	assert_string_equal(dw_runtime_missing(ts, f->fd, DW_RUNTIME_PATH), "sh");
	add_file(f, "usr/bin/sh", 0755);
	assert_null(dw_runtime_missing(ts, f->fd, DW_RUNTIME_PATH));
}

static void a_binary_needs_no_other_program(void **state)
{
	const struct fixture *f = *state;

	assert_null(
		dw_runtime_missing(dw_runtime_find("binary"), f->fd, DW_RUNTIME_PATH));
}

/* ---- the public list ---- */

static void the_list_has_every_language_with_its_aliases(void **state)
{
	struct dw_language lang;

	(void)state;
	assert_int_equal(dw_language_count(), n_table);
	for (size_t i = 0; i < n_table; i++) {
		assert_int_equal(dw_language_peek(i, &lang), 0);
		assert_string_equal(lang.name, table[i].name);
		assert_string_equal(lang.package, table[i].package);
		assert_string_equal(lang.path, "");
		assert_string_equal(lang.version, "");
		if (strcmp(lang.name, "javascript") == 0)
			assert_string_equal(lang.aliases, "js node nodejs");
		if (strcmp(lang.name, "zsh") == 0)
			assert_string_equal(lang.aliases, "");
	}
}

static void an_index_past_the_end_of_the_list_is_an_error(void **state)
{
	struct dw_language lang = {.name = "untouched"};
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_language_peek(n_table, &lang), -1);
	assert_int_equal(dw_language_get(n_table, &lang, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_string_equal(lang.name, "untouched");
}

static void a_language_has_both_a_path_and_a_version_or_neither(void **state)
{
	struct dw_language lang;
	struct dw_error err = {0};

	(void)state;
	for (size_t i = 0; i < n_table; i++) {
		assert_int_equal(dw_language_get(i, &lang, &err), 0);
		assert_true((lang.path[0] != '\0') == (lang.version[0] != '\0'));
		assert_string_not_equal(lang.version, "unknown");
		if (table[i].version[0] && lang.path[0] != '\0') {
			assert_true(lang.path[0] == '/');
			assert_true(isdigit((unsigned char)lang.version[0]));
			assert_non_null(strchr(lang.version, '.'));
		}
	}
}

/* Finding out a version starts a program, of which no descriptor may be left. */
static void asking_for_a_version_leaves_no_descriptor(void **state)
{
	struct dw_language lang;
	int before, after;

	(void)state;
	before = open("/", O_PATH | O_CLOEXEC);
	(void)close(before);
	for (size_t i = 0; i < n_table; i++)
		if (strcmp(table[i].name, "perl") == 0 ||
		    strcmp(table[i].name, "bash") == 0)
			assert_int_equal(dw_language_get(i, &lang, NULL), 0);
	after = open("/", O_PATH | O_CLOEXEC);
	(void)close(after);
	assert_int_equal(before, after);
}

/* ---- the language of a file ---- */

static const char *of(const char *name, const char *head)
{
	return dw_language_of_file(name, head, strlen(head));
}

static void php_code_without_an_opening_tag_gets_one(void **state)
{
	const struct dw_runtime *php = dw_runtime_find("php");

	(void)state;
	assert_string_equal(dw_runtime_opening(php, "echo 1;", 7), "<?php ");
	assert_string_equal(dw_runtime_opening(php, "<b><?= 1 ?>", 11), "");
	/* The search does not read past the end of the code. */
	assert_string_equal(dw_runtime_opening(php, "x<?", 2), "<?php ");
	assert_string_equal(dw_runtime_opening(php, NULL, 0), "<?php ");
	assert_string_equal(dw_runtime_opening(dw_runtime_find("python"), "1", 1), "");
}

static void the_extension_determines_the_language(void **state)
{
	(void)state;
	assert_string_equal(of("a.py", ""), "python");
	assert_string_equal(of("/some.dir/a.rb", ""), "ruby");
	assert_string_equal(of("a.b.ts", ""), "typescript");
	assert_string_equal(of("A.PY", ""), "python");
	assert_string_equal(of("a.R", ""), "r");
	assert_string_equal(of("a.r", ""), "r");
	assert_string_equal(of("a.c", ""), "c");
	assert_string_equal(of("a.C", ""), "c++");
	assert_string_equal(of("a.c++", ""), "c++");
}

static void the_extension_has_precedence_over_the_first_line(void **state)
{
	(void)state;
	assert_string_equal(of("a.py", "#!/bin/sh\n"), "python");
	assert_string_equal(of("a.sh", "\177ELF"), "sh");
}

static void the_first_line_determines_the_language(void **state)
{
	(void)state;
	assert_string_equal(of("tool", "#!/bin/sh\necho"), "sh");
	assert_string_equal(of("tool", "#! /bin/bash -e\n"), "bash");
	assert_string_equal(of("tool", "#!/usr/bin/python3.11"), "python");
	assert_string_equal(of("tool", "#!/usr/bin/env python3\n"), "python");
	assert_string_equal(of("tool", "#!/usr/bin/env -S python3 -u\n"), "python");
	assert_string_equal(of("tool", "#!/usr/bin/env -S A=b ruby -w\r\n"), "ruby");
	assert_string_equal(of("tool", "#!/usr/bin/env\tnode\n"), "javascript");
	assert_string_equal(of("tool", "#!/usr/bin/lua5.4\n"), "lua");
	assert_string_equal(of("tool", "#!/usr/bin/env Rscript\n"), "r");
	assert_string_equal(of("tool.txt", "#!/bin/zsh\n"), "zsh");
}

static void an_elf_file_is_a_binary(void **state)
{
	(void)state;
	assert_string_equal(of("a.out", "\177ELF\2\1\1"), "binary");
	assert_string_equal(of("tool", "\177ELF"), "binary");
}

static void a_file_of_an_unknown_language_is_null(void **state)
{
	char line[4096];

	(void)state;
	assert_null(dw_language_of_file("tool", NULL, 0));
	assert_null(of("", ""));
	assert_null(of("tool", "print(1)"));
	assert_null(of("tool.", ""));
	assert_null(of("dir.py/tool", ""));
	assert_null(of("tool", "#"));
	assert_null(of("tool", "#!"));
	assert_null(of("tool", "#!\npython"));
	assert_null(of("tool", "#!   "));
	assert_null(of("tool", "#!/usr/bin/env"));
	assert_null(of("tool", "#!/usr/bin/env -S"));
	assert_null(of("tool", "#!/usr/bin/"));
	assert_null(of("tool", "#!/usr/bin/awk -f\n"));
	assert_null(of("tool", "#!3\n"));
	assert_null(of("tool", "\177EL"));

	memset(line, 'x', sizeof(line));
	memcpy(line, "#!/", 3);
	assert_null(dw_language_of_file("tool", line, sizeof(line)));
	assert_null(dw_language_of_file("tool", "#!/bin/\0sh", 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_promised_language_is_in_the_table),
		cmocka_unit_test(every_entry_has_what_a_run_needs),
		cmocka_unit_test(every_list_ends_in_null),
		cmocka_unit_test(every_command_names_the_code_file),
		cmocka_unit_test(every_variable_has_a_name_and_a_value),
		cmocka_unit_test(every_name_is_of_one_language),
		cmocka_unit_test(every_extension_is_of_one_language),
		cmocka_unit_test(every_shebang_is_of_one_language_and_without_a_version),
		cmocka_unit_test(a_code_file_has_an_extension_of_its_language),
		cmocka_unit_test(names_and_aliases_are_found_in_any_case),
		cmocka_unit_test(an_unknown_language_is_not_found),
		cmocka_unit_test_setup_teardown(a_plain_program_is_located, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(the_first_folder_of_the_path_wins, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(a_file_that_cannot_be_executed_is_skipped,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(absolute_links_are_followed_within_the_root,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(links_never_lead_out_of_the_root, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(a_loop_of_links_is_not_found, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(a_path_that_does_not_fit_is_an_error,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(
			empty_and_relative_folders_are_never_searched, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_missing_program_is_named, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(a_binary_needs_no_other_program, setup,
	                                        teardown),
		cmocka_unit_test(the_list_has_every_language_with_its_aliases),
		cmocka_unit_test(an_index_past_the_end_of_the_list_is_an_error),
		cmocka_unit_test(a_language_has_both_a_path_and_a_version_or_neither),
		cmocka_unit_test(asking_for_a_version_leaves_no_descriptor),
		cmocka_unit_test(php_code_without_an_opening_tag_gets_one),
		cmocka_unit_test(the_extension_determines_the_language),
		cmocka_unit_test(the_extension_has_precedence_over_the_first_line),
		cmocka_unit_test(the_first_line_determines_the_language),
		cmocka_unit_test(an_elf_file_is_a_binary),
		cmocka_unit_test(a_file_of_an_unknown_language_is_null),
	};

	return cmocka_run_group_tests(tests, load_table, NULL);
}
