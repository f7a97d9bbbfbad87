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
 * One connection, one call at a time. A call ends by its deadline, or when cancel_fd
 * becomes readable; -1 is no cancel_fd.
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
	uint64_t stall_ms; /* give up if nothing arrives for so long; 0: never */
	dw_docker_http_line_fn *on_line;   /* NULL: the reply is kept whole */
	dw_docker_http_line_fn *on_header; /* for each header line, or NULL */
	void *user;
};

/*
 * If a client leaves before Podman has created or started a container, Podman may keep
 * half a container that it can neither list nor remove.
 */
#define DW_DOCKER_HTTP_GRACE_MS 2000U

/* More than any reply that we ask for. */
#define DW_DOCKER_HTTP_REPLY_MAX (8U << 20)

/*
 * 0, with the reply and its status, whatever that is. -1 if there was no whole reply:
 * DW_E_UNSUPPORTED, or DW_E_BUSY if the call was cancelled.
 */
int dw_docker_http_call(struct dw_docker_http *http,
                        const struct dw_docker_http_call *call, long *ret_status,
                        struct dw_buf *ret_body, struct dw_error *err);

/* Escape a part of a path or a query; free() it. NULL if there is no memory. */
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
 * Connect to the first of the sockets (paths, in order) that exists. If that engine does
 * not answer, fail: another engine would be a surprise.
 */
int dw_engine_find(struct dw_engine *e, const json_t *sockets, int cancel_fd,
                   struct dw_error *err);
void dw_engine_close(struct dw_engine *e);

/*
 * Choose the API version, where newest is the engine's newest: into ret, as "1.41". -1
 * if the engine is too old. One that is too new fails the first call.
 */
int dw_engine_negotiate(const char *newest, char *ret, size_t size, struct dw_error *err);

/*
 * One call. *ret_reply is a new reference, or NULL if the reply has no body. Any status
 * but success is -1, with the engine's message. ret_reply and ret_status may be NULL.
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
 * image.c: split "python:3.11-slim" into name and tag. Without a tag it is "latest",
 * since an engine would pull every tag; with a digest the tag is "".
 */
int dw_image_split(const char *image, char *ret_name, size_t size, char *ret_tag,
                   size_t tag_size, struct dw_error *err);

/* Called now and then with a progress line for a person. */
typedef void dw_image_note_fn(void *user, const char *text);

/* Pull an image. While the engine reports progress its deadline does not advance. */
int dw_image_pull(struct dw_engine *e, const char *image, dw_image_note_fn *note,
                  void *user, struct dw_error *err);

/* podman.c: rewrite the body of the create call for what Podman does differently. */
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

/* -1 if the reply does not describe a container. */
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
 * sweep.c: name the process that creates a container, for a label: boot, pid namespace,
 * pid and start time are those of no other process. "" if /proc does not tell.
 */
void dw_owner_make(char *ret, size_t size);

/* Returns true if the labelled owner is certainly dead. running: its container runs. */
bool dw_owner_is_dead(const char *label, bool running);

/* Remove containers whose owner, a dewar-docker, is dead. */
void dw_sweep(const struct dw_engine *e);

/* ---- container_cgroup.c: what the kernel, not the engine, says of a container ---- */

struct dw_container_cgroup {
	struct {
		int version; /* 2, 1, or 0: not found */
		char dir[768];
	} group[DW_DOCKER_LIMIT_COUNT];
	char cpuacct[768]; /* version 1 counts cpu time elsewhere */
	uint64_t cpu_before;
	uint64_t oom_before;
	uint64_t pids_before;
};

/*
 * Find the cgroups in text, /proc/PID/cgroup. Only those with the container's id in
 * their path are its own; in others there may be other processes.
 */
void dw_container_cgroup_find(struct dw_container_cgroup *cg, const char *text,
                              const char *id);
void dw_container_cgroup_find_pid(struct dw_container_cgroup *cg, int pid,
                                  const char *id);
void dw_container_cgroup_limits(const struct dw_container_cgroup *cg,
                                struct dw_docker_enforced *ret);

/* Count usage and events from now on. */
void dw_container_cgroup_start(struct dw_container_cgroup *cg);

/* Note whether the kernel has killed for memory, or refused a process, since then. */
void dw_container_cgroup_events(const struct dw_container_cgroup *cg,
                                struct dw_docker_end *ret);
void dw_container_cgroup_usage(const struct dw_container_cgroup *cg,
                               struct dw_docker_end *ret);

/* Fill in those that are 0 from the process's, as far as the kernel shows them. */
void dw_container_namespaces(int pid, uint64_t ret[DW_NS_COUNT]);

/* ---- order.c: what dewar asks for, as levels/docker_order.c writes it ---- */

/* Texts point into root. */
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
	uint32_t left; /* of the engine's frame */
	struct dw_guest_frame frame;
	size_t n_frame; /* of its header and payload */
	char payload[DW_GUEST_PAYLOAD_MAX];
};

/* 0; -EPROTO if neither an engine nor a guest sends this; or on_frame's failure. */
int dw_demux_feed(struct dw_demux *d, const char *data, size_t len);

/* ---- collected.c: files that the guest sends, written below a folder ---- */

/* Every name is checked again: the guest has run beside hostile code. */
struct dw_collected {
	const char *folder; /* NULL: nothing was asked for */
	int dir_fd;         /* once the folder is made, or -1 */
	int fd;             /* of the file that is written, or -1 */
	uint64_t left;      /* of that file */
	uint64_t bytes;     /* of all files so far */
	unsigned files;
};

/* The folder is borrowed, and made for the first file. */
void dw_collected_open(struct dw_collected *c, const char *folder);
void dw_collected_close(struct dw_collected *c);

/* The payload of a FILE, and of DATA; 0 or -errno. */
int dw_collected_file(struct dw_collected *c, const char *payload, size_t len);
int dw_collected_data(struct dw_collected *c, const char *payload, size_t len);

/* ---- guest_link.c: the stream to the guest ---- */

enum dw_link_state {
	DW_LINK_STARTING, /* there may be no guest yet */
	DW_LINK_READY,    /* it has sent HELLO */
	DW_LINK_RUNNING,  /* WALLS */
	DW_LINK_ENDED,    /* END */
	DW_LINK_DONE,     /* DONE, or an ERROR */
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
	unsigned kills;          /* how often dewar asked for it */
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
 * Pump the stream until the state is reached. -1 if it cannot be, with an error; that is
 * DW_E_BUSY if dewar ended the run.
 */
int dw_link_pump(struct dw_guest_link *s, enum dw_link_state until, uint64_t deadline_ms,
                 struct dw_error *err);

/* ---- one run ---- */

/*
 * checks.c: read back what the engine made, and refuse a container that lacks a wall.
 * What each limit became is in *made.
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
