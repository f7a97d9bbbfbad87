/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_RECORD_H
#define DW_AUDIT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * A record and its hash.
 *
 * A record is a row of fields, each a number, a text or absent. The table in record.c
 * defines their order for the file, the hash and the JSON form. docs/AUDIT.md specifies
 * the encoding, for programs that verify the chain without Dewar.
 */

#define DW_AUDIT_HASH_MAX 65 /* SHA-256 in hex */

/* An absent number. */
#define DW_AUDIT_NONE INT64_MIN

/* Has a length because a file that was tampered with may contain a NUL. */
struct dw_audit_text {
	const char *data; /* NULL: absent */
	size_t len;
};

/* Strings are borrowed. Start from dw_audit_record_init(). */
struct dw_audit_record {
	int64_t seq;
	int64_t time_us;           /* since 1970 */
	struct dw_audit_text kind; /* intent, outcome, interrupted or checkpoint */
	struct dw_audit_text run;
	struct dw_audit_text who;
	struct dw_audit_text request; /* as JSON */
	struct dw_audit_text decision;
	struct dw_audit_text rule;
	struct dw_audit_text level_asked;
	struct dw_audit_text level_achieved;
	struct dw_audit_text proof_sha256;
	struct dw_audit_text status;
	struct dw_audit_text reason;
	struct dw_audit_text hint;
	int64_t exit_code;
	int64_t signal;
	int64_t run_us;
	int64_t cpu_us;
	int64_t memory_bytes;
	int64_t through_seq;               /* of a checkpoint: the last removed record */
	struct dw_audit_text through_hash; /* the hash of that record */
	struct dw_audit_text prev_hash;
	struct dw_audit_text hash; /* over all the fields above */
};

enum dw_audit_type {
	DW_AUDIT_NUMBER = 0,
	DW_AUDIT_TEXT,
	DW_AUDIT_TYPE_COUNT
};

struct dw_audit_field {
	const char *name;
	enum dw_audit_type type;
	size_t at; /* in struct dw_audit_record */
};

/* In the order of the encoding; the hash is the last. */
#define DW_AUDIT_FIELDS 23
extern const struct dw_audit_field dw_audit_fields[DW_AUDIT_FIELDS];

void dw_audit_record_init(struct dw_audit_record *rec);

int64_t *dw_audit_number(struct dw_audit_record *rec, size_t field);
struct dw_audit_text *dw_audit_text(struct dw_audit_record *rec, size_t field);

struct dw_audit_text dw_audit_text_of(const char *text);
bool dw_audit_text_is(struct dw_audit_text text, const char *other);

/* SHA-256 in hex: of bytes, or of all fields of a record except its hash. */
void dw_audit_sha256(const void *data, size_t len, char ret[DW_AUDIT_HASH_MAX]);
void dw_audit_record_hash(const struct dw_audit_record *rec, char ret[DW_AUDIT_HASH_MAX]);

/* The prev_hash of the first record. */
extern const char dw_audit_genesis[DW_AUDIT_HASH_MAX];

/* A JSON object without absent fields; NULL without memory. */
json_t *dw_audit_record_to_json(const struct dw_audit_record *rec);

/* "2026-11-15T14:44:35.123456Z" */
#define DW_AUDIT_TIME_MAX 32
void dw_audit_time_text(int64_t time_us, char ret[DW_AUDIT_TIME_MAX]);

#endif
