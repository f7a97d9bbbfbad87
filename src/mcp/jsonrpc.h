/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_JSONRPC_H
#define DW_MCP_JSONRPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * JSON-RPC as the Model Context Protocol has it: one message, read and written.
 */

/* Revisions, oldest first. Their names compare as their dates do. */
#define DW_MCP_2024_11_05 "2024-11-05"
#define DW_MCP_2025_03_26 "2025-03-26"
#define DW_MCP_2025_06_18 "2025-06-18"
#define DW_MCP_2025_11_25 "2025-11-25"
#define DW_MCP_2026_07_28 "2026-07-28" /* stateless: what we call modern */

#define DW_MCP_LEGACY_NEWEST DW_MCP_2025_11_25

enum dw_mcp_code {
	DW_MCP_PARSE = -32700,
	DW_MCP_REQUEST = -32600,
	DW_MCP_METHOD = -32601,
	DW_MCP_PARAMS = -32602,
	DW_MCP_INTERNAL = -32603,
	DW_MCP_NO_RESOURCE = -32002, /* until 2025-11-25 */
	DW_MCP_HEADERS = -32020,     /* the rest since 2026-07-28 */
	DW_MCP_CAPABILITY = -32021,
	DW_MCP_VERSION = -32022,
};

#define DW_MCP_META "io.modelcontextprotocol/"

enum dw_mcp_kind {
	DW_MCP_IS_REQUEST = 0,
	DW_MCP_IS_NOTIFICATION,
	DW_MCP_IS_RESPONSE,
	DW_MCP_IS_BATCH, /* root is an array of messages; none is a batch itself */
};

/* Messages in a batch, at most. */
#define DW_MCP_BATCH_MAX 64

/* What is not its own is borrowed from root. */
struct dw_mcp_message {
	json_t *root;
	enum dw_mcp_kind kind;
	const json_t *id;    /* a string or a whole number; NULL if it has none */
	const char *method;  /* NULL of a response and of a batch */
	json_t *params;      /* an object, or NULL */
	json_t *meta;        /* params._meta if it is an object, or NULL */
	const char *version; /* that its _meta names, or NULL */
};

/* Why a message is not served. */
struct dw_mcp_problem {
	enum dw_mcp_code code;
	int status; /* HTTP's; 200 where the revisions before 2026-07-28 want that */
	char text[512];
	json_t *data; /* or NULL */
};

/* Fill *ret and return -1. The data is taken over. */
int dw_mcp_refuse(struct dw_mcp_problem *ret, enum dw_mcp_code code, int status,
                  json_t *data, const char *fmt, ...)
	__attribute__((format(printf, 5, 6), cold));
void dw_mcp_problem_finish(struct dw_mcp_problem *problem);

/*
 * Read one message. -1: *ret_error is what to answer (NULL without memory), with
 * its id if that much could be read, and HTTP's status is 400.
 */
int dw_mcp_parse(const char *text, size_t len, struct dw_mcp_message **ret,
                 char **ret_error);

/* The same of what has been read already, and is no batch; root is taken over. */
int dw_mcp_message_of(json_t *root, struct dw_mcp_message **ret, char **ret_error);

void dw_mcp_message_free(struct dw_mcp_message *msg); /* accepts NULL */

/* Is it a revision that begins with initialize? */
bool dw_mcp_is_legacy(const char *version);

/* What a key of an object holds, if that is a string without NUL; or NULL. */
const char *dw_mcp_text(const json_t *object, const char *key);

/* In one line; free() it. NULL without memory, or without a tree. */
char *dw_mcp_dump(const json_t *root);

/* {"jsonrpc", "id", "error"}; free() it. NULL without memory. */
char *dw_mcp_error(const json_t *id, const struct dw_mcp_problem *problem);

/* A string of any origin: JSON takes UTF-8 only. */
json_t *dw_mcp_string(const char *data, size_t len);

#endif
