/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_CLEANUP_H
#define DW_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Variables that release what they own at the end of their block. Declare each with
 * its empty value (NULL, -1). Cleanups run in reverse order of declaration, and leave
 * errno alone.
 */

static inline void dw_cleanup_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

static inline void dw_cleanup_free(void *p)
{
	int saved = errno;

	free(*(void **)p);
	errno = saved;
}

static inline void dw_cleanup_dir(DIR **dir)
{
	int saved = errno;

	if (*dir)
		(void)closedir(*dir);
	errno = saved;
}

#define autoclose __attribute__((cleanup(dw_cleanup_close)))
#define autofree __attribute__((cleanup(dw_cleanup_free)))
#define autodir __attribute__((cleanup(dw_cleanup_dir)))

/* Move the value out of its owner, and leave the owner empty. */
#define TAKE_PTR(p)                        \
	({                                 \
		__typeof__(p) take_ = (p); \
		(p) = NULL;                \
		take_;                     \
	})
#define TAKE_FD(fd)               \
	({                        \
		int take_ = (fd); \
		(fd) = -1;        \
		take_;            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
