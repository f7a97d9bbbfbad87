/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "run/run_own.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "request/request.h"

#define EXCEPT "main.py"

/* Each test has a folder, as a hostile program might leave it, and a result to fill. */
struct fixture {
	char path[64];
	int fd;
	struct dw_result *res;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	(void)strcpy(f->path, "/dev/shm/dewar-collect-XXXXXX");
	if (!mkdtemp(f->path)) {
		(void)strcpy(f->path, "/tmp/dewar-collect-XXXXXX");
		if (!mkdtemp(f->path))
			return -1;
	}
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->res = calloc(1, sizeof(*f->res));
	*state = f;
	return f->fd < 0 || !f->res ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char *slash = strrchr(f->path, '/');
	int parent, r;

	(void)close(f->fd);
	*slash = '\0';
	parent = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = dw_path_remove_tree(parent, slash + 1);
	(void)close(parent);
	dw_result_free(f->res);
	free(f);
	return r;
}

static void make_file(const struct fixture *f, const char *name, const char *text)
{
	autoclose int fd = -1;

	(void)dw_path_make_parents(f->fd, name, 0755);
	fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(dw_fd_write_all(fd, text, strlen(text)), 0);
}

/* Creates a file of this size that takes no space on the disk. */
static void make_sparse(const struct fixture *f, const char *name, off_t size)
{
	autoclose int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
}

static void collect_list(struct fixture *f, const char *const *patterns, size_t n)
{
	struct dw_request req;
	struct dw_error err = {0};

	dw_result_free(f->res);
	f->res = calloc(1, sizeof(*f->res));
	assert_non_null(f->res);
	dw_request_init(&req);
	req.collect = patterns;
	req.n_collect = n;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(dw_collect_check(patterns[i], &err), 0);
	assert_int_equal(dw_collect(f->res, &req, f->fd, EXCEPT, &err), 0);
	assert_int_equal(err.code, DW_OK);
}

#define COLLECT(f, ...)                                     \
	collect_list(f, (const char *const[]){__VA_ARGS__}, \
	             ARRAY_SIZE(((const char *const[]){__VA_ARGS__})))

static const struct dw_file_out *find(const struct fixture *f, const char *name)
{
	const struct dw_file_out *found = NULL;

	for (size_t i = 0; i < f->res->n_files; i++)
		if (strcmp(f->res->files[i].name, name) == 0) {
			assert_null(found);
			found = &f->res->files[i];
		}
	return found;
}

static void has(const struct fixture *f, const char *name, const char *text)
{
	const struct dw_file_out *file = find(f, name);

	if (!file)
		fail_msg("%s was not collected", name);
	assert_int_equal(file->len, strlen(text));
	assert_memory_equal(file->data, text, file->len);
}

static bool warned(const struct fixture *f, const char *text)
{
	for (size_t i = 0; i < f->res->n_warnings; i++)
		if (strstr(f->res->warnings[i], text))
			return true;
	return false;
}

static void says_nothing(const struct fixture *f)
{
	if (f->res->n_warnings > 0)
		fail_msg("warned: %s", f->res->warnings[0]);
}

/* Checks that the pattern collects nothing, and that the only warning says so. */
static void nothing_for(struct fixture *f, const char *pattern)
{
	char text[256];

	COLLECT(f, pattern);
	if (f->res->n_files != 0)
		fail_msg("%s collected %s", pattern, f->res->files[0].name);
	(void)snprintf(text, sizeof(text), "collect: no file matches %s", pattern);
	assert_int_equal(f->res->n_warnings, 1);
	assert_string_equal(f->res->warnings[0], text);
}

static int count_fds(void)
{
	autodir DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir) != NULL)
		n++;
	return n;
}

/* ---- patterns ---- */

static void a_file_is_found_by_its_name(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a.txt", "one");
	make_file(f, "b.txt", "two");
	make_file(f, "empty", "");
	COLLECT(f, "a.txt", "empty");
	assert_int_equal(f->res->n_files, 2);
	has(f, "a.txt", "one");
	has(f, "empty", "");
	says_nothing(f);
}

static void patterns_find_all_that_match(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a.txt", "1");
	make_file(f, "b.txt", "2");
	make_file(f, "bb.txt", "3");
	make_file(f, "c.png", "4");
	make_file(f, "sub/d.txt", "5");

	COLLECT(f, "*.txt");
	assert_int_equal(f->res->n_files, 3);
	COLLECT(f, "?.txt");
	assert_int_equal(f->res->n_files, 2);
	COLLECT(f, "[bc]*");
	assert_int_equal(f->res->n_files, 3);
	has(f, "bb.txt", "3");
	has(f, "c.png", "4");
	says_nothing(f);
}

static void a_star_does_not_match_a_slash(void **state)
{
	struct fixture *f = *state;

	make_file(f, "sub/x", "1");
	nothing_for(f, "*");
	nothing_for(f, "*x");
	COLLECT(f, "*/x");
	has(f, "sub/x", "1");
}

static void patterns_match_one_path_component_at_a_time(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a/1/x.csv", "a1");
	make_file(f, "a/2/x.csv", "a2");
	make_file(f, "b/1/x.csv", "b1");
	make_file(f, "b/1/deep/x.csv", "no");
	COLLECT(f, "*/1/*.csv");
	assert_int_equal(f->res->n_files, 2);
	has(f, "a/1/x.csv", "a1");
	has(f, "b/1/x.csv", "b1");
	COLLECT(f, "a/*/x.csv");
	assert_int_equal(f->res->n_files, 2);
	has(f, "a/2/x.csv", "a2");
	COLLECT(f, "b/1/deep/x.csv");
	has(f, "b/1/deep/x.csv", "no");
}

static void a_pattern_may_start_with_tmp(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a", "1");
	make_file(f, "tmp/a", "2");
	COLLECT(f, "/tmp/a");
	assert_int_equal(f->res->n_files, 1);
	has(f, "a", "1");
	COLLECT(f, "/tmp/tmp/*");
	assert_int_equal(f->res->n_files, 1);
	has(f, "tmp/a", "2");
}

static void patterns_that_lead_out_of_tmp_are_refused(void **state)
{
	static const char *const bad[] = {
		"..",      "../x",        "a/../../x",
		"a/..",    "/etc/passwd", "/tmp/../etc/passwd",
		"/tmp/..", "/tmp",        "/tmp/",
		"",        "/",           "//tmp/x",
		"./x",     "/tmp//x",     "a//b",
		"a/",      "/tmp/./x",    ".",
	};
	struct dw_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		err = (struct dw_error){0};
		if (dw_collect_check(bad[i], &err) == 0)
			fail_msg("%s was accepted", bad[i]);
		assert_int_equal(err.code, DW_E_INVALID);
		assert_non_null(strstr(err.text, "below /tmp"));
	}
	assert_int_equal(dw_collect_check("..x/*", &err), 0);
}

static void hidden_files_need_a_dot_in_the_pattern(void **state)
{
	struct fixture *f = *state;

	make_file(f, ".hidden", "h");
	make_file(f, "seen", "s");
	make_file(f, ".d/x", "dx");
	COLLECT(f, "*");
	assert_int_equal(f->res->n_files, 1);
	has(f, "seen", "s");
	nothing_for(f, "?hidden");
	nothing_for(f, "[.]hidden");
	nothing_for(f, "*/x");
	COLLECT(f, ".h*", ".d/*");
	assert_int_equal(f->res->n_files, 2);
	has(f, ".hidden", "h");
	has(f, ".d/x", "dx");
}

/* readdir() returns "." and "..", which no pattern may match. */
static void patterns_do_not_match_the_folder_itself_or_its_parent(void **state)
{
	struct fixture *f = *state;

	make_file(f, "x", "1");
	make_file(f, EXCEPT, "code");
	make_file(f, "a/x", "2");
	nothing_for(f, ".*/x");
	nothing_for(f, "a/.*/x");
	nothing_for(f, ".?/x");
	nothing_for(f, ".*/" EXCEPT);
	nothing_for(f, ".*");
}

static void a_file_that_several_patterns_match_is_collected_once(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a.txt", "1");
	COLLECT(f, "a.txt", "a.txt", "/tmp/a.txt", "*.txt", "a*");
	assert_int_equal(f->res->n_files, 1);
	has(f, "a.txt", "1");
}

static void a_pattern_that_matches_only_collected_files_has_no_warning(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a.txt", "1");
	COLLECT(f, "a.txt", "*.txt");
	assert_int_equal(f->res->n_files, 1);
	says_nothing(f);
}

static void the_file_of_the_code_is_not_collected(void **state)
{
	struct fixture *f = *state;

	make_file(f, EXCEPT, "code");
	make_file(f, "other.py", "made");
	make_file(f, "sub/" EXCEPT, "theirs");
	COLLECT(f, "*.py", "*/*.py");
	assert_int_equal(f->res->n_files, 2);
	has(f, "other.py", "made");
	has(f, "sub/" EXCEPT, "theirs");
	says_nothing(f);
	nothing_for(f, EXCEPT);
}

static void a_warning_names_each_pattern_without_a_match(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a", "1");
	COLLECT(f, "b", "a", "*.png", "no/such/*");
	assert_int_equal(f->res->n_files, 1);
	assert_int_equal(f->res->n_warnings, 3);
	assert_true(warned(f, "no file matches b"));
	assert_true(warned(f, "no file matches *.png"));
	assert_true(warned(f, "no file matches no/such/*"));
}

static void without_a_folder_nothing_is_collected(void **state)
{
	struct fixture *f = *state;
	const char *const pattern = "*";
	struct dw_request req;

	dw_request_init(&req);
	req.collect = &pattern;
	req.n_collect = 1;
	assert_int_equal(dw_collect(f->res, &req, -1, EXCEPT, NULL), 0);
	assert_int_equal(f->res->n_files, 0);
	assert_true(warned(f, "no file matches *"));
}

/* ---- hostile folders ---- */

static void links_are_not_followed_at_any_depth(void **state)
{
	static const char *const names[] = {
		"link/b/c/file",   "a/link/c/file",   "a/b/link/file", "a/b/c/link",
		"*k/b/c/file",     "a/*k/c/file",     "a/b/*k/file",   "a/b/c/*k",
		"l*/*/*/file",     "root/etc/hosts",  "root/*/hosts",  "up/*",
		"up/up/etc/hosts", "self/a/b/c/file", "passwd",        "pass*",
		"dangling",        "proc/environ",    "*/environ",
	};
	struct fixture *f = *state;
	int before;

	make_file(f, "a/b/c/file", "real");
	assert_int_equal(symlinkat("a", f->fd, "link"), 0);
	assert_int_equal(symlinkat("b", f->fd, "a/link"), 0);
	assert_int_equal(symlinkat("c", f->fd, "a/b/link"), 0);
	assert_int_equal(symlinkat("file", f->fd, "a/b/c/link"), 0);
	assert_int_equal(symlinkat("/", f->fd, "root"), 0);
	assert_int_equal(symlinkat("..", f->fd, "up"), 0);
	assert_int_equal(symlinkat(".", f->fd, "self"), 0);
	assert_int_equal(symlinkat("/etc/passwd", f->fd, "passwd"), 0);
	assert_int_equal(symlinkat("nowhere", f->fd, "dangling"), 0);
	assert_int_equal(symlinkat("/proc/self", f->fd, "proc"), 0);

	before = count_fds();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		nothing_for(f, names[i]);
	COLLECT(f, "a/b/c/*");
	assert_int_equal(f->res->n_files, 1);
	has(f, "a/b/c/file", "real");
	assert_int_equal(count_fds(), before);
}

/* Root could read it: the test sets its file system uid to that of a plain user. */
static void a_warning_names_a_file_without_read_permission(void **state)
{
	struct fixture *f = *state;

	make_file(f, "locked", "1");
	make_file(f, "open", "2");
	assert_int_equal(fchmodat(f->fd, "locked", 0, 0), 0);
	assert_int_equal(fchmodat(f->fd, "open", 0644, 0), 0);
	assert_int_equal(fchmod(f->fd, 0755), 0);
	(void)setfsuid(65534);
	COLLECT(f, "*");
	(void)setfsuid(geteuid());
	assert_int_equal(f->res->n_files, 1);
	has(f, "open", "2");
	assert_int_equal(f->res->n_warnings, 1);
	assert_true(warned(f, "locked was skipped: its mode does not allow reading"));
}

/* A program can only link files of its own cell, so a hard link is no risk. */
static void a_hard_link_is_collected(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a", "1");
	assert_int_equal(linkat(f->fd, "a", f->fd, "b", 0), 0);
	COLLECT(f, "*");
	assert_int_equal(f->res->n_files, 2);
	has(f, "b", "1");
}

static void special_files_are_ignored_and_do_not_block(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct fixture *f = *state;
	autoclose int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkfifoat(f->fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(f->fd, "folder", 0700), 0);
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/socket", f->path);
	assert_int_equal(bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	nothing_for(f, "fifo");
	nothing_for(f, "folder");
	nothing_for(f, "socket");
	nothing_for(f, "*");
	nothing_for(f, "*/*");
	nothing_for(f, "fifo/x");
	if (geteuid() == 0 &&
	    mknodat(f->fd, "device", S_IFCHR | 0600, makedev(1, 5)) == 0)
		nothing_for(f, "device");
}

static void a_sparse_file_above_the_limit_is_skipped(void **state)
{
	struct fixture *f = *state;

	make_sparse(f, "huge", (off_t)1 << 40);
	make_sparse(f, "over", (off_t)DW_COLLECT_BYTES_MAX + 1);
	make_file(f, "small", "s");
	COLLECT(f, "*");
	assert_int_equal(f->res->n_files, 1);
	has(f, "small", "s");
	assert_int_equal(f->res->n_warnings, 2);
	assert_true(warned(f, "huge was skipped: the limit is 64 MB"));
	assert_true(warned(f, "over was skipped: the limit is 64 MB"));
}

static void exactly_the_maximum_of_bytes_is_collected(void **state)
{
	struct fixture *f = *state;

	make_sparse(f, "most", DW_COLLECT_BYTES_MAX);
	COLLECT(f, "most");
	assert_int_equal(f->res->n_files, 1);
	assert_int_equal(f->res->files[0].len, DW_COLLECT_BYTES_MAX);
	says_nothing(f);

	make_file(f, "one", "1");
	COLLECT(f, "most", "one");
	assert_int_equal(f->res->n_files, 1);
	assert_true(warned(f, "one was skipped"));
}

static void bytes_are_counted_over_all_patterns(void **state)
{
	struct fixture *f = *state;
	size_t bytes = 0;
	char name[16];

	for (int i = 0; i < 9; i++) {
		(void)snprintf(name, sizeof(name), "%d.%s", i, i % 2 ? "odd" : "even");
		make_sparse(f, name, 10 << 20);
	}
	COLLECT(f, "*.odd", "*.even");
	assert_int_equal(f->res->n_files, 6);
	for (size_t i = 0; i < f->res->n_files; i++)
		bytes += f->res->files[i].len;
	assert_true(bytes <= DW_COLLECT_BYTES_MAX);
	assert_int_equal(f->res->n_warnings, 3);
	assert_true(warned(f, "was skipped: the limit is 64 MB"));
}

static void files_above_the_maximum_are_skipped_with_a_warning(void **state)
{
	struct fixture *f = *state;
	char name[16];

	for (unsigned i = 0; i < DW_COLLECT_FILES_MAX + 3; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		make_file(f, name, "");
	}
	COLLECT(f, "*");
	assert_int_equal(f->res->n_files, DW_COLLECT_FILES_MAX);
	assert_int_equal(f->res->n_warnings, 3);
	assert_true(warned(f, "was skipped: the limit is 256 files"));
}

static void warnings_have_a_ceiling(void **state)
{
	struct fixture *f = *state;
	char name[16];

	for (unsigned i = 0; i < DW_COLLECT_FILES_MAX + DW_WARNINGS_MAX + 50; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		make_file(f, name, "");
	}
	COLLECT(f, "*");
	assert_int_equal(f->res->n_files, DW_COLLECT_FILES_MAX);
	assert_int_equal(f->res->n_warnings, DW_WARNINGS_MAX);
}

static void the_number_of_examined_names_is_limited(void **state)
{
	struct fixture *f = *state;
	char name[16];

	for (unsigned i = 0; i < DW_COLLECT_LOOKS_MAX + 10; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(mknodat(f->fd, name, S_IFREG | 0600, 0), 0);
	}
	COLLECT(f, "*.png");
	assert_int_equal(f->res->n_files, 0);
	assert_true(warned(f, "only the first 20000 names were examined"));

	/* A name without wildcards needs no search and is found all the same. */
	make_file(f, "here", "1");
	COLLECT(f, "*.png", "here");
	has(f, "here", "1");
}

/* The limit is for the names in all folders together. */
static void the_search_in_many_folders_ends(void **state)
{
	struct fixture *f = *state;
	char name[32];

	for (int i = 0; i < 150; i++) {
		(void)snprintf(name, sizeof(name), "d%d", i);
		assert_int_equal(mkdirat(f->fd, name, 0700), 0);
		for (int j = 0; j < 150; j++) {
			(void)snprintf(name, sizeof(name), "d%d/e%d", i, j);
			assert_int_equal(mkdirat(f->fd, name, 0700), 0);
		}
	}
	COLLECT(f, "*/*/*");
	assert_int_equal(f->res->n_files, 0);
	assert_true(warned(f, "only the first 20000 names"));
}

static void a_name_that_is_not_utf8_is_skipped_with_a_warning(void **state)
{
	struct fixture *f = *state;

	make_file(f, "bad\xff.txt", "1");
	make_file(f, "\xc3\xa4.txt", "2");
	make_file(f, "\xed\xa0\x80.txt", "3");
	make_file(f, "d\xfe/in.txt", "4");
	COLLECT(f, "*", "*/*");
	assert_int_equal(f->res->n_files, 1);
	has(f, "\xc3\xa4.txt", "2");
	assert_int_equal(f->res->n_warnings, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(f->res->warnings[i],
		                    "collect: a file whose name is not UTF-8 was skipped");
}

static void names_with_special_characters_are_kept(void **state)
{
	struct fixture *f = *state;

	make_file(f, "a\nb", "1");
	make_file(f, "[x]", "2");
	make_file(f, "%s%n", "3");
	make_file(f, "-rf *", "4");
	COLLECT(f, "*");
	assert_int_equal(f->res->n_files, 4);
	has(f, "a\nb", "1");
	has(f, "%s%n", "3");
	COLLECT(f, "%s%n", "%s%d");
	has(f, "%s%n", "3");
	assert_true(warned(f, "no file matches %s%d"));
}

static void a_tree_that_is_too_deep_is_not_searched(void **state)
{
	struct fixture *f = *state;
	autoclose int at = dup(f->fd);
	char name[201];

	memset(name, 'd', sizeof(name) - 1);
	name[200] = '\0';
	for (int i = 0; i < 25; i++) {
		int next;

		assert_int_equal(mkdirat(at, name, 0700), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(at);
		at = next;
	}
	assert_int_equal(mknodat(at, "x", S_IFREG | 0600, 0), 0);
	nothing_for(f, "*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/x");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_found_by_its_name),
		TEST(patterns_find_all_that_match),
		TEST(a_star_does_not_match_a_slash),
		TEST(patterns_match_one_path_component_at_a_time),
		TEST(a_pattern_may_start_with_tmp),
		TEST(patterns_that_lead_out_of_tmp_are_refused),
		TEST(hidden_files_need_a_dot_in_the_pattern),
		TEST(patterns_do_not_match_the_folder_itself_or_its_parent),
		TEST(a_file_that_several_patterns_match_is_collected_once),
		TEST(a_pattern_that_matches_only_collected_files_has_no_warning),
		TEST(the_file_of_the_code_is_not_collected),
		TEST(a_warning_names_each_pattern_without_a_match),
		TEST(without_a_folder_nothing_is_collected),
		TEST(links_are_not_followed_at_any_depth),
		TEST(a_warning_names_a_file_without_read_permission),
		TEST(a_hard_link_is_collected),
		TEST(special_files_are_ignored_and_do_not_block),
		TEST(a_sparse_file_above_the_limit_is_skipped),
		TEST(exactly_the_maximum_of_bytes_is_collected),
		TEST(bytes_are_counted_over_all_patterns),
		TEST(files_above_the_maximum_are_skipped_with_a_warning),
		TEST(warnings_have_a_ceiling),
		TEST(the_number_of_examined_names_is_limited),
		TEST(the_search_in_many_folders_ends),
		TEST(a_name_that_is_not_utf8_is_skipped_with_a_warning),
		TEST(names_with_special_characters_are_kept),
		TEST(a_tree_that_is_too_deep_is_not_searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
