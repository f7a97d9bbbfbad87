/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_JSONRPC_H
#define DW_MCP_JSONRPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Parsing and printing one JSON-RPC message, as the Model Context Protocol uses it. */

/* Revisions, oldest first. Comparing two names as strings compares their dates. */
#define DW_MCP_2024_11_05 "2024-11-05"
#define DW_MCP_2025_03_26 "2025-03-26"
#define DW_MCP_2025_06_18 "2025-06-18"
#define DW_MCP_2025_11_25 "2025-11-25"
#define DW_MCP_2026_07_28 "2026-07-28" /* stateless; "modern" here */

#define DW_MCP_LEGACY_NEWEST DW_MCP_2025_11_25

enum dw_mcp_code {
	DW_MCP_PARSE = -32700,
	DW_MCP_REQUEST = -32600,
	DW_MCP_METHOD = -32601,
	DW_MCP_PARAMS = -32602,
	DW_MCP_INTERNAL = -32603,
	DW_MCP_NO_RESOURCE = -32002, /* up to 2025-11-25 */
	DW_MCP_HEADERS = -32020,     /* this one and the rest since 2026-07-28 */
	DW_MCP_CAPABILITY = -32021,
	DW_MCP_VERSION = -32022,
};

#define DW_MCP_META "io.modelcontextprotocol/"

enum dw_mcp_kind {
	DW_MCP_IS_REQUEST = 0,
	DW_MCP_IS_NOTIFICATION,
	DW_MCP_IS_RESPONSE,
	DW_MCP_IS_BATCH, /* root is an array of messages that are not batches */
};

/* The maximum number of messages in a batch. */
#define DW_MCP_BATCH_MAX 64

/* All other pointers borrow from root. */
struct dw_mcp_message {
	json_t *root;
	enum dw_mcp_kind kind;
	const json_t *id;    /* a string or an integer; NULL if absent */
	const char *method;  /* NULL in a response and in a batch */
	json_t *params;      /* an object, or NULL */
	json_t *meta;        /* params._meta if it is an object, or NULL */
	const char *version; /* the revision in _meta, or NULL */
};

/* Why a message is refused. */
struct dw_mcp_problem {
	enum dw_mcp_code code;
	int status; /* HTTP status of the reply to a modern request */
	char text[512];
	json_t *data; /* or NULL */
};

/* Fill *ret, which takes ownership of the data, and return -1. */
int dw_mcp_refuse(struct dw_mcp_problem *ret, enum dw_mcp_code code, int status,
                  json_t *data, const char *fmt, ...)
	__attribute__((format(printf, 5, 6), cold));

/*
 * Parse one message. On -1, *ret_error is the error response (NULL without memory), to be
 * sent with HTTP status 400. It has the message's id if that could be parsed.
 */
int dw_mcp_parse(const char *text, size_t len, struct dw_mcp_message **ret,
                 char **ret_error);

/* The same for one message that is already parsed JSON; takes ownership of root. */
int dw_mcp_message_of(json_t *root, struct dw_mcp_message **ret, char **ret_error);

void dw_mcp_message_free(struct dw_mcp_message *msg); /* accepts NULL */

/* Returns true for a revision whose sessions begin with initialize. */
bool dw_mcp_is_legacy(const char *version);

/* Returns the value of a key if it is a string without NUL bytes, else NULL. */
const char *dw_mcp_text(const json_t *object, const char *key);

/* Returns one line of JSON; free() it. NULL without memory, or if root is NULL. */
char *dw_mcp_dump(const json_t *root);

/* Returns {"jsonrpc", "id", "error"}; free() it. NULL without memory. */
char *dw_mcp_error(const json_t *id, const struct dw_mcp_problem *problem);

#endif
