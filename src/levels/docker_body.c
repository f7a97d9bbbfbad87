/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "levels/docker_cell.h"
#include "levels/launched.h"

#define GUEST "/.dewar/guest"

/*
 * The kernel counts all processes of user nobody on the host, so this is far above the
 * limit of a run. Podman uses the same value.
 */
#define NPROC 32768U

/* ---- mounts ---- */

static json_t *mount_of(const char *host, const char *cell, bool writable)
{
	/* Not recursive: engines make only the top mount read-only. */
	/* mutant: docker-read-only-mounts */
	return json_pack("{s:s, s:s, s:s, s:b, s:{s:s, s:b}}", "Type", "bind", "Source",
	                 host, "Target", cell, "ReadOnly", !writable, "BindOptions",
	                 "Propagation", "rprivate", "NonRecursive", 1);
}

static void add_share(struct dw_plan_builder *plan, const char *host, const char *cell,
                      bool writable)
{
	dw_plan_bind(plan, host, cell, writable ? DW_PLAN_WRITABLE : 0);
}

/* Check that user nobody, as which the program runs, has access to the path. */
static int check_access(const char *what, const char *path, unsigned bit, const char *fix,
                        struct dw_error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return dw_fail(err, DW_E_INVALID, errno, "cannot open the %s %s", what,
		               path);
	if ((st.st_mode & bit) ||
	    (st.st_uid == DW_DOCKER_NOBODY && (st.st_mode & bit << 6)) ||
	    (st.st_gid == DW_DOCKER_NOBODY && (st.st_mode & bit << 3)))
		return 0;
	return dw_fail(err, DW_E_UNSUPPORTED, 0,
	               "the program runs as user nobody (%u), which cannot %s the %s %s; try: "
	               "chmod %s %s",
	               DW_DOCKER_NOBODY, bit == S_IWOTH ? "write to" : "enter", what,
	               path, fix, path);
}

static int add_shares(json_t *mounts, const struct dw_request *req, struct dw_error *err)
{
	struct dw_plan_builder plan;
	const struct dw_plan_entry *e;
	int r;

	/* The builder serves as a list of mounts. */
	dw_plan_init(&plan);
	r = dw_host_paths_shares(&plan, req, add_share, err);
	e = (const struct dw_plan_entry *)plan.entries.data;
	for (size_t i = 0; r == 0 && i < plan.entries.len / sizeof(*e); i++) {
		const char *host = plan.blob.data + e[i].src;
		const char *cell = plan.blob.data + e[i].dst;
		bool writable = (e[i].flags & DW_PLAN_WRITABLE) != 0;

		if (writable)
			r = check_access("writable path", host, S_IWOTH, "o+w", err);
		else if (strcmp(cell, "/work") == 0)
			r = check_access("workspace (/work)", host, S_IXOTH, "o+rx", err);
		if (r == 0)
			(void)json_array_append_new(mounts,
			                            mount_of(host, cell, writable));
	}
	dw_plan_finish(&plan);
	return r;
}

static int add_program(json_t *mounts, const struct dw_request *req, struct dw_error *err)
{
	autofree char *real = dw_command_program(req, err);

	if (!real)
		return -1;
	(void)json_array_append_new(mounts, mount_of(real, DW_DOCKER_PROGRAM, false));
	return 0;
}

/*
 * Without a network, only localhost resolves: mount our own files, which are installed
 * next to dewar-guest. Otherwise engines mount files with the host's names and resolver.
 */
static void add_names(json_t *mounts, const char *guest)
{
	static const char *const files[][2] = {{"hosts", "/etc/hosts"},
	                                       {"resolv.conf", "/etc/resolv.conf"}};
	const char *slash = strrchr(guest, '/');
	char path[600];

	for (size_t i = 0; slash && i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%.*s/dewar-%s", (int)(slash - guest),
		               guest, files[i][0]);
		if (access(path, R_OK) == 0)
			(void)json_array_append_new(mounts,
			                            mount_of(path, files[i][1], false));
	}
}

/* ---- limits ---- */

static json_t *ulimit(const char *name, uint64_t value)
{
	return json_pack("{s:s, s:I, s:I}", "Name", name, "Soft", (json_int_t)value,
	                 "Hard", (json_int_t)value);
}

/*
 * An engine without CAP_SYS_RESOURCE cannot raise a hard limit, so ask for no more than
 * our own hard limits, which are most likely the engine's, too; an engine's default may
 * be more. In the container, dewar-guest sets the request's limit on open files.
 */
static json_t *make_ulimits(const struct dw_limits *limits)
{
	json_t *list = json_array();
	struct rlimit lim;
	uint64_t files = limits->files, processes = NPROC;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_max < files)
		files = lim.rlim_max;
	(void)json_array_append_new(list, ulimit("nofile", files));
	if (getrlimit(RLIMIT_NPROC, &lim) == 0 && lim.rlim_max < processes)
		processes = lim.rlim_max;
	(void)json_array_append_new(list, ulimit("nproc", processes));
	return list;
}

/* Never more than all cpus: engines refuse that. */
static json_int_t nano_cpus(uint64_t percent)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (cpus > 0 && percent > (uint64_t)cpus * 100)
		percent = (uint64_t)cpus * 100;
	return (json_int_t)percent * 10000000;
}

static json_t *make_tmpfs(uint64_t bytes)
{
	char options[128];

	/* exec: compilers write their output there. */
	(void)snprintf(options, sizeof(options),
	               "rw,exec,nosuid,nodev,mode=1777,size=%llu,nr_inodes=%llu",
	               (unsigned long long)bytes,
	               (unsigned long long)(bytes / DW_TMP_INODE_BYTES) + 1);
	return json_pack("{s:s}", "/tmp", options);
}

/*
 * Kernel files that engines show to every container and no program needs: they would
 * identify the host, reveal what other containers do, or help an attacker. Engines skip
 * paths that do not exist. Files that only root can read are not masked: a mask would be
 * a file that the program can open.
 */
static json_t *make_masked(void)
{
	static const char *const paths[] =
		{/* The engines' default list, which ours replaces. */
	         "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys",
	         "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
	         "/proc/timer_list", "/proc/timer_stats",
	         /* Ours. */
	         "/proc/buddyinfo", "/proc/bus", "/proc/cgroups", "/proc/cmdline",
	         "/proc/config.gz", "/proc/consoles", "/proc/crypto", "/proc/devices",
	         "/proc/diskstats", "/proc/dma", "/proc/driver", "/proc/execdomains",
	         "/proc/fs", "/proc/interrupts", "/proc/iomem", "/proc/ioports",
	         "/proc/irq", "/proc/kallsyms", "/proc/key-users", "/proc/locks",
	         "/proc/mdstat", "/proc/misc", "/proc/modules", "/proc/partitions",
	         "/proc/pressure", "/proc/schedstat", "/proc/softirqs", "/proc/swaps",
	         "/proc/sys", "/proc/tty", "/proc/vmstat", "/proc/zoneinfo", "/sys"};
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		(void)json_array_append_new(list, json_string(paths[i]));
	return list;
}

static json_t *make_host(const struct dw_spec *spec, json_t *mounts)
{
	const struct dw_limits *limits = &spec->limits;
	const struct dw_request *req = spec->req;
	json_int_t memory = (json_int_t)limits->memory_bytes;
	json_t *host = json_object();

	/* mutant: docker-network */
	(void)json_object_set_new(host, "NetworkMode",
	                          json_string(req->network == DW_NETWORK_FULL ? "bridge"
	                                                                      : "none"));
	(void)json_object_set_new(host, "ReadonlyRootfs", json_true());
	(void)json_object_set_new(host, "Tmpfs", make_tmpfs(limits->tmp_bytes));
	(void)json_object_set(host, "Mounts", mounts);
	/* mutant: docker-capabilities */
	(void)json_object_set_new(host, "CapDrop", json_pack("[s]", "ALL"));
	(void)json_object_set_new(host, "SecurityOpt",
	                          json_pack("[s]", "no-new-privileges"));
	/* mutant: docker-masked-paths */
	(void)json_object_set_new(host, "MaskedPaths", make_masked());
	(void)json_object_set_new(host, "Privileged", json_false());
	(void)json_object_set_new(host, "Memory", json_integer(memory));
	/* This limit counts memory plus swap, so there is no swap. */
	(void)json_object_set_new(host, "MemorySwap", json_integer(memory));
	(void)json_object_set_new(host, "NanoCpus",
	                          json_integer(nano_cpus(limits->cpu_percent)));
	/* The guest needs one more. */
	(void)json_object_set_new(host, "PidsLimit",
	                          json_integer((json_int_t)limits->pids + 1));
	(void)json_object_set_new(host, "Ulimits", make_ulimits(limits));
	(void)json_object_set_new(host, "ShmSize",
	                          json_integer((json_int_t)limits->tmp_bytes));
	/* mutant: docker-ipc-namespace */
	(void)json_object_set_new(host, "IpcMode", json_string("private"));
	(void)json_object_set_new(host, "CgroupnsMode", json_string("private"));
	/* dewar-guest is the init, for every image and engine. */
	(void)json_object_set_new(host, "Init", json_false());
	/* The engine must not log the program's output. */
	(void)json_object_set_new(host, "LogConfig",
	                          json_pack("{s:s, s:{}}", "Type", "none", "Config"));
	(void)json_object_set_new(host, "RestartPolicy",
	                          json_pack("{s:s}", "Name", "no"));
	(void)json_object_set_new(host, "AutoRemove", json_true());
	if (req->runtime)
		(void)json_object_set_new(host, "Runtime", json_string(req->runtime));
	return host;
}

json_t *dw_docker_body(const struct dw_spec *spec, const char *image, const char *guest,
                       struct dw_error *err)
{
	json_auto_t *mounts = json_pack("[o]", mount_of(guest, GUEST, false));
	json_t *host, *body;

	if (add_shares(mounts, spec->req, err) < 0 ||
	    (spec->req->program && add_program(mounts, spec->req, err) < 0))
		return NULL;
	if (spec->req->network == DW_NETWORK_NONE)
		add_names(mounts, guest);
	host = make_host(spec, mounts);
	/* mutant: docker-user-and-host-name */
	body = json_pack("{s:s, s:[s], s:[], s:s, s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:b,"
	                 " s:{s:[s]}, s:{s:s}, s:o}",
	                 "Image", image, "Entrypoint", GUEST, "Cmd", "User",
	                 "65534:65534", "WorkingDir", "/", "Hostname", "dewar",
	                 "AttachStdin", 1, "AttachStdout", 1, "AttachStderr", 1,
	                 "OpenStdin", 1, "StdinOnce", 1, "Tty", 0,
	                 /* An image may declare a health check, run by the engine. */
	                 "Healthcheck", "Test", "NONE", "Labels", "dev.dewar.run",
	                 spec->id, "HostConfig", host);
	if (!body)
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM,
		              "cannot describe the container");
	return body;
}
