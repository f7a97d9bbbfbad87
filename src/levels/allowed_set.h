/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_ALLOWED_SET_H
#define DW_LEVELS_ALLOWED_SET_H

#include <stddef.h>

#include "dewar/error.h"

/*
 * The files that may be executed, and the names by which they are found. Paths are as the
 * cell sees them, without links; the last part of a name may be a link.
 */
#define DW_ALLOWED_FILES_MAX 128U
#define DW_ALLOWED_PATH_MAX 512U

struct dw_allowed_set {
	int root_fd;                    /* the cell's root */
	char root[DW_ALLOWED_PATH_MAX]; /* its path on the host; "" for the host's own */
	const char *search;
	size_t n_files;
	size_t n_names;
	char files[DW_ALLOWED_FILES_MAX][DW_ALLOWED_PATH_MAX];
	struct {
		char path[DW_ALLOWED_PATH_MAX];
		size_t file;
	} names[DW_ALLOWED_FILES_MAX];
};

/* image: a folder, or NULL. Free it with dw_allowed_set_free(). */
struct dw_allowed_set *dw_allowed_set_new(const char *image, struct dw_error *err);
void dw_allowed_set_free(struct dw_allowed_set *set);

/*
 * Add the program of that name, or the file at that path, with all files that it needs to
 * start. A program that is not installed is skipped. Returns -1 if there are too many
 * files, or if the file contains many programs.
 */
int dw_allowed_set_add(struct dw_allowed_set *set, const char *name,
                       struct dw_error *err);

/* Resolve the links of a path in the cell; NULL if it does not exist. */
const char *dw_allowed_real(const struct dw_allowed_set *set, const char *path,
                            char ret[DW_ALLOWED_PATH_MAX]);

#endif
