/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: Host, Origin, Accept and the path of a request, each ending in a NUL. A
 * request that is accepted by one of them has a valid name.
 */
#undef NDEBUG
#include "http/headers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

static char *const hosts[] = {(char *)"dewar.example.org"};
static char *const origins[] = {(char *)"https://app.example.org"};

/* Another implementation of the check: remove the port, and check the rest. */
static void check_host(const char *host)
{
	bool ours = dw_headers_is_our_host(host, hosts, 1);
	struct in6_addr any;
	char name[64];
	size_t port;

	if (!ours)
		return;
	assert(strlen(host) > 0 && !strpbrk(host, "@/\\?# \t\r\n"));
	port = strlen(host);
	while (port > 0 && host[port - 1] >= '0' && host[port - 1] <= '9')
		port--;
	/* The address "127.0.0.1" ends in digits as well. */
	if (port == 0 || host[port - 1] != ':' || (host[0] == '[' && !strchr(host, ']')))
		port = strlen(host) + 1;
	assert(port - 1 < sizeof(name));
	(void)snprintf(name, sizeof(name), "%.*s", (int)(port - 1), host);
	if (name[0] == '[') {
		assert(name[strlen(name) - 1] == ']');
		name[strlen(name) - 1] = '\0';
		assert(inet_pton(AF_INET6, name + 1, &any) == 1);
		return;
	}
	assert(strcasecmp(name, "localhost") == 0 || strcasecmp(name, hosts[0]) == 0 ||
	       inet_pton(AF_INET, name, &any) == 1);
	/* The host is also accepted without its port, and a configured host only if configured. */
	assert(dw_headers_is_our_host(name, hosts, 1));
	assert(strcasecmp(name, hosts[0]) != 0 || !dw_headers_is_our_host(host, NULL, 0));
}

static void check_origin(const char *origin, const char *host)
{
	const char *rest;

	assert(dw_headers_is_our_page("https://APP.example.org", host, origins, 1));
	assert(!dw_headers_is_our_page("null", host, origins, 1));
	if (!dw_headers_is_our_page(origin, host, NULL, 0))
		return;
	rest = strstr(origin, "://");
	assert(rest && strcasecmp(rest + 3, host) == 0);
	assert(rest - origin == 4 || rest - origin == 5);
	assert(strncasecmp(origin, "https", (size_t)(rest - origin)) == 0);
	assert(!dw_headers_is_our_page(origin, NULL, NULL, 0));
}

static void check_accept(const char *accept)
{
	bool yes = dw_headers_accepts(accept, "text/event-stream");
	autofree char *more = malloc(strlen(accept) + 64);

	/* The type is in the list, and stays acceptable when others are added. */
	assert(!yes || strcasestr(accept, "text/event-stream"));
	assert(more);
	(void)sprintf(more, "a/b;q=0.1, %s", accept);
	assert(dw_headers_accepts(more, "text/event-stream") == yes);
	(void)sprintf(more, "%s,text/event-stream;q=1", accept);
	assert(dw_headers_accepts(more, "text/event-stream"));
}

static void check_path(const char *path)
{
	static const char *const routes[] = {"/v1/runs", "/v1/runs/{id}", "/{id}/x"};
	char id[16], again[256];

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		(void)strcpy(id, "untouched");
		if (!dw_headers_path_fits(routes[i], path, id, sizeof(id))) {
			assert(strcmp(id, "untouched") == 0);
			continue;
		}
		if (!strchr(routes[i], '{')) {
			assert(strcmp(routes[i], path) == 0);
			continue;
		}
		assert(id[0] != '\0' && !strchr(id, '/'));
		(void)snprintf(again, sizeof(again), i == 1 ? "/v1/runs/%s" : "/%s/x",
		               id);
		assert(strcmp(again, path) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autofree char *host = fuzz_text(&in), *origin = fuzz_text(&in);
	autofree char *accept = fuzz_text(&in), *path = fuzz_text(&in);

	check_host(host);
	check_origin(origin, host);
	check_accept(accept);
	check_path(path);
	return 0;
}
