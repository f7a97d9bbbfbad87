/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to wait, for those that do not say so.
 *
 * An interpreter that loads our library when it is ready waits there and then. One
 * that has no way to load it, or not at the right moment, gets it from the dynamic
 * linker ahead of everything else (LD_PRELOAD), and DEWAR_WAIT says at which call of
 * the interpreter's to wait:
 *
 *	start    of its main(): for those that start fast, and look at their pid, the
 *	         time and the environment first thing
 *	fork     for a runner that calls it, in an interpreter that has to be put in
 *	         order after a fork, and does it by itself if it believes in one
 *	/path    when it opens this file, the code: all that it does before is done
 *	nowhere  it has loaded us by itself, and waits by itself; Python need not say so
 *
 * The call that was waited for is then made, in the child. Neither variable is left
 * in the environment, and nothing that the program starts gets our library.
 */
#include "runners/zygote.h"

#include <stdarg.h>

#define RTLD_NEXT ((void *)-1L)
#define RTLD_NOW_FROM_LIBC ((int)0x80000002)
#define HEAP_BYTES (100U << 10)
#define LOCALE_ALL 0x1fbf
#define API __attribute__((visibility("default")))

static char wait_at[64]; /* what DEWAR_WAIT said; empty once we have waited */

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

/* The function that ours stands in front of. */
static void *find_next(const char *name)
{
	if (dlsym)
		return dlsym(RTLD_NEXT, name);
	if (!__libc_dlopen_mode || !__libc_dlsym)
		return 0;
	return __libc_dlsym(__libc_dlopen_mode("libc.so.6", RTLD_NOW_FROM_LIBC), name);
}

/* glibc sets environ after it has called us, if we are there before everybody. */
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

/* Not only out of the list: /proc/self/environ shows the texts themselves. */
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

/* Does not return in the zygote. */
static void wait_if(const char *here)
{
	if (wait_at[0] == '\0' || !dw_is_same(here, wait_at))
		return;
	wait_at[0] = '\0';
	dw_zygote_wait();
	environ = dw_job_env(environ);
}

/*
 * Pages can be touched ahead where there is memory in the zygote, too. A heap that is
 * asked for once stays, at least as far as malloc() likes to have it in reserve; and
 * a locale that somebody has is loaded for all: a dozen of files.
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

/* ---- opening; if no mode is given it is not looked at, either ---- */

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

/* At its end an interpreter takes down what the kernel takes down faster, all at once. */
int dlclose(void *library)
{
	(void)library;
	return 0;
}
