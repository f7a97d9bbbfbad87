/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_WITNESS_H
#define DW_VERIFY_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"

/*
 * A process of the host's that an attack may try to reach: it has the user's id
 * and no capability, keeps a secret in its memory, its environment, its
 * arguments and an open file, and tells of every signal.
 */
struct dw_witness {
	pid_t pid;
	int fd;           /* it writes a line for each signal */
	uintptr_t memory; /* where its secret lies */
	char before[8192];
};

/* What main() calls if we are the witness. Never returns. */
_Noreturn void dw_witness_main(char **argv);

int dw_witness_start(struct dw_witness *w, const char *secret, const char *flag,
                     struct dw_error *err);

/* Was anything done to it? What, in ret. */
bool dw_witness_touched(const struct dw_witness *w, const char *secret, char *ret,
                        size_t size);

void dw_witness_end(struct dw_witness *w);

#endif
