/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the place of libFuzzer in every build: fuzz_TARGET CORPUS [FOLDER...] passes each
 * file in the folders to the target, and reports each folder as a test. A folder without
 * files is a failure; the folders after the corpus may be missing. The current file is
 * written to stderr, in case the target crashes.
 */
#undef NDEBUG
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void feed(const char *path)
{
	FILE *file = fopen(path, "re");
	uint8_t *data = NULL;
	size_t size = 0;
	long len;

	if (!file || fseek(file, 0, SEEK_END) < 0 || (len = ftell(file)) < 0)
		err(1, "%s", path);
	rewind(file);

	/* Exactly as large as the file, so that ASan detects a read past the end. */
	size = (size_t)len;
	data = malloc(size);
	if ((size > 0 && !data) || fread(data, 1, size, file) != size)
		err(1, "%s", path);
	(void)fclose(file);

	(void)fprintf(stderr, "%s\n", path);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
}

/* Returns the number of files, or -1 if there is no such folder. */
static int feed_folder(const char *folder)
{
	struct dirent **names = NULL;
	int n = scandir(folder, &names, is_input, alphasort);
	char path[4096];

	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		feed(path);
		free(names[i]);
	}
	free(names);
	return n;
}

int main(int argc, char **argv)
{
	/* Targets may print to stdout, which is for the report only. */
	int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int n, tests = 0;
	bool failed = argc < 2;

	if (out < 0 || null < 0 || dup2(null, STDOUT_FILENO) < 0)
		err(1, "stdout");
	for (int i = 1; i < argc; i++) {
		n = feed_folder(argv[i]);
		if (n < 0 && errno == ENOENT && i > 1)
			continue;
		(void)dprintf(out, "%s %d - %s\n# %d inputs\n", n > 0 ? "ok" : "not ok",
		              ++tests, argv[i], n);
		failed |= n <= 0;
	}
	(void)dprintf(out, "1..%d\n", tests);
	return failed;
}
