/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCTOR_DOCTOR_H
#define DW_DOCTOR_DOCTOR_H

#include "dewar/error.h"

/*
 * What this host can isolate and what it cannot, found out by trying.
 */

enum dw_finding_state {
	DW_FINDING_OK = 0,
	DW_FINDING_WEAK,    /* it works, but holds less than it should */
	DW_FINDING_MISSING, /* it does not work here */
	DW_FINDING_STATE_COUNT
};

struct dw_doctor_finding {
	const char *area; /* "level container", "limit memory", "network full", ... */
	enum dw_finding_state state;
	char detail[512];
	char remedy[512]; /* the exact command or sysctl that would help, or "" */
};

/*
 * Calls fn once a finding, in order; the finding is gone when fn returns. -1
 * only where we could not look: something missing is a finding.
 */
int dw_doctor(void (*fn)(void *user, const struct dw_doctor_finding *f), void *user,
              struct dw_error *err);

/* The part of it about warm cells: what can be kept warm, and what that costs. */
void dw_doctor_warm(void (*fn)(void *user, const struct dw_doctor_finding *f),
                    void *user);

/* The part about versions that are known to let programs out. */
void dw_doctor_versions(void (*fn)(void *user, const struct dw_doctor_finding *f),
                        void *user);

#endif
