/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of dewar-docker, and what they mean for the run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/kernel.h"
#include "levels/docker_cell.h"
#include "wire/docker.h"

#define REMOVE_MS 12000U /* more than dewar-docker takes to remove a container */

/* The time between two reports of a pull's progress extends the deadline. */
static void on_note(struct dw_docker_cell *d, const char *text)
{
	const struct dw_request *req = d->spec->req;
	uint64_t now = dw_now_ms();

	if (d->noted_ms != 0)
		d->cell.waived_ms += now - d->noted_ms;
	d->noted_ms = now;
	if (req->on_note)
		req->on_note(req->user, text);
}

static const char *cgroup_name(uint32_t version)
{
	return version == 2 ? "cgroup2" : "cgroup1";
}

static void prove_limit(struct dw_docker_cell *d, enum dw_limit limit,
                        const struct dw_docker_enforced *e)
{
	struct dw_limit_proof *proof = &d->cell.outcome.limits[limit];

	proof->kernel = e->kernel;
	proof->enforced = e->version != 0 && !e->swap;
	if (e->version != 0) {
		proof->by = cgroup_name(e->version);
		if (e->swap)
			proof->note =
				"the engine permits the container to swap beyond the "
				"limit";
		return;
	}
	proof->kernel = 0;
	proof->by = "sampling";
	if (limit == DW_LIMIT_CPU) {
		proof->note =
			"the container has no cpu cgroup that limits it: only the total "
			"CPU time until the deadline is limited, not the share at each "
			"moment";
		return;
	}
	proof->enforced = true;
	proof->note =
		limit == DW_LIMIT_MEMORY
			? "the container has no memory cgroup that limits it: "
			  "dewar-guest adds up the memory of its processes every few "
			  "milliseconds, so a burst can exceed the limit before they are "
			  "killed"
			: "the container has no pids cgroup that limits it: dewar-guest "
			  "counts the processes every few milliseconds";
}

static void on_made(struct dw_docker_cell *d, struct dw_docker_made *made)
{
	struct dw_outcome *o = &d->cell.outcome;

	d->made = true;
	made->image[sizeof(made->image) - 1] = '\0';
	made->runtime[sizeof(made->runtime) - 1] = '\0';
	(void)snprintf(o->image, sizeof(o->image), "%s", made->image);
	(void)snprintf(o->runtime, sizeof(o->runtime), "%s", made->runtime);
	prove_limit(d, DW_LIMIT_MEMORY, &made->enforced[DW_DOCKER_MEMORY]);
	prove_limit(d, DW_LIMIT_CPU, &made->enforced[DW_DOCKER_CPU]);
	prove_limit(d, DW_LIMIT_PIDS, &made->enforced[DW_DOCKER_PIDS]);
	if (made->enforced[DW_DOCKER_PIDS].version != 0 &&
	    o->limits[DW_LIMIT_PIDS].kernel > 0)
		o->limits[DW_LIMIT_PIDS].kernel--; /* one is the guest */
}

static void on_walls(struct dw_docker_cell *d, const struct dw_walls *walls)
{
	struct dw_outcome *o = &d->cell.outcome;
	struct dw_limit_proof *files = &o->limits[DW_LIMIT_FILES];

	o->walls = *walls;
	o->started = true;
	o->own_ns = dw_ns_not_ours(walls->ns);
	o->limits[DW_LIMIT_TMP].kernel = walls->tmp_bytes;
	/* Podman and gVisor cannot limit inodes. Files use memory, which is limited. */
	if (walls->tmp_inodes == 0 ||
	    walls->tmp_inodes > walls->tmp_bytes / DW_TMP_INODE_BYTES + 1)
		o->limits[DW_LIMIT_TMP].note =
			"only the bytes are limited, not the number of files: this "
			"engine or its runtime has no such limit";
	files->kernel = walls->rlimit_files;
	if (walls->rlimit_files < files->asked)
		files->note = "lowered to the hard limit of the host or the engine";
	d->cell.state = DW_CELL_RUNNING;
}

static void on_end(struct dw_docker_cell *d, const struct dw_docker_end *end)
{
	struct dw_outcome *o = &d->cell.outcome;
	const struct dw_report_end *e = &end->end;
	uint64_t memory = end->memory_peak;

	o->ended = true;
	d->cell.waived_ms += REMOVE_MS; /* the run's time excludes the removal */
	if (d->early)
		d->cell.state = DW_CELL_GONE;
	o->wait_status = e->wait_status;
	o->tmp_full = e->tmp_full != 0;
	if (e->run_ns > 0)
		o->run_ms = (double)e->run_ns / 1e6;
	if (end->cpu_ns > 0 || e->cpu_ns > 0)
		o->cpu_ms = (double)(end->cpu_ns > 0 ? end->cpu_ns : e->cpu_ns) / 1e6;
	if (memory == 0)
		memory = e->peak_memory > e->max_rss ? e->peak_memory : e->max_rss;
	if (memory > 0)
		o->memory_mb = (double)memory / (1 << 20);
	if (e->hit != DW_REASON_EXIT && e->hit < DW_REASON_COUNT)
		o->hit = e->hit;
	else if (end->oom)
		o->hit = DW_REASON_OOM;
	else if (end->pids || e->peak_pids > d->spec->limits.pids)
		o->hit = DW_REASON_PIDS;
}

static void on_report(struct dw_docker_cell *d, struct dw_docker_report *report)
{
	struct dw_outcome *o = &d->cell.outcome;

	switch (report->kind) {
	case DW_DOCKER_FOUND:
		report->text[sizeof(report->text) - 1] = '\0';
		(void)snprintf(d->found, sizeof(d->found), "%s", report->text);
		break;
	case DW_DOCKER_NOTE:
		report->text[sizeof(report->text) - 1] = '\0';
		on_note(d, report->text);
		break;
	case DW_DOCKER_MADE:
		on_made(d, &report->made);
		break;
	case DW_DOCKER_WALLS:
		on_walls(d, &report->walls);
		break;
	case DW_DOCKER_END:
		on_end(d, &report->end);
		break;
	case DW_DOCKER_LEFT:
		report->text[sizeof(report->text) - 1] = '\0';
		(void)snprintf(o->left, sizeof(o->left), "%s", report->text);
		break;
	case DW_DOCKER_ERROR:
		report->error.text[sizeof(report->error.text) - 1] = '\0';
		if (o->error.code == DW_OK && report->error.code > DW_OK &&
		    report->error.code < DW_E_COUNT)
			o->error = report->error;
		break;
	default:
		break;
	}
}

void dw_docker_read_reports(struct dw_docker_cell *d)
{
	struct dw_docker_report report;
	ssize_t n;

	while ((n = recv(d->report, &report, sizeof(report), MSG_DONTWAIT)) ==
	       (ssize_t)sizeof(report))
		on_report(d, &report);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		d->cell.watch[DW_DOCKER_WATCH_REPORT].fd = -1;
}

/* The engine was asked to enforce these limits, but the result was never checked. */
static void forget_limits(struct dw_docker_cell *d)
{
	static const enum dw_limit asked[] = {DW_LIMIT_MEMORY, DW_LIMIT_CPU,
	                                      DW_LIMIT_PIDS};

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		d->cell.outcome.limits[asked[i]].enforced = false;
		d->cell.outcome.limits[asked[i]].by = "none";
	}
}

/* The exit status of a program that lacks a library. */
#define EXIT_NOT_LOADED 127

/* dewar-docker exits after it has removed the container. */
void dw_docker_on_gone(struct dw_docker_cell *d)
{
	struct dw_outcome *o = &d->cell.outcome;
	int status;

	dw_docker_read_reports(d);
	while (waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
		;
	d->pid = 0;
	d->cell.watch[DW_DOCKER_WATCH_PROCESS].fd = -1;
	if (!d->made)
		forget_limits(d);
	if (o->error.code == DW_OK && !o->ended && WIFEXITED(status) &&
	    WEXITSTATUS(status) == EXIT_NOT_LOADED)
		(void)dw_fail(&o->error, DW_E_UNSUPPORTED, 0,
		              "cannot start dewar-docker: a library is missing; try: "
		              "apt-get install libcurl4 libjansson4");
	else if (o->error.code == DW_OK && !o->ended)
		(void)dw_fail(&o->error, DW_E_INTERNAL, 0,
		              "dewar-docker died; the next run removes its container");
	d->cell.state = DW_CELL_GONE;
}

void dw_docker_on_event(struct dw_cell *cell, size_t index)
{
	if (index == DW_DOCKER_WATCH_REPORT)
		dw_docker_read_reports(dw_docker_cell(cell));
	else
		dw_docker_on_gone(dw_docker_cell(cell));
}
