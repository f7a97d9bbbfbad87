/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite can load libraries that a query names. A static program cannot, and the linker
 * warns about it. The linker uses this function instead of dlopen() (--wrap).
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}
