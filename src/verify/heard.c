/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/heard.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"

json_t *dw_heard_result(const struct dw_party *party)
{
	if (!party->cell || !party->out[0].data)
		return NULL;
	return json_loadb(party->out[0].data, party->out[0].len,
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

/* Without a cell, whoever collects is a trusting soul: cat. */
static void add_as_cat_would(struct dw_buf *buf, const struct dw_attack *attack,
                             const char *base)
{
	const char *at = attack->options;
	char name[64], path[128], data[4096];

	while ((at = strstr(at, "--collect ")) != NULL) {
		autoclose int fd = -1;
		ssize_t n;

		at += strlen("--collect ");
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "), at);
		(void)snprintf(path, sizeof(path), "%s/cwd/%s", base, name);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		n = fd < 0 ? 0 : read(fd, data, sizeof(data));
		if (n > 0)
			(void)dw_buf_add(buf, data, (size_t)n);
	}
}

char *dw_heard_text(const struct dw_party *party, const json_t *result,
                    const struct dw_attack *attack, const char *base, size_t *ret_len)
{
	struct dw_buf buf;
	char *text;

	dw_buf_init(&buf, 64U << 20);
	if (party->cell) {
		add_json_text(&buf, result, "stdout");
		(void)dw_buf_puts(&buf, "\n");
		add_json_text(&buf, result, "stderr");
		(void)dw_buf_puts(&buf, "\n");
		add_collected(&buf, result);
	} else {
		for (int i = 0; i < 2; i++) {
			if (party->out[i].len > 0)
				(void)dw_buf_add(&buf, party->out[i].data,
				                 party->out[i].len);
			(void)dw_buf_puts(&buf, "\n");
		}
		add_as_cat_would(&buf, attack, base);
	}
	text = dw_buf_take(&buf, ret_len);
	/* What comes behind a NUL was said, too. */
	for (size_t i = 0; text && i < *ret_len; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	return text;
}

/* What a careless reader would paste together. */
static json_t *paste_result(const struct dw_party *party)
{
	struct dw_buf buf;
	json_t *pasted;

	dw_buf_init(&buf, 1U << 20);
	(void)dw_buf_printf(&buf,
	                    "{\"exit_code\": %d, \"reason\": \"exit\", \"stdout\": \"",
	                    DW_FORGER_EXIT);
	if (party->out[0].len > 0)
		(void)dw_buf_add(&buf, party->out[0].data, party->out[0].len);
	(void)dw_buf_puts(&buf, "\"}");
	pasted = json_loadb(buf.data ? buf.data : "", buf.len, 0, NULL);
	dw_buf_finish(&buf);
	return pasted;
}

static bool tells_the_truth(const json_t *result)
{
	const char *reason = json_string_value(json_object_get(result, "reason"));

	return !json_object_get(result, "forged") &&
	       json_integer_value(json_object_get(result, "exit_code")) ==
	               DW_FORGER_EXIT &&
	       reason && strcmp(reason, "exit") == 0;
}

/* Did it end before it had done anything, with an exit code that no attack has? */
static bool ended_early(const json_t *result)
{
	const char *reason = json_string_value(json_object_get(result, "reason"));
	json_int_t code = json_integer_value(json_object_get(result, "exit_code"));

	return reason && strcmp(reason, "exit") == 0 && code != 0 &&
	       code != DW_FORGER_EXIT && !json_object_get(result, "forged");
}

bool dw_heard_forged(const struct dw_party *party, const json_t *result)
{
	json_t *pasted;
	bool forged;

	if (party->cell)
		return !result || (!tells_the_truth(result) && !ended_early(result));
	pasted = paste_result(party);
	forged = pasted && !tells_the_truth(pasted);
	json_decref(pasted);
	return forged;
}
