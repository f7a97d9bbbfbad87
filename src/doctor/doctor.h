/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCTOR_DOCTOR_H
#define DW_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "dewar/error.h"

/*
 * Reports what this host can isolate, by trying it.
 */

enum dw_finding_state {
	DW_FINDING_OK = 0,
	DW_FINDING_WEAK,    /* it works, but less strictly than it should */
	DW_FINDING_MISSING, /* it does not work on this host */
	DW_FINDING_STATE_COUNT
};

struct dw_doctor_finding {
	const char *area; /* "level container", "limit memory", "network full", ... */
	bool needed;      /* if it is missing, no run works without --level */
	enum dw_finding_state state;
	char detail[512];
	char remedy[512]; /* the exact command or sysctl that helps, or "" */
};

/* The finding lives until fn returns. */
typedef void dw_doctor_fn(void *user, const struct dw_doctor_finding *f);

/*
 * Call fn for each finding, in order. -1 only if the checks cannot run: a missing feature
 * is a finding.
 */
int dw_doctor(dw_doctor_fn *fn, void *user, struct dw_error *err);

/* Parts of it: the warm templates and their cost; versions with known escapes. */
void dw_doctor_warm(dw_doctor_fn *fn, void *user);
void dw_doctor_versions(dw_doctor_fn *fn, void *user);

#endif
