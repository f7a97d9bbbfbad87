/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: stdout, stderr, a hint, a warning, a file's name and its content, each after a
 * byte with its length; then numbers. Whatever a program wrote, the JSON is valid and
 * contains all of it; the text contains every byte, or U+FFFD in its place.
 */
#undef NDEBUG
#include "dewar/result.h"

#include <jansson.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "dewar/request.h"
#include "fuzz/fuzz.h"

static char *take_piece(struct fuzz_input *in, size_t *ret_len)
{
	return fuzz_copy(in, fuzz_byte(in), ret_len);
}

static bool take_bool(struct fuzz_input *in)
{
	return fuzz_byte(in) & 1;
}

static void take_numbers(struct fuzz_input *in, struct dw_result *res)
{
	struct dw_limit_proof *memory = &res->proof.limits[DW_LIMIT_MEMORY];
	struct dw_walls *walls = &res->proof.walls;

	fuzz_take(in, &res->exit_code, sizeof(res->exit_code));
	fuzz_take(in, &res->signal, sizeof(res->signal));
	fuzz_take(in, &res->execution_time_ms, sizeof(double));
	fuzz_take(in, &res->memory_used_mb, sizeof(double));
	res->cpu_time_ms = -res->execution_time_ms;
	res->status = fuzz_byte(in);
	res->reason = fuzz_byte(in);
	res->truncated[DW_STDOUT] = take_bool(in);
	res->truncated[DW_STDERR] = take_bool(in);
	res->ok = take_bool(in);

	fuzz_take(in, res->proof.requested, 8);
	fuzz_take(in, res->proof.achieved, 8);
	fuzz_take(in, &res->proof.own_ns, sizeof(res->proof.own_ns));
	walls->known = take_bool(in);
	fuzz_take(in, &walls->caps[0], sizeof(walls->caps[0]));
	fuzz_take(in, &walls->seccomp_mode, sizeof(walls->seccomp_mode));
	fuzz_take(in, &walls->landlock_abi, sizeof(walls->landlock_abi));
	walls->commands = walls->seccomp_mode;
	walls->others_refused = walls->landlock_abi;
	fuzz_take(in, &memory->asked, sizeof(memory->asked));
	fuzz_take(in, &memory->kernel, sizeof(memory->kernel));
	memory->enforced = take_bool(in);
}

static struct dw_result *make_result(struct fuzz_input *in)
{
	struct dw_result *res = calloc(1, sizeof(*res));
	autofree char *hint = NULL;

	assert(res);
	res->warnings = calloc(1, sizeof(*res->warnings));
	res->files = calloc(1, sizeof(*res->files));
	assert(res->warnings && res->files);
	res->n_warnings = res->n_files = 1;

	res->out[DW_STDOUT] = take_piece(in, &res->out_len[DW_STDOUT]);
	res->out[DW_STDERR] = take_piece(in, &res->out_len[DW_STDERR]);
	hint = take_piece(in, NULL);
	(void)snprintf(res->hint, sizeof(res->hint), "%s", hint);
	res->warnings[0] = take_piece(in, NULL);
	res->files[0].name = take_piece(in, NULL);
	res->files[0].data = take_piece(in, &res->files[0].len);
	take_numbers(in, res);
	res->findings = calloc(1, sizeof(*res->findings));
	assert(res->findings);
	res->n_findings = 1;
	(void)snprintf(res->findings[0].rule, sizeof(res->findings[0].rule), "%s",
	               res->warnings[0]);
	(void)snprintf(res->findings[0].message, sizeof(res->findings[0].message),
	               "%.199s", res->hint);
	return res;
}

/* The JSON contains the text, with U+FFFD for bytes that are not UTF-8. */
static void check_string(const json_t *value, const char *data, size_t len)
{
	autofree char *clean = dw_utf8_clean(data, len, &len);

	assert(clean && json_is_string(value) && json_string_length(value) == len);
	assert(memcmp(json_string_value(value), clean, len) == 0);
}

static void check_json(const struct dw_result *res)
{
	autofree char *text = dw_result_to_json(res), *data = NULL;
	const json_t *file, *base64;
	json_t *root;
	size_t len;

	assert(text && dw_utf8_valid(text, strlen(text)) && !strchr(text, '\n'));
	root = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	assert(root);
	check_string(json_object_get(root, "stdout"), res->out[DW_STDOUT],
	             res->out_len[DW_STDOUT]);
	check_string(json_object_get(root, "stderr"), res->out[DW_STDERR],
	             res->out_len[DW_STDERR]);
	check_string(json_array_get(json_object_get(root, "warnings"), 0),
	             res->warnings[0], strlen(res->warnings[0]));

	check_string(json_object_get(json_array_get(json_object_get(root, "findings"), 0),
	                             "rule"),
	             res->findings[0].rule, strlen(res->findings[0].rule));

	file = json_array_get(json_object_get(root, "files"), 0);
	check_string(json_object_get(file, "name"), res->files[0].name,
	             strlen(res->files[0].name));
	base64 = json_object_get(file, "data");
	data = malloc(dw_base64_room(json_string_length(base64)) + 1);
	assert(data && dw_base64_decode(json_string_value(base64),
	                                json_string_length(base64), data, &len) == 0);
	assert(len == res->files[0].len && memcmp(data, res->files[0].data, len) == 0);
	json_decref(root);
}

static void add_stream(struct dw_buf *buf, const struct dw_result *res,
                       enum dw_stream stream, const char *name)
{
	size_t given = res->out_len[stream], len;
	autofree char *clean = dw_utf8_clean(res->out[stream], given, &len);

	assert(clean);
	(void)dw_buf_printf(buf, "%s:\n", name);
	for (size_t i = 0; i < len; i++)
		(void)(clean[i] ? dw_buf_add(buf, clean + i, 1)
		                : dw_buf_puts(buf, "\xef\xbf\xbd"));
	if (len > 0 && clean[len - 1] != '\n')
		(void)dw_buf_puts(buf, "\n");
	if (res->truncated[stream])
		(void)dw_buf_printf(buf, "[%s cut at %zu bytes]\n", name, given);
}

static void check_text(const struct dw_result *res)
{
	autofree char *text = dw_result_to_text(res), *line = dw_result_walls_line(res);
	autobuf struct dw_buf front;

	dw_buf_init(&front, SIZE_MAX / 2);
	if (res->exit_code < 0)
		(void)dw_buf_puts(&front, "exit_code: none (the program did not run)\n");
	else
		(void)dw_buf_printf(&front, "exit_code: %d\n", res->exit_code);
	add_stream(&front, res, DW_STDOUT, "stdout");
	add_stream(&front, res, DW_STDERR, "stderr");
	assert(text && line && !front.failed && dw_utf8_valid(text, strlen(text)));
	assert(strncmp(text, front.data, front.len) == 0);
	assert((text[front.len] == '\0') == (res->hint[0] == '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct dw_result *res = make_result(&in);

	check_json(res);
	check_text(res);
	dw_result_free(res);
	return 0;
}
