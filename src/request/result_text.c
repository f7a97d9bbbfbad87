/* SPDX-License-Identifier: Apache-2.0 */
#include "dewar/result.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "dewar/request.h"
#include "request/limits.h"

#define MB 1048576

/*
 * Add text that may contain any bytes, as UTF-8 and without NULs: the result is a C
 * string, and a NUL would hide everything after it.
 */
static void add_clean(struct dw_buf *buf, const char *data, size_t len)
{
	autofree char *clean = NULL;
	size_t n;

	clean = dw_utf8_clean(data, len, &len);
	if (!clean) {
		buf->failed = true;
		return;
	}
	for (size_t i = 0; i < len; i += n + 1) {
		n = strlen(clean + i);
		(void)dw_buf_add(buf, clean + i, n);
		if (i + n < len)
			(void)dw_buf_puts(buf, "\xef\xbf\xbd");
	}
}

static void add_stream(struct dw_buf *buf, const struct dw_result *res,
                       enum dw_stream stream)
{
	static const char *const names[] = {
		[DW_STDOUT] = "stdout",
		[DW_STDERR] = "stderr",
	};
	const char *data = res->out[stream];
	size_t len = data ? res->out_len[stream] : 0;

	_Static_assert(ARRAY_SIZE(names) == DW_STREAM_COUNT, "a name for each stream");
	(void)dw_buf_printf(buf, "%s:\n", names[stream]);
	if (len > 0)
		add_clean(buf, data, len);
	if (len > 0 && data[len - 1] != '\n')
		(void)dw_buf_puts(buf, "\n");
	if (res->truncated[stream])
		(void)dw_buf_printf(buf, "[%s cut at %zu bytes]\n", names[stream], len);
}

/* The string, or NULL if an allocation failed. */
static char *take(struct dw_buf *buf)
{
	return buf->failed ? NULL : dw_buf_take(buf, NULL);
}

char *dw_result_to_text(const struct dw_result *res)
{
	autobuf struct dw_buf buf;

	dw_buf_init(&buf, SIZE_MAX / 2);
	if (res->exit_code >= 0)
		(void)dw_buf_printf(&buf, "exit_code: %d\n", res->exit_code);
	else
		(void)dw_buf_puts(&buf, "exit_code: none (the program did not run)\n");
	add_stream(&buf, res, DW_STDOUT);
	add_stream(&buf, res, DW_STDERR);
	if (res->hint[0] != '\0') {
		(void)dw_buf_puts(&buf, "hint: ");
		add_clean(&buf, res->hint, strlen(res->hint));
		(void)dw_buf_puts(&buf, "\n");
	}
	return take(&buf);
}

/* Print one decimal, with a point in every locale. */
static void add_tenths(struct dw_buf *buf, double value)
{
	unsigned long long tenths = (unsigned long long)(value * 10 + 0.5);

	(void)dw_buf_printf(buf, "%llu.%llu", tenths / 10, tenths % 10);
}

static void add_size(struct dw_buf *buf, uint64_t bytes)
{
	if (bytes < MB)
		(void)dw_buf_printf(buf, "%llu bytes", (unsigned long long)bytes);
	else if (bytes % MB == 0)
		(void)dw_buf_printf(buf, "%llu MB", (unsigned long long)bytes / MB);
	else {
		add_tenths(buf, (double)bytes / MB);
		(void)dw_buf_puts(buf, " MB");
	}
}

static unsigned count_bits(uint32_t bits)
{
	return (unsigned)__builtin_popcount(bits);
}

static bool is_measured(double value)
{
	return value >= 0 && value < 1e15;
}

static bool has_no_caps(const struct dw_walls *walls)
{
	for (size_t i = 0; i < DW_CAP_SET_COUNT; i++)
		if (walls->caps[i] != 0)
			return false;
	return true;
}

/* Add only walls that the kernel reported. */
static void add_walls(struct dw_buf *buf, const struct dw_proof *proof)
{
	const struct dw_walls *walls = &proof->walls;
	const uint32_t all_ns = (1U << DW_NS_COUNT) - 1;
	const uint32_t own_ns = proof->own_ns & all_ns;
	size_t before = buf->len;

	if (!walls->known) {
		(void)dw_buf_puts(buf, ", walls not read back");
		return;
	}
	if (own_ns != 0)
		(void)dw_buf_printf(buf, ", %u own namespace%s", count_bits(own_ns),
		                    count_bits(own_ns) == 1 ? "" : "s");
	if (walls->seccomp_mode == 2)
		(void)dw_buf_puts(buf, ", seccomp");
	if (walls->landlock_abi > 0)
		(void)dw_buf_printf(buf, ", Landlock %d", (int)walls->landlock_abi);
	if (walls->commands > 0)
		(void)dw_buf_printf(buf, ", %d program%s allowed", (int)walls->commands,
		                    walls->commands == 1 ? "" : "s");
	/* Without capabilities, no_new_privs adds nothing. */
	if (has_no_caps(walls))
		(void)dw_buf_puts(buf, ", no capabilities");
	else if (walls->no_new_privs == 1)
		(void)dw_buf_puts(buf, ", no new privileges");
	if (walls->root_read_only == 1)
		(void)dw_buf_puts(buf, ", read-only root");
	/* A host without interfaces is not a wall: the cell must have its own network. */
	if ((own_ns & 1U << DW_NS_NET) && walls->interfaces == 0 && walls->routes == 0)
		(void)dw_buf_puts(buf, ", no network");
	if (buf->len == before)
		(void)dw_buf_puts(buf, ", no walls");
}

static void add_limit(struct dw_buf *buf, const struct dw_proof *proof,
                      enum dw_limit which)
{
	const struct dw_limit_proof *limit = &proof->limits[which];
	uint64_t value = limit->kernel ? limit->kernel : limit->asked;

	if (!limit->enforced) {
		if (limit->asked != 0)
			(void)dw_buf_printf(buf, ", %s not limited here",
			                    dw_limit_rows[which].word);
		return;
	}
	switch (which) {
	case DW_LIMIT_MEMORY:
		(void)dw_buf_puts(buf, ", memory ");
		add_size(buf, value);
		break;
	case DW_LIMIT_CPU:
		(void)dw_buf_printf(buf, ", cpu %llu%%", (unsigned long long)value);
		break;
	case DW_LIMIT_PIDS:
		(void)dw_buf_printf(buf, ", %llu process%s", (unsigned long long)value,
		                    value == 1 ? "" : "es");
		break;
	case DW_LIMIT_IO:
		if (limit->asked == 0)
			return;
		(void)dw_buf_puts(buf, ", disks ");
		add_size(buf, value);
		(void)dw_buf_puts(buf, "/s");
		break;
	default:
		/* Other limits are listed only if they are not enforced. */
		return;
	}
	(void)dw_buf_printf(buf, " (%s)", limit->by ? limit->by : "unknown");
}

static void add_measures(struct dw_buf *buf, const struct dw_result *res)
{
	const char *between = "; ";

	if (is_measured(res->execution_time_ms)) {
		(void)dw_buf_puts(buf, between);
		add_tenths(buf, res->execution_time_ms);
		(void)dw_buf_puts(buf, " ms");
		between = ", ";
	}
	if (is_measured(res->memory_used_mb)) {
		(void)dw_buf_puts(buf, between);
		add_tenths(buf, res->memory_used_mb);
		(void)dw_buf_puts(buf, " MB");
	}
}

char *dw_result_walls_line(const struct dw_result *res)
{
	const struct dw_proof *proof = &res->proof;
	autobuf struct dw_buf buf, parts;

	dw_buf_init(&buf, SIZE_MAX / 2);
	dw_buf_init(&parts, SIZE_MAX / 2);
	if (proof->achieved[0] == '\0') {
		(void)dw_buf_printf(&buf, "%s: nothing ran", proof->requested);
		return take(&buf);
	}

	add_walls(&parts, proof);
	for (unsigned i = 0; i < DW_LIMIT_COUNT; i++)
		add_limit(&parts, proof, i);
	if (parts.failed)
		return NULL;

	/* Each part starts with a comma; skip the first one. */
	(void)dw_buf_printf(&buf, "%s: %s", proof->achieved, parts.data + strlen(", "));
	add_measures(&buf, res);
	return take(&buf);
}
