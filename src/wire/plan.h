/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WIRE_PLAN_H
#define DW_WIRE_PLAN_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dewar/error.h"

/*
 * The plan: all that dewar-launch knows about a cell.
 *
 * A level writes it with the builder below and sends it in a sealed memfd (report.h). The
 * launcher maps it, checks it once with dw_plan_read(), and then only points into it, so
 * that it allocates nothing.
 *
 *	header | entries | argv offsets | env offsets | blob of strings and data
 *
 * An offset counts from the start of the blob; every string ends in a NUL inside
 * it. Both sides are built together, so there is one version and no conversion.
 */

#define DW_PLAN_MAGIC 0x31574452U
#define DW_PLAN_ENTRIES_MAX 512U
#define DW_PLAN_WORDS_MAX 8192U /* argv and env, each */
#define DW_PLAN_RLIMITS_MAX 12U
#define DW_PLAN_SIZE_MAX (512U << 20)

/* The report socket of dewar-launch (report.h). */
#define DW_LAUNCH_FD 3

enum dw_plan_flag {
	DW_PLAN_NAMESPACES = 1U << 0, /* namespaces and a root of its own */
	DW_PLAN_DROP = 1U << 1,       /* no_new_privs, no capabilities */
	DW_PLAN_LANDLOCK = 1U << 2,   /* enforce the ALLOW entries, if the kernel can */
	DW_PLAN_SECCOMP = 1U << 3,
	DW_PLAN_WAIT_NETWORK = 1U << 4,  /* send NETWORK, wait for dewar's byte */
	DW_PLAN_SEND_TMP = 1U << 5,      /* send dewar a descriptor of /tmp */
	DW_PLAN_PROBE = 1U << 6,         /* raise all walls, but exec nothing */
	DW_PLAN_SAMPLE_MEMORY = 1U << 7, /* no cgroup enforces the limit: init samples */
	DW_PLAN_SAMPLE_CPU = 1U << 8,
	DW_PLAN_SAMPLE_PIDS = 1U << 9,
	DW_PLAN_OPEN_EARLY = 1U << 10, /* open host trees while still root */
	DW_PLAN_NESTED = 1U << 11,     /* in the attached user and pid namespaces */
	DW_PLAN_RANGE = 1U << 12,      /* as root: map many ids, for cells inside it */
	DW_PLAN_ZYGOTE = 1U << 13,  /* send USERNS and PIDNS; init outlives the program */
	DW_PLAN_ENTERED = 1U << 14, /* the program comes from a zygote (enter.h) */
	DW_PLAN_JOB = 1U << 15,     /* the program waits for its job (enter.h) */
	DW_PLAN_NURSERY =
		1U << 16, /* ZYGOTE: a socket and the plan of its cells are attached */
	DW_PLAN_COMMANDS = 1U << 17, /* only EXEC entries may be executed */
};

enum dw_plan_op {
	DW_PLAN_DIR = 0, /* dst */
	DW_PLAN_SYMLINK, /* dst -> src */
	DW_PLAN_FILE,    /* file dst, with the size bytes at src */
	DW_PLAN_BIND,    /* host path src at dst, read-only unless WRITABLE */
	DW_PLAN_TMPFS,   /* at dst, of size bytes and inodes */
	DW_PLAN_PROC,    /* at dst */
	DW_PLAN_ALLOW,   /* Landlock: files below dst may be read and executed */
	DW_PLAN_EXEC,    /* Landlock: this file may be executed, with COMMANDS */
	DW_PLAN_OP_COUNT
};

enum dw_plan_entry_flag {
	DW_PLAN_WRITABLE = 1U << 0,
	DW_PLAN_DEVICE = 1U << 1,   /* a device node: the mount keeps dev */
	DW_PLAN_OPTIONAL = 1U << 2, /* skip it if the source is missing */
	DW_PLAN_OWNER = 1U << 3,    /* as root: map the owner's files to the cell's id */
	DW_PLAN_INSIDE = 1U << 4,   /* the source is in the cell's own tree */
	DW_PLAN_EXACT = 1U << 5,    /* no part of the source's path may be a link */
	DW_PLAN_NOEXEC = 1U << 6,   /* BIND, TMPFS: nothing in it can be executed */
	DW_PLAN_REFUSED = 1U << 7,  /* EXEC: not allowed; the proof tries to execute it */
};

struct dw_plan_entry {
	uint32_t op;
	uint32_t flags;
	uint32_t mode;
	uint32_t src;
	uint32_t dst;
	uint32_t inodes;
	uint64_t size;
};

struct dw_plan_rlimit {
	uint32_t resource;
	uint32_t pad;
	uint64_t value;
};

struct dw_plan_header {
	uint32_t magic;
	uint32_t size; /* of the whole plan */
	uint32_t flags;
	uint32_t n_entries;
	uint32_t n_argv;
	uint32_t n_env;
	uint32_t n_rlimits;
	uint32_t blob; /* its length */
	uint32_t cwd;
	uint32_t workdir; /* a host folder that init removes if dewar cannot, or "" */
	uint32_t hostname;
	uint32_t inside_id; /* uid and gid in the cell */
	uint32_t become;    /* as root: uid and gid on the host, or 0 */
	uint32_t map_to;    /* NESTED, as root: the id in that namespace for inside_id */
	uint32_t map_count; /* RANGE: how many ids, starting at inside_id and become */
	uint32_t root_inodes;
	uint64_t root_bytes;  /* of the tmpfs that is the cell's root */
	uint64_t memory;      /* bytes, for sampling */
	uint64_t cpu_ms;      /* of the whole cell, for sampling */
	uint64_t pids;        /* of the whole cell, for sampling */
	uint64_t deadline_ms; /* after this time init ends the cell; 0: never */
	struct dw_plan_rlimit rlimits[DW_PLAN_RLIMITS_MAX];
	cpu_set_t cpus; /* where the program may run (levels/spawn.c) */
};

/* A plan that was read and checked: pointers into the map. */
struct dw_plan {
	const struct dw_plan_header *h;
	const struct dw_plan_entry *entries;
	const uint32_t *argv;
	const uint32_t *env;
	const char *blob;
};

static inline const char *dw_plan_text(const struct dw_plan *plan, uint32_t offset)
{
	return plan->blob + offset;
}

/* Check every count and offset, so that none is out of bounds. */
int dw_plan_read(const void *data, size_t len, struct dw_plan *ret, struct dw_error *err);

/*
 * The builder. It remembers failures, so that only dw_plan_seal() has to be checked.
 */
struct dw_plan_builder {
	struct dw_plan_header h;
	struct dw_buf entries, argv, env, blob;
	struct dw_buf data; /* the files' data: struct iovec, borrowed until sealed */
};

void dw_plan_init(struct dw_plan_builder *b);
void dw_plan_finish(struct dw_plan_builder *b);

uint32_t dw_plan_add_text(struct dw_plan_builder *b, const char *text);
void dw_plan_add_arg(struct dw_plan_builder *b, const char *word);
/* Replaces a variable of that name: of two, libc would use the first. */
void dw_plan_add_env(struct dw_plan_builder *b, const char *name, const char *value);
void dw_plan_add_rlimit(struct dw_plan_builder *b, int resource, uint64_t value);

void dw_plan_dir(struct dw_plan_builder *b, const char *dst, uint32_t mode);
void dw_plan_symlink(struct dw_plan_builder *b, const char *target, const char *dst);
/* The data is borrowed until dw_plan_seal(): it may be large, and is copied once. */
void dw_plan_file(struct dw_plan_builder *b, const char *dst, uint32_t mode,
                  const void *data, size_t len);
/* The same, with lead, a string, before the data. */
void dw_plan_file_led(struct dw_plan_builder *b, const char *dst, uint32_t mode,
                      const char *lead, const void *data, size_t len);
void dw_plan_bind(struct dw_plan_builder *b, const char *src, const char *dst,
                  uint32_t flags);
void dw_plan_tmpfs(struct dw_plan_builder *b, const char *dst, uint32_t mode,
                   uint64_t size, uint32_t inodes);
void dw_plan_proc(struct dw_plan_builder *b, const char *dst);
void dw_plan_allow(struct dw_plan_builder *b, const char *path, uint32_t flags);
void dw_plan_exec(struct dw_plan_builder *b, const char *path, uint32_t flags);

/* Add noexec to all mounts that the program can write to or that the caller shares. */
void dw_plan_forbid_exec(struct dw_plan_builder *b);

/* The finished plan in a sealed memfd, or -1. */
int dw_plan_seal(struct dw_plan_builder *b, struct dw_error *err);

#endif
