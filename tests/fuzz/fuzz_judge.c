/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: a byte of flags, the output of an attack up to a NUL, and the JSON of its result.
 * No output makes an attack contained without a wall, sends control characters to the
 * terminal, or becomes markup in the page.
 */
#undef NDEBUG
#include "verify/verify.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

static const char *const stops[] = {"EPERM=seccomp|capability", "EACCES=landlock",
                                    "oom=limit:memory", "ENOENT=absent", NULL};
static const char *const unpromised[] = {"none", "It is not.", "unenforced:memory",
                                         "There is no limit.", NULL};
static const struct dw_attack attack = {
	.name = "fuzz",
	.family = "fuzz",
	.tries = "",
	.because = "",
	.promise = "",
	.source = "",
	.oracles = (const char *const[]){"secret", NULL},
	.stops = stops,
	.unpromised = unpromised,
};

static void check_line(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
		assert(*p >= 0x20 && *p != 0x7f);
		assert(p[0] != 0xc2 || p[1] >= 0xa0 || p[1] < 0x80);
	}
}

/* Markup is escaped. */
static void check_page(struct dw_row *row)
{
	static const char *const absent[] = {NULL};
	struct dw_rows rows = {row, 1, row->target, 1, absent, "root"};
	autoclose int fd = memfd_create("page", MFD_CLOEXEC);
	autofree char *page = NULL;
	struct stat st;

	assert(fd >= 0 && dw_show_html(&rows, fd, NULL) == 0 && fstat(fd, &st) == 0);
	page = malloc((size_t)st.st_size);
	assert(page && pread(fd, page, (size_t)st.st_size, 0) == st.st_size);
	assert(!strpbrk(row->detail, "<>\"") ||
	       !memmem(page, (size_t)st.st_size, row->detail, strlen(row->detail)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t flags = fuzz_byte(&in);
	struct dw_observation outcome = {.fired = flags & 1,
	                                 .seen = "the secret came out"};
	struct dw_observation control = {.fired = flags & 2, .seen = "it came out"};
	static const struct dw_target target = {.level = "container",
	                                        .way = DW_WAY_COLD,
	                                        .title = "container"};
	struct dw_row row = {.attack = &attack, .target = &target, .control_at = ""};
	const json_t *ok;

	outcome.output = control.output = fuzz_text(&in);
	outcome.result = json_loadb((const char *)in.data, in.size, 0, NULL);
	dw_judge_control(&control, &row);
	dw_judge(&outcome, &row);
	ok = json_object_get(json_object_get(outcome.result, "metadata"), "ok");

	assert((unsigned)row.verdict < DW_VERDICT_COUNT);
	assert((row.wall != NULL) == (row.verdict == DW_CONTAINED));
	assert(row.control == (control.fired ? DW_ESCAPED : DW_CANNOT_TELL));
	if (outcome.fired)
		assert(row.verdict == DW_ESCAPED || row.verdict == DW_NOT_PROMISED);
	else
		assert(row.verdict != DW_ESCAPED);
	if (row.verdict == DW_CONTAINED)
		assert(control.fired && json_is_true(ok) && row.detail[0] != '\0');
	check_line(row.detail);
	check_line(row.control_detail);
	check_page(&row);
	free(outcome.output);
	json_decref(outcome.result);
	return 0;
}
