/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_ANALYSE_H
#define DW_ANALYSIS_ANALYSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/result.h"

/*
 * What can be seen of a program without running it: advice to a policy, to a
 * person, to a model. A program that wants to hide what it does can, and code that
 * comes in at run time is not seen at all: the walls are the boundary, not this.
 *
 * A pure function of its input, but for a program that takes so long to parse that
 * we give up. Time and memory are bounded whatever the input is, and where a bound
 * was met a finding says so: never is less looked at in silence.
 */

/* What is longer is not looked at: analysis:too-large. */
#define DW_ANALYSE_CODE_MAX ((size_t)1 << 20)
/* What parses longer is given up: analysis:timeout. */
#define DW_ANALYSE_TIMEOUT_MS 3000
/* What has more is cut: analysis:too-many. */
#define DW_ANALYSE_FINDINGS_MAX 1000

/*
 * The families of struct dw_finding's rules:
 *
 *   import      a module on the list of those that need a reason
 *   builtin     a function of the language that runs code, or opens files
 *   dynamic     code, modules or commands that are known at run time only
 *   reflection  a way around names
 *   shell       another program is run
 *   delete      files are removed
 *   network     another host is talked to
 *   native      code that no interpreter watches
 *   loop        no end in sight
 *   privilege   other rights are asked for (shell only)
 *   syntax      what we could not parse, and so have not looked at
 *   analysis    a bound of ours was met, and not everything was looked at
 */

/* Start from {0}. */
struct dw_findings {
	struct dw_finding *list; /* by line and column */
	size_t n;
};

void dw_findings_finish(struct dw_findings *findings);

/* Put more among the others; 0, or -ENOMEM. */
int dw_findings_add(struct dw_findings *all, const struct dw_findings *more);

/* What to look for in one language, where its own lists will not do. */
struct dw_analyse_list {
	const char *language;         /* by name; NULL: the end of the array */
	const char *const *allowed;   /* modules; all others are findings. Or NULL */
	const char *const *forbidden; /* modules that are findings, if allowed is NULL */
	const char *const *builtins;  /* those that are findings; NULL: all we know */
};

struct dw_analyse_options {
	/*
	 * If not NULL, ends in NULL: only these modules may be imported, and all
	 * others are findings. If NULL, the language's own list of modules that
	 * need a reason decides.
	 */
	const char *const *allowed_modules;

	/* By language, for programs inside the program as well; or NULL. */
	const struct dw_analyse_list *lists;
};

/*
 * The language by its name or an alias, in any case ("py", "ts", "sh"). A finding
 * is never an error: -1 only for a language that we cannot analyse (DW_E_INVALID
 * if there is no such thing, DW_E_UNSUPPORTED if the grammar is not built in), or
 * without memory. options may be NULL.
 */
int dw_analyse(const char *language, const char *code, size_t len,
               const struct dw_analyse_options *options, struct dw_findings *ret,
               struct dw_error *err);

/* The languages that can be analysed, by name; NULL behind the last. */
const char *dw_analyse_language(size_t index);

/* The name for a name or an alias; NULL if it is none. */
const char *dw_analyse_find(const char *language);

/* Is there a finding builtin:NAME in that language (by name)? */
bool dw_analyse_has_builtin(const char *language, const char *name);

/* The modules of a language (by name) that need a reason; ends in NULL. */
const char *const *dw_analyse_modules(const char *language);

#endif
