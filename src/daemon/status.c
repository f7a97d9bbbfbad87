/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "daemon/service_own.h"

static void gauge(struct dw_buf *ret, const char *name, const char *help, double value)
{
	(void)dw_buf_printf(ret, "# HELP %s %s\n# TYPE %s gauge\n%s %.9g\n", name, help,
	                    name, name, value);
}

/* Returns the resident memory of this process, without its cells. */
static double own_memory(void)
{
	char text[128], *rest = text;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) < 0)
		return 0;
	(void)strtoul(text, &rest, 10); /* skip the first field, the mapped size */
	return (double)strtoul(rest, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

static void print_pool(struct dw_pool *pool, struct dw_buf *ret)
{
	struct dw_template_stats stats;

	(void)dw_buf_puts(ret,
	                  "# HELP dewar_pool_runs_total Runs of templates, by how their cell "
	                  "started.\n# TYPE dewar_pool_runs_total counter\n");
	for (size_t i = 0; i < dw_pool_count(pool); i++) {
		dw_pool_stats(pool, i, &stats);
		(void)dw_buf_printf(
			ret,
			"dewar_pool_runs_total{template=\"%s\",way=\"standby\"} %llu\n"
			"dewar_pool_runs_total{template=\"%s\",way=\"fork\"} %llu\n"
			"dewar_pool_runs_total{template=\"%s\",way=\"cold\"} %llu\n",
			stats.name, (unsigned long long)stats.runs_standby, stats.name,
			(unsigned long long)stats.runs_forked, stats.name,
			(unsigned long long)stats.runs_cold);
	}
	(void)dw_buf_puts(ret, "# HELP dewar_pool_standby Standby cells.\n"
	                       "# TYPE dewar_pool_standby gauge\n");
	for (size_t i = 0; i < dw_pool_count(pool); i++) {
		dw_pool_stats(pool, i, &stats);
		(void)dw_buf_printf(ret, "dewar_pool_standby{template=\"%s\"} %u\n",
		                    stats.name, stats.standby);
	}
}

void dw_service_print(struct dw_service *service, struct dw_buf *ret)
{
	double waiting, running, pending, kept, kept_bytes;

	(void)pthread_mutex_lock(&service->lock);
	waiting = (double)dw_quota_waiting(service->quota);
	running = (double)dw_quota_running(service->quota);
	pending = (double)service->pending.n;
	kept = (double)service->kept;
	kept_bytes = (double)service->kept_bytes;
	(void)pthread_mutex_unlock(&service->lock);

	gauge(ret, "dewar_queue_length", "Queued runs.", waiting);
	gauge(ret, "dewar_running", "Runs in progress.", running);
	gauge(ret, "dewar_pending", "Runs that wait for approval.", pending);
	gauge(ret, "dewar_results_kept", "Results that can still be fetched.", kept);
	gauge(ret, "dewar_results_kept_bytes", "Memory of the kept results.", kept_bytes);
	gauge(ret, "dewar_memory_bytes", "Memory of the daemon itself (RSS).",
	      own_memory());
	if (service->pool)
		print_pool(service->pool, ret);
	dw_metrics_print(service->metrics, ret);
}
