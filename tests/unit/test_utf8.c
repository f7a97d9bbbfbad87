/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define FFFD "\xef\xbf\xbd"

static void becomes(const char *data, size_t len, const char *want, size_t want_len)
{
	autofree char *clean = NULL;
	autofree char *copy = NULL;
	size_t got = 0;

	/* A copy of exactly this length, so that a sanitizer detects a read past the end. */
	copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, data, len);

	clean = dw_utf8_clean(copy, len, &got);
	assert_non_null(clean);
	assert_int_equal(got, want_len);
	assert_memory_equal(clean, want, want_len + 1);
	assert_true(dw_utf8_valid(clean, got));
	assert_int_equal(dw_utf8_valid(copy, len),
	                 len == want_len && memcmp(copy, want, len) == 0);
}

#define BECOMES(from, to) becomes(from, sizeof(from) - 1, to, sizeof(to) - 1)
#define STAYS(text) BECOMES(text, text)

static void valid_text_stays_as_it_is(void **state)
{
	(void)state;
	STAYS("");
	STAYS("plain ASCII\n\t\x7f");
	STAYS("a\0b");
	STAYS("\xc2\x80 \xdf\xbf"); /* two bytes, first and last */
	STAYS("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"); /* three */
	STAYS("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf");                   /* four */
	STAYS(FFFD);
}

static void each_invalid_byte_becomes_one_replacement_character(void **state)
{
	(void)state;
	BECOMES("\x80", FFFD);
	BECOMES("a\xffz", "a" FFFD "z");
	BECOMES("\xbf\xbf", FFFD FFFD);
	BECOMES("\xfe\xff\xf8\x88", FFFD FFFD FFFD FFFD);
	BECOMES("\xc3(", FFFD "(");
}

static void a_truncated_character_becomes_one_replacement_character(void **state)
{
	(void)state;
	BECOMES("\xe2\x82", FFFD);
	BECOMES("\xe2\x82x", FFFD "x");
	BECOMES("\xf0\x9f\x98", FFFD);
	BECOMES("\xf0\x9f\x98\xf0\x9f\x98\x80", FFFD "\xf0\x9f\x98\x80");
	BECOMES("\xf1\x80\x80\xe1\x80\xc2", FFFD FFFD FFFD);
}

static void overlong_forms_are_invalid(void **state)
{
	(void)state;
	BECOMES("\xc0\xaf", FFFD FFFD);
	BECOMES("\xc1\xbf", FFFD FFFD);
	BECOMES("\xe0\x9f\xbf", FFFD FFFD FFFD);
	BECOMES("\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD);
}

static void surrogates_and_values_above_10ffff_are_invalid(void **state)
{
	(void)state;
	BECOMES("\xed\xa0\x80", FFFD FFFD FFFD);
	BECOMES("\xed\xbf\xbf", FFFD FFFD FFFD);
	BECOMES("\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD);
	BECOMES("\xf5\x80\x80\x80", FFFD FFFD FFFD FFFD);
}

/* The example of the Unicode Standard, table 3-8. */
static void replacement_characters_match_the_unicode_standard(void **state)
{
	(void)state;
	BECOMES("a\xf1\x80\x80\xe1\x80\xc2"
	        "b\x80"
	        "c\x80\xbf"
	        "d",
	        "a" FFFD FFFD FFFD "b" FFFD "c" FFFD FFFD "d");
}

static void every_pair_of_bytes_becomes_valid_utf8(void **state)
{
	char data[3] = {0, 0, (char)0x80};
	size_t len;

	(void)state;
	for (unsigned i = 0; i < 65536; i++) {
		autofree char *clean = NULL;

		data[0] = (char)(i >> 8);
		data[1] = (char)i;
		clean = dw_utf8_clean(data, sizeof(data), &len);
		assert_non_null(clean);
		assert_true(dw_utf8_valid(clean, len));
	}
}

static void the_length_may_be_omitted(void **state)
{
	autofree char *clean = NULL;

	(void)state;
	clean = dw_utf8_clean("abc", 3, NULL);
	assert_string_equal(clean, "abc");
}

static void characters_are_decoded(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		uint32_t c;
		bool invisible;
	} table[] = {
		{"a", 1, 'a', false},
		{"\x1b", 1, 0x1b, true},
		{"\xc3\xa9", 2, 0xe9, false},
		{"\xc2\x9b", 2, 0x9b, true},
		{"\xe2\x80\x94", 3, 0x2014, false}, /* a dash */
		{"\xe2\x80\xae", 3, 0x202e, true},  /* right to left */
		{"\xe2\x81\xa6", 3, 0x2066, true},
		{"\xf0\x9f\x98\x80", 4, 0x1f600, false},
		{"\xf3\xa0\x81\x81", 4, 0xe0041, true}, /* a tag */
		{"\x9b", 1, DW_UTF8_INVALID, false},
		{"\xe2\x80", 2, DW_UTF8_INVALID, false},
	};
	uint32_t c;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		size_t len = strlen(table[i].text);

		assert_int_equal(dw_utf8_decode(table[i].text, len, &c), table[i].len);
		assert_int_equal(c, table[i].c);
		assert_int_equal(dw_utf8_is_invisible(c), table[i].invisible);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_text_stays_as_it_is),
		cmocka_unit_test(each_invalid_byte_becomes_one_replacement_character),
		cmocka_unit_test(a_truncated_character_becomes_one_replacement_character),
		cmocka_unit_test(overlong_forms_are_invalid),
		cmocka_unit_test(surrogates_and_values_above_10ffff_are_invalid),
		cmocka_unit_test(replacement_characters_match_the_unicode_standard),
		cmocka_unit_test(every_pair_of_bytes_becomes_valid_utf8),
		cmocka_unit_test(the_length_may_be_omitted),
		cmocka_unit_test(characters_are_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
