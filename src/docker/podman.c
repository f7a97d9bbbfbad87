/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "docker/docker_own.h"

#define MASKS_MAX 4096

/* Podman takes MaskedPaths as an option: "mask=/proc/cmdline:/sys". */
static void add_mask_option(json_t *host)
{
	const json_t *path, *paths = json_object_get(host, "MaskedPaths");
	autobuf struct dw_buf option;
	size_t i;

	dw_buf_init(&option, MASKS_MAX);
	json_array_foreach (paths, i, path)
		(void)dw_buf_printf(&option, "%s%s", i == 0 ? "mask=" : ":",
		                    json_string_value(path));
	if (option.len > 0)
		(void)json_array_append_new(json_object_get(host, "SecurityOpt"),
		                            json_string(option.data));
}

/*
 * Podman formats a mount as one line, "type=bind,src=...,dst=...", and parses that line
 * again: a folder called "x,src=/etc" would mount /etc instead.
 */
static int check_mounts(const json_t *mounts, struct dw_error *err)
{
	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *mount = json_array_get(mounts, i);
		const char *host = json_string_value(json_object_get(mount, "Source"));
		const char *cell = json_string_value(json_object_get(mount, "Target"));

		if (!host || !cell || strpbrk(host, ",\"\n\r") ||
		    strpbrk(cell, ",\"\n\r"))
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "Podman cannot mount a path with a comma, quote or "
			               "newline in its name; rename it or use Docker");
	}
	return 0;
}

/*
 * Remove the inode limit of /tmp, which Podman does not support for a tmpfs. Each inode
 * costs memory, which has a limit.
 */
int dw_podman_adapt(const json_t *body, struct dw_error *err)
{
	json_t *host = json_object_get(body, "HostConfig");
	json_t *tmpfs = json_object_get(host, "Tmpfs");
	const char *options = json_string_value(json_object_get(tmpfs, "/tmp"));
	const char *at = options ? strstr(options, ",nr_inodes=") : NULL;

	if (at)
		(void)json_object_set_new(tmpfs, "/tmp",
		                          json_stringn(options, (size_t)(at - options)));
	add_mask_option(host);
	return check_mounts(json_object_get(host, "Mounts"), err);
}
