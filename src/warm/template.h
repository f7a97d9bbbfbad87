/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_TEMPLATE_H
#define DW_WARM_TEMPLATE_H

#include "levels/level.h"

/*
 * A template: a language with chosen packages already loaded, from which warm
 * cells come. How a language is kept warm is data, in the table in template.c.
 */

enum dw_warmth {
	DW_WARMTH_FORK = 1, /* started once, and forked for each run */
	DW_WARMTH_STANDBY,  /* cannot fork: started for each run, ahead of need */
};

/* How one language is kept warm. */
struct dw_warm {
	const char *language;
	enum dw_warmth warmth;
	const char *command[12]; /* as a runtime's */
	const char *env[4];      /* for that command: "NAME=VALUE", ends in NULL */
	const char *runner_path; /* where the runner goes, in the cell, or NULL */
	struct dw_bytes runner;
	bool takes_args;           /* the request's arguments get to the program */
	bool takes_env;            /* and its environment */
	bool takes_library;        /* and where to import from, if there is a workspace */
	bool calls_back;           /* the runner asks for its letter itself */
	const char *unsafe_start;  /* code that starts so is run cold, or NULL */
	const char *rehearsal;     /* a short program of the language */
	const char *unsafe_env[8]; /* beginnings of names that only a start heeds */
};

struct dw_template {
	char name[32];
	const struct dw_runtime *runtime;
	const struct dw_warm *warm;
	char image[1024];      /* a root file system, or "" */
	char preload[512];     /* names of modules, separated by commas */
	const char *rehearsal; /* a short program like those to come */
};

/* How a language is kept warm, or NULL: it runs cold. */
const struct dw_warm *dw_warm_find(const struct dw_runtime *runtime);

/* Where the library goes that makes an interpreter a zygote, and the library. */
#define DW_ZYGOTE_PATH "/tmp/.dewar/zygote.so"
struct dw_bytes dw_zygote_library(void);

/* Is it the root file system that the request wants, or do both have none? */
bool dw_template_has_image(const struct dw_template *t, const struct dw_request *req);

/*
 * Can this request be run in any warm cell of the template's, and in one that
 * was built before the request was known?
 */
bool dw_template_fits(const struct dw_template *t, const struct dw_spec *spec);
bool dw_template_fits_standby(const struct dw_template *t, const struct dw_spec *spec);

#endif
