/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEWAR_RESULT_H
#define DEWAR_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * The result of a run: one struct for all levels and all ways in which a run can end.
 */

enum dw_status {
	DW_STATUS_SUCCESS = 0,
	DW_STATUS_ERROR,
	DW_STATUS_TIMEOUT,
	DW_STATUS_RESOURCE_EXCEEDED,
	DW_STATUS_COUNT
};

enum dw_reason {
	DW_REASON_EXIT = 0,
	DW_REASON_SIGNAL,
	DW_REASON_TIMEOUT_WALL,
	DW_REASON_TIMEOUT_CPU,
	DW_REASON_OOM,
	DW_REASON_PIDS,
	DW_REASON_DISK,
	DW_REASON_OUTPUT,
	DW_REASON_SECCOMP,
	DW_REASON_POLICY,
	DW_REASON_APPROVAL_DENIED,
	DW_REASON_APPROVAL_EXPIRED,
	DW_REASON_UNAVAILABLE,
	DW_REASON_BUSY,
	DW_REASON_CANCELLED,
	DW_REASON_INTERNAL,
	DW_REASON_COUNT
};

enum dw_ns {
	DW_NS_USER = 0,
	DW_NS_MOUNT,
	DW_NS_PID,
	DW_NS_NET,
	DW_NS_IPC,
	DW_NS_UTS,
	DW_NS_CGROUP,
	DW_NS_COUNT
};

enum dw_cap_set {
	DW_CAP_EFFECTIVE = 0,
	DW_CAP_PERMITTED,
	DW_CAP_INHERITABLE,
	DW_CAP_BOUNDING,
	DW_CAP_AMBIENT,
	DW_CAP_SET_COUNT
};

/*
 * The walls of the program's process, read from the kernel after the last wall was up
 * and before the program's first instruction.
 */
struct dw_walls {
	bool known;               /* false: the program did not get that far */
	uint64_t ns[DW_NS_COUNT]; /* inode numbers in /proc/self/ns, 0 if unknown */
	uint64_t caps[DW_CAP_SET_COUNT];
	uint32_t uid; /* as the program sees it */
	uint32_t gid;
	int32_t no_new_privs;    /* 0, 1, or -1 if the kernel does not say */
	int32_t seccomp_mode;    /* 2 is a filter */
	int32_t seccomp_filters; /* how many of them, -1 if the kernel does not say */
	int32_t landlock_abi;    /* 0: not applied */
	int32_t commands;        /* files that may be executed; 0: no list was given */
	int32_t others_refused;  /* kernel refuses to execute others: 0, 1, or -1 */
	int32_t root_read_only;  /* 0, 1, or -1 */
	int32_t interfaces;      /* besides loopback, -1 if unknown */
	int32_t routes;          /* besides loopback's own, -1 if unknown */
	uint64_t rlimit_files;
	uint64_t rlimit_pids;
	uint64_t rlimit_file_size;
	uint64_t tmp_bytes; /* the size of the file system of /tmp */
	uint64_t tmp_inodes;
};

/* The rows of limits.def: DW_LIMIT_TIMEOUT, DW_LIMIT_MEMORY, ... */
enum dw_limit {
#define DW_LIMIT(id, ...) DW_LIMIT_##id,
#include "dewar/limits.def"
	DW_LIMIT_COUNT
};

/* How one limit was enforced. Units are those of struct dw_limits. */
struct dw_limit_proof {
	uint64_t asked;
	uint64_t kernel; /* as read back from the kernel; 0 if it cannot be read */
	bool enforced;
	const char *by; /* cgroup2, cgroup1, rlimit, sampling, tmpfs, dewar, engine, none */
	const char *note; /* what is not enforced, or NULL */
};

struct dw_proof {
	char requested[64];
	char achieved[16]; /* empty if nothing ran */
	char runtime[64];  /* level docker: the runtime of the container, or empty */
	struct dw_walls walls;
	uint32_t own_ns; /* 1U << DW_NS_*: the namespaces that differ from ours */
	struct dw_limit_proof limits[DW_LIMIT_COUNT];
};

enum dw_severity {
	DW_SEVERITY_NOTE = 0,
	DW_SEVERITY_WARNING, /* uses something that should be reviewed */
	DW_SEVERITY_ERROR,   /* does something that snippets rarely need */
	DW_SEVERITY_COUNT
};

#define DW_RULE_MAX 80
#define DW_MESSAGE_MAX 200

/*
 * One finding of static analysis. Rules are FAMILY:NAME, where NAME may come from the
 * program ("import:os"); it is then cut, and has no blank or control character in it.
 */
struct dw_finding {
	char rule[DW_RULE_MAX];
	char message[DW_MESSAGE_MAX]; /* one line of UTF-8 */
	enum dw_severity severity;
	uint32_t line;   /* from 1 */
	uint32_t column; /* from 1, in characters */
};

struct dw_file_out {
	char *name;
	void *data;
	size_t len;
};

#define DW_ID_MAX 33

struct dw_result {
	char id[DW_ID_MAX];
	enum dw_status status;
	enum dw_reason reason;
	char hint[640]; /* empty only on success */
	int exit_code;  /* 128 + signal if killed; -1 if it never ran */
	int signal;     /* 0 if none */

	char *out[2]; /* by enum dw_stream, NUL behind the last byte */
	size_t out_len[2];
	bool truncated[2];

	struct dw_file_out *files;
	size_t n_files;

	double execution_time_ms; /* the times and the memory are negative if unknown */
	double cpu_time_ms;
	double memory_used_mb;

	char **warnings;
	size_t n_warnings;
	struct dw_finding *findings; /* of static analysis, if a policy asked for it */
	size_t n_findings;

	struct dw_proof proof;
	bool ok; /* false: the program did not start */
	bool network;
	bool warm;
	char *image; /* or NULL */
};

/* As they are written in JSON: "success", "timeout_wall", "pid", "memory". */
DW_API const char *dw_status_name(enum dw_status status);
DW_API const char *dw_reason_name(enum dw_reason reason);
DW_API const char *dw_ns_name(enum dw_ns ns);
DW_API const char *dw_limit_name(enum dw_limit limit);
DW_API const char *dw_severity_name(enum dw_severity severity);

/* The whole result as JSON, NUL-terminated; free() it. NULL without memory. */
DW_API char *dw_result_to_json(const struct dw_result *res);

/* The proof alone, byte for byte as in the whole result; free() it. */
DW_API char *dw_proof_to_json(const struct dw_proof *proof);

/* The result as text for a model's tool call; free() it. NULL without memory. */
DW_API char *dw_result_to_text(const struct dw_result *res);

/* The walls of the run, in one line for a person; free() it. */
DW_API char *dw_result_walls_line(const struct dw_result *res);

DW_API void dw_result_free(struct dw_result *res);

#endif
