/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "levels/launched.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "wire/report.h"

static int count_fds(void)
{
	autodir DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir) != NULL)
		n++;
	return n;
}

/* ---- guarantees ---- */

static void a_level_has_the_guarantees_of_its_table_entry(void **state)
{
	(void)state;
	assert_int_equal(dw_level_guarantees("none"), 0);
	assert_int_equal(dw_level_guarantees("container"), dw_level_container.guarantees);
	assert_int_equal(dw_level_guarantees("docker"), dw_level_docker.guarantees);
}

static void a_list_has_the_guarantees_that_all_its_levels_share(void **state)
{
	uint32_t both = dw_level_container.guarantees & dw_level_docker.guarantees;

	(void)state;
	assert_int_equal(dw_level_guarantees("container,docker"), both);
	assert_int_equal(dw_level_guarantees("docker,container"), both);
	assert_true(both & DW_G_NO_NETWORK);
	assert_false(both & DW_G_ENGINE);
	assert_int_equal(dw_level_guarantees("container,none"), 0);
}

static void an_unknown_level_guarantees_nothing(void **state)
{
	static const char *const bad[] = {"",           "contain",    "containers",
	                                  "container,", ",container", "container docker"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(dw_level_guarantees(bad[i]), 0);
}

/* The daemon requires a key at levels where code could reach the host's network. */
static void only_levels_without_walls_leave_the_network_open(void **state)
{
	(void)state;
	for (const char *const *name = dw_level_names(); *name; name++)
		assert_int_equal(!(dw_level_guarantees(*name) & DW_G_NO_NETWORK),
		                 strcmp(*name, "none") == 0 ||
		                         strcmp(*name, "process") == 0);
}

static void the_first_level_of_a_list_is_found(void **state)
{
	(void)state;
	assert_ptr_equal(dw_level_first("process,container"), &dw_level_process);
	assert_ptr_equal(dw_level_first("docker"), &dw_level_docker);
	assert_ptr_equal(dw_level_first("unknown,docker"), &dw_level_container);
	assert_ptr_equal(dw_level_first(NULL), &dw_level_container);
}

static void the_weakest_level_with_all_guarantees_is_found(void **state)
{
	(void)state;
	assert_ptr_equal(dw_level_with(0), &dw_level_none);
	assert_ptr_equal(dw_level_with(DW_G_WALLS), &dw_level_process);
	assert_ptr_equal(dw_level_with(DW_G_FORK), &dw_level_container);
	assert_ptr_equal(dw_level_with(DW_G_WARM | DW_G_ENGINE), &dw_level_docker);
	assert_null(dw_level_with(DW_G_FORK | DW_G_ENGINE));
}

/* ---- reports ---- */

/* Makes a cell that has only a report socket; returns the launcher's end of it. */
static int make_cell(struct dw_launched *l, struct dw_spec *spec)
{
	int pair[2];

	*l = (struct dw_launched){.spec = spec, .pidfd = -1, .userns = -1};
	l->pidns = l->ruleset = l->cell.tmp_fd = -1;
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		l->cell.watch[i].fd = -1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	l->report = pair[0];
	return pair[1];
}

static void a_repeated_report_leaks_no_descriptor(void **state)
{
	static const uint32_t kinds[] = {DW_REPORT_TMP, DW_REPORT_USERNS, DW_REPORT_PIDNS,
	                                 DW_REPORT_EMPTY};
	struct dw_launched l;
	struct dw_spec spec = {0};
	int theirs = make_cell(&l, &spec), before = count_fds();

	(void)state;
	for (int round = 0; round < 5; round++)
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			const struct dw_report report = {.kind = kinds[i]};
			autoclose int fd = open("/", O_PATH | O_CLOEXEC);

			assert_int_equal(dw_report_send(theirs, &report, fd), 0);
			dw_launched_on_event(&l.cell, DW_WATCH_REPORT);
		}
	/* Only the newest descriptor of each kind is kept. */
	assert_int_equal(count_fds(), before + (int)ARRAY_SIZE(kinds));
	assert_true(fcntl(l.cell.tmp_fd, F_GETFD) >= 0);
	dw_fd_close(&l.cell.tmp_fd);
	dw_fd_close(&l.userns);
	dw_fd_close(&l.pidns);
	dw_fd_close(&l.ruleset);
	(void)close(theirs);
	(void)close(l.report);
}

/* START has no descriptor: one that is sent all the same is closed. */
static void an_unexpected_descriptor_of_a_report_is_closed(void **state)
{
	const struct dw_report report = {.kind = DW_REPORT_START};
	struct dw_launched l;
	struct dw_spec spec = {0};
	int theirs = make_cell(&l, &spec), before = count_fds();

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dw_report_send(theirs, &report, STDIN_FILENO), 0);
		dw_launched_on_event(&l.cell, DW_WATCH_REPORT);
	}
	assert_true(l.cell.outcome.started);
	assert_int_equal(count_fds(), before);
	(void)close(theirs);
	(void)close(l.report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_level_has_the_guarantees_of_its_table_entry),
		cmocka_unit_test(a_list_has_the_guarantees_that_all_its_levels_share),
		cmocka_unit_test(an_unknown_level_guarantees_nothing),
		cmocka_unit_test(only_levels_without_walls_leave_the_network_open),
		cmocka_unit_test(the_first_level_of_a_list_is_found),
		cmocka_unit_test(the_weakest_level_with_all_guarantees_is_found),
		cmocka_unit_test(a_repeated_report_leaks_no_descriptor),
		cmocka_unit_test(an_unexpected_descriptor_of_a_report_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
