/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/account.h"
#include "base/id.h"

static int begin(struct dw_cli_record *rec, const char *path,
                 const struct dw_request *req, struct dw_error *err)
{
	struct dw_audit_run run = {.id = rec->id,
	                           .who = rec->who,
	                           .decision = rec->decision,
	                           .rule = rec->rule};
	char place[DW_AUDIT_PATH_MAX];

	if (rec->id[0] == '\0')
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "cannot get random bytes for an id");
	if (!path && dw_audit_default_path(place, err) < 0)
		return -1;
	if (dw_audit_open(path ? path : place, 0, &rec->audit, err) < 0)
		return -1;
	if (dw_audit_intent(rec->audit, &run, req, err) == 0)
		return 0;
	dw_audit_close(rec->audit);
	rec->audit = NULL;
	return -1;
}

void dw_cli_record_init(struct dw_cli_record *rec, struct dw_request *req)
{
	*rec = (struct dw_cli_record){0};
	if (dw_id_make(rec->id, NULL) == 0)
		req->id = rec->id;
	dw_account_who(getuid(), rec->who, sizeof(rec->who));
}

int dw_cli_record_begin(struct dw_cli_record *rec, const char *path,
                        struct dw_request *req, struct dw_error *err)
{
	size_t len;

	if (begin(rec, path, req, err) == 0)
		return 0;

	(void)dw_wrap(err, "no record, no run");
	len = strlen(err->text);
	(void)snprintf(err->text + len, sizeof(err->text) - len,
	               "; --audit FILE records it elsewhere, --no-audit runs it without");
	return -1;
}

int dw_cli_record_end(struct dw_cli_record *rec, const struct dw_result *res,
                      const struct dw_error *why, struct dw_error *err)
{
	struct dw_audit_run run = {.id = rec->id,
	                           .who = rec->who,
	                           .decision = rec->decision,
	                           .rule = rec->rule};
	int r;

	if (!rec->audit)
		return 0;
	r = dw_audit_outcome(rec->audit, &run, res, why, err);
	dw_audit_close(rec->audit);
	rec->audit = NULL;
	return r < 0 ? dw_wrap(err, "record how run %s ended", rec->id) : 0;
}
