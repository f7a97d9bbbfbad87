/* SPDX-License-Identifier: Apache-2.0 */
#include "base/account.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

int dw_account_find(uid_t uid, struct dw_account *ret)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd entry = {0}, *found;
	char text[8192];
	int r = -ENOENT;

	if (!file)
		return -errno;
	while (fgetpwent_r(file, &entry, text, sizeof(text), &found) == 0) {
		if (entry.pw_uid != uid)
			continue;
		(void)snprintf(ret->name, sizeof(ret->name), "%s", entry.pw_name);
		(void)snprintf(ret->home, sizeof(ret->home), "%s", entry.pw_dir);
		r = 0;
		break;
	}
	(void)fclose(file);
	return r;
}

void dw_account_who(uid_t uid, char *ret, size_t size)
{
	struct dw_account account;

	if (dw_account_find(uid, &account) == 0 &&
	    dw_utf8_valid(account.name, strlen(account.name)))
		(void)snprintf(ret, size, "uid:%u (%.64s)", uid, account.name);
	else
		(void)snprintf(ret, size, "uid:%u", uid);
}
