/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_ACCOUNT_H
#define DW_BASE_ACCOUNT_H

#include <stddef.h>
#include <sys/types.h>

/* An account in /etc/passwd. */
struct dw_account {
	char name[256];
	char home[4096];
};

/*
 * Find the account with this id: 0 or -errno; -ENOENT if it is not in the file. Does not
 * use getpwuid(), which loads libraries: a static program cannot load them.
 */
int dw_account_find(uid_t uid, struct dw_account *ret);

/* Write the account as in records and logs: "uid:1000 (alice)", or "uid:1000". */
void dw_account_who(uid_t uid, char *ret, size_t size);

#endif
