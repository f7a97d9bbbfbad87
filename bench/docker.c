/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure containers, in turns: started by the engine's own command, at level docker, and
 * at level docker with a container on standby. All use the same image and limits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench/bench.h"
#include "dewar/dewar.h"

#define TRIALS 2
#define ROUNDS_MAX 30U /* a container takes about a second */
#define WARM_UP_MS 60000U
#define IMAGE "python:3.11-slim"

enum {
	BY_COMMAND,
	PLAIN,
	WARM,
	N_METHODS
};

static const struct {
	const char *name, *title;
	double bar;
} methods[N_METHODS] = {
	[BY_COMMAND] = {"bare-docker", "print(1): docker run", 0},
	[PLAIN] = {"docker", "print(1): level docker", 1.1},
	[WARM] = {"docker-warm", "print(1): level docker, on standby", 1.0 / 3},
};

struct containers {
	const struct dw_bench *b;
	struct dw_request req;
	struct dw_pool *pool;
	char command[64];
	char host[256];
	struct dw_bench_row *row[N_METHODS]; /* NULL: not selected */
	struct dw_samples samples[N_METHODS];
};

static int find_command(struct containers *c, struct dw_error *err)
{
	static const char *const paths[] = {"/usr/bin/docker", "/usr/local/bin/docker",
	                                    "/usr/bin/podman"};
	const char *host = getenv("DOCKER_HOST");

	(void)snprintf(c->host, sizeof(c->host), "%s",
	               host && *host ? host : "unix:///var/run/docker.sock");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		(void)snprintf(c->command, sizeof(c->command), "%s", paths[i]);
		if (access(c->command, X_OK) == 0)
			return 0;
	}
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "no docker command is installed");
}

static int run_command(const struct containers *c, double *ret_ms, struct dw_error *err)
{
	const char *const argv[] = {c->command,
	                            "-H",
	                            c->host,
	                            "run",
	                            "--rm",
	                            "--network=none",
	                            "--read-only",
	                            "--tmpfs=/tmp:size=64m",
	                            "--user=65534:65534",
	                            "--cap-drop=ALL",
	                            "--security-opt=no-new-privileges",
	                            "--memory=256m",
	                            "--memory-swap=256m",
	                            "--cpus=0.5",
	                            "--pids-limit=64",
	                            "--ulimit=nofile=4096:4096",
	                            "--ulimit=nproc=32768:32768",
	                            IMAGE,
	                            "python3",
	                            "-c",
	                            "print(1)",
	                            NULL};
	const struct dw_bench_workload workload = {.argv = argv,
	                                           .cancel_fd = c->b->cancel_fd};

	return dw_bench_run(&workload, ret_ms, err);
}

static int run_level(const struct containers *c, bool warm, double *ret_ms,
                     struct dw_error *err)
{
	struct dw_result *res = NULL;
	uint64_t start = dw_bench_now_ns();
	int r = warm ? dw_pool_run(c->pool, &c->req, &res, err)
	             : dw_run(&c->req, &res, err);

	*ret_ms = (double)(dw_bench_now_ns() - start) / 1e6;
	if (r == 0 && res->status != DW_STATUS_SUCCESS)
		r = dw_fail(err, DW_E_INTERNAL, 0, "a run ended as %s: %.160s",
		            dw_reason_name(res->reason), res->hint);
	else if (r == 0 && res->warm != warm)
		r = dw_fail(err, DW_E_INTERNAL, 0, "a run was not warm");
	dw_result_free(res);
	return r;
}

static int once(const struct containers *c, int method, double *ret_ms,
                struct dw_error *err)
{
	if (method == BY_COMMAND)
		return run_command(c, ret_ms, err);
	/* Starting the next container is not part of any measured time. */
	if (c->pool && method == WARM &&
	    dw_pool_warm_up(c->pool, DW_POOL_DOCKER, 1, WARM_UP_MS, err) < 0)
		return -1;
	return run_level(c, method == WARM, ret_ms, err);
}

static int open_pool(struct containers *c, struct dw_error *err)
{
	static const struct dw_template_config none;
	const struct dw_docker_config docker = {.like = &c->req, .standby = 1};
	const struct dw_pool_config config = {
		.templates = &none,
		.docker = &docker,
		.n_docker = 1,
	};

	return dw_pool_new(&config, &c->pool, err);
}

static void skip_all(const struct containers *c, const char *why)
{
	for (int i = 0; i < N_METHODS; i++)
		if (c->row[i])
			dw_bench_skip(c->row[i], why);
}

static bool get_ready(struct containers *c)
{
	struct dw_error err = {0};
	double ms;

	if (dw_level_probe("docker", &err) < 0 || find_command(c, &err) < 0 ||
	    (c->row[WARM] && open_pool(c, &err) < 0)) {
		skip_all(c, err.text);
		return false;
	}
	for (int i = 0; i < N_METHODS * TRIALS; i++)
		if (c->row[i % N_METHODS] && once(c, i % N_METHODS, &ms, &err) < 0) {
			skip_all(c, err.text);
			return false;
		}
	return true;
}

static void measure(struct containers *c, int method)
{
	struct dw_error err = {0};
	double ms = 0;

	if (!c->row[method] || dw_bench_stopped(c->b))
		return;
	if (once(c, method, &ms, &err) == 0)
		(void)dw_samples_add(&c->samples[method], ms);
	else if (c->row[method]->failed++ == 0)
		dw_bench_note(c->row[method], "%s", err.text);
}

static void conclude(struct containers *c)
{
	double bare;

	for (int i = 0; i < N_METHODS; i++) {
		if (!c->row[i])
			continue;
		dw_bench_times(c->row[i], &c->samples[i]);
		bare = c->row[BY_COMMAND]->p50_ms;
		c->row[i]->ratio_to_bare = c->row[i]->p50_ms / bare;
		if (methods[i].bar > 0)
			dw_bench_check(c->row[i],
			               &(struct dw_bench_check){
					       .what = "p50 / docker run p50",
					       .unit = "x",
					       .value = c->row[i]->ratio_to_bare,
					       .bar = methods[i].bar,
					       .aim = NAN,
				       });
	}
}

void dw_bench_docker(struct dw_bench *b)
{
	struct containers c = {.b = b};
	uint64_t rounds = b->rounds < ROUNDS_MAX ? b->rounds : ROUNDS_MAX;
	bool any = false;

	dw_request_init(&c.req);
	c.req.language = "python";
	c.req.level = "docker";
	c.req.image = IMAGE;
	c.req.pull = DW_PULL_NEVER;
	c.req.code = (struct dw_bytes){"print(1)", 8};
	c.req.cancel_fd = b->cancel_fd;
	for (int i = 0; i < N_METHODS; i++)
		any = any || dw_bench_is_selected(b, methods[i].name);
	if (!any)
		return;
	for (int i = 0; i < N_METHODS; i++) {
		/* Always measure the first method: the others are compared with it. */
		if (i != BY_COMMAND && !dw_bench_is_selected(b, methods[i].name))
			continue;
		c.row[i] = dw_bench_add(b, methods[i].name, methods[i].title);
		c.row[i]->bare = i == BY_COMMAND ? NULL : methods[BY_COMMAND].name;
	}
	dw_bench_progress(b, "preparing: containers");
	if (get_ready(&c)) {
		for (uint64_t round = 0; round < rounds && !dw_bench_stopped(b);
		     round++) {
			dw_bench_progress(b, "containers, round %llu of %llu",
			                  (unsigned long long)round + 1,
			                  (unsigned long long)rounds);
			for (int i = 0; i < N_METHODS; i++)
				measure(&c, i);
		}
		conclude(&c);
	}
	dw_pool_free(c.pool);
	for (int i = 0; i < N_METHODS; i++)
		dw_samples_finish(&c.samples[i]);
}
