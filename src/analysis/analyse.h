/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_ANALYSE_H
#define DW_ANALYSIS_ANALYSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/result.h"

/*
 * Static analysis of a program: advice to a policy, a person or a model. A program can
 * hide what it does, and code that arrives at run time is not seen at all: the walls of
 * the cell are the boundary, not this.
 *
 * A pure function of its input, except for a program that takes too long to parse.
 * Time and memory are bounded for any input, and a finding reports each bound that was
 * reached.
 */

/* Longer code is not analysed: analysis:too-large. */
#define DW_ANALYSE_CODE_MAX ((size_t)1 << 20)
/* Parsing stops after this time: analysis:timeout. */
#define DW_ANALYSE_TIMEOUT_MS 3000
/* Further findings are cut: analysis:too-many. */
#define DW_ANALYSE_FINDINGS_MAX 1000

/*
 * The families of struct dw_finding's rules:
 *
 *   import      a module on the list of risky modules
 *   builtin     a function of the language that runs code, or opens files
 *   dynamic     code, modules or commands that are known only at run time
 *   reflection  access by a computed name, or other reflection
 *   shell       the program runs another program
 *   delete      the program removes files
 *   network     the program talks to another host
 *   native      machine code, outside the interpreter's control
 *   loop        a loop that cannot end
 *   privilege   the program changes privileges (shell only)
 *   syntax      code that does not parse, and was not analysed
 *   analysis    a bound was reached, and not all of the code was analysed
 */

/* Start from {0}. */
struct dw_findings {
	struct dw_finding *list; /* by line and column */
	size_t n;
};

void dw_findings_finish(struct dw_findings *findings);

/* Merge more into all, in order; 0, or -ENOMEM. */
int dw_findings_add(struct dw_findings *all, const struct dw_findings *more);

/* What to look for in one language, instead of the language's own lists. */
struct dw_analyse_list {
	const char *language;         /* by name; NULL ends the array */
	const char *const *allowed;   /* modules; all others are findings; or NULL */
	const char *const *forbidden; /* modules that are findings, if allowed is NULL */
	const char *const *builtins;  /* builtin:NAME to report; NULL: all known */
};

struct dw_analyse_options {
	/*
	 * If not NULL, ends in NULL: only these modules may be imported, and all
	 * others are findings. If NULL, the language's entry in lists decides; without
	 * one, modules on the language's own list of risky modules are findings.
	 */
	const char *const *allowed_modules;

	/* At most one entry a language; also for programs inside the program. Or NULL. */
	const struct dw_analyse_list *lists;
};

/*
 * Analyse code. language is a name or an alias, in any case ("py", "ts", "sh"). A finding
 * is not an error: returns -1 only for an unknown language (DW_E_INVALID), for a language
 * whose grammar is not built in (DW_E_UNSUPPORTED), or if out of memory. options may be
 * NULL.
 */
int dw_analyse(const char *language, const char *code, size_t len,
               const struct dw_analyse_options *options, struct dw_findings *ret,
               struct dw_error *err);

/* The name of an analysed language by its index; NULL after the last one. */
const char *dw_analyse_language(size_t index);

/* The language's name for a name or an alias; NULL if there is no such language. */
const char *dw_analyse_find(const char *language);

/* Returns true if the language (by name) has a finding builtin:NAME. */
bool dw_analyse_has_builtin(const char *language, const char *name);

#endif
