/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dewar serve`: executes dewar-serve, which links libraries that a static program cannot
 * link, and that would slow down the start of `dewar run`.
 */
#include "cli/command.h"
#include "cli/exec_helper.h"
#include "cli/serve_settings.h"

#define FIELD(name) offsetof(struct dw_serve_settings, name)

static const struct dw_option where_options[] = {
	DW_OPTION("listen", "ADDRESS:PORT", dw_take_text, FIELD(listen),
                  "Listen on this address (default 127.0.0.1:7443; port 0: any free)"),
	DW_OPTION("socket", "PATH", dw_take_text, FIELD(socket),
                  "Listen on a unix socket that only this user can reach",
                  .fits = DW_FITS_FILE),
	DW_OPTION("state", "DIR", dw_take_text, FIELD(state),
                  "State folder: keys, approvals and the audit record",
                  .fits = DW_FITS_FOLDER),
	{0},
};

static const struct dw_option config_options[] = {
	DW_OPTION("config", "FILE", dw_take_text, FIELD(config),
                  "Read the configuration from this YAML file; SIGHUP reloads it",
                  .fits = DW_FITS_FILE),
	DW_OPTION("policy", "NAME|FILE", dw_take_text, FIELD(policy),
                  "Policy, instead of the config's: open, standard, strict, or a file",
                  .fits = DW_FITS_FILE),
	DW_OPTION_FLAG("check-config", FIELD(check), "Check the configuration and exit"),
	{0},
};

static const struct dw_option_group where = {"Where", where_options};
static const struct dw_option_group config = {"Settings", config_options};

const struct dw_command dw_command_serve = {
	.name = "serve",
	.summary = "Start the daemon: an HTTP and MCP server with warm cells",
	.usage = {"[--listen ADDRESS:PORT] [--socket PATH] [--state DIR] [--config FILE]",
                  "--check-config [--config FILE] [--policy NAME|FILE]"},
	.example = {"dewar serve", "dewar serve --config /etc/dewar/dewar.yaml",
                    "dewar serve --socket /run/user/1000/dewar.sock"},
	.groups = {&where, &config},
	.fits = DW_FITS_NOTHING,
	.run = dw_helper_serve,
};
