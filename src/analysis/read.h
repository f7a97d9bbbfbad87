/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_READ_H
#define DW_ANALYSIS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analyse.h"
#include "analysis/tree.h"

/*
 * What all languages share: names and what they were given, constants folded,
 * findings collected.
 *
 * A language is read in two passes over its tree. The first notes what every name
 * is given (bind), scope by scope. The second looks at each part (check) and asks
 * what expressions come to (eval). An expression comes to a text, a number, a name
 * of the language's library ("os.system", whatever it is called here), a literal
 * list, or nothing that we know. It is never run: branches are all taken to happen,
 * and a name is all that it was ever given, the nearest first.
 */

enum dw_value_type {
	DW_V_UNKNOWN = 0,
	DW_V_TEXT,
	DW_V_NAME, /* text is a path: "os.system" */
	DW_V_NUMBER,
	DW_V_PART, /* a literal or a function, in the tree */
	DW_V_COUNT
};

struct dw_value {
	enum dw_value_type type;
	const char *text; /* in the reading's arena, the code or a table; NUL behind it */
	size_t len;
	int64_t number;
	uint32_t part;
};

/* The most that one text is folded to. */
#define DW_FOLD_MAX 4096U

/* Whoever is called like this, from anywhere. */
struct dw_danger {
	const char *
		path; /* "os.system"; "subprocess.*" is each name in it, "a**" any start */
	const char *rule; /* "shell:" gets the path, "shell:x" is the rule */
	enum dw_severity severity;
	uint8_t code; /* DW_CODE_*: what the first constant argument is */
};

enum dw_code_kind {
	DW_CODE_NONE = 0,
	DW_CODE_SELF,  /* in this language */
	DW_CODE_SHELL, /* a command line */
	DW_CODE_COUNT
};

struct dw_reading;

struct dw_reader {
	const char *name;
	const char *aliases[5];
	const char *grammar;
	const char *const *modules;      /* that need a reason; ends in NULL */
	const struct dw_danger *dangers; /* ends in an entry without path */

	/* Does a part of this kind begin a scope of its own? NULL: there is only one. */
	bool (*is_scope)(const struct dw_tree *tree, uint32_t part);
	void (*bind)(struct dw_reading *r, uint32_t part);
	struct dw_value (*eval)(struct dw_reading *r, uint32_t part);
	/* What a name is of what base came to. */
	struct dw_value (*member)(struct dw_reading *r, struct dw_value base,
	                          const char *name, size_t len);
	void (*check)(struct dw_reading *r, uint32_t part);
	/* Instead of all these. */
	void (*read)(struct dw_reading *r);
};

extern const struct dw_reader dw_reader_bash;
extern const struct dw_reader dw_reader_javascript;
extern const struct dw_reader dw_reader_php;
extern const struct dw_reader dw_reader_python;
extern const struct dw_reader dw_reader_ruby;
extern const struct dw_reader dw_reader_typescript;

enum dw_binding_kind {
	DW_BIND_VALUE = 0, /* = part */
	DW_BIND_APPEND,    /* += part */
	DW_BIND_NAME,      /* the library's path */
	DW_BIND_MEMBER,    /* path is a member of what part comes to: {exec} = part */
	DW_BIND_OPAQUE,    /* something, perhaps, and we do not know what */
	DW_BIND_OTHER,     /* something of the program's own, for sure */
	DW_BIND_COUNT
};

struct dw_binding {
	uint32_t next; /* of the same name and scope, nearer to the beginning; 0 ends */
	uint32_t at;   /* the byte from which it holds */
	uint32_t part;
	const char *path;
	enum dw_binding_kind kind;
	bool busy; /* being evaluated: it is given itself */
	bool known;
	struct dw_value value;
};

struct dw_arena;
struct dw_names;

struct dw_reading {
	const struct dw_reader *reader;
	const struct dw_analyse_options *options;
	struct dw_tree tree;
	struct dw_arena *arena;
	struct dw_names *names;
	struct dw_findings found;
	size_t room;
	uint32_t *lines; /* where each begins */
	size_t n_lines;
	uint64_t fuel;  /* steps that are left, for programs inside this one, too */
	uint32_t depth; /* of eval() */
	uint32_t inner; /* how many programs this one is inside */
	bool cut;       /* more was found than we keep */
	bool no_memory;
};

/* Report a finding; the rule's name may be made of anything, and so may the message. */
void dw_found(struct dw_reading *r, uint32_t part, enum dw_severity severity,
              const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* The same, at a byte of the code. */
void dw_found_at(struct dw_reading *r, uint32_t byte, enum dw_severity severity,
                 const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* The same, at a line and a column. */
void dw_found_line(struct dw_reading *r, uint32_t line, uint32_t column,
                   enum dw_severity severity, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* What a program inside this one was found to do, at the place where it stands. */
void dw_found_inside(struct dw_reading *r, uint32_t line, uint32_t column,
                     const struct dw_finding *found);

/* One more step; false if there have been too many, which is reported at the end. */
bool dw_step(struct dw_reading *r);

/* A copy that lives as long as the reading, with a NUL behind; NULL past the bound. */
char *dw_keep(struct dw_reading *r, const char *text, size_t len);

extern const struct dw_value dw_unknown;
struct dw_value dw_value_text(struct dw_reading *r, const char *text, size_t len);
struct dw_value dw_value_name(struct dw_reading *r, const char *path);
struct dw_value dw_value_number(int64_t number);
struct dw_value dw_value_part(uint32_t part);

/* What both come to, one behind the other; unknown unless both are texts. */
struct dw_value dw_value_join(struct dw_reading *r, struct dw_value a, struct dw_value b);
/* "a" and "b": "a.b" */
struct dw_value dw_value_member(struct dw_reading *r, struct dw_value base,
                                const char *member, size_t len);
bool dw_value_is(struct dw_value v, enum dw_value_type type, const char *text);
bool dw_value_same(struct dw_value a, struct dw_value b);
/* What the literal list's element of that index comes to. */
struct dw_value dw_value_element(struct dw_reading *r, uint32_t list, int64_t index);

/* reader->eval(), with its bounds kept. */
struct dw_value dw_eval(struct dw_reading *r, uint32_t part);

/* What a part's text is bound to, in the part's scope. The part is where it holds. */
void dw_bind(struct dw_reading *r, uint32_t scope, const char *name, size_t len,
             uint32_t at, enum dw_binding_kind kind, uint32_t part, const char *path);
/* The name that stands there, in its scope. */
void dw_bind_name(struct dw_reading *r, uint32_t name, uint32_t at,
                  enum dw_binding_kind kind, uint32_t part, const char *path);

/* What a name is, seen from a scope and a byte. */
enum dw_bound {
	DW_BOUND_NOT = 0, /* given nothing, there or around */
	DW_BOUND_LATER,   /* given something, but only behind that byte */
	DW_BOUND_PERHAPS, /* given something, but it may still be the language's own */
	DW_BOUND_SURELY,
};

enum dw_bound dw_lookup(struct dw_reading *r, uint32_t scope, const char *name,
                        size_t len, uint32_t at, struct dw_value *ret);
/* The scope around a scope. */
uint32_t dw_scope_parent(const struct dw_reading *r, uint32_t scope);

/* Report the part if what it comes to is in the table; the entry, or NULL. */
const struct dw_danger *dw_check_danger(struct dw_reading *r, uint32_t part,
                                        struct dw_value v);
const struct dw_danger *dw_danger_find(const struct dw_reader *reader, const char *path);

/* A module is imported: report it if it may not be. */
void dw_check_module(struct dw_reading *r, uint32_t part, const char *name, size_t len);

/* A constant text that will be run. */
void dw_check_inner(struct dw_reading *r, uint32_t part, enum dw_code_kind kind,
                    struct dw_value code);

/*
 * Can the loop be left? Calls leaves() for the parts in it, but not for those in
 * functions of their own: 1 for what leaves the loop around it, 2 for what leaves
 * all of them, -1 for what begins another loop, -2 for a function, 0 for the rest.
 */
bool dw_loop_ends(struct dw_reading *r, uint32_t loop,
                  int (*leaves)(struct dw_reading *r, uint32_t part));

/* The number that a literal is, if it is one: 12, 0x41, 1_000. */
struct dw_value dw_literal_number(const struct dw_tree *tree, uint32_t part);

/* One of the words, each with a blank before and behind it? */
bool dw_word_in(const char *words, const char *word, size_t len);

/*
 * As dw_analyse(), for a program inside the one that is being read; outer is NULL for
 * the outermost.
 */
int dw_read_program(const struct dw_reader *reader, const char *code, size_t len,
                    const struct dw_analyse_options *options, struct dw_reading *outer,
                    struct dw_findings *ret, struct dw_error *err);

#endif
