/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/yaml_own.h"

/*
 * We use libyaml directly, because its documents keep the line of each node. libcyaml
 * also reads by tables, but reports the wrong line for an unknown key, cuts strings at a
 * NUL, and ignores a second document.
 */

/* The line, from 1, of the byte at this offset. */
static size_t line_at(const char *text, size_t len, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < len; i++)
		line += text[i] == '\n';
	return line;
}

static int fail_parse(const struct dw_yaml *yaml, const yaml_parser_t *parser,
                      const char *text, size_t len, struct dw_error *err)
{
	/* If the text is not UTF-8, libyaml gives only an offset. */
	size_t line = parser->error == YAML_READER_ERROR
	                      ? line_at(text, len, parser->problem_offset)
	                      : parser->problem_mark.line + 1;

	if (parser->error == YAML_MEMORY_ERROR)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read %s", yaml->name);
	return dw_fail(err, DW_E_INVALID, 0, "%s:%zu: not valid YAML: %s", yaml->name,
	               line, parser->problem ? parser->problem : "unknown problem");
}

static int parse(struct dw_yaml *yaml, yaml_parser_t *parser, const char *text,
                 size_t len, struct dw_error *err)
{
	const yaml_node_t *root;
	yaml_document_t second;
	int r = 0;

	yaml_parser_set_input_string(parser, (const unsigned char *)text, len);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	if (!yaml_parser_load(parser, &yaml->doc))
		return fail_parse(yaml, parser, text, len, err);
	yaml->parsed = true;
	if (!dw_yaml_root(yaml))
		return 0;
	if (!yaml_parser_load(parser, &second))
		return fail_parse(yaml, parser, text, len, err);
	root = yaml_document_get_root_node(&second);
	if (root)
		r = dw_fail(err, DW_E_INVALID, 0,
		            "%s:%zu: must contain one document; a second one begins here",
		            yaml->name, root->start_mark.line + 1);
	yaml_document_delete(&second);
	return r;
}

int dw_yaml_read_file(const char *what, const char *path, struct stat *ret_st,
                      char **ret_text, size_t *ret_len, struct dw_error *err)
{
	autofree char *text = malloc(DW_YAML_FILE_MAX + 2);
	autoclose int fd = -1;
	ssize_t n;

	if (!text)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the %s %s", what,
		               path);
	/* O_NONBLOCK: the name may be that of a pipe, and open() would block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, ret_st) < 0)
		return dw_fail(err, errno == ENOENT ? DW_E_NOT_FOUND : DW_E_INTERNAL,
		               errno, "cannot read the %s %s", what, path);
	if (!S_ISREG(ret_st->st_mode))
		return dw_fail(err, DW_E_INVALID, 0, "the %s %s is not a regular file",
		               what, path);
	n = dw_fd_read_some(fd, text, DW_YAML_FILE_MAX + 1);
	if (n < 0)
		return dw_fail(err, DW_E_INTERNAL, (int)-n, "cannot read the %s %s", what,
		               path);
	if ((size_t)n > DW_YAML_FILE_MAX)
		return dw_fail(err, DW_E_INVALID, 0, "the %s %s is larger than 1 MiB",
		               what, path);
	text[n] = '\0';
	*ret_text = TAKE_PTR(text);
	*ret_len = (size_t)n;
	return 0;
}

int dw_yaml_parse(const char *name, const char *text, size_t len, struct dw_yaml **ret,
                  struct dw_error *err)
{
	struct dw_yaml *yaml = calloc(1, sizeof(*yaml));
	yaml_parser_t parser;
	int r = -1;

	if (yaml)
		yaml->name = strdup(name);
	if (yaml && yaml->name && yaml_parser_initialize(&parser)) {
		r = parse(yaml, &parser, text, len, err);
		yaml_parser_delete(&parser);
	} else {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read %s", name);
	}
	if (r < 0) {
		dw_yaml_free(yaml);
		return -1;
	}
	*ret = yaml;
	return 0;
}

void dw_yaml_free(struct dw_yaml *yaml)
{
	if (!yaml)
		return;
	if (yaml->parsed)
		yaml_document_delete(&yaml->doc);
	free(yaml->name);
	free(yaml);
}

/* The value of a key in a mapping, or NULL. */
static const yaml_node_t *value_of(const struct dw_yaml *yaml, const yaml_node_t *map,
                                   const char *name, size_t len)
{
	const yaml_node_pair_t *pair;

	if (map->type != YAML_MAPPING_NODE)
		return NULL;
	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
	     pair++) {
		const yaml_node_t *key = dw_yaml_node(yaml, pair->key);

		if (key->type == YAML_SCALAR_NODE && key->data.scalar.length == len &&
		    memcmp(key->data.scalar.value, name, len) == 0)
			return dw_yaml_node(yaml, pair->value);
	}
	return NULL;
}

unsigned dw_yaml_line(const struct dw_yaml *yaml, const char *path)
{
	const yaml_node_t *node = dw_yaml_root(yaml), *next;
	const char *p = path;
	size_t len;

	/* Follow the path as far as it exists. */
	for (; node; node = next, p += len + (p[len] == '.')) {
		len = strcspn(p, ".");
		next = len > 0 ? value_of(yaml, node, p, len) : NULL;
		if (!next)
			break;
	}
	return node ? (unsigned)node->start_mark.line + 1 : 1;
}

int dw_yaml_blame(const struct dw_yaml *yaml, const char *path, struct dw_error *err)
{
	return dw_wrap(err, "%s:%u: %s", yaml->name, dw_yaml_line(yaml, path), path);
}
