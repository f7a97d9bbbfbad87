/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "mcp/mcp_own.h"

#define VERSION_HEADER "MCP-Protocol-Version"
#define METHOD_HEADER "Mcp-Method"
#define NAME_HEADER "Mcp-Name"

static const char *get(const struct dw_mcp_headers *headers, const char *name)
{
	return headers->get(headers->user, name);
}

bool dw_mcp_headers_modern(const struct dw_mcp_headers *headers,
                           const struct dw_mcp_message *msg)
{
	const char *version = get(headers, VERSION_HEADER);

	return msg->version || (version && !dw_mcp_is_legacy(version));
}

/* Skip the blanks that HTTP allows around a value; returns the length of the value. */
static size_t trim(const char **text)
{
	size_t len;

	*text += strspn(*text, " \t");
	len = strlen(*text);
	while (len > 0 && ((*text)[len - 1] == ' ' || (*text)[len - 1] == '\t'))
		len--;
	return len;
}

/*
 * Returns the value of a header, which may be encoded as "=?base64?...?="; NULL if it is
 * invalid.
 */
static char *decode(const char *text, size_t *ret_len)
{
	static const char head[] = "=?base64?", tail[] = "?=";
	const size_t head_len = sizeof(head) - 1, tail_len = sizeof(tail) - 1;
	size_t len = trim(&text);
	char *data;

	if (len < head_len + tail_len || strncmp(text, head, head_len) != 0 ||
	    strncmp(text + len - tail_len, tail, tail_len) != 0) {
		*ret_len = len;
		return strndup(text, len);
	}
	text += head_len;
	len -= head_len + tail_len;
	data = malloc(dw_base64_room(len) + 1);
	if (data && dw_base64_decode(text, len, data, ret_len) == 0)
		return data;
	free(data);
	return NULL;
}

static int check_one(const struct dw_mcp_headers *headers, const char *name,
                     const char *body, const char *where, struct dw_mcp_problem *why)
{
	const char *text = get(headers, name);
	autofree char *value = NULL;
	size_t len = 0;

	if (!text)
		return dw_mcp_refuse(why, DW_MCP_HEADERS, 400, NULL,
		                     "the header %s is missing", name);
	value = decode(text, &len);
	if (value && len == strlen(body) && memcmp(value, body, len) == 0)
		return 0;
	return dw_mcp_refuse(why, DW_MCP_HEADERS, 400, NULL,
	                     "the header %s does not match %s", name, where);
}

/* Returns the key of params that the header Mcp-Name repeats, or NULL. */
static const char *name_key(const char *method)
{
	static const struct {
		const char *method;
		const char *key;
	} named[] = {
		{"tools/call", "name"},     {"prompts/get", "name"},
		{"resources/read", "uri"},  {"tasks/get", "taskId"},
		{"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (strcmp(named[i].method, method) == 0)
			return named[i].key;
	return NULL;
}

int dw_mcp_headers_check(const struct dw_mcp_headers *headers,
                         const struct dw_mcp_message *msg, struct dw_mcp_problem *why)
{
	const char *key = name_key(msg->method);
	const char *name = key ? dw_mcp_text(msg->params, key) : NULL;

	if (dw_mcp_check_meta(msg, why) < 0 ||
	    check_one(headers, VERSION_HEADER, msg->version, "_meta", why) < 0 ||
	    dw_mcp_check_version(msg, why) < 0 ||
	    check_one(headers, METHOD_HEADER, msg->method, "method", why) < 0)
		return -1;
	if (key && !name)
		return dw_mcp_refuse(why, DW_MCP_PARAMS, 400, NULL,
		                     "params.%s must be a string", key);
	return name ? check_one(headers, NAME_HEADER, name, key, why) : 0;
}
