/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_ENGINE_H
#define DW_DOCKER_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "dewar/error.h"
#include "docker/http.h"

/*
 * An engine that speaks Docker's API: found, asked for its version, talked to.
 */
struct dw_engine {
	struct dw_docker_http *http;
	char socket[108];
	char prefix[16]; /* "/v1.41" */
	char name[64];   /* "Docker 20.10.24", for people */
	bool podman;
	uint64_t deadline_ms;
};

/*
 * The first of the sockets (paths, in order) that is there. An engine that is there
 * and does not answer is an error: another one would be a surprise.
 */
int dw_engine_find(struct dw_engine *e, const json_t *sockets, int cancel_fd,
                   struct dw_error *err);
void dw_engine_close(struct dw_engine *e);

/*
 * The version to speak, where the engine's newest is this: into ret, as "1.41". -1 if
 * it is too old for us. One that is too new for us says so at the first call.
 */
int dw_engine_negotiate(const char *newest, char *ret, size_t size, struct dw_error *err);

/*
 * One call. The reply is *ret_reply, a new reference, or NULL if it has no body;
 * ret_reply may be NULL. Any status but a success is -1, with what the engine says,
 * and in *ret_status, which may be NULL.
 */
int dw_engine_call(const struct dw_engine *e, const char *method, const char *path,
                   const json_t *body, json_t **ret_reply, long *ret_status,
                   struct dw_error *err);

/* What the engine says is wrong, as one short line. */
void dw_engine_message(const char *reply, size_t len, char *ret, size_t size);

static inline void dw_cleanup_json(json_t **json)
{
	json_decref(*json);
}
#define autojson __attribute__((cleanup(dw_cleanup_json)))

#endif
