/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_READER_H
#define DW_ANALYSIS_READER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/analyse.h"
#include "analysis/kinds.h"

/*
 * The private header of the language readers.
 *
 * A program is parsed into an array of parts. Two passes follow: bind.c records what
 * each name is bound to, scope by scope; check.c looks at each part and asks value.c
 * what expressions evaluate to. An expression evaluates to a text, a number, a name of
 * the language's library ("os.system", under whatever name the program uses it), a
 * literal list, or unknown. Nothing is run: every branch is assumed to happen, and a
 * name may be anything that it was ever bound to, the nearest binding first.
 *
 * All three passes are driven by one struct dw_syntax for each language, at the end
 * of python.c, javascript.c, php.c and ruby.c. Bash has a reader of its own: bash.c.
 */

/* ---- the tree: parse.c, tree.c ---- */

/*
 * A parsed program as one array, in the order of the text: a part is followed by the
 * parts inside it. Children, parents and all descendants are found without a search,
 * and no depth of nesting costs stack.
 *
 * Comments are left out, and so are tokens that kinds.h does not name. Part 0 is the
 * whole program and no part's child, so 0 also means "no such part".
 */
struct dw_part {
	uint16_t kind;  /* enum dw_kind */
	uint8_t field;  /* enum dw_field */
	uint8_t flags;  /* DW_PART_* */
	uint32_t start; /* in bytes */
	uint32_t end;
	uint32_t parent;
	uint32_t past; /* the first part that is not inside this one */
	uint32_t scope; /* the part that begins the scope around this one; 0: the program */
};

#define DW_PART_NAMED 1U   /* more than a token */
#define DW_PART_ERROR 2U   /* the grammar could not parse this */
#define DW_PART_MISSING 4U /* the grammar inserted this to go on parsing */

struct dw_tree {
	const char *code; /* borrowed */
	size_t len;
	struct dw_part *parts; /* NULL unless n_parts */
	uint32_t n_parts;
	bool errors; /* some part has DW_PART_ERROR or DW_PART_MISSING */
};

/* How parsing ended unless it failed. */
enum dw_parse {
	DW_PARSE_WHOLE = 0,
	DW_PARSE_TIMEOUT,  /* no parts: parsing took too long */
	DW_PARSE_TOO_MANY, /* no parts: there would be more than DW_PARTS_MAX */
};

#define DW_PARTS_MAX (1U << 21)

/* Returns true if that grammar is built in: "python", "javascript", ... */
bool dw_tree_has(const char *grammar);

/*
 * Parse. The code must live as long as the tree. For any code this ends after about
 * timeout_ms with an enum dw_parse, or -1 without the grammar (DW_E_UNSUPPORTED) or
 * without memory.
 */
int dw_tree_parse(struct dw_tree *tree, const char *grammar, const char *code, size_t len,
                  uint64_t timeout_ms, struct dw_error *err);
void dw_tree_finish(struct dw_tree *tree);

/* The name of a kind in the grammars; "" for DW_K_OTHER. */
const char *dw_kind_name(enum dw_kind kind);

static inline const struct dw_part *dw_part(const struct dw_tree *tree, uint32_t i)
{
	return &tree->parts[i];
}

static inline enum dw_kind dw_kind(const struct dw_tree *tree, uint32_t i)
{
	return (enum dw_kind)tree->parts[i].kind;
}

/* The first child, or 0. */
static inline uint32_t dw_child(const struct dw_tree *tree, uint32_t i)
{
	return i + 1 < tree->parts[i].past ? i + 1 : 0;
}

/* The next child of the same parent, or 0. */
static inline uint32_t dw_next(const struct dw_tree *tree, uint32_t i)
{
	uint32_t past = tree->parts[i].past;

	return i > 0 && past < tree->parts[tree->parts[i].parent].past ? past : 0;
}

/* The first or next child that is not a token; or 0. */
uint32_t dw_child_named(const struct dw_tree *tree, uint32_t i);
uint32_t dw_next_named(const struct dw_tree *tree, uint32_t i);
/* The last such child, and the one at that index; or 0. */
uint32_t dw_child_last(const struct dw_tree *tree, uint32_t i);
uint32_t dw_child_at(const struct dw_tree *tree, uint32_t i, unsigned index);

/* The first child in that field, or of that kind; or 0. */
uint32_t dw_child_in(const struct dw_tree *tree, uint32_t i, enum dw_field field);
uint32_t dw_child_of(const struct dw_tree *tree, uint32_t i, enum dw_kind kind);

static inline const char *dw_text(const struct dw_tree *tree, uint32_t i, size_t *ret_len)
{
	*ret_len = tree->parts[i].end - tree->parts[i].start;
	return tree->code + tree->parts[i].start;
}

/* Returns true if the text of the part is this. */
bool dw_text_is(const struct dw_tree *tree, uint32_t i, const char *text);

/* Returns true if it is one of the words, each between two blanks. */
bool dw_word_in(const char *words, const char *word, size_t len);

static inline bool dw_is_any(const char *word, const char *words)
{
	return dw_word_in(words, word, strlen(word));
}

/* The same for the text of a part. */
bool dw_text_in(const struct dw_tree *tree, uint32_t part, const char *words);

/* ---- what is kept: store.c ---- */

struct dw_arena;

/*
 * A NUL-terminated copy that lives as long as the arena. NULL without memory, or past
 * the bound, to which each copy counts as align bytes more: then no fuel is left.
 */
char *dw_arena_keep(struct dw_arena **arena, const void *data, size_t len, size_t align,
                    uint64_t *fuel, bool *no_memory);
void dw_arena_free(struct dw_arena *arena);

/* Room for one more in a list that got each of its n items so; NULL without memory. */
void *dw_grow(void *list, size_t n, size_t size);

/* Append the item; false without memory. */
#define DW_APPEND(list, n, item)                                              \
	({                                                                    \
		__typeof__(list) larger_ = dw_grow(list, n, sizeof(*(list))); \
		if (larger_) {                                                \
			(list) = larger_;                                     \
			(list)[(n)++] = (item);                               \
		}                                                             \
		larger_ != NULL;                                              \
	})

/* ---- values: value.c, fold.c ---- */

enum dw_value_type {
	DW_V_UNKNOWN = 0,
	DW_V_TEXT,
	DW_V_NAME, /* text is a path: "os.system" */
	DW_V_NUMBER,
	DW_V_PART, /* a literal or a function, in the tree */
};

struct dw_value {
	enum dw_value_type type;
	const char *text; /* in the reading's arena, the code or a table; NUL-terminated */
	size_t len;
	int64_t number;
	uint32_t part;
};

/* The longest text that constants are folded to. */
#define DW_FOLD_MAX 4096U

/* How many programs may be inside one another. */
#define DW_INNER_MAX 3U

/* How deep expressions are followed. */
#define DW_DEPTH_MAX 150U

/* Functions and methods that fold constants. */
enum dw_fold {
	DW_FOLD_NONE = 0,
	DW_FOLD_SAME,       /* the value itself */
	DW_FOLD_APPEND,     /* the argument behind it */
	DW_FOLD_APPEND_ALL, /* all arguments behind it */
	DW_FOLD_BASE64,     /* decoded */
	DW_FOLD_CHAR,       /* a number as a character */
	DW_FOLD_CHARS, /* a list of numbers as characters; other values as they are */
	DW_FOLD_CHARS_OF_CALL, /* the call's arguments as characters */
	DW_FOLD_CHAR_AT,
	DW_FOLD_FORMAT,    /* {} replaced by the arguments */
	DW_FOLD_HEX,       /* decoded */
	DW_FOLD_JOIN,      /* a list of texts, the argument between them */
	DW_FOLD_JOIN_BARE, /* the same; nothing between them without an argument */
	DW_FOLD_LOWER,
	DW_FOLD_PACK,    /* Ruby's pack("C*"), pack("H*") */
	DW_FOLD_PERCENT, /* %41 decoded */
	DW_FOLD_REPEAT,
	DW_FOLD_REPLACE,
	DW_FOLD_REPLACE_FIRST,
	DW_FOLD_REVERSE,
	DW_FOLD_ROT13,
	DW_FOLD_SLICE,
	DW_FOLD_SPLIT,  /* into characters, which we treat as the text */
	DW_FOLD_UNPACK, /* Ruby's unpack1("m") */
	DW_FOLD_UPPER,
	DW_FOLD_HOOK, /* language->method() */
};

/* Methods of a constant, or functions by their paths. The table ends without words. */
struct dw_folder {
	uint8_t fold; /* enum dw_fold */
	uint8_t on;   /* enum dw_value_type of the object; of functions 0 */
	const char *words;
};

/* ---- the table of a language ---- */

enum dw_code_kind {
	DW_CODE_NONE = 0,
	DW_CODE_SELF,  /* in this language */
	DW_CODE_SHELL, /* a command line */
};

/* Names of the library that are findings. The table ends without a rule. */
struct dw_danger {
	/* "shell:" gets the path appended, "shell:*" its first name; else the rule. */
	const char *rule;
	enum dw_severity severity;
	uint8_t code;      /* DW_CODE_*: the meaning of a constant first argument */
	const char *paths; /* words: "os.system"; "os.*" any member; "os.ex**" any ending */
};

struct dw_reading;

/*
 * For each kind of part, its role in each pass. a and b are the fields of the parts
 * that it is about: target and value, object and member, function, condition.
 */
struct dw_node {
	/* Where a language differs: instead of eval and bind, and before check. */
	struct dw_value (*eval_by)(struct dw_reading *r, uint32_t part);
	void (*bind_by)(struct dw_reading *r, uint32_t part);
	void (*check_by)(struct dw_reading *r, uint32_t part);
	enum {
		DW_EVAL_NONE = 0,
		DW_EVAL_NAME,
		DW_EVAL_MEMBER, /* b of a */
		DW_EVAL_CALL,   /* of a, or of a's method b */
		DW_EVAL_NEW,
		DW_EVAL_STRING,
		DW_EVAL_JOINED, /* strings beside one another */
		DW_EVAL_NUMBER,
		DW_EVAL_BINARY,
		DW_EVAL_FIRST,  /* the first named child */
		DW_EVAL_LAST,   /* the last named child */
		DW_EVAL_VALUE,  /* b */
		DW_EVAL_EITHER, /* a or b; a preferred */
		DW_EVAL_PART,   /* a literal or function, as it is */
	} eval : 8;
	enum {
		DW_BINDS_NOTHING = 0,
		DW_BINDS_ASSIGN,
		DW_BINDS_ASSIGN_SURE, /* outside branches it hides the language's name */
		DW_BINDS_DECLARE,     /* the same; the value may be absent */
		DW_BINDS_AUGMENT,     /* a += b */
		DW_BINDS_DEFINITION,  /* a function or class, named by field name */
		DW_BINDS_EACH,        /* a loop's variable a */
		DW_BINDS_TARGET,      /* a, from the beginning of the scope */
		DW_BINDS_PARAMETER,   /* a with default b */
		DW_BINDS_PARAMETERS, /* each child, by fields name and value, or its first name */
		DW_BINDS_PATTERNS, /* each child, as a pattern */
	} bind : 8;
	enum {
		DW_PATTERN_NONE = 0,
		DW_PATTERN_NAME,
		DW_PATTERN_LIST,    /* each child, by its place in a list */
		DW_PATTERN_DEFAULT, /* a with default b */
		DW_PATTERN_REST,
		DW_PATTERN_HOOK,
	} pattern : 8;
	enum {
		DW_CHECK_NONE = 0,
		DW_CHECK_LOAD,  /* a finding if it is dangerous and not assigned to */
		DW_CHECK_VALUE, /* a finding if it is dangerous */
		DW_CHECK_WHILE, /* a loop with condition a */
		DW_CHECK_UNTIL,
		DW_CHECK_FOR, /* the same; without condition it is endless */
	} check : 8;
	enum {
		DW_FLOW_NONE = 0,
		DW_FLOW_BREAK,    /* leaves the loop around it */
		DW_FLOW_BREAK_TO, /* the same; with a label or count, all loops */
		DW_FLOW_EXIT,     /* leaves all loops */
		DW_FLOW_CALL,     /* leaves all if language->exits names the function */
		DW_FLOW_WORD,     /* leaves all if language->bare_exits names it */
		DW_FLOW_LOOP,
		DW_FLOW_FUNCTION, /* not part of the loop */
	} flow : 8;
	enum {
		DW_TRUTH_NONE = 0,
		DW_TRUTH_YES,
		DW_TRUTH_NO,
		DW_TRUTH_WORD,   /* "true" or "false" */
		DW_TRUTH_VALUE,  /* a number but 0, a text but "" */
		DW_TRUTH_INSIDE, /* that of the first child */
		DW_TRUTH_NOT,
		DW_TRUTH_HOOK,
	} truth : 8;
	uint8_t a, b;      /* enum dw_field */
	uint8_t stores;    /* the field of a name that is assigned to; or one of these: */
#define DW_STORES_ALL 255U /* every name in it */
#define DW_STORES_UP 254U  /* as the part around it says */
	bool scope : 1;    /* begins a scope */
	bool sequence : 1; /* a literal list */
};

/* So that a row of a table fits into a line. */
#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING
#define NAMES(family, level, words)                                     \
	{                                                               \
		.rule = (family), .severity = (level), .paths = (words) \
	}
#define RUNS(family, level, language, words)                                       \
	{                                                                          \
		.rule = (family), .severity = (level), .code = DW_CODE_##language, \
		.paths = (words)                                                   \
	}
#define EVAL(x) .eval = DW_EVAL_##x
#define EVAL_BY(function) .eval_by = function
#define BIND_BY(function) .bind_by = function
#define CHECK_BY(function) .check_by = function
#define BINDS(x) .bind = DW_BINDS_##x
#define PATTERN(x) .pattern = DW_PATTERN_##x
#define CHECK(x) .check = DW_CHECK_##x
#define FLOW(x) .flow = DW_FLOW_##x
#define TRUTH(x) .truth = DW_TRUTH_##x
#define OF(x, y) .a = DW_F_##x, .b = DW_F_##y
#define STORES(x) .stores = DW_F_##x
#define STORES_ALL .stores = DW_STORES_ALL
#define STORES_UP .stores = DW_STORES_UP
#define SCOPE .scope = true
#define SEQUENCE .sequence = true

/* The arguments of a function that runs a program. */
enum dw_command_form {
	DW_COMMAND_LINE = 0,  /* a command line */
	DW_COMMAND_LIST,      /* a command line or a list of words */
	DW_COMMAND_THEN_LIST, /* a program, then a list of words */
	DW_COMMAND_WORDS,     /* words */
};

/* How a name is bound, seen from a scope and a byte. */
enum dw_bound {
	DW_BOUND_NOT = 0, /* not bound, there or in a scope around it */
	DW_BOUND_LATER,   /* bound, but only after that byte */
	DW_BOUND_PERHAPS, /* bound, but it may still be the language's own name */
	DW_BOUND_SURELY,
};

enum dw_binding_kind {
	DW_BIND_VALUE = 0, /* = part */
	DW_BIND_APPEND,    /* += part */
	DW_BIND_NAME,      /* the library's path */
	DW_BIND_MEMBER,    /* the member path of part's value: {exec} = part */
	DW_BIND_OPAQUE,    /* perhaps something unknown */
	DW_BIND_OTHER,     /* certainly something of the program's own */
};

struct dw_syntax {
	const char *name;
	const char *aliases[5];
	const char *grammar;
	const char *modules;             /* words: those that need a reason; or NULL */
	const struct dw_danger *dangers; /* ends in an entry without rule */
	const char *builtins; /* words: findings builtin:NAME beside those; or NULL */

	const struct dw_node *nodes; /* by kind */
	const char *operators;       /* words: those that fold constants */
	const struct dw_folder *methods;
	const struct dw_folder *functions;
	uint16_t append;      /* the token of an assignment that appends a text */
	bool augment_opaque;  /* any other such assignment leaves it unknown */
	bool hoists;          /* definitions hold from the beginning of the scope */
	bool plain_quotes;    /* in DW_K_STRING a backslash only quotes */
	bool opaque_calls;    /* a call has no members that we know */
	bool literals_closed; /* a literal has no methods but those above */
	bool wraps_arguments; /* each in a part of kind argument */
	enum dw_command_form command;
	const char *exits;      /* words: functions that end the program or the loop */
	const char *bare_exits; /* words: the same, called without parentheses */
	const char *loop_message;

	/* Hooks, all optional, for where a language differs. */

	/* Returns true if a definition there always happens. */
	bool (*is_sure)(struct dw_reading *r, uint32_t part);
	void (*bind_pattern)(struct dw_reading *r, uint32_t pattern, uint32_t value,
	                     uint32_t at, enum dw_binding_kind otherwise);
	/* A name that is not surely the program's own; v is what the program bound to it. */
	struct dw_value (*global)(struct dw_reading *r, const char *name, size_t len,
	                          uint32_t at, enum dw_bound bound, struct dw_value v);
	struct dw_value (*member)(struct dw_reading *r, struct dw_value base,
	                          const char *name, size_t len);
	/* The key of an object literal's pair. */
	struct dw_value (*key)(struct dw_reading *r, uint32_t key);
	struct dw_value (*method)(struct dw_reading *r, uint32_t call, struct dw_value v);
	/* The function that a call calls. */
	struct dw_value (*callee)(struct dw_reading *r, uint32_t call);
	/* Returns true if it knows the result of calling f with a, b and more. */
	bool (*call)(struct dw_reading *r, uint32_t call, struct dw_value f,
	             struct dw_value a, struct dw_value b, struct dw_value *ret);
	bool (*is_true)(struct dw_reading *r, uint32_t part);
	/* Instead of all passes. */
	void (*read)(struct dw_reading *r);
};

extern const struct dw_syntax dw_syntax_bash;
extern const struct dw_syntax dw_syntax_javascript;
extern const struct dw_syntax dw_syntax_php;
extern const struct dw_syntax dw_syntax_python;
extern const struct dw_syntax dw_syntax_ruby;
extern const struct dw_syntax dw_syntax_typescript;

/* ---- one program that is being read: analyse.c ---- */

struct dw_names;

struct dw_reading {
	const struct dw_syntax *language;
	const struct dw_analyse_options *options;
	struct dw_tree tree;
	struct dw_arena *arena;
	struct dw_names *names;
	struct dw_findings found;
	uint32_t *lines; /* the byte at which each line begins */
	size_t n_lines;
	uint64_t fuel;  /* steps left, shared with the programs inside this one */
	uint32_t depth; /* of dw_eval() */
	uint32_t inner; /* how many programs this one is inside */
	bool cut;       /* more was found than we keep */
	bool no_memory;
};

/*
 * As dw_analyse(), for a program inside the one that is being read; outer is NULL for
 * the outermost.
 */
int dw_read_program(const struct dw_syntax *language, const char *code, size_t len,
                    const struct dw_analyse_options *options, struct dw_reading *outer,
                    struct dw_findings *ret, struct dw_error *err);

/* Take one step; returns false after too many, which is reported at the end. */
bool dw_step(struct dw_reading *r);

/* A NUL-terminated copy that lives as long as the reading; NULL past the bound. */
static inline char *dw_keep(struct dw_reading *r, const char *text, size_t len)
{
	return dw_arena_keep(&r->arena, text, len, 1, &r->fuel, &r->no_memory);
}

static inline const struct dw_node *dw_node(const struct dw_reading *r, uint32_t part)
{
	return &r->language->nodes[dw_kind(&r->tree, part)];
}

/* The child in that field; 0 without such a child or field. */
static inline uint32_t dw_side(const struct dw_reading *r, uint32_t part, uint8_t field)
{
	return field ? dw_child_in(&r->tree, part, (enum dw_field)field) : 0;
}

/* The call's argument in that place, unless it is given by its name; or 0. */
uint32_t dw_argument(const struct dw_reading *r, uint32_t call, unsigned index);

/* ---- evaluating ---- */

extern const struct dw_value dw_unknown;
struct dw_value dw_value_text(struct dw_reading *r, const char *text, size_t len);
/* Unknown if path is NULL. */
struct dw_value dw_value_name(const char *path);
/* The name FRONT.NAME, or NAME if front is NULL. */
struct dw_value dw_value_path(struct dw_reading *r, const char *front, const char *name,
                              size_t len);
struct dw_value dw_value_number(int64_t number);

/* Both, one behind the other; unknown unless both are texts. */
struct dw_value dw_value_join(struct dw_reading *r, struct dw_value a, struct dw_value b);
/* "a" and "b": "a.b" */
struct dw_value dw_value_member(struct dw_reading *r, struct dw_value base,
                                const char *member, size_t len);
bool dw_value_is(struct dw_value v, enum dw_value_type type, const char *text);
/* Returns true if it is a name among the words. */
bool dw_value_in(struct dw_value v, const char *words);
bool dw_value_same(struct dw_value a, struct dw_value b);
/* Element index of a literal list. */
struct dw_value dw_value_element(struct dw_reading *r, uint32_t list, int64_t index);
/* The value of that key in a literal object or dictionary. */
struct dw_value dw_value_entry(struct dw_reading *r, uint32_t object,
                               struct dw_value key);

struct dw_value dw_eval(struct dw_reading *r, uint32_t part);
struct dw_value dw_eval_argument(struct dw_reading *r, uint32_t call, unsigned index);
struct dw_value dw_eval_string(struct dw_reading *r, uint32_t part);
/* The part's text as it stands there. */
struct dw_value dw_eval_text(struct dw_reading *r, uint32_t part);
/* Either is possible; a name of the library is preferred. */
struct dw_value dw_eval_either(struct dw_reading *r, uint32_t a, uint32_t b);
/* The function that a call calls. */
struct dw_value dw_callee(struct dw_reading *r, uint32_t call);
/* A name, seen from a scope and a byte. */
struct dw_value dw_name_value(struct dw_reading *r, uint32_t scope, const char *name,
                              size_t len, uint32_t at, bool called);

/* The digit's value, or -1 if it is not one. */
int dw_digit(char c, int base);

/* Decode \n, \x41, \u0041, \u{41}, \101 and the like. */
struct dw_value dw_unescape(struct dw_reading *r, const char *text, size_t len);

/* Apply fold to v; its arguments are those of the call from first on. */
struct dw_value dw_fold(struct dw_reading *r, enum dw_fold fold, struct dw_value v,
                        uint32_t call, unsigned first);
/* The numbers that are a part's children, as characters. */
struct dw_value dw_fold_chars(struct dw_reading *r, uint32_t list);
/* The texts that are a part's children, with something between them. */
struct dw_value dw_fold_list(struct dw_reading *r, uint32_t list,
                             struct dw_value between);
struct dw_value dw_fold_replace(struct dw_reading *r, struct dw_value v,
                                struct dw_value old, struct dw_value new, bool all);
struct dw_value dw_fold_case(struct dw_reading *r, struct dw_value v, bool upper);
struct dw_value dw_fold_slice(struct dw_reading *r, struct dw_value v, int64_t from,
                              int64_t to, int64_t step);
struct dw_value dw_fold_binary(struct dw_reading *r, uint32_t part);
/*
 * A command line with more arguments behind it, each in quotes of its own: that part
 * and its next siblings. An unknown argument becomes some word.
 */
struct dw_value dw_fold_command(struct dw_reading *r, struct dw_value line,
                                uint32_t first);

/* ---- names: names.c, bind.c ---- */

/* NULL without memory. */
struct dw_names *dw_names_create(void);
/* All names are bound: sort the bindings for lookups. */
int dw_names_seal(struct dw_names *names);
void dw_names_free(struct dw_names *names);

/* Bind a name in a scope, from byte at on. */
void dw_bind(struct dw_reading *r, uint32_t scope, const char *name, size_t len,
             uint32_t at, enum dw_binding_kind kind, uint32_t part, const char *path);
/* Bind the name that is part name's text, in its scope. */
void dw_bind_name(struct dw_reading *r, uint32_t name, uint32_t at,
                  enum dw_binding_kind kind, uint32_t part, const char *path);
enum dw_bound dw_lookup(struct dw_reading *r, uint32_t scope, const char *name,
                        size_t len, uint32_t at, struct dw_value *ret);

/* Bind the names that the part binds. */
void dw_bind_part(struct dw_reading *r, uint32_t part);
/* Bind the names in a pattern; those without a value as otherwise says. */
void dw_bind_pattern(struct dw_reading *r, uint32_t pattern, uint32_t value, uint32_t at,
                     enum dw_binding_kind otherwise);

/* ---- findings: findings.c, check.c ---- */

/* Fill in the texts, which may contain any bytes. */
void dw_finding_fill(struct dw_finding *f, const char *rule, const char *fmt,
                     va_list args) __attribute__((format(printf, 3, 0)));

/* A rule that is put together; it lives as long as the block around it. */
#define DW_RULE(...) dw_rule((char[DW_RULE_MAX]){""}, __VA_ARGS__)
const char *dw_rule(char *room, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Report a finding; the rule and the message may contain any bytes. */
void dw_found(struct dw_reading *r, uint32_t part, enum dw_severity severity,
              const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* The same, at a line and a column. */
void dw_found_line(struct dw_reading *r, uint32_t line, uint32_t column,
                   enum dw_severity severity, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Sort by line, column and rule. */
void dw_findings_sort(struct dw_findings *findings);

const struct dw_danger *dw_danger_find(const struct dw_syntax *language,
                                       const char *path);
/* The rule of a finding: the entry's own, or its family's with that name. */
#define DW_DANGER_RULE(d, name) dw_danger_rule((char[DW_RULE_MAX]){""}, d, name)
const char *dw_danger_rule(char *room, const struct dw_danger *d, const char *name);
/* Report the part if its value is in the table; the entry, or NULL. */
const struct dw_danger *dw_check_danger(struct dw_reading *r, uint32_t part,
                                        struct dw_value v);
/* Report an imported module unless it is allowed. */
void dw_check_module(struct dw_reading *r, uint32_t part, const char *name, size_t len);
/* Read a program inside this one, whose findings are reported at that place. */
void dw_read_inside(struct dw_reading *r, const struct dw_syntax *language,
                    const char *code, size_t len,
                    const struct dw_analyse_options *options,
                    const struct dw_finding *here);
/* Read a constant text that will be run. */
void dw_check_inner(struct dw_reading *r, uint32_t part, enum dw_code_kind kind,
                    struct dw_value code);
/* The same for what a call of d runs, its arguments from first on. */
void dw_check_run(struct dw_reading *r, uint32_t call, const struct dw_danger *d,
                  unsigned first);
/* Report and read `command`. */
void dw_check_backticks(struct dw_reading *r, uint32_t part);

/* Report what there is to find in a part. */
void dw_check_part(struct dw_reading *r, uint32_t part);
/* Report a loop that cannot be left. */
void dw_check_endless(struct dw_reading *r, uint32_t loop, uint32_t body);

#endif
