/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_CONTAINER_H
#define DW_DOCKER_CONTAINER_H

#include "docker/engine.h"

#define DW_CONTAINER_ID_MAX 80

/* What we want to know of a container. */
struct dw_inspected {
	bool running;
	bool oom_killed;
	int pid;          /* on the host, or 0 */
	char runtime[64]; /* as the engine names it, or "" */
	char image[256];  /* what was asked for, as the engine has it */
	char volume[256]; /* the place of one that the image brought along, or "" */
};

/* Into *ret; -1 if it is not what an engine says of a container. */
int dw_inspect_read(const json_t *reply, struct dw_inspected *ret, struct dw_error *err);

/*
 * *ret_missing is set where it is the image that is not there, *ret_unsure where there
 * was no answer, and so there may be a container or not.
 */
int dw_container_create(const struct dw_engine *e, const char *name, const json_t *body,
                        char ret_id[DW_CONTAINER_ID_MAX], bool *ret_missing,
                        bool *ret_unsure, struct dw_error *err);

/* One that may be there, or about to be: look for it until the engine's deadline. */
void dw_container_remove_named(const struct dw_engine *e, const char *name);
int dw_container_start(const struct dw_engine *e, const char *id, struct dw_error *err);
int dw_container_inspect(const struct dw_engine *e, const char *id,
                         struct dw_inspected *ret, struct dw_error *err);

/* Kill and remove it, with what is its own; returns when it is gone. */
int dw_container_remove(const struct dw_engine *e, const char *id, struct dw_error *err);

/* Is this an id as engines make them? It goes into paths as it is. */
bool dw_container_is_id(const char *id);

/*
 * Who made a container: boot, pid namespace, pid and start time of a process, which
 * no other process ever has. Into ret, for a label; "" if /proc does not tell.
 */
void dw_owner_make(char *ret, size_t size);

/* Is the owner that the label names dead for sure? running: its container runs. */
bool dw_owner_is_dead(const char *label, bool running);

#define DW_LABEL_OWNER "dev.dewar.owner"

/* Remove what processes of ours that are dead have left, and nothing else. */
void dw_sweep(const struct dw_engine *e);

#endif
