/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run in a container of its own.
 *
 *	create, with the image pulled if it must be
 *	attach: our stream to the guest, before there is one
 *	start; the guest says HELLO, and waits
 *	look from outside: what does the kernel hold of the limits?
 *	the order and the files; GO
 *	pass on what comes, both ways, until END and the files
 *	measure, while the container is still there
 *	remove
 *
 * The stream is pumped by one loop, which also listens to dewar. Calls to the engine
 * are made only while nothing has to be pumped, each with a deadline, and dewar's
 * word ends them, too (http.c).
 */
#include "docker/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "docker/attach.h"
#include "docker/collected.h"
#include "docker/container.h"
#include "docker/demux.h"
#include "docker/held.h"
#include "docker/image.h"
#include "kernel/guest.h"

#define MASKS_MAX 4096
#define LOOK_MS 50           /* at what the kernel counts, while the program runs */
#define KILL_MS 400U         /* for the guest to end everything by itself */
#define REMOVE_MS 3000U      /* whatever the deadline was */
#define REMOVE_SICK_MS 1000U /* of an engine that just failed */
#define INPUT_MAX 32768U     /* a piece */
#define CHUNK 65536U
#define SEND_MAX (DW_GUEST_ORDER_MAX + (1U << 20))

enum stage {
	STAGE_START, /* there may be no guest yet */
	STAGE_READY, /* it has said HELLO */
	STAGE_RUNS,  /* WALLS */
	STAGE_ENDED, /* END */
	STAGE_DONE,  /* DONE, or an ERROR */
};

struct run {
	struct dw_engine *e;
	const struct dw_docker_order *o;
	struct dw_docker_order second; /* for a container that waited */
	char id[DW_CONTAINER_ID_MAX];
	char image[256];
	struct dw_guest_hello hello;
	int pid; /* of the guest, on the host */
	int stream;
	enum stage stage;
	struct dw_demux demux;
	struct dw_held held;
	struct dw_docker_end end;
	struct dw_collected collected;
	struct dw_error error; /* the guest's */
	struct dw_buf rest;    /* that came with the answer to attach */
	struct dw_buf out;     /* that the stream has not taken yet */
	size_t out_at;
	char said[300]; /* on the container's stderr: a runtime that failed */
	bool wants;     /* input */
	bool input_over;
	unsigned kills;
	uint64_t killed_ms;
	bool dewar_gone;
};

void dw_docker_tell(const struct dw_docker_report *report)
{
	(void)dw_report_send_data(DW_DOCKER_FD, report, sizeof(*report), NULL, 0);
}

/* ---- what the guest says ---- */

static void on_text(void *user, const char *data, size_t len)
{
	struct run *r = user;
	size_t at = strlen(r->said);

	for (size_t i = 0; i < len && at + 1 < sizeof(r->said); i++)
		r->said[at++] = (unsigned char)data[i] < 0x20 || data[i] == 0x7f
		                        ? ' '
		                        : data[i];
	r->said[at] = '\0';
}

static int take_walls(struct run *r, const struct dw_report *report)
{
	struct dw_docker_report walls = {.kind = DW_DOCKER_WALLS, .walls = report->walls};

	if (r->stage != STAGE_READY || report->kind != DW_REPORT_WALLS)
		return -EPROTO;
	r->stage = STAGE_RUNS;
	/*
	 * A runtime with a kernel of its own has numbers of its own inside, and may not
	 * have all of them. What it lacks is that of the sandbox around it.
	 */
	dw_held_namespaces(r->pid, walls.walls.ns);
	dw_docker_tell(&walls);
	return 0;
}

static int take_end(struct run *r, const struct dw_report *report)
{
	if (r->stage != STAGE_RUNS || report->kind != DW_REPORT_END)
		return -EPROTO;
	r->stage = STAGE_ENDED;
	r->end.end = report->end;
	return 0;
}

static int take_error(struct run *r, const struct dw_report *report)
{
	if (r->stage >= STAGE_RUNS || report->kind != DW_REPORT_ERROR)
		return -EPROTO;
	r->stage = STAGE_DONE;
	r->error = report->error;
	return 0;
}

static int take_report(struct run *r, uint32_t kind, const char *payload, size_t len)
{
	struct dw_report report;

	if (len != sizeof(report))
		return -EPROTO;
	memcpy(&report, payload, sizeof(report));
	if (!dw_report_is_sound(&report))
		return -EPROTO;
	if (kind == DW_GUEST_WALLS)
		return take_walls(r, &report);
	return kind == DW_GUEST_END ? take_end(r, &report) : take_error(r, &report);
}

static int on_frame(void *user, const struct dw_guest_frame *f, const char *payload)
{
	struct run *r = user;

	switch (f->kind) {
	case DW_GUEST_HELLO:
		if (r->stage != STAGE_START || f->len != sizeof(r->hello))
			return -EPROTO;
		memcpy(&r->hello, payload, sizeof(r->hello));
		r->stage = STAGE_READY;
		return 0;
	case DW_GUEST_WALLS:
	case DW_GUEST_END:
	case DW_GUEST_ERROR:
		return take_report(r, f->kind, payload, f->len);
	case DW_GUEST_OUT:
	case DW_GUEST_ERR:
		if (r->stage != STAGE_RUNS)
			return -EPROTO;
		/* Dewar reads it all, to the end; if it does not, it is gone. */
		(void)dw_fd_write_all(f->kind == DW_GUEST_OUT ? STDOUT_FILENO
		                                              : STDERR_FILENO,
		                      payload, f->len);
		return 0;
	case DW_GUEST_WANT:
		r->wants = true;
		return 0;
	case DW_GUEST_DEAF:
		r->input_over = true;
		(void)close(STDIN_FILENO);
		return 0;
	case DW_GUEST_FILE:
		return r->stage != STAGE_ENDED
		               ? -EPROTO
		               : dw_collected_file(&r->collected, payload, f->len);
	case DW_GUEST_DATA:
		return r->stage != STAGE_ENDED
		               ? -EPROTO
		               : dw_collected_data(&r->collected, payload, f->len);
	case DW_GUEST_DONE:
		if (r->stage != STAGE_ENDED)
			return -EPROTO;
		r->stage = STAGE_DONE;
		return 0;
	default:
		return -EPROTO;
	}
}

/* ---- what we say ---- */

static void queue(struct run *r, enum dw_guest_kind kind, const void *data, size_t len)
{
	struct dw_guest_frame frame = {.kind = kind, .len = (uint32_t)len};

	(void)dw_buf_add(&r->out, &frame, sizeof(frame));
	(void)dw_buf_add(&r->out, data, len);
}

static void flush(struct run *r)
{
	ssize_t n = send(r->stream, r->out.data + r->out_at, r->out.len - r->out_at,
	                 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		r->out_at += (size_t)n;
	if (r->out_at == r->out.len)
		r->out.len = r->out_at = 0;
}

static void take_input(struct run *r)
{
	char chunk[INPUT_MAX];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	r->wants = false;
	r->input_over = n <= 0;
	if (n > 0)
		queue(r, DW_GUEST_INPUT, chunk, (size_t)n);
	else
		queue(r, DW_GUEST_CLOSE, "", 0);
}

/* ---- the loop ---- */

static void listen_to_dewar(struct run *r)
{
	char word;
	ssize_t n = recv(DW_DOCKER_FD, &word, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	r->dewar_gone = n <= 0;
	r->kills++;
	if (r->killed_ms == 0)
		r->killed_ms = dw_now_ms();
	if (n > 0 && r->kills == 1 && r->stage == STAGE_RUNS)
		queue(r, DW_GUEST_KILL, "", 0);
}

/* Is there no use in going on? */
static bool is_given_up(const struct run *r)
{
	if (r->dewar_gone || r->kills > 1)
		return true;
	if (r->kills > 0 && r->stage < STAGE_RUNS)
		return true;
	return r->killed_ms != 0 && dw_now_ms() > r->killed_ms + KILL_MS &&
	       r->stage < STAGE_ENDED;
}

/* -1: the stream is over, or what came is not the guest's. */
static int take_stream(struct run *r, struct dw_error *err)
{
	char chunk[CHUNK];
	ssize_t n = recv(r->stream, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the container ended by itself%s%s",
		               r->said[0] != '\0' ? ": " : "", r->said);
	if (dw_demux_feed(&r->demux, chunk, (size_t)n) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "what comes out of the container is not our guest's");
	return 0;
}

/* The kernel holds the limits; that one was run against ends the cell, as anywhere. */
static void look(struct run *r)
{
	if (r->stage != STAGE_RUNS || r->killed_ms != 0)
		return;
	dw_held_events(&r->held, &r->end);
	if (!r->end.oom && !r->end.pids)
		return;
	r->killed_ms = dw_now_ms();
	queue(r, DW_GUEST_KILL, "", 0);
}

/*
 * Until the stage is reached. -1 if that will not be: with an error, or, where we were
 * told to stop, with DW_E_BUSY.
 */
static int pump(struct run *r, enum stage until, uint64_t deadline_ms,
                struct dw_error *err)
{
	while (r->stage < until) {
		bool input = r->wants && !r->input_over && r->stage == STAGE_RUNS;
		bool unsent = r->out.len > r->out_at;
		struct pollfd fds[] = {
			{.fd = r->stream,
		         .events = (short)(POLLIN | (unsent ? POLLOUT : 0))},
			{.fd = DW_DOCKER_FD, .events = POLLIN},
			{.fd = input ? STDIN_FILENO : -1, .events = POLLIN},
		};
		int left = dw_ms_until(deadline_ms);

		if (r->out.failed)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "talk to the container");
		if (left == 0)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the container was not ready in time; raise "
			               "--timeout if the engine is only slow");
		(void)poll(fds, ARRAY_SIZE(fds), left > LOOK_MS ? LOOK_MS : left);
		if (fds[1].revents)
			listen_to_dewar(r);
		if (is_given_up(r))
			return dw_fail(err, DW_E_BUSY, 0, "the run was called off");
		if (fds[2].revents)
			take_input(r);
		if (fds[0].revents & POLLOUT)
			flush(r);
		if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) &&
		    take_stream(r, err) < 0)
			return -1;
		look(r);
	}
	return 0;
}

/* ---- the stages ---- */

static void note(void *user, const char *text)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_NOTE};

	(void)user;
	(void)snprintf(report.text, sizeof(report.text), "%s", text);
	dw_docker_tell(&report);
}

static int pull(struct run *r, struct dw_error *err)
{
	return dw_image_pull(r->e, r->o->image, note, NULL, err);
}

/* Podman takes what is to be hidden as an option: "mask=/proc/cmdline:/sys". */
static void suit_masks(json_t *host)
{
	const json_t *path, *paths = json_object_get(host, "MaskedPaths");
	autobuf struct dw_buf option;
	size_t i;

	dw_buf_init(&option, MASKS_MAX);
	json_array_foreach (paths, i, path)
		(void)dw_buf_printf(&option, "%s%s", i == 0 ? "mask=" : ":",
		                    json_string_value(path));
	if (option.len > 0)
		(void)json_array_append_new(json_object_get(host, "SecurityOpt"),
		                            json_string(option.data));
}

/*
 * Podman knows no limit for the inodes of a tmpfs. Each costs memory, which has one.
 */
static void suit_podman(const json_t *body)
{
	json_t *host = json_object_get(body, "HostConfig");
	json_t *tmpfs = json_object_get(host, "Tmpfs");
	const char *options = json_string_value(json_object_get(tmpfs, "/tmp"));
	const char *at = options ? strstr(options, ",nr_inodes=") : NULL;

	if (at)
		(void)json_object_set_new(tmpfs, "/tmp",
		                          json_stringn(options, (size_t)(at - options)));
	suit_masks(host);
}

static int create(struct run *r, struct dw_error *err)
{
	const struct dw_docker_order *o = r->o;
	char name[64], owner[256];
	bool missing;

	dw_owner_make(owner, sizeof(owner));
	(void)json_object_set_new(json_object_get(o->body, "Labels"), DW_LABEL_OWNER,
	                          json_string(owner));
	(void)snprintf(name, sizeof(name), "dewar-%.16s", o->id);
	if (r->e->podman)
		suit_podman(o->body);
	if (strcmp(o->pull, "always") == 0 && pull(r, err) < 0)
		return -1;
	if (dw_container_create(r->e, name, o->body, r->id, &missing, err) == 0)
		return 0;
	if (!missing)
		return -1;
	if (strcmp(o->pull, "never") == 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the image %s is not here, and --pull never was asked for",
		               o->image);
	if (pull(r, err) < 0)
		return -1;
	return dw_container_create(r->e, name, o->body, r->id, &missing, err);
}

static int start(struct run *r, struct dw_error *err)
{
	if (dw_attach(r->e, r->id, DW_DOCKER_FD, &r->stream, &r->rest, err) < 0 ||
	    dw_container_start(r->e, r->id, err) < 0)
		return -1;
	if (r->rest.len > 0 && dw_demux_feed(&r->demux, r->rest.data, r->rest.len) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "what comes out of the container is not our guest's");
	return pump(r, STAGE_READY, r->e->deadline_ms, err);
}

/* What is above what was asked for holds nothing that we can rely on. */
static void judge(const struct dw_docker_order *o, struct dw_docker_held *held)
{
	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++) {
		uint64_t most = o->asked[i] +
		                (i == DW_DOCKER_PIDS); /* the guest is one */

		if (held[i].version != 0 && held[i].kernel > most)
			held[i].version = 0;
	}
}

static int check_strict(const struct dw_docker_held *held, struct dw_error *err)
{
	static const char *const names[] = {"memory", "cpu", "pids"};
	_Static_assert(ARRAY_SIZE(names) == DW_DOCKER_LIMIT_COUNT, "a name for each");

	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++)
		if (held[i].version == 0 || held[i].swap)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the kernel does not hold the limit of %s for this "
			               "engine's containers, and --strict was asked for",
			               names[i]);
	return 0;
}

/* An engine may be set up to share what is the host's; nobody's code runs there. */
static int check_namespaces(struct run *r, struct dw_error *err)
{
	static const enum dw_ns must[] = {DW_NS_MOUNT, DW_NS_PID, DW_NS_NET, DW_NS_IPC,
	                                  DW_NS_UTS};
	static const char *const names[] = {"mount", "pid", "network", "ipc", "uts"};
	uint64_t ours[DW_NS_COUNT] = {0};

	_Static_assert(ARRAY_SIZE(must) == ARRAY_SIZE(names), "a name for each");
	dw_held_namespaces(r->pid, r->hello.ns);
	dw_held_namespaces(getpid(), ours);
	for (size_t i = 0; i < ARRAY_SIZE(must); i++)
		if (ours[must[i]] != 0 && r->hello.ns[must[i]] == ours[must[i]])
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the engine gave the container no %s namespace of "
			               "its own",
			               names[i]);
	return 0;
}

static int read_back(struct run *r, struct dw_docker_made *made, struct dw_error *err)
{
	const struct dw_docker_order *o = r->o;
	struct dw_inspected is;

	if (dw_container_inspect(r->e, r->id, &is, err) < 0)
		return -1;
	if (!is.running)
		return dw_fail(err, DW_E_UNSUPPORTED, 0, "the container ended by itself");
	/* A folder on the engine's disk, which no limit of ours holds. */
	if (is.volume[0] != '\0')
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the image %s declares a volume at %s, which would be "
		               "writable without a limit",
		               o->image, is.volume);
	if (o->runtime && strcmp(is.runtime, o->runtime) != 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the runtime %s was asked for, and %s took \"%s\"",
		               o->runtime, r->e->name, is.runtime);
	(void)snprintf(made->image, sizeof(made->image), "%s",
	               is.image[0] != '\0' ? is.image : o->image);
	(void)snprintf(made->runtime, sizeof(made->runtime), "%s", is.runtime);
	r->pid = is.pid;
	if (check_namespaces(r, err) < 0)
		return -1;
	dw_held_find_pid(&r->held, is.pid, r->id);
	dw_held_read(&r->held, made->held);
	judge(o, made->held);
	return o->strict ? check_strict(made->held, err) : 0;
}

/*
 * A container that waits: until there is an order for it, with a plan. What it was made
 * for is what that order is for, too (dw_docker_fits()).
 */
static int wait_for_order(struct run *r, const struct dw_docker_made *made,
                          struct dw_error *err)
{
	uint64_t until = dw_now_ms() + r->o->wait_ms;
	int fds[DW_REPORT_FDS_MAX];

	for (;;) {
		struct pollfd polled[] = {{.fd = DW_DOCKER_FD, .events = POLLIN},
		                          {.fd = r->stream, .events = POLLIN}};

		if (dw_now_ms() >= until)
			return dw_fail(err, DW_E_BUSY, 0, "nobody wanted the container");
		(void)poll(polled, 2, dw_ms_until(until));
		if (polled[1].revents && take_stream(r, err) < 0)
			return -1;
		if (polled[0].revents)
			break;
	}
	/* Any other word ends it. */
	if (dw_report_receive_fds(DW_DOCKER_FD, fds) != 2)
		return dw_fail(err, DW_E_BUSY, 0, "the run was called off");
	if (dw_docker_order_read(&r->second, fds[0], fds[1], err) < 0 ||
	    dw_collected_open(&r->collected, r->second.folder, err) < 0)
		return -1;
	r->o = &r->second;
	r->e->deadline_ms = r->second.deadline_ms;
	return r->o->strict ? check_strict(made->held, err) : 0;
}

static void queue_files(struct run *r)
{
	const struct dw_plan *plan = &r->o->plan;

	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];
		char head[sizeof(struct dw_guest_file) + DW_GUEST_NAME_MAX + 16];
		struct dw_guest_file file = {.size = e->size, .mode = e->mode};
		const char *name = dw_plan_text(plan, e->dst);
		size_t len = strlen(name);

		if (e->op != DW_PLAN_FILE)
			continue;
		memcpy(head, &file, sizeof(file));
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): its length goes along */
		memcpy(head + sizeof(file), name, len);
		queue(r, DW_GUEST_FILE, head, sizeof(file) + len);
		for (uint64_t at = 0; at < e->size;) {
			size_t n = e->size - at < DW_GUEST_PAYLOAD_MAX
			                   ? (size_t)(e->size - at)
			                   : DW_GUEST_PAYLOAD_MAX;

			queue(r, DW_GUEST_DATA, plan->blob + e->src + at, n);
			at += n;
		}
	}
}

static int hand_over(struct run *r, const struct dw_docker_made *made,
                     struct dw_error *err)
{
	autobuf struct dw_buf order;

	dw_buf_init(&order, DW_GUEST_ORDER_MAX);
	if (dw_docker_order_write(r->o, made->held, &order, err) < 0)
		return -1;
	queue(r, DW_GUEST_ORDER, order.data, order.len);
	queue_files(r);
	queue(r, DW_GUEST_GO, "", 0);
	dw_held_begin(&r->held);
	if (pump(r, STAGE_RUNS, r->e->deadline_ms, err) < 0)
		return -1;
	if (r->error.code != DW_OK) {
		*err = r->error;
		return err->code == DW_E_UNSUPPORTED
		               ? dw_wrap(err, "in a container of %s", r->o->image)
		               : -1;
	}
	return 0;
}

/* The guest died: what can still be known of why? */
static void examine(struct run *r)
{
	struct dw_inspected is;
	struct dw_error err = {0};

	if (r->end.oom || r->stage != STAGE_RUNS)
		return;
	r->e->deadline_ms = dw_now_ms() + REMOVE_MS;
	if (dw_container_inspect(r->e, r->id, &is, &err) == 0)
		r->end.oom = is.oom_killed;
}

/* The program runs: see to it that its end is known. */
static int see_through(struct run *r, struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_END};

	/* Dewar holds the deadline, and the guest if dewar is late. */
	if (pump(r, STAGE_DONE, UINT64_MAX, err) < 0) {
		if (r->stage < STAGE_ENDED)
			r->end.end.wait_status = SIGKILL; /* ours, or the kernel's */
		if (err->code != DW_E_BUSY)
			examine(r);
		/* Nobody knows what became of it: that is no end of the program's. */
		if (err->code != DW_E_BUSY && r->stage < STAGE_ENDED && !r->end.oom) {
			err->code = DW_E_INTERNAL;
			return dw_wrap(err, "the engine let go of a run");
		}
	}
	dw_held_usage(&r->held, &r->end);
	if (!r->end.oom && r->stage >= STAGE_ENDED && r->end.end.wait_status == SIGKILL &&
	    r->killed_ms == 0 && r->held.group[DW_DOCKER_MEMORY].version == 0)
		examine(r);
	report.end = r->end;
	dw_docker_tell(&report);
	return 0;
}

static int run(struct run *r, struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_MADE};

	if (create(r, err) < 0 || start(r, err) < 0)
		return -1;
	/* A guest that has to complain already did. */
	if (r->error.code != DW_OK) {
		*err = r->error;
		return -1;
	}
	if (read_back(r, &report.made, err) < 0)
		return -1;
	dw_docker_tell(&report);
	if (r->o->wait_ms != 0 && wait_for_order(r, &report.made, err) < 0)
		return -1;
	if (hand_over(r, &report.made, err) < 0)
		return -1;
	return see_through(r, err);
}

/* At once: an engine that is not well may take its time with the removal. */
static void tell_error(const struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_ERROR, .error = *err};

	dw_docker_tell(&report);
}

/* Dewar cannot do it any more. */
static void remove_folder(const char *folder)
{
	const char *name = folder ? strrchr(folder, '/') : NULL;
	autofree char *parent = name ? strndup(folder, (size_t)(name - folder)) : NULL;
	autoclose int fd = parent ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0)
		(void)dw_path_remove_tree(fd, name + 1);
}

int dw_docker_run(struct dw_engine *e, const struct dw_docker_order *o,
                  struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_LEFT};
	struct run *r = calloc(1, sizeof(*r));
	struct dw_error left = {0};
	int result;

	if (!r)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "run a container");
	r->e = e;
	r->o = o;
	r->stream = -1;
	r->demux.on_frame = on_frame;
	r->demux.on_text = on_text;
	r->demux.user = r;
	dw_buf_init(&r->rest, CHUNK);
	dw_buf_init(&r->out, DW_PLAN_SIZE_MAX);
	result = dw_collected_open(&r->collected, o->folder, err);
	if (result == 0)
		result = run(r, err);

	/* Whatever dewar says now does not keep us from cleaning up. */
	if (result < 0)
		tell_error(err);
	if (r->id[0] != '\0') {
		dw_http_heed(e->http, -1);
		e->deadline_ms = dw_now_ms() + (result < 0 ? REMOVE_SICK_MS : REMOVE_MS);
		if (dw_container_remove(e, r->id, &left) < 0) {
			(void)snprintf(report.text, sizeof(report.text), "%s", left.text);
			dw_docker_tell(&report);
		}
	}
	/* Not before: a guest that ends by itself is hard for Podman to remove. */
	dw_fd_close(&r->stream);
	dw_collected_close(&r->collected);
	if (r->dewar_gone)
		remove_folder(r->o->folder);
	json_decref(r->second.root);
	dw_buf_finish(&r->rest);
	dw_buf_finish(&r->out);
	free(r);
	return result;
}
