/* SPDX-License-Identifier: Apache-2.0 */
#include "http/headers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The length of "localhost:80" or "[::1]:80" without the port. */
static bool split_host(const char *host, size_t *ret_len)
{
	const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
	size_t len = end ? (size_t)(end + 1 - host) : strcspn(host, ":");
	const char *port = host + len;

	*ret_len = len;
	if (*port == '\0')
		return len > 0;
	return len > 0 && *port == ':' &&
	       port[1 + strspn(port + 1, "0123456789")] == '\0';
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

static bool is_address(const char *host, size_t len)
{
	struct in6_addr any;
	char text[64];

	if (len == 0 || len >= sizeof(text))
		return false;
	(void)snprintf(text, sizeof(text), "%.*s", (int)len, host);
	if (text[0] == '[' && text[len - 1] == ']') {
		text[len - 1] = '\0';
		return inet_pton(AF_INET6, text + 1, &any) == 1;
	}
	return inet_pton(AF_INET, text, &any) == 1;
}

bool dw_headers_is_our_host(const char *host, char *const *names, size_t n)
{
	size_t len;

	if (!split_host(host, &len))
		return false;
	if (is_word(host, len, "localhost") || is_address(host, len))
		return true;
	for (size_t i = 0; i < n; i++)
		if (is_word(host, len, names[i]))
			return true;
	return false;
}

bool dw_headers_is_our_page(const char *origin, const char *host, char *const *origins,
                            size_t n)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < n; i++)
		if (strcasecmp(origin, origins[i]) == 0)
			return true;
	for (size_t i = 0; host && i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncasecmp(origin, schemes[i], strlen(schemes[i])) == 0 &&
		    strcasecmp(origin + strlen(schemes[i]), host) == 0)
			return true;
	return false;
}

bool dw_headers_accepts(const char *accept, const char *type)
{
	size_t len = strlen(type);

	for (const char *p = accept; *p; p += strcspn(p, ","), p += *p == ',') {
		p += strspn(p, " \t");
		if (strncasecmp(p, type, len) == 0 && strchr(",; \t", p[len]))
			return true; /* strchr() also finds the NUL at the end */
	}
	return false;
}

bool dw_headers_path_fits(const char *route, const char *path, char *ret, size_t size)
{
	const char *hole = strstr(route, "{id}");
	size_t before = hole ? (size_t)(hole - route) : strlen(route);
	size_t len;

	if (!hole)
		return strcmp(route, path) == 0;
	if (strncmp(route, path, before) != 0)
		return false;
	path += before;
	len = strcspn(path, "/");
	if (len == 0 || len >= size || strcmp(path + len, hole + 4) != 0)
		return false;
	(void)snprintf(ret, size, "%.*s", (int)len, path);
	return true;
}
