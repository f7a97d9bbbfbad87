/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/lock.h"
#include "dewar/dewar.h"
#include "mcp/call.h"
#include "mcp/mcp_own.h"

/* How long a client may cache the lists, which change only with the program. */
#define LIST_TTL_MS 300000

/* Clients drop a silent call after about a minute, some sooner. */
#define KEEPALIVE_MS 5000

static const char instructions[] =
	"Dewar runs code and shell commands, each call in a new sandbox. Files, "
	"variables and processes do not persist between calls: send all files that a "
	"program needs in `files`, and list those to return in `collect`. The working "
	"folder is /tmp. There is no network unless you request it.";

struct dw_mcp *dw_mcp_create(struct dw_service *service)
{
	struct dw_mcp *mcp = calloc(1, sizeof(*mcp));

	if (!mcp)
		return NULL;
	mcp->service = service;
	mcp->keepalive = dw_mcp_keepalive_create(KEEPALIVE_MS);
	if (mcp->keepalive)
		return mcp;
	free(mcp);
	return NULL;
}

void dw_mcp_free(struct dw_mcp *mcp)
{
	if (!mcp)
		return;
	dw_mcp_keepalive_free(mcp->keepalive);
	free(mcp);
}

struct dw_mcp_peer *dw_mcp_peer_create(struct dw_mcp *mcp, const struct dw_caller *caller)
{
	struct dw_mcp_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->mcp = mcp;
	peer->caller = *caller;
	peer->refs = 1;
	memcpy(peer->version, DW_MCP_LEGACY_NEWEST, sizeof(DW_MCP_LEGACY_NEWEST));
	(void)pthread_mutex_init(&peer->lock, NULL);
	return peer;
}

size_t dw_mcp_peer_busy(struct dw_mcp_peer *peer)
{
	HOLD_LOCK(&peer->lock);
	return peer->n_calls;
}

/* ---- the handshake ---- */

static json_t *capabilities(bool modern)
{
	json_t *object = json_pack("{s:{}, s:{}}", "tools", "resources");

	if (object && dw_mcp_extra.capabilities)
		dw_mcp_extra.capabilities(object, modern);
	return object;
}

static void serve_initialize(struct dw_mcp_call *call, json_t *params)
{
	struct dw_mcp_peer *peer = dw_mcp_call_peer(call);
	const char *asked = dw_mcp_text(params, "protocolVersion");
	json_t *client = json_object_get(params, "capabilities");
	json_t *before;
	const char *version;
	json_t *result;

	if (!asked || !json_is_object(client)) {
		dw_mcp_call_fail(call, DW_MCP_PARAMS, 400,
		                 "initialize needs protocolVersion and capabilities");
		return;
	}
	version = dw_mcp_is_legacy(asked) ? asked : DW_MCP_LEGACY_NEWEST;

	(void)pthread_mutex_lock(&peer->lock);
	memcpy(peer->version, version, strlen(version) + 1);
	before = peer->client;
	peer->client = json_incref(client);
	(void)pthread_mutex_unlock(&peer->lock);
	json_decref(before);

	result = json_pack("{s:s, s:o, s:{s:s, s:s}}", "protocolVersion", version,
	                   "capabilities", capabilities(false), "serverInfo", "name",
	                   "dewar", "version", dw_version());
	if (result)
		(void)json_object_set_new(result, "instructions",
		                          json_string(instructions));
	if (result && strcmp(version, DW_MCP_2025_06_18) >= 0)
		(void)json_object_set_new(json_object_get(result, "serverInfo"), "title",
		                          json_string("Dewar"));
	dw_mcp_call_answer(call, result);
}

static void serve_discover(struct dw_mcp_call *call, json_t *params)
{
	(void)params;
	dw_mcp_call_answer_cached(call,
	                          json_pack("{s:[s], s:o, s:s}", "supportedVersions",
	                                    DW_MCP_2026_07_28, "capabilities",
	                                    capabilities(true), "instructions",
	                                    instructions),
	                          LIST_TTL_MS, true);
}

static void serve_ping(struct dw_mcp_call *call, json_t *params)
{
	(void)params;
	dw_mcp_call_answer(call, json_object());
}

/* ---- lists ---- */

/* A list has one page, so there are no cursors. */
static void answer_list(struct dw_mcp_call *call, const json_t *params, const char *key,
                        json_t *list)
{
	json_t *result = json_pack("{s:o}", key, list);

	if (json_object_get(params, "cursor")) {
		json_decref(result);
		dw_mcp_call_fail(call, DW_MCP_PARAMS, 200, "unknown cursor");
	} else {
		dw_mcp_call_answer_cached(call, result, LIST_TTL_MS, true);
	}
}

static void serve_tools(struct dw_mcp_call *call, json_t *params)
{
	answer_list(call, params, "tools", dw_mcp_tools_list(call));
}

static void serve_resources(struct dw_mcp_call *call, json_t *params)
{
	answer_list(call, params, "resources", dw_mcp_resources_list());
}

static void serve_templates(struct dw_mcp_call *call, json_t *params)
{
	answer_list(call, params, "resourceTemplates", dw_mcp_resources_templates());
}

/* ---- the methods ---- */

static const struct dw_mcp_method methods[] = {
	{"initialize", DW_MCP_LEGACY, serve_initialize},
	{"ping", DW_MCP_LEGACY, serve_ping},
	{"server/discover", DW_MCP_MODERN, serve_discover},
	{"tools/list", DW_MCP_BOTH, serve_tools},
	{"tools/call", DW_MCP_BOTH, dw_mcp_tools_call},
	{"resources/list", DW_MCP_BOTH, serve_resources},
	{"resources/templates/list", DW_MCP_BOTH, serve_templates},
	{"resources/read", DW_MCP_BOTH, dw_mcp_resources_read},
	{0},
};

static const struct dw_mcp_method *find(const struct dw_mcp_method *table,
                                        const char *name, unsigned era)
{
	for (; table && table->name; table++)
		if ((table->eras & era) && strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

int dw_mcp_check_meta(const struct dw_mcp_message *msg, struct dw_mcp_problem *why)
{
	if (!msg->meta)
		return dw_mcp_refuse(why, DW_MCP_PARAMS, 400, NULL,
		                     "params._meta is missing");
	if (!msg->version)
		return dw_mcp_refuse(why, DW_MCP_PARAMS, 400, NULL,
		                     "_meta needs " DW_MCP_META "protocolVersion");
	if (!json_is_object(json_object_get(msg->meta, DW_MCP_META "clientCapabilities")))
		return dw_mcp_refuse(why, DW_MCP_PARAMS, 400, NULL,
		                     "_meta needs " DW_MCP_META "clientCapabilities");
	return 0;
}

int dw_mcp_check_version(const struct dw_mcp_message *msg, struct dw_mcp_problem *why)
{
	if (strcmp(msg->version, DW_MCP_2026_07_28) == 0)
		return 0;
	return dw_mcp_refuse(why, DW_MCP_VERSION, 400,
	                     json_pack("{s:[s], s:s}", "supported", DW_MCP_2026_07_28,
	                               "requested", msg->version),
	                     "revision %.32s is not supported without initialize",
	                     msg->version);
}

static void serve(struct dw_mcp_call *call)
{
	const struct dw_mcp_message *msg = dw_mcp_call_message(call);
	bool modern = dw_mcp_call_is_modern(call);
	unsigned era = modern ? DW_MCP_MODERN : DW_MCP_LEGACY;
	const struct dw_mcp_method *method = find(dw_mcp_extra.methods, msg->method, era);
	struct dw_mcp_problem why;

	if (modern &&
	    (dw_mcp_check_meta(msg, &why) < 0 || dw_mcp_check_version(msg, &why) < 0)) {
		dw_mcp_call_refuse(call, &why);
		return;
	}
	if (!method)
		method = find(methods, msg->method, era);
	if (!method) {
		dw_mcp_call_fail(call, DW_MCP_METHOD, 404, "unknown method \"%.64s\"",
		                 msg->method);
		return;
	}
	method->serve(call, msg->params);
}

void dw_mcp_peer_cancel(struct dw_mcp_peer *peer, const json_t *id)
{
	struct dw_mcp_call *call = id ? dw_mcp_call_find(peer, id) : NULL;

	/* The call may have ended already. */
	if (!call)
		return;
	dw_mcp_call_cancel(call);
	dw_mcp_call_unref(call);
}

/* Only revision 2025-03-26 has batches, and requires servers to accept them. */
static void take_batch(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                       const struct dw_mcp_sink *sink)
{
	struct dw_mcp_problem why;
	bool known;

	(void)pthread_mutex_lock(&peer->lock);
	known = strcmp(peer->version, DW_MCP_2025_03_26) == 0;
	(void)pthread_mutex_unlock(&peer->lock);
	if (known) {
		dw_mcp_batch_take(peer, msg, sink);
		return;
	}
	(void)dw_mcp_refuse(&why, DW_MCP_REQUEST, 400, NULL,
	                    "send one message at a time: only revision " DW_MCP_2025_03_26
	                    " has batches");
	dw_mcp_sink_send(sink, dw_mcp_error(NULL, &why), true, why.status);
	dw_mcp_message_free(msg);
	sink->done(sink->user);
}

void dw_mcp_peer_take(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                      const struct dw_mcp_sink *sink)
{
	struct dw_mcp_call *call;

	if (msg->kind == DW_MCP_IS_BATCH) {
		take_batch(peer, msg, sink);
		return;
	}
	if (msg->kind == DW_MCP_IS_REQUEST) {
		call = dw_mcp_call_create(peer, msg, sink);
		if (call) {
			serve(call);
			dw_mcp_call_unref(call);
		}
		return;
	}
	/* JSON-RPC ignores unknown notifications and unexpected responses. */
	if (msg->kind == DW_MCP_IS_RESPONSE)
		dw_mcp_elicit_take(peer, msg);
	if (msg->kind == DW_MCP_IS_RESPONSE && dw_mcp_extra.response)
		dw_mcp_extra.response(msg);
	if (msg->method && strcmp(msg->method, "notifications/cancelled") == 0)
		dw_mcp_peer_cancel(peer, json_object_get(msg->params, "requestId"));
	dw_mcp_message_free(msg);
	sink->done(sink->user);
}
