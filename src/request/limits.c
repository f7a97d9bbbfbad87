/* SPDX-License-Identifier: Apache-2.0 */
#include "request/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"

const struct dw_limit_row dw_limit_rows[DW_LIMIT_COUNT] = {
#define DW_LIMIT(id, member_, kind_, option_, variable_, key_, scale_, unit_, normal_, \
                 least_, most_, name_, word_, fallback_, what_)                        \
	{                                                                              \
		.member = #member_,                                                    \
		.kind = DW_LIMIT_KIND_##kind_,                                         \
		.option = (option_),                                                   \
		.key = (key_),                                                         \
		.scale = (scale_),                                                     \
		.unit = (unit_),                                                       \
		.normal = (normal_),                                                   \
		.least = (least_),                                                     \
		.most = (most_),                                                       \
		.name = (name_),                                                       \
		.word = (word_),                                                       \
		.what = (what_),                                                       \
	},
#include "dewar/limits.def"
};

/* All members are uint64_t, in the order of the table, so a row is also an index. */
_Static_assert(sizeof(struct dw_limits) == DW_LIMIT_COUNT * sizeof(uint64_t),
               "one member a row");

uint64_t *dw_limit_of(struct dw_limits *limits, size_t row)
{
	return (uint64_t *)(void *)limits + row;
}

uint64_t dw_limit_get(const struct dw_limits *limits, size_t row)
{
	return *dw_limit_of((struct dw_limits *)limits, row);
}

const char *dw_limit_text(size_t row, uint64_t value, char ret[DW_VALUE_TEXT_MAX])
{
	enum dw_limit_kind kind = dw_limit_rows[row].kind;

	if (kind == DW_LIMIT_KIND_TIME)
		return dw_time_text(value, ret);
	if (kind == DW_LIMIT_KIND_SIZE)
		return dw_size_text(value, ret);
	(void)snprintf(ret, DW_VALUE_TEXT_MAX, "%" PRIu64 "%s", value,
	               kind == DW_LIMIT_KIND_CPUS ? "%" : "");
	return ret;
}

int dw_limit_check(size_t row, uint64_t value, struct dw_error *err)
{
	const struct dw_limit_row *r = &dw_limit_rows[row];
	bool low = value < r->least;
	char bound[DW_VALUE_TEXT_MAX];

	if (!low && value <= r->most)
		return 0;
	(void)dw_limit_text(row, low ? r->least : r->most, bound);
	/* --memory 256: the unit is missing. */
	if (low && value > 0 && r->kind == DW_LIMIT_KIND_SIZE)
		return dw_fail(err, DW_E_INVALID, 0,
		               "must be at least %s, not %" PRIu64
		               " bytes (did you mean %" PRIu64 "M?)",
		               bound, value, value);
	return dw_fail(err, DW_E_INVALID, 0, "must be at %s %s", low ? "least" : "most",
	               bound);
}

int dw_limit_parse(size_t row, const char *text, uint64_t *ret, struct dw_error *err)
{
	static int (*const parsers[])(const char *text, uint64_t *ret,
	                              struct dw_error *err) = {
		[DW_LIMIT_KIND_TIME] = dw_parse_time,
		[DW_LIMIT_KIND_SIZE] = dw_parse_size,
		[DW_LIMIT_KIND_CPUS] = dw_parse_cpus,
	};
	enum dw_limit_kind kind = dw_limit_rows[row].kind;
	uint64_t value;
	int r;

	r = kind == DW_LIMIT_KIND_COUNT ? dw_parse_uint(text, UINT64_MAX, &value, err)
	                                : parsers[kind](text, &value, err);
	if (r < 0 || dw_limit_check(row, value, err) < 0)
		return -1;
	*ret = value;
	return 0;
}

/* The bounds in the unit of the JSON key. Only a time may have a fraction. */
static double least_of(const struct dw_limit_row *r)
{
	double least = (double)r->least / (double)r->scale;

	return r->kind == DW_LIMIT_KIND_TIME || least > 1 ? least : 1;
}

static double most_of(const struct dw_limit_row *r)
{
	return (double)r->most / (double)r->scale;
}

int dw_limit_from_json(size_t row, const json_t *value, uint64_t *ret,
                       struct dw_error *err)
{
	const struct dw_limit_row *r = &dw_limit_rows[row];
	bool fraction = r->kind == DW_LIMIT_KIND_TIME;
	double number = json_number_value(value);

	if (fraction ? !json_is_number(value) : !json_is_integer(value))
		return dw_fail(err, DW_E_INVALID, 0, "limits.%s must be a %snumber",
		               r->key, fraction ? "" : "whole ");
	if (!(number >= least_of(r)))
		return dw_fail(err, DW_E_INVALID, 0, "limits.%s must be at least %.10g",
		               r->key, least_of(r));
	if (number > most_of(r))
		return dw_fail(err, DW_E_INVALID, 0, "limits.%s must be at most %.10g",
		               r->key, most_of(r));
	/* 1.001 * 1000 is 1000.99... in floating point: round, do not truncate. */
	*ret = (uint64_t)(number * (double)r->scale + 0.5);
	return 0;
}

int dw_limits_check(const struct dw_limits *limits, struct dw_error *err)
{
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++) {
		const struct dw_limit_row *r = &dw_limit_rows[i];
		uint64_t value = dw_limit_get(limits, i);
		bool low = value < r->least;

		if (value != 0 && (low || value > r->most))
			return dw_fail(err, DW_E_INVALID, 0,
			               "limits.%s must be at %s %.10g", r->key,
			               low ? "least" : "most",
			               (double)(low ? r->least : r->most) /
			                       (double)r->scale);
	}
	return 0;
}

bool dw_limits_fit(const struct dw_limits *built, const struct dw_limits *wanted)
{
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		if (i != DW_LIMIT_TIMEOUT && i != DW_LIMIT_OUTPUT &&
		    dw_limit_get(built, i) != dw_limit_get(wanted, i))
			return false;
	return true;
}

void dw_limits_fill(struct dw_limits *limits, const struct dw_limits *otherwise)
{
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		if (dw_limit_get(limits, i) == 0)
			*dw_limit_of(limits, i) = dw_limit_get(otherwise, i);
}

struct dw_limits dw_limits_normal(void)
{
	struct dw_limits limits;

	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		*dw_limit_of(&limits, i) = dw_limit_rows[i].normal;
	return limits;
}

json_t *dw_limit_schema(size_t row, bool nullable)
{
	const struct dw_limit_row *r = &dw_limit_rows[row];
	bool fraction = r->kind == DW_LIMIT_KIND_TIME;
	const char *type = fraction ? "number" : "integer";

	return json_pack("{s:o, s:o, s:o, s:s}", "type",
	                 nullable ? json_pack("[s, s]", type, "null") : json_string(type),
	                 "minimum",
	                 fraction ? json_real(least_of(r))
	                          : json_integer((json_int_t)least_of(r)),
	                 "maximum", json_integer((json_int_t)most_of(r)), "description",
	                 r->what);
}
