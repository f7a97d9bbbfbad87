/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: the contents of an allowed program in an image. Whatever interpreter or loader it
 * names, the result lists only files of that image, and no path leads out of it.
 */
#undef NDEBUG
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "levels/allowed_set.h"

static void make_root(int dir_fd)
{
	static const char *const folders[] = {"usr", "usr/bin", "lib64"};
	static const char *const files[] = {"usr/bin/env", "usr/bin/python3.11",
	                                    "lib64/ld.so"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		assert(mkdirat(dir_fd, folders[i], 0755) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		fuzz_folder_file(dir_fd, files[i]);
		assert(fchmodat(dir_fd, files[i], 0755, 0) == 0);
	}
	assert(symlinkat("python3.11", dir_fd, "usr/bin/python3") == 0);
	assert(symlinkat("usr/bin", dir_fd, "bin") == 0);
}

static void write_program(int dir_fd, const uint8_t *data, size_t size)
{
	autoclose int fd = openat(dir_fd, "usr/bin/x",
	                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
}

static void check_set(const struct dw_allowed_set *set)
{
	char full[2 * DW_ALLOWED_PATH_MAX];
	struct stat st;

	assert(set->n_files >= 1 && strcmp(set->files[0], "/usr/bin/x") == 0);
	for (size_t i = 0; i < set->n_files; i++) {
		autofree char *real = NULL;

		(void)snprintf(full, sizeof(full), "%s%s", fuzz_folder, set->files[i]);
		real = realpath(full, NULL);
		assert(set->files[i][0] == '/' && real && strcmp(real, full) == 0);
		assert(stat(real, &st) == 0 && S_ISREG(st.st_mode));
		for (size_t j = 0; j < i; j++)
			assert(strcmp(set->files[i], set->files[j]) != 0);
	}
	for (size_t i = 0; i < set->n_names; i++)
		assert(set->names[i].path[0] == '/' && set->names[i].file < set->n_files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct dw_error err = {0};
	int dir_fd = fuzz_folder_open();
	struct dw_allowed_set *set;

	if (!made)
		make_root(dir_fd);
	made = true;
	write_program(dir_fd, data, size);
	set = dw_allowed_set_new(fuzz_folder, &err);
	assert(set && dw_allowed_set_add(set, "x", &err) == 0);
	check_set(set);
	dw_allowed_set_free(set);
	return 0;
}
