/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_YAML_OWN_H
#define DW_BASE_YAML_OWN_H

#include <stdbool.h>
#include <yaml.h>

#include "base/yaml.h"

/* Shared by yaml.c and yaml_read.c. */
struct dw_yaml {
	char *name;
	yaml_document_t doc;
	bool parsed;
};

static inline const yaml_node_t *dw_yaml_node(const struct dw_yaml *yaml, int index)
{
	/* libyaml takes a document that is not const, but only reads it. */
	return yaml_document_get_node((yaml_document_t *)&yaml->doc, index);
}

static inline const yaml_node_t *dw_yaml_root(const struct dw_yaml *yaml)
{
	return yaml_document_get_root_node((yaml_document_t *)&yaml->doc);
}

#endif
