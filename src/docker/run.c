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
 * The stream is pumped by a loop of its own (stream.c). Calls to the engine are made
 * only while nothing has to be pumped, each with a deadline, and dewar's word ends
 * them, too (http.c).
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
#include "docker/container.h"
#include "docker/image.h"
#include "docker/stream.h"
#include "wire/guest.h"

#define MASKS_MAX 4096
#define REST_MAX 65536U
#define EXAMINE_MS 3000U     /* before dewar gives a killed run up */
#define REMOVE_MS 8000U      /* whatever the deadline was */
#define REMOVE_SICK_MS 1000U /* of an engine that just failed */

struct run {
	struct dw_engine *e;
	const struct dw_docker_order *o;
	struct dw_docker_order second; /* for a container that waited */
	char id[DW_CONTAINER_ID_MAX];
	char name[64];
	bool unsure; /* whether there is one of that name */
	struct dw_stream s;
	struct dw_buf rest; /* that came with the answer to attach */
};

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
 * Podman makes one line of a mount, "type=bind,src=...,dst=...", and reads that again:
 * a folder called "x,src=/etc" would show another one.
 */
static int check_mounts(const json_t *mounts, struct dw_error *err)
{
	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *mount = json_array_get(mounts, i);
		const char *host = json_string_value(json_object_get(mount, "Source"));
		const char *cell = json_string_value(json_object_get(mount, "Target"));

		if (!host || !cell || strpbrk(host, ",\"\n\r") ||
		    strpbrk(cell, ",\"\n\r"))
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "Podman cannot show a path with a comma or a quote in "
			               "its name");
	}
	return 0;
}

/*
 * Podman knows no limit for the inodes of a tmpfs. Each costs memory, which has one.
 */
static int suit_podman(const json_t *body, struct dw_error *err)
{
	json_t *host = json_object_get(body, "HostConfig");
	json_t *tmpfs = json_object_get(host, "Tmpfs");
	const char *options = json_string_value(json_object_get(tmpfs, "/tmp"));
	const char *at = options ? strstr(options, ",nr_inodes=") : NULL;

	if (at)
		(void)json_object_set_new(tmpfs, "/tmp",
		                          json_stringn(options, (size_t)(at - options)));
	suit_masks(host);
	return check_mounts(json_object_get(host, "Mounts"), err);
}

/* If there is no answer, there may be a container all the same. */
static int make(struct run *r, bool *ret_missing, struct dw_error *err)
{
	return dw_container_create(r->e, r->name, r->o->body, r->id, ret_missing,
	                           &r->unsure, err);
}

static int create(struct run *r, struct dw_error *err)
{
	const struct dw_docker_order *o = r->o;
	char owner[256];
	bool missing;

	dw_owner_make(owner, sizeof(owner));
	(void)json_object_set_new(json_object_get(o->body, "Labels"), DW_LABEL_OWNER,
	                          json_string(owner));
	(void)snprintf(r->name, sizeof(r->name), "dewar-%.16s", o->id);
	if (r->e->podman && suit_podman(o->body, err) < 0)
		return -1;
	if (strcmp(o->pull, "always") == 0 && pull(r, err) < 0)
		return -1;
	if (make(r, &missing, err) == 0)
		return 0;
	if (!missing)
		return -1;
	if (strcmp(o->pull, "never") == 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the image %s is not here, and --pull never was asked for",
		               o->image);
	if (pull(r, err) < 0)
		return -1;
	return make(r, &missing, err);
}

static int start(struct run *r, struct dw_error *err)
{
	if (dw_attach(r->e, r->id, DW_DOCKER_FD, &r->s.fd, &r->rest, err) < 0 ||
	    dw_container_start(r->e, r->id, err) < 0)
		return -1;
	if (r->rest.len > 0 && dw_demux_feed(&r->s.demux, r->rest.data, r->rest.len) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "what comes out of the container is not our guest's");
	return dw_stream_pump(&r->s, DW_STAGE_READY, r->e->deadline_ms, err);
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
	dw_held_namespaces(r->s.pid, r->s.hello.ns);
	dw_held_namespaces(getpid(), ours);
	for (size_t i = 0; i < ARRAY_SIZE(must); i++)
		if (ours[must[i]] != 0 && r->s.hello.ns[must[i]] == ours[must[i]])
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
	r->s.pid = is.pid;
	/* mutant: docker-compare-namespaces */
	if (check_namespaces(r, err) < 0)
		return -1;
	dw_held_find_pid(&r->s.held, is.pid, r->id);
	dw_held_read(&r->s.held, made->held);
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
		                          {.fd = r->s.fd, .events = POLLIN}};

		if (dw_now_ms() >= until)
			return dw_fail(err, DW_E_BUSY, 0, "nobody wanted the container");
		(void)poll(polled, 2, dw_ms_until(until));
		if (polled[1].revents && dw_stream_take(&r->s, err) < 0)
			return -1;
		if (polled[0].revents)
			break;
	}
	/* Any other word ends it. */
	if (dw_report_receive_fds(DW_DOCKER_FD, fds) != 2)
		return dw_fail(err, DW_E_BUSY, 0, "the run was called off");
	if (dw_docker_order_read(&r->second, fds[0], fds[1], err) < 0)
		return -1;
	dw_collected_open(&r->s.collected, r->second.folder);
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
		dw_stream_queue(&r->s, DW_GUEST_FILE, head, sizeof(file) + len);
		for (uint64_t at = 0; at < e->size;) {
			size_t n = e->size - at < DW_GUEST_PAYLOAD_MAX
			                   ? (size_t)(e->size - at)
			                   : DW_GUEST_PAYLOAD_MAX;

			dw_stream_queue(&r->s, DW_GUEST_DATA, plan->blob + e->src + at,
			                n);
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
	dw_stream_queue(&r->s, DW_GUEST_ORDER, order.data, order.len);
	queue_files(r);
	dw_stream_queue(&r->s, DW_GUEST_GO, "", 0);
	dw_held_begin(&r->s.held);
	if (dw_stream_pump(&r->s, DW_STAGE_RUNS, r->e->deadline_ms, err) < 0)
		return -1;
	if (r->s.error.code != DW_OK) {
		*err = r->s.error;
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

	if (r->s.end.oom || r->s.stage != DW_STAGE_RUNS)
		return;
	r->e->deadline_ms = dw_now_ms() + EXAMINE_MS;
	if (dw_container_inspect(r->e, r->id, &is, &err) == 0)
		r->s.end.oom = is.oom_killed;
}

/* The program runs: see to it that its end is known. */
static int see_through(struct run *r, struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_END};

	/* Dewar holds the deadline, and the guest if dewar is late. */
	if (dw_stream_pump(&r->s, DW_STAGE_DONE, UINT64_MAX, err) < 0) {
		if (r->s.stage < DW_STAGE_ENDED)
			r->s.end.end.wait_status = SIGKILL; /* ours, or the kernel's */
		if (err->code != DW_E_BUSY)
			examine(r);
		/* Nobody knows what became of it: that is no end of the program's. */
		if (err->code != DW_E_BUSY && r->s.stage < DW_STAGE_ENDED &&
		    !r->s.end.oom) {
			err->code = DW_E_INTERNAL;
			return dw_wrap(err, "the engine let go of a run");
		}
	}
	dw_held_usage(&r->s.held, &r->s.end);
	if (!r->s.end.oom && r->s.stage >= DW_STAGE_ENDED &&
	    r->s.end.end.wait_status == SIGKILL && r->s.killed_ms == 0 &&
	    r->s.held.group[DW_DOCKER_MEMORY].version == 0)
		examine(r);
	report.end = r->s.end;
	dw_docker_tell(&report);
	return 0;
}

static int run(struct run *r, struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_MADE};

	if (create(r, err) < 0 || start(r, err) < 0)
		return -1;
	/* A guest that has to complain already did. */
	if (r->s.error.code != DW_OK) {
		*err = r->s.error;
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
	dw_stream_init(&r->s);
	dw_buf_init(&r->rest, REST_MAX);
	dw_collected_open(&r->s.collected, o->folder);
	result = run(r, err);

	/* Whatever dewar says now does not keep us from cleaning up. */
	if (result < 0)
		tell_error(err);
	if (r->id[0] != '\0') {
		dw_docker_http_heed(e->http, -1);
		e->deadline_ms = dw_now_ms() + (result < 0 ? REMOVE_SICK_MS : REMOVE_MS);
		if (dw_container_remove(e, r->id, &left) < 0) {
			(void)snprintf(report.text, sizeof(report.text), "%s", left.text);
			dw_docker_tell(&report);
		}
	}
	if (r->id[0] == '\0' && r->unsure && !e->podman) {
		dw_docker_http_heed(e->http, -1);
		e->deadline_ms = dw_now_ms() + REMOVE_SICK_MS;
		dw_container_remove_named(e, r->name);
	}
	/* Not before: a guest that ends by itself is hard for Podman to remove. */
	dw_stream_finish(&r->s);
	if (r->s.dewar_gone)
		remove_folder(r->o->folder);
	json_decref(r->second.root);
	dw_buf_finish(&r->rest);
	free(r);
	return result;
}
