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

/* What a child with one rule came to. */
enum {
	READS = 0,   /* the file behind the rule's folder can be read */
	STOPPED,     /* it cannot */
	REFUSED,     /* there is no such rule to be had */
	NO_LANDLOCK, /* not in this kernel */
};

struct tree {
	char dir[32];
	char folder[64]; /* what was shared */
	char secret[64]; /* what was not, with a file in it */
	char link[64];   /* what somebody put in the folder's place: it leads to secret */
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

/* Behind the walls of a plan, or at our end. */
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

/* How a program ends that is executed with a list, on which are cat and its loader. */
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

static void with_a_list_only_what_is_on_it_is_executed(void **state)
{
	(void)state;
	if (access("/lib64/ld-linux-x86-64.so.2", F_OK) < 0)
		skip(); /* another machine has another loader */
	assert_int_equal(with_list("/bin/cat", DW_PLAN_COMMANDS), 0);
	assert_int_equal(with_list("/bin/test", DW_PLAN_COMMANDS), STOPPED);
	assert_int_equal(with_list("/bin/true", DW_PLAN_COMMANDS), STOPPED);
	/* Without, all that is shown is executed. */
	assert_int_equal(with_list("/bin/true", 0), 0);
	/* A folder would let all that is in it be executed. */
	assert_int_equal(with_list(NULL, DW_PLAN_COMMANDS), REFUSED);
	assert_int_equal(with_list("/bin/test", 0), 0);
}

static void a_link_in_the_place_of_a_share_is_refused(void **state)
{
	struct tree t;

	(void)state;
	make_tree(&t);
	assert_int_equal(with_rule(t.link, DW_PLAN_EXACT | DW_PLAN_WRITABLE, t.file),
	                 REFUSED);
	/* Followed, it would open what it leads to: that is why. */
	assert_int_equal(with_rule(t.link, DW_PLAN_WRITABLE, t.file), READS);
	remove_tree(&t);
}

static void a_share_that_is_gone_is_refused(void **state)
{
	struct tree t;

	(void)state;
	make_tree(&t);
	assert_int_equal(with_rule("/no/such/folder", DW_PLAN_EXACT, t.file), REFUSED);
	/* What a host may lack is another thing. */
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
		cmocka_unit_test(a_link_in_the_place_of_a_share_is_refused),
		cmocka_unit_test(with_a_list_only_what_is_on_it_is_executed),
		cmocka_unit_test(a_share_that_is_gone_is_refused),
		cmocka_unit_test(a_rule_opens_its_folder_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
