/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For Python, which loads the library as an extension module: that works in every
 * CPython, also without ctypes. The part of the C API used here has been stable since
 * 3.2. In a Python without the global interpreter lock, objects have another layout:
 * python/zygote.py refuses such a Python before it loads the library.
 */
#include "runners/zygote.h"

#define API __attribute__((visibility("default")))
#define API_VERSION 1013
#define NO_ARGUMENTS 4

struct method {
	const char *name;
	void *(*call)(void *module, void *nothing);
	int flags;
	const char *doc;
};

/* PyModuleDef, with only the required fields set. */
struct definition {
	long references;
	void *type;
	void *base[3];
	const char *name;
	const char *doc;
	long size;
	const struct method *methods;
	void *slots[4];
};

extern int Py_IsInitialized(void) __attribute__((weak));
extern void PyOS_BeforeFork(void) __attribute__((weak));
extern void PyOS_AfterFork_Child(void) __attribute__((weak));
extern void *PyModule_Create2(struct definition *module, int version)
	__attribute__((weak));
extern void *PyBytes_FromStringAndSize(const char *text, long len) __attribute__((weak));
extern void *PyUnicode_DecodeFSDefaultAndSize(const char *text, long len)
	__attribute__((weak));
extern void *PyList_New(long len) __attribute__((weak));
extern int PyList_Append(void *list, void *item) __attribute__((weak));
extern void *PyTuple_Pack(long len, ...) __attribute__((weak));

API void *PyInit_dewar(void);

bool dw_python_is_here(void)
{
	return Py_IsInitialized && Py_IsInitialized();
}

/* fork(): wait for orders. Returns only in a child. */
/* mutant: warm-python-fork */
static void *wait_for_orders(void *module, void *nothing)
{
	(void)module;
	(void)nothing;
	PyOS_BeforeFork();
	dw_zygote_wait();
	PyOS_AfterFork_Child();
	return PyBytes_FromStringAndSize("", 0);
}

static void *decode(const char *text, uint32_t len)
{
	return PyUnicode_DecodeFSDefaultAndSize(text, len);
}

/*
 * wait(): wait for the job, and return its code, the code's path, its arguments, its
 * environment, and the import hook with its modules, if any. Leaked references do not
 * matter: the process lives for one run.
 */
static void *wait_for_job(void *module, void *nothing)
{
	void *code = 0, *path = 0, *args = PyList_New(0), *env = PyList_New(0);
	void *hook = PyList_New(0);
	const char *at;
	struct dw_record r;

	(void)module;
	(void)nothing;
	dewar_wait();
	at = dewar_job;
	while (dw_job_next(&at, &r)) {
		if (r.kind == DW_JOB_CODE) {
			code = PyBytes_FromStringAndSize(r.data, r.len);
			path = decode(r.name, r.name_len);
		} else if (r.kind == DW_JOB_ARG) {
			(void)PyList_Append(args, decode(r.data, r.len));
		} else if (r.kind == DW_JOB_ENV) {
			(void)PyList_Append(env,
			                    PyTuple_Pack(2, decode(r.name, r.name_len),
			                                 decode(r.data, r.len)));
		} else if (r.kind == DW_JOB_HOOK) {
			(void)PyList_Append(hook,
			                    PyTuple_Pack(2, decode(r.name, r.name_len),
			                                 decode(r.data, r.len)));
		}
	}
	return PyTuple_Pack(5, code, path, args, env, hook);
}

void *PyInit_dewar(void)
{
	static const struct method methods[] = {
		{.name = "fork", .call = wait_for_orders, .flags = NO_ARGUMENTS},
		{.name = "wait", .call = wait_for_job, .flags = NO_ARGUMENTS},
		{0},
	};
	static struct definition module = {
		.references = 1,
		.name = "dewar",
		.size = -1,
		.methods = methods,
	};

	return PyModule_Create2(&module, API_VERSION);
}
