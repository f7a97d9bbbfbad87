/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `fuzz-seeds tests/fuzz` makes the binary inputs: plans, reports, results. They are in the
 * tree; make them again after a change of their structs.
 */
#undef NDEBUG
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "dewar/request.h"
#include "fuzz/fuzz.h"
#include "wire/plan.h"
#include "wire/report.h"

static const char *top;

static void save(const char *folder, const char *name, const void *data, size_t len)
{
	autoclose int fd = -1;
	char path[1024];

	(void)snprintf(path, sizeof(path), "%s/%s/%s", top, folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || dw_fd_write_all(fd, data, len) < 0)
		err(1, "%s", path);
}

/* Returns the bytes of a plan, valid until the next call. */
static char *plan_bytes(struct dw_plan_builder *b, size_t *ret_len)
{
	static _Alignas(struct dw_plan_header) char data[16384];
	struct dw_error error = {0};
	autoclose int fd = dw_plan_seal(b, &error);
	ssize_t n;

	if (fd < 0)
		errx(1, "%s", error.text);
	n = pread(fd, data, sizeof(data), 0);
	assert(n > 0 && (size_t)n < sizeof(data));
	dw_plan_finish(b);
	*ret_len = (size_t)n;
	return data;
}

static void save_plan(struct dw_plan_builder *b, const char *name)
{
	size_t len;
	const char *data = plan_bytes(b, &len);

	save("corpus/plan", name, data, len);
}

/* Returns a valid plan, in which a caller changes one number. */
static void save_bad_plan(const char *name, size_t offset, uint32_t value)
{
	struct dw_plan_builder b;
	size_t len;
	char *data;

	dw_plan_init(&b);
	dw_plan_add_arg(&b, "true");
	dw_plan_add_env(&b, "A", "b");
	dw_plan_file(&b, "/tmp/code", 0644, "print(1)", 8);
	dw_plan_bind(&b, "/usr", "/usr", 0);
	data = plan_bytes(&b, &len);
	memcpy(data + offset, &value, sizeof(value));
	save("corpus/plan", name, data, len);
}

static void save_bad_plans(void)
{
	const size_t header = sizeof(struct dw_plan_header);
	const size_t file = header, bind = header + sizeof(struct dw_plan_entry);
	const size_t arg = bind + sizeof(struct dw_plan_entry);

	save_bad_plan("bad-magic", offsetof(struct dw_plan_header, magic), 1);
	save_bad_plan("bad-size", offsetof(struct dw_plan_header, size), 1);
	save_bad_plan("bad-count", offsetof(struct dw_plan_header, n_argv), UINT32_MAX);
	save_bad_plan("bad-cwd", offsetof(struct dw_plan_header, cwd), UINT32_MAX);
	save_bad_plan("bad-op", bind + offsetof(struct dw_plan_entry, op), 99);
	save_bad_plan("bad-source", bind + offsetof(struct dw_plan_entry, src), 4096);
	save_bad_plan("bad-target", bind + offsetof(struct dw_plan_entry, dst), 4096);
	save_bad_plan("file-too-long", file + offsetof(struct dw_plan_entry, size), 9);
	/* The data of the file is last, and does not end with a NUL. */
	save_bad_plan("word-without-end", arg, 31);
	save_bad_plan("word-outside", arg, 4096);
}

static void save_plans(void)
{
	struct dw_plan_builder b;

	dw_plan_init(&b);
	dw_plan_add_arg(&b, "true");
	save_plan(&b, "least");

	dw_plan_init(&b);
	save_plan(&b, "no-command");

	dw_plan_init(&b);
	dw_plan_add_arg(&b, "true");
	dw_plan_file(&b, "/tmp/code", 0644, "print(1)", 8);
	save_plan(&b, "file");

	dw_plan_init(&b);
	b.h.flags = DW_PLAN_NAMESPACES | DW_PLAN_DROP | DW_PLAN_SECCOMP;
	b.h.cwd = dw_plan_add_text(&b, "/work");
	b.h.hostname = dw_plan_add_text(&b, "cell");
	b.h.workdir = dw_plan_add_text(&b, "/tmp/cell");
	b.h.memory = 256U << 20;
	dw_plan_add_arg(&b, "/bin/sh");
	dw_plan_add_arg(&b, "-c");
	dw_plan_add_arg(&b, "echo $A");
	dw_plan_add_env(&b, "A", "b");
	dw_plan_add_env(&b, "HOME", "/tmp");
	dw_plan_add_rlimit(&b, RLIMIT_NOFILE, 64);
	dw_plan_dir(&b, "/work", 0755);
	dw_plan_symlink(&b, "usr/bin", "/bin");
	dw_plan_bind(&b, "/usr", "/usr", DW_PLAN_OPTIONAL);
	dw_plan_tmpfs(&b, "/tmp", 01777, 1U << 20, 256);
	dw_plan_proc(&b, "/proc");
	dw_plan_allow(&b, "/tmp", DW_PLAN_WRITABLE);
	dw_plan_exec(&b, "/usr/bin/ls", 0);
	dw_plan_forbid_exec(&b);
	dw_plan_file(&b, "/tmp/in", 0644, "\0\1\2", 3);
	save_plan(&b, "everything");
}

/* A packet, and the number of its descriptors. */
static void save_report(const char *folder, const char *name,
                        const struct dw_report *report, uint8_t n_fds, size_t len)
{
	uint8_t data[1 + 2 * sizeof(*report)] = {n_fds};

	memcpy(data + 1, report, sizeof(*report));
	save(folder, name, data, 1 + len);
}

static void save_reports(void)
{
	static const char *const names[] = {
		[DW_REPORT_HANDED] = "handed",    [DW_REPORT_HELLO] = "hello",
		[DW_REPORT_NETWORK] = "network",  [DW_REPORT_USERNS] = "userns",
		[DW_REPORT_PIDNS] = "pidns",      [DW_REPORT_TMP] = "tmp",
		[DW_REPORT_EMPTY] = "no-program", [DW_REPORT_START] = "start",
	};
	static const char corpus[] = "corpus/report";
	const size_t len = sizeof(struct dw_report);
	struct dw_report report;

	for (uint32_t kind = DW_REPORT_HANDED; kind <= DW_REPORT_START; kind++) {
		bool with_fd = kind != DW_REPORT_HANDED && kind != DW_REPORT_NETWORK &&
		               kind != DW_REPORT_START;

		report = (struct dw_report){.kind = kind, .pid = 7};
		save_report(corpus, names[kind], &report, with_fd, len);
	}
	save_report(corpus, "short", &report, 0, len - 1);
	save_report(corpus, "long", &report, 0, len + 1);
	save_report(corpus, "empty", &report, 0, 0);
	save_report(corpus, "many-descriptors", &report, 8, len);
	save_report(corpus, "descriptors-past-the-most", &report, 11, len);

	report = (struct dw_report){.kind = DW_REPORT_END};
	report.end = (struct dw_report_end){.wait_status = 256, .hit = DW_REASON_OOM};
	save_report(corpus, "end", &report, 0, len);
	report = (struct dw_report){.kind = DW_REPORT_WALLS};
	report.walls = (struct dw_walls){.known = true, .uid = 1000, .seccomp_mode = 2};
	save_report(corpus, "walls", &report, 0, len);
	report = (struct dw_report){.kind = DW_REPORT_ERROR};
	(void)dw_fail(&report.error, DW_E_UNSUPPORTED, 1, "make a namespace");
	save_report(corpus, "error", &report, 0, len);
}

/* Accepted by an earlier version, whose caller used the code as an index. */
static void save_bad_reports(void)
{
	static const char folder[] = "regression/report";
	const size_t len = sizeof(struct dw_report);
	struct dw_report report = {.kind = 99};

	save_report(folder, "kind-unknown", &report, 1, len);
	report.kind = DW_REPORT_WALLS;
	memset(&report.walls.known, 2, 1);
	save_report(folder, "walls-known-is-2", &report, 0, len);
	report.kind = DW_REPORT_ERROR;
	(void)dw_fail(&report.error, DW_E_COUNT, 0, "past the last");
	save_report(folder, "error-code-past-the-last", &report, 0, len);
	(void)dw_fail(&report.error, DW_E_INTERNAL, 0, "%s", "");
	save_report(folder, "error-text-empty", &report, 0, len);
	memset(report.error.text, 'x', sizeof(report.error.text));
	save_report(folder, "error-text-without-end", &report, 0, len);
}

/* The order is that of fuzz_result.c. */
static void save_result(const char *name, const char *out, size_t len, const char *file)
{
	static const char numbers[] = "\1\0\0\0\11\0\0\0\0\0\0\0\0\0\xf8\x3f";
	const struct dw_bytes pieces[] = {
		{out, len},     {"stderr\n", 7},      {"hint", 4},
		{"warning", 7}, {file, strlen(file)}, {"\0\1\2\xff", 4},
	};
	autobuf struct dw_buf buf;

	dw_buf_init(&buf, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		uint8_t n = (uint8_t)pieces[i].len;

		(void)dw_buf_add(&buf, &n, 1);
		(void)dw_buf_add(&buf, pieces[i].data, n);
	}
	(void)dw_buf_add(&buf, numbers, sizeof(numbers));
	assert(!buf.failed);
	save("corpus/result", name, buf.data, buf.len);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: fuzz-seeds tests/fuzz");
	top = argv[1];
	save_plans();
	save_bad_plans();
	save_reports();
	save_bad_reports();
	save_result("plain", "hello\n", 6, "out.csv");
	save_result("nuls", "a\0b\0", 4, "a");
	save_result("cut-character", "caf\xc3", 4, "caf\xc3");
	save_result("forged-headline", "x\nstderr:\nexit_code: 0\n", 23, "../up");
	save_result("controls", "\033[2J\x7f\xc2\x9b", 7, "\"\\\n");
	return 0;
}
