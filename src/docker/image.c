/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define PULL_MS (60U * 60U * 1000U)
#define STALL_MS 30000U
#define NOTE_EVERY_MS 200U

int dw_image_split(const char *image, char *ret_name, size_t size, char *ret_tag,
                   size_t tag_size, struct dw_error *err)
{
	const char *slash = strrchr(image, '/');
	const char *colon = strrchr(slash ? slash : image, ':');
	const char *at = strchr(image, '@');
	size_t len = colon && !at ? (size_t)(colon - image) : strlen(image);
	const char *tag = at ? "" : colon ? colon + 1 : "latest";

	if (len == 0 || len >= size || strlen(tag) >= tag_size || (!at && *tag == '\0'))
		return dw_fail(err, DW_E_INVALID, 0, "\"%.100s\" is not an image name",
		               image);
	memcpy(ret_name, image, len);
	ret_name[len] = '\0';
	(void)snprintf(ret_tag, tag_size, "%s", tag);
	return 0;
}

struct pull {
	const char *image;
	dw_image_note_fn *note;
	void *user;
	uint64_t noted_ms;
	char error[300];
};

/* Progress comes as {"id", "status", "progressDetail"}. */
static void note_progress(struct pull *p, const json_t *line)
{
	const json_t *detail = json_object_get(line, "progressDetail");
	const char *status = json_string_value(json_object_get(line, "status"));
	const char *id = json_string_value(json_object_get(line, "id"));
	json_int_t now = json_integer_value(json_object_get(detail, "current"));
	json_int_t all = json_integer_value(json_object_get(detail, "total"));
	char text[512];
	int len;

	if (!status || dw_now_ms() < p->noted_ms + NOTE_EVERY_MS)
		return;
	p->noted_ms = dw_now_ms();
	len = snprintf(text, sizeof(text), "pulling %.200s: %.20s%s%.80s", p->image,
	               id ? id : "", id ? " " : "", status);
	if (all > 0 && len > 0 && (size_t)len < sizeof(text))
		(void)snprintf(text + len, sizeof(text) - (size_t)len, " %.1f of %.1f MB",
		               (double)now / 1e6, (double)all / 1e6);
	p->note(p->user, text);
}

static int on_line(void *user, const char *line, size_t len)
{
	json_auto_t *root = json_loadb(line, len, 0, NULL);
	struct pull *p = user;
	const char *error;

	if (!json_is_object(root))
		return -1;
	error = json_string_value(json_object_get(root, "error"));
	if (!error)
		error = json_string_value(json_object_get(root, "message"));
	if (error)
		(void)snprintf(p->error, sizeof(p->error), "%s", error);
	else
		note_progress(p, root);
	return 0;
}

int dw_image_pull(struct dw_engine *e, const char *image, dw_image_note_fn *note,
                  void *user, struct dw_error *err)
{
	struct pull p = {.image = image, .note = note, .user = user};
	uint64_t began = dw_now_ms();
	char name[256], tag[160], path[1024], text[300];
	autofree char *from = NULL, *tagged = NULL;
	struct dw_docker_http_call call = {
		.method = "POST",
		.path = path,
		.deadline_ms = began + PULL_MS,
		.stall_ms = e->deadline_ms - began < STALL_MS ? e->deadline_ms - began
	                                                      : STALL_MS,
		.on_line = on_line,
		.user = &p,
	};
	long status = 0;
	int r;

	if (began >= e->deadline_ms)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the timeout passed before %s was pulled", image);
	if (dw_image_split(image, name, sizeof(name), tag, sizeof(tag), err) < 0)
		return -1;
	from = dw_docker_http_escape(name);
	tagged = dw_docker_http_escape(tag);
	if (!from || !tagged)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot pull %s", image);
	(void)snprintf(path, sizeof(path), "%s/images/create?fromImage=%s&tag=%s",
	               e->prefix, from, tagged);
	(void)snprintf(text, sizeof(text), "pulling %.200s", image);
	note(user, text);
	r = dw_docker_http_call(e->http, &call, &status, NULL, err);
	e->deadline_ms += dw_now_ms() - began;
	if (r < 0)
		return dw_wrap(err, "cannot pull %s", image);
	dw_engine_flatten(p.error);
	if (p.error[0] != '\0' || status != 200)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the image %s is missing and cannot be pulled: %s", image,
		               p.error[0] != '\0' ? p.error
		                                  : "the engine gave no reason");
	(void)snprintf(text, sizeof(text), "pulled %.200s", image);
	note(user, text);
	return 0;
}
