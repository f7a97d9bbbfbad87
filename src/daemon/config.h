/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_CONFIG_H
#define DW_DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/pool.h"
#include "dewar/request.h"
#include "keys/grant.h"

/* A language at level docker: which image it has, and containers that wait. */
struct dw_config_docker {
	char *language;
	char *image;      /* NULL: the language's own */
	unsigned standby; /* of these limits, while the pool is on */
};

/*
 * What `dewar serve` is told by its one YAML file. Everything has a default, and
 * the command line goes before the file.
 */
struct dw_config {
	char *listen; /* "127.0.0.1:7443", "[::1]:7443"; NULL: not asked for */
	char *socket; /* path of a unix socket, or NULL */
	char *state;  /* folder of keys.db and audit.db; NULL: the default */
	char *policy; /* a profile or a file for dw_policy_load(), or NULL */

	struct {
		unsigned concurrent; /* runs at a time; 0: by the cores */
		unsigned queue;      /* that wait, at most */
		unsigned drain_s;    /* on SIGTERM, for runs to finish */
		unsigned keep;       /* results kept for polling, at most */
		uint64_t keep_bytes; /* ... and in all so much */
		unsigned keep_s;     /* ... and so long */
		char **levels;       /* that may be asked for */
		size_t n_levels;
		char *level; /* if a request names none; NULL: DW_LEVEL_DEFAULT */
		struct dw_limits limits; /* if a request names none; 0: the engine's */
		struct dw_limits
			max;  /* the most that a request may ask for; 0: no ceiling */
		bool network; /* the full network may be asked for */
	} runs;

	struct {
		unsigned connections; /* at a time */
		uint64_t body_bytes;  /* of a request */
		unsigned idle_s;      /* of a connection that asks nothing */
		unsigned body_s;      /* for a request to arrive whole */
		char **hosts;         /* names in Host besides our own addresses */
		size_t n_hosts;
		char **origins; /* web pages that may call us */
		size_t n_origins;
	} http;

	struct {
		uint64_t memory_bytes;
		unsigned standby_max;
		unsigned idle_s;
		struct dw_template_config *templates; /* n 0: the ones there are */
		size_t n_templates;
		bool off;
	} pool;

	struct dw_config_docker *docker;
	size_t n_docker;

	struct {
		char *path;          /* NULL: STATE/audit.db */
		unsigned keep_days;  /* 0: for ever */
		uint64_t keep_bytes; /* 0: all */
	} audit;

	char *log_level;       /* "debug", "info", "warning", "error" */
	char *log_format;      /* "json", "text" */
	struct dw_grant local; /* of clients that need no key */
};

/*
 * The defaults, with what the file says laid over them; path NULL: the defaults.
 * What the file has and we do not know, or cannot be, is DW_E_INVALID with file,
 * line and key. docs/CONFIG.md has them all.
 */
int dw_config_load(const char *path, struct dw_config **ret, struct dw_error *err);

/* The same of a file that has been read; its name is for errors. */
int dw_config_parse(const char *name, const char *text, size_t len,
                    struct dw_config **ret, struct dw_error *err);
void dw_config_free(struct dw_config *config); /* accepts NULL */

#endif
