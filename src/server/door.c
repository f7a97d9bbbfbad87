/* SPDX-License-Identifier: Apache-2.0 */
#include "server/door.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/account.h"
#include "base/utf8.h"
#include "server/http.h"

/* "localhost:80" or "[::1]:80" without its port, and the length of what is left. */
static size_t host_len(const char *host)
{
	const char *end = host[0] == '[' ? strchr(host, ']') : NULL;

	return end ? (size_t)(end + 1 - host) : strcspn(host, ":");
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

/* A page cannot make a browser send an address that is not the page's own. */
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

/* Under the config's lock. */
static bool knows_host(const struct dw_config *config, const char *host)
{
	size_t len = host_len(host);

	if (is_word(host, len, "localhost") || is_address(host, len))
		return true;
	for (size_t i = 0; i < config->http.n_hosts; i++)
		if (is_word(host, len, config->http.hosts[i]))
			return true;
	return false;
}

static bool knows_origin(const struct dw_config *config, const char *origin,
                         const char *host)
{
	const char *rest = strstr(origin, "://");

	for (size_t i = 0; i < config->http.n_origins; i++)
		if (strcasecmp(origin, config->http.origins[i]) == 0)
			return true;
	/* A page of our own. */
	return host && rest && strncasecmp(origin, "http", 4) == 0 &&
	       strcasecmp(rest + 3, host) == 0;
}

static int check_place(struct dw_door *door, const struct dw_entrance *entrance,
                       struct dw_exchange *x, struct dw_refusal *why)
{
	const char *host = dw_exchange_header(x, "Host");
	const char *origin = dw_exchange_header(x, "Origin");
	bool host_ok, origin_ok;

	(void)pthread_rwlock_rdlock(&door->lock);
	host_ok = host ? knows_host(door->config, host) : entrance->unix_socket;
	origin_ok = !origin || knows_origin(door->config, origin, host);
	(void)pthread_rwlock_unlock(&door->lock);

	if (!host_ok)
		return dw_refuse(why, 421, "the config has http.hosts for other names",
		                 "this is not the server of %.100s",
		                 host ? host : "(no Host)");
	if (!origin_ok)
		return dw_refuse(why, 403, "the config has http.origins for such pages",
		                 "a web page of %.100s may not call this", origin);
	return 0;
}

static void name_local(int peer_fd, const struct dw_entrance *entrance,
                       struct dw_caller *ret)
{
	struct dw_account account;
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (!entrance->unix_socket ||
	    getsockopt(peer_fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		(void)snprintf(ret->who, sizeof(ret->who), "local");
	else if (dw_account_find(cred.uid, &account) == 0 &&
	         dw_utf8_valid(account.name, strlen(account.name)))
		(void)snprintf(ret->who, sizeof(ret->who), "uid:%u (%.64s)", cred.uid,
		               account.name);
	else
		(void)snprintf(ret->who, sizeof(ret->who), "uid:%u", cred.uid);
}

static const char *given_key(struct dw_exchange *x)
{
	const char *text = dw_exchange_header(x, "Authorization");

	if (text && strncasecmp(text, "Bearer ", 7) == 0)
		return text + 7 + strspn(text + 7, " ");
	return dw_exchange_header(x, "X-API-Key");
}

bool dw_door_needs_key(const struct dw_config *config, const struct dw_entrance *entrance)
{
	if (!entrance->loopback && !entrance->unix_socket)
		return true;
	for (size_t i = 0; i < config->runs.n_levels; i++)
		if (strcmp(config->runs.levels[i], "none") == 0 ||
		    strcmp(config->runs.levels[i], "process") == 0)
			return true;
	return false;
}

int dw_door_check(struct dw_door *door, const struct dw_entrance *entrance, int peer_fd,
                  struct dw_exchange *x, struct dw_refusal *why)
{
	const char *text = given_key(x);
	struct dw_key key;
	bool needs_key;

	if (check_place(door, entrance, x, why) < 0)
		return -1;
	if (text && dw_keys_check(door->keys, text, &key)) {
		(void)snprintf(x->caller.who, sizeof(x->caller.who), "key:%s (%s)",
		               key.id, key.name);
		x->caller.grant = key.grant;
		return 0;
	}
	if (x->no_key)
		return 0;
	if (text)
		return dw_refuse(why, 401, "`dewar keys list` has the keys there are",
		                 "this key is not one of ours, or was revoked");
	(void)pthread_rwlock_rdlock(&door->lock);
	needs_key = dw_door_needs_key(door->config, entrance);
	x->caller.grant = door->config->local;
	(void)pthread_rwlock_unlock(&door->lock);
	if (needs_key || dw_keys_any(door->keys)) {
		x->caller.grant = (struct dw_grant){0};
		return dw_refuse(why, 401, "send it as Authorization: Bearer KEY",
		                 "a key is needed");
	}
	name_local(peer_fd, entrance, &x->caller);
	return 0;
}
