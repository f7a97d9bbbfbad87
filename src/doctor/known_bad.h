/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCTOR_KNOWN_BAD_H
#define DW_DOCTOR_KNOWN_BAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Versions of what our walls stand on that programs have got out of, as published.
 * The numbers are upstream's: distributions mend older ones and keep the number.
 */

enum dw_part {
	DW_PART_KERNEL = 0,
	DW_PART_RUNC,
	DW_PART_CONTAINERD,
	DW_PART_QEMU,
	DW_PART_COUNT
};

/* 1.0.0-rc6 comes before 1.0.0: rc is its number, or DW_NO_RC. */
#define DW_NO_RC 9999
struct dw_version {
	int major, minor, patch, rc;
};

#define DW_FIXED_MAX 10
#define DW_CALLS_MAX 6

struct dw_known_bad {
	enum dw_part part;
	const char *cve;
	struct dw_version from; /* the first that has it */
	/*
	 * The first of each branch that has it no more. A version of another branch
	 * has it if it is older than the newest of these.
	 */
	const char *fixed[DW_FIXED_MAX];
	const char *what;
	const char *wall; /* which of ours stands before it, or NULL: none does */
	const char *calls[DW_CALLS_MAX]; /* system calls that it takes and no cell has */
};

const struct dw_known_bad *dw_known_bad_table(size_t *ret_n);

/* The first thing in text like 6.1.55, 5.10 or 1.0.0-rc93; false if there is none. */
bool dw_version_read(const char *text, struct dw_version *ret);
int dw_version_compare(const struct dw_version *a, const struct dw_version *b);

/*
 * Upstream's version of the kernel: Debian has it in uname's version, Ubuntu in
 * /proc/version_signature ("" if there is none), others in its release.
 */
bool dw_version_of_kernel(const char *release, const char *version, const char *signature,
                          struct dw_version *ret);

bool dw_known_bad_has(const struct dw_known_bad *bad, const struct dw_version *version);

#endif
