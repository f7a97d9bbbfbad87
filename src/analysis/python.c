/* SPDX-License-Identifier: Apache-2.0 */
/* Python: its risky names, the roles of its parts, and its hooks. */
#include <stdio.h>
#include <string.h>

#include "analysis/reader.h"

static const char modules[] =
	" os sys subprocess shutil socket http urllib requests ctypes importlib pty "
	"multiprocessing cffi posix nt pickle marshal shelve code codeop runpy pkgutil "
	"imp ftplib smtplib telnetlib poplib imaplib xmlrpc socketserver asyncore "
	"urllib3 httpx aiohttp paramiko pexpect builtins webbrowser commands "
	"_posixsubprocess websockets zipimport _ctypes _socket ";

static const struct dw_danger dangers[] = {
	RUNS("builtin:", E, SELF, " builtins.eval builtins.exec builtins.compile "),
	NAMES("builtin:", E, " builtins.__import__ "),
	NAMES("builtin:", W, " builtins.open builtins.input builtins.breakpoint "),
	NAMES("builtin:input", W, " builtins.raw_input "),
	NAMES("builtin:exec", E, " builtins.execfile "),
	NAMES("builtin:open", W,
              " io.open codecs.open pathlib.Path().open pathlib.Path().write_text "
              "pathlib.Path().write_bytes "),
	RUNS("shell:", E, SHELL,
             " os.system os.popen posix.system subprocess.run subprocess.call "
             "subprocess.Popen subprocess.check_call subprocess.check_output "
             "subprocess.getoutput subprocess.getstatusoutput commands.getoutput "
             "commands.getstatusoutput pty.spawn pexpect.spawn pexpect.run "
             "asyncio.create_subprocess_shell "),
	NAMES("shell:", E,
              " os.exec** os.spawn** os.posix_spawn** os.startfile "
              "_posixsubprocess.fork_exec asyncio.create_subprocess_exec "),
	NAMES("shell:", W, " os.fork os.forkpty os.kill** "),
	NAMES("delete:", E,
              " os.remove os.unlink os.rmdir os.removedirs os.truncate posix.unlink "
              "posix.remove shutil.rmtree pathlib.Path.unlink pathlib.Path.rmdir "),
	NAMES("delete:", W, " shutil.move "),
	NAMES("delete:pathlib.Path.unlink", E,
              " pathlib.Path().unlink pathlib.PosixPath().unlink "),
	NAMES("delete:pathlib.Path.rmdir", E, " pathlib.Path().rmdir "),
	NAMES("network:", W,
              " socket.socket socket.create_connection socket.create_server "
              "socket.getaddrinfo socket.gethostbyname _socket.socket urllib.request.* "
              "urllib.urlopen http.client.HTTP** http.server.* socketserver.* requests.* "
              "httpx.* aiohttp.* urllib3.* websockets.* ftplib.* smtplib.* telnetlib.* "
              "poplib.* imaplib.* paramiko.* xmlrpc.client.* asyncio.open_connection "
              "asyncio.start_server webbrowser.open** "),
	NAMES("native:", E, " ctypes.* cffi.* "),
	NAMES("native:", W, " mmap.mmap "),
	NAMES("dynamic:", E,
              " pickle.load** pickle.Unpickler marshal.load** yaml.unsafe_load "
              "types.FunctionType types.CodeType types.LambdaType code.interact "
              "code.Interactive** codeop.* runpy.* "),
	NAMES("dynamic:", W, " shelve.open yaml.load "),
	RUNS("dynamic:", W, SELF, " timeit.timeit timeit.repeat "),
	NAMES("reflection:", E, " sys._getframe "),
	NAMES("reflection:", W,
              " sys.settrace sys.setprofile inspect.currentframe inspect.stack "
              "gc.get_objects gc.get_referrers "),
	{0},
};

/* The built-in functions that matter here. */
static const char builtins[] =
	" eval exec compile __import__ open input raw_input execfile breakpoint getattr "
	"setattr delattr globals locals vars chr str bytes bytearray map iter type exit quit "
	"reversed ";

/* Attributes that lead from any object to everything else. */
static const char dunders[] =
	" __subclasses__ __globals__ __builtins__ __bases__ __base__ __mro__ __code__ "
	"__closure__ __loader__ __getattribute__ __reduce__ __reduce_ex__ f_globals f_locals "
	"f_builtins f_back f_code gi_frame gi_code cr_frame cr_code ag_frame tb_frame "
	"func_globals func_code __import__ mro ";

/* Modules that many other modules import, and so have as attributes. */
static const char carried[] =
	" os sys subprocess shutil socket importlib builtins ctypes ";

static const struct dw_folder methods[] = {
	{DW_FOLD_HOOK, DW_V_TEXT, " join "},
	{DW_FOLD_REPLACE, DW_V_TEXT, " replace "},
	{DW_FOLD_FORMAT, DW_V_TEXT, " format "},
	{DW_FOLD_LOWER, DW_V_TEXT, " lower casefold "},
	{DW_FOLD_UPPER, DW_V_TEXT, " upper "},
	{DW_FOLD_SAME, DW_V_TEXT, " encode decode strip __str__ "},
	{0},
};

static const struct dw_folder functions[] = {
	{DW_FOLD_CHAR, DW_V_UNKNOWN, " builtins.chr "},
	{DW_FOLD_SAME, DW_V_UNKNOWN, " builtins.str functools.partial "},
	{DW_FOLD_CHARS, DW_V_UNKNOWN, " builtins.bytes builtins.bytearray "},
	{DW_FOLD_HEX, DW_V_UNKNOWN, " builtins.bytes.fromhex binascii.unhexlify "},
	{DW_FOLD_BASE64, DW_V_UNKNOWN, " base64.b64decode base64.standard_b64decode "},
	{0},
};

/* The dotted name, without blanks or line ends inside it. */
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

/* a.b as c: returns the dotted name; *alias is the part of the new name, or 0. */
static const char *imported(struct dw_reading *r, uint32_t part, uint32_t *name,
                            uint32_t *alias)
{
	bool aliased = dw_kind(&r->tree, part) == DW_K_ALIASED_IMPORT;
	size_t len;

	*name = aliased ? dw_child_in(&r->tree, part, DW_F_NAME) : part;
	*alias = aliased ? dw_child_in(&r->tree, part, DW_F_ALIAS) : 0;
	return *name && dw_kind(&r->tree, *name) == DW_K_DOTTED_NAME
	               ? dotted(r, *name, &len)
	               : NULL;
}

static void bind_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t at = dw_part(tree, part)->end, name, alias;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		const char *path = imported(r, c, &name, &alias), *text;
		size_t len;

		if (path && !alias) {
			/* import a.b binds a. */
			alias = dw_child_named(tree, name);
			text = dw_text(tree, alias, &len);
			path = dw_keep(r, text, len);
		}
		if (path)
			dw_bind_name(r, alias, at, DW_BIND_NAME, 0, path);
	}
}

static void bind_from(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t module = dw_child_in(tree, part, DW_F_MODULE_NAME), name, alias;
	uint32_t at = dw_part(tree, part)->end;
	const char *from, *what;
	char path[256];
	size_t len;

	if (!module || dw_kind(tree, module) != DW_K_DOTTED_NAME)
		return;
	from = dotted(r, module, &len);
	for (uint32_t c = dw_next(tree, module); from && c; c = dw_next(tree, c)) {
		if (dw_kind(tree, c) == DW_K_WILDCARD_IMPORT)
			dw_bind(r, 0, "*", 1, at, DW_BIND_NAME, 0, from);
		what = imported(r, c, &name, &alias);
		if (!what)
			continue;
		(void)snprintf(path, sizeof(path), "%s.%s", from, what);
		/* from random import _os */
		what += what[0] == '_';
		if (dw_is_any(what, carried) && strcmp(from, what) != 0)
			(void)snprintf(path, sizeof(path), "%s", what);
		what = dw_keep(r, path, strlen(path));
		if (what)
			dw_bind_name(r, alias ? alias : dw_child_named(tree, name), at,
			             DW_BIND_NAME, 0, what);
	}
}

/* A definition inside a branch may never happen, and then hides no other name. */
static bool is_sure(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t up = dw_part(tree, part)->parent;

	while (up > 0 &&
	       (dw_kind(tree, up) == DW_K_BLOCK || dw_kind(tree, up) == DW_K_OTHER))
		up = dw_part(tree, up)->parent;
	return up == 0 || dw_node(r, up)->flow == DW_FLOW_FUNCTION;
}

static void bind_as(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t alias = dw_child_in(tree, part, DW_F_ALIAS);

	if (alias)
		dw_bind_pattern(r, dw_child_named(tree, alias),
		                dw_child_named(tree, part), dw_part(tree, part)->end,
		                DW_BIND_OPAQUE);
}

/* The value of a name that the program may not have bound. */
static struct dw_value global(struct dw_reading *r, const char *name, size_t len,
                              uint32_t at, enum dw_bound bound, struct dw_value v)
{
	struct dw_value star = dw_unknown;

	(void)bound;
	if (len == 12 && memcmp(name, "__builtins__", 12) == 0)
		return dw_value_name("builtins");
	/* from os import * may have bound the name. */
	if (dw_lookup(r, 0, "*", 1, at, &star) != DW_BOUND_NOT) {
		star = dw_value_member(r, star, name, len);
		if (star.type == DW_V_NAME && dw_danger_find(r->language, star.text))
			return star;
	}
	return dw_word_in(builtins, name, len) ? dw_value_path(r, "builtins", name, len)
	                                       : v;
}

/* The attribute `name` of base, accessed with a dot, getattr() or __dict__[]. */
static struct dw_value member(struct dw_reading *r, struct dw_value base,
                              const char *name, size_t len)
{
	static const char same[] = " __dict__ __call__ __func__ __wrapped__ __self__ ";
	const char *plain = len > 1 && name[0] == '_' ? name + 1 : name;
	size_t n = (size_t)(name + len - plain);

	if (len == 12 && memcmp(name, "__builtins__", 12) == 0)
		return dw_value_name("builtins");
	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (strcmp(base.text, "globals()") == 0)
		return dw_name_value(r, 0, name, len, UINT32_MAX, false);
	if (dw_word_in(carried, plain, n) && strncmp(base.text, plain, n) != 0)
		return dw_value_path(r, NULL, plain, n);
	return dw_value_member(r, base, name, len);
}

/* text[a:b:c] with constants, each of which may be omitted. */
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
		               ? dw_value_name(key.text)
		               : member(r, v, key.text, key.len);
	if (v.type == DW_V_TEXT && key.type == DW_V_NUMBER) {
		int64_t i = key.number < 0 ? key.number + (int64_t)v.len : key.number;

		return i >= 0 && i < (int64_t)v.len ? dw_value_text(r, v.text + i, 1)
		                                    : dw_unknown;
	}
	if (v.type == DW_V_PART && dw_kind(tree, v.part) == DW_K_DICTIONARY)
		return dw_value_entry(r, v.part, key);
	if (v.type == DW_V_PART && key.type == DW_V_NUMBER && key.number >= 0)
		return dw_value_element(r, v.part, key.number);
	return dw_unknown;
}

/* separator.join(list); the list may also be map(chr, list) or reversed(text). */
static struct dw_value join(struct dw_reading *r, uint32_t call, struct dw_value between)
{
	uint32_t list = dw_argument(r, call, 0);
	struct dw_value v;

	if (list && dw_kind(&r->tree, list) == DW_K_CALL) {
		v = dw_callee(r, list);
		if (dw_value_is(v, DW_V_NAME, "builtins.map") &&
		    dw_value_is(dw_eval_argument(r, list, 0), DW_V_NAME,
		                "builtins.chr")) {
			v = dw_eval_argument(r, list, 1);
			return v.type == DW_V_PART ? dw_fold_chars(r, v.part)
			                           : dw_unknown;
		}
		if (dw_value_is(v, DW_V_NAME, "builtins.reversed"))
			return dw_fold(r, DW_FOLD_REVERSE, dw_eval_argument(r, list, 0),
			               list, 1);
	}
	v = dw_eval(r, list);
	if (v.type == DW_V_TEXT && between.len == 0)
		return v;
	if (v.type != DW_V_PART || !dw_node(r, v.part)->sequence)
		return dw_unknown;
	return dw_fold_list(r, v.part, between);
}

/* Library functions that return other names, such as getattr(). */
static bool call(struct dw_reading *r, uint32_t part, struct dw_value f,
                 struct dw_value a, struct dw_value b, struct dw_value *ret)
{
	if (f.type != DW_V_NAME)
		return false;
	if (strcmp(f.text, "builtins.getattr") == 0) {
		*ret = b.type == DW_V_TEXT ? member(r, a, b.text, b.len) : dw_unknown;
	} else if (dw_value_in(f, " builtins.globals builtins.locals ")) {
		*ret = dw_value_name("globals()");
	} else if (strcmp(f.text, "builtins.vars") == 0) {
		*ret = dw_argument(r, part, 0) ? a : dw_value_name("globals()");
	} else if (strcmp(f.text, "builtins.__import__") == 0 && a.type == DW_V_TEXT) {
		*ret = dw_value_path(r, NULL, a.text, strcspn(a.text, "."));
	} else if (dw_value_in(f, " importlib.import_module sys.modules.get ") &&
	           a.type == DW_V_TEXT) {
		*ret = dw_value_name(a.text);
	} else if (a.type == DW_V_TEXT && strncmp(f.text, "builtins", 8) == 0 &&
	           f.len > 4 && strcmp(f.text + f.len - 4, ".get") == 0) {
		/* __builtins__.__dict__.get("eval") */
		b = dw_value_path(r, NULL, f.text, f.len - 4);
		*ret = member(r, b, a.text, a.len);
	} else if (strcmp(f.text, "codecs.decode") == 0) {
		if (b.type == DW_V_TEXT && strncmp(b.text, "rot", 3) == 0)
			*ret = dw_fold(r, DW_FOLD_ROT13, a, part, 1);
	} else {
		return false;
	}
	return true;
}

static struct dw_value conditional(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c = dw_child_named(tree, part);

	return dw_eval_either(r, c, c ? dw_next_named(tree, dw_next_named(tree, c)) : 0);
}

static struct dw_value unary(struct dw_reading *r, uint32_t part)
{
	struct dw_value v = dw_eval(r, dw_child_in(&r->tree, part, DW_F_ARGUMENT));

	return v.type == DW_V_NUMBER && dw_child_of(&r->tree, part, DW_K_T_MINUS)
	               ? dw_value_number((int64_t) - (uint64_t)v.number)
	               : dw_unknown;
}

static void check_dotted(struct dw_reading *r, uint32_t part, uint32_t name)
{
	size_t len;
	const char *text = name ? dotted(r, name, &len) : NULL;

	if (text)
		dw_check_module(r, part, text, len);
}

static void check_from(struct dw_reading *r, uint32_t part)
{
	uint32_t module = dw_child_in(&r->tree, part, DW_F_MODULE_NAME);

	if (module && dw_kind(&r->tree, module) == DW_K_DOTTED_NAME)
		check_dotted(r, part, module);
}

static void check_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c))
		check_dotted(r, c,
		             dw_kind(tree, c) == DW_K_ALIASED_IMPORT
		                     ? dw_child_in(tree, c, DW_F_NAME)
		                     : c);
}

static void check_dynamic_import(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	static const char importers[] =
		" builtins.__import__ importlib.import_module importlib.__import__ "
		"importlib.util.spec_from_file_location pkgutil.resolve_name ";
	struct dw_value v;

	if (!dw_value_in(f, importers) && strncmp(f.text, "imp.load", 8) != 0)
		return;
	v = dw_eval_argument(r, part, 0);
	if (v.type == DW_V_TEXT) {
		dw_found(r, part, W, "dynamic:import",
		         "module %.100s is imported by a call", v.text);
		dw_check_module(r, part, v.text, v.len);
	} else {
		dw_found(r, part, E, "dynamic:import",
		         "the imported module is chosen at run time");
	}
}

/* Returns true if v is a namespace with risky members: a module, or globals(). */
static bool is_space(struct dw_value v)
{
	return v.type == DW_V_NAME && !strchr(v.text, '.') &&
	       (dw_word_in(carried, v.text, v.len) || strcmp(v.text, "globals()") == 0);
}

static void check_reflection(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	struct dw_value object, name;
	const char *how = f.text + sizeof("builtins.") - 1, *rule;

	if (!dw_value_in(f, " builtins.getattr builtins.setattr builtins.delattr "))
		return;
	object = dw_eval_argument(r, part, 0);
	name = dw_eval_argument(r, part, 1);
	if (!is_space(object) &&
	    !(name.type == DW_V_TEXT && dw_word_in(dunders, name.text, name.len)))
		return;
	rule = DW_RULE("reflection:%s", how);
	if (name.type == DW_V_TEXT)
		dw_found(r, part, E, rule, "%s accesses %.100s by name", how, name.text);
	else
		dw_found(r, part, E, rule,
		         "the name passed to %s is computed at run time", how);
}

/* operator.attrgetter("system")(os) */
static void check_getter(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	static const char suspicious[] =
		" system popen eval exec open remove unlink rmtree ";
	struct dw_value name;

	if (!dw_value_in(f, " operator.attrgetter operator.methodcaller "))
		return;
	name = dw_eval_argument(r, part, 0);
	if (name.type == DW_V_TEXT && (dw_word_in(suspicious, name.text, name.len) ||
	                               dw_word_in(dunders, name.text, name.len)))
		dw_found(r, part, W, "reflection:attrgetter",
		         "%s accesses %.100s by name", f.text, name.text);
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
		dw_found(r, part, E, "reflection:format",
		         "this format string accesses attributes by name");
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
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
		dw_found(r, part, E, "dynamic:import",
		         "a module is read from sys.modules");
		key = dw_eval_argument(r, part, 0);
		if (key.type == DW_V_TEXT)
			dw_check_module(r, part, key.text, key.len);
	}
	dw_check_run(r, part, dw_danger_find(r->language, f.text), 0);
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
			dw_found(r, part, E, "reflection:__builtins__",
			         "this leads to all built-in functions");
		return;
	}
	if (!is_space(v) && !dw_value_is(v, DW_V_NAME, "sys.modules"))
		return;
	key = dw_eval(r, dw_child_in(tree, part, DW_F_SUBSCRIPT));
	if (!is_space(v)) {
		dw_found(r, part, E, "dynamic:import",
		         "a module is read from sys.modules");
		if (key.type == DW_V_TEXT)
			dw_check_module(r, part, key.text, key.len);
	} else if (key.type != DW_V_TEXT && strcmp(v.text, "globals()") != 0) {
		dw_found(r, part, E, "reflection:subscript",
		         "the name of this member of %s is computed at run time", v.text);
	}
}

/* 1 == 1 */
static bool is_true(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t a = dw_child_named(tree, part), b = a ? dw_next_named(tree, a) : 0;
	size_t len;
	const char *text;

	if (!b || dw_next_named(tree, b) || dw_kind(tree, a) != DW_K_INTEGER)
		return false;
	text = dw_text(tree, a, &len);
	return len == dw_part(tree, b)->end - dw_part(tree, b)->start &&
	       memcmp(text, tree->code + dw_part(tree, b)->start, len) == 0 &&
	       memmem(text, dw_part(tree, b)->start - dw_part(tree, a)->start, "==", 2);
}

/* Returns true if the part is a call that returns an endless iterator. */
static bool is_endless(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value f;

	if (!part || dw_kind(tree, part) != DW_K_CALL)
		return false;
	f = dw_callee(r, part);
	return dw_value_in(f, " itertools.count itertools.cycle ") ||
	       (dw_value_is(f, DW_V_NAME, "itertools.repeat") &&
	        !dw_argument(r, part, 1)) ||
	       (dw_value_is(f, DW_V_NAME, "builtins.iter") && dw_argument(r, part, 1) &&
	        dw_text_is(tree, dw_argument(r, part, 0), "int"));
}

/*
 * Python normalizes identifiers (NFKC): wide, bold and script letters count as plain
 * ones, so that a name can be spelled in hundreds of ways. No program does so by
 * accident.
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
			dw_found(r, part, E, "reflection:letters",
			         "this name uses look-alike Unicode letters");
			return;
		}
	}
}

static void check_attribute(struct dw_reading *r, uint32_t part)
{
	uint32_t name = dw_child_in(&r->tree, part, DW_F_ATTRIBUTE);
	size_t len;
	const char *text = name ? dw_text(&r->tree, name, &len) : NULL;

	if (text && dw_word_in(dunders, text, len))
		dw_found(r, name, E, DW_RULE("reflection:%.*s", (int)len, text),
		         "%.*s leads from an object to all others", (int)len, text);
}

static void check_exec(struct dw_reading *r, uint32_t part)
{
	dw_found(r, part, E, "builtin:exec", "exec runs code");
	dw_check_inner(r, part, DW_CODE_SELF,
	               dw_eval(r, dw_child_in(&r->tree, part, DW_F_CODE)));
}

static void check_for(struct dw_reading *r, uint32_t part)
{
	if (is_endless(r, dw_child_in(&r->tree, part, DW_F_RIGHT)))
		dw_check_endless(r, part, part);
}

static const struct dw_node nodes[DW_K_COUNT] = {
	[DW_K_ALIASED_IMPORT] = {STORES_ALL},
	[DW_K_ASSIGNMENT] = {EVAL(VALUE), BINDS(ASSIGN_SURE), OF(LEFT, RIGHT),
                             STORES(LEFT)},
	[DW_K_AS_PATTERN] = {EVAL(FIRST), BIND_BY(bind_as), STORES(ALIAS)},
	[DW_K_AS_PATTERN_TARGET] = {PATTERN(LIST), STORES_UP},
	[DW_K_ATTRIBUTE] = {EVAL(MEMBER), CHECK(LOAD), OF(OBJECT, ATTRIBUTE),
                            STORES(ATTRIBUTE), CHECK_BY(check_attribute)},
	[DW_K_AUGMENTED_ASSIGNMENT] = {BINDS(AUGMENT), OF(LEFT, RIGHT), STORES(LEFT)},
	[DW_K_AWAIT] = {EVAL(FIRST), FLOW(EXIT)},
	[DW_K_BINARY_OPERATOR] = {EVAL(BINARY)},
	[DW_K_BOOLEAN_OPERATOR] = {EVAL(EITHER), OF(RIGHT, LEFT)},
	[DW_K_BREAK_STATEMENT] = {FLOW(BREAK)},
	[DW_K_CALL] = {EVAL(CALL), CHECK(VALUE), FLOW(CALL), OF(FUNCTION, NONE),
                       CHECK_BY(check_call)},
	[DW_K_CLASS_DEFINITION] = {BINDS(DEFINITION), FLOW(FUNCTION), STORES(NAME),
                                   SCOPE},
	[DW_K_COMPARISON_OPERATOR] = {TRUTH(HOOK)},
	[DW_K_CONCATENATED_STRING] = {EVAL(JOINED)},
	[DW_K_CONDITIONAL_EXPRESSION] = {EVAL_BY(conditional)},
	[DW_K_DEFAULT_PARAMETER] = {STORES(NAME)},
	[DW_K_DICTIONARY] = {EVAL(PART)},
	[DW_K_DICTIONARY_COMPREHENSION] = {SCOPE},
	[DW_K_DICTIONARY_SPLAT_PATTERN] = {STORES_ALL},
	[DW_K_DOTTED_NAME] = {STORES_ALL},
	[DW_K_EXEC_STATEMENT] = {CHECK_BY(check_exec)},
	[DW_K_EXPRESSION_LIST] = {EVAL(PART), SEQUENCE},
	[DW_K_FALSE] = {TRUTH(NO)},
	[DW_K_FOR_IN_CLAUSE] = {BINDS(TARGET), OF(LEFT, NONE), STORES(LEFT)},
	[DW_K_FOR_STATEMENT] = {BINDS(EACH), FLOW(LOOP), OF(LEFT, NONE), STORES(LEFT),
                                CHECK_BY(check_for)},
	[DW_K_FUNCTION_DEFINITION] = {BINDS(DEFINITION), FLOW(FUNCTION), STORES(NAME),
                                      SCOPE},
	[DW_K_GENERATOR_EXPRESSION] = {SCOPE},
	[DW_K_GLOBAL_STATEMENT] = {STORES_ALL},
	[DW_K_IDENTIFIER] = {EVAL(NAME), PATTERN(NAME), CHECK(LOAD),
                             CHECK_BY(check_letters)},
	[DW_K_IMPORT_FROM_STATEMENT] = {BIND_BY(bind_from), CHECK_BY(check_from)},
	[DW_K_IMPORT_STATEMENT] = {BIND_BY(bind_import), CHECK_BY(check_import)},
	[DW_K_INTEGER] = {EVAL(NUMBER), TRUTH(VALUE)},
	[DW_K_INTERPOLATION] = {EVAL(FIRST)},
	[DW_K_KEYWORD_ARGUMENT] = {STORES(NAME)},
	[DW_K_LAMBDA] = {FLOW(FUNCTION), SCOPE},
	[DW_K_LAMBDA_PARAMETERS] = {BINDS(PARAMETERS), PATTERN(REST), STORES_ALL},
	[DW_K_LIST] = {EVAL(PART), PATTERN(LIST), STORES_UP, SEQUENCE},
	[DW_K_LIST_COMPREHENSION] = {SCOPE},
	[DW_K_LIST_PATTERN] = {PATTERN(LIST), STORES_UP},
	[DW_K_LIST_SPLAT_PATTERN] = {PATTERN(LIST), STORES_UP},
	[DW_K_NAMED_EXPRESSION] = {EVAL(VALUE), BINDS(ASSIGN), OF(NAME, VALUE),
                                   STORES(NAME)},
	[DW_K_NONE] = {TRUTH(NO)},
	[DW_K_NONLOCAL_STATEMENT] = {STORES_ALL},
	[DW_K_NOT_OPERATOR] = {TRUTH(NOT)},
	[DW_K_PARAMETERS] = {BINDS(PARAMETERS), PATTERN(REST), STORES_ALL},
	[DW_K_PARENTHESIZED_EXPRESSION] = {EVAL(FIRST), TRUTH(INSIDE)},
	[DW_K_PATTERN_LIST] = {PATTERN(LIST), STORES_UP},
	[DW_K_RAISE_STATEMENT] = {FLOW(EXIT)},
	[DW_K_RETURN_STATEMENT] = {FLOW(EXIT)},
	[DW_K_SET_COMPREHENSION] = {SCOPE},
	[DW_K_STRING] = {EVAL(STRING), TRUTH(VALUE)},
	[DW_K_SUBSCRIPT] = {EVAL_BY(subscript), CHECK(VALUE), CHECK_BY(check_subscript)},
	[DW_K_TRUE] = {TRUTH(YES)},
	[DW_K_TUPLE] = {EVAL(PART), PATTERN(LIST), STORES_UP, SEQUENCE},
	[DW_K_TUPLE_PATTERN] = {PATTERN(LIST), STORES_UP},
	[DW_K_TYPED_DEFAULT_PARAMETER] = {STORES(NAME)},
	[DW_K_TYPED_PARAMETER] = {STORES_ALL},
	[DW_K_UNARY_OPERATOR] = {EVAL_BY(unary)},
	[DW_K_WHILE_STATEMENT] = {CHECK(WHILE), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_YIELD] = {FLOW(EXIT)},
};

const struct dw_syntax dw_syntax_python = {
	.name = "python",
	.aliases = {"python3", "py"},
	.grammar = "python",
	.modules = modules,
	.dangers = dangers,
	.nodes = nodes,
	.operators = " + - * % ",
	.methods = methods,
	.functions = functions,
	.append = DW_K_T_PLUS_EQUAL,
	.augment_opaque = true,
	.command = DW_COMMAND_LIST,
	.exits = " sys.exit builtins.exit builtins.quit os._exit os.abort ",
	.loop_message = "this loop has no break, return, raise, yield or await",
	.is_sure = is_sure,
	.global = global,
	.member = member,
	.method = join,
	.call = call,
	.is_true = is_true,
};
