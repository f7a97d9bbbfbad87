/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_YAML_H
#define DW_BASE_YAML_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "dewar/error.h"

/*
 * A YAML file, read into a struct by a table. An unknown key, a key set twice or a bad
 * value is DW_E_INVALID, and the error names file, line and key. A key with the value
 * null or ~, or without a value, counts as not set.
 */
struct dw_yaml;

enum dw_yaml_type {
	DW_YAML_TEXT = 0, /* char *, to be freed; never empty */
	DW_YAML_LIST,     /* char **, ends in NULL; their number is stored at count */
	DW_YAML_SOME,     /* the same, but one value may stand for a list of one */
	DW_YAML_WORDS,    /* one value or a list, passed to take() and not stored */
	DW_YAML_FLAG,     /* bool */
	DW_YAML_COUNT,    /* unsigned */
	DW_YAML_NUMBER,   /* uint64_t */
	DW_YAML_SIZE,     /* uint64_t: "512M" */
	DW_YAML_SECONDS,  /* unsigned: "30s", "1h" */
	DW_YAML_TIME,     /* uint64_t, ms: "500ms" */
	DW_YAML_CPUS,     /* uint64_t, percent: "0.5", "50%" */
	DW_YAML_MAP,      /* a struct, read by the table keys */
	DW_YAML_MAPS,     /* an array of structs; their number is stored at count */

	/*
	 * The same from a mapping of names to mappings: each struct begins with its name,
	 * a char *, to be freed.
	 */
	DW_YAML_NAMED,

	/*
	 * unsigned: the first line of the mapping that the table reads. Not a key in the
	 * file: its name is "".
	 */
	DW_YAML_LINE,
	DW_YAML_TYPE_COUNT
};

struct dw_yaml_key {
	const char *name; /* NULL: the end of the table */
	enum dw_yaml_type type;
	size_t at;                /* offset in the struct; for a map: of its own struct */
	size_t count;             /* offset of a list's length, a size_t; 0: not stored */
	uint64_t min, max;        /* of a number, as it is stored; of a list's length */
	const char *const *words; /* the permitted values, or NULL; ends in NULL */
	const struct dw_yaml_key *keys; /* the table of a map */
	size_t size; /* of one struct of DW_YAML_MAPS or DW_YAML_NAMED */

	/*
	 * Checks a value, or each value of a list. For DW_YAML_MAPS and DW_YAML_NAMED it
	 * is called once for each struct, as base, after the struct was read; text is
	 * NULL or the name. NULL: no check.
	 */
	int (*check)(const void *base, const char *text, struct dw_error *err);
	int (*take)(void *base, const char *const *words, size_t n, struct dw_error *err);
};

/* The largest size of a file. */
#define DW_YAML_FILE_MAX ((size_t)1 << 20)

/*
 * Read a regular file whole, and add a NUL; free() the text. *ret_st is the file's state
 * before the first byte was read, so that a later comparison notices every change; it is
 * untouched if the file is missing. Errors call the file what, such as "policy".
 */
int dw_yaml_read_file(const char *what, const char *path, struct stat *ret_st,
                      char **ret_text, size_t *ret_len, struct dw_error *err);

/* Parse a text; errors call it name. */
int dw_yaml_parse(const char *name, const char *text, size_t len, struct dw_yaml **ret,
                  struct dw_error *err);
void dw_yaml_free(struct dw_yaml *yaml); /* accepts NULL */

/* Overwrite the fields that the file sets; on failure some may be overwritten. */
int dw_yaml_read(const struct dw_yaml *yaml, const struct dw_yaml_key *keys, void *base,
                 struct dw_error *err);

/* Put file, line and the key ("runs.level") in front of the error, and return -1. */
int dw_yaml_blame(const struct dw_yaml *yaml, const char *path, struct dw_error *err);

/* The line of the value at that path, or of the nearest mapping above it that exists. */
unsigned dw_yaml_line(const struct dw_yaml *yaml, const char *path);

/* Free all values that were read into the struct. */
void dw_yaml_finish(const struct dw_yaml_key *keys, void *base);

#endif
