/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * A table of those who refuse. Each is asked, in order, whether the host's facts
 * together with the stage and the errno say that it was this one; the first that
 * says yes is named. An errno alone convicts nobody.
 */

struct refusal {
	const struct dw_host *host;
	enum dw_report_stage stage;
	int eno;
	char remedy[320];
};

static bool is_permission(const struct refusal *r)
{
	return r->eno == EPERM || r->eno == EACCES;
}

/* ---- /proc ---- */

static const char *no_proc(struct refusal *r)
{
	if (r->host->proc)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy), "mount -t proc proc /proc");
	return "there is no procfs at /proc, by which we find our own programs and "
	       "give a cell its ids";
}

/* The first that is mounted there; others may be left, and are named next. */
static const char *masked_proc(struct refusal *r)
{
	static const char *const ways[] = {
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
		               ways[h->container]);
		return "the container around us masks parts of /proc, and the kernel then lets "
		       "nobody inside mount another; with this option its root sees those "
		       "parts";
	}
	if (h->proc_readonly)
		(void)snprintf(r->remedy, sizeof(r->remedy), "mount -o remount,rw /proc");
	else
		(void)snprintf(r->remedy, sizeof(r->remedy), "umount %s", h->masked);
	return h->proc_readonly
	               ? "/proc is read-only, and a cell's ids are written there"
	               : "parts of /proc are mounted over, and the kernel then lets nobody "
	                 "mount another that shows them";
}

/* ---- limits and switches of the kernel ---- */

static const char *namespaces_used_up(struct refusal *r)
{
	const char *kind = r->host->zero_namespaces;

	if (r->stage != DW_STAGE_NAMESPACES || (r->eno != ENOSPC && r->eno != EUSERS))
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy),
	               "sysctl -w user.max_%s_namespaces=10000", *kind ? kind : "user");
	return *kind ? "they are switched off by that limit, which is 0"
	             : "as many as are allowed, for this user or in a depth of 32, are "
	               "there already";
}

static const char *debian_switch(struct refusal *r)
{
	if (r->stage != DW_STAGE_NAMESPACES || r->eno != EPERM ||
	    r->host->userns_clone != 0)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy),
	               "sysctl -w kernel.unprivileged_userns_clone=1");
	return "this kernel keeps user namespaces from unprivileged users, which we are "
	       "by then, also as root";
}

static const char *not_built_in(struct refusal *r)
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
	return "this kernel was built without one of their kinds";
}

/* ---- those around us ---- */

/*
 * Docker's and systemd's filters answer EPERM, and ENOSYS where they cannot look at
 * the arguments, as of clone3.
 */
static const char *filter_around_us(struct refusal *r)
{
	static const char *const ways[] = {
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
	_Static_assert(ARRAY_SIZE(ways) == DW_CONTAINER_COUNT, "a way out of each");

	if (!r->host->filtered || (!is_permission(r) && r->eno != ENOSYS))
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy), "%s", ways[r->host->container]);
	return r->host->container == DW_CONTAINER_NONE
	               ? "a seccomp filter around us refuses it"
	               : "the container's seccomp filter refuses it; without, all else that "
	                 "runs in that container has these system calls, too";
}

#define LOADED_AT_BOOT "/etc/apparmor.d/dewar"

static const char *ubuntu_switch(struct refusal *r)
{
	if (r->stage < DW_STAGE_NAMESPACES || !is_permission(r) ||
	    r->host->restrict_userns <= 0)
		return NULL;
	/* What lies elsewhere is not loaded when the host boots again. */
	if (strcmp(DW_APPARMOR_PROFILE, LOADED_AT_BOOT) != 0)
		(void)snprintf(r->remedy, sizeof(r->remedy),
		               "cp " DW_APPARMOR_PROFILE " " LOADED_AT_BOOT
		               " && apparmor_parser -r " LOADED_AT_BOOT);
	else
		(void)snprintf(r->remedy, sizeof(r->remedy),
		               "apparmor_parser -r " LOADED_AT_BOOT);
	return "AppArmor gives an unprivileged program no rights in a user namespace "
	       "unless a profile says userns (or sysctl -w "
	       "kernel.apparmor_restrict_unprivileged_userns=0, for every program)";
}

static const char *apparmor_profile(struct refusal *r)
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
	return "an AppArmor profile around us does not allow it";
}

#define NEW_ROOT                                                                 \
	"unshare -m sh -c 'mount --rbind DIR DIR && cd DIR && pivot_root . mnt " \
	"&& exec chroot . sh -c \"umount -l /mnt; exec dewar ...\"'"

static const char *inside_chroot(struct refusal *r)
{
	if (r->eno != EPERM || r->stage != DW_STAGE_NAMESPACES ||
	    r->host->chroot == DW_CHROOT_NO)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy), "%s", NEW_ROOT);
	return r->host->chroot == DW_CHROOT_YES
	               ? "we are in a chroot, where the kernel lets nobody make a user "
	                 "namespace; DIR is to be the root and not only look like it"
	               : "nothing that we see forbids it; in a chroot the kernel lets "
	                 "nobody make one; DIR is to be the root and not only look like it";
}

static const char *on_initramfs(struct refusal *r)
{
	if (r->stage != DW_STAGE_MOUNTS || r->eno != EINVAL || !r->host->ramfs)
		return NULL;
	(void)snprintf(r->remedy, sizeof(r->remedy),
	               "switch_root NEW_ROOT /sbin/init, from the initramfs' init");
	return "the host runs from its initramfs, which is a root that cannot be left";
}

/* What is certain comes before what is likely. */
static const char *(*const suspects[])(struct refusal *r) = {
	no_proc,          masked_proc,   namespaces_used_up, debian_switch,
	not_built_in,     on_initramfs,  filter_around_us,   ubuntu_switch,
	apparmor_profile, inside_chroot,
};

void dw_refusal_cause_explain_on(const struct dw_host *host, enum dw_report_stage stage,
                                 struct dw_error *err)
{
	struct refusal r = {.host = host, .stage = stage, .eno = err->sys_errno};
	size_t len = strlen(err->text);

	for (size_t i = 0; i < ARRAY_SIZE(suspects); i++) {
		const char *why = suspects[i](&r);

		if (!why)
			continue;
		err->code = DW_E_UNSUPPORTED;
		(void)snprintf(err->text + len, sizeof(err->text) - len, "; %s; try: %s",
		               why, r.remedy);
		return;
	}
}

void dw_refusal_cause_explain(enum dw_report_stage stage, struct dw_error *err)
{
	struct dw_host host;

	if (stage == DW_STAGE_OTHER || err->code == DW_OK)
		return;
	dw_host_look(&host);
	dw_refusal_cause_explain_on(&host, stage, err);
}

const char *dw_refusal_cause_remedy(const char *text)
{
	static const char mark[] = "try: ";
	const char *found = "";

	for (const char *at = text; (at = strstr(at, mark)) != NULL;) {
		at += strlen(mark);
		found = at;
	}
	return found;
}
