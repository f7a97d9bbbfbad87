/* SPDX-License-Identifier: Apache-2.0 */
#include "dewar/result.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "dewar/dewar.h"
#include "request/limits.h"

/*
 * The make_*() functions return NULL if out of memory. put() and append() accept NULL and
 * record the failure, and at the end no JSON is returned.
 */
struct build {
	bool failed;
};

static void put(struct build *b, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		b->failed = true;
}

static void append(struct build *b, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		b->failed = true;
}

/* The text may contain any bytes, but JSON requires UTF-8. */
static json_t *make_text(const char *data, size_t len)
{
	autofree char *clean = NULL;

	if (!data)
		return json_string("");
	if (dw_utf8_valid(data, len))
		return json_stringn_nocheck(data, len);
	clean = dw_utf8_clean(data, len, &len);
	return clean ? json_stringn_nocheck(clean, len) : NULL;
}

static json_t *make_text_or_null(const char *text)
{
	return text && text[0] != '\0' ? make_text(text, strlen(text)) : json_null();
}

/* A measurement with three decimals; null, never 0, if it is unknown. */
static json_t *make_measure(double value)
{
	/* More than about 30000 years is not a measurement, and a double near its maximum
	 * would not survive the conversion to text and back. NaN fails both tests. */
	if (!(value >= 0 && value < 1e15))
		return json_null();
	return json_real((double)(uint64_t)(value * 1000 + 0.5) / 1000);
}

static json_t *make_count(uint64_t value)
{
	/* The kernel reports "no limit" as a value that does not fit a JSON integer. */
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_null();
}

static json_t *make_known(int32_t value)
{
	return value >= 0 ? json_integer(value) : json_null();
}

static json_t *make_flag(int32_t value)
{
	return value >= 0 ? json_boolean(value != 0) : json_null();
}

static json_t *make_files(struct build *b, const struct dw_result *res)
{
	json_t *array = json_array(), *file;

	for (size_t i = 0; i < res->n_files; i++) {
		const struct dw_file_out *out = &res->files[i];
		autofree char *data = dw_base64_encode(out->data, out->len, NULL);

		file = json_object();
		put(b, file, "name", make_text(out->name, strlen(out->name)));
		put(b, file, "size", make_count(out->len));
		put(b, file, "data", data ? json_string_nocheck(data) : NULL);
		append(b, array, file);
	}
	return array;
}

static json_t *make_warnings(struct build *b, const struct dw_result *res)
{
	json_t *array = json_array();

	for (size_t i = 0; i < res->n_warnings; i++)
		append(b, array, make_text(res->warnings[i], strlen(res->warnings[i])));
	return array;
}

static json_t *make_findings(struct build *b, const struct dw_result *res)
{
	json_t *array = json_array(), *object;

	for (size_t i = 0; i < res->n_findings; i++) {
		const struct dw_finding *f = &res->findings[i];

		object = json_object();
		put(b, object, "rule", make_text(f->rule, strlen(f->rule)));
		put(b, object, "line", json_integer(f->line));
		put(b, object, "column", json_integer(f->column));
		put(b, object, "severity", json_string(dw_severity_name(f->severity)));
		put(b, object, "message", make_text(f->message, strlen(f->message)));
		append(b, array, object);
	}
	return array;
}

static json_t *make_namespaces(struct build *b, const struct dw_proof *proof)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < DW_NS_COUNT; i++)
		put(b, object, dw_ns_name(i),
		    json_boolean((proof->own_ns & 1U << i) != 0));
	return object;
}

static json_t *make_capabilities(struct build *b, const struct dw_walls *walls)
{
	static const char *const names[] = {
		[DW_CAP_EFFECTIVE] = "effective",     [DW_CAP_PERMITTED] = "permitted",
		[DW_CAP_INHERITABLE] = "inheritable", [DW_CAP_BOUNDING] = "bounding",
		[DW_CAP_AMBIENT] = "ambient",
	};
	_Static_assert(ARRAY_SIZE(names) == DW_CAP_SET_COUNT, "a name for each set");
	json_t *object = json_object();
	char hex[17];

	for (size_t i = 0; i < DW_CAP_SET_COUNT; i++) {
		(void)snprintf(hex, sizeof(hex), "%016llx",
		               (unsigned long long)walls->caps[i]);
		put(b, object, names[i], json_string(hex));
	}
	return object;
}

static json_t *make_walls(struct build *b, const struct dw_proof *proof)
{
	const struct dw_walls *walls = &proof->walls;
	json_t *object, *part;

	if (!walls->known)
		return json_null();

	object = json_object();
	put(b, object, "namespaces", make_namespaces(b, proof));
	put(b, object, "uid", json_integer(walls->uid));
	put(b, object, "gid", json_integer(walls->gid));
	put(b, object, "capabilities", make_capabilities(b, walls));
	put(b, object, "no_new_privs", make_flag(walls->no_new_privs));

	part = json_object();
	put(b, part, "mode", make_known(walls->seccomp_mode));
	put(b, part, "filters", make_known(walls->seccomp_filters));
	put(b, object, "seccomp", part);

	part = walls->landlock_abi > 0 ? json_object() : json_null();
	if (walls->landlock_abi > 0)
		put(b, part, "abi", json_integer(walls->landlock_abi));
	put(b, object, "landlock", part);

	part = walls->commands > 0 ? json_object() : json_null();
	if (walls->commands > 0) {
		put(b, part, "programs", json_integer(walls->commands));
		put(b, part, "others_refused", make_flag(walls->others_refused));
	}
	put(b, object, "commands", part);

	put(b, object, "root_read_only", make_flag(walls->root_read_only));

	part = json_object();
	put(b, part, "interfaces", make_known(walls->interfaces));
	put(b, part, "routes", make_known(walls->routes));
	put(b, object, "network", part);
	return object;
}

static json_t *make_limits(struct build *b, const struct dw_proof *proof)
{
	json_t *object = json_object(), *part;

	for (unsigned i = 0; i < DW_LIMIT_COUNT; i++) {
		const struct dw_limit_proof *limit = &proof->limits[i];

		if (dw_limit_rows[i].normal == 0 && limit->asked == 0)
			continue;
		part = json_object();
		put(b, part, "asked", make_count(limit->asked));
		put(b, part, "kernel",
		    limit->kernel ? make_count(limit->kernel) : json_null());
		put(b, part, "enforced", json_boolean(limit->enforced));
		put(b, part, "by", make_text_or_null(limit->by));
		put(b, part, "note", make_text_or_null(limit->note));
		put(b, object, dw_limit_name(i), part);
	}
	return object;
}

static json_t *make_proof(struct build *b, const struct dw_proof *proof)
{
	json_t *object = json_object();

	put(b, object, "requested",
	    make_text(proof->requested, strlen(proof->requested)));
	put(b, object, "achieved", make_text_or_null(proof->achieved));
	put(b, object, "runtime", make_text_or_null(proof->runtime));
	put(b, object, "walls", make_walls(b, proof));
	put(b, object, "limits", make_limits(b, proof));
	return object;
}

static json_t *make_metadata(struct build *b, const struct dw_result *res)
{
	const char *level = res->proof.achieved;
	json_t *object = json_object();

	put(b, object, "ok", json_boolean(res->ok));
	/* True also if nothing ran, because then nothing ran outside a sandbox. */
	put(b, object, "sandbox",
	    json_boolean(level[0] == '\0' || (dw_level_guarantees(level) & DW_G_WALLS)));
	put(b, object, "sandbox_level", make_text_or_null(level));
	put(b, object, "sandbox_image", make_text_or_null(res->image));
	put(b, object, "sandbox_network", json_boolean(res->network));
	put(b, object, "warm", json_boolean(res->warm));
	if (!res->ok)
		put(b, object, "error", make_text(res->hint, strlen(res->hint)));
	return object;
}

/* A double has 15 reliable decimal digits; with more, 1.9 would not stay 1.9. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

char *dw_proof_to_json(const struct dw_proof *proof)
{
	struct build build = {0};
	json_auto_t *root = make_proof(&build, proof);
	char *text = NULL;

	if (!build.failed)
		text = json_dumps(root, DUMP_FLAGS);
	return text;
}

char *dw_result_to_json(const struct dw_result *res)
{
	json_auto_t *root = json_object();
	struct build build = {0}, *b = &build;
	char *text = NULL;

	put(b, root, "id", make_text(res->id, strlen(res->id)));
	put(b, root, "status", json_string(dw_status_name(res->status)));
	put(b, root, "reason", json_string(dw_reason_name(res->reason)));
	put(b, root, "hint", make_text_or_null(res->hint));
	put(b, root, "exit_code", make_known(res->exit_code));
	put(b, root, "signal", res->signal > 0 ? json_integer(res->signal) : json_null());
	put(b, root, "stdout", make_text(res->out[DW_STDOUT], res->out_len[DW_STDOUT]));
	put(b, root, "stderr", make_text(res->out[DW_STDERR], res->out_len[DW_STDERR]));
	put(b, root, "stdout_truncated", json_boolean(res->truncated[DW_STDOUT]));
	put(b, root, "stderr_truncated", json_boolean(res->truncated[DW_STDERR]));
	put(b, root, "results", json_array());
	put(b, root, "files", make_files(b, res));
	put(b, root, "execution_time_ms", make_measure(res->execution_time_ms));
	put(b, root, "cpu_time_ms", make_measure(res->cpu_time_ms));
	put(b, root, "memory_used_mb", make_measure(res->memory_used_mb));
	put(b, root, "warnings", make_warnings(b, res));
	put(b, root, "findings", make_findings(b, res));
	put(b, root, "proof", make_proof(b, &res->proof));
	put(b, root, "metadata", make_metadata(b, res));

	if (!b->failed)
		text = json_dumps(root, DUMP_FLAGS);
	return text;
}
