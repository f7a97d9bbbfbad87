/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

struct dw_docker_http {
	CURLM *multi;
	CURL *easy;
	char *socket;
	int cancel_fd;
};

/* One call under way. */
struct exchange {
	const struct dw_docker_http_call *call;
	struct dw_buf *body;
	struct dw_buf line;
	uint64_t received_ms;
	bool refused; /* by on_line */
};

int dw_docker_http_open(const char *socket_path, int cancel_fd,
                        struct dw_docker_http **ret, struct dw_error *err)
{
	struct dw_docker_http *http = calloc(1, sizeof(*http));

	/* We use no TLS, and setting it up takes time. */
	if (http && curl_global_init(CURL_GLOBAL_NOTHING) == CURLE_OK) {
		http->multi = curl_multi_init();
		http->easy = curl_easy_init();
		http->socket = strdup(socket_path);
		http->cancel_fd = cancel_fd;
	}
	if (!http || !http->multi || !http->easy || !http->socket) {
		dw_docker_http_close(http);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot set up libcurl");
	}
	*ret = http;
	return 0;
}

void dw_docker_http_close(struct dw_docker_http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->easy);
	curl_multi_cleanup(http->multi);
	free(http->socket);
	free(http);
}

void dw_docker_http_set_cancel(struct dw_docker_http *http, int cancel_fd)
{
	http->cancel_fd = cancel_fd;
}

static int take_lines(struct exchange *x, const char *data, size_t len)
{
	while (len > 0) {
		const char *nl = memchr(data, '\n', len);
		size_t part = nl ? (size_t)(nl - data) : len;

		if (dw_buf_add(&x->line, data, part) < 0)
			return -1;
		if (nl && x->line.len > 0 &&
		    x->call->on_line(x->call->user, x->line.data, x->line.len) < 0) {
			x->refused = true;
			return -1;
		}
		if (nl)
			x->line.len = 0;
		data += part + (nl != NULL);
		len -= part + (nl != NULL);
	}
	return 0;
}

static size_t on_data(char *data, size_t size, size_t n, void *user)
{
	struct exchange *x = user;

	(void)size;
	x->received_ms = dw_now_ms();
	if (x->call->on_line)
		return take_lines(x, data, n) < 0 ? 0 : n;
	return dw_buf_add(x->body, data, n) < 0 ? 0 : n;
}

static size_t on_header(char *data, size_t size, size_t n, void *user)
{
	struct exchange *x = user;

	(void)size;
	(void)x->call->on_header(x->call->user, data, n);
	return n;
}

static struct curl_slist *set_up(struct dw_docker_http *http, struct exchange *x)
{
	const struct dw_docker_http_call *call = x->call;
	struct curl_slist *headers;
	char url[2048];

	(void)snprintf(url, sizeof(url), "http://localhost%s", call->path);
	headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_easy_reset(http->easy);
	(void)curl_easy_setopt(http->easy, CURLOPT_UNIX_SOCKET_PATH, http->socket);
	(void)curl_easy_setopt(http->easy, CURLOPT_URL, url);
	(void)curl_easy_setopt(http->easy, CURLOPT_CUSTOMREQUEST, call->method);
	(void)curl_easy_setopt(http->easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(http->easy, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(http->easy, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(http->easy, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, on_data);
	(void)curl_easy_setopt(http->easy, CURLOPT_WRITEDATA, x);
	if (call->on_header) {
		(void)curl_easy_setopt(http->easy, CURLOPT_HEADERFUNCTION, on_header);
		(void)curl_easy_setopt(http->easy, CURLOPT_HEADERDATA, x);
	}
	if (call->body) {
		(void)curl_easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE,
		                       (long)strlen(call->body));
		(void)curl_easy_setopt(http->easy, CURLOPT_POSTFIELDS, call->body);
	} else if (strcmp(call->method, "POST") == 0) {
		(void)curl_easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE, 0L);
		(void)curl_easy_setopt(http->easy, CURLOPT_POSTFIELDS, "");
	}
	return headers;
}

/* Wait for the reply; libcurl's result is in *ret. */
static int wait_for_reply(struct dw_docker_http *http, const struct exchange *x,
                          CURLcode *ret, struct dw_error *err)
{
	const struct dw_docker_http_call *call = x->call;
	struct curl_waitfd cancel = {.fd = http->cancel_fd, .events = CURL_WAIT_POLLIN};
	uint64_t now, deadline = call->deadline_ms;
	bool can_cancel = http->cancel_fd >= 0;
	int running = 1, left;
	CURLMsg *msg;

	for (;;) {
		if (curl_multi_perform(http->multi, &running) != CURLM_OK)
			return dw_fail(err, DW_E_INTERNAL, 0, "libcurl failed");
		if (!running)
			break;
		now = dw_now_ms();
		if (now >= deadline ||
		    (call->stall_ms != 0 && now >= x->received_ms + call->stall_ms))
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the engine at %s does not answer", http->socket);
		left = dw_ms_until(deadline);
		(void)curl_multi_poll(http->multi, &cancel, can_cancel,
		                      left > 500 ? 500 : left + 1, NULL);
		if (!can_cancel || !cancel.revents)
			continue;
		if (call->grace_ms == 0)
			return dw_fail(err, DW_E_BUSY, 0, "the run was cancelled");
		can_cancel = false;
		if (now + call->grace_ms < deadline)
			deadline = now + call->grace_ms;
	}
	while ((msg = curl_multi_info_read(http->multi, &left)) != NULL)
		if (msg->msg == CURLMSG_DONE)
			*ret = msg->data.result;
	return 0;
}

int dw_docker_http_call(struct dw_docker_http *http,
                        const struct dw_docker_http_call *call, long *ret_status,
                        struct dw_buf *ret_body, struct dw_error *err)
{
	struct exchange x = {.call = call, .body = ret_body, .received_ms = dw_now_ms()};
	CURLcode code = CURLE_RECV_ERROR;
	struct curl_slist *headers;
	int r;

	dw_buf_init(&x.line, DW_DOCKER_HTTP_REPLY_MAX);
	headers = set_up(http, &x);
	(void)curl_multi_add_handle(http->multi, http->easy);
	r = wait_for_reply(http, &x, &code, err);
	(void)curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, ret_status);
	(void)curl_multi_remove_handle(http->multi, http->easy);
	curl_slist_free_all(headers);

	/* The last line may lack its newline. */
	if (r == 0 && code == CURLE_OK && call->on_line && x.line.len > 0 &&
	    call->on_line(call->user, x.line.data, x.line.len) < 0)
		x.refused = true;
	dw_buf_finish(&x.line);
	if (r < 0)
		return -1;
	if (x.refused)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine at %s did not answer with JSON", http->socket);
	if (code == CURLE_COULDNT_CONNECT)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot connect to the engine: no process listens at %s",
		               http->socket);
	if (code != CURLE_OK)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine at %s ended its answer early: %s",
		               http->socket, curl_easy_strerror(code));
	return 0;
}

char *dw_docker_http_escape(const char *text)
{
	char *escaped = curl_easy_escape(NULL, text, 0);
	char *copy = escaped ? strdup(escaped) : NULL;

	curl_free(escaped);
	return copy;
}
