/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "doctor/doctor.h"
#include "languages/runtime.h"

/*
 * Compares installed versions with known_bad.def. This is the only check that relies
 * on a version number instead of trying a feature, so its findings are never worse
 * than weak.
 */

#define ASK_MS \
	10000U /* for a busy host; a component that does not answer is not listed */

static const struct {
	const char *name, *area;
	const char *paths[3]; /* programs to run with --version; none for the kernel */
	const char *package;  /* the name of the Debian package */
} components[] = {
	[DW_COMPONENT_KERNEL] = {"the kernel",
                                 "kernel",
                                 {NULL},
                                 "linux-image-$(uname -r)"},
	[DW_COMPONENT_RUNC] = {"runc",
                               "runc",
                               {"/usr/bin/runc", "/usr/sbin/runc"},
                               "runc"},
	[DW_COMPONENT_CONTAINERD] = {"containerd",
                                     "containerd",
                                     {"/usr/bin/containerd"},
                                     "containerd"},
	[DW_COMPONENT_QEMU] = {"QEMU",
                               "qemu",
                               {"/usr/bin/qemu-system-x86_64",
                                "/usr/bin/qemu-system-aarch64"},
                               "qemu-system"},
};
_Static_assert(ARRAY_SIZE(components) == DW_COMPONENT_COUNT, "a line for each component");

static bool read_kernel_version(struct dw_version *ret)
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

static bool read_version(enum dw_component component, struct dw_version *ret)
{
	static char option[] = "--version";

	if (component == DW_COMPONENT_KERNEL)
		return read_kernel_version(ret);
	for (size_t i = 0; i < ARRAY_SIZE(components[component].paths) &&
	                   components[component].paths[i];
	     i++) {
		char *argv[] = {(char *)components[component].paths[i], option, NULL};
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
	               "%s %s is affected according to its version number: %s; %s; "
	               "fixed in %s, unless the distribution has backported the fix",
	               components[bad->component].name, version, bad->what,
	               bad->wall ? bad->wall : "no wall of dewar stops it", fixed);
	(void)snprintf(f->remedy, sizeof(f->remedy),
	               "apt-get changelog %s | grep %s; without a match: apt-get update && "
	               "apt-get upgrade",
	               components[bad->component].package, bad->cve);
}

static void check(enum dw_component component, dw_doctor_fn *fn, void *user)
{
	struct dw_doctor_finding good = {.area = components[component].area};
	size_t n, known = 0, found = 0;
	const struct dw_known_bad *table = dw_known_bad_table(&n);
	struct dw_version version;
	char number[48], area[48];

	if (!read_version(component, &version))
		return; /* not installed */
	show(&version, number, sizeof(number));
	for (size_t i = 0; i < n; i++) {
		struct dw_doctor_finding f = {.area = area};

		if (table[i].component != component)
			continue;
		known++;
		if (!dw_known_bad_has(&table[i], &version))
			continue;
		found++;
		(void)snprintf(area, sizeof(area), "%s %s", components[component].area,
		               table[i].cve);
		describe(&table[i], number, &f);
		fn(user, &f);
	}
	if (found > 0)
		return;
	(void)snprintf(good.detail, sizeof(good.detail),
	               "%s is not affected by known escapes (%zu checked)", number,
	               known);
	fn(user, &good);
}

void dw_doctor_versions(dw_doctor_fn *fn, void *user)
{
	for (int i = 0; i < DW_COMPONENT_COUNT; i++)
		check(i, fn, user);
}
