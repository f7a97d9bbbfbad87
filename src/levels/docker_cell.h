/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_DOCKER_CELL_H
#define DW_LEVELS_DOCKER_CELL_H

#include <jansson.h>

#include "levels/level.h"
#include "wire/plan.h"

/*
 * From a request to the order for dewar-docker: which engine, which container, and what
 * runs in it. Pure: nothing here talks to an engine.
 */

/* The default image for a language, or NULL. */
const char *dw_docker_image(const struct dw_runtime *runtime);

/* The sockets of engines, in the order in which they are tried; a new reference. */
json_t *dw_docker_sockets(struct dw_error *err);

/*
 * The body of the call that creates the container. guest is the path of dewar-guest on
 * the host. A new reference, or NULL.
 */
json_t *dw_docker_body(const struct dw_spec *spec, const char *image, const char *guest,
                       struct dw_error *err);

/* Fill in the guest's plan: the program, its files, the walls that the guest raises. */
int dw_docker_plan(const struct dw_spec *spec, struct dw_plan_builder *plan,
                   struct dw_error *err);

/*
 * The whole order. Collected files go to folder, which may be NULL. If wait_ms is not 0,
 * the container waits that long for a second order. A new reference, or NULL.
 */
json_t *dw_docker_order(const struct dw_spec *spec, const char *image, const char *guest,
                        const char *folder, uint64_t wait_ms, struct dw_error *err);

/* The program runs as user nobody. */
#define DW_DOCKER_NOBODY 65534U

/* Where the container sees a program of the host. */
#define DW_DOCKER_PROGRAM "/.dewar/main"

/* ---- docker.c, docker_watch.c: the cell ---- */

enum {
	DW_DOCKER_WATCH_REPORT,
	DW_DOCKER_WATCH_PROCESS
};

struct dw_docker_cell {
	struct dw_cell cell; /* first */
	const struct dw_spec *spec;
	int order_fd;
	int plan_fd;
	int report; /* our end */
	int child[4];
	int pid; /* of dewar-docker, until reaped; or 0 */
	int pidfd;
	bool early; /* the cell is GONE at END, not when the container is removed */
	bool made;  /* the container runs, and was checked */
	uint64_t noted_ms; /* when a pull last reported progress, or 0 */
	char folder[64];   /* for collected files; we remove it; or "" */
	char found[512];   /* the engine's name */
};

static inline struct dw_docker_cell *dw_docker_cell(struct dw_cell *cell)
{
	return (struct dw_docker_cell *)cell;
}

/* Process the reports that have arrived. */
void dw_docker_read_reports(struct dw_docker_cell *d);

/* dewar-docker has exited: reap it. */
void dw_docker_on_gone(struct dw_docker_cell *d);
void dw_docker_on_event(struct dw_cell *cell, size_t index);

#endif
