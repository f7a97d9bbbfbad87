/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve_own.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "approvals/approvals.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "daemon/listen.h"
#include "daemon/log.h"
#include "http/http.h"
#include "mcp/mcp.h"
#include "policy/policy.h"

#define EXIT_OURS 125
#define LISTEN_DEFAULT "127.0.0.1:7443"
#define LISTENERS_MAX 18

/* The daemon: its settings and what it has opened. */
struct daemon {
	const struct dw_serve_settings *set;
	char state[DW_STATE_PATH_MAX];
	char keys[DW_STATE_PATH_MAX + 16], audit[DW_STATE_PATH_MAX + 16];
	char approvals[DW_STATE_PATH_MAX + 16];
	struct dw_http_context http;
	struct dw_config *first; /* the first configuration, which the pool keeps using */
	int fds[LISTENERS_MAX];
	struct dw_listener listeners[LISTENERS_MAX];
	struct dw_http *servers[LISTENERS_MAX];
	size_t n;
	char *socket; /* the path of the socket that we created, and remove at the end */
};

/* Read the settings from the file; values from the command line replace them. */
static int load_config(const struct daemon *d, struct dw_config **ret,
                       struct dw_error *err)
{
	const struct dw_serve_settings *set = d->set;
	const struct {
		const char *value;
		size_t at;
	} given[] = {
		{set->listen, offsetof(struct dw_config, listen)},
		{set->socket, offsetof(struct dw_config, socket)},
		{set->state, offsetof(struct dw_config, state)},
		{set->policy, offsetof(struct dw_config, policy)},
	};
	struct dw_config *config = NULL;

	if (dw_config_load(set->config, &config, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		char **field = (char **)((char *)config + given[i].at);

		if (!given[i].value)
			continue;
		free(*field);
		*field = strdup(given[i].value);
		if (!*field) {
			dw_config_free(config);
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "cannot read the configuration");
		}
	}
	*ret = config;
	return 0;
}

static int add_listener(struct daemon *d, int fd, struct dw_error *err)
{
	if (fd < 0)
		return -1;
	if (d->n == LISTENERS_MAX) {
		(void)close(fd);
		return dw_fail(err, DW_E_INVALID, 0, "too many sockets");
	}
	d->fds[d->n++] = fd;
	return 0;
}

static int listen_all(struct daemon *d, struct dw_error *err)
{
	const struct dw_config *config = d->http.config;
	int given = dw_sd_sockets();

	for (int i = 0; i < given; i++)
		if (add_listener(d,
		                 dw_listen_given(DW_SD_FIRST + i, &d->listeners[d->n],
		                                 err),
		                 err) < 0)
			return -1;
	if (config->socket) {
		if (add_listener(d,
		                 dw_listen_unix(config->socket, &d->listeners[d->n], err),
		                 err) < 0)
			return -1;
		d->socket = strdup(config->socket);
	}
	if (config->listen || d->n == 0)
		return add_listener(d,
		                    dw_listen_tcp(config->listen ? config->listen
		                                                 : LISTEN_DEFAULT,
		                                  &d->listeners[d->n], err),
		                    err);
	return 0;
}

/* Without keys, refuse addresses on which dw_auth_needs_key() requires one. */
static int check_open(const struct daemon *d, struct dw_error *err)
{
	if (dw_keys_any(d->http.keys))
		return 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct dw_listener *e = &d->listeners[i];

		if (dw_auth_needs_key(d->http.config, e))
			return dw_fail(
				err, DW_E_DENIED, 0,
				"cannot listen on %s without keys: %s can connect to "
				"it; create a key with `dewar keys add NAME --state %s`",
				e->address,
				e->loopback || e->unix_socket
					? "programs at level none or process"
					: "other hosts",
				d->state);
		dw_log(DW_LOG_WARNING, "listener.unauthenticated", "listen", e->address,
		       "open_to",
		       e->unix_socket ? "this user" : "every user of this host", NULL);
	}
	return 0;
}

static int open_state(struct daemon *d, struct dw_error *err)
{
	const struct dw_config *config = d->http.config;

	if (config->state)
		(void)snprintf(d->state, sizeof(d->state), "%s", config->state);
	else if (dw_state_of_daemon(d->state, err) < 0)
		return -1;
	(void)snprintf(d->keys, sizeof(d->keys), "%s/keys.db", d->state);
	(void)snprintf(d->audit, sizeof(d->audit), "%s/audit.db", d->state);
	(void)snprintf(d->approvals, sizeof(d->approvals), "%s/" DW_APPROVALS_FILE,
	               d->state);
	if (config->audit.path)
		(void)snprintf(d->audit, sizeof(d->audit), "%s", config->audit.path);
	d->http.audit = d->audit;
	return dw_keys_open(d->keys, &d->http.keys, err);
}

/* Idle connections and standby cells need many descriptors. */
static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

static int start(struct daemon *d, struct dw_error *err)
{
	const struct dw_config *config = d->http.config;
	const struct dw_service_files files = {.audit = d->audit,
	                                       .approvals = d->approvals};

	raise_files();
	if (open_state(d, err) < 0 || listen_all(d, err) < 0 || check_open(d, err) < 0 ||
	    dw_service_new(config, &files, &d->http.service, err) < 0 ||
	    !dw_service_approvals(d->http.service, err))
		return -1;
	d->http.mcp = dw_mcp_http_create(d->http.service);
	if (!d->http.mcp)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot serve MCP");
	for (size_t i = 0; i < d->n; i++) {
		int fd = TAKE_FD(d->fds[i]);

		if (dw_http_new(&d->http, &d->listeners[i], fd, &d->servers[i], err) < 0)
			return -1;
		dw_log(DW_LOG_INFO, "daemon.ready", "listen", d->listeners[i].address,
		       "state", d->state, NULL);
	}
	dw_sd_notify("READY=1");
	return 0;
}

static void reload(struct daemon *d)
{
	struct dw_config *config = NULL, *before;
	struct dw_error err = {0};

	dw_sd_notify("RELOADING=1");
	if (load_config(d, &config, &err) < 0 || !config ||
	    dw_service_reload(d->http.service, config, &err) < 0) {
		dw_log(DW_LOG_ERROR, "config.rejected", "error", err.text, NULL);
		dw_config_free(config);
	} else {
		dw_log_setup(config->log_level, config->log_format);
		(void)pthread_rwlock_wrlock(&d->http.lock);
		before = d->http.config;
		d->http.config = config;
		(void)pthread_rwlock_unlock(&d->http.lock);
		if (before != d->first)
			dw_config_free(before);
		dw_log(DW_LOG_INFO, "config.reloaded", NULL);
	}
	dw_sd_notify("READY=1");
}

/* A second signal ends the drain early. */
static void *wait_for_second(void *user)
{
	struct dw_service *service = user;
	sigset_t signals;
	int sig = 0;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	while (sigwait(&signals, &sig) != 0)
		;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	dw_log(DW_LOG_INFO, "drain.aborted", NULL);
	dw_service_hurry(service);
	return NULL;
}

static void drain(struct daemon *d)
{
	uint64_t drain_ms = d->http.config->runs.drain_s * 1000ULL;
	pthread_t second;
	bool waits = pthread_create(&second, NULL, wait_for_second, d->http.service) == 0;

	dw_service_drain(d->http.service, dw_now_ms() + drain_ms);
	if (waits) {
		(void)pthread_cancel(second);
		(void)pthread_join(second, NULL);
	}
}

static void stop(struct daemon *d)
{
	char drain_s[16];

	dw_sd_notify("STOPPING=1");
	(void)snprintf(drain_s, sizeof(drain_s), "%u", d->http.config->runs.drain_s);
	dw_log(DW_LOG_INFO, "daemon.stopping", "drain_s", drain_s, NULL);
	for (size_t i = 0; i < d->n && d->servers[i]; i++)
		dw_http_quiesce(d->servers[i]);
	if (d->http.service)
		drain(d);
}

static void finish(struct daemon *d)
{
	for (size_t i = 0; i < d->n; i++) {
		dw_http_free(d->servers[i]);
		if (d->fds[i] >= 0)
			(void)close(d->fds[i]);
	}
	if (d->socket)
		(void)unlink(d->socket);
	free(d->socket);
	dw_mcp_http_free(d->http.mcp);
	dw_service_free(d->http.service);
	dw_keys_close(d->http.keys);
	if (d->http.config != d->first)
		dw_config_free(d->http.config);
	dw_config_free(d->first);
	(void)pthread_rwlock_destroy(&d->http.lock);
}

/* Handle SIGHUP until another signal stops the daemon. */
static void reload_until_stopped(struct daemon *d, const sigset_t *signals)
{
	int sig;

	for (;;) {
		if (sigwait(signals, &sig) != 0)
			continue;
		if (sig != SIGHUP)
			break;
		reload(d);
	}
}

/* For --check-config: check what the parser cannot. */
static int check_settings(struct dw_config *config)
{
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};
	int r = dw_policy_load(config->policy, &policy, &err);

	if (r == 0)
		(void)puts("configuration is valid");
	else
		(void)fprintf(stderr, "dewar: %s\n", err.text);
	dw_policy_unref(policy);
	dw_config_free(config);
	return r == 0 ? 0 : EXIT_OURS;
}

int dw_serve_main(const struct dw_serve_settings *set)
{
	struct daemon d = {.set = set};
	struct dw_error err = {0};
	sigset_t signals;
	int r;

	for (size_t i = 0; i < LISTENERS_MAX; i++)
		d.fds[i] = -1;
	(void)pthread_rwlock_init(&d.http.lock, NULL);
	dw_serve_block_signals(&signals);

	r = load_config(&d, &d.first, &err);
	d.http.config = d.first;
	if (r == 0 && set->check)
		return check_settings(d.first);
	if (r == 0) {
		dw_log_setup(d.http.config->log_level, d.http.config->log_format);
		r = start(&d, &err);
	}
	if (r == 0) {
		reload_until_stopped(&d, &signals);
		stop(&d);
	} else {
		(void)fprintf(stderr, "dewar: %s\n", err.text);
	}
	finish(&d);
	return r == 0 ? 0 : EXIT_OURS;
}
