/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEWAR_REQUEST_H
#define DEWAR_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * A request: one run of one piece of code in one fresh cell.
 *
 * Every front door fills this struct and nothing else. All pointers are
 * borrowed from the caller and must outlive dw_run(); only memory that
 * dw_request_from_json() allocated belongs to the request, and dw_request_finish()
 * frees it. Start with dw_request_init(): zero, NULL and an empty list
 * mean "the default", except in allow-lists, where an empty list allows nothing.
 */

struct dw_bytes {
	const void *data;
	size_t len;
};

/* A file to put into the cell before the program starts. */
struct dw_file_in {
	const char *name; /* relative, below the cell's writable folder /tmp */
	struct dw_bytes content;
};

struct dw_env {
	const char *name;
	const char *value;
};

enum dw_network {
	DW_NETWORK_NONE = 0, /* an empty network of the cell's own, loopback up */
	DW_NETWORK_FULL,     /* all that the host can reach, except the host's loopback */
	DW_NETWORK_COUNT
};

/* When an engine fetches the image, at level docker. */
enum dw_pull {
	DW_PULL_MISSING = 0, /* if the image is missing */
	DW_PULL_NEVER,
	DW_PULL_ALWAYS,
	DW_PULL_COUNT
};

/*
 * What a run may use, a uint64_t for each row of limits.def: timeout_ms, memory_bytes,
 * cpu_percent, ... 0 stands for the default of the level.
 */
struct dw_limits {
#define DW_LIMIT(id, member, ...) uint64_t member;
#include "dewar/limits.def"
};

enum dw_stream {
	DW_STDOUT = 0,
	DW_STDERR,
	DW_STREAM_COUNT
};

/*
 * Called as output arrives, in the thread that called dw_run(), until the cap on output
 * is reached. The program may write any bytes.
 */
typedef void dw_output_fn(void *user, enum dw_stream stream, const void *data,
                          size_t len);

/*
 * Called with a line of progress, for a person, while an image is pulled, before the
 * program starts. Called in the thread that called dw_run().
 */
typedef void dw_note_fn(void *user, const char *text);

#define DW_LEVEL_DEFAULT "container"

struct dw_request {
	/*
	 * The run's id, if the caller must know it before the run: DW_ID_MAX - 1 hex
	 * digits that no earlier run had. NULL: dw_run() makes one.
	 */
	const char *id;

	const char *language; /* "python"; NULL with a command */
	struct dw_bytes code; /* the snippet, or ... */
	const char *command;  /* ... a line for the shell, or ... */
	const char *program;  /* ... a Linux program on the host that every user may
	                        * read and execute; the cell sees the file itself */

	const char *level;    /* one, or several in order: "microvm,container";
	                        * NULL: DW_LEVEL_DEFAULT */
	const char *template; /* of a pool (pool.h), with packages loaded; or NULL */
	const char *image; /* a folder with a root file system, NULL for the host's /usr;
	                    * at level docker an image of the engine, NULL for the
	                    * language's default */
	const char *runtime; /* level docker: the engine's runtime ("runsc"), or NULL */
	enum dw_pull pull;   /* level docker */

	struct dw_bytes stdin_data;
	int stdin_fd; /* the program's standard input instead, if not -1 */
	const char *const *args;
	size_t n_args;
	const struct dw_env *env;
	size_t n_env;

	const struct dw_file_in *files;
	size_t n_files;
	const char *const *collect; /* names or patterns of files to bring back */
	size_t n_collect;

	const char *workspace;       /* host folder, seen at /work, read-only */
	const char *const *writable; /* host paths the program may write to */
	size_t n_writable;

	/*
	 * The only programs that can be started in the cell, by plain name, and the
	 * only modules that the code itself may import, by dotted name. Each list ends
	 * in NULL. NULL instead of a list allows all; an empty list allows nothing.
	 */
	const char *const *allowed_commands;
	const char *const *allowed_modules;

	enum dw_network network;
	struct dw_limits limits;
	bool strict; /* refuse to run if a limit cannot be enforced here */
	bool yields; /* run only while no other cell needs the processor, with a small
	              * share; needs a cgroup, and has no effect at level docker */

	dw_output_fn *on_output; /* or NULL */
	dw_note_fn *on_note;     /* or NULL */
	void *user;
	int cancel_fd; /* the run is ended once this is readable, if not -1 */

	void *owned; /* what dw_request_from_json() allocated */
};

DW_API void dw_request_init(struct dw_request *req);

/*
 * Fill an initialised request from JSON text. Unknown keys, wrong types and
 * values out of range are DW_E_INVALID and name the key. On failure *req is as
 * dw_request_init() left it.
 */
DW_API int dw_request_from_json(struct dw_request *req, const char *text, size_t len,
                                struct dw_error *err);

DW_API void dw_request_finish(struct dw_request *req);

#endif
