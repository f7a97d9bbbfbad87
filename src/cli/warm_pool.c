/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/foreground.h"

#include <string.h>

#include "dewar/dewar.h"
#include "run/request_check.h"

#define WARM_UP_MS 60000U

/*
 * Returns the template that the request names, or the default template of its language;
 * NULL if it cannot be warm.
 */
static const struct dw_template_config *find(const struct dw_request *req)
{
	size_t n;
	const struct dw_template_config *all = dw_pool_templates(&n);
	const char *name = req->template;

	if (!name && req->command)
		name = "sh";
	else if (!name && req->language)
		name = dw_language_name(req->language);

	/* If no requested level can fork, a pool would only cost time. */
	if (!dw_request_may_have(req, DW_G_FORK))
		return NULL;
	for (size_t i = 0; name && i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

/* Create a pool with one standby container that fits the request. */
static int pool_of_containers(const struct dw_request *req, struct dw_pool **ret_pool,
                              struct dw_error *err)
{
	static const struct dw_template_config none;
	const struct dw_docker_config docker = {.like = req, .standby = 1};
	struct dw_pool_config config = {
		.templates = &none,
		.docker = &docker,
		.n_docker = 1,
	};
	struct dw_error why = {0};

	if (dw_pool_new(&config, ret_pool, err) < 0)
		return -1;
	if (dw_pool_warm_up(*ret_pool, DW_POOL_DOCKER, 1, WARM_UP_MS, &why) < 0) {
		dw_pool_free(*ret_pool);
		*ret_pool = NULL;
	}
	return 0;
}

int dw_warm_pool(const struct dw_run_settings *set, const struct dw_request *req,
                 struct dw_pool **ret_pool, struct dw_error *err)
{
	const struct dw_template_config *template = find(req);
	bool standby = strcmp(set->warm, "standby") == 0;
	struct dw_template_config with_image;
	struct dw_pool_config config = {
		.templates = &with_image,
		.n_templates = 1,
		.fork_only = !standby,
	};
	struct dw_error why = {0};

	*ret_pool = NULL;
	if (standby && req->level && !req->program &&
	    (dw_level_guarantees(req->level) & DW_G_ENGINE))
		return pool_of_containers(req, ret_pool, err);
	if (!template)
		return 0;
	with_image = *template;
	with_image.image = req->image;
	if (dw_pool_new(&config, ret_pool, err) < 0)
		return -1;
	/* If the template cannot be warm, the run is cold. */
	if (dw_pool_warm_up(*ret_pool, template->name, standby, WARM_UP_MS, &why) < 0) {
		dw_pool_free(*ret_pool);
		*ret_pool = NULL;
	}
	return 0;
}
