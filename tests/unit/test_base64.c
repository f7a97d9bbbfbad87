/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/base64.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

/* RFC 4648, section 10, and bytes at the ends of their range. */
static const struct {
	const char *data;
	size_t len;
	const char *text;
} samples[] = {
	{"", 0, ""},
	{"f", 1, "Zg=="},
	{"fo", 2, "Zm8="},
	{"foo", 3, "Zm9v"},
	{"foob", 4, "Zm9vYg=="},
	{"fooba", 5, "Zm9vYmE="},
	{"foobar", 6, "Zm9vYmFy"},
	{"\0\0\0", 3, "AAAA"},
	{"\xff\xff\xff", 3, "////"},
	{"\xfb\xef\xbe", 3, "++++"},
};

static void the_samples_are_encoded_and_decoded(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		autofree char *text = NULL;
		char data[16];
		size_t len = 99;

		text = dw_base64_encode(samples[i].data, samples[i].len, &len);
		assert_string_equal(text, samples[i].text);
		assert_int_equal(len, strlen(text));
		assert_true(dw_base64_room(len) >= samples[i].len);
		assert_int_equal(dw_base64_decode(text, len, data, &len), 0);
		assert_int_equal(len, samples[i].len);
		assert_memory_equal(data, samples[i].data, len);
	}
}

static void every_byte_survives_a_round_trip(void **state)
{
	unsigned char data[256];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 31);
	for (size_t n = 0; n <= sizeof(data); n++) {
		autofree char *text = NULL;
		autofree char *back = NULL;
		size_t len;

		text = dw_base64_encode(data, n, &len);
		assert_non_null(text);
		back = malloc(dw_base64_room(len) + 1);
		assert_non_null(back);
		assert_int_equal(dw_base64_decode(text, len, back, &len), 0);
		assert_int_equal(len, n);
		assert_memory_equal(back, data, n);
	}
}

static void text_that_is_not_canonical_is_refused(void **state)
{
	static const char *const wrong[] = {
		"Z",        "Zg",     "Zg=",   "Zm9vYg",
		"Zm9vYg=", /* padding missing */
		"=",        "==",     "====",  "Z===",
		"Zm9v=",                                   /* too much padding */
		"Zg==Zg==", "Zg=A",   "=Zg=",  "Zm9v====", /* padding elsewhere */
		"Zm 9v",    "Zm9v\n", " Zm9v", "Zm9v    ",
		"Zm\n=",                                  /* blanks */
		"Zm9-",     "Zm9_",   "Zm9*",  "Zm\377v", /* other alphabets */
		"Zh==",     "Zm9=",                       /* unused bits set */
	};
	char data[64];
	size_t len = 99;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (dw_base64_decode(wrong[i], strlen(wrong[i]), data, &len) != -EINVAL)
			fail_msg("\"%s\" was accepted", wrong[i]);
		assert_int_equal(len, 99);
	}
	assert_int_equal(dw_base64_decode("Zm\0v", 4, data, &len), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_samples_are_encoded_and_decoded),
		cmocka_unit_test(every_byte_survives_a_round_trip),
		cmocka_unit_test(text_that_is_not_canonical_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
