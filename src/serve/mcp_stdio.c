/* SPDX-License-Identifier: Apache-2.0 */
/* `dewar mcp`: runs the daemon's service for one client, the program that started it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "approvals/approvals.h"
#include "audit/audit.h"
#include "base/account.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/service.h"
#include "mcp/mcp.h"
#include "serve/serve_own.h"

#define EXIT_OURS 125

/*
 * Move the protocol's descriptors away from 0 and 1, so that no other code reads or
 * writes them by mistake. After that, 0 is /dev/null and 1 is standard error.
 */
static int take_stdio(int *ret_in, int *ret_out, struct dw_error *err)
{
	autoclose int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	autoclose int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (in < 0 || out < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot set up standard input and output");
	*ret_in = TAKE_FD(in);
	*ret_out = TAKE_FD(out);
	return 0;
}

static int stop_signals(int *ret_fd, struct dw_error *err)
{
	sigset_t signals;

	dw_serve_block_signals(&signals);
	*ret_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	return *ret_fd < 0
	               ? dw_fail(err, DW_E_INTERNAL, errno, "cannot create a signalfd")
	               : 0;
}

/* The default is the user's record, to which `dewar run` writes as well. */
static int find_audit(const struct dw_mcp_settings *set, const struct dw_config *config,
                      char ret[DW_AUDIT_PATH_MAX], struct dw_error *err)
{
	const char *path = set->audit;

	if (!path)
		path = config->audit.path;
	if (!path)
		return dw_audit_default_path(ret, err);
	(void)snprintf(ret, DW_AUDIT_PATH_MAX, "%s", path);
	return 0;
}

static int talk(struct dw_service *service, const struct dw_config *config, int in,
                int out, int stop, struct dw_error *err)
{
	struct dw_mcp *mcp = dw_mcp_create(service);
	struct dw_caller caller = {.grant = config->local};
	int r;

	dw_account_who(getuid(), caller.who, sizeof(caller.who));
	r = mcp ? dw_mcp_stdio(mcp, &caller, in, out, stop, err)
	        : dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot serve MCP");
	dw_service_drain(service, dw_now_ms());
	dw_mcp_free(mcp);
	return r;
}

static int run(const struct dw_mcp_settings *set, const struct dw_config *config,
               struct dw_error *err)
{
	autoclose int in = -1, out = -1, stop = -1;
	struct dw_service *service = NULL;
	char audit[DW_AUDIT_PATH_MAX], approvals[DW_APPROVALS_PATH_MAX];
	const struct dw_service_files files = {.audit = audit, .approvals = approvals};
	int r;

	dw_log_setup(config->log_level, config->log_format);
	if (stop_signals(&stop, err) < 0 || take_stdio(&in, &out, err) < 0 ||
	    find_audit(set, config, audit, err) < 0 ||
	    dw_approvals_path(config->state, approvals, err) < 0 ||
	    dw_service_new(config, &files, &service, err) < 0)
		return -1;
	dw_log(DW_LOG_INFO, "mcp.ready", "transport", "stdio", "audit", audit, NULL);
	r = talk(service, config, in, out, stop, err);
	dw_service_free(service);
	return r;
}

static int take_policy(const struct dw_mcp_settings *set, struct dw_config *config,
                       struct dw_error *err)
{
	const char *policy = set->policy;

	if (!policy)
		return 0;
	free(config->policy);
	config->policy = strdup(policy);
	return config->policy ? 0
	                      : dw_fail(err, DW_E_INTERNAL, ENOMEM,
	                                "cannot read the configuration");
}

int dw_mcp_main(const struct dw_mcp_settings *set)
{
	struct dw_config *config = NULL;
	struct dw_error err = {0};
	int r;

	r = dw_config_load(set->config, &config, &err);
	if (r == 0)
		r = take_policy(set, config, &err);
	if (r == 0)
		r = run(set, config, &err);
	dw_config_free(config);
	if (r == 0)
		return 0;
	(void)fprintf(stderr, "dewar: %s\n", err.text);
	return EXIT_OURS;
}
