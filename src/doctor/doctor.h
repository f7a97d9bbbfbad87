/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCTOR_DOCTOR_H
#define DW_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Reports what this host can isolate, by trying it. */

enum dw_finding_state {
	DW_FINDING_OK = 0,
	DW_FINDING_WEAK,    /* the feature works, but less strictly than it should */
	DW_FINDING_MISSING, /* the feature does not work on this host */
	DW_FINDING_STATE_COUNT
};

struct dw_doctor_finding {
	const char *area; /* "level container", "limit memory", "network full", ... */
	bool needed;      /* if it is missing, no run works without --level */
	enum dw_finding_state state;
	char detail[512];
	char remedy[512]; /* the exact command or sysctl that helps, or "" */
};

/* The finding is valid until fn returns. */
typedef void dw_doctor_fn(void *user, const struct dw_doctor_finding *f);

/* Call fn for each finding, in order. A missing feature is a finding, not an error. */
void dw_doctor(dw_doctor_fn *fn, void *user);

/*
 * Parts of dw_doctor(): the warm templates and their memory; versions with known
 * escapes.
 */
void dw_doctor_warm(dw_doctor_fn *fn, void *user);
void dw_doctor_versions(dw_doctor_fn *fn, void *user);

/* ---- versions with published escapes: known_bad.c ---- */

/*
 * Versions of the kernel and of container software with published escapes, from
 * known_bad.def. The numbers are upstream's: a distribution may fix a defect without
 * a new version number.
 */

enum dw_component {
	DW_COMPONENT_KERNEL = 0,
	DW_COMPONENT_RUNC,
	DW_COMPONENT_CONTAINERD,
	DW_COMPONENT_QEMU,
	DW_COMPONENT_COUNT
};

/* 1.0.0-rc6 comes before 1.0.0. The member rc is the number after "rc", or DW_NO_RC. */
#define DW_NO_RC 9999
struct dw_version {
	int major, minor, patch, rc;
};

#define DW_FIXED_MAX 10
#define DW_CALLS_MAX 6

struct dw_known_bad {
	enum dw_component component;
	const char *cve;
	const char *from; /* the first affected version; "": all until the fix */
	/*
	 * The first fixed version of each branch. A version of a branch that is not
	 * listed is affected if it is older than the newest version listed.
	 */
	const char *fixed[DW_FIXED_MAX];
	const char *what;
	const char *wall; /* the wall of Dewar that stops the exploit, or NULL */
	const char *calls[DW_CALLS_MAX]; /* needed calls that the filter refuses */
};

const struct dw_known_bad *dw_known_bad_table(size_t *ret_n);

/*
 * Find the first version in text, such as 6.1.55, 5.10 or 1.0.0-rc93. Returns false
 * if text has no version.
 */
bool dw_version_read(const char *text, struct dw_version *ret);
int dw_version_compare(const struct dw_version *a, const struct dw_version *b);

/*
 * Find the upstream version of the kernel. Debian puts it into the version string of
 * uname(), Ubuntu into /proc/version_signature (pass "" if that file is missing),
 * others into the release.
 */
bool dw_version_of_kernel(const char *release, const char *version, const char *signature,
                          struct dw_version *ret);

/* Returns true if the version is affected. */
bool dw_known_bad_has(const struct dw_known_bad *bad, const struct dw_version *version);

#endif
