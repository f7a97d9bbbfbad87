/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: a writable path of a request. A leading + stands for the path of the workspace, a
 * leading - for the same folder in a request without a workspace. The path is shared
 * without following a link: inside the workspace if the cell sees it there, otherwise at its
 * own path, and never over a part of the cell itself.
 */
#undef NDEBUG
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "levels/launched.h"

static int shared;

static bool is_at_or_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static void check_share(struct dw_plan_builder *plan, const char *host, const char *cell,
                        bool writable)
{
	static const char *const own[] = {"/usr", "/etc", "/proc", "/dev", "/work"};
	autofree char *real = realpath(host, NULL);

	(void)plan;
	shared++;
	assert(real && strcmp(real, host) == 0);
	if (!writable) {
		assert(strcmp(host, fuzz_folder) == 0 && strcmp(cell, "/work") == 0);
		return;
	}
	if (strncmp(cell, "/work/", 6) == 0) {
		size_t len = strlen(fuzz_folder);

		assert(is_at_or_below(host, fuzz_folder) && host[len] == '/');
		assert(strcmp(host + len + 1, cell + 6) == 0);
		return;
	}
	assert(strcmp(host, cell) == 0 && strcmp(host, "/") != 0);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		assert(!is_at_or_below(host, own[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autofree char *given = fuzz_text(&in), *path = NULL;
	bool below = given[0] == '+' || given[0] == '-';
	struct dw_request req = {.n_writable = 1};
	struct dw_error err = {0};
	struct stat st;
	int r;

	(void)fuzz_folder_open();
	assert(asprintf(&path, "%s%s", below ? fuzz_folder : "", given + below) >= 0);
	req.writable = (const char *const *)&path;
	req.workspace = given[0] == '-' ? NULL : fuzz_folder;
	shared = 0;
	r = dw_host_paths_shares(NULL, &req, check_share, &err);
	assert(shared == (req.workspace != NULL) + (r == 0));
	/* Dewar ignores trailing slashes; lstat() follows a link if there are any. */
	for (size_t end = strlen(path); end > 0 && path[end - 1] == '/'; end--)
		path[end - 1] = '\0';
	if (r < 0)
		fuzz_check_refusal(&err);
	else if (below)
		assert(lstat(path, &st) == 0 && !S_ISLNK(st.st_mode));
	return 0;
}
