/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar serve: hand over to dewar-serve. It has libraries that a static program
 * cannot have, and `dewar run` must not pay for.
 */
#include "cli/command.h"
#include "cli/exec_helper.h"

struct settings {
	const char *listen;
	const char *socket;
	const char *state;
	const char *config;
	const char *policy;
	bool check;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct dw_option where_options[] = {
	{
		.name = "listen",
		.arg = "ADDRESS:PORT",
		.help = "Listen there; 127.0.0.1:7443 by default, and port 0 is any",
		.take = dw_take_text,
		.field = FIELD(listen),
	},
	{
		.name = "socket",
		.arg = "PATH",
		.help = "Listen on a unix socket, of this user alone",
		.take = dw_take_text,
		.field = FIELD(socket),
		.fits = DW_FITS_FILE,
	},
	{
		.name = "state",
		.arg = "DIR",
		.help = "Keep keys and the audit record there",
		.take = dw_take_text,
		.field = FIELD(state),
		.fits = DW_FITS_FOLDER,
	},
	{0},
};

static const struct dw_option config_options[] = {
	{
		.name = "config",
		.arg = "FILE",
		.help = "Read settings from this YAML file; SIGHUP reads it again",
		.take = dw_take_text,
		.field = FIELD(config),
		.fits = DW_FITS_FILE,
	},
	{
		.name = "policy",
		.arg = "NAME|FILE",
		.help = "The policy, before the config's: open, standard, strict, or a file",
		.take = dw_take_text,
		.field = FIELD(policy),
		.fits = DW_FITS_FILE,
	},
	{
		.name = "check-config",
		.help = "Say whether the settings make sense, and serve nothing",
		.take = dw_take_flag,
		.field = FIELD(check),
	},
	{0},
};

static const struct dw_option_group where = {"Where", where_options};
static const struct dw_option_group config = {"Settings", config_options};

static void fill(struct dw_helper *hand, const void *settings)
{
	const struct settings *set = settings;

	dw_helper_add(hand, "listen", set->listen);
	dw_helper_add(hand, "socket", set->socket);
	dw_helper_add(hand, "state", set->state);
	dw_helper_add(hand, "config", set->config);
	dw_helper_add(hand, "policy", set->policy);
	dw_helper_add(hand, "check", set->check ? "1" : NULL);
}

static int serve(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};

	return dw_helper_command(cmd, argc, argv, "dewar-serve", &set, fill);
}

const struct dw_command dw_command_serve = {
	.name = "serve",
	.summary = "Run code for others: an HTTP and MCP server with warm cells",
	.usage = {"[--listen ADDRESS:PORT] [--socket PATH] [--state DIR] [--config FILE]",
                  "--check-config [--config FILE] [--policy NAME|FILE]"},
	.example = {"dewar serve", "dewar serve --config /etc/dewar/dewar.yaml",
                    "dewar serve --socket /run/user/1000/dewar.sock"},
	.groups = {&where, &config},
	.fits = DW_FITS_NOTHING,
	.run = serve,
};
