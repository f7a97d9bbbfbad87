/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/verify_own.h"

/* Read the last line of a file, without its newline. */
static void last_line(const char *path, char *ret, size_t size)
{
	char text[64U << 10];
	ssize_t n = dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text));
	const char *at = n > 0 ? strrchr(text, '\n') : NULL;

	(void)snprintf(ret, size, "%.4000s", n <= 0 ? "" : at ? at + 1 : text);
}

/*
 * Read the UUID of the file system that holds /usr. Ext4 has its own ioctl, other
 * file systems support the common one (Linux 6.9) or none.
 */
static void disk_id(char *ret, size_t size)
{
	struct {
		unsigned int len, flags;
		unsigned char id[16];
	} ext = {.len = 16};
	struct {
		unsigned char len, id[16];
	} any = {0};
	autoclose int fd = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const unsigned char *id = NULL;
	size_t at;

	if (ioctl(fd, _IOR('f', 44, unsigned int[2]), &ext) == 0)
		id = ext.id;
	else if (ioctl(fd, _IOR(0x15, 0, any), &any) == 0)
		id = any.id;
	else
		return;
	at = (size_t)snprintf(ret, size, "disk ");
	for (size_t i = 0; i < 16; i++)
		at += (size_t)snprintf(ret + at, size - at, "%02x", id[i]);
}

bool dw_oracle_host(const char *output, const char *oracle, char *ret, size_t size)
{
	char value[4096] = "";
	struct statfs fs;
	int id[2];

	if (strcmp(oracle, "host boot-id") == 0)
		last_line("/proc/sys/kernel/random/boot_id", value, sizeof(value));
	else if (strcmp(oracle, "host command-line") == 0)
		last_line("/proc/cmdline", value, sizeof(value));
	else if (strcmp(oracle, "host account") == 0)
		last_line("/etc/passwd", value, sizeof(value));
	else if (strcmp(oracle, "host caller") == 0)
		(void)snprintf(value, sizeof(value), "caller %u\n", getuid());
	else if (strcmp(oracle, "host disk") == 0)
		disk_id(value, sizeof(value));
	else if (strcmp(oracle, "host file-system") == 0 && statfs("/usr", &fs) == 0) {
		memcpy(id, &fs.f_fsid, sizeof(id));
		(void)snprintf(value, sizeof(value), "file system %08x%08x", id[0],
		               id[1]);
	}
	if (value[0] == '\0' || !output || !strstr(output, value))
		return false;
	(void)snprintf(ret, size, "the output has the %s: %.64s", oracle, value);
	return true;
}

/* Search for the name as a whole line, because a host name may be a common word. */
static bool has_line(const char *output, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = output; len > 0 && (at = strstr(at, name)) != NULL; at++)
		if ((at == output || at[-1] == '\n') &&
		    (at[len] == '\n' || at[len] == '\0'))
			return true;
	return false;
}

bool dw_oracle_host_names(const char *output, char *ret, size_t size)
{
	struct utsname host = {0};
	char id[64];

	last_line("/etc/machine-id", id, sizeof(id));
	(void)uname(&host);
	if (!output)
		return false;
	if (strlen(id) == 32 && strstr(output, id))
		(void)snprintf(ret, size, "the output has the host's machine-id");
	else if (has_line(output, host.nodename))
		(void)snprintf(ret, size, "the output has the host's name: %s",
		               host.nodename);
	else if (strcmp(host.domainname, "(none)") != 0 &&
	         has_line(output, host.domainname))
		(void)snprintf(ret, size, "the output has the host's domain: %s",
		               host.domainname);
	else
		return false;
	return true;
}
