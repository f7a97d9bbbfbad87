/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "verify/verify_own.h"

json_t *dw_output_result(const struct dw_attacker *attacker)
{
	if (!attacker->cell || !attacker->out[0].data)
		return NULL;
	return json_loadb(attacker->out[0].data, attacker->out[0].len,
	                  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
}

static void add_json_text(struct dw_buf *buf, const json_t *result, const char *key)
{
	const json_t *value = json_object_get(result, key);

	if (json_is_string(value))
		(void)dw_buf_add(buf, json_string_value(value),
		                 json_string_length(value));
}

static void add_collected(struct dw_buf *buf, const json_t *result)
{
	const json_t *file;
	size_t i;

	json_array_foreach (json_object_get(result, "files"), i, file) {
		const char *text = json_string_value(json_object_get(file, "data"));
		size_t len = text ? strlen(text) : 0;
		autofree char *data = malloc(dw_base64_room(len) + 1);

		if (text && data && dw_base64_decode(text, len, data, &len) == 0)
			(void)dw_buf_add(buf, data, len);
	}
}

/* Without a cell, collect files as cat would: follow links. */
static void add_as_cat(struct dw_buf *buf, const struct dw_attack *attack,
                       const struct dw_range *range)
{
	const char *at = attack->options;
	char name[64], path[DW_RANGE_PATH_MAX], data[4096];

	while ((at = strstr(at, "--collect ")) != NULL) {
		autoclose int fd = -1;
		ssize_t n;

		at += strlen("--collect ");
		(void)snprintf(name, sizeof(name), "cwd/%.*s", (int)strcspn(at, " "), at);
		fd = open(dw_range_path(range, name, path),
		          O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		n = fd < 0 ? 0 : read(fd, data, sizeof(data));
		if (n > 0)
			(void)dw_buf_add(buf, data, (size_t)n);
	}
}

char *dw_output_text(const struct dw_attacker *attacker, const json_t *result,
                     const struct dw_attack *attack, const struct dw_range *range,
                     size_t *ret_len)
{
	struct dw_buf buf;
	char *text;

	dw_buf_init(&buf, 64U << 20);
	if (attacker->cell) {
		add_json_text(&buf, result, "stdout");
		(void)dw_buf_puts(&buf, "\n");
		add_json_text(&buf, result, "stderr");
		(void)dw_buf_puts(&buf, "\n");
		add_collected(&buf, result);
	} else {
		for (int i = 0; i < 2; i++) {
			if (attacker->out[i].len > 0)
				(void)dw_buf_add(&buf, attacker->out[i].data,
				                 attacker->out[i].len);
			(void)dw_buf_puts(&buf, "\n");
		}
		add_as_cat(&buf, attack, range);
	}
	text = dw_buf_take(&buf, ret_len);
	/* Replace NULs, so that a search also covers the text behind them. */
	for (size_t i = 0; text && i < *ret_len; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	return text;
}

/* Build the result as a careless caller would: by pasting the output into JSON. */
static json_t *paste_result(const struct dw_attacker *attacker)
{
	struct dw_buf buf;
	json_t *pasted;

	dw_buf_init(&buf, 1U << 20);
	(void)dw_buf_printf(&buf,
	                    "{\"exit_code\": %d, \"reason\": \"exit\", \"stdout\": \"",
	                    DW_FORGER_EXIT);
	if (attacker->out[0].len > 0)
		(void)dw_buf_add(&buf, attacker->out[0].data, attacker->out[0].len);
	(void)dw_buf_puts(&buf, "\"}");
	pasted = json_loadb(buf.data ? buf.data : "", buf.len, 0, NULL);
	dw_buf_finish(&buf);
	return pasted;
}

static bool is_truthful(const json_t *result)
{
	const char *reason = json_string_value(json_object_get(result, "reason"));

	return !json_object_get(result, "forged") &&
	       json_integer_value(json_object_get(result, "exit_code")) ==
	               DW_FORGER_EXIT &&
	       reason && strcmp(reason, "exit") == 0;
}

/* Returns true if the attack failed early, with an exit code that no attack uses. */
static bool ended_early(const json_t *result)
{
	const char *reason = json_string_value(json_object_get(result, "reason"));
	json_int_t code = json_integer_value(json_object_get(result, "exit_code"));

	return reason && strcmp(reason, "exit") == 0 && code != 0 &&
	       code != DW_FORGER_EXIT && !json_object_get(result, "forged");
}

bool dw_output_is_forged(const struct dw_attacker *attacker, const json_t *result)
{
	json_auto_t *pasted = NULL;

	if (attacker->cell)
		return !result || (!is_truthful(result) && !ended_early(result));
	pasted = paste_result(attacker);
	return pasted && !is_truthful(pasted);
}
