/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-hook: sends the JSON on its stdin to a URL of the operator, and prints the answer.
 * It is a separate program, as dewar-docker is, to keep libcurl out of dewar and data from
 * the network out of the daemon.
 *
 * The URL and the timeout are in its environment (approvals/hook.h). It exits with 0 after
 * an answer with status 200 to 299; otherwise with 1 and a line on stderr. Callers may read
 * that line, so it never contains the address.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "approvals/hook.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/values.h"

/* Larger than any accepted request. */
#define INPUT_MAX ((size_t)1 << 30)

static int complain(const char *text)
{
	(void)fprintf(stderr, "%s\n", text);
	return 1;
}

static int read_input(struct dw_buf *buf)
{
	char data[65536];
	ssize_t n;

	while ((n = dw_fd_read_some(STDIN_FILENO, data, sizeof(data))) > 0)
		if (dw_buf_add(buf, data, (size_t)n) < 0)
			return -1;
	return n < 0 ? -1 : 0;
}

static size_t on_data(char *data, size_t size, size_t n, void *user)
{
	(void)size;
	return dw_buf_add(user, data, n) < 0 ? 0 : n;
}

static void set_up(CURL *curl, const char *url, uint64_t timeout_ms,
                   struct curl_slist *headers, const struct dw_buf *in,
                   struct dw_buf *out)
{
	(void)curl_easy_setopt(curl, CURLOPT_URL, url);
	(void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	(void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "dewar/" DW_VERSION);
	(void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(curl, CURLOPT_POST, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)in->len);
	(void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, in->data ? in->data : "");
	(void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
}

/* Return 1 with a message of our own: those of libcurl may name hosts and addresses. */
static int explain(CURLcode code, long status)
{
	char text[96];

	switch (code) {
	case CURLE_OK:
		break;
	case CURLE_OPERATION_TIMEDOUT:
		return complain("it did not answer in time");
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return complain("it cannot be reached");
	case CURLE_WRITE_ERROR:
		return complain("its answer is too long");
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
		return complain("its certificate is not trusted");
	default:
		(void)snprintf(text, sizeof(text), "its answer was cut off: %s",
		               curl_easy_strerror(code));
		return complain(text);
	}
	if (status >= 200 && status <= 299)
		return 0;
	(void)snprintf(text, sizeof(text), "it answered with HTTP status %ld%s", status,
	               status >= 300 && status <= 399 ? ", and redirects are not followed"
	                                              : "");
	return complain(text);
}

int main(void)
{
	const char *url = getenv(DW_HOOK_URL_VARIABLE);
	const char *limit = getenv(DW_HOOK_TIMEOUT_VARIABLE);
	struct curl_slist *headers = NULL;
	uint64_t timeout_ms = 0;
	autobuf struct dw_buf in, out;
	struct dw_error err = {0};
	long status = 0;
	CURLcode code;
	CURL *curl;
	int r;

	dw_buf_init(&in, INPUT_MAX);
	dw_buf_init(&out, DW_HOOK_ANSWER_MAX);
	if (!url || !limit ||
	    dw_parse_uint(limit, DW_HOOK_TIMEOUT_MAX_MS, &timeout_ms, &err) < 0)
		return complain("only dewar starts this program");
	if (read_input(&in) < 0)
		return complain("cannot read the request");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    !(curl = curl_easy_init()))
		return complain("cannot set up libcurl");
	/*
	 * Send an empty Expect header: otherwise libcurl waits for "100 Continue"
	 * before a large body.
	 */
	headers = curl_slist_append(headers, "Content-Type: application/json");
	headers = curl_slist_append(headers, "Accept: application/json");
	headers = curl_slist_append(headers, "Expect:");
	set_up(curl, url, timeout_ms, headers, &in, &out);
	code = curl_easy_perform(curl);
	(void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	r = explain(code, status);
	if (r == 0 && dw_fd_write_all(STDOUT_FILENO, out.data, out.len) < 0)
		r = complain("cannot pass on its answer");
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return r;
}
