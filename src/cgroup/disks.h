/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_DISKS_H
#define DW_CGROUP_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The disks that file systems are on: whole ones, since the kernel counts what is read
 * and written by disk and not by partition.
 */

#define DW_DISKS_MAX 32

struct dw_disks {
	dev_t list[DW_DISKS_MAX];
	size_t n;
};

/* Those of every file system that we see: 0; -E2BIG, or -errno where nobody tells. */
int dw_disks_find(struct dw_disks *ret);

/*
 * Is what is read and written below this path read from and written to those disks, or
 * to none because it is kept in memory? Else the kind of file system that it is on, for
 * a person, in kind.
 */
bool dw_disks_hold(const struct dw_disks *disks, const char *path, char *kind,
                   size_t size);

#endif
