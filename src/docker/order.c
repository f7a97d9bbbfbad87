/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/guest.h"

static const char *text_of(const json_t *root, const char *key)
{
	return json_string_value(json_object_get(root, key));
}

static uint64_t number_of(const json_t *root, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(root, key));

	return n > 0 ? (uint64_t)n : 0;
}

int dw_docker_order_read(struct dw_docker_order *o, int json_fd, int plan_fd,
                         struct dw_error *err)
{
	size_t len = 0;
	char *text = dw_report_map(json_fd, &len);
	void *plan;

	o->root = text ? json_loadb(text, len, 0, NULL) : NULL;
	if (!o->root)
		return dw_fail(err, DW_E_INTERNAL, 0, "only dewar starts dewar-docker");
	o->sockets = json_object_get(o->root, "sockets");
	o->body = json_object_get(o->root, "body");
	o->id = text_of(o->root, "id");
	o->image = text_of(o->root, "image");
	o->pull = text_of(o->root, "pull");
	o->runtime = text_of(o->root, "runtime");
	o->folder = text_of(o->root, "folder");
	o->deadline_ms = number_of(o->root, "deadline_ms");
	o->asked[DW_DOCKER_MEMORY] = number_of(o->root, "memory");
	o->asked[DW_DOCKER_CPU] = number_of(o->root, "cpu");
	o->asked[DW_DOCKER_PIDS] = number_of(o->root, "pids");
	o->tmp_bytes = number_of(o->root, "tmp");
	o->cpu_ms = number_of(o->root, "cpu_ms");
	o->probe = json_is_true(json_object_get(o->root, "probe"));
	o->strict = json_is_true(json_object_get(o->root, "strict"));
	o->no_network = json_is_true(json_object_get(o->root, "no_network"));
	o->wait_ms = number_of(o->root, "wait_ms");
	if (o->probe || o->wait_ms != 0)
		return 0;
	plan = dw_report_map(plan_fd, &len);
	if (!plan || !o->id || !o->image || !o->pull || !json_is_object(o->body))
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "the order for dewar-docker is incomplete");
	return dw_plan_read(plan, len, &o->plan, err);
}

static void add_strings(struct dw_buf *buf, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (text)
			(void)dw_buf_add(buf, text, strlen(text) + 1);
	}
}

/* The guest samples each limit that no cgroup enforces. */
static void add_samples(const struct dw_docker_order *o,
                        const struct dw_docker_enforced *enforced,
                        struct dw_plan_header *h)
{
	if (enforced[DW_DOCKER_MEMORY].version == 0) {
		h->flags |= DW_PLAN_SAMPLE_MEMORY;
		h->memory = o->asked[DW_DOCKER_MEMORY];
	}
	if (enforced[DW_DOCKER_PIDS].version == 0) {
		h->flags |= DW_PLAN_SAMPLE_PIDS;
		h->pids = o->asked[DW_DOCKER_PIDS];
	}
	if (enforced[DW_DOCKER_CPU].version == 0) {
		h->flags |= DW_PLAN_SAMPLE_CPU;
		h->cpu_ms = o->cpu_ms;
	}
}

static void add_plan(const struct dw_docker_order *o,
                     const struct dw_docker_enforced *enforced, struct dw_buf *ret)
{
	const struct dw_plan *plan = &o->plan;
	struct dw_plan_header h = *plan->h;
	uint64_t data = 0;

	/* The files' data is at the end of the blob; the guest gets it separately. */
	h.n_entries = 0;
	for (uint32_t i = 0; i < plan->h->n_entries; i++)
		if (plan->entries[i].op == DW_PLAN_FILE)
			data += plan->entries[i].size;
		else
			h.n_entries++;
	h.blob = (uint32_t)(h.blob - data);
	h.size = (uint32_t)(sizeof(h) + h.n_entries * sizeof(*plan->entries) +
	                    (h.n_argv + h.n_env) * sizeof(uint32_t) + h.blob);
	add_samples(o, enforced, &h);
	(void)dw_buf_add(ret, &h, sizeof(h));
	for (uint32_t i = 0; i < plan->h->n_entries; i++)
		if (plan->entries[i].op != DW_PLAN_FILE)
			(void)dw_buf_add(ret, &plan->entries[i], sizeof(*plan->entries));
	(void)dw_buf_add(ret, plan->argv, h.n_argv * sizeof(uint32_t));
	(void)dw_buf_add(ret, plan->env, h.n_env * sizeof(uint32_t));
	(void)dw_buf_add(ret, plan->blob, h.blob);
}

int dw_docker_order_write(const struct dw_docker_order *o,
                          const struct dw_docker_enforced *enforced, struct dw_buf *ret,
                          struct dw_error *err)
{
	struct dw_guest_order header = {
		.flags = o->no_network ? DW_GUEST_NO_NETWORK : 0,
		.tmp_bytes = o->tmp_bytes,
	};
	size_t start = ret->len, at;

	(void)dw_buf_add(ret, &header, sizeof(header));
	at = ret->len;
	add_plan(o, enforced, ret);
	header.plan = (uint32_t)(ret->len - at);
	at = ret->len;
	add_strings(ret, json_object_get(o->root, "needs"));
	header.needs = (uint32_t)(ret->len - at);
	at = ret->len;
	add_strings(ret, json_object_get(o->root, "collect"));
	header.collect = (uint32_t)(ret->len - at);
	if (ret->failed)
		return dw_fail(err, DW_E_INVALID, E2BIG,
		               "cannot fit the request into an order for the container");
	memcpy(ret->data + start, &header, sizeof(header));
	return 0;
}
