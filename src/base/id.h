/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_ID_H
#define DW_BASE_ID_H

#include <stddef.h>

#include "dewar/error.h"
#include "dewar/result.h"

/*
 * Fill data with random bytes from the kernel: getrandom(), or /dev/urandom where a
 * seccomp filter refuses that call. 0 or -errno; on failure the caller must give up.
 */
int dw_random(void *data, size_t len) __attribute__((warn_unused_result));

/*
 * Make an id that never repeats and cannot be guessed. -1 if there are no random bytes:
 * ret is then empty, and the caller must give up, because two runs with the same id would
 * share a cgroup.
 */
int dw_id_make(char ret[DW_ID_MAX], struct dw_error *err)
	__attribute__((warn_unused_result));

#endif
