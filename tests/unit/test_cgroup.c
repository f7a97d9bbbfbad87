/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "cgroup/cgroup_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define MB (1U << 20)

static const struct dw_limits limits = {.memory_bytes = 64 * MB, .cpu_percent = 50};

/* ---- /proc/self/cgroup ---- */

static const char v2_text[] = "0::/user.slice/user-1000.slice/session-3.scope\n";
static const char v1_text[] = "12:pids:/user/p\n"
			      "11:memory:/user/m\n"
			      "4:cpu,cpuacct:/user/c\n"
			      "1:name=systemd:/init.scope\n";
static const char hybrid_text[] = "9:name=systemd:/\n"
				  "8:pids:/\n"
				  "4:memory:/process_api/b088\n"
				  "2:cpuacct:/wrong\n"
				  "1:cpu:/right\n"
				  "0::/unified\n";

static void path_is(const char *text, const char *controller, const char *want)
{
	char path[256] = "untouched";
	int r = dw_cgroup_own_path(text, controller, path, sizeof(path));

	if (!want) {
		assert_int_equal(r, -ENOENT);
		assert_string_equal(path, "untouched");
		return;
	}
	assert_int_equal(r, 0);
	assert_string_equal(path, want);
}

static void the_own_group_is_found_in_each_kind_of_hierarchy(void **state)
{
	(void)state;
	path_is(v2_text, NULL, "/user.slice/user-1000.slice/session-3.scope");
	path_is(v2_text, "memory", NULL);

	path_is(v1_text, "pids", "/user/p");
	path_is(v1_text, "memory", "/user/m");
	path_is(v1_text, "cpu", "/user/c");
	path_is(v1_text, "cpuacct", "/user/c");
	path_is(v1_text, "systemd", NULL);
	path_is(v1_text, NULL, NULL);

	path_is(hybrid_text, NULL, "/unified");
	path_is(hybrid_text, "memory", "/process_api/b088");
	path_is(hybrid_text, "cpu", "/right");
	path_is(hybrid_text, "pids", "/");
	path_is(hybrid_text, "io", NULL);
}

static void a_named_hierarchy_is_not_a_controller(void **state)
{
	(void)state;
	path_is("1:name=memory:/x\n", "memory", NULL);
	path_is("2:name=cpu:/x\n3:cpu:/y\n", "cpu", "/y");
	path_is("1:name=systemd:/x\n", NULL, NULL);
}

static void paths_are_returned_in_full(void **state)
{
	(void)state;
	path_is("0::/a:b:c\n", NULL, "/a:b:c");
	path_is("5:memory:/docker/x y\n", "memory", "/docker/x y");
	path_is("0::/last", NULL, "/last");
	path_is("0::\n", NULL, "");
	path_is("0::/..\n", NULL, "/..");
	path_is("3:cpu:/one\n4:cpu:/two\n", "cpu", "/one");
}

static void invalid_lines_are_skipped(void **state)
{
	(void)state;
	path_is("", NULL, NULL);
	path_is("\n\n\n", NULL, NULL);
	path_is("no colon\n0:one\n0::/found\n", NULL, "/found");
	path_is(":\n::\n", "memory", NULL);
	path_is("\n:memory:/x", "memory", "/x");
	path_is("memory\nmemory:memory\n", "memory", NULL);
	path_is("4:memoryx,xmemory,mem:/x\n", "memory", NULL);
	path_is("4:Memory:/x\n", "memory", NULL);
	path_is("\xff\xfe:\x01:\x80\n0::/x\n", NULL, "/x");
}

static void a_path_that_does_not_fit_is_an_error(void **state)
{
	char path[8];

	(void)state;
	assert_int_equal(dw_cgroup_own_path("0::/234567\n", NULL, path, sizeof(path)), 0);
	assert_string_equal(path, "/234567");
	assert_int_equal(dw_cgroup_own_path("0::/2345678\n", NULL, path, sizeof(path)),
	                 -ENAMETOOLONG);
	assert_string_equal(path, "/234567");
}

static void a_long_line_of_another_hierarchy_is_skipped(void **state)
{
	autofree char *text = malloc(8192);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 8192);
	memcpy(text, "9:pids:/", 8);
	(void)strcpy(text + 6000, "\n4:memory:/m\n0::/u\n");
	path_is(text, "memory", "/m");
	path_is(text, NULL, "/u");
}

/* A truncated path is the path of another group. */
static void a_long_path_is_never_truncated(void **state)
{
	autofree char *text = malloc(8192), *path = malloc(8192);

	(void)state;
	assert_non_null(text);
	assert_non_null(path);
	for (size_t len = 900; len < 3000; len += 7) {
		size_t n = (size_t)snprintf(text, 8192, "4:memory:/");
		int r;

		memset(text + n, 'p', len);
		(void)strcpy(text + n + len, "\n");
		r = dw_cgroup_own_path(text, "memory", path, 8192);
		if (r == 0 && strlen(path) != len + 1)
			fail_msg("a path of %zu bytes was truncated to %zu", len + 1,
			         strlen(path));
		assert_true(r == 0 || r == -ENAMETOOLONG);
	}
}

static void only_whole_words_are_found(void **state)
{
	(void)state;
	assert_true(dw_cgroup_has_word("cpu memory pids", "cpu"));
	assert_true(dw_cgroup_has_word("cpu memory pids", "memory"));
	assert_true(dw_cgroup_has_word("cpu memory pids", "pids"));
	assert_true(dw_cgroup_has_word("cpu memory pids\n", "pids"));
	assert_true(dw_cgroup_has_word("cpu,cpuacct", "cpu"));
	assert_true(dw_cgroup_has_word("cpuacct,cpu", "cpu"));
	assert_true(dw_cgroup_has_word("cpuset cpuacct cpu io", "cpu"));
	assert_true(dw_cgroup_has_word("memory", "memory"));

	assert_false(dw_cgroup_has_word("", "cpu"));
	assert_false(dw_cgroup_has_word("cpuset cpuacct", "cpu"));
	assert_false(dw_cgroup_has_word("xcpu", "cpu"));
	assert_false(dw_cgroup_has_word("cpu.max", "cpu"));
	assert_false(dw_cgroup_has_word("name=cpu", "cpu"));
	assert_false(dw_cgroup_has_word("mem", "memory"));
	assert_false(dw_cgroup_has_word("cpucpu", "cpu"));
	assert_true(dw_cgroup_has_word("cpucpu cpu", "cpu"));
	assert_false(dw_cgroup_has_word("Memory", "memory"));
}

static void controllers_have_the_kernels_names(void **state)
{
	(void)state;
	assert_string_equal(dw_controller_name(DW_CONTROLLER_MEMORY), "memory");
	assert_string_equal(dw_controller_name(DW_CONTROLLER_CPU), "cpu");
	assert_string_equal(dw_controller_name(DW_CONTROLLER_PIDS), "pids");
}

/* ---- on this host ---- */

static int count_fds(void)
{
	autodir DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir) != NULL)
		n++;
	return n;
}

/* The controllers that limit every cell: all except io, which is optional. */
enum {
	ALWAYS = DW_CONTROLLER_IO
};

/* The folders in which each controller's groups are created. */
static int parents[ALWAYS] = {-1, -1, -1};

/* Skips the test if this host does not let it create cgroups. */
static void needs_groups(void)
{
	struct dw_cgroup cg;
	bool all = true;

	if (geteuid() != 0) {
		print_message("# only root can create cgroups without delegation\n");
		skip();
	}
	dw_cgroup_create(&cg, "probe", NULL, &limits, 10);
	for (int i = 0; i < ALWAYS; i++) {
		if (cg.controllers[i].version == 0) {
			print_message("# %s\n", cg.controllers[i].why);
			all = false;
		} else if (parents[i] < 0) {
			parents[i] = fcntl(cg.controllers[i].parent_fd, F_DUPFD_CLOEXEC,
			                   3);
		}
	}
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
	if (!all)
		skip();
}

/* Returns how many of these folders contain a folder of this name. */
static int count_folders(const char *name)
{
	struct stat st;
	int n = 0;

	for (int i = 0; i < ALWAYS; i++)
		n += fstatat(parents[i], name, &st, 0) == 0;
	return n;
}

static uint64_t number_in(int dir_fd, const char *attr)
{
	char text[64];

	assert_true(dw_fd_read_attr(dir_fd, attr, text, sizeof(text)) > 0);
	return strtoull(text, NULL, 10);
}

/*
 * Forks a child that enters the group and executes the program; without a program, it
 * sleeps until it is killed. Returns when the child is in the group.
 */
static pid_t join(const struct dw_cgroup *cg, int (*program)(void))
{
	int procs[DW_CONTROLLER_COUNT], ready[2];
	struct dw_error err = {0};
	int n = dw_cgroup_open_procs(cg, false, procs, &err);
	pid_t pid;
	char byte = 'n';

	if (n < 0)
		fail_msg("%s", err.text);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < n; i++)
			if (write(procs[i], "0", 1) != 1)
				_exit(99);
		(void)!write(ready[1], "y", 1);
		if (program)
			_exit(program());
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	(void)close(ready[0]);
	for (int i = 0; i < n; i++)
		(void)close(procs[i]);
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int touch_memory(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	               -1, 0);

	if (p == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	return 0;
}

static int touch_little(void)
{
	return touch_memory(16 * MB);
}

static int touch_much(void)
{
	return touch_memory(256 * MB);
}

/* Forks until fork() fails; returns 7 if it failed with EAGAIN. */
static int fork_much(void)
{
	int result = 0;

	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)sleep(10);
			_exit(0);
		}
		if (pid < 0) {
			result = errno == EAGAIN ? 7 : 1;
			break;
		}
	}
	return result;
}

static void a_group_has_its_limits_and_is_removed_completely(void **state)
{
	struct dw_cgroup cg;
	struct dw_error err = {0};
	int before;

	(void)state;
	needs_groups();
	before = count_fds();
	dw_cgroup_create(&cg, "unit", NULL, &limits, 10);
	assert_int_equal(cg.controllers[DW_CONTROLLER_MEMORY].kernel, 64 * MB);
	assert_int_equal(cg.controllers[DW_CONTROLLER_CPU].kernel, 50);
	assert_int_equal(cg.controllers[DW_CONTROLLER_PIDS].kernel, 10);
	assert_true(count_folders(cg.name) > 0);

	/* The kernel's files must agree with the struct. */
	assert_int_equal(number_in(cg.controllers[DW_CONTROLLER_PIDS].dir_fd, "pids.max"),
	                 10);
	if (cg.controllers[DW_CONTROLLER_MEMORY].version == 1)
		assert_int_equal(number_in(cg.controllers[DW_CONTROLLER_MEMORY].dir_fd,
		                           "memory.limit_in_bytes"),
		                 64 * MB);
	if (cg.controllers[DW_CONTROLLER_CPU].version == 1)
		assert_int_equal(number_in(cg.controllers[DW_CONTROLLER_CPU].dir_fd,
		                           "cpu.cfs_quota_us") *
		                         2,
		                 number_in(cg.controllers[DW_CONTROLLER_CPU].dir_fd,
		                           "cpu.cfs_period_us"));

	assert_int_equal(dw_cgroup_destroy(&cg, &err), 0);
	assert_int_equal(count_folders(cg.name), 0);
	assert_int_equal(count_fds(), before);
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		assert_int_equal(cg.controllers[i].version, 0);
}

static void unthrottling_lifts_the_cpu_limit(void **state)
{
	struct dw_cgroup cg;
	char text[64];

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "unit", NULL, &limits, 10);
	dw_cgroup_unthrottle(&cg);
	assert_true(dw_fd_read_attr(cg.controllers[DW_CONTROLLER_CPU].dir_fd,
	                            cg.controllers[DW_CONTROLLER_CPU].version == 1
	                                    ? "cpu.cfs_quota_us"
	                                    : "cpu.max",
	                            text, sizeof(text)) >= 0);
	assert_true(strncmp(text, "-1", 2) == 0 || strncmp(text, "max", 3) == 0);
	assert_int_equal(cg.controllers[DW_CONTROLLER_CPU].kernel,
	                 50); /* the report keeps the limit */
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
	dw_cgroup_unthrottle(&cg); /* a cell without cgroups */
}

static void killing_a_yielding_group_gives_the_cpu_back(void **state)
{
	struct dw_cgroup cg;
	int cpu;

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "unit", NULL, &limits, 10);
	cpu = cg.controllers[DW_CONTROLLER_CPU].dir_fd;
	assert_int_equal(number_in(cpu, "cpu.idle"), 0);
	assert_int_equal(dw_cgroup_yield(&cg, 20), 20);
	assert_int_equal(number_in(cpu, "cpu.idle"), 1);
	if (cg.controllers[DW_CONTROLLER_CPU].version == 1) {
		assert_int_equal(number_in(cpu, "cpu.cfs_quota_us"), 2000);
		assert_int_equal(number_in(cpu, "cpu.cfs_period_us"), 10000);
	}
	dw_cgroup_kill(&cg);
	assert_int_equal(number_in(cpu, "cpu.idle"), 0);
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
	assert_int_equal(dw_cgroup_yield(&cg, 20), 0); /* a cell without cgroups */
}

static void two_cells_have_two_groups(void **state)
{
	struct dw_cgroup a, b;

	(void)state;
	needs_groups();
	dw_cgroup_create(&a, "one", NULL, &limits, 10);
	dw_cgroup_create(&b, "two", &a, &limits, 20);
	assert_string_not_equal(a.name, b.name);
	assert_int_equal(dw_cgroup_destroy(&a, NULL), 0);
	assert_int_equal(count_folders(a.name), 0);
	assert_true(count_folders(b.name) > 0);
	assert_int_equal(number_in(b.controllers[DW_CONTROLLER_PIDS].dir_fd, "pids.max"),
	                 20);
	assert_int_equal(dw_cgroup_destroy(&b, NULL), 0);
}

static void a_limit_that_the_kernel_refuses_is_not_held(void **state)
{
	const struct dw_limits no_cpu = {.memory_bytes = 64 * MB, .cpu_percent = 0};
	struct dw_cgroup cg;
	int before;

	(void)state;
	needs_groups();
	before = count_fds();
	dw_cgroup_create(&cg, "refused", NULL, &no_cpu, 10);
	assert_int_equal(cg.controllers[DW_CONTROLLER_CPU].version, 0);
	assert_non_null(strstr(cg.controllers[DW_CONTROLLER_CPU].why, "cpu cgroup"));
	assert_int_equal(cg.controllers[DW_CONTROLLER_CPU].dir_fd, -1);

	/* The other limits are set all the same. */
	assert_int_not_equal(cg.controllers[DW_CONTROLLER_MEMORY].version, 0);
	assert_int_equal(number_in(cg.controllers[DW_CONTROLLER_PIDS].dir_fd, "pids.max"),
	                 10);
	if (cg.controllers[DW_CONTROLLER_MEMORY].version == 1)
		assert_int_equal(count_folders(cg.name), 2);
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
	assert_int_equal(count_folders(cg.name), 0);
	assert_int_equal(count_fds(), before);
}

static void memory_use_is_measured(void **state)
{
	struct dw_cgroup cg;
	struct dw_cgroup_usage usage;

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "usage", NULL, &limits, 10);
	dw_cgroup_read(&cg, &usage);
	assert_int_equal(usage.oom_kills, 0);
	assert_int_equal(usage.pids_refused, 0);

	assert_int_equal(status_of(join(&cg, touch_little)), 0);
	dw_cgroup_read(&cg, &usage);
	assert_true(usage.memory_peak >= 16 * MB && usage.memory_peak < 64 * MB);
	assert_int_equal(usage.oom_kills, 0);
	assert_int_equal(usage.pids_refused, 0);
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
}

static void an_oom_kill_is_reported(void **state)
{
	struct dw_cgroup cg;
	struct dw_cgroup_usage usage;
	struct pollfd fd;
	int status;

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "oom", NULL, &limits, 10);
	fd = (struct pollfd){cg.oom_fd, dw_cgroup_events(&cg, DW_CONTROLLER_MEMORY), 0};
	assert_true(fd.fd >= 0);
	if (cg.controllers[DW_CONTROLLER_MEMORY].version == 2)
		dw_cgroup_rearm(fd.fd);
	assert_int_equal(poll(&fd, 1, 0), 0);

	status = status_of(join(&cg, touch_much));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(poll(&fd, 1, 2000), 1);
	dw_cgroup_rearm(fd.fd);
	assert_int_equal(poll(&fd, 1, 0), 0);
	dw_cgroup_read(&cg, &usage);
	assert_true(usage.oom_kills >= 1 && usage.oom_kills != UINT64_MAX);
	assert_true(usage.memory_peak <= 64 * MB);
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
}

/* A timer may expire again before poll() if another process runs in between. */
static bool is_quiet_once_rearmed(struct pollfd *fd)
{
	for (int i = 0; i < 100; i++) {
		dw_cgroup_rearm(fd->fd);
		if (poll(fd, 1, 0) == 0)
			return true;
	}
	return false;
}

static void refused_forks_are_counted(void **state)
{
	struct dw_cgroup cg;
	struct dw_cgroup_usage usage;
	struct pollfd fd;
	int status;

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "pids", NULL, &limits, 10);
	dw_cgroup_arm(&cg);
	fd = (struct pollfd){cg.pids_fd, dw_cgroup_events(&cg, DW_CONTROLLER_PIDS), 0};
	status = status_of(join(&cg, fork_much));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(poll(&fd, 1, 2000), 1);
	assert_true(is_quiet_once_rearmed(&fd));
	dw_cgroup_read(&cg, &usage);
	assert_true(usage.pids_refused >= 1 && usage.pids_refused != UINT64_MAX);

	/* Nine processes still sleep in the group. */
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
	assert_int_equal(count_folders(cg.name), 0);
}

static void destroying_a_group_kills_its_processes(void **state)
{
	struct dw_cgroup cg;
	struct dw_error err = {0};
	pid_t pid[3];

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "members", NULL, &limits, 10);
	for (size_t i = 0; i < ARRAY_SIZE(pid); i++)
		pid[i] = join(&cg, NULL);
	assert_int_equal(dw_cgroup_destroy(&cg, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pid); i++) {
		int status = status_of(pid[i]);

		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	assert_int_equal(count_folders(cg.name), 0);
}

static void a_group_can_be_killed_twice_and_remains(void **state)
{
	struct dw_cgroup cg;
	int status;
	pid_t pid;

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "kill", NULL, &limits, 10);
	dw_cgroup_kill(&cg);
	pid = join(&cg, NULL);
	dw_cgroup_kill(&cg);
	status = status_of(pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	dw_cgroup_kill(&cg);
	assert_true(count_folders(cg.name) > 0);
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
}

/* Enough that the list of their pids exceeds 16 KiB. */
static int fork_thousands(void)
{
	for (int i = 0; i < 3500; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0)
			for (;;)
				(void)pause();
	}
	return 0;
}

static void kill_all(int dir_fd)
{
	int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *list = fdopen(fd, "r");
	int pid;

	assert_non_null(list);
	while (fscanf(list, "%d", &pid) == 1)
		(void)kill(pid, SIGKILL);
	(void)fclose(list);
}

static void a_group_with_thousands_of_processes_is_killed(void **state)
{
	const struct dw_limits wide = {.memory_bytes = 2048ULL * MB, .cpu_percent = 400};
	struct dw_error err = {0};
	struct dw_cgroup cg;
	autoclose int procs = -1;

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "crowd", NULL, &wide, 5000);
	if (status_of(join(&cg, fork_thousands)) != 0) {
		print_message("# this host does not permit 3500 processes\n");
		assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);
		skip();
	}
	procs = dup(cg.controllers[DW_CONTROLLER_PIDS].dir_fd);
	if (dw_cgroup_destroy(&cg, &err) < 0) {
		kill_all(procs); /* leave no process behind although the test fails */
		for (int i = 0; i < 200 && count_folders(cg.name) > 0; i++) {
			for (int j = 0; j < ALWAYS; j++)
				(void)unlinkat(parents[j], cg.name, AT_REMOVEDIR);
			(void)usleep(10000);
		}
		fail_msg("%s", err.text);
	}
	assert_int_equal(count_folders(cg.name), 0);
}

static void an_empty_or_incomplete_group_can_be_destroyed(void **state)
{
	struct dw_cgroup cg;
	struct dw_cgroup_usage usage;
	struct dw_error err = {0};
	int before = count_fds(), procs[DW_CONTROLLER_COUNT];

	(void)state;
	dw_cgroup_init(&cg);
	assert_int_equal(dw_cgroup_open_procs(&cg, false, procs, &err), 0);
	dw_cgroup_kill(&cg);
	dw_cgroup_read(&cg, &usage);
	assert_true(usage.memory_peak == UINT64_MAX && usage.oom_kills == UINT64_MAX &&
	            usage.pids_refused == UINT64_MAX);
	assert_int_equal(dw_cgroup_destroy(&cg, &err), 0);
	assert_int_equal(dw_cgroup_destroy(&cg, &err), 0);
	assert_int_equal(err.code, DW_OK);
	assert_int_equal(count_fds(), before);

	/* Another process removed one of the folders. */
	needs_groups();
	before = count_fds();
	dw_cgroup_create(&cg, "half", NULL, &limits, 10);
	assert_int_equal(unlinkat(cg.controllers[DW_CONTROLLER_CPU].parent_fd, cg.name,
	                          AT_REMOVEDIR),
	                 0);
	assert_int_equal(dw_cgroup_destroy(&cg, &err), 0);
	assert_int_equal(dw_cgroup_destroy(&cg, &err), 0);
	assert_int_equal(count_folders(cg.name), 0);
	assert_int_equal(count_fds(), before);
}

/* Slow: dw_cgroup_destroy() retries for a while. */
static void the_error_names_a_group_that_cannot_be_removed(void **state)
{
	struct dw_cgroup cg;
	struct dw_error err = {0};
	autoclose int parent = -1, dir = -1;

	(void)state;
	needs_groups();
	dw_cgroup_create(&cg, "stays", NULL, &limits, 10);
	parent = dup(cg.controllers[DW_CONTROLLER_PIDS].parent_fd);
	dir = dup(cg.controllers[DW_CONTROLLER_PIDS].dir_fd);
	assert_int_equal(mkdirat(dir, "below", 0755), 0);
	assert_int_equal(dw_cgroup_destroy(&cg, &err), -1);
	assert_int_equal(unlinkat(dir, "below", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(parent, cg.name, AT_REMOVEDIR), 0);

	assert_int_equal(err.code, DW_E_INTERNAL);
	assert_non_null(strstr(err.text, cg.name));
	assert_non_null(strstr(err.text, "pids"));
	assert_int_equal(err.sys_errno, EBUSY);
	assert_int_equal(count_folders(cg.name), 0);
}

/* Stores the group's name with another creator's pid: "dewar-...-<pid>-<what>". */
static void name_like(const struct dw_cgroup *cg, pid_t pid, const char *what,
                      char ret[64])
{
	char own[32];
	const char *at;

	(void)snprintf(own, sizeof(own), "-%d-", getpid());
	at = strstr(cg->name, own);
	assert_non_null(at);
	(void)snprintf(ret, 64, "%.*s-%d-%s", (int)(at - cg->name), cg->name, pid, what);
}

/* Forks a child that sleeps until it is killed or this process ends. */
static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	return pid;
}

static void sweeping_removes_only_empty_groups_of_dead_processes(void **state)
{
	enum {
		DEAD_EMPTY,
		DEAD_FULL,
		ALIVE,
		PARENT,
		FIRST_OTHER
	};
	char names[FIRST_OTHER + 5][64] = {
		[FIRST_OTHER] = "dewar-x-unit",
		"dewar--5-unit",
		"dewar-0-unit",
		"dewar-",
		"notdewar-1-unit",
	};
	bool stays[ARRAY_SIZE(names)];
	struct dw_cgroup cg;
	autoclose int fd = -1;
	char procs[96];
	struct stat st;
	pid_t dead, member;
	int parent;

	(void)state;
	needs_groups();
	dead = fork_sleeper(); /* other processes sweep here as well: killed only when all is ready */
	dw_cgroup_create(&cg, "sweeper", NULL, &limits, 10);
	name_like(&cg, dead, "empty", names[DEAD_EMPTY]);
	name_like(&cg, dead, "full", names[DEAD_FULL]);
	name_like(&cg, getpid(), "alive", names[ALIVE]);
	name_like(&cg, getppid(), "parent", names[PARENT]);

	parent = cg.controllers[DW_CONTROLLER_PIDS].parent_fd;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)unlinkat(parent, names[i],
		               AT_REMOVEDIR); /* left behind by a killed test */
		assert_int_equal(mkdirat(parent, names[i], 0755), 0);
	}
	(void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", names[DEAD_FULL]);
	fd = openat(parent, procs, O_WRONLY | O_CLOEXEC);
	member = fork_sleeper();
	assert_true(dprintf(fd, "%d", member) > 0);
	(void)kill(dead, SIGKILL);
	(void)status_of(dead);

	dw_cgroup_sweep(&cg);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		stays[i] = fstatat(parent, names[i], &st, 0) == 0;
	(void)kill(member, SIGKILL);
	(void)status_of(member);

	/* Once the full group is empty, it is removed as well. */
	for (int i = 0; i < 200 && fstatat(parent, names[DEAD_FULL], &st, 0) == 0; i++) {
		dw_cgroup_sweep(&cg);
		(void)usleep(10000);
	}
	assert_int_equal(fstatat(parent, names[DEAD_FULL], &st, 0), -1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlinkat(parent, names[i], AT_REMOVEDIR);
	assert_int_equal(dw_cgroup_destroy(&cg, NULL), 0);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (stays[i] != (i != DEAD_EMPTY))
			fail_msg("%s was %s", names[i], stays[i] ? "left" : "removed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_own_group_is_found_in_each_kind_of_hierarchy),
		cmocka_unit_test(a_named_hierarchy_is_not_a_controller),
		cmocka_unit_test(paths_are_returned_in_full),
		cmocka_unit_test(invalid_lines_are_skipped),
		cmocka_unit_test(a_path_that_does_not_fit_is_an_error),
		cmocka_unit_test(a_long_line_of_another_hierarchy_is_skipped),
		cmocka_unit_test(a_long_path_is_never_truncated),
		cmocka_unit_test(only_whole_words_are_found),
		cmocka_unit_test(controllers_have_the_kernels_names),
		cmocka_unit_test(a_group_has_its_limits_and_is_removed_completely),
		cmocka_unit_test(unthrottling_lifts_the_cpu_limit),
		cmocka_unit_test(killing_a_yielding_group_gives_the_cpu_back),
		cmocka_unit_test(two_cells_have_two_groups),
		cmocka_unit_test(a_limit_that_the_kernel_refuses_is_not_held),
		cmocka_unit_test(memory_use_is_measured),
		cmocka_unit_test(an_oom_kill_is_reported),
		cmocka_unit_test(refused_forks_are_counted),
		cmocka_unit_test(destroying_a_group_kills_its_processes),
		cmocka_unit_test(a_group_can_be_killed_twice_and_remains),
		cmocka_unit_test(a_group_with_thousands_of_processes_is_killed),
		cmocka_unit_test(an_empty_or_incomplete_group_can_be_destroyed),
		cmocka_unit_test(the_error_names_a_group_that_cannot_be_removed),
		cmocka_unit_test(sweeping_removes_only_empty_groups_of_dead_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
