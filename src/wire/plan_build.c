/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/plan.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/report.h"

void dw_plan_init(struct dw_plan_builder *b)
{
	*b = (struct dw_plan_builder){.h = {.magic = DW_PLAN_MAGIC}};
	dw_buf_init(&b->entries, DW_PLAN_ENTRIES_MAX * sizeof(struct dw_plan_entry));
	dw_buf_init(&b->argv, DW_PLAN_WORDS_MAX * sizeof(uint32_t));
	dw_buf_init(&b->env, DW_PLAN_WORDS_MAX * sizeof(uint32_t));
	dw_buf_init(&b->blob, DW_PLAN_SIZE_MAX / 2);
	dw_buf_init(&b->data, (DW_PLAN_ENTRIES_MAX + 1) * sizeof(struct iovec));

	/* Offset 0 is the empty string. */
	(void)dw_buf_add(&b->blob, "", 1);
}

void dw_plan_finish(struct dw_plan_builder *b)
{
	dw_buf_finish(&b->entries);
	dw_buf_finish(&b->argv);
	dw_buf_finish(&b->env);
	dw_buf_finish(&b->blob);
	dw_buf_finish(&b->data);
}

uint32_t dw_plan_add_text(struct dw_plan_builder *b, const char *text)
{
	uint32_t offset = (uint32_t)b->blob.len;

	if (*text == '\0')
		return 0;
	return dw_buf_add(&b->blob, text, strlen(text) + 1) < 0 ? 0 : offset;
}

void dw_plan_add_arg(struct dw_plan_builder *b, const char *word)
{
	uint32_t offset = dw_plan_add_text(b, word);

	(void)dw_buf_add(&b->argv, &offset, sizeof(offset));
}

/* The entry of the variable with that name, or NULL. */
static uint32_t *find_env(struct dw_plan_builder *b, const char *name)
{
	uint32_t *env = (uint32_t *)b->env.data;
	size_t len = strlen(name);

	for (size_t i = 0; i < b->env.len / sizeof(*env); i++) {
		const char *text = b->blob.data + env[i];

		if (strncmp(text, name, len) == 0 && text[len] == '=')
			return &env[i];
	}
	return NULL;
}

void dw_plan_add_env(struct dw_plan_builder *b, const char *name, const char *value)
{
	uint32_t offset = (uint32_t)b->blob.len;
	uint32_t *there = b->blob.failed ? NULL : find_env(b, name);

	(void)dw_buf_puts(&b->blob, name);
	(void)dw_buf_add(&b->blob, "=", 1);
	(void)dw_buf_add(&b->blob, value, strlen(value) + 1);
	if (there)
		*there = offset;
	else
		(void)dw_buf_add(&b->env, &offset, sizeof(offset));
}

void dw_plan_add_rlimit(struct dw_plan_builder *b, int resource, uint64_t value)
{
	if (b->h.n_rlimits == DW_PLAN_RLIMITS_MAX) {
		b->blob.failed = true;
		return;
	}
	b->h.rlimits[b->h.n_rlimits++] = (struct dw_plan_rlimit){
		.resource = (uint32_t)resource,
		.value = value,
	};
}

static void add_entry(struct dw_plan_builder *b, const struct dw_plan_entry *e)
{
	(void)dw_buf_add(&b->entries, e, sizeof(*e));
}

void dw_plan_dir(struct dw_plan_builder *b, const char *dst, uint32_t mode)
{
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_DIR,
			     .mode = mode,
			     .dst = dw_plan_add_text(b, dst),
		     });
}

void dw_plan_symlink(struct dw_plan_builder *b, const char *target, const char *dst)
{
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_SYMLINK,
			     .src = dw_plan_add_text(b, target),
			     .dst = dw_plan_add_text(b, dst),
		     });
}

static void add_data(struct dw_plan_builder *b, const void *data, size_t len)
{
	const struct iovec piece = {.iov_base = (void *)data, .iov_len = len};

	if (len > 0)
		(void)dw_buf_add(&b->data, &piece, sizeof(piece));
}

void dw_plan_file(struct dw_plan_builder *b, const char *dst, uint32_t mode,
                  const void *data, size_t len)
{
	dw_plan_file_led(b, dst, mode, "", data, len);
}

void dw_plan_file_led(struct dw_plan_builder *b, const char *dst, uint32_t mode,
                      const char *lead, const void *data, size_t len)
{
	add_data(b, lead, strlen(lead));
	add_data(b, data, len);
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_FILE,
			     .mode = mode,
			     .dst = dw_plan_add_text(b, dst),
			     .size = strlen(lead) + len,
		     });
}

void dw_plan_bind(struct dw_plan_builder *b, const char *src, const char *dst,
                  uint32_t flags)
{
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_BIND,
			     .flags = flags,
			     .src = dw_plan_add_text(b, src),
			     .dst = dw_plan_add_text(b, dst),
		     });
}

void dw_plan_tmpfs(struct dw_plan_builder *b, const char *dst, uint32_t mode,
                   uint64_t size, uint32_t inodes)
{
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_TMPFS,
			     .mode = mode,
			     .dst = dw_plan_add_text(b, dst),
			     .size = size,
			     .inodes = inodes,
		     });
}

void dw_plan_proc(struct dw_plan_builder *b, const char *dst)
{
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_PROC,
			     .dst = dw_plan_add_text(b, dst),
		     });
}

void dw_plan_allow(struct dw_plan_builder *b, const char *path, uint32_t flags)
{
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_ALLOW,
			     .flags = flags,
			     .dst = dw_plan_add_text(b, path),
		     });
}

void dw_plan_exec(struct dw_plan_builder *b, const char *path, uint32_t flags)
{
	add_entry(b, &(struct dw_plan_entry){
			     .op = DW_PLAN_EXEC,
			     .flags = flags,
			     .dst = dw_plan_add_text(b, path),
		     });
}

void dw_plan_forbid_exec(struct dw_plan_builder *b)
{
	struct dw_plan_entry *e = (struct dw_plan_entry *)b->entries.data;
	size_t n = b->entries.failed ? 0 : b->entries.len / sizeof(*e);

	for (size_t i = 0; i < n; i++)
		if (e[i].op == DW_PLAN_TMPFS ||
		    (e[i].op == DW_PLAN_BIND &&
		     (e[i].flags & (DW_PLAN_WRITABLE | DW_PLAN_OWNER))))
			e[i].flags |= DW_PLAN_NOEXEC;
}

static int too_large(struct dw_error *err)
{
	return dw_fail(err, DW_E_INVALID, E2BIG, "cannot fit the request into a plan");
}

/* The files' data follows all strings, so its offsets are known only now. */
static size_t place_data(struct dw_plan_builder *b)
{
	struct dw_plan_entry *e = (struct dw_plan_entry *)b->entries.data;
	size_t n = b->entries.len / sizeof(*e), at = b->blob.len;

	for (size_t i = 0; i < n; i++) {
		if (e[i].op != DW_PLAN_FILE)
			continue;
		e[i].src = (uint32_t)at;
		at += e[i].size;
	}
	return at;
}

int dw_plan_seal(struct dw_plan_builder *b, struct dw_error *err)
{
	const struct dw_buf *const bufs[] = {&b->entries, &b->argv, &b->env, &b->blob,
	                                     &b->data};
	struct iovec parts[DW_PLAN_ENTRIES_MAX + 6] = {{&b->h, sizeof(b->h)}};
	size_t n = 1, blob, size;

	for (size_t i = 0; i < ARRAY_SIZE(bufs); i++)
		if (bufs[i]->failed)
			return too_large(err);
	blob = place_data(b);
	size = sizeof(b->h) + b->entries.len + b->argv.len + b->env.len + blob;
	if (size > DW_PLAN_SIZE_MAX)
		return too_large(err);
	b->h.size = (uint32_t)size;
	b->h.n_entries = (uint32_t)(b->entries.len / sizeof(struct dw_plan_entry));
	b->h.n_argv = (uint32_t)(b->argv.len / sizeof(uint32_t));
	b->h.n_env = (uint32_t)(b->env.len / sizeof(uint32_t));
	b->h.blob = (uint32_t)blob;

	/* The last buffer is itself a list of parts: the files' data. */
	for (size_t i = 0; i < ARRAY_SIZE(bufs) - 1; i++)
		parts[n++] = (struct iovec){bufs[i]->data, bufs[i]->len};
	if (b->data.len > 0)
		memcpy(&parts[n], b->data.data, b->data.len);
	n += b->data.len / sizeof(*parts);
	return dw_report_seal("dewar-plan", parts, n, err);
}
