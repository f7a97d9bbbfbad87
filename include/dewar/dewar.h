/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEWAR_H
#define DEWAR_H

#include <stdint.h>

#include "dewar/error.h"
#include "dewar/request.h"
#include "dewar/result.h"

/*
 * Dewar runs untrusted code.
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
 * Run the request and wait for its end. Returns 0 with the result in *ret_res, also if
 * the program was not started (reason "unavailable", for example). Returns -1 if the
 * request is invalid or Dewar failed; *ret_res is then untouched.
 */
DW_API int dw_run(const struct dw_request *req, struct dw_result **ret_res,
                  struct dw_error *err);

/*
 * Find out whether this host can provide the level, by building its walls; at level
 * docker, by asking the engine. Returns 0, or -1 with DW_E_UNSUPPORTED, the cause and, if
 * one is known, the fix.
 */
DW_API int dw_level_probe(const char *name, struct dw_error *err);

/* The names of the levels, weakest first, ending in NULL. */
DW_API const char *const *dw_level_names(void);

/* What a level guarantees on a host where dw_level_probe() succeeds. */
enum dw_guarantee {
	DW_G_NAMESPACES = 1U << 0, /* own process, mount, network, ... namespaces */
	DW_G_NO_NETWORK = 1U << 1, /* network "none" reaches nothing outside */
	DW_G_IMAGE = 1U << 2,      /* can run another root file system */
	DW_G_TMP_SIZE = 1U << 3,   /* /tmp holds no more than its limit */
	DW_G_ENGINE = 1U << 4,     /* images and runtimes are names in an engine */
	DW_G_COMMANDS = 1U << 5, /* can enforce a list of programs that may be executed */
	DW_G_IO = 1U << 6,       /* can enforce the limit on disk reads and writes */
	DW_G_WALLS = 1U << 7,    /* more than a timeout and a cap on output */
	DW_G_ISOLATED = 1U << 8, /* strong enough for untrusted code */
	DW_G_ROOT = 1U << 9,     /* a root of its own, with /tmp and /work */
	DW_G_WARM = 1U << 10,    /* a pool can keep cells of the level */
	DW_G_FORK = 1U << 11,    /* a zygote can fork programs into cells of the level */
};

/*
 * Returns what all levels of a list ("microvm,container") guarantee: DW_G_* flags. An
 * unknown level guarantees nothing.
 */
DW_API uint32_t dw_level_guarantees(const char *levels);

/*
 * Returns 0 if every name in the list ("microvm,container") is a level; else -1 with
 * DW_E_INVALID, which lists the levels and suggests a similar one. Errors begin with
 * what ("level"), unless it is NULL.
 */
DW_API int dw_level_check(const char *what, const char *levels, struct dw_error *err);

/* A language as `dewar languages` lists it. */
struct dw_language {
	const char *name;
	const char *aliases; /* separated by blanks, or "" */
	const char *package; /* the Debian package that contains it */
	char path[256];      /* of its interpreter or compiler, "" if missing */
	char version[128];   /* "" if missing */
};

DW_API size_t dw_language_count(void);

/* Fill in the language at index; asks the program for its version. */
DW_API int dw_language_get(size_t index, struct dw_language *ret, struct dw_error *err);

/* The name of the language with this name or alias, or NULL. */
DW_API const char *dw_language_name(const char *alias);

/*
 * Returns 0 if there is a language with this name or alias; else -1 with DW_E_INVALID,
 * which suggests a similar one or lists all.
 */
DW_API int dw_language_check(const char *alias, struct dw_error *err);

/* The language of a file, by its name and its first bytes, or NULL if unknown. */
DW_API const char *dw_language_of_file(const char *name, const void *head, size_t len);

DW_API const char *dw_version(void);

#endif
