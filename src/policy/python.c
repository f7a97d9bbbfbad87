/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "policy/fold.h"
#include "policy/read.h"

static const char *const modules[] = {
	"os",         "sys",          "subprocess", "shutil",
	"socket",     "http",         "urllib",     "requests",
	"ctypes",     "importlib",    "pty",        "multiprocessing",
	"cffi",       "posix",        "nt",         "pickle",
	"marshal",    "shelve",       "code",       "codeop",
	"runpy",      "pkgutil",      "imp",        "ftplib",
	"smtplib",    "telnetlib",    "poplib",     "imaplib",
	"xmlrpc",     "socketserver", "asyncore",   "urllib3",
	"httpx",      "aiohttp",      "paramiko",   "pexpect",
	"builtins",   "webbrowser",   "commands",   "_posixsubprocess",
	"websockets", "zipimport",    "_ctypes",    "_socket",
	NULL,
};

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

static const struct dw_danger dangers[] = {
	{"builtins.eval", "builtin:", E, DW_CODE_SELF},
	{"builtins.exec", "builtin:", E, DW_CODE_SELF},
	{"builtins.compile", "builtin:", E, DW_CODE_SELF},
	{"builtins.__import__", "builtin:", E, 0},
	{"builtins.open", "builtin:", W, 0},
	{"builtins.input", "builtin:", W, 0},
	{"builtins.raw_input", "builtin:input", W, 0},
	{"builtins.execfile", "builtin:exec", E, 0},
	{"builtins.breakpoint", "builtin:", W, 0},
	{"io.open", "builtin:open", W, 0},
	{"codecs.open", "builtin:open", W, 0},
	{"os.system", "shell:", E, DW_CODE_SHELL},
	{"os.popen", "shell:", E, DW_CODE_SHELL},
	{"os.exec**", "shell:", E, 0},
	{"os.spawn**", "shell:", E, 0},
	{"os.posix_spawn**", "shell:", E, 0},
	{"os.startfile", "shell:", E, 0},
	{"os.fork", "shell:", W, 0},
	{"os.forkpty", "shell:", W, 0},
	{"os.kill**", "shell:", W, 0},
	{"posix.system", "shell:", E, DW_CODE_SHELL},
	{"subprocess.run", "shell:", E, DW_CODE_SHELL},
	{"subprocess.call", "shell:", E, DW_CODE_SHELL},
	{"subprocess.Popen", "shell:", E, DW_CODE_SHELL},
	{"subprocess.check_call", "shell:", E, DW_CODE_SHELL},
	{"subprocess.check_output", "shell:", E, DW_CODE_SHELL},
	{"subprocess.getoutput", "shell:", E, DW_CODE_SHELL},
	{"subprocess.getstatusoutput", "shell:", E, DW_CODE_SHELL},
	{"commands.getoutput", "shell:", E, DW_CODE_SHELL},
	{"commands.getstatusoutput", "shell:", E, DW_CODE_SHELL},
	{"_posixsubprocess.fork_exec", "shell:", E, 0},
	{"pty.spawn", "shell:", E, DW_CODE_SHELL},
	{"pexpect.spawn", "shell:", E, DW_CODE_SHELL},
	{"pexpect.run", "shell:", E, DW_CODE_SHELL},
	{"asyncio.create_subprocess_shell", "shell:", E, DW_CODE_SHELL},
	{"asyncio.create_subprocess_exec", "shell:", E, 0},
	{"os.remove", "delete:", E, 0},
	{"os.unlink", "delete:", E, 0},
	{"os.rmdir", "delete:", E, 0},
	{"os.removedirs", "delete:", E, 0},
	{"os.truncate", "delete:", E, 0},
	{"posix.unlink", "delete:", E, 0},
	{"posix.remove", "delete:", E, 0},
	{"shutil.rmtree", "delete:", E, 0},
	{"shutil.move", "delete:", W, 0},
	{"pathlib.Path().unlink", "delete:pathlib.Path.unlink", E, 0},
	{"pathlib.Path().rmdir", "delete:pathlib.Path.rmdir", E, 0},
	{"pathlib.PosixPath().unlink", "delete:pathlib.Path.unlink", E, 0},
	{"pathlib.Path.unlink", "delete:", E, 0},
	{"pathlib.Path.rmdir", "delete:", E, 0},
	{"pathlib.Path().open", "builtin:open", W, 0},
	{"pathlib.Path().write_text", "builtin:open", W, 0},
	{"pathlib.Path().write_bytes", "builtin:open", W, 0},
	{"socket.socket", "network:", W, 0},
	{"socket.create_connection", "network:", W, 0},
	{"socket.create_server", "network:", W, 0},
	{"socket.getaddrinfo", "network:", W, 0},
	{"socket.gethostbyname", "network:", W, 0},
	{"_socket.socket", "network:", W, 0},
	{"urllib.request.*", "network:", W, 0},
	{"urllib.urlopen", "network:", W, 0},
	{"http.client.HTTP**", "network:", W, 0},
	{"http.server.*", "network:", W, 0},
	{"socketserver.*", "network:", W, 0},
	{"requests.*", "network:", W, 0},
	{"httpx.*", "network:", W, 0},
	{"aiohttp.*", "network:", W, 0},
	{"urllib3.*", "network:", W, 0},
	{"websockets.*", "network:", W, 0},
	{"ftplib.*", "network:", W, 0},
	{"smtplib.*", "network:", W, 0},
	{"telnetlib.*", "network:", W, 0},
	{"poplib.*", "network:", W, 0},
	{"imaplib.*", "network:", W, 0},
	{"paramiko.*", "network:", W, 0},
	{"xmlrpc.client.*", "network:", W, 0},
	{"asyncio.open_connection", "network:", W, 0},
	{"asyncio.start_server", "network:", W, 0},
	{"webbrowser.open**", "network:", W, 0},
	{"ctypes.*", "native:", E, 0},
	{"cffi.*", "native:", E, 0},
	{"mmap.mmap", "native:", W, 0},
	{"pickle.load**", "dynamic:", E, 0},
	{"pickle.Unpickler", "dynamic:", E, 0},
	{"marshal.load**", "dynamic:", E, 0},
	{"shelve.open", "dynamic:", W, 0},
	{"yaml.load", "dynamic:", W, 0},
	{"yaml.unsafe_load", "dynamic:", E, 0},
	{"types.FunctionType", "dynamic:", E, 0},
	{"types.CodeType", "dynamic:", E, 0},
	{"types.LambdaType", "dynamic:", E, 0},
	{"code.interact", "dynamic:", E, 0},
	{"code.Interactive**", "dynamic:", E, 0},
	{"codeop.*", "dynamic:", E, 0},
	{"runpy.*", "dynamic:", E, 0},
	{"timeit.timeit", "dynamic:", W, DW_CODE_SELF},
	{"timeit.repeat", "dynamic:", W, DW_CODE_SELF},
	{"sys._getframe", "reflection:", E, 0},
	{"sys.settrace", "reflection:", W, 0},
	{"sys.setprofile", "reflection:", W, 0},
	{"inspect.currentframe", "reflection:", W, 0},
	{"inspect.stack", "reflection:", W, 0},
	{"gc.get_objects", "reflection:", W, 0},
	{"gc.get_referrers", "reflection:", W, 0},
	{0},
};

#undef E
#undef W

/* What need not be imported, as far as we ask. */
static const char builtin_names[] =
	" eval exec compile __import__ open input raw_input execfile breakpoint getattr "
	"setattr delattr globals locals vars chr str bytes bytearray map iter type exit quit "
	"reversed ";

/* Attributes that lead from any object to everything else. */
static const char dunders[] =
	" __subclasses__ __globals__ __builtins__ __bases__ __base__ __mro__ __code__ "
	"__closure__ __loader__ __getattribute__ __reduce__ __reduce_ex__ f_globals f_locals "
	"f_builtins f_back f_code gi_frame gi_code cr_frame cr_code ag_frame tb_frame "
	"func_globals func_code __import__ mro ";

/* Modules that many others have as an attribute of theirs. */
static const char carried[] =
	" os sys subprocess shutil socket importlib builtins ctypes ";

static bool is_function(enum dw_kind kind)
{
	return kind == DW_K_FUNCTION_DEFINITION || kind == DW_K_LAMBDA;
}

static bool is_scope(const struct dw_tree *tree, uint32_t part)
{
	switch (dw_kind(tree, part)) {
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_LAMBDA:
	case DW_K_CLASS_DEFINITION:
	case DW_K_LIST_COMPREHENSION:
	case DW_K_SET_COMPREHENSION:
	case DW_K_DICTIONARY_COMPREHENSION:
	case DW_K_GENERATOR_EXPRESSION:
		return true;
	default:
		return false;
	}
}

/* Names. */

static bool is_pattern(enum dw_kind kind)
{
	return kind == DW_K_PATTERN_LIST || kind == DW_K_TUPLE_PATTERN ||
	       kind == DW_K_LIST_PATTERN || kind == DW_K_LIST_SPLAT_PATTERN ||
	       kind == DW_K_TUPLE || kind == DW_K_LIST || kind == DW_K_AS_PATTERN_TARGET;
}

static bool is_sequence(enum dw_kind kind)
{
	return kind == DW_K_EXPRESSION_LIST || kind == DW_K_TUPLE || kind == DW_K_LIST;
}

/* a, (b, c) = x, y: by their places where both sides have them. */
static void bind_target(struct dw_reading *r, uint32_t target, uint32_t value,
                        uint32_t at)
{
	const struct dw_tree *tree = &r->tree;
	enum dw_kind kind = dw_kind(tree, target);
	uint32_t c, v;

	if (kind == DW_K_IDENTIFIER) {
		dw_bind_name(r, target, at, value ? DW_BIND_VALUE : DW_BIND_OPAQUE, value,
		             NULL);
		return;
	}
	if (!is_pattern(kind) || r->depth > 20)
		return;
	r->depth++;
	c = dw_child_named(tree, target);
	v = value && is_sequence(dw_kind(tree, value)) ? dw_child_named(tree, value) : 0;
	for (; c; c = dw_next_named(tree, c)) {
		bind_target(r, c, v, at);
		v = v ? dw_next_named(tree, v) : 0;
	}
	r->depth--;
}

/* The dotted name, without blanks or line ends that may stand in it. */
static const char *dotted(struct dw_reading *r, uint32_t part, size_t *ret_len)
{
	const struct dw_tree *tree = &r->tree;
	char path[256];
	size_t n = 0;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		size_t len;
		const char *text = dw_text(tree, c, &len);

		if (n + len + 2 > sizeof(path))
			break;
		if (n > 0)
			path[n++] = '.';
		memcpy(path + n, text, len);
		n += len;
	}
	*ret_len = n;
	return dw_keep(r, path, n);
}

static void bind_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t at = dw_part(tree, part)->end;
	size_t len;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t alias = 0, name = c;
		const char *path;

		if (dw_kind(tree, c) == DW_K_ALIASED_IMPORT) {
			name = dw_child_in(tree, c, DW_F_NAME);
			alias = dw_child_in(tree, c, DW_F_ALIAS);
		}
		if (!name || dw_kind(tree, name) != DW_K_DOTTED_NAME)
			continue;
		path = dotted(r, name, &len);
		if (path && alias) {
			dw_bind_name(r, alias, at, DW_BIND_NAME, 0, path);
		} else if (path) {
			/* import a.b gives us a. */
			uint32_t first = dw_child_named(tree, name);
			const char *text = dw_text(tree, first, &len);

			dw_bind_name(r, first, at, DW_BIND_NAME, 0,
			             dw_keep(r, text, len));
		}
	}
}

static void bind_from(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t module = dw_child_in(tree, part, DW_F_MODULE_NAME);
	uint32_t at = dw_part(tree, part)->end;
	const char *from, *what;
	char path[256];
	size_t len;

	if (!module || dw_kind(tree, module) != DW_K_DOTTED_NAME)
		return;
	from = dotted(r, module, &len);
	for (uint32_t c = dw_next(tree, module); from && c; c = dw_next(tree, c)) {
		uint32_t name = c, alias = 0;

		if (dw_kind(tree, c) == DW_K_WILDCARD_IMPORT)
			dw_bind(r, 0, "*", 1, at, DW_BIND_NAME, 0, from);
		if (dw_kind(tree, c) == DW_K_ALIASED_IMPORT) {
			name = dw_child_in(tree, c, DW_F_NAME);
			alias = dw_child_in(tree, c, DW_F_ALIAS);
		}
		if (!name || dw_kind(tree, name) != DW_K_DOTTED_NAME)
			continue;
		what = dotted(r, name, &len);
		if (!what)
			continue;
		(void)snprintf(path, sizeof(path), "%s.%s", from, what);
		/* from random import _os */
		what += what[0] == '_';
		if (dw_word_in(carried, what, strlen(what)) && strcmp(from, what) != 0)
			(void)snprintf(path, sizeof(path), "%s", what);
		what = dw_keep(r, path, strlen(path));
		if (what)
			dw_bind_name(r, alias ? alias : dw_child_named(tree, name), at,
			             DW_BIND_NAME, 0, what);
	}
}

static void bind_parameters(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t name = dw_kind(tree, c) == DW_K_IDENTIFIER
		                        ? c
		                        : dw_child_in(tree, c, DW_F_NAME);
		uint32_t value = dw_child_in(tree, c, DW_F_VALUE);

		if (!name)
			name = dw_child_of(tree, c, DW_K_IDENTIFIER);
		if (name)
			dw_bind_name(r, name, dw_part(tree, c)->start,
			             value ? DW_BIND_VALUE : DW_BIND_OTHER, value, NULL);
	}
}

/* In a branch that is never taken, a definition hides nothing. */
static enum dw_binding_kind definition_kind(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent;

	while (dw_kind(tree, up) == DW_K_BLOCK || dw_kind(tree, up) == DW_K_OTHER) {
		if (up == 0)
			break;
		up = dw_part(tree, up)->parent;
	}
	return up == 0 || is_function(dw_kind(tree, up)) ||
	                       dw_kind(tree, up) == DW_K_CLASS_DEFINITION
	               ? DW_BIND_OTHER
	               : DW_BIND_OPAQUE;
}

static void bind(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left = 0, right = 0, at = dw_part(tree, part)->end;

	switch (dw_kind(tree, part)) {
	case DW_K_IMPORT_STATEMENT:
		bind_import(r, part);
		break;
	case DW_K_IMPORT_FROM_STATEMENT:
		bind_from(r, part);
		break;
	case DW_K_ASSIGNMENT:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER &&
		    definition_kind(tree, dw_part(tree, part)->parent) == DW_BIND_OTHER)
			dw_bind_name(r, left, at, DW_BIND_OTHER, 0, NULL);
		if (left && right)
			bind_target(r, left, right, at);
		break;
	case DW_K_AUGMENTED_ASSIGNMENT:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER)
			dw_bind_name(r, left, at,
			             dw_child_of(tree, part, DW_K_T_PLUS_EQUAL)
			                     ? DW_BIND_APPEND
			                     : DW_BIND_OPAQUE,
			             right, NULL);
		break;
	case DW_K_NAMED_EXPRESSION:
		left = dw_child_in(tree, part, DW_F_NAME);
		if (left)
			bind_target(r, left, dw_child_in(tree, part, DW_F_VALUE), at);
		break;
	case DW_K_FOR_STATEMENT:
	case DW_K_FOR_IN_CLAUSE:
		left = dw_child_in(tree, part, DW_F_LEFT);
		/* In a comprehension what is said of the name may stand before it. */
		if (left)
			bind_target(r, left, 0,
			            dw_kind(tree, part) == DW_K_FOR_STATEMENT
			                    ? dw_part(tree, left)->start
			                    : 0);
		break;
	case DW_K_AS_PATTERN:
		left = dw_child_in(tree, part, DW_F_ALIAS);
		right = dw_child_named(tree, part);
		if (left && dw_child_named(tree, left))
			bind_target(r, dw_child_named(tree, left), right, at);
		break;
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_CLASS_DEFINITION:
		left = dw_child_in(tree, part, DW_F_NAME);
		if (left) {
			size_t len;
			const char *text = dw_text(tree, left, &len);

			dw_bind(r, dw_part(tree, part)->scope, text, len,
			        dw_part(tree, part)->start, definition_kind(tree, part),
			        0, NULL);
		}
		break;
	case DW_K_PARAMETERS:
	case DW_K_LAMBDA_PARAMETERS:
		bind_parameters(r, part);
		break;
	default:
		break;
	}
}

/* What expressions come to. */

/* Called, a name that was given something else may still be the built-in. */
static struct dw_value name_value(struct dw_reading *r, uint32_t scope, const char *name,
                                  size_t len, uint32_t at, bool called)
{
	enum dw_bound bound;
	struct dw_value v = dw_unknown, star = dw_unknown;
	char path[64];

	bound = dw_lookup(r, scope, name, len, at, &v);
	if (bound == DW_BOUND_SURELY || (bound == DW_BOUND_PERHAPS && !called))
		return v;
	if (len == 12 && memcmp(name, "__builtins__", 12) == 0)
		return dw_value_name(r, "builtins");
	/* from os import * may have brought it. */
	if (dw_lookup(r, 0, "*", 1, at, &star) != DW_BOUND_NOT) {
		star = dw_value_member(r, star, name, len);
		if (star.type == DW_V_NAME && dw_danger_find(r->reader, star.text))
			return star;
	}
	if (len + 10 > sizeof(path) || !dw_word_in(builtin_names, name, len))
		return v;
	(void)snprintf(path, sizeof(path), "builtins.%.*s", (int)len, name);
	return dw_value_name(r, dw_keep(r, path, strlen(path)) ?: "");
}

/* What name is of base, be it asked for with a dot, getattr() or __dict__[]. */
static struct dw_value member(struct dw_reading *r, struct dw_value base,
                              const char *name, size_t len)
{
	static const char same[] = " __dict__ __call__ __func__ __wrapped__ __self__ ";
	const char *plain = len > 1 && name[0] == '_' ? name + 1 : name;

	if (len == 12 && memcmp(name, "__builtins__", 12) == 0)
		return dw_value_name(r, "builtins");
	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (dw_value_is(base, DW_V_NAME, "globals()"))
		return name_value(r, 0, name, len, UINT32_MAX, false);
	if (dw_word_in(carried, plain, (size_t)(name + len - plain)) &&
	    strncmp(base.text, plain, (size_t)(name + len - plain)) != 0)
		return dw_value_name(r, dw_keep(r, plain, (size_t)(name + len - plain))
		                                ?: "");
	return dw_value_member(r, base, name, len);
}

static uint32_t argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);
	uint32_t c = list ? dw_child_at(tree, list, index) : 0;

	return c && dw_kind(tree, c) != DW_K_KEYWORD_ARGUMENT ? c : 0;
}

static struct dw_value string_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t start = dw_child_of(tree, part, DW_K_STRING_START);
	struct dw_value all = dw_value_text(r, "", 0), piece;
	bool raw = false;
	size_t len;
	const char *text;

	if (!start)
		return dw_unknown;
	text = dw_text(tree, start, &len);
	raw = memchr(text, 'r', len) || memchr(text, 'R', len);
	for (uint32_t c = dw_next(tree, start); c; c = dw_next(tree, c)) {
		text = dw_text(tree, c, &len);
		switch (dw_kind(tree, c)) {
		case DW_K_STRING_CONTENT:
			piece = raw ? dw_value_text(r, text, len)
			            : dw_unescape(r, text, len);
			break;
		case DW_K_INTERPOLATION:
			piece = dw_eval(r, dw_child_named(tree, c));
			break;
		case DW_K_STRING_END:
			continue;
		default:
			return dw_unknown;
		}
		all = dw_value_join(r, all, piece);
	}
	return all;
}

/* Replace each hole ("%s", "{}") by the next of the texts. */
static struct dw_value filled(struct dw_reading *r, struct dw_value form,
                              const char *hole, uint32_t first)
{
	struct dw_value all = dw_value_text(r, "", 0);
	const char *p = form.text, *next;

	while ((next = strstr(p, hole)) && first) {
		all = dw_value_join(r, all, dw_value_text(r, p, (size_t)(next - p)));
		all = dw_value_join(r, all, dw_eval(r, first));
		p = next + strlen(hole);
		first = dw_next_named(&r->tree, first);
	}
	return dw_value_join(r, all, dw_value_text(r, p, strlen(p)));
}

static struct dw_value binary(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t right = dw_child_in(tree, part, DW_F_RIGHT);
	uint32_t operator= dw_child_in(tree, part, DW_F_OPERATOR);
	struct dw_value a = dw_eval(r, dw_child_in(tree, part, DW_F_LEFT)), b;

	if (a.type == DW_V_UNKNOWN || !operator|| !right)
		return dw_unknown;
	switch (dw_kind(tree, operator)) {
	case DW_K_T_PLUS:
		return dw_fold_plus(r, a, dw_eval(r, right));
	case DW_K_T_MINUS:
		b = dw_eval(r, right);
		if (a.type == DW_V_NUMBER && b.type == DW_V_NUMBER)
			return dw_value_number(
				(int64_t)((uint64_t)a.number - (uint64_t)b.number));
		return dw_unknown;
	case DW_K_T_STAR:
		b = dw_eval(r, right);
		return b.type == DW_V_NUMBER ? dw_fold_times(r, a, b.number) : dw_unknown;
	case DW_K_T_PERCENT:
		if (a.type != DW_V_TEXT)
			return dw_unknown;
		return filled(r, a, "%s",
		              dw_kind(tree, right) == DW_K_TUPLE
		                      ? dw_child_named(tree, right)
		                      : right);
	default:
		return dw_unknown;
	}
}

static struct dw_value entry(struct dw_reading *r, uint32_t dictionary,
                             struct dw_value key)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c = dw_child_named(tree, dictionary);

	for (; c && dw_step(r); c = dw_next_named(tree, c)) {
		struct dw_value k;

		if (dw_kind(tree, c) != DW_K_PAIR)
			continue;
		k = dw_eval(r, dw_child_in(tree, c, DW_F_KEY));
		if (dw_value_same(k, key))
			return dw_eval(r, dw_child_in(tree, c, DW_F_VALUE));
	}
	return dw_unknown;
}

/* text[a:b:c] with constants, or all that may be left out. */
static struct dw_value sliced(struct dw_reading *r, struct dw_value v, uint32_t slice)
{
	const struct dw_tree *tree = &r->tree;
	int64_t bound[3] = {0, (int64_t)v.len, 1}, len = (int64_t)v.len;
	bool given[3] = {false, false, false};
	int place = 0;

	for (uint32_t c = dw_child(tree, slice); c; c = dw_next(tree, c)) {
		if (dw_kind(tree, c) == DW_K_T_COLON) {
			place++;
			continue;
		}
		if (place < 3) {
			struct dw_value b = dw_eval(r, c);

			if (b.type != DW_V_NUMBER || b.number > 100000 ||
			    b.number < -100000)
				return dw_unknown;
			bound[place] = b.number;
			given[place] = true;
		}
	}
	if (bound[2] == 0)
		return dw_unknown;
	for (int i = 0; i < 2; i++)
		if (given[i] && bound[i] < 0)
			bound[i] += len;
	if (bound[2] < 0 && !given[0])
		bound[0] = len - 1;
	if (bound[2] < 0 && !given[1])
		bound[1] = -1;
	return dw_fold_slice(r, v, bound[0], bound[1], bound[2]);
}

static struct dw_value subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	uint32_t index = dw_child_in(tree, part, DW_F_SUBSCRIPT);
	struct dw_value key;

	if (!index || v.type == DW_V_UNKNOWN)
		return dw_unknown;
	if (v.type == DW_V_TEXT && dw_kind(tree, index) == DW_K_SLICE)
		return sliced(r, v, index);
	key = dw_eval(r, index);
	if (v.type == DW_V_NAME && key.type == DW_V_TEXT)
		return dw_value_is(v, DW_V_NAME, "sys.modules")
		               ? dw_value_name(r, key.text)
		               : member(r, v, key.text, key.len);
	if (v.type == DW_V_TEXT && key.type == DW_V_NUMBER) {
		int64_t i = key.number < 0 ? key.number + (int64_t)v.len : key.number;

		return i >= 0 && i < (int64_t)v.len ? dw_value_text(r, v.text + i, 1)
		                                    : dw_unknown;
	}
	if (v.type == DW_V_PART && dw_kind(tree, v.part) == DW_K_DICTIONARY)
		return entry(r, v.part, key);
	if (v.type == DW_V_PART && key.type == DW_V_NUMBER && key.number >= 0)
		return dw_value_element(r, v.part, key.number);
	return dw_unknown;
}

/* separator.join(list), and of map(chr, list). */
static struct dw_value join_list(struct dw_reading *r, struct dw_value between,
                                 uint32_t list)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;

	if (list && dw_kind(tree, list) == DW_K_CALL) {
		v = dw_eval(r, dw_child_in(tree, list, DW_F_FUNCTION));
		if (dw_value_is(v, DW_V_NAME, "builtins.map") &&
		    dw_value_is(dw_eval(r, argument(tree, list, 0)), DW_V_NAME,
		                "builtins.chr")) {
			v = dw_eval(r, argument(tree, list, 1));
			return v.type == DW_V_PART ? dw_fold_chars(r, v.part)
			                           : dw_unknown;
		}
		if (dw_value_is(v, DW_V_NAME, "builtins.reversed")) {
			return dw_fold_reverse(r, dw_eval(r, argument(tree, list, 0)));
		}
	}
	v = dw_eval(r, list);
	if (v.type == DW_V_TEXT && between.len == 0)
		return v;
	if (v.type != DW_V_PART || !is_sequence(dw_kind(tree, v.part)))
		return dw_unknown;
	return dw_fold_list(r, v.part, between);
}

/* A method of a text. */
static struct dw_value text_method(struct dw_reading *r, uint32_t call, struct dw_value v,
                                   uint32_t name)
{
	const struct dw_tree *tree = &r->tree;

	if (dw_text_is(tree, name, "join"))
		return join_list(r, v, argument(tree, call, 0));
	if (dw_text_is(tree, name, "replace"))
		return dw_fold_replace(r, v, dw_eval(r, argument(tree, call, 0)),
		                       dw_eval(r, argument(tree, call, 1)), true);
	if (dw_text_is(tree, name, "format"))
		return filled(r, v, "{}", argument(tree, call, 0));
	if (dw_text_is(tree, name, "lower") || dw_text_is(tree, name, "casefold"))
		return dw_fold_case(r, v, false);
	if (dw_text_is(tree, name, "upper"))
		return dw_fold_case(r, v, true);
	if (dw_text_is(tree, name, "encode") || dw_text_is(tree, name, "decode") ||
	    dw_text_is(tree, name, "strip") || dw_text_is(tree, name, "__str__"))
		return v;
	return dw_unknown;
}

/* What calls of the library's functions come to, where we know. */
static struct dw_value known_call(struct dw_reading *r, uint32_t call, struct dw_value f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, argument(tree, call, 0));
	struct dw_value b;

	if (strcmp(f.text, "builtins.getattr") == 0) {
		b = dw_eval(r, argument(tree, call, 1));
		return b.type == DW_V_TEXT ? member(r, a, b.text, b.len) : dw_unknown;
	}
	if (strcmp(f.text, "builtins.globals") == 0 ||
	    strcmp(f.text, "builtins.locals") == 0)
		return dw_value_name(r, "globals()");
	if (strcmp(f.text, "builtins.vars") == 0)
		return argument(tree, call, 0) ? a : dw_value_name(r, "globals()");
	if (strcmp(f.text, "builtins.chr") == 0)
		return dw_fold_char(r, a);
	if (strcmp(f.text, "builtins.str") == 0)
		return a;
	if (strcmp(f.text, "builtins.bytes") == 0 ||
	    strcmp(f.text, "builtins.bytearray") == 0)
		return a.type == DW_V_PART ? dw_fold_chars(r, a.part) : a;
	if (strcmp(f.text, "builtins.bytes.fromhex") == 0 ||
	    strcmp(f.text, "binascii.unhexlify") == 0)
		return dw_fold_hex(r, a);
	if (strcmp(f.text, "base64.b64decode") == 0 ||
	    strcmp(f.text, "base64.standard_b64decode") == 0)
		return dw_fold_base64(r, a);
	if (strcmp(f.text, "functools.partial") == 0)
		return a;
	if (strcmp(f.text, "builtins.__import__") == 0 && a.type == DW_V_TEXT)
		return dw_value_name(r, dw_keep(r, a.text, strcspn(a.text, ".")) ?: "");
	if (strcmp(f.text, "importlib.import_module") == 0 && a.type == DW_V_TEXT)
		return dw_value_name(r, a.text);
	/* x.get("name") of a dictionary that is a name space. */
	if (a.type == DW_V_TEXT && f.len > 4 && strcmp(f.text + f.len - 4, ".get") == 0 &&
	    (strncmp(f.text, "builtins", 8) == 0 ||
	     strncmp(f.text, "sys.modules", 11) == 0)) {
		if (f.text[0] == 's')
			return dw_value_name(r, a.text);
		b = dw_value_name(r, dw_keep(r, f.text, f.len - 4) ?: "");
		return member(r, b, a.text, a.len);
	}
	if (strcmp(f.text, "codecs.decode") == 0) {
		b = dw_eval(r, argument(tree, call, 1));
		return b.type == DW_V_TEXT && strncmp(b.text, "rot", 3) == 0
		               ? dw_fold_rot13(r, a)
		               : dw_unknown;
	}
	return dw_value_called(r, f);
}

static struct dw_value call_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	struct dw_value v;

	if (!function)
		return dw_unknown;
	if (dw_kind(tree, function) == DW_K_ATTRIBUTE) {
		v = dw_eval(r, dw_child_in(tree, function, DW_F_OBJECT));
		if (v.type == DW_V_TEXT)
			return text_method(r, part, v,
			                   dw_child_in(tree, function, DW_F_ATTRIBUTE));
	}
	v = dw_eval(r, function);
	return v.type == DW_V_NAME ? known_call(r, part, v) : dw_unknown;
}

static struct dw_value eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c;
	struct dw_value v;
	size_t len;
	const char *text;

	switch (dw_kind(tree, part)) {
	case DW_K_IDENTIFIER:
		text = dw_text(tree, part, &len);
		return name_value(r, dw_part(tree, part)->scope, text, len,
		                  dw_part(tree, part)->start,
		                  dw_part(tree, part)->field == DW_F_FUNCTION);
	case DW_K_ATTRIBUTE:
		c = dw_child_in(tree, part, DW_F_ATTRIBUTE);
		if (!c)
			return dw_unknown;
		text = dw_text(tree, c, &len);
		return member(r, dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT)), text,
		              len);
	case DW_K_SUBSCRIPT:
		return subscript(r, part);
	case DW_K_CALL:
		return call_value(r, part);
	case DW_K_STRING:
		return string_value(r, part);
	case DW_K_CONCATENATED_STRING:
		return dw_fold_list(r, part, dw_value_text(r, "", 0));
	case DW_K_BINARY_OPERATOR:
		return binary(r, part);
	case DW_K_INTEGER:
		return dw_literal_number(tree, part);
	case DW_K_UNARY_OPERATOR:
		v = dw_eval(r, dw_child_in(tree, part, DW_F_ARGUMENT));
		return v.type == DW_V_NUMBER && dw_child_of(tree, part, DW_K_T_MINUS)
		               ? dw_value_number((int64_t) - (uint64_t)v.number)
		               : dw_unknown;
	case DW_K_PARENTHESIZED_EXPRESSION:
	case DW_K_AWAIT:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_NAMED_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	case DW_K_ASSIGNMENT:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_AS_PATTERN:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_BOOLEAN_OPERATOR:
		return dw_either(r, dw_child_in(tree, part, DW_F_RIGHT),
		                 dw_child_in(tree, part, DW_F_LEFT));
	case DW_K_CONDITIONAL_EXPRESSION:
		c = dw_child_named(tree, part);
		return dw_either(r, c,
		                 c ? dw_next_named(tree, dw_next_named(tree, c)) : 0);
	case DW_K_LIST:
	case DW_K_TUPLE:
	case DW_K_EXPRESSION_LIST:
	case DW_K_DICTIONARY:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}

/* Findings. */

static bool is_load(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent, at = part;
	enum dw_field field = (enum dw_field)dw_part(tree, part)->field;

	while (is_pattern(dw_kind(tree, up)) && up > 0) {
		at = up;
		field = (enum dw_field)dw_part(tree, at)->field;
		up = dw_part(tree, up)->parent;
	}
	switch (dw_kind(tree, up)) {
	case DW_K_ATTRIBUTE:
		return field != DW_F_ATTRIBUTE;
	case DW_K_KEYWORD_ARGUMENT:
	case DW_K_DEFAULT_PARAMETER:
	case DW_K_TYPED_DEFAULT_PARAMETER:
	case DW_K_NAMED_EXPRESSION:
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_CLASS_DEFINITION:
		return field != DW_F_NAME;
	case DW_K_ASSIGNMENT:
	case DW_K_AUGMENTED_ASSIGNMENT:
	case DW_K_FOR_STATEMENT:
	case DW_K_FOR_IN_CLAUSE:
		return field != DW_F_LEFT;
	case DW_K_AS_PATTERN:
		return field != DW_F_ALIAS;
	case DW_K_DOTTED_NAME:
	case DW_K_ALIASED_IMPORT:
	case DW_K_PARAMETERS:
	case DW_K_LAMBDA_PARAMETERS:
	case DW_K_TYPED_PARAMETER:
	case DW_K_LIST_SPLAT_PATTERN:
	case DW_K_DICTIONARY_SPLAT_PATTERN:
	case DW_K_GLOBAL_STATEMENT:
	case DW_K_NONLOCAL_STATEMENT:
		return false;
	default:
		return true;
	}
}

static void check_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t module = dw_child_in(tree, part, DW_F_MODULE_NAME);
	size_t len;
	const char *name;

	if (dw_kind(tree, part) == DW_K_IMPORT_FROM_STATEMENT) {
		if (module && dw_kind(tree, module) == DW_K_DOTTED_NAME) {
			name = dotted(r, module, &len);
			if (name)
				dw_check_module(r, part, name, len);
		}
		return;
	}
	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t what = dw_kind(tree, c) == DW_K_ALIASED_IMPORT
		                        ? dw_child_in(tree, c, DW_F_NAME)
		                        : c;

		name = what ? dotted(r, what, &len) : NULL;
		if (name)
			dw_check_module(r, c, name, len);
	}
}

/* A program and its arguments as a command line: each in quotes of its own. */
static struct dw_value as_command(struct dw_reading *r, struct dw_value v)
{
	if (v.type != DW_V_PART || !is_sequence(dw_kind(&r->tree, v.part)))
		return v;
	return dw_fold_command(r, dw_value_text(r, "", 0),
	                       dw_child_named(&r->tree, v.part));
}

static void check_dynamic_import(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	uint32_t name = argument(&r->tree, part, 0);
	struct dw_value v;

	if (strcmp(f.text, "builtins.__import__") != 0 &&
	    strcmp(f.text, "importlib.import_module") != 0 &&
	    strcmp(f.text, "importlib.__import__") != 0 &&
	    strcmp(f.text, "importlib.util.spec_from_file_location") != 0 &&
	    strncmp(f.text, "imp.load", 8) != 0 &&
	    strcmp(f.text, "pkgutil.resolve_name") != 0)
		return;
	v = dw_eval(r, name);
	if (v.type == DW_V_TEXT) {
		dw_found(r, part, DW_SEVERITY_WARNING, "dynamic:import",
		         "module %.100s is imported by a call", v.text);
		dw_check_module(r, part, v.text, v.len);
	} else {
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "which module is imported is known at run time only");
	}
}

/* Is it a name space that one reaches into by name: a module, the built-ins? */
static bool is_space(struct dw_value v)
{
	return v.type == DW_V_NAME && !strchr(v.text, '.') &&
	       (dw_word_in(carried, v.text, v.len) || strcmp(v.text, "globals()") == 0);
}

static void check_reflection(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value object, name;
	char rule[DW_RULE_MAX];
	const char *how = f.text + sizeof("builtins.") - 1;

	if (strcmp(f.text, "builtins.getattr") != 0 &&
	    strcmp(f.text, "builtins.setattr") != 0 &&
	    strcmp(f.text, "builtins.delattr") != 0)
		return;
	object = dw_eval(r, argument(tree, part, 0));
	name = dw_eval(r, argument(tree, part, 1));
	if (!is_space(object) &&
	    !(name.type == DW_V_TEXT && dw_word_in(dunders, name.text, name.len)))
		return;
	(void)snprintf(rule, sizeof(rule), "reflection:%s", how);
	if (name.type == DW_V_TEXT)
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "%s reaches for %.100s by its name", how, name.text);
	else
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "what %s reaches for is known at run time only", how);
}

/* operator.attrgetter("system")(os) */
static void check_getter(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	static const char suspicious[] =
		" system popen eval exec open remove unlink rmtree ";
	struct dw_value name;

	if (strcmp(f.text, "operator.attrgetter") != 0 &&
	    strcmp(f.text, "operator.methodcaller") != 0)
		return;
	name = dw_eval(r, argument(&r->tree, part, 0));
	if (name.type == DW_V_TEXT && (dw_word_in(suspicious, name.text, name.len) ||
	                               dw_word_in(dunders, name.text, name.len)))
		dw_found(r, part, DW_SEVERITY_WARNING, "reflection:attrgetter",
		         "something called %.100s is reached for by its name", name.text);
}

/* "{0.__class__.__globals__}".format(x) */
static void check_format(struct dw_reading *r, uint32_t part, uint32_t function)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t name = dw_child_in(tree, function, DW_F_ATTRIBUTE);
	struct dw_value v;

	if (!name ||
	    (!dw_text_is(tree, name, "format") && !dw_text_is(tree, name, "format_map")))
		return;
	v = dw_eval(r, dw_child_in(tree, function, DW_F_OBJECT));
	if (v.type == DW_V_TEXT && (strstr(v.text, ".__") || strstr(v.text, "[__")))
		dw_found(r, part, DW_SEVERITY_ERROR, "reflection:format",
		         "this format reaches for attributes by name");
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	const struct dw_danger *d;
	struct dw_value f, key;

	if (!function)
		return;
	if (dw_kind(tree, function) == DW_K_ATTRIBUTE)
		check_format(r, part, function);
	f = dw_eval(r, function);
	if (f.type != DW_V_NAME)
		return;
	check_dynamic_import(r, part, f);
	check_reflection(r, part, f);
	check_getter(r, part, f);
	if (strcmp(f.text, "sys.modules.get") == 0) {
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "a module is taken from sys.modules");
		key = dw_eval(r, argument(tree, part, 0));
		if (key.type == DW_V_TEXT)
			dw_check_module(r, part, key.text, key.len);
	}
	d = dw_danger_find(r->reader, f.text);
	if (d && d->code != DW_CODE_NONE)
		dw_check_inner(r, part, d->code,
		               as_command(r, dw_eval(r, argument(tree, part, 0))));
}

/* sys.modules["os"], globals()["eval"], __builtins__.__dict__[x] */
static void check_subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	struct dw_value key;

	if (v.type == DW_V_UNKNOWN) {
		/* f.__globals__["__builtins__"] */
		key = dw_eval(r, dw_child_in(tree, part, DW_F_SUBSCRIPT));
		if (dw_value_is(key, DW_V_TEXT, "__builtins__") ||
		    dw_value_is(key, DW_V_TEXT, "__import__"))
			dw_found(r, part, DW_SEVERITY_ERROR, "reflection:__builtins__",
			         "this leads to all built-in functions");
		return;
	}
	if (!is_space(v) && !dw_value_is(v, DW_V_NAME, "sys.modules"))
		return;
	key = dw_eval(r, dw_child_in(tree, part, DW_F_SUBSCRIPT));
	if (!is_space(v)) {
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "a module is taken from sys.modules");
		if (key.type == DW_V_TEXT)
			dw_check_module(r, part, key.text, key.len);
	} else if (key.type != DW_V_TEXT && strcmp(v.text, "globals()") != 0) {
		dw_found(r, part, DW_SEVERITY_ERROR, "reflection:subscript",
		         "what is taken from %s is known at run time only", v.text);
	}
}

/* Does it always hold? */
static bool is_true(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;

	switch (dw_kind(tree, part)) {
	case DW_K_TRUE:
		return true;
	case DW_K_PARENTHESIZED_EXPRESSION:
		part = dw_child_named(tree, part);
		return part && is_true(r, part);
	case DW_K_NOT_OPERATOR:
		part = dw_child_in(tree, part, DW_F_ARGUMENT);
		if (!part)
			return false;
		v = dw_eval(r, part);
		return dw_kind(tree, part) == DW_K_FALSE ||
		       dw_kind(tree, part) == DW_K_NONE ||
		       (v.type == DW_V_NUMBER && v.number == 0) ||
		       (v.type == DW_V_TEXT && v.len == 0);
	case DW_K_COMPARISON_OPERATOR: {
		/* 1 == 1, "a" == "a" */
		uint32_t a = dw_child_named(tree, part),
			 b = a ? dw_next_named(tree, a) : 0;
		size_t len;
		const char *text;

		if (!b || dw_next_named(tree, b) || dw_kind(tree, a) != DW_K_INTEGER)
			return false;
		text = dw_text(tree, a, &len);
		return len == dw_part(tree, b)->end - dw_part(tree, b)->start &&
		       memcmp(text, tree->code + dw_part(tree, b)->start, len) == 0 &&
		       memmem(text, dw_part(tree, b)->start - dw_part(tree, a)->start,
		              "==", 2);
	}
	case DW_K_INTEGER:
	case DW_K_STRING:
	case DW_K_IDENTIFIER:
		v = dw_eval(r, part);
		return (v.type == DW_V_NUMBER && v.number != 0 &&
		        dw_kind(tree, part) != DW_K_IDENTIFIER) ||
		       (v.type == DW_V_TEXT && v.len > 0 &&
		        dw_kind(tree, part) != DW_K_IDENTIFIER);
	default:
		return false;
	}
}

static int leaves(struct dw_reading *r, uint32_t part)
{
	struct dw_value f;

	switch (dw_kind(&r->tree, part)) {
	case DW_K_BREAK_STATEMENT:
		return 1;
	case DW_K_RETURN_STATEMENT:
	case DW_K_RAISE_STATEMENT:
	case DW_K_YIELD:
	case DW_K_AWAIT:
		return 2;
	case DW_K_CALL:
		f = dw_eval(r, dw_child_in(&r->tree, part, DW_F_FUNCTION));
		return f.type == DW_V_NAME && (strcmp(f.text, "sys.exit") == 0 ||
		                               strcmp(f.text, "builtins.exit") == 0 ||
		                               strcmp(f.text, "builtins.quit") == 0 ||
		                               strcmp(f.text, "os._exit") == 0 ||
		                               strcmp(f.text, "os.abort") == 0)
		               ? 2
		               : 0;
	case DW_K_WHILE_STATEMENT:
	case DW_K_FOR_STATEMENT:
		return (dw_part(&r->tree, part)->flags & DW_PART_NAMED) ? -1 : 0;
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_LAMBDA:
	case DW_K_CLASS_DEFINITION:
		return -2;
	default:
		return 0;
	}
}

/* Does it hand out values without end? */
static bool is_endless(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value f;

	if (!part || dw_kind(tree, part) != DW_K_CALL)
		return false;
	f = dw_eval(r, dw_child_in(tree, part, DW_F_FUNCTION));
	return dw_value_is(f, DW_V_NAME, "itertools.count") ||
	       dw_value_is(f, DW_V_NAME, "itertools.cycle") ||
	       (dw_value_is(f, DW_V_NAME, "itertools.repeat") &&
	        !argument(tree, part, 1)) ||
	       (dw_value_is(f, DW_V_NAME, "builtins.iter") && argument(tree, part, 1) &&
	        dw_text_is(tree, argument(tree, part, 0), "int"));
}

static void check_loop(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t condition = dw_child_in(tree, part, DW_F_CONDITION);
	bool endless = dw_kind(tree, part) == DW_K_WHILE_STATEMENT
	                       ? condition && is_true(r, condition)
	                       : is_endless(r, dw_child_in(tree, part, DW_F_RIGHT));

	if (endless && !dw_loop_ends(r, part, leaves))
		dw_found(r, part, DW_SEVERITY_WARNING, "loop:unbounded",
		         "this loop has no break, return, raise, yield or await");
}

/*
 * Python takes wide, bold and script letters for plain ones (NFKC), so that a name may
 * be spelled in hundreds of ways. Nobody does so by accident.
 */
static void check_letters(struct dw_reading *r, uint32_t part)
{
	size_t len;
	const uint8_t *text = (const uint8_t *)dw_text(&r->tree, part, &len);

	for (size_t i = 0; i + 2 < len; i++) {
		bool bold = text[i] == 0xf0 && text[i + 1] == 0x9d && text[i + 2] >= 0x90;
		bool wide = text[i] == 0xef &&
		            (text[i + 1] == 0xbc || text[i + 1] == 0xbd);
		bool script = text[i] == 0xe2 &&
		              (text[i + 1] == 0x84 || text[i + 1] == 0x92 ||
		               text[i + 1] == 0x93);

		if (bold || wide || script) {
			dw_found(r, part, DW_SEVERITY_ERROR, "reflection:letters",
			         "this name is spelled in letters that mean others");
			return;
		}
	}
}

static void check(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	char rule[DW_RULE_MAX];
	size_t len;
	const char *text;
	uint32_t c;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	switch (dw_kind(tree, part)) {
	case DW_K_IMPORT_STATEMENT:
	case DW_K_IMPORT_FROM_STATEMENT:
		check_import(r, part);
		break;
	case DW_K_IDENTIFIER:
		check_letters(r, part);
		if (is_load(tree, part))
			(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_ATTRIBUTE:
		c = dw_child_in(tree, part, DW_F_ATTRIBUTE);
		text = c ? dw_text(tree, c, &len) : NULL;
		if (text && dw_word_in(dunders, text, len)) {
			(void)snprintf(rule, sizeof(rule), "reflection:%.*s", (int)len,
			               text);
			dw_found(r, c, DW_SEVERITY_ERROR, rule,
			         "%.*s leads from an object to all others", (int)len,
			         text);
		}
		if (is_load(tree, part))
			(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_SUBSCRIPT:
		check_subscript(r, part);
		(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_CALL:
		check_call(r, part);
		(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_EXEC_STATEMENT:
		dw_found(r, part, DW_SEVERITY_ERROR, "builtin:exec", "exec runs code");
		dw_check_inner(r, part, DW_CODE_SELF,
		               dw_eval(r, dw_child_in(tree, part, DW_F_CODE)));
		break;
	case DW_K_WHILE_STATEMENT:
	case DW_K_FOR_STATEMENT:
		check_loop(r, part);
		break;
	default:
		break;
	}
}

const struct dw_reader dw_reader_python = {
	.name = "python",
	.aliases = {"python3", "py"},
	.grammar = "python",
	.modules = modules,
	.dangers = dangers,
	.is_scope = is_scope,
	.bind = bind,
	.eval = eval,
	.member = member,
	.check = check,
};
