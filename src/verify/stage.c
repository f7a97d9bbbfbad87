/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/id.h"
#include "verify/look.h"
#include "verify/traces.h"

#define SHOWN_OUTSIDE \
	"/.dewar/guest" /* of the host's, in each container of level docker */

int dw_stage_set(struct dw_stage *stage, const struct dw_range *range,
                 const struct dw_listeners *listeners, const struct dw_attack *attack,
                 struct dw_error *err)
{
	char id[DW_ID_MAX], flag[64];
	const char *name;

	*stage = (struct dw_stage){
		.range = range,
		.listeners = listeners,
		.out_is_writable = strstr(attack->options, "--writable {base}/ws/out") !=
	                           NULL,
		.witness = {.pid = -1, .fd = -1},
	};
	if (dw_id_make(id, err) < 0 || dw_id_make(stage->secret, err) < 0 ||
	    dw_id_make(stage->word, err) < 0)
		return -1;
	(void)snprintf(stage->nonce, sizeof(stage->nonce), "%.16s", id);
	if (dw_plant(stage, err) < 0)
		return -1;
	dw_plant_group(stage);
	/*
	 * The range's own names, which no process outside of it has. With two cells
	 * the secret is the first one's, and the names are what it might change.
	 */
	name = strcmp(attack->cells, "one") == 0 ? stage->secret : "range";
	if (!range->outside) {
		(void)!sethostname(name, strlen(name));
		(void)!setdomainname(name, strlen(name));
	}
	(void)snprintf(flag, sizeof(flag), "%s/flag", range->base);
	if (dw_witness_start(&stage->witness, stage->secret, flag, err) < 0)
		return -1;
	return dw_traces_note(stage, err);
}

void dw_stage_strike(struct dw_stage *stage)
{
	dw_witness_end(&stage->witness);
	dw_look_end_all(stage->nonce);
	dw_plant_remove_group(stage);
	dw_traces_remove(stage);
	free(stage->files);
	free(stage->remains);
	stage->files = stage->remains = NULL;
}

void dw_stage_env(const struct dw_stage *stage, const char *role, char *ret, size_t size)
{
	/* The image's own; nothing is planted there. */
	static const char folders[] = "DW_USR=/usr/src\nDW_ETC=/etc/opt\n"
				      "DW_VAR=/var/opt\nDW_MNT=/mnt\nDW_SRV=/srv\n";
	const struct dw_range *range = stage->range;
	const char *secret = strcmp(role, "first") == 0    ? stage->secret
	                     : strcmp(role, "second") == 0 ? stage->word
	                                                   : "";
	struct dw_buf buf;

	dw_buf_init(&buf, size - 1);
	(void)dw_buf_printf(&buf, "DW_NONCE=%s\n", stage->nonce);
	(void)dw_buf_printf(&buf, "DW_ROLE=%s\nDW_SECRET=%s\n", role, secret);
	(void)dw_buf_printf(&buf, "DW_BASE=%s\nDW_FLAG=%s/flag\n", range->base,
	                    range->base);
	(void)dw_buf_printf(&buf, "DW_CGROUP_PARENT_KIND=%s/home\n", range->base);
	(void)dw_buf_printf(&buf, "DW_PID=%d\n", stage->witness.pid);
	(void)dw_buf_printf(&buf, "DW_ADDRESS=%lx\n",
	                    (unsigned long)stage->witness.memory);
	(void)dw_buf_printf(&buf, "DW_PORT=%d\n", stage->listeners->port);
	(void)dw_buf_printf(&buf, "DW_SOCKET=%s/docker.sock\n", range->base);
	(void)dw_buf_printf(&buf, "DW_LOG=%s/log.sock\n", range->base);
	(void)dw_buf_printf(&buf, "DW_ABSTRACT=%s\n", stage->listeners->abstract);
	(void)dw_buf_printf(&buf, "DW_ABSTRACT_LOG=%s\n", stage->listeners->abstract_log);
	if (range->outside)
		(void)dw_buf_printf(&buf, "DW_SHOWN=%s\n%s", SHOWN_OUTSIDE, folders);
	else if (range->places[0].name)
		(void)dw_buf_printf(&buf, "DW_SHOWN=%s/flag\n", range->places[0].path);
	for (const struct dw_place *p = range->places; p->name; p++)
		(void)dw_buf_printf(&buf, "DW_%s=%s\n", p->name, p->path);
	(void)snprintf(ret, size, "%s", buf.data ? buf.data : "");
	dw_buf_finish(&buf);
	for (char *p = ret; *p; p++)
		if (*p == '\n')
			*p = '\0';
}
