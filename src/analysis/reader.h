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
 * A program is parsed into an array of parts. Two passes follow: bind.c records what each
 * name is bound to, scope by scope; check.c looks at each part and asks value.c what
 * expressions evaluate to. An expression evaluates to a string, a number, a name of the
 * language's library ("os.system", under whatever name the program uses it), a literal
 * list, object or function, or unknown. Nothing is run: every branch is assumed to be
 * taken, and a name may have any value that it was ever bound to, the nearest binding
 * first.
 *
 * All three passes are driven by one struct dw_syntax for each language, at the end
 * of python.c, javascript.c, php.c and ruby.c. Bash has a reader of its own: bash.c.
 */

/* ---- the tree: parse.c, tree.c ---- */

/*
 * A parsed program as one array, in source order: a part is followed by the parts inside
 * it. Children, parents and descendants are found without a search, and without
 * recursion, so that deep nesting cannot exhaust the stack.
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

#define DW_PART_NAMED 1U   /* a node with a name in the grammar, not only a token */
#define DW_PART_ERROR 2U   /* the grammar could not parse this */
#define DW_PART_MISSING 4U /* the grammar inserted this to go on parsing */

struct dw_tree {
	const char *code; /* borrowed */
	size_t len;
	struct dw_part *parts; /* NULL unless n_parts */
	uint32_t n_parts;
	bool errors; /* some part has DW_PART_ERROR or DW_PART_MISSING */
};

/* How parsing ended, if it did not fail. */
enum dw_parse {
	DW_PARSE_WHOLE = 0,
	DW_PARSE_TIMEOUT,  /* no parts: parsing took too long */
	DW_PARSE_TOO_MANY, /* no parts: there would be more than DW_PARTS_MAX */
};

#define DW_PARTS_MAX (1U << 21)

/* Returns true if the grammar ("python", "javascript", ...) is built in. */
bool dw_tree_has(const char *grammar);

/*
 * Parse code, which must live as long as the tree. Returns an enum dw_parse, after about
 * timeout_ms at most, or -1 if the grammar is not built in (DW_E_UNSUPPORTED) or if out
 * of memory.
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
/* The last child that is not a token, and the child at that index; or 0. */
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

/* Returns true if the source text of the part equals text. */
bool dw_text_is(const struct dw_tree *tree, uint32_t i, const char *text);

/* Returns true if word is in words, where each word stands between two blanks. */
bool dw_word_in(const char *words, const char *word, size_t len);

static inline bool dw_is_any(const char *word, const char *words)
{
	return dw_word_in(words, word, strlen(word));
}

/* The same for the text of a part. */
bool dw_text_in(const struct dw_tree *tree, uint32_t part, const char *words);

/* ---- memory: store.c ---- */

struct dw_arena;

/*
 * Copy data into the arena, with a NUL appended; the copy lives as long as the arena.
 * Returns NULL if out of memory, with *no_memory set, or if the arena would exceed its
 * bound, with *fuel set to 0. Each copy counts as len + align bytes.
 */
char *dw_arena_keep(struct dw_arena **arena, const void *data, size_t len, size_t align,
                    uint64_t *fuel, bool *no_memory);
void dw_arena_free(struct dw_arena *arena);

/*
 * Make room for one more item in a list of n that only this function has grown. Returns
 * the list, perhaps moved, or NULL if out of memory.
 */
void *dw_grow(void *list, size_t n, size_t size);

/* Append the item; false if out of memory. */
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
	const char *text; /* in the arena or in a table; NUL-terminated */
	size_t len;
	int64_t number;
	uint32_t part;
};

/* The longest string that constants are folded to, in bytes. */
#define DW_FOLD_MAX 4096U

/* How deep programs may be nested in one another. */
#define DW_INNER_MAX 3U

/* How deep expressions are followed. */
#define DW_DEPTH_MAX 150U

/* Functions and methods that fold constants. */
enum dw_fold {
	DW_FOLD_NONE = 0,
	DW_FOLD_SAME,       /* the value itself */
	DW_FOLD_APPEND,     /* the argument appended */
	DW_FOLD_APPEND_ALL, /* all arguments appended */
	DW_FOLD_BASE64,     /* decoded */
	DW_FOLD_CHAR,       /* a number as a character */
	DW_FOLD_CHARS, /* a list of numbers as characters; other values as they are */
	DW_FOLD_CHARS_OF_CALL, /* the call's arguments as characters */
	DW_FOLD_CHAR_AT,
	DW_FOLD_FORMAT,    /* {} replaced by the arguments */
	DW_FOLD_HEX,       /* decoded */
	DW_FOLD_JOIN,      /* the strings of a list, the argument between them */
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
	DW_FOLD_SPLIT,  /* into characters; treated as the string itself */
	DW_FOLD_UNPACK, /* Ruby's unpack1("m") */
	DW_FOLD_UPPER,
	DW_FOLD_HOOK, /* language->method() */
};

/* Methods of a constant, or functions by their paths. An entry without words ends it. */
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

/* Names of the library that are findings. An entry without a rule ends the table. */
struct dw_danger {
	/* If it ends in ":", the path is appended; if in ":*", the path's first name. */
	const char *rule;
	enum dw_severity severity;
	uint8_t code;      /* DW_CODE_*: the meaning of a constant first argument */
	const char *paths; /* words: "os.system"; "os.*" any member; "os.ex**" any ending */
};

struct dw_reading;

/*
 * The role of one kind of part in each pass. a and b are the fields of the children that
 * the role is about: target and value, object and member, function, condition.
 */
struct dw_node {
	/* Hooks: eval_by replaces eval; the others run before bind and check. */
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
		DW_EVAL_JOINED, /* adjacent strings, concatenated */
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
		DW_BINDS_ASSIGN_SURE, /* if it surely happens, it hides a library name */
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
		DW_FLOW_BREAK_TO, /* the same; with a label or a count, any loop */
		DW_FLOW_EXIT,     /* leaves all loops */
		DW_FLOW_CALL,     /* leaves all loops if it is in language->exits */
		DW_FLOW_WORD,     /* leaves all loops if it is in language->bare_exits */
		DW_FLOW_LOOP,
		DW_FLOW_FUNCTION, /* not part of the loop */
	} flow : 8;
	enum {
		DW_TRUTH_NONE = 0,
		DW_TRUTH_YES,
		DW_TRUTH_NO,
		DW_TRUTH_WORD,   /* "true" or "false" */
		DW_TRUTH_VALUE,  /* any number but 0, any string but "" */
		DW_TRUTH_INSIDE, /* as the first child */
		DW_TRUTH_NOT,
		DW_TRUTH_HOOK,
	} truth : 8;
	uint8_t a, b;      /* enum dw_field */
	uint8_t stores;    /* the field whose name is assigned to, or one of: */
#define DW_STORES_ALL 255U /* every child is assigned to */
#define DW_STORES_UP 254U  /* decided by the part around this one */
	bool scope : 1;    /* begins a scope */
	bool sequence : 1; /* a literal list */
};

/* Short forms for the rows of the tables. */
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

/* How a name is bound, as seen from a scope and a position. */
enum dw_bound {
	DW_BOUND_NOT = 0, /* not bound in this scope or in one around it */
	DW_BOUND_LATER,   /* bound, but only after the position */
	DW_BOUND_PERHAPS, /* bound, but it may still be the language's own name */
	DW_BOUND_SURELY,
};

enum dw_binding_kind {
	DW_BIND_VALUE = 0, /* = part */
	DW_BIND_APPEND,    /* += part */
	DW_BIND_NAME,      /* the library's path */
	DW_BIND_MEMBER,    /* the member path of part's value: {exec} = part */
	DW_BIND_OPAQUE,    /* an unknown value, or not bound after all */
	DW_BIND_OTHER,     /* surely a value of the program's own */
};

struct dw_syntax {
	const char *name;
	const char *aliases[5];
	const char *grammar;
	const char *modules;             /* words: the risky ones; or NULL */
	const struct dw_danger *dangers; /* ends in an entry without rule */
	const char *builtins; /* words: further NAMEs of builtin:NAME; or NULL */

	const struct dw_node *nodes; /* by kind */
	const char *operators;       /* words: the operators that fold constants */
	const struct dw_folder *methods;
	const struct dw_folder *functions;
	uint16_t append;      /* the token of an assignment that appends */
	bool augment_opaque;  /* other compound assignments make the name unknown */
	bool hoists;          /* definitions hold from the beginning of the scope */
	bool plain_quotes;    /* in DW_K_STRING a backslash only quotes */
	bool opaque_calls;    /* members of a call's result are unknown */
	bool literals_closed; /* literals have only the methods in `methods` */
	bool wraps_arguments; /* each argument is inside a part of kind argument */
	enum dw_command_form command;
	const char *exits;      /* words: functions that end the program or the loop */
	const char *bare_exits; /* words: the same, called without parentheses */
	const char *loop_message;

	/* Hooks for where a language differs; optional. */

	/* Returns true if a definition at this part surely happens. */
	bool (*is_sure)(struct dw_reading *r, uint32_t part);
	void (*bind_pattern)(struct dw_reading *r, uint32_t pattern, uint32_t value,
	                     uint32_t at, enum dw_binding_kind otherwise);
	/* The value of a name that may be the language's; v is what the program bound. */
	struct dw_value (*global)(struct dw_reading *r, const char *name, size_t len,
	                          uint32_t at, enum dw_bound bound, struct dw_value v);
	struct dw_value (*member)(struct dw_reading *r, struct dw_value base,
	                          const char *name, size_t len);
	/* The key of an object literal's pair. */
	struct dw_value (*key)(struct dw_reading *r, uint32_t key);
	struct dw_value (*method)(struct dw_reading *r, uint32_t call, struct dw_value v);
	/* The function that a call calls. */
	struct dw_value (*callee)(struct dw_reading *r, uint32_t call);
	/* Returns true, with the result in *ret, if it handles a call of f(a, b, ...). */
	bool (*call)(struct dw_reading *r, uint32_t call, struct dw_value f,
	             struct dw_value a, struct dw_value b, struct dw_value *ret);
	bool (*is_true)(struct dw_reading *r, uint32_t part);
	/* Replaces all passes. */
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
	bool cut;       /* there were more findings than we keep */
	bool no_memory;
};

/*
 * Like dw_analyse(), also for a program inside another one, whose reading is outer; outer
 * is NULL for the outermost program.
 */
int dw_read_program(const struct dw_syntax *language, const char *code, size_t len,
                    const struct dw_analyse_options *options, struct dw_reading *outer,
                    struct dw_findings *ret, struct dw_error *err);

/* Use one step of fuel; returns false if none is left, which is reported at the end. */
bool dw_step(struct dw_reading *r);

/* dw_arena_keep() into the arena of the reading. */
static inline char *dw_keep(struct dw_reading *r, const char *text, size_t len)
{
	return dw_arena_keep(&r->arena, text, len, 1, &r->fuel, &r->no_memory);
}

static inline const struct dw_node *dw_node(const struct dw_reading *r, uint32_t part)
{
	return &r->language->nodes[dw_kind(&r->tree, part)];
}

/* The child in the field, or 0. field may be 0 (no field). */
static inline uint32_t dw_side(const struct dw_reading *r, uint32_t part, uint8_t field)
{
	return field ? dw_child_in(&r->tree, part, (enum dw_field)field) : 0;
}

/* The call's argument at the index, or 0, also for a keyword argument. */
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

/* a and b concatenated; unknown unless both are strings. */
struct dw_value dw_value_join(struct dw_reading *r, struct dw_value a, struct dw_value b);
/* The name "a.b" of base "a" and member "b"; unknown if base is not a name. */
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
/* The source text of the part, as a string. */
struct dw_value dw_eval_text(struct dw_reading *r, uint32_t part);
/* The value of a or of b: a if it is a library name or b is unknown, otherwise b. */
struct dw_value dw_eval_either(struct dw_reading *r, uint32_t a, uint32_t b);
/* The function that a call calls. */
struct dw_value dw_callee(struct dw_reading *r, uint32_t call);
/* The value of a name, as seen from a scope and byte at. */
struct dw_value dw_name_value(struct dw_reading *r, uint32_t scope, const char *name,
                              size_t len, uint32_t at, bool called);

/* The digit's value, or -1 if it is not one. */
int dw_digit(char c, int base);

/* Decode \n, \x41, \u0041, \u{41}, \101 and the like. */
struct dw_value dw_unescape(struct dw_reading *r, const char *text, size_t len);

/* Apply fold to v, with the arguments of the call from index first on. */
struct dw_value dw_fold(struct dw_reading *r, enum dw_fold fold, struct dw_value v,
                        uint32_t call, unsigned first);
/* A string of the characters whose codes are the children of list. */
struct dw_value dw_fold_chars(struct dw_reading *r, uint32_t list);
/* The strings that are the children of list, joined with between. */
struct dw_value dw_fold_list(struct dw_reading *r, uint32_t list,
                             struct dw_value between);
struct dw_value dw_fold_replace(struct dw_reading *r, struct dw_value v,
                                struct dw_value old, struct dw_value new, bool all);
struct dw_value dw_fold_case(struct dw_reading *r, struct dw_value v, bool upper);
struct dw_value dw_fold_slice(struct dw_reading *r, struct dw_value v, int64_t from,
                              int64_t to, int64_t step);
struct dw_value dw_fold_binary(struct dw_reading *r, uint32_t part);
/*
 * Append the part first and its next siblings to a command line, each in quotes. An
 * unknown argument becomes "?".
 */
struct dw_value dw_fold_command(struct dw_reading *r, struct dw_value line,
                                uint32_t first);

/* ---- names: names.c, bind.c ---- */

/* NULL if out of memory. */
struct dw_names *dw_names_create(void);
/* Sort the bindings for lookups; called once, after the last dw_bind(). */
int dw_names_seal(struct dw_names *names);
void dw_names_free(struct dw_names *names);

/* Bind a name in a scope, valid from byte at on. */
void dw_bind(struct dw_reading *r, uint32_t scope, const char *name, size_t len,
             uint32_t at, enum dw_binding_kind kind, uint32_t part, const char *path);
/* Bind the name that the part `name` spells, in the scope of the part. */
void dw_bind_name(struct dw_reading *r, uint32_t name, uint32_t at,
                  enum dw_binding_kind kind, uint32_t part, const char *path);
enum dw_bound dw_lookup(struct dw_reading *r, uint32_t scope, const char *name,
                        size_t len, uint32_t at, struct dw_value *ret);

/* Bind the names that the part binds. */
void dw_bind_part(struct dw_reading *r, uint32_t part);
/* Bind the names in a pattern; a name without a value gets the kind otherwise. */
void dw_bind_pattern(struct dw_reading *r, uint32_t pattern, uint32_t value, uint32_t at,
                     enum dw_binding_kind otherwise);

/* ---- findings: findings.c, check.c ---- */

/* Fill in rule and message; bytes that are not printable become "?". */
void dw_finding_fill(struct dw_finding *f, const char *rule, const char *fmt,
                     va_list args) __attribute__((format(printf, 3, 0)));

/* Format a rule; the string lives as long as the enclosing block. */
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
/* The rule of a finding: the entry's own rule, or FAMILY:NAME built from name. */
#define DW_DANGER_RULE(d, name) dw_danger_rule((char[DW_RULE_MAX]){""}, d, name)
const char *dw_danger_rule(char *room, const struct dw_danger *d, const char *name);
/* Report the part if v is in the table of dangers; returns the entry, or NULL. */
const struct dw_danger *dw_check_danger(struct dw_reading *r, uint32_t part,
                                        struct dw_value v);
/* Report an imported module unless it is allowed. */
void dw_check_module(struct dw_reading *r, uint32_t part, const char *name, size_t len);
/* Read a program inside this one; its findings are reported at the place `here`. */
void dw_read_inside(struct dw_reading *r, const struct dw_syntax *language,
                    const char *code, size_t len,
                    const struct dw_analyse_options *options,
                    const struct dw_finding *here);
/* Read a constant string that the program runs as code of that kind. */
void dw_check_inner(struct dw_reading *r, uint32_t part, enum dw_code_kind kind,
                    struct dw_value code);
/* The same for the code or command that a call of d runs: its arguments from first on. */
void dw_check_run(struct dw_reading *r, uint32_t call, const struct dw_danger *d,
                  unsigned first);
/* Report a `command` in backticks, and read it. */
void dw_check_backticks(struct dw_reading *r, uint32_t part);

/* Report the findings of a part. */
void dw_check_part(struct dw_reading *r, uint32_t part);
/* Report the loop if nothing in its body can leave it. */
void dw_check_endless(struct dw_reading *r, uint32_t loop, uint32_t body);

#endif
