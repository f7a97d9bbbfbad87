/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/path.h"
#include "verify/verify_own.h"

/* A host file that is visible in every container of level docker. */
#define SHOWN_ON_HOST "/.dewar/guest"

/* ---- planted files ---- */

static int write_file(int dir, const char *name, const char *text, mode_t mode)
{
	autoclose int fd = -1;

	(void)dw_path_make_parents(dir, name, 0755);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
	            mode);
	return fd < 0 ? -errno : dw_fd_write_all(fd, text, strlen(text));
}

static const char *const plain[] = {"ws/readme.txt", "ws/.git/config", "ws/out/old.txt",
                                    "ws/src/main.py"};

/*
 * At level docker the program is user nobody on the host, too. Make the workspace
 * writable for that user, so that file modes are not what stops an attack.
 */
static int open_to_nobody(int base)
{
	static const char *const folders[] = {"ws", "ws/.git", "ws/src"};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (fchmodat(base, plain[i], 0666, 0) < 0)
			return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (fchmodat(base, folders[i], 0777, 0) < 0)
			return -errno;
	return 0;
}

static int plant_tree(int base, const struct dw_fixture *fixture)
{
	static const char *const fresh[] = {"home", "cwd",     "t",     "into",   "ws",
	                                    "deep", "private", "names", "mounted"};
	static const char *const secrets[] = {
		"flag",
		"deep/a/b/c/flag",
		"private/flag",
		"home/.ssh/id_ed25519",
		"home/.aws/credentials",
		"home/.kube/config",
		"home/.config/gh/hosts.yml",
		"home/.env",
		"home/.bash_history",
		"home/.gitconfig",
		"ws/.env.link-target",
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fresh) && r == 0; i++) {
		(void)dw_path_remove_tree(base, fresh[i]);
		r = mkdirat(base, fresh[i], 0755) < 0 ? -errno : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(secrets) && r == 0; i++)
		r = write_file(base, secrets[i], fixture->secret, 0644);
	for (size_t i = 0; i < ARRAY_SIZE(plain) && r == 0; i++)
		r = write_file(base, plain[i], "plain\n", 0644);
	if (r == 0 && fixture->range->on_host)
		r = open_to_nobody(base);
	/* The program must be able to write to a folder that is passed as writable. */
	if (r == 0 && (fchmodat(base, "private", 0700, 0) < 0 ||
	               fchmodat(base, "ws/out", 0777, 0) < 0))
		r = -errno;
	return r;
}

/* Use the secret as the name of a mount and of a folder, and as the target of a link. */
static int plant_names(int base, const struct dw_fixture *fixture)
{
	char path[DW_RANGE_PATH_MAX], folder[64];

	(void)snprintf(folder, sizeof(folder), "names/%s", fixture->secret);
	if (!fixture->range->on_host &&
	    mount(fixture->secret, dw_range_path(fixture->range, "mounted", path),
	          "tmpfs", MS_NODEV, "size=64k") < 0)
		return -errno;
	if (mkdirat(base, folder, 0755) < 0 ||
	    symlinkat(fixture->secret, base, "names/project") < 0)
		return -errno;
	return 0;
}

/* Plant the secret in the host folders and files that the range covers. */
static int plant_covers(int base, const struct dw_fixture *fixture)
{
	const struct dw_range *range = fixture->range;
	char path[64];
	int r = 0;

	for (const struct dw_cover *p = range->places; p->name && r == 0; p++) {
		dw_snapshot_empty(p->path);
		(void)snprintf(path, sizeof(path), "places/%s/flag", p->name);
		r = write_file(base, path, fixture->secret, 0644);
	}
	dw_range_recover_files(range);
	for (const struct dw_cover *p = range->files; p->name && r == 0; p++) {
		(void)snprintf(path, sizeof(path), "places/%s", p->name);
		r = write_file(base, path, fixture->secret, 0600);
	}
	return r;
}

static int plant_secrets(const struct dw_fixture *fixture, struct dw_error *err)
{
	autoclose int base = open(fixture->range->base,
	                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = base < 0 ? -errno : plant_tree(base, fixture);

	if (r == 0)
		r = plant_names(base, fixture);
	if (r == 0)
		r = plant_covers(base, fixture);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot plant secrets below %s",
		               fixture->range->base);
	return 0;
}

/* ---- a cgroup whose name is the secret ---- */

/*
 * Write the path of a file of that cgroup to ret. Returns true if the cgroup can
 * exist: only root can create it. It is in the freezer hierarchy of cgroup v1, which
 * sets no limits, so its members run as before.
 */
static bool cgroup_path(const struct dw_fixture *fixture, const char *file,
                        char ret[static DW_RANGE_PATH_MAX])
{
	(void)snprintf(ret, DW_RANGE_PATH_MAX, "/sys/fs/cgroup/freezer/dewar-verify-%s%s",
	               fixture->secret, file);
	return fixture->range->root;
}

void dw_fixture_join_cgroup(const struct dw_fixture *fixture)
{
	autoclose int fd = -1;
	char path[DW_RANGE_PATH_MAX];

	if (cgroup_path(fixture, "/tasks", path))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)dw_fd_write_all(fd, "0", 1);
}

/* ---- create and remove the fixture ---- */

int dw_fixture_create(struct dw_fixture *fixture, const struct dw_range *range,
                      const struct dw_listeners *listeners,
                      const struct dw_attack *attack, struct dw_error *err)
{
	char id[DW_ID_MAX], path[DW_RANGE_PATH_MAX];
	const char *name;

	*fixture = (struct dw_fixture){
		.range = range,
		.listeners = listeners,
		.out_is_writable = strstr(attack->options, "--writable {base}/ws/out") !=
	                           NULL,
		.witness = {.pid = -1, .fd = -1},
	};
	if (dw_id_make(id, err) < 0 || dw_id_make(fixture->secret, err) < 0 ||
	    dw_id_make(fixture->word, err) < 0)
		return -1;
	(void)snprintf(fixture->nonce, sizeof(fixture->nonce), "%.16s", id);
	if (plant_secrets(fixture, err) < 0)
		return -1;
	if (cgroup_path(fixture, "", path))
		(void)mkdir(path, 0755);
	/*
	 * The host name of the range is visible only in the range. With one cell it
	 * is the secret. With two cells the secret belongs to the first, and the
	 * name is only a target for change.
	 */
	name = strcmp(attack->cells, "one") == 0 ? fixture->secret : "range";
	if (!range->on_host) {
		(void)!sethostname(name, strlen(name));
		(void)!setdomainname(name, strlen(name));
	}
	if (dw_witness_start(&fixture->witness, fixture->secret,
	                     dw_range_path(range, "flag", path), err) < 0)
		return -1;
	return dw_snapshot_take(fixture, err);
}

void dw_fixture_remove(struct dw_fixture *fixture)
{
	char path[DW_RANGE_PATH_MAX];

	dw_witness_end(&fixture->witness);
	dw_procs_kill(fixture->nonce);
	if (cgroup_path(fixture, "", path))
		(void)rmdir(path);
	dw_snapshot_clean(fixture);
	free(fixture->files);
	free(fixture->leftovers);
	fixture->files = fixture->leftovers = NULL;
}

void dw_fixture_env(const struct dw_fixture *fixture, const char *role,
                    char ret[static DW_ENV_MAX])
{
	/* On the host, these are folders of the image, without planted secrets. */
	static const char folders[] = "DW_SHOWN=" SHOWN_ON_HOST
				      "\nDW_USR=/usr/src\nDW_ETC=/etc/opt\n"
				      "DW_VAR=/var/opt\nDW_MNT=/mnt\nDW_SRV=/srv\n";
	const struct dw_range *range = fixture->range;
	const char *secret = strcmp(role, "first") == 0    ? fixture->secret
	                     : strcmp(role, "second") == 0 ? fixture->word
	                                                   : "";
	autobuf struct dw_buf buf;

	dw_buf_init(&buf, DW_ENV_MAX - 1);
	(void)dw_buf_printf(&buf, "DW_NONCE=%s\nDW_ROLE=%s\nDW_SECRET=%s\n",
	                    fixture->nonce, role, secret);
	(void)dw_buf_printf(&buf,
	                    "DW_BASE=%1$s\nDW_FLAG=%1$s/flag\n"
	                    "DW_HOME=%1$s/home\n"
	                    "DW_SOCKET=%1$s/docker.sock\nDW_LOG=%1$s/log.sock\n",
	                    range->base);
	(void)dw_buf_printf(&buf, "DW_PID=%d\nDW_ADDRESS=%lx\n", fixture->witness.pid,
	                    (unsigned long)fixture->witness.memory);
	(void)dw_buf_printf(&buf, "DW_PORT=%d\nDW_ABSTRACT=%s\nDW_ABSTRACT_LOG=%s\n",
	                    fixture->listeners->port, fixture->listeners->abstract,
	                    fixture->listeners->abstract_log);
	if (range->on_host)
		(void)dw_buf_puts(&buf, folders);
	else if (range->places[0].name)
		(void)dw_buf_printf(&buf, "DW_SHOWN=%s/flag\n", range->places[0].path);
	for (const struct dw_cover *p = range->places; p->name; p++)
		(void)dw_buf_printf(&buf, "DW_%s=%s\n", p->name, p->path);
	(void)snprintf(ret, DW_ENV_MAX, "%s", buf.data ? buf.data : "");
	for (char *p = ret; *p; p++)
		if (*p == '\n')
			*p = '\0';
}
