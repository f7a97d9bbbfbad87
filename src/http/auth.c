/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/account.h"
#include "dewar/dewar.h"
#include "http/headers.h"
#include "http/http_own.h"

static int check_host(struct dw_http_context *context, const struct dw_listener *listener,
                      struct dw_exchange *x, struct dw_api_error *why)
{
	const char *host = dw_exchange_header(x, "Host");
	const char *origin = dw_exchange_header(x, "Origin");
	const struct dw_config *config;
	bool host_ok, origin_ok;

	(void)pthread_rwlock_rdlock(&context->lock);
	config = context->config;
	host_ok = host ? dw_headers_is_our_host(host, config->http.hosts,
	                                        config->http.n_hosts)
	               : listener->unix_socket;
	origin_ok = !origin || dw_headers_is_our_page(origin, host, config->http.origins,
	                                              config->http.n_origins);
	(void)pthread_rwlock_unlock(&context->lock);

	if (!host_ok)
		return dw_api_fail(why, 421, "add the name to http.hosts in the config",
		                   "the header Host does not name this server: %.100s",
		                   host ? host : "(missing)");
	if (!origin_ok)
		return dw_api_fail(why, 403, "add it to http.origins in the config",
		                   "web pages of %.100s may not call this server",
		                   origin);
	return 0;
}

static void name_local_caller(int peer_fd, const struct dw_listener *listener,
                              struct dw_caller *ret)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (!listener->unix_socket ||
	    getsockopt(peer_fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		(void)snprintf(ret->who, sizeof(ret->who), "local");
	else
		dw_account_who(cred.uid, ret->who, sizeof(ret->who));
}

static const char *given_key(struct dw_exchange *x)
{
	const char *text = dw_exchange_header(x, "Authorization");

	if (text && strncasecmp(text, "Bearer ", 7) == 0)
		return text + 7 + strspn(text + 7, " ");
	return dw_exchange_header(x, "X-API-Key");
}

bool dw_auth_needs_key(const struct dw_config *config, const struct dw_listener *listener)
{
	if (!listener->loopback && !listener->unix_socket)
		return true;
	for (size_t i = 0; i < config->runs.n_levels; i++)
		/* Such a level runs code as the daemon's user, in the host's network. */
		if (!(dw_level_guarantees(config->runs.levels[i]) & DW_G_NO_NETWORK))
			return true;
	return false;
}

int dw_auth_check(struct dw_http_context *context, const struct dw_listener *listener,
                  int peer_fd, struct dw_exchange *x, struct dw_api_error *why)
{
	const char *text = given_key(x);
	struct dw_key key;
	bool needs_key;

	if (check_host(context, listener, x, why) < 0)
		return -1;
	if (text && dw_keys_check(context->keys, text, &key)) {
		(void)snprintf(x->caller.who, sizeof(x->caller.who), "key:%s (%s)",
		               key.id, key.name);
		x->caller.grant = key.grant;
		return 0;
	}
	if (x->no_key)
		return 0;
	if (text)
		return dw_api_fail(why, 401,
		                   "`dewar keys list` shows which keys are valid",
		                   "the key is unknown or revoked");
	(void)pthread_rwlock_rdlock(&context->lock);
	needs_key = dw_auth_needs_key(context->config, listener);
	x->caller.grant = context->config->local;
	(void)pthread_rwlock_unlock(&context->lock);
	if (needs_key || dw_keys_any(context->keys)) {
		x->caller.grant = (struct dw_grant){0};
		return dw_api_fail(why, 401, "send it as Authorization: Bearer KEY",
		                   "an API key is required");
	}
	name_local_caller(peer_fd, listener, &x->caller);
	return 0;
}
