/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lock.h"
#include "daemon/log.h"
#include "daemon/service_own.h"
#include "dewar/dewar.h"
#include "run/request_check.h"

#define AUDIT_DOWN_MS 10000U
#define LARGEST_AT_ONCE 16U /* the memory for requests, in requests of the largest size */

static unsigned want_workers(const struct dw_config *config)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = config->runs.concurrent;

	if (n == 0)
		n = 4U * (unsigned)(cores > 0 ? cores : 1);
	return n > DW_WORKERS_MAX ? DW_WORKERS_MAX : n;
}

/* Apply the config. Call it with the lock, or before the threads start. */
static void take_config(struct dw_service *s, const struct dw_config *config)
{
	dw_ceilings_from_config(&s->ceilings, config);
	s->keep = (struct dw_service_keep){
		.n = config->runs.keep,
		.s = config->runs.keep_s,
		.bytes = config->runs.keep_bytes,
	};
	s->retain = (struct dw_audit_keep){
		.since_us = (int64_t)config->audit.keep_days * 86400 * 1000000,
		.bytes = config->audit.keep_bytes,
	};
	s->claimed_max = LARGEST_AT_ONCE * config->http.body_bytes;
}

bool dw_service_claim(struct dw_service *service, size_t bytes)
{
	if (atomic_fetch_add(&service->claimed, bytes) + bytes <= service->claimed_max)
		return true;
	dw_service_unclaim(service, bytes);
	return false;
}

void dw_service_unclaim(struct dw_service *service, size_t bytes)
{
	(void)atomic_fetch_sub(&service->claimed, bytes);
}

static int start_threads(struct dw_service *s, unsigned n, struct dw_error *err)
{
	int r = 0;

	while (s->n_workers < n && r == 0) {
		r = pthread_create(&s->workers[s->n_workers], NULL, dw_queue_work, s);
		if (r == 0)
			s->n_workers++;
	}
	if (r == 0 && !s->watching) {
		r = pthread_create(&s->watcher, NULL, dw_approval_queue_watch, s);
		s->watching = r == 0;
	}
	if (r == 0 && !s->keeping) {
		r = pthread_create(&s->maintainer, NULL, dw_queue_maintain, s);
		s->keeping = r == 0;
	}
	/*
	 * Probe the levels only once, and in a thread: an engine may be slow to answer.
	 */
	if (r == 0 && !s->scouting) {
		r = pthread_create(&s->scout, NULL, dw_queue_look_around, s);
		s->scouting = r == 0;
	}
	return r == 0 ? 0 : dw_fail(err, DW_E_INTERNAL, r, "cannot start a thread");
}

/*
 * Charge a tenant for the cpu seconds of an earlier run of today, in whatever process it
 * ran.
 */
static int on_spent(void *user, const struct dw_audit_record *rec)
{
	const struct dw_grant none = {0};
	struct dw_service *s = user;
	struct dw_tenant *tenant;
	char who[sizeof(((struct dw_caller *)0)->who)];

	if (!rec->who.data || rec->cpu_us <= 0)
		return 0;
	(void)snprintf(who, sizeof(who), "%.*s", (int)rec->who.len, rec->who.data);
	tenant = dw_quota_tenant(s->quota, who, &none);
	if (tenant)
		dw_quota_spent(tenant, (uint64_t)rec->cpu_us / 1000, dw_wall_ms());
	return 0;
}

static int read_spent(struct dw_service *s, const char *audit, struct dw_error *err)
{
	const int64_t day_us = 86400LL * 1000000;
	struct dw_audit_filter today = {
		.since_us = (int64_t)dw_wall_ms() * 1000 / day_us * day_us,
	};
	struct dw_audit_reader *reader = NULL;
	int r;

	if (dw_audit_reader_open(audit, &reader, err) < 0)
		return -1;
	r = dw_audit_each_record(reader, &today, on_spent, s, err);
	dw_audit_reader_close(reader);
	return r;
}

static int open_audit(struct dw_service *s, const char *audit, struct dw_error *err)
{
	size_t interrupted = 0;
	char text[32];

	if (dw_audit_open(audit, DW_AUDIT_STAYS, &s->audit, err) < 0 ||
	    dw_audit_recover(s->audit, &interrupted, err) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%zu", interrupted);
	if (interrupted > 0)
		dw_log(DW_LOG_WARNING, "audit.interrupted", "runs", text, NULL);
	return read_spent(s, audit, err);
}

/* Standby containers have the limits of a request that sets none. */
static size_t describe_docker(struct dw_service *s, const struct dw_config *config,
                              struct dw_docker_config *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < config->n_docker; i++) {
		const struct dw_config_docker *docker = &config->docker[i];
		struct dw_request *like = &s->docker[n];

		if (docker->standby == 0)
			continue;
		dw_request_init(like);
		like->language = dw_language_name(docker->language);
		like->image = docker->image;
		like->limits = s->ceilings.limits;
		ret[n++] = (struct dw_docker_config){like, docker->standby};
	}
	return n;
}

static int make_pool(struct dw_service *s, const struct dw_config *config,
                     struct dw_error *err)
{
	autofree struct dw_docker_config *docker = NULL;
	struct dw_pool_config pool = {
		.templates = config->pool.n_templates > 0 ? config->pool.templates : NULL,
		.n_templates = config->pool.n_templates,
		.memory_bytes = config->pool.memory_bytes,
		.standby_max = config->pool.standby_max,
		.idle_ms = (uint64_t)config->pool.idle_s * 1000,
	};

	if (config->pool.off)
		return 0;
	docker = calloc(config->n_docker + 1, sizeof(*docker));
	s->docker = calloc(config->n_docker + 1, sizeof(*s->docker));
	if (!docker || !s->docker)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot start the pool");
	pool.docker = docker;
	pool.n_docker = describe_docker(s, config, docker);
	return dw_pool_new(&pool, &s->pool, err);
}

static void init_locks(struct dw_service *s)
{
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_mutex_init(&s->opening, NULL);
	(void)pthread_cond_init(&s->work, NULL);
	dw_cond_init(&s->idle);
	dw_cond_init(&s->tick);
	dw_cond_init(&s->pending.wake);
}

static struct dw_approvals *on_approvals(void *user, struct dw_error *err)
{
	return dw_service_approvals(user, err);
}

static void on_webhook_error(void *user, const char *text)
{
	(void)user;
	dw_log(DW_LOG_WARNING, "webhook.failed", "error", text, NULL);
}

static int make_conductor(struct dw_service *s, const struct dw_config *config,
                          const char *approvals, struct dw_error *err)
{
	const struct dw_conductor_config conductor = {
		.policy = config->policy,
		.audit = s->audit,
		.approver = {.approvals = on_approvals,
	                     .on_webhook_error = on_webhook_error,
	                     .user = s},
	};

	s->approvals_path = strdup(approvals);
	if (!s->approvals_path)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot start the service");
	if (dw_conductor_create(&conductor, &s->conductor, err) < 0)
		return -1;
	dw_service_report_policy(s);
	return 0;
}

void dw_service_report_policy(struct dw_service *s)
{
	struct dw_error problem;
	struct dw_policy *policy = dw_conductor_policy(s->conductor, &problem);
	char rules[32];

	if (problem.code != DW_OK)
		dw_log(DW_LOG_ERROR, "policy.invalid", "error", problem.text, NULL);
	if (policy == s->policy_reported) {
		dw_policy_unref(policy);
		return;
	}
	(void)snprintf(rules, sizeof(rules), "%zu", dw_policy_n_rules(policy));
	dw_log(DW_LOG_INFO, "policy.loaded", "file", dw_policy_file(policy), "rules",
	       rules, NULL);
	dw_policy_unref(s->policy_reported);
	s->policy_reported = policy;
}

int dw_service_new(const struct dw_config *config, const struct dw_service_files *files,
                   struct dw_service **ret, struct dw_error *err)
{
	struct dw_service *s = calloc(1, sizeof(*s));

	if (!s)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot start the service");
	init_locks(s);
	take_config(s, config);
	s->metrics = dw_metrics_new();
	s->quota = dw_quota_new(config->runs.queue, want_workers(config));
	if (!s->metrics || !s->quota) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot start the service");
		dw_service_free(s);
		return -1;
	}
	if (open_audit(s, files->audit, err) < 0 ||
	    make_conductor(s, config, files->approvals, err) < 0 ||
	    make_pool(s, config, err) < 0 ||
	    start_threads(s, want_workers(config), err) < 0) {
		dw_service_free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

int dw_service_reload(struct dw_service *service, const struct dw_config *config,
                      struct dw_error *err)
{
	struct dw_error fewer = {0};
	unsigned n = want_workers(config);

	if (dw_conductor_set_policy(service->conductor, config->policy, err) < 0)
		return -1;
	(void)pthread_mutex_lock(&service->lock);
	take_config(service, config);
	if (start_threads(service, n, &fewer) < 0)
		dw_log(DW_LOG_ERROR, "workers.reduced", "error", fewer.text, NULL);
	dw_quota_resize(service->quota, config->runs.queue,
	                n < service->n_workers ? n : service->n_workers);
	(void)pthread_cond_broadcast(&service->work);
	(void)pthread_mutex_unlock(&service->lock);
	return 0;
}

void dw_service_drain(struct dw_service *service, uint64_t deadline_ms)
{
	uint64_t now = dw_now_ms();
	struct timespec until = dw_time_in(deadline_ms > now ? deadline_ms - now : 0);

	(void)pthread_mutex_lock(&service->lock);
	service->draining = true;
	while (!dw_queue_idle(service) && !service->hurry)
		if (pthread_cond_timedwait(&service->idle, &service->lock, &until) ==
		    ETIMEDOUT)
			break;
	dw_queue_cancel(service);
	while (!dw_queue_idle(service))
		(void)pthread_cond_wait(&service->idle, &service->lock);
	(void)pthread_mutex_unlock(&service->lock);
}

void dw_service_hurry(struct dw_service *service)
{
	(void)pthread_mutex_lock(&service->lock);
	service->hurry = true;
	(void)pthread_cond_broadcast(&service->idle);
	(void)pthread_mutex_unlock(&service->lock);
}

void dw_service_free(struct dw_service *service)
{
	if (!service)
		return;
	(void)pthread_mutex_lock(&service->lock);
	service->ended = true;
	(void)pthread_cond_broadcast(&service->work);
	(void)pthread_cond_broadcast(&service->tick);
	(void)pthread_cond_broadcast(&service->pending.wake);
	(void)pthread_mutex_unlock(&service->lock);
	for (unsigned i = 0; i < service->n_workers; i++)
		(void)pthread_join(service->workers[i], NULL);
	if (service->keeping)
		(void)pthread_join(service->maintainer, NULL);
	if (service->scouting)
		(void)pthread_join(service->scout, NULL);
	if (service->watching)
		(void)pthread_join(service->watcher, NULL);
	dw_queue_forget(service);
	dw_approval_queue_finish(service);
	dw_conductor_free(service->conductor);
	dw_policy_unref(service->policy_reported);
	dw_approvals_close(service->approvals);
	free(service->approvals_path);
	dw_pool_free(service->pool);
	free(service->docker);
	dw_audit_close(service->audit);
	dw_quota_free(service->quota);
	dw_metrics_free(service->metrics);
	(void)pthread_cond_destroy(&service->pending.wake);
	(void)pthread_cond_destroy(&service->tick);
	(void)pthread_cond_destroy(&service->idle);
	(void)pthread_cond_destroy(&service->work);
	(void)pthread_mutex_destroy(&service->opening);
	(void)pthread_mutex_destroy(&service->lock);
	free(service);
}

bool dw_service_draining(const struct dw_service *service)
{
	return service->draining;
}

/* Report ready again after AUDIT_DOWN_MS: a load balancer sends nothing to an unready daemon. */
static bool is_audit_down(const struct dw_service *service)
{
	uint64_t since = service->audit_down_ms;

	return since > 0 && dw_now_ms() - since < AUDIT_DOWN_MS;
}

bool dw_service_ready(const struct dw_service *service, struct dw_error *err)
{
	bool down = is_audit_down(service);

	if (service->draining)
		(void)dw_fail(err, DW_E_BUSY, 0, "the daemon is stopping");
	else if (down)
		(void)dw_fail(err, DW_E_INTERNAL, 0, "cannot write the audit record");
	return !service->draining && !down;
}

struct dw_metrics *dw_service_metrics(struct dw_service *service)
{
	return service->metrics;
}

unsigned dw_service_keep_s(struct dw_service *service)
{
	unsigned s;

	/* Take the lock, since a reload of the config replaces the value. */
	(void)pthread_mutex_lock(&service->lock);
	s = service->keep.s;
	(void)pthread_mutex_unlock(&service->lock);
	return s;
}
