/* SPDX-License-Identifier: Apache-2.0 */
#include "request/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "request/limits.h"

static const char *const status_names[] = {
	[DW_STATUS_SUCCESS] = "success",
	[DW_STATUS_ERROR] = "error",
	[DW_STATUS_TIMEOUT] = "timeout",
	[DW_STATUS_RESOURCE_EXCEEDED] = "resource_exceeded",
};
_Static_assert(ARRAY_SIZE(status_names) == DW_STATUS_COUNT, "a name for each status");

static const char *const reason_names[] = {
	[DW_REASON_EXIT] = "exit",
	[DW_REASON_SIGNAL] = "signal",
	[DW_REASON_TIMEOUT_WALL] = "timeout_wall",
	[DW_REASON_TIMEOUT_CPU] = "timeout_cpu",
	[DW_REASON_OOM] = "oom",
	[DW_REASON_PIDS] = "pids",
	[DW_REASON_DISK] = "disk",
	[DW_REASON_OUTPUT] = "output",
	[DW_REASON_SECCOMP] = "seccomp",
	[DW_REASON_POLICY] = "policy",
	[DW_REASON_APPROVAL_DENIED] = "approval_denied",
	[DW_REASON_APPROVAL_EXPIRED] = "approval_expired",
	[DW_REASON_UNAVAILABLE] = "unavailable",
	[DW_REASON_BUSY] = "busy",
	[DW_REASON_CANCELLED] = "cancelled",
	[DW_REASON_INTERNAL] = "internal",
};
_Static_assert(ARRAY_SIZE(reason_names) == DW_REASON_COUNT, "a name for each reason");

static const char *const ns_names[] = {
	[DW_NS_USER] = "user",     [DW_NS_MOUNT] = "mount", [DW_NS_PID] = "pid",
	[DW_NS_NET] = "net",       [DW_NS_IPC] = "ipc",     [DW_NS_UTS] = "uts",
	[DW_NS_CGROUP] = "cgroup",
};
_Static_assert(ARRAY_SIZE(ns_names) == DW_NS_COUNT, "a name for each namespace");

const char *const dw_severity_words[] = {
	[DW_SEVERITY_NOTE] = "note",
	[DW_SEVERITY_WARNING] = "warning",
	[DW_SEVERITY_ERROR] = "error",
	[DW_SEVERITY_COUNT] = NULL,
};

const char *dw_status_name(enum dw_status status)
{
	return (unsigned)status < DW_STATUS_COUNT ? status_names[status] : "error";
}

const char *dw_reason_name(enum dw_reason reason)
{
	return (unsigned)reason < DW_REASON_COUNT ? reason_names[reason] : "internal";
}

const char *dw_ns_name(enum dw_ns ns)
{
	return (unsigned)ns < DW_NS_COUNT ? ns_names[ns] : "unknown";
}

const char *dw_limit_name(enum dw_limit limit)
{
	return (unsigned)limit < DW_LIMIT_COUNT ? dw_limit_rows[limit].name : "unknown";
}

const char *dw_severity_name(enum dw_severity severity)
{
	return (unsigned)severity < DW_SEVERITY_COUNT ? dw_severity_words[severity]
	                                              : "error";
}

void dw_result_free(struct dw_result *res)
{
	int saved = errno;

	if (!res)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(res->out); i++)
		free(res->out[i]);
	for (size_t i = 0; res->files && i < res->n_files; i++) {
		free(res->files[i].name);
		free(res->files[i].data);
	}
	free(res->files);
	for (size_t i = 0; res->warnings && i < res->n_warnings; i++)
		free(res->warnings[i]);
	free((void *)res->warnings);
	free(res->findings);
	free(res->image);
	free(res);
	errno = saved;
}

struct dw_result *dw_result_blank(const struct dw_request *req)
{
	struct dw_result *res = calloc(1, sizeof(*res));

	if (!res)
		return NULL;
	if (req->id) {
		(void)snprintf(res->id, sizeof(res->id), "%s", req->id);
	} else if (dw_id_make(res->id, NULL) < 0) {
		free(res);
		return NULL;
	}
	res->execution_time_ms = res->cpu_time_ms = res->memory_used_mb = -1;
	res->exit_code = -1;
	(void)snprintf(res->proof.requested, sizeof(res->proof.requested), "%s",
	               req->level ? req->level : DW_LEVEL_DEFAULT);
	if (req->image)
		res->image = strdup(req->image);
	return res;
}

void dw_warn(struct dw_result *res, const char *fmt, ...)
{
	char **list, *text;
	va_list ap;
	int n;

	if (res->n_warnings >= DW_WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	list = realloc(res->warnings, (res->n_warnings + 1) * sizeof(*list));
	if (!list) {
		free(text);
		return;
	}
	res->warnings = list;
	list[res->n_warnings++] = text;
}
