/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "docker/docker_own.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"

/* ---- the version ---- */

static void the_older_of_two_api_versions_is_used(void **state)
{
	struct dw_error err = {0};
	char version[12];

	(void)state;
	assert_int_equal(dw_engine_negotiate("1.41", version, sizeof(version), &err), 0);
	assert_string_equal(version, "1.41");
	assert_int_equal(dw_engine_negotiate("1.99", version, sizeof(version), &err), 0);
	assert_string_equal(version, "1.47");
	assert_int_equal(dw_engine_negotiate("1.39", version, sizeof(version), &err), -1);
	assert_int_equal(err.code, DW_E_UNSUPPORTED);
}

static void an_invalid_version_is_refused(void **state)
{
	static const char *const bad[] = {"",      "1",
	                                  "1.",    "1.x",
	                                  "2.41",  "1.41x",
	                                  "1.-41", "1. 41",
	                                  "1.41 ", "1.99999999999"};
	struct dw_error err = {0};
	char version[12];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (dw_engine_negotiate(bad[i], version, sizeof(version), &err) == 0)
			fail_msg("\"%s\" was accepted", bad[i]);
	assert_int_equal(dw_engine_negotiate(NULL, version, sizeof(version), &err), -1);
}

static void a_long_message_is_one_line_and_loses_its_start(void **state)
{
	static const char reply[] = "{\"message\":\"a\\nb\\u001bc\"}";
	char text[16];

	(void)state;
	dw_engine_message(reply, strlen(reply), text, sizeof(text));
	assert_string_equal(text, "a b c");
	dw_engine_message("<html>", 6, text, sizeof(text));
	assert_string_equal(text, "... is not JSON");
	dw_engine_message(NULL, 0, text, sizeof(text));
	assert_string_equal(text, "nothing");
}

/* ---- images ---- */

static void an_image_name_is_split_at_its_tag(void **state)
{
	static const char *const cases[][3] = {
		{"python:3.11-slim", "python", "3.11-slim"},
		{"alpine", "alpine", "latest"},
		{"localhost:5000/a/b", "localhost:5000/a/b", "latest"},
		{"localhost:5000/a/b:x", "localhost:5000/a/b", "x"},
		{"a@sha256:0123", "a@sha256:0123", ""},
	};
	struct dw_error err = {0};
	char name[64], tag[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(dw_image_split(cases[i][0], name, sizeof(name), tag,
		                                sizeof(tag), &err),
		                 0);
		assert_string_equal(name, cases[i][1]);
		assert_string_equal(tag, cases[i][2]);
	}
	assert_int_equal(dw_image_split("", name, sizeof(name), tag, sizeof(tag), &err),
	                 -1);
	assert_int_equal(dw_image_split("a:", name, sizeof(name), tag, sizeof(tag), &err),
	                 -1);
}

static void text_in_a_url_path_is_escaped(void **state)
{
	autofree char *text = dw_docker_http_escape("a/b?c=d&e f");

	(void)state;
	assert_string_equal(text, "a%2Fb%3Fc%3Dd%26e%20f");
}

/* ---- frames ---- */

struct seen {
	struct dw_buf frames;
	struct dw_buf text;
	int answer;
};

static int on_frame(void *user, const struct dw_guest_frame *frame, const char *payload)
{
	struct seen *s = user;

	(void)dw_buf_printf(&s->frames, "%u:%.*s;", frame->kind, (int)frame->len,
	                    payload);
	return s->answer;
}

static void on_text(void *user, const char *data, size_t len)
{
	(void)dw_buf_add(&((struct seen *)user)->text, data, len);
}

static void add_frame(struct dw_buf *buf, uint32_t kind, const char *payload)
{
	struct dw_guest_frame frame = {kind, (uint32_t)strlen(payload)};

	(void)dw_buf_add(buf, &frame, sizeof(frame));
	(void)dw_buf_puts(buf, payload);
}

static void add_wrapped(struct dw_buf *buf, unsigned char stream, const void *data,
                        size_t len)
{
	const unsigned char head[8] =
		{stream, 0, 0, 0, 0, 0, (unsigned char)(len >> 8), (unsigned char)len};

	(void)dw_buf_add(buf, head, sizeof(head));
	(void)dw_buf_add(buf, data, len);
}

static struct dw_demux *new_demux(struct seen *s)
{
	struct dw_demux *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	memset(s, 0, sizeof(*s));
	dw_buf_init(&s->frames, 1 << 20);
	dw_buf_init(&s->text, 1 << 20);
	*d = (struct dw_demux){.on_frame = on_frame, .on_text = on_text, .user = s};
	return d;
}

static void free_demux(struct dw_demux *d, struct seen *s)
{
	dw_buf_finish(&s->frames);
	dw_buf_finish(&s->text);
	free(d);
}

static void frames_are_reassembled_from_any_pieces(void **state)
{
	autobuf struct dw_buf inner, outer;
	struct dw_demux *d;
	struct seen s;

	(void)state;
	dw_buf_init(&inner, 1 << 20);
	dw_buf_init(&outer, 1 << 20);
	add_frame(&inner, DW_GUEST_HELLO, "");
	add_frame(&inner, DW_GUEST_OUT, "hello");
	add_frame(&inner, DW_GUEST_DONE, "");
	/* The engine may split the data anywhere, and mixes the streams. */
	add_wrapped(&outer, 1, inner.data, 11);
	add_wrapped(&outer, 2, "runc: ", 6);
	add_wrapped(&outer, 1, inner.data + 11, 0);
	add_wrapped(&outer, 1, inner.data + 11, inner.len - 11);
	add_wrapped(&outer, 2, "no", 2);

	for (size_t step = 1; step <= outer.len; step++) {
		d = new_demux(&s);
		for (size_t at = 0; at < outer.len; at += step)
			assert_int_equal(dw_demux_feed(d, outer.data + at,
			                               outer.len - at < step
			                                       ? outer.len - at
			                                       : step),
			                 0);
		assert_string_equal(s.frames.data, "1:;3:hello;10:;");
		assert_string_equal(s.text.data, "runc: no");
		free_demux(d, &s);
	}
}

static void an_invalid_stream_header_is_refused(void **state)
{
	static const char *const bad[] = {
		"\0\0\0\0\0\0\0\1x", "\3\0\0\0\0\0\0\1x", "\1\1\0\0\0\0\0\1x",
		"\1\0\0\1\0\0\0\1x", "HTTP/1.1 ",
	};
	struct seen s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct dw_demux *d = new_demux(&s);

		assert_int_equal(dw_demux_feed(d, bad[i], 9), -EPROTO);
		assert_int_equal(s.frames.len, 0);
		free_demux(d, &s);
	}
}

static void an_invalid_guest_frame_is_refused(void **state)
{
	static const struct dw_guest_frame bad[] = {
		{0, 0},
		{DW_GUEST_KIND_COUNT, 0},
		{UINT32_MAX, 0},
		{DW_GUEST_OUT, DW_GUEST_PAYLOAD_MAX + 1},
		{DW_GUEST_OUT, UINT32_MAX},
	};
	struct seen s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct dw_demux *d = new_demux(&s);
		autobuf struct dw_buf outer;

		dw_buf_init(&outer, 1 << 20);
		add_wrapped(&outer, 1, &bad[i], sizeof(bad[i]));
		assert_int_equal(dw_demux_feed(d, outer.data, outer.len), -EPROTO);
		free_demux(d, &s);
	}
}

static void an_error_of_the_frame_callback_ends_the_stream(void **state)
{
	autobuf struct dw_buf inner, outer;
	struct dw_demux *d;
	struct seen s;

	(void)state;
	dw_buf_init(&inner, 1 << 20);
	dw_buf_init(&outer, 1 << 20);
	add_frame(&inner, DW_GUEST_WANT, "");
	add_frame(&inner, DW_GUEST_WANT, "");
	add_wrapped(&outer, 1, inner.data, inner.len);
	d = new_demux(&s);
	s.answer = -EPROTO;
	assert_int_equal(dw_demux_feed(d, outer.data, outer.len), -EPROTO);
	assert_string_equal(s.frames.data, "5:;");
	free_demux(d, &s);
}

/* ---- attach ---- */

static void the_head_of_a_response_is_separated_from_the_data(void **state)
{
	static const char whole[] = "HTTP/1.1 101 UPGRADED\r\nX: y\r\n\r\n\1\0";
	size_t len = 0;

	(void)state;
	assert_int_equal(dw_attach_head(whole, sizeof(whole) - 1, &len), 101);
	assert_int_equal(len, sizeof(whole) - 3);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(dw_attach_head(whole, i, &len), 0);
	assert_int_equal(dw_attach_head("garbage\r\n\r\n", 11, &len), -1);
	assert_int_equal(dw_attach_head("HTTP/1.1 x\r\n\r\n", 14, &len), -1);
	assert_int_equal(dw_attach_head("HTTP/1.1\r\n\r\n", 12, &len), -1);
}

/* ---- inspect ---- */

static int inspect(const char *reply, struct dw_inspected *ret, struct dw_error *err)
{
	json_auto_t *root = json_loads(reply, 0, NULL);

	return dw_inspect_read(root, ret, err);
}

static void the_description_of_a_container_is_parsed(void **state)
{
	struct dw_inspected is;
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(
		inspect("{\"State\":{\"Running\":true,\"OOMKilled\":true,\"Pid\":42},"
	                "\"HostConfig\":{\"Runtime\":\"runsc\"},"
	                "\"Config\":{\"Image\":\"alpine:3.20\"},"
	                "\"Mounts\":[{\"Type\":\"bind\",\"Destination\":\"/work\"},"
	                "{\"Type\":\"volume\",\"Destination\":\"/data\"}]}",
	                &is, &err),
		0);
	assert_true(is.running && is.oom_killed);
	assert_int_equal(is.pid, 42);
	assert_string_equal(is.runtime, "runsc");
	assert_string_equal(is.image, "alpine:3.20");
	assert_string_equal(is.volume, "/data");
}

static void missing_fields_of_a_container_are_an_error_or_empty(void **state)
{
	static const char *const bad[] = {"{}", "[]", "null", "{\"State\":1}",
	                                  "{\"State\":{},\"HostConfig\":{}}"};
	struct dw_inspected is;
	struct dw_error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(inspect(bad[i], &is, &err), -1);
	assert_int_equal(inspect("{\"State\":{\"Running\":\"yes\",\"Pid\":-7},\"HostConfig\":"
	                         "{\"Runtime\":7},\"Config\":{}}",
	                         &is, &err),
	                 0);
	assert_false(is.running);
	assert_int_equal(is.pid, 0);
	assert_string_equal(is.runtime, "");
}

static void only_a_hexadecimal_container_id_is_accepted(void **state)
{
	(void)state;
	assert_true(dw_container_is_id("0123456789abcdef0123456789abcdef"
	                               "0123456789abcdef0123456789abcdef"));
	assert_false(dw_container_is_id("../../../x"));
	assert_false(dw_container_is_id("0123456789abcdef?force=1"));
	assert_false(dw_container_is_id("abc"));
	assert_false(dw_container_is_id(""));
	assert_false(dw_container_is_id(NULL));
}

/* ---- owners ---- */

static void this_process_is_a_live_owner(void **state)
{
	char label[256], other[300];
	const char *start;

	(void)state;
	dw_owner_make(label, sizeof(label));
	assert_string_not_equal(label, "");
	assert_false(dw_owner_is_dead(label, true));
	assert_false(dw_owner_is_dead(label, false));

	/* Our pid with another start time: that process ended. */
	start = strrchr(label, ':') + 1;
	(void)snprintf(other, sizeof(other), "%.*s1", (int)(start - label), label);
	assert_true(dw_owner_is_dead(other, true));
}

static void an_owner_that_cannot_be_examined_may_be_alive(void **state)
{
	static const char *const bad[] = {"",
	                                  "x",
	                                  ":",
	                                  "a:b:c:d",
	                                  "1:2:3",
	                                  "x:1:0:5",
	                                  "x:1:99999999999:5",
	                                  "x:1:2:3x",
	                                  "x:-1:2:3"};
	char label[256], other[300];
	const char *ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(dw_owner_is_dead(bad[i], false));

	/* An owner in another pid namespace. */
	dw_owner_make(label, sizeof(label));
	ns = strchr(label, ':') + 1;
	(void)snprintf(other, sizeof(other), "%.*s1:2:3", (int)(ns - label), label);
	assert_false(dw_owner_is_dead(other, false));

	/* An owner before the last boot: dead unless its container runs. */
	(void)snprintf(other, sizeof(other), "0%s", label);
	assert_false(dw_owner_is_dead(other, true));
	assert_true(dw_owner_is_dead(other, false));
}

/* ---- cgroups ---- */

static void a_cgroup_without_the_containers_id_is_ignored(void **state)
{
	struct dw_docker_enforced held[DW_DOCKER_LIMIT_COUNT];
	struct dw_container_cgroup h;

	(void)state;
	dw_container_cgroup_find(&h, "4:memory:/\n3:pids:/\n0::/\n", "0123456789ab");
	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++)
		assert_int_equal(h.group[i].version, 0);
	dw_container_cgroup_find(&h, "garbage", "0123456789ab");
	dw_container_cgroup_limits(&h, held);
	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++)
		assert_true(held[i].version == 0 && held[i].kernel == 0);
}

/* ---- collected files ---- */

static size_t file_frame(char *ret, const char *name, size_t len, uint64_t size)
{
	struct dw_guest_file file = {.size = size};

	memcpy(ret, &file, sizeof(file));
	memcpy(ret + sizeof(file), name, len);
	return sizeof(file) + len;
}

static int offer(struct dw_collected *c, const char *name, size_t len, uint64_t size)
{
	char frame[4096];

	return dw_collected_file(c, frame, file_frame(frame, name, len, size));
}

struct folder {
	char above[32];
	char path[48];
	struct dw_collected c;
};

static int make_folder(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	(void)snprintf(f->above, sizeof(f->above), "/tmp/test-docker-XXXXXX");
	if (!mkdtemp(f->above))
		return -1;
	(void)snprintf(f->path, sizeof(f->path), "%s/files", f->above);
	dw_collected_open(&f->c, f->path);
	*state = f;
	return 0;
}

static int remove_folder(void **state)
{
	struct folder *f = *state;
	autoclose int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dw_collected_close(&f->c);
	(void)dw_path_remove_tree(tmp, f->above + strlen("/tmp/"));
	free(f);
	return 0;
}

static void a_file_is_written_below_the_folder(void **state)
{
	struct folder *f = *state;
	char path[64], text[16] = "";
	struct stat st;
	int fd;

	assert_int_equal(offer(&f->c, "a/b/c.txt", 9, 5), 0);
	assert_int_equal(dw_collected_data(&f->c, "he", 2), 0);
	assert_int_equal(dw_collected_data(&f->c, "llo", 3), 0);
	(void)snprintf(path, sizeof(path), "%s/a/b/c.txt", f->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	(void)close(fd);
}

static void a_name_that_leads_out_of_the_folder_is_refused(void **state)
{
	static const char *const bad[] = {"../x", "/etc/x", "a/../../x",
	                                  ".",    "a//b",   "a/./b"};
	struct folder *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(offer(&f->c, bad[i], strlen(bad[i]), 0), -EPROTO);
	assert_int_equal(offer(&f->c, "a\0b", 3, 0), -EPROTO);
	assert_int_equal(offer(&f->c, "", 0, 0), -EPROTO);
	assert_int_equal(dw_collected_file(&f->c, "x", 1), -EPROTO);
	/* The folder is not created either. */
	assert_int_equal(access(f->path, F_OK), -1);
}

static void a_link_in_the_path_is_not_followed(void **state)
{
	struct folder *f = *state;

	assert_int_equal(offer(&f->c, "first", 5, 0), 0);
	assert_int_equal(symlinkat("/tmp", f->c.dir_fd, "out"), 0);
	assert_true(offer(&f->c, "out/x", 5, 0) < 0);
	assert_true(offer(&f->c, "out", 3, 0) < 0);
}

static void a_file_is_not_overwritten(void **state)
{
	struct folder *f = *state;

	assert_int_equal(offer(&f->c, "x", 1, 1), 0);
	assert_int_equal(offer(&f->c, "x", 1, 1), -EEXIST);
	/* Its data belongs to no open file. */
	assert_int_equal(dw_collected_data(&f->c, "y", 1), -EPROTO);
}

static void more_data_than_announced_is_refused(void **state)
{
	struct folder *f = *state;

	assert_int_equal(dw_collected_data(&f->c, "x", 1), -EPROTO);
	assert_int_equal(offer(&f->c, "x", 1, 2), 0);
	assert_int_equal(dw_collected_data(&f->c, "xyz", 3), -EPROTO);
	assert_int_equal(offer(&f->c, "y", 1, UINT64_MAX), -EPROTO);
}

static void the_numbers_of_files_and_bytes_have_a_ceiling(void **state)
{
	struct folder *f = *state;
	static char chunk[DW_GUEST_PAYLOAD_MAX];
	char name[16];

	assert_int_equal(offer(&f->c, "big", 3, 1ULL << 40), 0);
	for (size_t i = 0; i < DW_GUEST_BYTES_MAX / sizeof(chunk); i++)
		assert_int_equal(dw_collected_data(&f->c, chunk, sizeof(chunk)), 0);
	assert_int_equal(dw_collected_data(&f->c, "x", 1), -EPROTO);
	for (unsigned i = 1; i < DW_GUEST_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(offer(&f->c, name, strlen(name), 0), 0);
	}
	assert_int_equal(offer(&f->c, "last", 4, 0), -EPROTO);
}

static void without_a_request_to_collect_a_file_is_refused(void **state)
{
	struct dw_collected c;

	(void)state;
	dw_collected_open(&c, NULL);
	assert_int_equal(offer(&c, "x", 1, 0), -EPROTO);
}

/* ---- orders ---- */

static void the_plan_for_the_guest_has_no_files(void **state)
{
	struct dw_docker_enforced held[DW_DOCKER_LIMIT_COUNT] = {{1, 1, 0},
	                                                         {0, 0, 0},
	                                                         {0, 0, 0}};
	static _Alignas(struct dw_plan_header) char plan_bytes[65536], copy[65536];
	struct dw_docker_order order = {.asked = {1000, 50, 7}, .cpu_ms = 9};
	struct dw_plan_builder builder;
	struct dw_guest_order head;
	autobuf struct dw_buf out;
	struct dw_error err = {0};
	struct dw_plan plan;
	ssize_t n;
	int fd;

	(void)state;
	dw_plan_init(&builder);
	dw_plan_add_arg(&builder, "python3");
	dw_plan_file(&builder, "/tmp/main.py", 0644, "print(1)", 8);
	dw_plan_allow(&builder, "/", 0);
	dw_plan_add_env(&builder, "A", "b");
	fd = dw_plan_seal(&builder, &err);
	assert_true(fd >= 0);
	dw_plan_finish(&builder);
	n = pread(fd, plan_bytes, sizeof(plan_bytes), 0);
	(void)close(fd);
	assert_int_equal(dw_plan_read(plan_bytes, (size_t)n, &order.plan, &err), 0);
	order.root = json_pack("{s:[s,s], s:[s]}", "needs", "python3", "sh", "collect",
	                       "*");

	dw_buf_init(&out, DW_GUEST_ORDER_MAX);
	assert_int_equal(dw_docker_order_write(&order, held, &out, &err), 0);
	memcpy(&head, out.data, sizeof(head));
	assert_int_equal(sizeof(head) + head.plan + head.needs + head.collect, out.len);
	memcpy(copy, out.data + sizeof(head), head.plan);
	assert_int_equal(dw_plan_read(copy, head.plan, &plan, &err), 0);
	assert_int_equal(plan.h->n_entries, 1);
	assert_int_equal(plan.entries[0].op, DW_PLAN_ALLOW);
	assert_string_equal(dw_plan_text(&plan, plan.argv[0]), "python3");
	assert_string_equal(dw_plan_text(&plan, plan.env[0]), "A=b");
	assert_memory_equal(out.data + sizeof(head) + head.plan, "python3\0sh\0*", 13);
	/* The guest samples only the limits that no cgroup enforces. */
	assert_int_equal(plan.h->flags, DW_PLAN_SAMPLE_CPU | DW_PLAN_SAMPLE_PIDS);
	assert_int_equal(plan.h->pids, 7);
	assert_int_equal(plan.h->cpu_ms, 9);
	json_decref(order.root);
}

/* An order in a memfd without seals could change after it was checked. */
static void an_order_that_is_not_sealed_is_refused(void **state)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	const char text[] = "{\"probe\":true}";
	struct dw_docker_order order = {0};
	struct dw_error err = {0};
	autoclose int fd = memfd_create("order", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(dw_docker_order_read(&order, fd, -1, &err), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	assert_int_equal(dw_docker_order_read(&order, fd, -1, &err), 0);
	assert_true(order.probe);
	json_decref(order.root);
}

int main(void)
{
#define COLLECTED(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_older_of_two_api_versions_is_used),
		cmocka_unit_test(an_invalid_version_is_refused),
		cmocka_unit_test(a_long_message_is_one_line_and_loses_its_start),
		cmocka_unit_test(an_image_name_is_split_at_its_tag),
		cmocka_unit_test(text_in_a_url_path_is_escaped),
		cmocka_unit_test(frames_are_reassembled_from_any_pieces),
		cmocka_unit_test(an_invalid_stream_header_is_refused),
		cmocka_unit_test(an_invalid_guest_frame_is_refused),
		cmocka_unit_test(an_error_of_the_frame_callback_ends_the_stream),
		cmocka_unit_test(the_head_of_a_response_is_separated_from_the_data),
		cmocka_unit_test(the_description_of_a_container_is_parsed),
		cmocka_unit_test(missing_fields_of_a_container_are_an_error_or_empty),
		cmocka_unit_test(only_a_hexadecimal_container_id_is_accepted),
		cmocka_unit_test(this_process_is_a_live_owner),
		cmocka_unit_test(an_owner_that_cannot_be_examined_may_be_alive),
		cmocka_unit_test(a_cgroup_without_the_containers_id_is_ignored),
		COLLECTED(a_file_is_written_below_the_folder),
		COLLECTED(a_name_that_leads_out_of_the_folder_is_refused),
		COLLECTED(a_link_in_the_path_is_not_followed),
		COLLECTED(a_file_is_not_overwritten),
		COLLECTED(more_data_than_announced_is_refused),
		COLLECTED(the_numbers_of_files_and_bytes_have_a_ceiling),
		cmocka_unit_test(without_a_request_to_collect_a_file_is_refused),
		cmocka_unit_test(the_plan_for_the_guest_has_no_files),
		cmocka_unit_test(an_order_that_is_not_sealed_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
