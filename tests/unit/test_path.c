/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* Each test has a folder that every user may write to. */
struct fixture {
	char path[64];
	int fd;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	/* In memory if possible: ten thousand folders take long on a disk. */
	(void)strcpy(f->path, "/dev/shm/dewar-path-XXXXXX");
	if (!mkdtemp(f->path)) {
		(void)strcpy(f->path, "/tmp/dewar-path-XXXXXX");
		if (!mkdtemp(f->path))
			return -1;
	}
	if (chmod(f->path, 0777) < 0)
		return -1;
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	return f->fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[96];
	int r;

	(void)close(f->fd);
	(void)snprintf(command, sizeof(command), "rm -rf %s", f->path);
	r = system(command);
	free(f);
	return r;
}

static void make_file(int dir_fd, const char *name, const char *text)
{
	autoclose int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(dw_fd_write_all(fd, text, strlen(text)), 0);
}

static bool exists(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Returns the error of open_beneath for a path, or 0; closes the descriptor. */
static int opens(int dir_fd, const char *path, int flags)
{
	int fd = dw_path_open_beneath(dir_fd, path, flags, 0600);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0 ? 0 : fd;
}

/*
 * For a child process, which drops privileges: cmocka's asserts work only in the process
 * that called cmocka, so these print the line and end the child.
 */
#define CHECK(what)                                                                  \
	do {                                                                         \
		if (!(what)) {                                                       \
			(void)fprintf(stderr, "line %d: %s: %m\n", __LINE__, #what); \
			_exit(1);                                                    \
		}                                                                    \
	} while (0)

static void in_child(void (*fn)(const struct fixture *), const struct fixture *f)
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		fn(f);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void become_nobody(void)
{
	if (getuid() != 0)
		return;
	CHECK(setgroups(0, NULL) == 0);
	CHECK(setresgid(65534, 65534, 65534) == 0);
	CHECK(setresuid(65534, 65534, 65534) == 0);
}

static void allow_descriptors(rlim_t n)
{
	CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){n, n}) == 0);
}

static void beneath_opens_files_below_the_folder(void **state)
{
	const struct fixture *f = *state;
	autoclose int fd = -1;
	char text[8];

	assert_int_equal(mkdirat(f->fd, "a", 0700), 0);
	fd = dw_path_open_beneath(f->fd, "a/new", O_WRONLY | O_CREAT | O_EXCL, 0640);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(dw_fd_write_all(fd, "abc", 3), 0);
	assert_int_equal(dw_fd_read_attr(f->fd, "a/new", text, sizeof(text)), 3);
	/* A mode without O_CREAT is no error, as with open(). */
	assert_int_equal(opens(f->fd, "a/../a/new", O_RDONLY), 0);
	assert_int_equal(opens(f->fd, "a/none", O_RDONLY), -ENOENT);
}

static void beneath_refuses_paths_out_of_the_folder(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(mkdirat(f->fd, "a", 0700), 0);
	assert_int_equal(opens(f->fd, "..", O_RDONLY), -EXDEV);
	assert_int_equal(opens(f->fd, "a/../..", O_RDONLY), -EXDEV);
	assert_int_equal(opens(f->fd, "/etc/passwd", O_RDONLY), -EXDEV);
	assert_int_equal(opens(f->fd, "/", O_RDONLY), -EXDEV);
}

static void beneath_follows_no_link(void **state)
{
	const struct fixture *f = *state;

	make_file(f->fd, "file", "");
	assert_int_equal(mkdirat(f->fd, "dir", 0700), 0);
	make_file(f->fd, "dir/file", "");
	assert_int_equal(symlinkat("file", f->fd, "inside"), 0);
	assert_int_equal(symlinkat("/etc/passwd", f->fd, "outside"), 0);
	assert_int_equal(symlinkat("dir", f->fd, "link"), 0);
	assert_int_equal(opens(f->fd, "inside", O_RDONLY), -ELOOP);
	assert_int_equal(opens(f->fd, "outside", O_RDONLY), -ELOOP);
	assert_int_equal(opens(f->fd, "outside", O_WRONLY | O_CREAT), -ELOOP);
	assert_int_equal(opens(f->fd, "link/file", O_RDONLY), -ELOOP);
}

static void beneath_refuses_magic_links(void **state)
{
	autoclose int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(proc >= 0);
	assert_int_equal(opens(proc, "root/etc/passwd", O_RDONLY), -ELOOP);
	assert_int_equal(opens(proc, "exe", O_RDONLY), -ELOOP);
}

static void beneath_crosses_no_mount(void **state)
{
	autoclose int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(root >= 0);
	assert_int_equal(opens(root, "proc/version", O_RDONLY), -EXDEV);
}

static void in_root_follows_links_as_a_chroot_would(void **state)
{
	static const char *const paths[] = {
		"/etc/name", "etc/name",        "absolute",
		"upward",    "/../../etc/name", "chain/name",
	};
	const struct fixture *f = *state;

	assert_int_equal(mkdirat(f->fd, "etc", 0700), 0);
	make_file(f->fd, "etc/name", "mine");
	assert_int_equal(symlinkat("/etc/name", f->fd, "absolute"), 0);
	assert_int_equal(symlinkat("../../../../etc/name", f->fd, "upward"), 0);
	assert_int_equal(symlinkat("/etc", f->fd, "chain"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		autoclose int fd = dw_path_open_in_root(f->fd, paths[i], O_RDONLY);
		char text[8] = "";

		assert_true(fd >= 0);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_int_equal(dw_fd_read_some(fd, text, sizeof(text)), 4);
		assert_memory_equal(text, "mine", 4);
	}
	assert_int_equal(dw_path_open_in_root(f->fd, "/etc/passwd", O_RDONLY), -ENOENT);
}

static void in_root_refuses_magic_links(void **state)
{
	autoclose int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(dw_path_open_in_root(root, "/proc/self/root/etc", O_RDONLY),
	                 -ELOOP);
}

static void relative_paths_without_dots_are_plain(void **state)
{
	static const char *const plain[] = {"a",    "a/b",       "...", ".a",
	                                    "a..b", "out/*.png", " "};
	static const char *const other[] = {"",     "/",      "/a",   "a/",  "a//b",
	                                    ".",    "..",     "./a",  "a/.", "a/..",
	                                    "../a", "a/../b", "a/./b"};
	char deep[2 * 33], name[1026];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		assert_true(dw_path_is_plain(plain[i]));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_false(dw_path_is_plain(other[i]));

	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 == 0 ? 'a' : '/';
	deep[2 * 33 - 1] = '\0';
	assert_false(dw_path_is_plain(deep));
	deep[2 * 32 - 1] = '\0';
	assert_true(dw_path_is_plain(deep));

	memset(name, 'a', sizeof(name));
	name[1025] = '\0';
	assert_false(dw_path_is_plain(name));
	name[1024] = '\0';
	assert_true(dw_path_is_plain(name));
}

static void missing_parents_are_created(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(dw_path_make_parents(f->fd, "file", 0700), 0);
	assert_false(exists(f->fd, "file"));
	assert_int_equal(dw_path_make_parents(f->fd, "a/b/c/file", 0700), 0);
	assert_true(exists(f->fd, "a/b/c"));
	assert_false(exists(f->fd, "a/b/c/file"));
	assert_int_equal(dw_path_make_parents(f->fd, "a/b/d/file", 0700), 0);
	assert_true(exists(f->fd, "a/b/d"));
}

static void parents_are_not_created_through_a_link_or_a_file(void **state)
{
	const struct fixture *f = *state;
	char name[300];

	assert_int_equal(mkdirat(f->fd, "dir", 0700), 0);
	assert_int_equal(symlinkat("dir", f->fd, "link"), 0);
	make_file(f->fd, "file", "");
	assert_int_equal(dw_path_make_parents(f->fd, "link/a/b", 0700), -ENOTDIR);
	assert_false(exists(f->fd, "dir/a"));
	assert_int_equal(dw_path_make_parents(f->fd, "file/a/b", 0700), -ENOTDIR);
	assert_int_equal(dw_path_make_parents(f->fd, "../a/b", 0700), -EINVAL);
	assert_int_equal(dw_path_make_parents(f->fd, "/tmp/a/b", 0700), -EINVAL);
	memset(name, 'a', sizeof(name));
	(void)strcpy(name + 256, "/b");
	assert_int_equal(dw_path_make_parents(f->fd, name, 0700), -ENAMETOOLONG);
}

static void a_tree_with_every_kind_of_file_is_removed(void **state)
{
	const struct fixture *f = *state;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	autoclose int sock = -1;

	assert_int_equal(mkdirat(f->fd, "keep", 0700), 0);
	make_file(f->fd, "keep/file", "precious");
	assert_int_equal(dw_path_make_parents(f->fd, "tree/a/b/c", 0700), 0);
	assert_int_equal(mkdirat(f->fd, "tree/empty", 0), 0);
	make_file(f->fd, "tree/a/file", "");
	assert_int_equal(fchmodat(f->fd, "tree/a/file", 0, 0), 0);
	assert_int_equal(symlinkat("../keep", f->fd, "tree/link"), 0);
	assert_int_equal(symlinkat("/nowhere", f->fd, "tree/a/broken"), 0);
	assert_int_equal(symlinkat("loop", f->fd, "tree/loop"), 0);
	assert_int_equal(mkfifoat(f->fd, "tree/a/fifo", 0600), 0);
	make_file(f->fd, "tree/\xff\n*", "");
	make_file(f->fd, "tree/...", "");
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/tree/sock", f->path);
	assert_int_equal(bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);

	assert_int_equal(dw_path_remove_tree(f->fd, "tree"), 0);
	assert_false(exists(f->fd, "tree"));
	assert_true(exists(f->fd, "keep/file"));
}

static void removing_a_link_keeps_its_target(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(mkdirat(f->fd, "keep", 0700), 0);
	make_file(f->fd, "keep/file", "");
	assert_int_equal(symlinkat("keep", f->fd, "link"), 0);
	assert_int_equal(dw_path_remove_tree(f->fd, "link"), 0);
	assert_false(exists(f->fd, "link"));
	assert_true(exists(f->fd, "keep/file"));
	assert_int_equal(dw_path_remove_tree(f->fd, "link"), -ENOENT);
}

static void only_a_single_name_can_be_removed(void **state)
{
	static const char *const names[] = {"", ".", "..", "/", "a/b", "../x", "a/"};
	const struct fixture *f = *state;

	assert_int_equal(dw_path_make_parents(f->fd, "a/b/c", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(dw_path_remove_tree(f->fd, names[i]), -EINVAL);
	assert_true(exists(f->fd, "a/b"));
}

/* Makes a chain of folders, each with a file in it, longer than PATH_MAX. */
static void dig(int top, const char *name, unsigned depth, mode_t mode)
{
	int at = dup(top), next;
	char here[16];

	for (unsigned i = 0; i < depth; i++) {
		(void)snprintf(here, sizeof(here), "%s", i == 0 ? name : "d");
		CHECK(mkdirat(at, here, 0700) == 0);
		next = openat(at, here, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		CHECK(next >= 0);
		CHECK(close(openat(next, "f", O_WRONLY | O_CREAT | O_CLOEXEC, mode)) ==
		      0);
		/* Locked after it was opened: no path leads through it any more. */
		CHECK(i == 0 || fchmod(at, mode) == 0);
		(void)close(at);
		at = next;
	}
	CHECK(fchmod(at, mode) == 0);
	(void)close(at);
}

static void remove_deep(const struct fixture *f)
{
	allow_descriptors(64);
	dig(f->fd, "deep", 10000, 0700);
	CHECK(dw_path_remove_tree(f->fd, "deep") == 0);
	CHECK(!exists(f->fd, "deep"));
}

static void a_tree_of_depth_ten_thousand_is_removed_with_few_descriptors(void **state)
{
	in_child(remove_deep, *state);
}

static void remove_deep_locked(const struct fixture *f)
{
	become_nobody();
	allow_descriptors(64);
	dig(f->fd, "locked", 10000, 0);
	CHECK(geteuid() == 0 || openat(f->fd, "locked", O_RDONLY | O_CLOEXEC) == -1);
	CHECK(dw_path_remove_tree(f->fd, "locked") == 0);
	CHECK(!exists(f->fd, "locked"));
}

static void folders_of_mode_000_are_removed_by_a_plain_user(void **state)
{
	in_child(remove_deep_locked, *state);
}

/* Several folders on each of many levels: all of them must be moved up. */
static void remove_bushy(const struct fixture *f)
{
	char name[64];
	int at, next;

	become_nobody();
	allow_descriptors(64);
	CHECK(mkdirat(f->fd, "bush", 0700) == 0);
	at = openat(f->fd, "bush", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 10; j++) {
			(void)snprintf(name, sizeof(name), "%d", j);
			CHECK(mkdirat(at, name, 0700) == 0);
			(void)snprintf(name, sizeof(name), "%d/f", j);
			CHECK(symlinkat("/", at, name) == 0);
		}
		next = openat(at, "5", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(next >= 0);
		for (int j = 0; j < 10; j++) {
			(void)snprintf(name, sizeof(name), "%d", j);
			CHECK(fchmodat(at, name, 0, 0) == 0);
		}
		CHECK(fchmod(at, 0) == 0);
		/* A plain user can go on only below a folder with search permission. */
		CHECK(fchmod(next, 0700) == 0);
		(void)close(at);
		at = next;
	}
	(void)close(at);
	CHECK(dw_path_remove_tree(f->fd, "bush") == 0);
	CHECK(!exists(f->fd, "bush"));
}

static void a_deep_tree_with_many_branches_is_removed(void **state)
{
	in_child(remove_bushy, *state);
}

static void a_folder_with_very_many_files_is_removed(void **state)
{
	const struct fixture *f = *state;
	autoclose int fd = -1;
	char name[32];

	assert_int_equal(mkdirat(f->fd, "many", 0700), 0);
	fd = openat(f->fd, "many", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 30000; i++) {
		(void)snprintf(name, sizeof(name), "file-with-some-name-%d", i);
		assert_int_equal(mknodat(fd, name, S_IFREG | 0600, 0), 0);
	}
	assert_int_equal(dw_path_remove_tree(f->fd, "many"), 0);
	assert_false(exists(f->fd, "many"));
}

/* A file without permission stays and is reported; all other files are removed. */
static void remove_foreign(const struct fixture *f)
{
	become_nobody();
	CHECK(dw_path_remove_tree(f->fd, "tree") == -EACCES);
	CHECK(exists(f->fd, "tree/foreign/file"));
	CHECK(!exists(f->fd, "tree/mine"));
	CHECK(!exists(f->fd, "tree/other"));
}

static void the_rest_of_a_tree_is_removed_before_an_error_is_returned(void **state)
{
	const struct fixture *f = *state;

	if (getuid() != 0)
		skip(); /* needs two users */
	assert_int_equal(dw_path_make_parents(f->fd, "tree/foreign/x", 0755), 0);
	make_file(f->fd, "tree/foreign/file", "");
	assert_int_equal(mkdirat(f->fd, "tree/mine", 0), 0);
	make_file(f->fd, "tree/mine/file", "");
	make_file(f->fd, "tree/other", "");
	assert_int_equal(fchownat(f->fd, "tree", 65534, 65534, 0), 0);
	assert_int_equal(fchownat(f->fd, "tree/mine", 65534, 65534, 0), 0);
	in_child(remove_foreign, f);
}

static void remove_around_mounts(const struct fixture *f)
{
	char outside[96], bound[96], fresh[96];
	int fd;

	(void)snprintf(outside, sizeof(outside), "%s/outside", f->path);
	(void)snprintf(bound, sizeof(bound), "%s/tree/a/bound", f->path);
	(void)snprintf(fresh, sizeof(fresh), "%s/tree/fresh", f->path);
	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	/* f->fd refers to a mount of the old mount namespace. */
	fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	/* A mount of another device, and a bind mount, which only openat2() detects. */
	CHECK(mount("tmpfs", fresh, "tmpfs", 0, NULL) == 0);
	CHECK(mknodat(fd, "tree/fresh/file", S_IFREG | 0600, 0) == 0);
	CHECK(mount(outside, bound, NULL, MS_BIND, NULL) == 0);

	CHECK(dw_path_remove_tree(fd, "tree") < 0);
	CHECK(exists(fd, "tree/fresh/file"));
	CHECK(exists(fd, "tree/a/bound/file"));
	CHECK(exists(fd, "outside/file"));
	CHECK(!exists(fd, "tree/a/gone"));

	CHECK(umount2(bound, MNT_DETACH) == 0 && umount2(fresh, MNT_DETACH) == 0);
	CHECK(dw_path_remove_tree(fd, "tree") == 0);
	CHECK(exists(fd, "outside/file"));
}

static void mounts_are_not_crossed(void **state)
{
	const struct fixture *f = *state;
	pid_t pid;
	int status;

	/* Some containers do not permit their root to mount. */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL,
		                                         MS_REC | MS_PRIVATE, NULL) == 0
		              ? 0
		              : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		skip();

	assert_int_equal(mkdirat(f->fd, "outside", 0700), 0);
	make_file(f->fd, "outside/file", "");
	assert_int_equal(dw_path_make_parents(f->fd, "tree/a/bound/x", 0700), 0);
	assert_int_equal(dw_path_make_parents(f->fd, "tree/a/gone/x", 0700), 0);
	make_file(f->fd, "tree/a/gone/file", "");
	assert_int_equal(mkdirat(f->fd, "tree/fresh", 0700), 0);
	in_child(remove_around_mounts, f);
}

static void no_descriptor_is_left_open(void **state)
{
	const struct fixture *f = *state;
	int before = dup(f->fd), after;

	(void)close(before);
	assert_int_equal(dw_path_make_parents(f->fd, "a/b/c/d/e", 0700), 0);
	make_file(f->fd, "a/b/c/file", "");
	assert_int_equal(dw_path_remove_tree(f->fd, "a"), 0);
	assert_int_equal(opens(f->fd, "..", O_RDONLY), -EXDEV);
	after = dup(f->fd);
	(void)close(after);
	assert_int_equal(after, before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(beneath_opens_files_below_the_folder),
		TEST(beneath_refuses_paths_out_of_the_folder),
		TEST(beneath_follows_no_link),
		TEST(beneath_refuses_magic_links),
		TEST(beneath_crosses_no_mount),
		TEST(in_root_follows_links_as_a_chroot_would),
		TEST(in_root_refuses_magic_links),
		TEST(relative_paths_without_dots_are_plain),
		TEST(missing_parents_are_created),
		TEST(parents_are_not_created_through_a_link_or_a_file),
		TEST(a_tree_with_every_kind_of_file_is_removed),
		TEST(removing_a_link_keeps_its_target),
		TEST(only_a_single_name_can_be_removed),
		TEST(a_tree_of_depth_ten_thousand_is_removed_with_few_descriptors),
		TEST(folders_of_mode_000_are_removed_by_a_plain_user),
		TEST(a_deep_tree_with_many_branches_is_removed),
		TEST(a_folder_with_very_many_files_is_removed),
		TEST(the_rest_of_a_tree_is_removed_before_an_error_is_returned),
		TEST(mounts_are_not_crossed),
		TEST(no_descriptor_is_left_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
