/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite can load libraries that a query names. A static program cannot, and the
 * linker warns of it; we would not want it to, either. So there is nothing to load
 * with.
 */
#include <dlfcn.h>
#include <stddef.h>

void *dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
	(void)handle;
	(void)name;
	return NULL;
}

int dlclose(void *handle)
{
	(void)handle;
	return -1;
}

char *dlerror(void)
{
	static char why[] = "this program loads no libraries";

	return why;
}
