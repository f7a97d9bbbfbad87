/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run in a container of its own.
 *
 *	create the container, and pull its image if necessary
 *	attach: open our stream before the guest exists
 *	start; the guest sends HELLO and waits
 *	check from outside which walls and limits the kernel enforces
 *	send the order and the files; GO
 *	pass input and output on until END, then receive the collected files
 *	measure, while the container still exists
 *	remove
 *
 * guest_link.c pumps the stream in its own loop. We call the engine only while nothing
 * has to be pumped. Each call has a deadline, and dewar can cancel it (http_client.c).
 */
#include "docker/docker_own.h"

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
#include "wire/guest.h"

#define REST_MAX 65536U
#define INSPECT_MS 3000U     /* less than dewar waits for a killed run */
#define REMOVE_MS 8000U      /* independent of the deadline */
#define REMOVE_SICK_MS 1000U /* if the engine has just failed */

struct run {
	struct dw_engine *e;
	const struct dw_docker_order *o;
	struct dw_docker_order second; /* for a standby container */
	char id[DW_CONTAINER_ID_MAX];
	char name[64];
	bool unsure; /* a container of that name may exist */
	struct dw_guest_link s;
	struct dw_buf rest; /* bytes that followed the answer to attach */
};

static void note(void *user, const char *text)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_NOTE};

	(void)user;
	(void)snprintf(report.text, sizeof(report.text), "%s", text);
	dw_docker_report(&report);
}

static int pull(struct run *r, struct dw_error *err)
{
	return dw_image_pull(r->e, r->o->image, note, NULL, err);
}

static int try_create(struct run *r, bool *ret_missing, struct dw_error *err)
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
	if (r->e->podman && dw_podman_adapt(o->body, err) < 0)
		return -1;
	if (strcmp(o->pull, "always") == 0 && pull(r, err) < 0)
		return -1;
	if (try_create(r, &missing, err) == 0)
		return 0;
	if (!missing)
		return -1;
	if (strcmp(o->pull, "never") == 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the image %s is missing, and --pull is never", o->image);
	if (pull(r, err) < 0)
		return -1;
	return try_create(r, &missing, err);
}

static int start(struct run *r, struct dw_error *err)
{
	if (dw_attach(r->e, r->id, DW_DOCKER_FD, &r->s.fd, &r->rest, err) < 0 ||
	    dw_container_start(r->e, r->id, err) < 0)
		return -1;
	if (r->rest.len > 0 && dw_demux_feed(&r->s.demux, r->rest.data, r->rest.len) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the container sent data that is not from dewar-guest");
	return dw_link_pump(&r->s, DW_LINK_READY, r->e->deadline_ms, err);
}

/*
 * A standby container waits for a second order, with a plan. dw_docker_fits() has already
 * checked that the container suits the plan.
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
			return dw_fail(err, DW_E_BUSY, 0,
			               "the standby container was not used");
		(void)poll(polled, 2, dw_ms_until(until));
		if (polled[1].revents && dw_link_receive(&r->s, err) < 0)
			return -1;
		if (polled[0].revents)
			break;
	}
	/* Any other message, or the end of the socket, ends the container. */
	if (dw_report_receive_fds(DW_DOCKER_FD, fds) != 2)
		return dw_fail(err, DW_E_BUSY, 0, "the run was cancelled");
	if (dw_docker_order_read(&r->second, fds[0], fds[1], err) < 0)
		return -1;
	dw_collected_open(&r->s.collected, r->second.folder);
	r->o = &r->second;
	r->e->deadline_ms = r->second.deadline_ms;
	return r->o->strict ? dw_docker_check_strict(made, err) : 0;
}

static void queue_files(struct run *r)
{
	const struct dw_plan *plan = &r->o->plan;

	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];
		char message[sizeof(struct dw_guest_file) + DW_GUEST_NAME_MAX + 16];
		struct dw_guest_file file = {.size = e->size, .mode = e->mode};
		const char *name = dw_plan_text(plan, e->dst);
		size_t len = strlen(name);

		if (e->op != DW_PLAN_FILE)
			continue;
		memcpy(message, &file, sizeof(file));
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): with its length */
		memcpy(message + sizeof(file), name, len);
		dw_link_queue(&r->s, DW_GUEST_FILE, message, sizeof(file) + len);
		for (uint64_t at = 0; at < e->size;) {
			size_t n = e->size - at < DW_GUEST_PAYLOAD_MAX
			                   ? (size_t)(e->size - at)
			                   : DW_GUEST_PAYLOAD_MAX;

			dw_link_queue(&r->s, DW_GUEST_DATA, plan->blob + e->src + at, n);
			at += n;
		}
	}
}

static int send_order(struct run *r, const struct dw_docker_made *made,
                      struct dw_error *err)
{
	autobuf struct dw_buf order;

	dw_buf_init(&order, DW_GUEST_ORDER_MAX);
	if (dw_docker_order_write(r->o, made->enforced, &order, err) < 0)
		return -1;
	dw_link_queue(&r->s, DW_GUEST_ORDER, order.data, order.len);
	queue_files(r);
	dw_link_queue(&r->s, DW_GUEST_GO, "", 0);
	dw_container_cgroup_start(&r->s.cgroup);
	if (dw_link_pump(&r->s, DW_LINK_RUNNING, r->e->deadline_ms, err) < 0)
		return -1;
	if (r->s.error.code != DW_OK) {
		*err = r->s.error;
		return err->code == DW_E_UNSUPPORTED
		               ? dw_wrap(err, "in a container of %s", r->o->image)
		               : -1;
	}
	return 0;
}

/* Ask the engine whether the guest died because memory ran out. */
static void inspect_oom(struct run *r)
{
	struct dw_inspected is;
	struct dw_error err = {0};

	if (r->s.end.oom || r->s.state != DW_LINK_RUNNING)
		return;
	r->e->deadline_ms = dw_now_ms() + INSPECT_MS;
	if (dw_container_inspect(r->e, r->id, &is, &err) == 0)
		r->s.end.oom = is.oom_killed;
}

/* Wait for the program's end, and report it. */
static int wait_for_end(struct run *r, struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_END};

	/* Dewar enforces the deadline, and the guest does if dewar is late. */
	if (dw_link_pump(&r->s, DW_LINK_DONE, UINT64_MAX, err) < 0) {
		if (r->s.state < DW_LINK_ENDED)
			r->s.end.end.wait_status =
				SIGKILL; /* we killed it, or the kernel did */
		if (err->code != DW_E_BUSY)
			inspect_oom(r);
		/* How the program ended is unknown, so there is no END to report. */
		if (err->code != DW_E_BUSY && r->s.state < DW_LINK_ENDED &&
		    !r->s.end.oom) {
			err->code = DW_E_INTERNAL;
			return dw_wrap(err, "the engine lost contact with a run");
		}
	}
	dw_container_cgroup_usage(&r->s.cgroup, &r->s.end);
	report.end = r->s.end;
	dw_docker_report(&report);
	return 0;
}

static int run(struct run *r, struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_MADE};

	if (create(r, err) < 0 || start(r, err) < 0)
		return -1;
	/* The guest may have failed before its HELLO. */
	if (r->s.error.code != DW_OK) {
		*err = r->s.error;
		return -1;
	}
	if (dw_docker_check(r->e, r->o, r->id, &r->s, &report.made, err) < 0)
		return -1;
	dw_docker_report(&report);
	if (r->o->wait_ms != 0 && wait_for_order(r, &report.made, err) < 0)
		return -1;
	if (send_order(r, &report.made, err) < 0)
		return -1;
	return wait_for_end(r, err);
}

/*
 * Send the error before the container is removed, because a failing engine may delay the
 * removal.
 */
static void report_error(const struct dw_error *err)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_ERROR, .error = *err};

	dw_docker_report(&report);
}

/* Remove the folder of collected files in place of dewar, which is gone. */
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
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot run a container");
	r->e = e;
	r->o = o;
	dw_link_init(&r->s);
	dw_buf_init(&r->rest, REST_MAX);
	dw_collected_open(&r->s.collected, o->folder);
	result = run(r, err);

	/* From here on dewar cannot cancel a call, so that the container is removed. */
	if (result < 0)
		report_error(err);
	if (r->id[0] != '\0') {
		dw_docker_http_set_cancel(e->http, -1);
		e->deadline_ms = dw_now_ms() + (result < 0 ? REMOVE_SICK_MS : REMOVE_MS);
		if (dw_container_remove(e, r->id, &left) < 0) {
			(void)snprintf(report.text, sizeof(report.text), "%s", left.text);
			dw_docker_report(&report);
		}
	}
	if (r->id[0] == '\0' && r->unsure && !e->podman) {
		dw_docker_http_set_cancel(e->http, -1);
		e->deadline_ms = dw_now_ms() + REMOVE_SICK_MS;
		dw_container_remove_named(e, r->name);
	}
	/*
	 * Close the stream only now, because that ends the guest, and Podman has trouble
	 * removing a container that ends by itself.
	 */
	dw_link_finish(&r->s);
	if (r->s.dewar_gone)
		remove_folder(r->o->folder);
	json_decref(r->second.root);
	dw_buf_finish(&r->rest);
	free(r);
	return result;
}
