/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define RETRY_NS 10000000

bool dw_container_is_id(const char *id)
{
	size_t len = id ? strspn(id, "0123456789abcdef") : 0;

	return len >= 12 && len < DW_CONTAINER_ID_MAX && id[len] == '\0';
}

static void copy(char *ret, size_t size, const json_t *text)
{
	const char *value = json_string_value(text);

	(void)snprintf(ret, size, "%s", value ? value : "");
}

int dw_inspect_read(const json_t *reply, struct dw_inspected *ret, struct dw_error *err)
{
	const json_t *state = json_object_get(reply, "State");
	const json_t *host = json_object_get(reply, "HostConfig");
	const json_t *config = json_object_get(reply, "Config");
	const json_t *mounts = json_object_get(reply, "Mounts");
	json_int_t pid = json_integer_value(json_object_get(state, "Pid"));

	if (!json_is_object(state) || !json_is_object(host) || !json_is_object(config))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine did not describe the container");
	*ret = (struct dw_inspected){
		.running = json_is_true(json_object_get(state, "Running")),
		.oom_killed = json_is_true(json_object_get(state, "OOMKilled")),
		.pid = pid > 0 && pid < INT32_MAX ? (int)pid : 0,
	};
	copy(ret->runtime, sizeof(ret->runtime),
	     json_object_get(reply, "OCIRuntime") ? json_object_get(reply, "OCIRuntime")
	                                          : json_object_get(host, "Runtime"));
	copy(ret->image, sizeof(ret->image), json_object_get(config, "Image"));
	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *mount = json_array_get(mounts, i);
		const char *type = json_string_value(json_object_get(mount, "Type"));

		if (type && strcmp(type, "volume") == 0)
			copy(ret->volume, sizeof(ret->volume),
			     json_object_get(mount, "Destination"));
	}
	return 0;
}

int dw_container_create(const struct dw_engine *e, const char *name, const json_t *body,
                        char ret_id[DW_CONTAINER_ID_MAX], bool *ret_missing,
                        bool *ret_unsure, struct dw_error *err)
{
	json_auto_t *reply = NULL;
	const char *id;
	char path[128];
	long status = 0;

	*ret_missing = *ret_unsure = false;
	(void)snprintf(path, sizeof(path), "/containers/create?name=%.64s", name);
	if (dw_engine_call(e, "POST", path, body, &reply, &status, err) < 0) {
		*ret_unsure = status == 0 || (status >= 200 && status < 300);
		/* Podman answers 500 for a missing image. */
		*ret_missing = status == 404 ||
		               (status == 500 && (strstr(err->text, "no such image") ||
		                                  strstr(err->text, "image not known")));
		return err->code == DW_E_BUSY ? -1
		                              : dw_wrap(err, "cannot create a container");
	}
	id = json_string_value(json_object_get(reply, "Id"));
	*ret_unsure = !dw_container_is_id(id);
	if (*ret_unsure)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot create a container: the engine returned no id");
	(void)snprintf(ret_id, DW_CONTAINER_ID_MAX, "%s", id);
	return 0;
}

int dw_container_start(const struct dw_engine *e, const char *id, struct dw_error *err)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "/containers/%s/start", id);
	if (dw_engine_call(e, "POST", path, NULL, NULL, NULL, err) < 0)
		return err->code == DW_E_BUSY
		               ? -1
		               : dw_wrap(err, "cannot start the container");
	return 0;
}

int dw_container_inspect(const struct dw_engine *e, const char *id,
                         struct dw_inspected *ret, struct dw_error *err)
{
	json_auto_t *reply = NULL;
	char path[160];

	/* Through Docker's API Podman reports every runtime as "oci". */
	(void)snprintf(path, sizeof(path), "%s/containers/%s/json",
	               e->podman ? "/libpod" : "", id);
	if (dw_engine_call(e, "GET", path, NULL, &reply, NULL, err) < 0)
		return err->code == DW_E_BUSY
		               ? -1
		               : dw_wrap(err, "cannot inspect the container");
	return dw_inspect_read(reply, ret, err);
}

int dw_container_remove(const struct dw_engine *e, const char *id, struct dw_error *err)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	char path[160];
	long status = 0;

	(void)snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", id);
	/*
	 * 409: the container has ended and the engine is already removing it. 500: it
	 * ended while Podman was about to kill it. In both cases a later attempt
	 * succeeds.
	 */
	do {
		if (dw_engine_call(e, "DELETE", path, NULL, NULL, &status, err) == 0 ||
		    status == 404)
			return 0;
		(void)nanosleep(&pause, NULL);
	} while ((status == 409 || status == 500) && dw_now_ms() < e->deadline_ms);
	return dw_wrap(err, "cannot remove the container %.12s", id);
}

void dw_container_remove_named(const struct dw_engine *e, const char *name)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	struct dw_error err = {0};
	char path[160];

	(void)snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", name);
	while (dw_engine_call(e, "DELETE", path, NULL, NULL, NULL, &err) < 0 &&
	       dw_now_ms() < e->deadline_ms)
		(void)nanosleep(&pause, NULL);
}
