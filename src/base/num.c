/* SPDX-License-Identifier: Apache-2.0 */
#include "base/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* A kind of number: its units, and the words for its errors. */
struct kind {
	const char *what;
	const char *help;
	const char *finest;
	const struct unit *units;
	size_t n_units;
};

static const struct unit size_units[] = {
	{"", 1},
	{"k", 1ULL << 10},
	{"kb", 1ULL << 10},
	{"kib", 1ULL << 10},
	{"m", 1ULL << 20},
	{"mb", 1ULL << 20},
	{"mib", 1ULL << 20},
	{"g", 1ULL << 30},
	{"gb", 1ULL << 30},
	{"gib", 1ULL << 30},
	{"t", 1ULL << 40},
	{"tb", 1ULL << 40},
	{"tib", 1ULL << 40},
};

static const struct unit time_units[] = {
	{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000},
};

static const struct unit cpu_units[] = {
	{"", 100},
	{"%", 1},
};

static const struct kind size_kind = {
	.what = "a size",
	.help = "use bytes, or a number with k, m, g or t (256m)",
	.finest = "a byte",
	.units = size_units,
	.n_units = ARRAY_SIZE(size_units),
};

static const struct kind time_kind = {
	.what = "a time",
	.help = "use seconds, or a number with ms, s, m or h (500ms)",
	.finest = "a millisecond",
	.units = time_units,
	.n_units = ARRAY_SIZE(time_units),
};

static const struct kind cpu_kind = {
	.what = "a share of processors",
	.help = "use cores (0.5) or a percentage of one core (50%)",
	.finest = "a percent of a core",
	.units = cpu_units,
	.n_units = ARRAY_SIZE(cpu_units),
};

/* Not isdigit() and strtoull(): they depend on the locale, and accept blanks and signs. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Read digits and move *p behind them. Returns false if the number does not fit. */
static bool read_digits(const char **p, uint64_t *ret)
{
	bool fits = true;

	*ret = 0;
	for (; is_digit(**p); (*p)++)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(**p - '0'), ret))
			fits = false;
	return fits;
}

/* Not strcasecmp() either: in some locales I is not the capital of i. */
static bool is_unit(const char *text, const char *name)
{
	for (; *name != '\0'; text++, name++)
		if (*text != *name && (*name < 'a' || *text != *name - 'a' + 'A'))
			return false;
	return *text == '\0';
}

static const struct unit *find_unit(const struct kind *kind, const char *text)
{
	for (size_t i = 0; i < kind->n_units; i++)
		if (is_unit(text, kind->units[i].name))
			return &kind->units[i];
	return NULL;
}

/*
 * Multiply factor by the fraction that the digits after a point stand for, and round
 * down. Going from the last digit to the first and rounding down at each step gives the
 * same result as rounding down once. So this needs neither floating point nor a limit on
 * the number of digits.
 */
static uint64_t part_of(uint64_t factor, const char *first, const char *end)
{
	uint64_t part = 0;

	while (end > first)
		part = ((uint64_t)(*--end - '0') * factor + part) / 10;
	return part;
}

static int parse(const struct kind *kind, const char *text, uint64_t *ret,
                 struct dw_error *err)
{
	const char *p = text, *point = NULL, *end;
	const struct unit *unit;
	uint64_t value;
	bool fits, some;

	fits = read_digits(&p, &value);
	some = p > text;
	end = p;
	if (*p == '.') {
		point = ++p;
		while (is_digit(*p))
			p++;
		some = p > point;
		end = p;
	}
	unit = some ? find_unit(kind, p) : NULL;
	if (!unit)
		return dw_fail(err, DW_E_INVALID, 0, "\"%.64s\" is not %s: %s", text,
		               kind->what, kind->help);

	if (!fits || __builtin_mul_overflow(value, unit->factor, &value) ||
	    (point &&
	     __builtin_add_overflow(value, part_of(unit->factor, point, end), &value)))
		return dw_fail(err, DW_E_INVALID, 0, "\"%.64s\" is too large for %s: %s",
		               text, kind->what, kind->help);

	/*
	 * Refuse to round where the result would mislead: 0 would select the default, and
	 * with 1.5 bytes a unit was forgotten.
	 */
	while (point && point < end && *point == '0')
		point++;
	if (point && point < end && (value == 0 || unit->factor == 1))
		return dw_fail(err, DW_E_INVALID, 0, "\"%.64s\" is finer than %s: %s",
		               text, kind->finest, kind->help);
	*ret = value;
	return 0;
}

int dw_parse_uint(const char *text, uint64_t max, uint64_t *ret, struct dw_error *err)
{
	const char *p = text;
	uint64_t value;
	bool fits;

	fits = read_digits(&p, &value);
	if (p == text || *p != '\0')
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not a whole number: use digits only (42)",
		               text);
	if (!fits || value > max)
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is too large: at most %llu", text,
		               (unsigned long long)max);
	*ret = value;
	return 0;
}

int dw_parse_size(const char *text, uint64_t *ret, struct dw_error *err)
{
	return parse(&size_kind, text, ret, err);
}

int dw_parse_time(const char *text, uint64_t *ret_ms, struct dw_error *err)
{
	return parse(&time_kind, text, ret_ms, err);
}

int dw_parse_cpus(const char *text, uint64_t *ret_percent, struct dw_error *err)
{
	return parse(&cpu_kind, text, ret_percent, err);
}

const char *dw_size_text(uint64_t bytes, char ret[DW_VALUE_TEXT_MAX])
{
	static const char units[] = "KMGTP";
	int unit = -1;

	for (; bytes > 0 && bytes % 1024 == 0 && unit < 4; unit++)
		bytes /= 1024;
	(void)snprintf(ret, DW_VALUE_TEXT_MAX, "%llu%.1s", (unsigned long long)bytes,
	               unit < 0 ? "" : units + unit);
	return ret;
}

const char *dw_time_text(uint64_t ms, char ret[DW_VALUE_TEXT_MAX])
{
	bool whole = ms % 1000 == 0;

	(void)snprintf(ret, DW_VALUE_TEXT_MAX, "%llu%s",
	               (unsigned long long)(whole ? ms / 1000 : ms), whole ? "s" : "ms");
	return ret;
}
