/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEWAR_H
#define DEWAR_H

#include "dewar/error.h"
#include "dewar/request.h"
#include "dewar/result.h"

/*
 * Dewar runs code that nobody trusts.
 *
 *	struct dw_request req;
 *	struct dw_result *res = NULL;
 *	struct dw_error err = {0};
 *
 *	dw_request_init(&req);
 *	req.language = "python";
 *	req.code = (struct dw_bytes){"print(2**64)", 12};
 *	if (dw_run(&req, &res, &err) < 0)
 *		errx(1, "%s", err.text);
 *	puts(res->out[DW_STDOUT]);
 *	dw_result_free(res);
 *
 * dw_run() may be called from several threads at once, and never changes the
 * process it is called in: no signal handler, no umask, no environment.
 */

/*
 * Run the request and wait for its end. 0: *ret_res says how it went, also
 * where the program never got to run (reason "unavailable", say). -1: the
 * request itself makes no sense, or we failed, and *ret_res is untouched.
 */
DW_API int dw_run(const struct dw_request *req, struct dw_result **ret_res,
                  struct dw_error *err);

/*
 * Can this host give the level? 0, or -1 with DW_E_UNSUPPORTED and a reason
 * that a person can act on. It builds the walls to find out.
 */
DW_API int dw_level_probe(const char *name, struct dw_error *err);

/* The names of the levels, weakest first, ending in NULL. */
DW_API const char *const *dw_level_names(void);

/* What a level promises once dw_level_probe() has succeeded. */
enum dw_guarantee {
	DW_G_NAMESPACES = 1U << 0, /* own process, mount, network, ... namespaces */
	DW_G_NO_NETWORK = 1U << 1, /* network "none" means none */
	DW_G_IMAGE = 1U << 2,      /* can run another root file system */
	DW_G_TMP_SIZE = 1U << 3,   /* /tmp holds no more than its limit */
	DW_G_ENGINE = 1U << 4,     /* images and runtimes are a container engine's */
	DW_G_COMMANDS = 1U << 5,   /* executes nothing but what allowed_commands lists */
	DW_G_IO = 1U << 6,         /* limits how fast disks are read and written */
};

/*
 * The guarantees, enum dw_guarantee, that all levels of a list share: "container", or
 * "container,docker". 0 if a name is not that of a level.
 */
DW_API uint32_t dw_level_guarantees(const char *levels);

/* A language as `dewar languages` lists it. */
struct dw_language {
	const char *name;
	const char *aliases; /* separated by blanks, or "" */
	const char *package; /* Debian's package that brings it */
	char path[256];      /* its interpreter or compiler here, "" if missing */
	char version[128];   /* "" if missing */
};

DW_API size_t dw_language_count(void);

/* Fill in the language at index; asks the program for its version. */
DW_API int dw_language_get(size_t index, struct dw_language *ret, struct dw_error *err);

/* The name of the language that people call so, or NULL. */
DW_API const char *dw_language_name(const char *alias);

/*
 * The language of a file, by its name and its first bytes, or NULL if neither
 * tells.
 */
DW_API const char *dw_language_of_file(const char *name, const void *head, size_t len);

DW_API const char *dw_version(void);

#endif
