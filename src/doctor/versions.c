/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "doctor/doctor.h"
#include "doctor/known_bad.h"
#include "languages/installed.h"

/*
 * Which versions are here of what our walls stand on, held against a list of those
 * that programs have got out of. It is the one thing that the doctor takes from a
 * number instead of trying it; so nothing found here is more than weak.
 */

#define ASK_MS 10000U /* on a busy host, too: a part that does not answer is not listed */

static const struct {
	const char *name, *area;
	const char *paths[3]; /* asked with --version; none for the kernel */
	const char *package;  /* Debian's */
} parts[] = {
	[DW_PART_KERNEL] = {"the kernel", "kernel", {NULL}, "linux-image-$(uname -r)"},
	[DW_PART_RUNC] = {"runc", "runc", {"/usr/bin/runc", "/usr/sbin/runc"}, "runc"},
	[DW_PART_CONTAINERD] = {"containerd",
                                "containerd",
                                {"/usr/bin/containerd"},
                                "containerd"},
	[DW_PART_QEMU] = {"QEMU",
                          "qemu",
                          {"/usr/bin/qemu-system-x86_64", "/usr/bin/qemu-system-aarch64"},
                          "qemu-system"},
};
_Static_assert(ARRAY_SIZE(parts) == DW_PART_COUNT, "a line for each part");

static bool look_at_kernel(struct dw_version *ret)
{
	char signature[256] = "";
	struct utsname host;

	if (uname(&host) < 0)
		return false;
	if (dw_fd_read_attr(AT_FDCWD, "/proc/version_signature", signature,
	                    sizeof(signature)) < 0)
		signature[0] = '\0';
	signature[strcspn(signature, "\n")] = '\0';
	return dw_version_of_kernel(host.release, host.version, signature, ret);
}

static bool look_at(enum dw_part part, struct dw_version *ret)
{
	static char option[] = "--version";

	if (part == DW_PART_KERNEL)
		return look_at_kernel(ret);
	for (size_t i = 0; i < ARRAY_SIZE(parts[part].paths) && parts[part].paths[i];
	     i++) {
		char *argv[] = {(char *)parts[part].paths[i], option, NULL};
		char text[512] = "";

		if (access(argv[0], X_OK) == 0 &&
		    dw_program_ask(argv, ASK_MS, text, sizeof(text)) == 0 &&
		    dw_version_read(text, ret))
			return true;
	}
	return false;
}

static void show(const struct dw_version *v, char *ret, size_t size)
{
	char rc[16] = "";

	if (v->rc != DW_NO_RC)
		(void)snprintf(rc, sizeof(rc), "-rc%d", v->rc);
	(void)snprintf(ret, size, "%d.%d.%d%s", v->major, v->minor, v->patch, rc);
}

static void describe(const struct dw_known_bad *bad, const char *version,
                     struct dw_doctor_finding *f)
{
	char fixed[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < DW_FIXED_MAX && bad->fixed[i]; i++)
		len += (size_t)snprintf(fixed + len, sizeof(fixed) - len, "%s%s",
		                        len > 0 ? ", " : "", bad->fixed[i]);
	f->state = DW_FINDING_WEAK;
	(void)snprintf(f->detail, sizeof(f->detail),
	               "%s %s by its number: %s; %s%s; mended in %s, or by the "
	               "distribution under an older number",
	               parts[bad->part].name, version, bad->what,
	               bad->wall ? "here " : "no wall of ours stands before it",
	               bad->wall ? bad->wall : "", fixed);
	(void)snprintf(f->remedy, sizeof(f->remedy),
	               "apt-get changelog %s | grep %s, and if it is not there: apt-get "
	               "update && apt-get upgrade",
	               parts[bad->part].package, bad->cve);
}

static void check(enum dw_part part, void (*fn)(void *, const struct dw_doctor_finding *),
                  void *user)
{
	struct dw_doctor_finding good = {.area = parts[part].area};
	size_t n, known = 0, found = 0;
	const struct dw_known_bad *table = dw_known_bad_table(&n);
	struct dw_version version;
	char number[48], area[48];

	if (!look_at(part, &version))
		return; /* not here: nothing stands on it */
	show(&version, number, sizeof(number));
	for (size_t i = 0; i < n; i++) {
		struct dw_doctor_finding f = {.area = area};

		if (table[i].part != part)
			continue;
		known++;
		if (!dw_known_bad_has(&table[i], &version))
			continue;
		found++;
		(void)snprintf(area, sizeof(area), "%s %s", parts[part].area,
		               table[i].cve);
		describe(&table[i], number, &f);
		fn(user, &f);
	}
	if (found > 0)
		return;
	(void)snprintf(good.detail, sizeof(good.detail),
	               "%s has none of the %zu ways out that we know of", number, known);
	fn(user, &good);
}

void dw_doctor_versions(void (*fn)(void *user, const struct dw_doctor_finding *f),
                        void *user)
{
	for (int i = 0; i < DW_PART_COUNT; i++)
		check(i, fn, user);
}
