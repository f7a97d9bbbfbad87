/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "levels/host.h"

/*
 * A table of possible causes. Each is checked, in order, against the host's facts, the
 * stage and the errno; the first that matches is named. An errno alone is not enough.
 */

struct failure {
	const struct dw_host *host;
	enum dw_report_stage stage;
	int eno;
	char cause[64]; /* for a cause that names a setting */
	char remedy[320];
};

static bool is_permission(const struct failure *r)
{
	return r->eno == EPERM || r->eno == EACCES;
}

/* ---- /proc ---- */

static const char *no_proc(struct failure *r)
{
	if (r->host->proc)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy), "mount -t proc proc /proc");
	return "there is no procfs at /proc, which dewar needs to find its "
	       "programs and to map a cell's ids";
}

/* Names only the first mount in /proc; if there are more, the next run names the next. */
static const char *masked_proc(struct failure *r)
{
	static const char *const remedies[] = {
		[DW_CONTAINER_DOCKER] = "docker run --security-opt systempaths=unconfined",
		[DW_CONTAINER_PODMAN] = "podman run --security-opt unmask=ALL",
	};
	const struct dw_host *h = r->host;

	if (h->masked[0] == '\0' && !h->proc_readonly)
		return NULL;
	if (!(r->stage == DW_STAGE_PROC && r->eno == EPERM) &&
	    !(h->proc_readonly && r->eno == EROFS))
		return NULL;
	if (h->container == DW_CONTAINER_DOCKER || h->container == DW_CONTAINER_PODMAN) {
		(void)snprintf(r->remedy, sizeof(r->remedy), "%s ...",
		               remedies[h->container]);
		return "the container masks parts of /proc, so the kernel refuses "
		       "to mount another; with this option the container's root "
		       "sees those parts";
	}
	if (h->proc_readonly)
		(void)snprintf(r->remedy, sizeof(r->remedy), "mount -o remount,rw /proc");
	else
		(void)snprintf(r->remedy, sizeof(r->remedy), "umount %s", h->masked);
	return h->proc_readonly
	               ? "/proc is read-only, and a cell's ids are written there"
	               : "other mounts cover parts of /proc, so the kernel refuses to "
	                 "mount a new proc that would show those parts";
}

/* ---- limits and switches of the kernel ---- */

static const char *namespaces_used_up(struct failure *r)
{
	const char *kind = r->host->zero_namespaces;

	if (r->stage != DW_STAGE_NAMESPACES || (r->eno != ENOSPC && r->eno != EUSERS))
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy),
	               "sysctl -w user.max_%s_namespaces=10000", *kind ? kind : "user");
	if (*kind == '\0')
		return "this user has reached the limit on namespaces, or namespaces are "
		       "nested 32 deep";
	(void)snprintf(r->cause, sizeof(r->cause), "user.max_%s_namespaces is 0", kind);
	return r->cause;
}

static const char *debian_switch(struct failure *r)
{
	if (r->stage != DW_STAGE_NAMESPACES || r->eno != EPERM ||
	    r->host->userns_clone != 0)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy),
	               "sysctl -w kernel.unprivileged_userns_clone=1");
	return "this kernel refuses user namespaces to unprivileged users; at this stage "
	       "dewar-launch is one, even if root started it";
}

static const char *not_built_in(struct failure *r)
{
	if (r->stage != DW_STAGE_NAMESPACES || r->host->no_namespaces[0] == '\0' ||
	    (r->eno != EINVAL && r->eno != ENOSYS))
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy), "a kernel with CONFIG_%s_NS=y",
	               strcmp(r->host->no_namespaces, "user") == 0  ? "USER"
	               : strcmp(r->host->no_namespaces, "pid") == 0 ? "PID"
	               : strcmp(r->host->no_namespaces, "net") == 0 ? "NET"
	               : strcmp(r->host->no_namespaces, "ipc") == 0 ? "IPC"
	               : strcmp(r->host->no_namespaces, "uts") == 0 ? "UTS"
	                                                            : "CGROUP");
	return "this kernel was built without one of the namespace types";
}

/* ---- filters, profiles, chroots ---- */

/*
 * The filters of Docker and systemd return EPERM, or ENOSYS for calls whose arguments a
 * filter cannot read, such as clone3().
 */
static const char *filter_around_us(struct failure *r)
{
	static const char *const remedies[] = {
		[DW_CONTAINER_NONE] =
			"start dewar outside of that filter; in a systemd unit: "
			"RestrictNamespaces=no and no SystemCallFilter=",
		[DW_CONTAINER_DOCKER] = "docker run --security-opt seccomp=unconfined "
					"--security-opt systempaths=unconfined "
					"--security-opt apparmor=unconfined ...",
		[DW_CONTAINER_PODMAN] = "podman run --security-opt seccomp=unconfined "
					"--security-opt unmask=ALL ...",
		[DW_CONTAINER_OTHER] =
			"start the container without its seccomp filter and its masks on "
			"/proc",
	};
	_Static_assert(ARRAY_SIZE(remedies) == DW_CONTAINER_COUNT, "a remedy for each");

	if (!r->host->filtered || (!is_permission(r) && r->eno != ENOSYS))
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy), "%s", remedies[r->host->container]);
	return r->host->container == DW_CONTAINER_NONE
	               ? "a seccomp filter around dewar refuses it"
	               : "the container's seccomp filter refuses it; without the "
	                 "filter all programs in the container may use these system "
	                 "calls";
}

#define LOADED_AT_BOOT "/etc/apparmor.d/dewar"

static const char *ubuntu_switch(struct failure *r)
{
	if (r->stage < DW_STAGE_NAMESPACES || !is_permission(r) ||
	    r->host->restrict_userns <= 0)
		return NULL;
	/* AppArmor loads no profiles from other folders at the next boot. */
	if (strcmp(DW_APPARMOR_PROFILE, LOADED_AT_BOOT) != 0)
		(void)snprintf(r->remedy, sizeof(r->remedy),
		               "cp " DW_APPARMOR_PROFILE " " LOADED_AT_BOOT
		               " && apparmor_parser -r " LOADED_AT_BOOT);
	else
		(void)snprintf(r->remedy, sizeof(r->remedy),
		               "apparmor_parser -r " LOADED_AT_BOOT);
	return "AppArmor gives an unprivileged program no rights in a user namespace "
	       "unless its profile has a userns rule (or sysctl -w "
	       "kernel.apparmor_restrict_unprivileged_userns=0, for every program)";
}

static const char *apparmor_profile(struct failure *r)
{
	if (!is_permission(r) || r->host->profile[0] == '\0' ||
	    strncmp(r->host->profile, "dewar-launch", 12) == 0 ||
	    r->stage < DW_STAGE_SOURCES)
		return NULL;
	if (r->host->container == DW_CONTAINER_DOCKER)
		(void)snprintf(r->remedy, sizeof(r->remedy),
		               "docker run --security-opt apparmor=unconfined "
		               "--security-opt systempaths=unconfined ...");
	else
		(void)snprintf(r->remedy, sizeof(r->remedy),
		               "aa-exec -p unconfined -- dewar ...");
	return "the AppArmor profile that dewar runs under does not allow it";
}

#define NEW_ROOT                                                                 \
	"unshare -m sh -c 'mount --rbind DIR DIR && cd DIR && pivot_root . mnt " \
	"&& exec chroot . sh -c \"umount -l /mnt; exec dewar ...\"'"

static const char *inside_chroot(struct failure *r)
{
	if (r->eno != EPERM || r->stage != DW_STAGE_NAMESPACES ||
	    r->host->chroot == DW_CHROOT_NO)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy), "%s", NEW_ROOT);
	return r->host->chroot == DW_CHROOT_YES
	               ? "dewar runs in a chroot, where the kernel refuses user "
	                 "namespaces; make DIR the real root (pivot_root), not a "
	                 "chroot"
	               : "no other cause was found; in a chroot the kernel refuses "
	                 "it; make DIR the real root (pivot_root), not a chroot";
}

static const char *on_initramfs(struct failure *r)
{
	if (r->stage != DW_STAGE_MOUNTS || r->eno != EINVAL || !r->host->ramfs)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy),
	               "switch_root NEW_ROOT /sbin/init, from the initramfs' init");
	return "the root of this host is its initramfs, which pivot_root cannot leave";
}

/* Certain causes before likely ones. */
static const char *(*const causes[])(struct failure *r) = {
	no_proc,          masked_proc,   namespaces_used_up, debian_switch,
	not_built_in,     on_initramfs,  filter_around_us,   ubuntu_switch,
	apparmor_profile, inside_chroot,
};

void dw_failure_cause_explain_on(const struct dw_host *host, enum dw_report_stage stage,
                                 struct dw_error *err)
{
	struct failure r = {.host = host, .stage = stage, .eno = err->sys_errno};
	size_t len = strlen(err->text);

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		const char *why = causes[i](&r);

		if (!why)
			continue;
		err->code = DW_E_UNSUPPORTED;
		(void)snprintf(err->text + len, sizeof(err->text) - len, "; %s; try: %s",
		               why, r.remedy);
		return;
	}
}

void dw_failure_cause_explain(enum dw_report_stage stage, struct dw_error *err)
{
	struct dw_host host;

	if (stage == DW_STAGE_OTHER || err->code == DW_OK)
		return;
	dw_host_look(&host);
	dw_failure_cause_explain_on(&host, stage, err);
}

const char *dw_failure_cause_remedy(const char *text)
{
	static const char mark[] = "try: ";
	const char *found = "";

	for (const char *at = text; (at = strstr(at, mark)) != NULL;) {
		at += strlen(mark);
		found = at;
	}
	return found;
}
