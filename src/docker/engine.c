/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* The API versions 1.x that we support; 1.40 has everything that we need. */
#define OLDEST 40
#define NEWEST 47

/* A healthy engine answers a ping at once. */
#define VERSION_MS 3000U

static int minor_of(const char *version)
{
	char *end = NULL;
	unsigned long minor;

	if (!version || strncmp(version, "1.", 2) != 0 || version[2] < '0' ||
	    version[2] > '9')
		return -1;
	minor = strtoul(version + 2, &end, 10);
	return *end != '\0' || minor > 9999 ? -1 : (int)minor;
}

int dw_engine_negotiate(const char *newest, char *ret, size_t size, struct dw_error *err)
{
	int most = minor_of(newest);

	if (most < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine does not report a valid API version");
	if (most < OLDEST)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine supports API 1.%d; dewar needs 1.%d (Docker "
		               "19.03) or newer",
		               most, OLDEST);
	(void)snprintf(ret, size, "1.%d", most < NEWEST ? most : NEWEST);
	return 0;
}

void dw_engine_flatten(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

void dw_engine_message(const char *reply, size_t len, char *ret, size_t size)
{
	json_auto_t *root = json_loadb(reply ? reply : "", len, 0, NULL);
	const char *text = json_string_value(json_object_get(root, "message"));
	size_t at = 0;

	if (!text)
		text = json_string_value(json_object_get(root, "cause"));
	if (!text)
		text = len > 0 ? "something that is not JSON" : "nothing";
	/* If the message is too long, keep its end, which says what went wrong. */
	if (strlen(text) >= size && size > 3) {
		at = (size_t)snprintf(ret, size, "...");
		text += strlen(text) - (size - 4);
	}
	(void)snprintf(ret + at, size - at, "%s", text);
	dw_engine_flatten(ret);
}

static int fail_status(long status, const struct dw_buf *body, struct dw_error *err)
{
	char text[300];

	dw_engine_message(body->data, body->len, text, sizeof(text));
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "the engine says %ld: %s", status, text);
}

int dw_engine_call(const struct dw_engine *e, const char *method, const char *path,
                   const json_t *body, json_t **ret_reply, long *ret_status,
                   struct dw_error *err)
{
	autofree char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct dw_docker_http_call call = {
		.method = method,
		.deadline_ms = e->deadline_ms,
		/*
		 * Only a POST creates or starts a container, which must not be
		 * interrupted.
		 */
		.grace_ms = strcmp(method, "POST") == 0 ? DW_DOCKER_HTTP_GRACE_MS : 0,
	};
	autobuf struct dw_buf reply;
	char full[2048];
	long status = 0;
	int r;

	dw_buf_init(&reply, DW_DOCKER_HTTP_REPLY_MAX);
	if (body && !text)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot write a request");
	(void)snprintf(full, sizeof(full), "%s%s", e->prefix, path);
	call.path = full;
	call.body = text;
	r = dw_docker_http_call(e->http, &call, &status, &reply, err);
	if (ret_status)
		*ret_status = r < 0 ? 0 : status;
	if (r < 0)
		return -1;
	if (status < 200 || status > 299)
		return fail_status(status, &reply, err);
	if (!ret_reply)
		return 0;
	*ret_reply = json_loadb(reply.data ? reply.data : "", reply.len, 0, NULL);
	if (!*ret_reply && reply.len > 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine at %s did not answer with JSON", e->socket);
	return 0;
}

/* ---- version and name ---- */

/* From the headers of the answer to a ping. */
struct pong {
	char version[16]; /* of the API */
	char server[64];  /* "Docker/20.10.24 (linux)" */
	char libpod[32];  /* "4.3.1"; only Podman sends it */
};

static bool take_header(const char *line, size_t len, const char *name, char *ret,
                        size_t size)
{
	size_t at = strlen(name), n = 0;

	if (len <= at || strncasecmp(line, name, at) != 0)
		return false;
	while (at < len && line[at] == ' ')
		at++;
	while (at < len && (unsigned char)line[at] > 0x20 && line[at] != 0x7f &&
	       n + 1 < size)
		ret[n++] = line[at++];
	ret[n] = '\0';
	return true;
}

static int on_header(void *user, const char *line, size_t len)
{
	struct pong *p = user;

	(void)(take_header(line, len, "Api-Version:", p->version, sizeof(p->version)) ||
	       take_header(line, len, "Server:", p->server, sizeof(p->server)) ||
	       take_header(line, len, "Libpod-Api-Version:", p->libpod,
	                   sizeof(p->libpod)));
	return 0;
}

/* A ping is enough: Podman takes half a second for /version, as it asks its helpers. */
static int ping(const struct dw_engine *e, struct pong *ret, struct dw_error *err)
{
	struct dw_docker_http_call call = {
		.method = "GET",
		.path = "/_ping",
		.deadline_ms = e->deadline_ms,
		.on_header = on_header,
		.user = ret,
	};
	autobuf struct dw_buf reply;
	long status = 0;

	dw_buf_init(&reply, DW_DOCKER_HTTP_REPLY_MAX);
	if (dw_docker_http_call(e->http, &call, &status, &reply, err) < 0)
		return -1;
	if (status != 200)
		return fail_status(status, &reply, err);
	return 0;
}

/* Used if the engine's answer to a ping contains no API version. */
static int ask_version(const struct dw_engine *e, struct pong *ret, struct dw_error *err)
{
	json_auto_t *version = NULL;
	const char *text;

	if (dw_engine_call(e, "GET", "/version", NULL, &version, NULL, err) < 0)
		return -1;
	text = json_string_value(json_object_get(version, "ApiVersion"));
	(void)snprintf(ret->version, sizeof(ret->version), "%s", text ? text : "");
	text = json_string_value(json_object_get(version, "Version"));
	(void)snprintf(ret->server, sizeof(ret->server), "Docker/%.40s",
	               text ? text : "?");
	return 0;
}

static int identify(struct dw_engine *e, struct dw_error *err)
{
	uint64_t soon = dw_now_ms() + VERSION_MS, deadline = e->deadline_ms;
	struct pong pong = {0};
	char number[12], *slash;
	int r;

	if (soon < e->deadline_ms)
		e->deadline_ms = soon;
	r = ping(e, &pong, err);
	if (r == 0 && pong.version[0] == '\0')
		r = ask_version(e, &pong, err);
	e->deadline_ms = deadline;
	if (r < 0 || dw_engine_negotiate(pong.version, number, sizeof(number), err) < 0)
		return -1;
	(void)snprintf(e->prefix, sizeof(e->prefix), "/v%s", number);
	e->podman = pong.libpod[0] != '\0';
	slash = strchr(pong.server, '/');
	(void)snprintf(e->name, sizeof(e->name), "%s %.50s",
	               e->podman ? "Podman" : "Docker",
	               e->podman ? pong.libpod
	               : slash   ? slash + 1
	                         : "?");
	return 0;
}

#define REMEDY \
	"try: apt-get install docker.io, or set DOCKER_HOST to the socket of an engine"

int dw_engine_find(struct dw_engine *e, const json_t *sockets, int cancel_fd,
                   struct dw_error *err)
{
	const char *path = NULL;
	struct stat st;

	/*
	 * Look first for a socket that we may open, then for any that exists, so that the
	 * error says why it cannot be used.
	 */
	for (size_t i = 0; !path && i < 2 * json_array_size(sockets); i++) {
		bool any = i >= json_array_size(sockets);

		path = json_string_value(
			json_array_get(sockets, i % json_array_size(sockets)));
		if (path &&
		    (stat(path, &st) < 0 || (!any && access(path, R_OK | W_OK) < 0)))
			path = NULL;
	}
	if (!path) {
		path = json_string_value(json_array_get(sockets, 0));
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "no engine found: the socket %s does not exist%s; " REMEDY,
		               path ? path : "",
		               json_array_size(sockets) > 1 ? ", nor do Podman's sockets"
		                                            : "");
	}
	if (!S_ISSOCK(st.st_mode))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "no engine found: %s is not a socket; " REMEDY, path);
	if (access(path, R_OK | W_OK) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "no permission to use the engine at %s; try: "
		               "usermod -aG docker $USER, and log in again",
		               path);
	if (strlen(path) >= sizeof(e->socket))
		return dw_fail(err, DW_E_UNSUPPORTED, ENAMETOOLONG,
		               "cannot connect to %s", path);
	(void)snprintf(e->socket, sizeof(e->socket), "%s", path);
	if (dw_docker_http_open(path, cancel_fd, &e->http, err) < 0)
		return -1;
	return identify(e, err);
}

void dw_engine_close(struct dw_engine *e)
{
	dw_docker_http_close(e->http);
	e->http = NULL;
}
