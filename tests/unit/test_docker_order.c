/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "levels/docker_cell.h"

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

#define GUEST "/usr/libexec/dewar/dewar-guest"
#define IMAGE "python:3.11-slim"

static struct dw_request req;
static struct dw_spec spec;

static int setup(void **state)
{
	(void)state;
	(void)unsetenv("DOCKER_HOST");
	(void)unsetenv("XDG_RUNTIME_DIR");
	dw_request_init(&req);
	req.language = "python";
	req.code = (struct dw_bytes){"print(1)", 8};
	spec = (struct dw_spec){.id = "0123456789abcdef", .req = &req};
	spec.runtime = dw_runtime_find("python");
	dw_limits_defaults(&spec.limits, &dw_level_docker);
	return 0;
}

static json_t *body_of(void)
{
	struct dw_error err = {0};
	json_t *body = dw_docker_body(&spec, IMAGE, GUEST, &err);

	if (!body)
		fail_msg("%s", err.text);
	return body;
}

static json_t *host_of(json_t *body)
{
	return json_object_get(body, "HostConfig");
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "(none)";
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool has_word(const json_t *list, const char *word)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (strcmp(json_string_value(one), word) == 0)
			return true;
	return false;
}

/* MaskedPaths replaces the engine's own list, so it must contain all of that. */
static void paths_that_reveal_the_kernel_are_masked(void **state)
{
	static const char *const hidden[] =
		{"/sys",       "/proc/sys",   "/proc/cmdline",
	         "/proc/keys", "/proc/kcore", "/proc/locks",
	         "/proc/scsi", "/proc/acpi",  "/proc/timer_list"};
	json_t *body = body_of();
	const json_t *masked = json_object_get(host_of(body), "MaskedPaths");

	(void)state;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		assert_true(has_word(masked, hidden[i]));
	assert_false(has_word(masked, "/proc"));
	json_decref(body);
}

static void a_container_has_every_wall(void **state)
{
	json_t *body = body_of(), *host = host_of(body);

	(void)state;
	assert_string_equal(text(body, "Image"), IMAGE);
	assert_string_equal(text(body, "User"), "65534:65534");
	assert_string_equal(text(host, "NetworkMode"), "none");
	assert_true(json_is_true(json_object_get(host, "ReadonlyRootfs")));
	assert_true(json_is_true(json_object_get(host, "AutoRemove")));
	assert_true(json_is_false(json_object_get(host, "Privileged")));
	assert_true(json_is_false(json_object_get(body, "Tty")));
	assert_string_equal(json_string_value(
				    json_array_get(json_object_get(host, "CapDrop"), 0)),
	                    "ALL");
	assert_string_equal(json_string_value(
				    json_array_get(json_object_get(host, "SecurityOpt"),
	                                           0)),
	                    "no-new-privileges");
	assert_int_equal(json_array_size(json_object_get(host, "SecurityOpt")), 1);
	assert_string_equal(text(json_object_get(host, "LogConfig"), "Type"), "none");
	assert_string_equal(text(host, "IpcMode"), "private");
	assert_string_equal(text(json_object_get(body, "Labels"), "dev.dewar.run"),
	                    spec.id);
	assert_string_equal(text(json_object_get(host, "Tmpfs"), "/tmp"),
	                    "rw,exec,nosuid,nodev,mode=1777,size=67108864,nr_inodes=16385");
	assert_null(json_object_get(host, "Runtime"));
	json_decref(body);
}

static void limits_are_requested_without_swap(void **state)
{
	json_t *body, *host, *files;

	(void)state;
	spec.limits.memory_bytes = 64 << 20;
	spec.limits.cpu_percent = 50;
	spec.limits.pids = 10;
	spec.limits.files = 32;
	body = body_of();
	host = host_of(body);
	assert_int_equal(number(host, "Memory"), 64 << 20);
	assert_int_equal(number(host, "MemorySwap"), 64 << 20);
	assert_int_equal(number(host, "NanoCpus"), 500000000);
	assert_int_equal(number(host, "PidsLimit"), 11); /* dewar-guest is one more */
	files = json_array_get(json_object_get(host, "Ulimits"), 0);
	assert_string_equal(text(files, "Name"), "nofile");
	assert_int_equal(number(files, "Hard"), 32);
	json_decref(body);
}

static void a_cpu_limit_above_the_host_is_all_cpus(void **state)
{
	json_t *body;

	(void)state;
	spec.limits.cpu_percent = 100000;
	body = body_of();
	assert_int_equal(number(host_of(body), "NanoCpus"),
	                 sysconf(_SC_NPROCESSORS_ONLN) * 1000000000);
	json_decref(body);
}

static void network_full_is_the_bridge(void **state)
{
	json_t *body;

	(void)state;
	req.network = DW_NETWORK_FULL;
	body = body_of();
	assert_string_equal(text(host_of(body), "NetworkMode"), "bridge");
	json_decref(body);
}

static void text_of_a_caller_cannot_add_fields(void **state)
{
	struct dw_error err = {0};
	json_t *body;

	(void)state;
	req.runtime = "x\",\"Privileged\":true,\"y\":\"";
	body = dw_docker_body(&spec, "a\"b", GUEST, &err);
	assert_non_null(body);
	assert_string_equal(text(body, "Image"), "a\"b");
	assert_string_equal(text(host_of(body), "Runtime"), req.runtime);
	assert_true(json_is_false(json_object_get(host_of(body), "Privileged")));
	json_decref(body);
}

static void a_workspace_is_mounted_read_only(void **state)
{
	json_t *body, *mounts, *work;

	(void)state;
	req.workspace = "/usr";
	body = body_of();
	mounts = json_object_get(host_of(body), "Mounts");
	assert_int_equal(json_array_size(mounts), 2);
	work = json_array_get(mounts, 1);
	assert_string_equal(text(work, "Source"), "/usr");
	assert_string_equal(text(work, "Target"), "/work");
	assert_true(json_is_true(json_object_get(work, "ReadOnly")));
	assert_true(json_is_true(
		json_object_get(json_object_get(work, "BindOptions"), "NonRecursive")));
	json_decref(body);
}

static void a_path_that_the_containers_user_cannot_write_is_refused(void **state)
{
	char folder[] = "/tmp/test-docker-XXXXXX";
	const char *const paths[] = {folder};
	struct dw_error err = {0};
	json_t *body;

	(void)state;
	assert_non_null(mkdtemp(folder));
	req.writable = paths;
	req.n_writable = 1;
	assert_null(dw_docker_body(&spec, IMAGE, GUEST, &err));
	assert_int_equal(err.code, DW_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "chmod o+w"));

	assert_int_equal(chmod(folder, 0777), 0);
	body = body_of();
	assert_true(json_is_false(
		json_object_get(json_array_get(json_object_get(host_of(body), "Mounts"),
	                                       1),
	                        "ReadOnly")));
	json_decref(body);
	assert_int_equal(rmdir(folder), 0);
}

static void a_workspace_that_the_containers_user_cannot_enter_is_refused(void **state)
{
	char folder[] = "/tmp/test-docker-XXXXXX";
	struct dw_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(folder));
	req.workspace = folder;
	assert_null(dw_docker_body(&spec, IMAGE, GUEST, &err));
	assert_int_equal(err.code, DW_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "/work"));
	assert_int_equal(rmdir(folder), 0);
}

static void sockets_are_tried_in_order(void **state)
{
	struct dw_error err = {0};
	json_t *list;

	(void)state;
	assert_int_equal(setenv("XDG_RUNTIME_DIR", "/run/user/7", 1), 0);
	list = dw_docker_sockets(&err);
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(json_string_value(json_array_get(list, 0)),
	                    "/var/run/docker.sock");
	assert_string_equal(json_string_value(json_array_get(list, 2)),
	                    "/run/user/7/podman/podman.sock");
	json_decref(list);

	/* DOCKER_HOST names the only socket to try. */
	assert_int_equal(setenv("DOCKER_HOST", "unix:///x/y.sock", 1), 0);
	list = dw_docker_sockets(&err);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "/x/y.sock");
	json_decref(list);

	assert_int_equal(setenv("DOCKER_HOST", "tcp://10.0.0.1:2375", 1), 0);
	assert_null(dw_docker_sockets(&err));
	assert_int_equal(err.code, DW_E_UNSUPPORTED);
}

static void every_language_has_an_image(void **state)
{
	const struct dw_runtime *all;
	size_t n;

	(void)state;
	all = dw_runtime_table(&n);
	for (size_t i = 0; i < n; i++)
		if (!dw_docker_image(&all[i]))
			fail_msg("there is no image for %s", all[i].name);
	assert_string_equal(dw_docker_image(dw_runtime_find("python")),
	                    "python:3.11-slim");
	assert_string_equal(dw_docker_image(dw_runtime_find("r")), "r-base:4.4.1");
}

static void an_order_contains_all_fields_of_the_request(void **state)
{
	const char *const patterns[] = {"/tmp/out/*.png", "x"};
	struct dw_error err = {0};
	json_t *order;

	(void)state;
	req.collect = patterns;
	req.n_collect = 2;
	req.pull = DW_PULL_NEVER;
	req.strict = true;
	spec.deadline_ms = 1000000;
	order = dw_docker_order(&spec, IMAGE, GUEST, "/tmp/f", 0, &err);
	assert_non_null(order);
	assert_string_equal(text(order, "pull"), "never");
	assert_string_equal(text(order, "folder"), "/tmp/f");
	assert_true(json_is_null(json_object_get(order, "runtime")));
	assert_true(json_is_true(json_object_get(order, "strict")));
	assert_true(json_is_true(json_object_get(order, "no_network")));
	assert_string_equal(json_string_value(
				    json_array_get(json_object_get(order, "collect"), 0)),
	                    "out/*.png");
	assert_string_equal(json_string_value(
				    json_array_get(json_object_get(order, "needs"), 0)),
	                    "python3");
	/* The engine's deadline is before dewar's own. */
	assert_int_equal(number(order, "deadline_ms"), 999000);
	json_decref(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_container_has_every_wall, setup),
		cmocka_unit_test_setup(paths_that_reveal_the_kernel_are_masked, setup),
		cmocka_unit_test_setup(limits_are_requested_without_swap, setup),
		cmocka_unit_test_setup(a_cpu_limit_above_the_host_is_all_cpus, setup),
		cmocka_unit_test_setup(network_full_is_the_bridge, setup),
		cmocka_unit_test_setup(text_of_a_caller_cannot_add_fields, setup),
		cmocka_unit_test_setup(a_workspace_is_mounted_read_only, setup),
		cmocka_unit_test_setup(
			a_path_that_the_containers_user_cannot_write_is_refused, setup),
		cmocka_unit_test_setup(
			a_workspace_that_the_containers_user_cannot_enter_is_refused,
			setup),
		cmocka_unit_test_setup(sockets_are_tried_in_order, setup),
		cmocka_unit_test_setup(every_language_has_an_image, setup),
		cmocka_unit_test_setup(an_order_contains_all_fields_of_the_request,
	                               setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
