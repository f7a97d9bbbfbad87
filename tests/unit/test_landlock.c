/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "init/init.h"

/* How a child with one rule ended. */
enum {
	READS = 0,   /* the file behind the rule's folder can be read */
	STOPPED,     /* it cannot */
	REFUSED,     /* the rule cannot be made */
	NO_LANDLOCK, /* this kernel lacks Landlock */
};

struct tree {
	char dir[32];
	char folder[64]; /* the shared folder */
	char secret[64]; /* a folder that is not shared, with a file */
	char link[64];   /* a link to secret, in place of the shared folder */
	char file[96];
};

static void make_tree(struct tree *t)
{
	int fd;

	(void)snprintf(t->dir, sizeof(t->dir), "/tmp/test-dewar.XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	(void)snprintf(t->folder, sizeof(t->folder), "%s/folder", t->dir);
	(void)snprintf(t->secret, sizeof(t->secret), "%s/secret", t->dir);
	(void)snprintf(t->link, sizeof(t->link), "%s/link", t->dir);
	(void)snprintf(t->file, sizeof(t->file), "%s/secret/file", t->dir);
	assert_int_equal(mkdir(t->folder, 0755), 0);
	assert_int_equal(mkdir(t->secret, 0755), 0);
	assert_int_equal(symlink(t->secret, t->link), 0);
	fd = open(t->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	(void)close(fd);
}

static void remove_tree(const struct tree *t)
{
	assert_int_equal(unlink(t->file), 0);
	assert_int_equal(unlink(t->link), 0);
	assert_int_equal(rmdir(t->secret), 0);
	assert_int_equal(rmdir(t->folder), 0);
	assert_int_equal(rmdir(t->dir), 0);
}

/* Applies the plan's Landlock rules, or ends the process. */
static void enter(struct dw_plan_builder *b)
{
	struct dw_error err = {0};
	struct dw_plan plan;
	struct stat st;
	int fd, abi = 0;
	void *map;

	dw_plan_add_arg(b, "/bin/true");
	fd = dw_plan_seal(b, &err);
	if (fd < 0 || fstat(fd, &st) < 0)
		_exit(99);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED || dw_plan_read(map, (size_t)st.st_size, &plan, &err) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(99);
	if (dw_landlock_apply(&plan, &abi, &err) < 0)
		_exit(REFUSED);
	if (abi == 0)
		_exit(NO_LANDLOCK);
}

static _Noreturn void child(const char *path, uint32_t flags, const char *file)
{
	struct dw_plan_builder b;

	dw_plan_init(&b);
	dw_plan_allow(&b, path, flags);
	enter(&b);
	_exit(open(file, O_RDONLY | O_CLOEXEC) < 0 ? STOPPED : READS);
}

static int with_rule(const char *path, uint32_t flags, const char *file)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		child(path, flags, file);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_LANDLOCK)
		skip();
	return WEXITSTATUS(status);
}

/* Returns how a program ends if only cat and its loader may be executed. */
static int with_list(const char *program, uint32_t flags)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct dw_plan_builder b;

		dw_plan_init(&b);
		b.h.flags = flags;
		dw_plan_allow(&b, "/", 0);
		dw_plan_exec(&b, program ? "/bin/cat" : "/bin", 0);
		dw_plan_exec(&b, "/bin/test", DW_PLAN_REFUSED);
		dw_plan_exec(&b, "/lib64/ld-linux-x86-64.so.2", 0);
		enter(&b);
		(void)execl(program, program, "/dev/null", NULL);
		_exit(errno == EACCES ? STOPPED : 98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_LANDLOCK)
		skip();
	return WEXITSTATUS(status);
}

static void only_allowed_commands_are_executed(void **state)
{
	(void)state;
	if (access("/lib64/ld-linux-x86-64.so.2", F_OK) < 0)
		skip(); /* another architecture has another loader */
	assert_int_equal(with_list("/bin/cat", DW_PLAN_COMMANDS), 0);
	assert_int_equal(with_list("/bin/test", DW_PLAN_COMMANDS), STOPPED);
	assert_int_equal(with_list("/bin/true", DW_PLAN_COMMANDS), STOPPED);
	/* Without the flag, any visible program is executed. */
	assert_int_equal(with_list("/bin/true", 0), 0);
	/* A folder would allow all programs in it. */
	assert_int_equal(with_list(NULL, DW_PLAN_COMMANDS), REFUSED);
	assert_int_equal(with_list("/bin/test", 0), 0);
}

static void a_link_in_place_of_a_shared_folder_is_refused(void **state)
{
	struct tree t;

	(void)state;
	make_tree(&t);
	assert_int_equal(with_rule(t.link, DW_PLAN_EXACT | DW_PLAN_WRITABLE, t.file),
	                 REFUSED);
	/* Without DW_PLAN_EXACT the link is followed, which opens the folder behind it. */
	assert_int_equal(with_rule(t.link, DW_PLAN_WRITABLE, t.file), READS);
	remove_tree(&t);
}

static void a_missing_shared_folder_is_refused(void **state)
{
	struct tree t;

	(void)state;
	make_tree(&t);
	assert_int_equal(with_rule("/no/such/folder", DW_PLAN_EXACT, t.file), REFUSED);
	/* Without DW_PLAN_EXACT a missing folder is skipped: some hosts lack it. */
	assert_int_equal(with_rule("/no/such/folder", 0, t.file), STOPPED);
	remove_tree(&t);
}

static void a_rule_opens_its_folder_and_no_other(void **state)
{
	struct tree t;

	(void)state;
	make_tree(&t);
	assert_int_equal(with_rule(t.secret, DW_PLAN_EXACT, t.file), READS);
	assert_int_equal(with_rule(t.folder, DW_PLAN_EXACT, t.file), STOPPED);
	remove_tree(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_in_place_of_a_shared_folder_is_refused),
		cmocka_unit_test(only_allowed_commands_are_executed),
		cmocka_unit_test(a_missing_shared_folder_is_refused),
		cmocka_unit_test(a_rule_opens_its_folder_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
