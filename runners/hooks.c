/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks on libc calls, for interpreters that do not call the library themselves.
 *
 * If an interpreter can load the library itself, when it is ready to be forked, the
 * library waits for orders right then. For any other interpreter, the dynamic linker
 * loads the library first (LD_PRELOAD), and DEWAR_WAIT names the call of the interpreter
 * at which the library waits:
 *
 *	start    main(): for interpreters that start fast, and read their pid, the time
 *	         and the environment at once
 *	fork     fork(), which the runner calls: for interpreters that repair their state
 *	         in their own fork function
 *	/path    opening this file, the code: the interpreter has started by then
 *	nowhere  no call: the runner loads the library and waits by itself; not needed
 *	         for Python
 *
 * After the wait, the child makes that call. Both variables are removed from the
 * environment, so that programs which the child starts do not load the library.
 */
#include "runners/zygote.h"

#include <stdarg.h>

#define RTLD_NEXT ((void *)-1L)
#define RTLD_NOW_FROM_LIBC ((int)0x80000002)
#define HEAP_BYTES (100U << 10)
#define LOCALE_ALL 0x1fbf
#define API __attribute__((visibility("default")))

static char wait_at[64]; /* the value of DEWAR_WAIT; empty after the wait */

extern char **environ __attribute__((weak));
extern void *malloc(size_t size) __attribute__((weak));
extern void free(void *memory) __attribute__((weak));
extern void *newlocale(int mask, const char *name, void *base) __attribute__((weak));
extern void *dlsym(void *library, const char *name) __attribute__((weak));
/* glibc before 2.34 has dlsym() in a library that a small program does not load. */
extern void *__libc_dlopen_mode(const char *name, int mode) __attribute__((weak));
extern void *__libc_dlsym(void *library, const char *name) __attribute__((weak));

typedef int main_function(int argc, char **argv, char **env);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void),
                           void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

API start_function __libc_start_main;
API int fork(void);
API int open(const char *path, int flags, ...);
API int open64(const char *path, int flags, ...);
API void *fopen(const char *path, const char *mode);
API void *fopen64(const char *path, const char *mode);
API int dlclose(void *library);

/* Find the libc function that our function of the same name replaces. */
static void *find_next(const char *name)
{
	if (dlsym)
		return dlsym(RTLD_NEXT, name);
	if (!__libc_dlopen_mode || !__libc_dlsym)
		return 0;
	return __libc_dlsym(__libc_dlopen_mode("libc.so.6", RTLD_NOW_FROM_LIBC), name);
}

/* If the library is preloaded, glibc sets environ only after our constructor has run. */
bool dw_hooks_wait(void)
{
	if (dw_python_is_here())
		return true;
	if (!&environ || !environ)
		return true;
	for (char **e = environ; *e; e++)
		if (dw_after(*e, "DEWAR_WAIT="))
			return true;
	return false;
}

/* Overwrite the string: /proc/self/environ shows it even if environ does not list it. */
static void wipe(char *text)
{
	while (*text != '\0')
		*text++ = '\0';
}

static void take_variables(void)
{
	char **to = environ;

	for (char **e = environ; *e; e++) {
		const char *where = dw_after(*e, "DEWAR_WAIT=");

		if (where && dw_length(where) < sizeof(wait_at))
			dw_copy(wait_at, where, dw_length(where) + 1);
		if (where || dw_after(*e, "LD_PRELOAD="))
			wipe(*e);
		else
			*to++ = *e;
	}
	*to = 0;
}

/* If DEWAR_WAIT names this call, wait for orders; then return in a child with its job. */
static void wait_if(const char *here)
{
	if (wait_at[0] == '\0' || !dw_is_same(here, wait_at))
		return;
	wait_at[0] = '\0';
	dw_zygote_wait();
	environ = dw_job_env(environ);
}

/*
 * Allocate and free memory in the zygote: malloc() keeps a part of it in reserve, whose
 * pages can be touched ahead of a run. And load the locale, a dozen files, once for all
 * children.
 */
static void prepare_libc(void)
{
	void *memory = malloc && free ? malloc(HEAP_BYTES) : 0;

	if (memory)
		free(memory);
	if (newlocale)
		(void)newlocale(LOCALE_ALL, "", 0);
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_function *start = (start_function *)find_next("__libc_start_main");

	take_variables();
	if (dw_is_same(wait_at, "start")) {
		prepare_libc();
		wait_if("start");
		argv = dw_job_args(argv, &argc);
	}
	return start(main, argc, argv, init, fini, rtld_fini, stack_end);
}

int fork(void)
{
	if (dw_is_same(wait_at, "fork")) {
		wait_if("fork");
		return 0;
	}
	return dw_libc_fork();
}

/* ---- opening files; libc ignores the mode if the caller passes none ---- */

typedef int open_function(const char *path, int flags, ...);
typedef void *fopen_function(const char *path, const char *mode);

int open(const char *path, int flags, ...)
{
	static open_function *next;
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	wait_if(path);
	if (!next)
		next = (open_function *)find_next("open");
	return next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	static open_function *next;
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	wait_if(path);
	if (!next)
		next = (open_function *)find_next("open64");
	return next(path, flags, mode);
}

void *fopen(const char *path, const char *mode)
{
	static fopen_function *next;

	wait_if(path);
	if (!next)
		next = (fopen_function *)find_next("fopen");
	return next(path, mode);
}

void *fopen64(const char *path, const char *mode)
{
	static fopen_function *next;

	wait_if(path);
	if (!next)
		next = (fopen_function *)find_next("fopen64");
	return next(path, mode);
}

/* Unload no library: when the process ends, the kernel frees all of it faster. */
int dlclose(void *library)
{
	(void)library;
	return 0;
}
