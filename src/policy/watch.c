/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "policy/policy_own.h"

#define EVERY_MS 1000U

struct dw_policy_watch {
	pthread_mutex_t lock;
	char *path; /* NULL: a profile, which never changes */
	struct dw_policy *policy;
	struct stat seen; /* all zeroes: the file was missing */
	uint64_t looked_ms;
	struct dw_error problem; /* an error that no caller has got yet */
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Read the file; *ret_st is zeroed if it is missing. */
static int read_now(const char *path, struct stat *ret_st, struct dw_policy **ret,
                    struct dw_error *err)
{
	autofree char *text = NULL;
	struct stat st = {0};
	size_t len = 0;
	int r;

	r = dw_yaml_read_file("policy", path, &st, &text, &len, err);
	*ret_st = st;
	return r < 0 ? -1 : dw_policy_parse(path, text, len, ret, err);
}

int dw_policy_watch_open(const char *name, struct dw_policy_watch **ret,
                         struct dw_error *err)
{
	struct dw_policy_watch *watch = calloc(1, sizeof(*watch));
	int r;

	if (!name)
		name = dw_policy_default();
	if (!watch)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the policy %s",
		               name);
	(void)pthread_mutex_init(&watch->lock, NULL);
	watch->looked_ms = dw_now_ms();
	if (!dw_policy_is_file(name)) {
		r = dw_policy_load(name, &watch->policy, err);
	} else {
		watch->path = strdup(name);
		r = watch->path ? read_now(name, &watch->seen, &watch->policy, err)
		                : dw_fail(err, DW_E_INTERNAL, ENOMEM,
		                          "cannot read the policy %s", name);
	}
	if (r < 0) {
		dw_policy_watch_close(watch);
		return -1;
	}
	*ret = watch;
	return 0;
}

void dw_policy_watch_close(struct dw_policy_watch *watch)
{
	if (!watch)
		return;
	(void)pthread_mutex_destroy(&watch->lock);
	dw_policy_unref(watch->policy);
	free(watch->path);
	free(watch);
}

static int look(struct dw_policy_watch *watch, struct dw_error *err)
{
	struct dw_policy *policy = NULL;
	struct stat st;

	watch->looked_ms = dw_now_ms();
	if (!watch->path)
		return 0;
	if (stat(watch->path, &st) < 0)
		st = (struct stat){0};
	if (is_same(&st, &watch->seen))
		return 0;
	if (read_now(watch->path, &watch->seen, &policy, err) < 0)
		return -1;
	dw_policy_unref(watch->policy);
	watch->policy = policy;
	return 1;
}

int dw_policy_watch_look(struct dw_policy_watch *watch, struct dw_error *err)
{
	int r;

	(void)pthread_mutex_lock(&watch->lock);
	r = look(watch, err);
	/* An earlier problem no longer applies. */
	if (r != 0)
		watch->problem = (struct dw_error){0};
	(void)pthread_mutex_unlock(&watch->lock);
	return r;
}

struct dw_policy *dw_policy_watch_get(struct dw_policy_watch *watch,
                                      struct dw_error *ret_problem)
{
	struct dw_error err = {0};
	struct dw_policy *policy;
	int r = 0;

	(void)pthread_mutex_lock(&watch->lock);
	if (watch->path && dw_now_ms() - watch->looked_ms >= EVERY_MS)
		r = look(watch, &err);
	if (r != 0)
		watch->problem = err;
	if (ret_problem) {
		*ret_problem = watch->problem;
		watch->problem = (struct dw_error){0};
	}
	policy = dw_policy_ref(watch->policy);
	(void)pthread_mutex_unlock(&watch->lock);
	return policy;
}
