/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_DOCKER_OWN_H
#define DW_DOCKER_DOCKER_OWN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dewar/error.h"
#include "wire/docker.h"
#include "wire/guest.h"
#include "wire/plan.h"

/*
 * The parts of dewar-docker, from the HTTP client up to one run. main.c says why this
 * is a separate program.
 */

/* ---- http_client.c: HTTP over a unix socket, with libcurl ---- */

/*
 * An HTTP client that makes one call at a time. A call ends at its deadline, or when
 * cancel_fd becomes readable; if cancel_fd is -1, it cannot be cancelled.
 */
struct dw_docker_http;

int dw_docker_http_open(const char *socket_path, int cancel_fd,
                        struct dw_docker_http **ret, struct dw_error *err);
void dw_docker_http_close(struct dw_docker_http *http);
void dw_docker_http_set_cancel(struct dw_docker_http *http, int cancel_fd);

/* Called for each line of a reply as it arrives; a failure ends the call. */
typedef int dw_docker_http_line_fn(void *user, const char *line, size_t len);

struct dw_docker_http_call {
	const char *method;
	const char *path; /* escaped: "/v1.41/containers/json?all=1" */
	const char *body; /* JSON, or NULL */
	uint64_t deadline_ms;
	uint64_t grace_ms; /* how long the call goes on once it is cancelled */
	uint64_t stall_ms; /* give up if no data arrives for this long; 0: never */
	dw_docker_http_line_fn *on_line;   /* NULL: the reply goes to ret_body */
	dw_docker_http_line_fn *on_header; /* for each header line, or NULL */
	void *user;
};

/*
 * How long a cancelled call that creates or starts a container may still take. If the
 * client disconnects earlier, Podman may keep a half-made container that it can neither
 * list nor remove.
 */
#define DW_DOCKER_HTTP_GRACE_MS 2000U

/* Larger than any reply to our calls. */
#define DW_DOCKER_HTTP_REPLY_MAX (8U << 20)

/*
 * Returns 0 with the reply and its status, even if the status is an error. Returns -1 if
 * no complete reply arrived: DW_E_UNSUPPORTED, or DW_E_BUSY if the call was cancelled.
 */
int dw_docker_http_call(struct dw_docker_http *http,
                        const struct dw_docker_http_call *call, long *ret_status,
                        struct dw_buf *ret_body, struct dw_error *err);

/* Escape a part of a path or a query; the caller frees it. NULL without memory. */
char *dw_docker_http_escape(const char *text);

/* ---- engine.c: an engine that speaks Docker's API ---- */

struct dw_engine {
	struct dw_docker_http *http;
	char socket[108];
	char prefix[16]; /* "/v1.41" */
	char name[64];   /* "Docker 20.10.24", for people */
	bool podman;
	uint64_t deadline_ms;
};

/*
 * Connect to the first of the sockets (paths, in order) that we may open. If that engine
 * does not answer, fail: the user does not expect us to use another one.
 */
int dw_engine_find(struct dw_engine *e, const json_t *sockets, int cancel_fd,
                   struct dw_error *err);
void dw_engine_close(struct dw_engine *e);

/*
 * Choose an API version and write it to ret, as "1.41"; newest is the newest one that the
 * engine supports. Returns -1 if the engine is too old. An engine that is too new refuses
 * the first call.
 */
int dw_engine_negotiate(const char *newest, char *ret, size_t size, struct dw_error *err);

/*
 * Make one call. *ret_reply is a new reference, or NULL if the reply has no body. Any
 * status other than 2xx is a failure, with the engine's message. ret_reply and ret_status
 * may be NULL.
 */
int dw_engine_call(const struct dw_engine *e, const char *method, const char *path,
                   const json_t *body, json_t **ret_reply, long *ret_status,
                   struct dw_error *err);

/* Blank out control characters: the text goes to terminals and into one-line errors. */
void dw_engine_flatten(char *text);

/* The message of an engine's error reply, as one short line. */
void dw_engine_message(const char *reply, size_t len, char *ret, size_t size);

/*
 * attach.c: open a connection that becomes the container's stdin, stdout and stderr. Its
 * descriptor is non-blocking; bytes that followed the engine's answer are in ret_rest.
 */
int dw_attach(const struct dw_engine *e, const char *id, int cancel_fd, int *ret_fd,
              struct dw_buf *ret_rest, struct dw_error *err);

/*
 * Parse the head of an HTTP answer. Its status and in *ret_len its length; 0 if the head
 * is not complete yet, -1 if this is not HTTP.
 */
int dw_attach_head(const char *text, size_t len, size_t *ret_len);

/*
 * image.c: split "python:3.11-slim" into name and tag. If there is no tag, ret_tag is
 * "latest", because the engine would otherwise pull every tag; if there is a digest,
 * ret_tag is "".
 */
int dw_image_split(const char *image, char *ret_name, size_t size, char *ret_tag,
                   size_t tag_size, struct dw_error *err);

/* Called at intervals with a line of progress for a person. */
typedef void dw_image_note_fn(void *user, const char *text);

/*
 * Pull an image, and postpone the engine's deadline by the time that this takes. Fails if
 * the engine reports no progress for too long.
 */
int dw_image_pull(struct dw_engine *e, const char *image, dw_image_note_fn *note,
                  void *user, struct dw_error *err);

/* podman.c: change the body of the create call to what Podman expects. */
int dw_podman_adapt(const json_t *body, struct dw_error *err);

/* ---- containers.c ---- */

#define DW_CONTAINER_ID_MAX 80
#define DW_LABEL_OWNER "dev.dewar.owner"

struct dw_inspected {
	bool running;
	bool oom_killed;
	int pid;          /* on the host, or 0 */
	char runtime[64]; /* as the engine names it, or "" */
	char image[256];  /* as the engine names it */
	char volume[256]; /* the path of a volume that the image declares, or "" */
};

/* Returns -1 if the reply does not describe a container. */
int dw_inspect_read(const json_t *reply, struct dw_inspected *ret, struct dw_error *err);

/*
 * On failure *ret_missing is set if the image is missing, and *ret_unsure if there was no
 * answer, so that the container may exist.
 */
int dw_container_create(const struct dw_engine *e, const char *name, const json_t *body,
                        char ret_id[DW_CONTAINER_ID_MAX], bool *ret_missing,
                        bool *ret_unsure, struct dw_error *err);
int dw_container_start(const struct dw_engine *e, const char *id, struct dw_error *err);
int dw_container_inspect(const struct dw_engine *e, const char *id,
                         struct dw_inspected *ret, struct dw_error *err);

/* Kill and remove it with its volumes; returns when it is gone. */
int dw_container_remove(const struct dw_engine *e, const char *id, struct dw_error *err);

/* Remove a container that may exist, or soon will: retry until the engine's deadline. */
void dw_container_remove_named(const struct dw_engine *e, const char *name);

/* Returns true if it looks like an engine's id: we put it into paths unescaped. */
bool dw_container_is_id(const char *id);

/*
 * sweep.c: write a label that identifies this process, which creates a container. No
 * other process has the same boot id, pid namespace, pid and start time. "" if /proc does
 * not show them.
 */
void dw_owner_make(char *ret, size_t size);

/*
 * Returns true if the process that the label identifies is certainly dead. running says
 * whether its container still runs.
 */
bool dw_owner_is_dead(const char *label, bool running);

/* Remove containers whose owner, a dewar-docker, is dead. */
void dw_sweep(const struct dw_engine *e);

/* ---- container_cgroup.c: what the kernel, not the engine, says of a container ---- */

struct dw_container_cgroup {
	struct {
		int version; /* 2, 1, or 0: not found */
		char dir[768];
	} group[DW_DOCKER_LIMIT_COUNT];
	char cpuacct[768]; /* where version 1 counts cpu time, or "" */
	uint64_t cpu_before;
	uint64_t oom_before;
	uint64_t pids_before;
};

/*
 * Find the container's cgroups in text, the content of /proc/PID/cgroup. Only a cgroup
 * with the container's id in its path is the container's own; any other may contain other
 * processes, too.
 */
void dw_container_cgroup_find(struct dw_container_cgroup *cg, const char *text,
                              const char *id);
void dw_container_cgroup_find_pid(struct dw_container_cgroup *cg, int pid,
                                  const char *id);
void dw_container_cgroup_limits(const struct dw_container_cgroup *cg,
                                struct dw_docker_enforced *ret);

/* Measure cpu time, peak memory and events from now on. */
void dw_container_cgroup_start(struct dw_container_cgroup *cg);

/*
 * Set ret->oom if, since the start, the kernel has killed a process for lack of memory,
 * and ret->pids if it has refused to create one.
 */
void dw_container_cgroup_events(const struct dw_container_cgroup *cg,
                                struct dw_docker_end *ret);
void dw_container_cgroup_usage(const struct dw_container_cgroup *cg,
                               struct dw_docker_end *ret);

/*
 * For each entry of ret that is 0, fill in the namespace of the process, if the kernel
 * shows it.
 */
void dw_container_namespaces(int pid, uint64_t ret[DW_NS_COUNT]);

/* ---- order.c: what dewar asks for, as levels/docker_order.c writes it ---- */

/* The strings point into root. */
struct dw_docker_order {
	json_t *root;
	const json_t *sockets;
	json_t *body;
	const char *id;
	const char *image;
	const char *pull;    /* "never", "missing" or "always" */
	const char *runtime; /* or NULL */
	const char *folder;  /* for collected files, or NULL */
	uint64_t deadline_ms;
	uint64_t asked[DW_DOCKER_LIMIT_COUNT];
	uint64_t tmp_bytes;
	uint64_t cpu_ms;  /* total cpu time, enforced if no cgroup enforces the share */
	uint64_t wait_ms; /* how long a container waits for a second order; 0: run now */
	bool probe;
	bool strict;
	bool no_network;
	struct dw_plan plan;
};

/* Read a sealed memfd with JSON and, for a run, one with a plan. */
int dw_docker_order_read(struct dw_docker_order *o, int json_fd, int plan_fd,
                         struct dw_error *err);

/*
 * Write the payload of an ORDER for the guest: the plan without its files. The guest
 * samples each limit that no cgroup enforces.
 */
int dw_docker_order_write(const struct dw_docker_order *o,
                          const struct dw_docker_enforced *enforced, struct dw_buf *ret,
                          struct dw_error *err);

/* ---- demux.c: two layers of framing, parsed as bytes arrive ---- */

/*
 * An engine wraps a container's output: a byte for the stream, three zeroes, four bytes
 * for the length (big-endian), and the bytes. Inside, standard output carries the
 * guest's frames (wire/guest.h); standard error is text of a runtime that failed.
 */
typedef int dw_demux_frame_fn(void *user, const struct dw_guest_frame *frame,
                              const char *payload);
typedef void dw_demux_text_fn(void *user, const char *data, size_t len);

struct dw_demux {
	dw_demux_frame_fn *on_frame;
	dw_demux_text_fn *on_text;
	void *user;
	/* the rest is private */
	unsigned char header[8];
	size_t n_header;
	uint32_t left; /* bytes of the engine's frame still to come */
	struct dw_guest_frame frame;
	size_t n_frame; /* bytes of its header and payload so far */
	char payload[DW_GUEST_PAYLOAD_MAX];
};

/*
 * Returns 0, -EPROTO if the bytes are not valid frames of an engine and a guest, or the
 * error that on_frame returned.
 */
int dw_demux_feed(struct dw_demux *d, const char *data, size_t len);

/* ---- collected.c: files that the guest sends, written below a folder ---- */

/* Every name is checked again: untrusted code ran in the guest's container. */
struct dw_collected {
	const char *folder; /* NULL: no files were requested */
	int dir_fd;         /* -1 until the folder is created */
	int fd;             /* the file being written, or -1 */
	uint64_t left;      /* bytes of that file still to come */
	uint64_t bytes;     /* of all files so far */
	unsigned files;
};

/* The string is borrowed; the folder is created when the first file arrives. */
void dw_collected_open(struct dw_collected *c, const char *folder);
void dw_collected_close(struct dw_collected *c);

/* Process the payload of a FILE frame, and of a DATA frame. Return 0 or -errno. */
int dw_collected_file(struct dw_collected *c, const char *payload, size_t len);
int dw_collected_data(struct dw_collected *c, const char *payload, size_t len);

/* ---- guest_link.c: the stream to the guest ---- */

enum dw_link_state {
	DW_LINK_STARTING, /* the guest may not have started yet */
	DW_LINK_READY,    /* the guest has sent HELLO */
	DW_LINK_RUNNING,  /* the guest has sent WALLS */
	DW_LINK_ENDED,    /* the guest has sent END */
	DW_LINK_DONE,     /* the guest has sent DONE or ERROR */
};

/* Start from {0}. */
struct dw_guest_link {
	int fd;
	enum dw_link_state state;
	struct dw_guest_hello hello;
	int pid; /* of the guest, on the host; 0 if unknown */
	struct dw_container_cgroup cgroup;
	struct dw_error error; /* the guest's */
	struct dw_docker_end end;
	struct dw_collected collected;
	char runtime_error[300]; /* the container's stderr: why the runtime failed */
	unsigned kills;          /* how often dewar asked us to end the run */
	uint64_t killed_ms;
	bool dewar_gone;
	/* the rest is private */
	bool wants_input;
	bool input_over;
	struct dw_buf out; /* not sent yet, from out_at on */
	size_t out_at;
	struct dw_demux demux;
};

void dw_link_init(struct dw_guest_link *s);
void dw_link_finish(struct dw_guest_link *s);

/* Send a report to dewar. If dewar is gone, the next read of its socket shows it. */
void dw_docker_report(const struct dw_docker_report *report);

/* Queue a frame for the guest; dw_link_pump() sends it. */
void dw_link_queue(struct dw_guest_link *s, enum dw_guest_kind kind, const void *data,
                   size_t len);

/* Process what has arrived. -1 if the stream has ended, or if its bytes are malformed. */
int dw_link_receive(struct dw_guest_link *s, struct dw_error *err);

/*
 * Pump the stream until the state is reached. Returns -1 if that fails; the code is
 * DW_E_BUSY if dewar cancelled the run.
 */
int dw_link_pump(struct dw_guest_link *s, enum dw_link_state until, uint64_t deadline_ms,
                 struct dw_error *err);

/* ---- one run ---- */

/*
 * checks.c: read back what the engine created, and refuse a container that lacks a wall.
 * *made tells how each limit is enforced.
 */
int dw_docker_check(const struct dw_engine *e, const struct dw_docker_order *o,
                    const char *id, struct dw_guest_link *link,
                    struct dw_docker_made *made, struct dw_error *err);

/* Fails if the kernel does not enforce a limit. */
int dw_docker_check_strict(const struct dw_docker_made *made, struct dw_error *err);

/* lifecycle.c: create, run and remove one container, and report to dewar. */
int dw_docker_run(struct dw_engine *e, const struct dw_docker_order *o,
                  struct dw_error *err);

#endif
