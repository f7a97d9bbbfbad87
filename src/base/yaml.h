/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_YAML_H
#define DW_BASE_YAML_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "dewar/error.h"

/*
 * A YAML file, read into a struct by a table. An unknown key, a key set twice or a bad
 * value is DW_E_INVALID with file, line and key. A key with the value null or ~ counts as
 * not set.
 */
struct dw_yaml;

enum dw_yaml_type {
	DW_YAML_TEXT = 0, /* char *, to be freed; never empty */
	DW_YAML_LIST,     /* char **, ends in NULL, and their number in count */
	DW_YAML_SOME,     /* as a list, which may be one value by itself */
	DW_YAML_WORDS,    /* one or a list, for take() */
	DW_YAML_FLAG,     /* bool */
	DW_YAML_COUNT,    /* unsigned */
	DW_YAML_NUMBER,   /* uint64_t */
	DW_YAML_SIZE,     /* uint64_t: "512M" */
	DW_YAML_SECONDS,  /* unsigned: "30s", "1h" */
	DW_YAML_TIME,     /* uint64_t, ms: "500ms" */
	DW_YAML_CPUS,     /* uint64_t, percent: "0.5", "50%" */
	DW_YAML_MAP,      /* a struct, by keys */
	DW_YAML_MAPS,     /* an array of structs, by keys, and their number in count */
	DW_YAML_NAMED,    /* the same of a mapping whose keys are names; the struct begins
	                   * with its name, a char *, to be freed */
	DW_YAML_LINE, /* unsigned: the first line of the mapping around it. Not a key of
	                   * the file: its name is "" */
	DW_YAML_TYPE_COUNT
};

struct dw_yaml_key {
	const char *name; /* NULL: the end of the table */
	enum dw_yaml_type type;
	size_t at;         /* in the struct; of a map: where the struct of its keys is */
	size_t count;      /* where the number of a list goes, a size_t; 0: nowhere */
	uint64_t min, max; /* of a number, as it is kept; of a list, its length */
	const char *const *words; /* a value is one of these, if not NULL; ends in NULL */
	const struct dw_yaml_key *keys;
	size_t size; /* of one of DW_YAML_MAPS or DW_YAML_NAMED */

	/* Checks a value: each of a list, the name of DW_YAML_NAMED. NULL: no check. */
	int (*check)(const void *base, const char *text, struct dw_error *err);
	int (*take)(void *base, const char *const *words, size_t n, struct dw_error *err);
};

/* The largest file of settings. */
#define DW_YAML_FILE_MAX ((size_t)1 << 20)

/*
 * Read a regular file whole, with a NUL behind it; free() it. *ret_st is its state before
 * the first byte was read, so that a later comparison notices every change; it is untouched
 * if the file is missing. The word, such as "policy", is for errors.
 */
int dw_yaml_read_file(const char *what, const char *path, struct stat *ret_st,
                      char **ret_text, size_t *ret_len, struct dw_error *err);

/* The name is for errors. */
int dw_yaml_parse(const char *name, const char *text, size_t len, struct dw_yaml **ret,
                  struct dw_error *err);
void dw_yaml_free(struct dw_yaml *yaml); /* accepts NULL */

/* Overwrite the fields that the file sets; on failure some are overwritten. */
int dw_yaml_read(const struct dw_yaml *yaml, const struct dw_yaml_key *keys, void *base,
                 struct dw_error *err);

/* Put file, line and the key ("runs.level") before the text, and return -1. */
int dw_yaml_blame(const struct dw_yaml *yaml, const char *path, struct dw_error *err);

/* The line of the value at that path, or of its nearest existing parent. */
unsigned dw_yaml_line(const struct dw_yaml *yaml, const char *path);

/* Free all values. */
void dw_yaml_finish(const struct dw_yaml_key *keys, void *base);

#endif
