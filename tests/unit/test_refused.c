/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages about hosts of other kinds, from made-up facts. tests/e2e/test_doctor.py tests how
 * the facts of a host are read.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "levels/host.h"

#define SWITCHES(clone, restricted) \
	.userns_clone = (clone), .restrict_userns = (restricted)
#define NO_SWITCHES SWITCHES(-1, -1)

static void each_kind_of_host_gets_its_own_remedy(void **state)
{
	static const struct {
		struct dw_host host;
		enum dw_report_stage stage;
		int eno;
		const char *remedy;
	} cases[] = {
		{{.proc = true, SWITCHES(0, -1)},
	         DW_STAGE_NAMESPACES,
	         EPERM,
	         "sysctl -w kernel.unprivileged_userns_clone=1"},
		{{.proc = true, NO_SWITCHES, .zero_namespaces = "user"},
	         DW_STAGE_NAMESPACES,
	         ENOSPC,
	         "sysctl -w user.max_user_namespaces=10000"},
		{{.proc = true, NO_SWITCHES, .zero_namespaces = "net"},
	         DW_STAGE_NAMESPACES,
	         ENOSPC,
	         "sysctl -w user.max_net_namespaces=10000"},
		{{.proc = true, NO_SWITCHES},
	         DW_STAGE_NAMESPACES,
	         ENOSPC,
	         "sysctl -w user.max_user_namespaces=10000"},
		{{.proc = true, SWITCHES(-1, 1)},
	         DW_STAGE_INSIDE,
	         EPERM,
	         "apparmor_parser -r "},
		{{.proc = true, SWITCHES(-1, 1)},
	         DW_STAGE_NAMESPACES,
	         EACCES,
	         "apparmor_parser -r "},
		{{.proc = true, SWITCHES(-1, 0), .chroot = DW_CHROOT_YES},
	         DW_STAGE_NAMESPACES,
	         EPERM,
	         "unshare -m "},
		{{.proc = true, NO_SWITCHES, .filtered = true},
	         DW_STAGE_NAMESPACES,
	         ENOSYS,
	         "start dewar outside of that filter; in a systemd unit: "
	         "RestrictNamespaces=no"},
		{{.proc = true,
	          NO_SWITCHES,
	          .filtered = true,
	          .container = DW_CONTAINER_DOCKER},
	         DW_STAGE_NAMESPACES,
	         EPERM,
	         "docker run --security-opt seccomp=unconfined"},
		{{.proc = true,
	          NO_SWITCHES,
	          .filtered = true,
	          .container = DW_CONTAINER_PODMAN},
	         DW_STAGE_SOURCES,
	         EPERM,
	         "podman run --security-opt seccomp=unconfined"},
		{{.proc = true,
	          NO_SWITCHES,
	          .masked = "/proc/kcore",
	          .container = DW_CONTAINER_DOCKER},
	         DW_STAGE_PROC,
	         EPERM,
	         "docker run --security-opt systempaths=unconfined"},
		{{.proc = true, NO_SWITCHES, .masked = "/proc/kcore", .filtered = true},
	         DW_STAGE_PROC,
	         EPERM,
	         "umount /proc/kcore"},
		{{.proc = true, NO_SWITCHES, .proc_readonly = true},
	         DW_STAGE_PROC,
	         EPERM,
	         "mount -o remount,rw /proc"},
		{{.proc = true,
	          NO_SWITCHES,
	          .profile = "docker-default",
	          .container = DW_CONTAINER_DOCKER},
	         DW_STAGE_MOUNTS,
	         EACCES,
	         "docker run --security-opt apparmor=unconfined"},
		{{.proc = true, NO_SWITCHES, .ramfs = true},
	         DW_STAGE_MOUNTS,
	         EINVAL,
	         "switch_root "},
		{{.proc = true, NO_SWITCHES, .no_namespaces = "user"},
	         DW_STAGE_NAMESPACES,
	         EINVAL,
	         "a kernel with CONFIG_USER_NS=y"},
		{{.proc = true, NO_SWITCHES, .proc_readonly = true},
	         DW_STAGE_INSIDE,
	         EROFS,
	         "mount -o remount,rw /proc"},
		{{.proc = false}, DW_STAGE_SPAWN, 0, "mount -t proc proc /proc"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dw_error err = {0};
		const char *remedy;

		(void)dw_fail(&err, DW_E_INTERNAL, cases[i].eno, "create namespaces");
		dw_failure_cause_explain_on(&cases[i].host, cases[i].stage, &err);
		remedy = dw_failure_cause_remedy(err.text);
		assert_int_equal(err.code, DW_E_UNSUPPORTED);
		if (!strstr(remedy, cases[i].remedy))
			fail_msg("host %zu: %s", i, err.text);
		/* Room is left for a prefix such as "level container: ". */
		assert_true(strlen(err.text) < sizeof(err.text) - 40);
	}
}

static void without_a_known_cause_the_error_is_unchanged(void **state)
{
	static const struct {
		struct dw_host host;
		enum dw_report_stage stage;
		int eno;
	} cases[] = {
		{{.proc = true, NO_SWITCHES}, DW_STAGE_NAMESPACES, EPERM},
		{{.proc = true, NO_SWITCHES}, DW_STAGE_NAMESPACES, ENOSYS},
		{{.proc = true, NO_SWITCHES}, DW_STAGE_PROC, EPERM},
		{{.proc = true, SWITCHES(1, 0)}, DW_STAGE_INSIDE, EPERM},
		{{.proc = true, NO_SWITCHES, .filtered = true}, DW_STAGE_MOUNTS, ENOMEM},
		{{.proc = true, NO_SWITCHES, .masked = "/proc/kcore"},
	         DW_STAGE_PROC,
	         ENOMEM},
		{{.proc = true, NO_SWITCHES, .ramfs = true}, DW_STAGE_MOUNTS, EIO},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dw_error err = {0}, before;

		(void)dw_fail(&err, DW_E_INTERNAL, cases[i].eno, "build");
		before = err;
		dw_failure_cause_explain_on(&cases[i].host, cases[i].stage, &err);
		assert_int_equal(err.code, before.code);
		assert_string_equal(err.text, before.text);
	}
}

static void masked_paths_are_found_in_mountinfo(void **state)
{
	static const char docker[] =
		"614 520 0:55 / / rw,relatime - overlay overlay rw,lowerdir=/a\n"
		"615 614 0:58 / /proc rw,nosuid - proc proc rw\n"
		"620 614 254:1 /c/hosts /etc/hosts rw,relatime - ext4 /dev/vda rw\n"
		"521 615 0:58 /bus /proc/bus ro,nosuid - proc proc rw\n";
	static const char plain[] =
		"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
		"23 22 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n"
		"27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";
	struct dw_host host = {0};

	(void)state;
	dw_host_read_mounts(docker, &host);
	assert_string_equal(host.masked, "/proc/bus");
	assert_true(host.bound_etc);
	dw_host_read_mounts(plain, &host);
	assert_string_equal(host.masked, "");
	assert_false(host.bound_etc || host.ramfs || host.proc_readonly);
	dw_host_read_mounts(
		"1 1 0:2 / / rw - rootfs rootfs rw\n2 1 0:3 / /proc ro - proc p rw",
		&host);
	assert_true(host.ramfs && host.proc_readonly);
	dw_host_read_mounts("nonsense\n - \n1 2 - x", &host);
	assert_string_equal(host.masked, "");
}

static void the_boot_option_for_landlock_keeps_the_other_modules(void **state)
{
	char line[128];

	(void)state;
	dw_host_lsm_line("capability,yama,apparmor\n", line, sizeof(line));
	assert_string_equal(line, "lsm=landlock,yama,apparmor");
	dw_host_lsm_line("capability", line, sizeof(line));
	assert_string_equal(line, "lsm=landlock");
	dw_host_lsm_line("lockdown,yama quiet", line, sizeof(line));
	assert_string_equal(line, "lsm=landlock,lockdown,yama");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_host_gets_its_own_remedy),
		cmocka_unit_test(without_a_known_cause_the_error_is_unchanged),
		cmocka_unit_test(masked_paths_are_found_in_mountinfo),
		cmocka_unit_test(the_boot_option_for_landlock_keeps_the_other_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
