/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/record.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* Names the encoding: a later encoding gets another name, and never the same bytes. */
#define MAGIC "dewar audit 1\n"

#define NUMBER(member)                                                             \
	{                                                                          \
#member, DW_AUDIT_NUMBER, offsetof(struct dw_audit_record, member) \
	}
#define TEXT(member)                                                             \
	{                                                                        \
#member, DW_AUDIT_TEXT, offsetof(struct dw_audit_record, member) \
	}
const struct dw_audit_field dw_audit_fields[] = {
	NUMBER(seq),
	NUMBER(time_us),
	TEXT(kind),
	TEXT(run),
	TEXT(who),
	TEXT(request),
	TEXT(decision),
	TEXT(rule),
	TEXT(level_asked),
	TEXT(level_achieved),
	TEXT(proof_sha256),
	TEXT(status),
	TEXT(reason),
	TEXT(hint),
	NUMBER(exit_code),
	NUMBER(signal),
	NUMBER(run_us),
	NUMBER(cpu_us),
	NUMBER(memory_bytes),
	NUMBER(through_seq),
	TEXT(through_hash),
	TEXT(prev_hash),
	TEXT(hash),
};
_Static_assert(ARRAY_SIZE(dw_audit_fields) == DW_AUDIT_FIELDS,
               "DW_AUDIT_FIELDS is their number");

const char dw_audit_genesis[DW_AUDIT_HASH_MAX] =
	"0000000000000000000000000000000000000000000000000000000000000000";

int64_t *dw_audit_number(struct dw_audit_record *rec, size_t field)
{
	return (int64_t *)((char *)rec + dw_audit_fields[field].at);
}

struct dw_audit_text *dw_audit_text(struct dw_audit_record *rec, size_t field)
{
	return (struct dw_audit_text *)((char *)rec + dw_audit_fields[field].at);
}

void dw_audit_record_init(struct dw_audit_record *rec)
{
	*rec = (struct dw_audit_record){0};
	for (size_t i = 0; i < DW_AUDIT_FIELDS; i++)
		if (dw_audit_fields[i].type == DW_AUDIT_NUMBER)
			*dw_audit_number(rec, i) = DW_AUDIT_NONE;
}

struct dw_audit_text dw_audit_text_of(const char *text)
{
	return (struct dw_audit_text){text, text ? strlen(text) : 0};
}

bool dw_audit_text_is(struct dw_audit_text text, const char *other)
{
	return text.data && text.len == strlen(other) &&
	       memcmp(text.data, other, text.len) == 0;
}

static void put_hex(const uint8_t digest[SHA256_DIGEST_SIZE], char ret[DW_AUDIT_HASH_MAX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++) {
		ret[2 * i] = digits[digest[i] >> 4];
		ret[2 * i + 1] = digits[digest[i] & 15];
	}
	ret[2 * SHA256_DIGEST_SIZE] = '\0';
}

void dw_audit_sha256(const void *data, size_t len, char ret[DW_AUDIT_HASH_MAX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, data);
	sha256_digest(&ctx, sizeof(digest), digest);
	put_hex(digest, ret);
}

/* Hash a letter for the type, and the value as eight bytes, big-endian. */
static void put_word(struct sha256_ctx *ctx, char letter, uint64_t value)
{
	uint8_t bytes[9] = {(uint8_t)letter};

	for (unsigned i = 0; i < 8; i++)
		bytes[1 + i] = (uint8_t)(value >> (56 - 8 * i));
	sha256_update(ctx, sizeof(bytes), bytes);
}

/*
 * Each field has its type and length in front, so that two different records never have
 * the same bytes.
 */
void dw_audit_record_hash(const struct dw_audit_record *rec, char ret[DW_AUDIT_HASH_MAX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct dw_audit_record copy = *rec;
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, strlen(MAGIC), (const uint8_t *)MAGIC);
	for (size_t i = 0; i < DW_AUDIT_FIELDS - 1; i++) {
		const struct dw_audit_text *text = dw_audit_text(&copy, i);
		bool number = dw_audit_fields[i].type == DW_AUDIT_NUMBER;

		if (number && *dw_audit_number(&copy, i) != DW_AUDIT_NONE) {
			put_word(&ctx, 'i', (uint64_t)*dw_audit_number(&copy, i));
		} else if (!number && text->data) {
			put_word(&ctx, 't', text->len);
			sha256_update(&ctx, text->len, (const uint8_t *)text->data);
		} else {
			sha256_update(&ctx, 1, (const uint8_t *)"n");
		}
	}
	sha256_digest(&ctx, sizeof(digest), digest);
	put_hex(digest, ret);
}

void dw_audit_time_text(int64_t time_us, char ret[DW_AUDIT_TIME_MAX])
{
	time_t seconds = (time_t)(time_us / 1000000);
	struct tm tm;
	size_t len;

	/* A file that was tampered with may contain any number. */
	if (time_us < 0 || !gmtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900) {
		(void)snprintf(ret, DW_AUDIT_TIME_MAX, "?");
		return;
	}
	len = strftime(ret, DW_AUDIT_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(ret + len, DW_AUDIT_TIME_MAX - len, ".%06dZ",
	               (int)(time_us % 1000000));
}

static json_t *make_text(struct dw_audit_text text)
{
	autofree char *clean = NULL;
	size_t len;

	clean = dw_utf8_clean(text.data, text.len, &len);
	return clean ? json_stringn_nocheck(clean, len) : NULL;
}

/* The request as an object, if it is valid JSON. */
static json_t *make_request(struct dw_audit_text text)
{
	json_t *request = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);

	return request ? request : make_text(text);
}

json_t *dw_audit_record_to_json(const struct dw_audit_record *rec)
{
	struct dw_audit_record copy = *rec;
	json_auto_t *object = json_object();
	char time_text[DW_AUDIT_TIME_MAX];
	int r = object ? 0 : -1;

	for (size_t i = 0; i < DW_AUDIT_FIELDS; i++) {
		const struct dw_audit_field *field = &dw_audit_fields[i];
		const struct dw_audit_text *text = dw_audit_text(&copy, i);

		if (field->at == offsetof(struct dw_audit_record, time_us)) {
			dw_audit_time_text(copy.time_us, time_text);
			r |= json_object_set_new(object, "time", json_string(time_text));
		}
		if (field->type == DW_AUDIT_NUMBER) {
			if (*dw_audit_number(&copy, i) != DW_AUDIT_NONE)
				r |= json_object_set_new(object, field->name,
				                         json_integer(
								 *dw_audit_number(&copy,
				                                                  i)));
		} else if (text->data) {
			r |= json_object_set_new(
				object, field->name,
				field->at == offsetof(struct dw_audit_record, request)
					? make_request(*text)
					: make_text(*text));
		}
	}
	return r == 0 ? json_incref(object) : NULL;
}
