/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: the name of a file that a cell left, then patterns to collect, each ending
 * in a NUL. The result is regular files of the folder, each once, under printable
 * names; a file that is requested by its name is included.
 */
#undef NDEBUG
#include "run/run_own.h"

#include "base/utf8.h"
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"

#define PATTERNS_MAX 4

static void check_file(int dir, const struct dw_result *res, size_t index)
{
	const struct dw_file_out *file = &res->files[index];
	struct stat st;

	assert(dw_path_is_plain(file->name));
	assert(dw_utf8_valid(file->name, strlen(file->name)));
	assert(strcmp(file->name, "a.txt") != 0); /* the exception */
	assert(strncmp(file->name, "here/", 5) != 0);
	assert(strncmp(file->name, "out/", 4) != 0);
	assert(fstatat(dir, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	assert(S_ISREG(st.st_mode) && (size_t)st.st_size == file->len);
	assert(memcmp(file->data, file->name, file->len) == 0);
	for (size_t i = 0; i < index; i++)
		assert(strcmp(res->files[i].name, file->name) != 0);
}

static bool has_file(const struct dw_result *res, const char *name)
{
	for (size_t i = 0; i < res->n_files; i++)
		if (strcmp(res->files[i].name, name) == 0)
			return true;
	return false;
}

static void collect(int dir, const char *left, const struct dw_request *req)
{
	struct dw_result *res = calloc(1, sizeof(*res));
	struct dw_error err = {0};
	struct stat st;

	assert(res && dw_collect(res, req, dir, "a.txt", &err) == 0);
	assert(res->n_files <= DW_COLLECT_FILES_MAX);
	for (size_t i = 0; i < res->n_files; i++)
		check_file(dir, res, i);
	for (size_t i = 0; i < req->n_collect; i++)
		if (strcmp(req->collect[i], left) == 0 && !strpbrk(left, "*?[") &&
		    strcmp(left, "a.txt") != 0 && dw_utf8_valid(left, strlen(left)) &&
		    fstatat(dir, left, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			assert(has_file(res, left));
	dw_result_free(res);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	int dir = fuzz_folder_open();
	autofree char *left = fuzz_text(&in);
	char *patterns[PATTERNS_MAX];
	struct dw_request req = {.collect = (const char *const *)patterns};
	struct stat st;
	bool made = false;

	if (!strchr(left, '/') && dw_path_is_plain(left) &&
	    fstatat(dir, left, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		fuzz_folder_file(dir, left);
		made = true;
	}
	while (in.size > 0 && req.n_collect < PATTERNS_MAX) {
		patterns[req.n_collect] = fuzz_text(&in);
		if (dw_collect_check(patterns[req.n_collect], NULL) == 0)
			req.n_collect++;
		else
			free(patterns[req.n_collect]);
	}
	collect(dir, left, &req);
	for (size_t i = 0; i < req.n_collect; i++)
		free(patterns[i]);
	if (made)
		(void)unlinkat(dir, left, 0);
	return 0;
}
