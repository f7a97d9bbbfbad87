/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/allowed_set.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "languages/runtime.h"

#define HEAD_MAX 4096U /* bytes read of a file; the kernel reads 256 of a script */
#define DEPTH_MAX 5U   /* scripts whose interpreters are scripts: the kernel's limit */

struct dw_allowed_set *dw_allowed_set_new(const char *image, struct dw_error *err)
{
	struct dw_allowed_set *set = calloc(1, sizeof(*set));
	autofree char *real = image ? realpath(image, NULL) : NULL;

	if (!set) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM,
		              "cannot list the permitted programs");
		return NULL;
	}
	set->search = DW_RUNTIME_PATH;
	set->root_fd = open(image ? image : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (set->root_fd < 0 || (image && (!real || strlen(real) >= sizeof(set->root)))) {
		(void)dw_fail(err, DW_E_NOT_FOUND, errno,
		              "cannot open the root file system %s", image ? image : "/");
		dw_allowed_set_free(set);
		return NULL;
	}
	(void)snprintf(set->root, sizeof(set->root), "%s", real ? real : "");
	return set;
}

void dw_allowed_set_free(struct dw_allowed_set *set)
{
	if (set && set->root_fd >= 0)
		(void)close(set->root_fd);
	free(set);
}

const char *dw_allowed_real(const struct dw_allowed_set *set, const char *path,
                            char ret[DW_ALLOWED_PATH_MAX])
{
	autoclose int fd = dw_path_open_in_root(set->root_fd, path, O_PATH);
	char link[32], real[DW_ALLOWED_PATH_MAX];
	size_t len = strlen(set->root);
	ssize_t n;

	if (fd < 0)
		return NULL;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	if (n <= (ssize_t)len)
		return NULL;
	real[n] = '\0';
	if (strncmp(real, set->root, len) != 0 || real[len] != '/')
		return NULL;
	memcpy(ret, real + len, (size_t)n - len + 1);
	return ret;
}

static int too_many(struct dw_error *err)
{
	return dw_fail(
		err, DW_E_INVALID, 0,
		"cannot enforce allowed_commands: the programs need more than %u files",
		DW_ALLOWED_FILES_MAX);
}

/* Add the path as a name of the file: resolve its folder, but not its last part. */
static int add_name(struct dw_allowed_set *set, const char *path, size_t file,
                    struct dw_error *err)
{
	char folder[DW_ALLOWED_PATH_MAX], real[DW_ALLOWED_PATH_MAX];
	char name[2 * DW_ALLOWED_PATH_MAX];
	const char *last = strrchr(path, '/');

	if (!last || strlen(path) >= sizeof(folder))
		return 0;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(last - path), path);
	if (!dw_allowed_real(set, *folder ? folder : "/", real))
		return 0;
	(void)snprintf(name, sizeof(name), "%s%s", strcmp(real, "/") == 0 ? "" : real,
	               last);
	if (strlen(name) >= sizeof(set->names[0].path) ||
	    strcmp(name, set->files[file]) == 0)
		return 0;
	for (size_t i = 0; i < set->n_names; i++)
		if (strcmp(set->names[i].path, name) == 0)
			return 0;
	if (set->n_names == DW_ALLOWED_FILES_MAX)
		return too_many(err);
	memcpy(set->names[set->n_names].path, name, strlen(name) + 1);
	set->names[set->n_names++].file = file;
	return 0;
}

/* Files that contain many programs. */
static const char *const boxes[] = {"busybox", "toybox", "coreutils"};

/* An allow-list with such a name allows all programs in the file. */
static bool is_box(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(boxes); i++)
		if (strcmp(name, boxes[i]) == 0)
			return true;
	return false;
}

/*
 * Returns true if the file contains many programs and chooses one by the name that it is
 * executed by. Allowing one program would allow all: they are one file, and a shell in it
 * starts the others even without execve().
 */
static bool is_one_of_many(const struct dw_allowed_set *set, const char *file)
{
	autoclose int fd = dw_path_open_in_root(set->root_fd, file, O_PATH);
	char path[DW_ALLOWED_PATH_MAX];
	struct stat st, box_st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(boxes); i++) {
		autoclose int box = -1;

		if (dw_runtime_locate(set->root_fd, set->search, boxes[i], path,
		                      sizeof(path)) < 0)
			continue;
		box = dw_path_open_in_root(set->root_fd, path, O_PATH);
		if (box >= 0 && fstat(box, &box_st) == 0 && box_st.st_dev == st.st_dev &&
		    box_st.st_ino == st.st_ino)
			return true;
	}
	return false;
}

/* ---- what a file needs to start ---- */

static int add_path(struct dw_allowed_set *set, const char *path, unsigned depth,
                    struct dw_error *err);

static int add_located(struct dw_allowed_set *set, const char *name, unsigned depth,
                       struct dw_error *err)
{
	char path[DW_ALLOWED_PATH_MAX];

	if (dw_runtime_locate(set->root_fd, set->search, name, path, sizeof(path)) < 0)
		return 0;
	return add_path(set, path, depth, err);
}

/* "#!/usr/bin/env -S python3 -u": add the interpreter and, for env, the program named. */
static int add_script(struct dw_allowed_set *set, char *head, unsigned depth,
                      struct dw_error *err)
{
	char *rest = NULL, *word;
	const char *base;

	head[strcspn(head, "\n")] = '\0';
	word = strtok_r(head + 2, " \t\r", &rest);
	if (!word || *word != '/')
		return 0;
	if (add_path(set, word, depth, err) < 0)
		return -1;
	base = strrchr(word, '/') + 1;
	if (strcmp(base, "env") != 0)
		return 0;
	while ((word = strtok_r(NULL, " \t\r", &rest)) != NULL)
		if (*word != '-' && !strchr(word, '='))
			return add_located(set, word, depth, err);
	return 0;
}

/* The dynamic loader that an ELF file names, or "". The file may be malformed. */
static void find_loader(int fd, const char *head, size_t len,
                        char ret[DW_ALLOWED_PATH_MAX])
{
	Elf64_Ehdr elf;
	Elf64_Phdr part;
	ssize_t n;

	ret[0] = '\0';
	if (len < sizeof(elf))
		return;
	memcpy(&elf, head, sizeof(elf));
	if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(part))
		return;
	for (unsigned i = 0; i < elf.e_phnum && i < 64; i++) {
		if (elf.e_phoff > INT64_MAX / 2 ||
		    pread(fd, &part, sizeof(part),
		          (off_t)(elf.e_phoff + i * sizeof(part))) != sizeof(part))
			return;
		if (part.p_type != PT_INTERP || part.p_offset > INT64_MAX / 2)
			continue;
		n = pread(fd, ret, DW_ALLOWED_PATH_MAX - 1, (off_t)part.p_offset);
		ret[n > 0 ? n : 0] = '\0';
		return;
	}
}

static int add_needs(struct dw_allowed_set *set, const char *file, unsigned depth,
                     struct dw_error *err)
{
	autoclose int fd = dw_path_open_in_root(set->root_fd, file,
	                                        O_RDONLY | O_NONBLOCK | O_NOCTTY);
	char head[HEAD_MAX + 1], loader[DW_ALLOWED_PATH_MAX];
	ssize_t n = fd < 0 ? -1 : pread(fd, head, HEAD_MAX, 0);

	if (n < 4)
		return 0;
	head[n] = '\0';
	if (memcmp(head, "#!", 2) == 0)
		return add_script(set, head, depth, err);
	if (memcmp(head, ELFMAG, SELFMAG) != 0)
		return 0;
	find_loader(fd, head, (size_t)n, loader);
	return loader[0] == '/' ? add_path(set, loader, depth, err) : 0;
}

static int add_path(struct dw_allowed_set *set, const char *path, unsigned depth,
                    struct dw_error *err)
{
	char real[DW_ALLOWED_PATH_MAX], same[DW_ALLOWED_PATH_MAX];
	size_t i;

	/* Skip all but executable files: a folder would allow every file in it. */
	if (depth > DEPTH_MAX || !dw_allowed_real(set, path, real) ||
	    dw_runtime_locate(set->root_fd, "", real, same, sizeof(same)) < 0)
		return 0;
	for (i = 0; i < set->n_files && strcmp(set->files[i], real) != 0; i++)
		;
	if (i < set->n_files)
		return add_name(set, path, i, err);
	if (i == DW_ALLOWED_FILES_MAX)
		return too_many(err);
	if (is_one_of_many(set, real) && !(depth == 0 && is_box(strrchr(path, '/') + 1)))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot enforce allowed_commands with %s: its file %s "
		               "contains many programs, and could run all of them",
		               path, real);
	memcpy(set->files[set->n_files++], real, strlen(real) + 1);
	if (add_name(set, path, i, err) < 0)
		return -1;
	return add_needs(set, real, depth + 1, err);
}

int dw_allowed_set_add(struct dw_allowed_set *set, const char *name, struct dw_error *err)
{
	return *name == '/' ? add_path(set, name, 0, err)
	                    : add_located(set, name, 0, err);
}
