/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_READER_H
#define DW_AUDIT_READER_H

#include "audit/store.h"

struct dw_audit_reader {
	struct dw_audit_store store;
	int locks_fd; /* -1: nobody can be running */
};

#endif
