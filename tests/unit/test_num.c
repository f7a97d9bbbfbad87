/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/values.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

typedef int parse_fn(const char *text, uint64_t *ret, struct dw_error *err);

struct sample {
	const char *text;
	uint64_t value;
};

static void takes(parse_fn *parse, const struct sample *samples, size_t n)
{
	struct dw_error err = {0};
	uint64_t value;

	for (size_t i = 0; i < n; i++) {
		value = 42;
		if (parse(samples[i].text, &value, &err) < 0)
			fail_msg("%s: %s", samples[i].text, err.text);
		if (value != samples[i].value)
			fail_msg("%s became %llu", samples[i].text,
			         (unsigned long long)value);
	}
}

/* A refusal says why, names the text and a unit, and leaves *ret unchanged. */
static void refuses(parse_fn *parse, const char *const *texts, size_t n, const char *help)
{
	struct dw_error err;
	uint64_t value;

	for (size_t i = 0; i < n; i++) {
		value = 42;
		err = (struct dw_error){0};
		if (parse(texts[i], &value, &err) == 0)
			fail_msg("\"%s\" was accepted as %llu", texts[i],
			         (unsigned long long)value);
		assert_int_equal(value, 42);
		assert_int_equal(err.code, DW_E_INVALID);
		assert_non_null(strstr(err.text, help));
		if (texts[i][0] != '\0' && strlen(texts[i]) < 60 &&
		    !strchr(texts[i], '\n'))
			assert_non_null(strstr(err.text, texts[i]));
	}
}

static void sizes_are_parsed_in_every_unit_and_case(void **state)
{
	static const struct sample samples[] = {
		{"0", 0},
		{"1048576", 1048576},
		{"007", 7},
		{"512k", 524288},
		{"512K", 524288},
		{"1kb", 1024},
		{"1KiB", 1024},
		{"256m", 268435456},
		{"256MB", 268435456},
		{"256Mib", 268435456},
		{"1g", 1073741824},
		{"1GB", 1073741824},
		{"1GIB", 1073741824},
		{"2t", 2199023255552},
		{"2Tb", 2199023255552},
		{"18446744073709551615", UINT64_MAX},
		{"16777215t", UINT64_MAX - (1ULL << 40) + 1},
	};

	(void)state;
	takes(dw_parse_size, samples, ARRAY_SIZE(samples));
}

static void fractions_are_exact(void **state)
{
	static const struct sample samples[] = {
		{"1.5m", 1572864},
		{".5k", 512},
		{"0.1g", 107374182},
		{"1.10k", 1126},
		{"2.0", 2},
		{"0.0k", 0},
		{"0.0009765625k", 1},
		/* Floating point would round these two up. */
		{"0.99999999999999999999999k", 1023},
		{"16777215.999999999999999999999999999999t", UINT64_MAX},
		{"0.0000000000009094947017729282379150390625t", 1},
	};

	(void)state;
	takes(dw_parse_size, samples, ARRAY_SIZE(samples));
}

static void an_invalid_size_is_refused(void **state)
{
	static const char *const texts[] = {
		"",    " ",    "12q",  "k",     ".",      "1.",   "1.k",  " 1",   "1 ",
		"1 k", "+1",   "-1",   "1..5k", "1.5.5k", "1,5k", "0x10", "1e3",  "inf",
		"nan", "12kk", "1kbb", "1b\n",  "\n",     "1%",   "1ms",  "\xff", "１",
	};

	(void)state;
	refuses(dw_parse_size, texts, ARRAY_SIZE(texts),
	        "use bytes, or a number with k, m, g or t (256m)");
}

static void the_error_of_an_invalid_size_is_one_line(void **state)
{
	struct dw_error err = {0};
	uint64_t value;

	(void)state;
	assert_int_equal(dw_parse_size("12q", &value, &err), -1);
	assert_string_equal(
		err.text,
		"\"12q\" is not a size: use bytes, or a number with k, m, g or t (256m)");
}

static void a_number_that_overflows_is_refused(void **state)
{
	static const char *const texts[] = {
		"18446744073709551616",
		"99999999999999999999999999999999999999",
		"16777216t",
		"18014398509481984k",
		"18446744073709551615.5k",
	};
	char long_text[4096];
	const char *one = long_text;

	(void)state;
	refuses(dw_parse_size, texts, ARRAY_SIZE(texts), "is too large for a size");
	memset(long_text, '9', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	refuses(dw_parse_size, &one, 1, "is too large for a size");
	refuses(dw_parse_time, &one, 1, "is too large for a time");
}

static void a_fraction_of_the_smallest_unit_is_refused(void **state)
{
	static const char *const sizes[] = {"0.0001k", "0.5", "1.5"};
	static const char *const times[] = {"0.0001", "0.9ms", "1.5ms"};
	static const char *const cpus[] = {"0.001", "0.5%", "50.5%"};

	(void)state;
	refuses(dw_parse_size, sizes, ARRAY_SIZE(sizes), "is finer than a byte");
	refuses(dw_parse_time, times, ARRAY_SIZE(times), "is finer than a millisecond");
	refuses(dw_parse_cpus, cpus, ARRAY_SIZE(cpus), "is finer than a percent");
}

static void times_are_parsed_as_milliseconds(void **state)
{
	static const struct sample samples[] = {
		{"0", 0},        {"30", 30000},     {"30s", 30000}, {"1.5s", 1500},
		{"500ms", 500},  {"500MS", 500},    {"2m", 120000}, {"2min", 120000},
		{"1h", 3600000}, {"0.5h", 1800000}, {"0.001", 1},   {"0.29", 290},
		{"1.1", 1100},   {"1.0009s", 1000},
	};
	static const char *const texts[] = {"",    "s",   "1d", "1 s",
	                                    "-1s", "1mm", "1k", "1sec!"};

	(void)state;
	takes(dw_parse_time, samples, ARRAY_SIZE(samples));
	refuses(dw_parse_time, texts, ARRAY_SIZE(texts),
	        "is not a time: use seconds, or a number with ms, s, m or h");
}

static void cpus_are_parsed_as_percent_of_a_core(void **state)
{
	static const struct sample samples[] = {
		{"0.5", 50},  {"2", 200},   {"50%", 50},
		{"0.29", 29}, {"1.5", 150}, {"150%", 150},
	};
	static const char *const texts[] = {"", "%", "50 %", "50%%", "half", "1c"};

	(void)state;
	takes(dw_parse_cpus, samples, ARRAY_SIZE(samples));
	refuses(dw_parse_cpus, texts, ARRAY_SIZE(texts),
	        "use cores (0.5) or a percentage");
}

static void whole_numbers_above_the_maximum_are_refused(void **state)
{
	static const char *const wrong[] = {"",   "-1",  "+1",  " 1",
	                                    "1 ", "1.0", "0x1", "a"};
	struct dw_error err = {0};
	uint64_t value = 42;

	(void)state;
	assert_int_equal(dw_parse_uint("65535", 65535, &value, &err), 0);
	assert_int_equal(value, 65535);
	assert_int_equal(dw_parse_uint("18446744073709551615", UINT64_MAX, &value, &err),
	                 0);
	assert_true(value == UINT64_MAX);

	value = 42;
	assert_int_equal(dw_parse_uint("65536", 65535, &value, &err), -1);
	assert_string_equal(err.text, "\"65536\" is too large: at most 65535");
	assert_int_equal(dw_parse_uint("18446744073709551616", UINT64_MAX, &value, &err),
	                 -1);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(dw_parse_uint(wrong[i], 100, &value, &err), -1);
		assert_int_equal(err.code, DW_E_INVALID);
		assert_non_null(strstr(err.text, "is not a whole number"));
	}
	assert_int_equal(value, 42);
}

static void the_locale_changes_nothing(void **state)
{
	static const struct sample samples[] = {{"1.5GIB", 1610612736}};
	static const char *const texts[] = {"1,5k"};

	(void)state;
	/* On a host with neither locale this test repeats the others. */
	if (!setlocale(LC_ALL, "tr_TR.ISO-8859-9"))
		(void)setlocale(LC_ALL, "de_DE.UTF-8");
	takes(dw_parse_size, samples, ARRAY_SIZE(samples));
	refuses(dw_parse_size, texts, ARRAY_SIZE(texts), "is not a size");
	(void)setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_parsed_in_every_unit_and_case),
		cmocka_unit_test(fractions_are_exact),
		cmocka_unit_test(an_invalid_size_is_refused),
		cmocka_unit_test(the_error_of_an_invalid_size_is_one_line),
		cmocka_unit_test(a_number_that_overflows_is_refused),
		cmocka_unit_test(a_fraction_of_the_smallest_unit_is_refused),
		cmocka_unit_test(times_are_parsed_as_milliseconds),
		cmocka_unit_test(cpus_are_parsed_as_percent_of_a_core),
		cmocka_unit_test(whole_numbers_above_the_maximum_are_refused),
		cmocka_unit_test(the_locale_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
