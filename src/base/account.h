/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_ACCOUNT_H
#define DW_BASE_ACCOUNT_H

#include <sys/types.h>

/* An account in /etc/passwd. */
struct dw_account {
	char name[256];
	char home[4096];
};

/*
 * The account with this id: 0, or -errno; -ENOENT if it is not in the file. Not
 * getpwuid(): that loads libraries, which a static program cannot.
 */
int dw_account_find(uid_t uid, struct dw_account *ret);

#endif
