/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_CONFIG_H
#define DW_DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/pool.h"
#include "dewar/request.h"
#include "keys/keys.h"

/* The settings of a language at level docker: its image and its standby containers. */
struct dw_config_docker {
	char *language;
	char *image;      /* NULL: the language's default image */
	unsigned standby; /* containers with the default limits, while the pool is on */
};

/*
 * The settings of `dewar serve`, from its YAML file. Every setting has a default. The
 * command line overrides the file.
 */
struct dw_config {
	char *listen; /* "127.0.0.1:7443", "[::1]:7443"; NULL: not set */
	char *socket; /* path of a unix socket, or NULL */
	char *state;  /* folder of keys.db and audit.db; NULL: the default folder */
	char *policy; /* a profile or a file for dw_policy_load(), or NULL */

	struct {
		unsigned concurrent; /* concurrent runs; 0: four for each core */
		unsigned queue;      /* runs that may wait */
		unsigned drain_s;    /* time for runs to finish after SIGTERM */
		unsigned keep;       /* results kept for polling */
		uint64_t keep_bytes; /* the total size of the kept results */
		unsigned keep_s;     /* how long each result is kept */
		char **levels;       /* the levels that a request may name */
		size_t n_levels;
		char *level; /* for a request that names none; NULL: DW_LEVEL_DEFAULT */
		struct dw_limits limits; /* the defaults; 0: the level's default */
		struct dw_limits max;    /* ceilings; 0: no ceiling */
		bool network;            /* a request may ask for the full network */
	} runs;

	struct {
		unsigned connections; /* concurrent connections */
		uint64_t body_bytes;  /* the size of a request */
		unsigned idle_s;      /* timeout of a connection without a request */
		unsigned body_s;      /* timeout for a complete request */
		char **hosts; /* names accepted in Host, besides the daemon's addresses */
		size_t n_hosts;
		char **origins; /* origins of web pages that may call the daemon */
		size_t n_origins;
	} http;

	struct {
		uint64_t memory_bytes;
		unsigned standby_max;
		unsigned idle_s;
		struct dw_template_config *templates; /* n_templates 0: the built-in ones */
		size_t n_templates;
		bool off;
	} pool;

	struct dw_config_docker *docker;
	size_t n_docker;

	struct {
		char *path;          /* NULL: STATE/audit.db */
		unsigned keep_days;  /* 0: no limit */
		uint64_t keep_bytes; /* 0: no limit */
	} audit;

	char *log_level;       /* "debug", "info", "warning", "error" */
	char *log_format;      /* "json", "text" */
	struct dw_grant local; /* the grant of clients that need no key */
};

/*
 * Read the config file; the defaults apply to keys that it does not set, and to all if
 * path is NULL. An unknown key or an invalid value is DW_E_INVALID, with file, line and
 * key. docs/CONFIG.md describes all keys.
 */
int dw_config_load(const char *path, struct dw_config **ret, struct dw_error *err);

/* Parse the text of a config file; name is used in errors. */
int dw_config_parse(const char *name, const char *text, size_t len,
                    struct dw_config **ret, struct dw_error *err);
void dw_config_free(struct dw_config *config); /* accepts NULL */

#endif
