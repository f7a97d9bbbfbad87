/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/path.h"
#include "verify/listen.h"
#include "verify/look.h"

#define MANIFEST_MAX (1U << 20)
#define KEYCTL_INVALIDATE_OP 21

/* Where somebody who gets out would leave a file that bears the attempt's name. */
static const char *const public_folders[] = {
	"/",          "/tmp",     "/var/tmp", "/dev/shm", "/dev/mqueue",
	"/dev",       "/usr",     "/usr/bin", "/usr/lib", "/usr/local/bin",
	"/usr/local", "/etc",     "/run",     "/root",    "/home",
	"/opt",       "/var/lib", "/var/run", "/boot",
};

/* ---- planting ---- */

static int write_file(int dir, const char *name, const char *text, mode_t mode)
{
	autoclose int fd = -1;

	(void)dw_path_make_parents(dir, name, 0755);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
	            mode);
	return fd < 0 ? -errno : dw_fd_write_all(fd, text, strlen(text));
}

static void empty_folder(const char *path)
{
	autodir DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(void)dw_path_remove_tree(dirfd(dir), e->d_name);
}

static int plant(const struct dw_stage *stage, struct dw_error *err)
{
	static const char *const fresh[] = {"home", "cwd",  "t",       "into",
	                                    "ws",   "deep", "private", "names"};
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
	static const char *const plain[] = {"ws/readme.txt", "ws/.git/config",
	                                    "ws/out/old.txt", "ws/src/main.py"};
	const struct dw_range *range = stage->range;
	autoclose int base = open(range->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[96];
	int r = base < 0 ? -errno : 0;

	for (size_t i = 0; i < ARRAY_SIZE(fresh) && r == 0; i++) {
		(void)dw_path_remove_tree(base, fresh[i]);
		if (mkdirat(base, fresh[i], 0755) < 0)
			r = -errno;
	}
	for (size_t i = 0; i < ARRAY_SIZE(secrets) && r == 0; i++)
		r = write_file(base, secrets[i], stage->secret, 0644);
	for (size_t i = 0; i < ARRAY_SIZE(plain) && r == 0; i++)
		r = write_file(base, plain[i], "plain\n", 0644);
	if (r == 0)
		r = fchmodat(base, "private", 0700, 0) < 0 ? -errno : 0;
	/* A folder with a telling name, and another way to it. */
	(void)snprintf(path, sizeof(path), "names/%s", stage->secret);
	if (r == 0 && (mkdirat(base, path, 0755) < 0 ||
	               symlinkat(stage->secret, base, "names/project") < 0))
		r = -errno;
	/* A folder that is made writable must be the cell's to write to, too. */
	if (r == 0)
		r = fchmodat(base, "ws/out", 0777, 0) < 0 ? -errno : 0;

	for (const struct dw_place *p = range->places; p->name && r == 0; p++) {
		empty_folder(p->path);
		(void)snprintf(path, sizeof(path), "places/%s/flag", p->name);
		r = write_file(base, path, stage->secret, 0644);
	}
	if (r == 0 && range->shadow)
		r = write_file(base, "places/shadow", stage->secret, 0600);
	if (r == 0 && range->machine_id)
		r = write_file(base, "places/machine-id", stage->secret, 0644);
	if (r == 0 && range->hostname)
		r = write_file(base, "places/hostname", stage->secret, 0644);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "plant secrets below %s",
		               range->base);
	return 0;
}

/* ---- how things are ---- */

static struct dw_buf walk_buf; /* nftw() has no place for it */
static char walk_writable[64]; /* nor for this, which is empty or a folder */

/*
 * In a folder that was made writable a cell may do what it likes, but for what
 * would serve it as a tool on the host: set-id programs and devices.
 */
static bool is_allowed(const char *path, const struct stat *st)
{
	size_t len = strlen(walk_writable);

	if (len == 0 || strncmp(path, walk_writable, len) != 0 ||
	    (path[len] != '\0' && path[len] != '/'))
		return false;
	return S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode) || S_ISFIFO(st->st_mode) ||
	       S_ISSOCK(st->st_mode) ||
	       (S_ISREG(st->st_mode) && !(st->st_mode & (S_ISUID | S_ISGID)));
}

static int note_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char head[128] = "";
	ssize_t n = 0;

	(void)type;
	(void)ftw;
	if (is_allowed(path, st))
		return 0;
	if (S_ISLNK(st->st_mode)) {
		n = readlink(path, head, sizeof(head) - 1);
	} else if (S_ISREG(st->st_mode)) {
		autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

		n = fd < 0 ? 0 : read(fd, head, sizeof(head) - 1);
	}
	head[n < 0 ? 0 : n] = '\0';
	(void)dw_buf_printf(&walk_buf, "%s %o %u %u %lld %lld.%09ld %lu %s\n", path,
	                    st->st_mode, st->st_uid, st->st_gid, (long long)st->st_size,
	                    (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
	                    (unsigned long)st->st_nlink, head);
	return 0;
}

static char *describe_files(const struct dw_stage *stage)
{
	static const char *const trees[] = {"flag", "deep", "private",
	                                    "home", "ws",   "places"};
	char path[96];

	dw_buf_init(&walk_buf, MANIFEST_MAX);
	walk_writable[0] = '\0';
	if (stage->out_is_writable)
		(void)snprintf(walk_writable, sizeof(walk_writable), "%s/ws/out",
		               stage->range->base);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", stage->range->base, trees[i]);
		(void)nftw(path, note_file, 16, FTW_PHYS);
	}
	return dw_buf_take(&walk_buf, NULL);
}

static void note_names(struct dw_buf *buf, const char *folder)
{
	autodir DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL)
		(void)dw_buf_printf(buf, "%s/%s\n", folder, e->d_name);
}

/* The lines of a kernel file, without what changes by itself. */
static void note_lines(struct dw_buf *buf, const char *path, const char *only)
{
	autofree char *line = NULL;
	size_t size = 0, n = 0;
	FILE *file = fopen(path, "re");

	while (file && getline(&line, &size, file) > 0)
		if (!only || strstr(line, only))
			n++;
	if (file)
		(void)fclose(file);
	(void)dw_buf_printf(buf, "%s: %zu\n", path, n);
}

static char *describe_remains(const struct dw_stage *stage)
{
	struct dw_buf buf;
	char path[64];

	dw_buf_init(&buf, MANIFEST_MAX);
	(void)snprintf(path, sizeof(path), "%s/t", stage->range->base);
	note_names(&buf, path);
	note_names(&buf, "/dev/shm");
	note_names(&buf, "/dev/mqueue");
	note_lines(&buf, "/proc/self/mountinfo", NULL);
	note_lines(&buf, "/proc/sysvipc/shm", NULL);
	note_lines(&buf, "/proc/sysvipc/sem", NULL);
	note_lines(&buf, "/proc/sysvipc/msg", NULL);
	note_lines(&buf, "/proc/keys", stage->nonce);
	return dw_buf_take(&buf, NULL);
}

/* The first line of one text that the other does not have. */
static bool first_difference(const char *before, const char *after, char *ret,
                             size_t size)
{
	size_t i = 0;

	if (strcmp(before, after) == 0)
		return false;
	while (before[i] == after[i])
		i++;
	while (i > 0 && after[i - 1] != '\n')
		i--;
	/* What was removed has no line of its own any more. */
	if (after[i] == '\0')
		after = before;
	(void)snprintf(ret, size, "%.*s", (int)strcspn(after + i, "\n"), after + i);
	return true;
}

/* ---- the public side ---- */

/* What an attack mounted in the range, it mounted in its own folder. */
static void unmount_what_was_left(const struct dw_stage *stage)
{
	autofree char *line = NULL;
	size_t size = 0, len = strlen(stage->range->base);
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char path[256];

	while (mounts && getline(&line, &size, mounts) > 0)
		/* NOLINTNEXTLINE(cert-err34-c): no number is read */
		if (sscanf(line, "%*s %*s %*s %*s %255s", path) == 1 &&
		    strncmp(path, stage->range->base, len) == 0 && path[len] == '/')
			(void)umount2(path, MNT_DETACH);
	if (mounts)
		(void)fclose(mounts);
}

static void forget_what_was_left(const struct dw_stage *stage)
{
	autofree char *line = NULL;
	size_t size = 0;
	FILE *keys = fopen("/proc/keys", "re");

	while (keys && getline(&line, &size, keys) > 0)
		if (strstr(line, stage->nonce))
			(void)syscall(SYS_keyctl, KEYCTL_INVALIDATE_OP,
			              (int)strtoul(line, NULL, 16));
	if (keys)
		(void)fclose(keys);
	empty_folder("/dev/shm");
	empty_folder("/dev/mqueue");
	for (size_t i = 0; i < ARRAY_SIZE(public_folders); i++) {
		autodir DIR *dir = opendir(public_folders[i]);
		const struct dirent *e;

		while (dir && (e = readdir(dir)) != NULL)
			if (strstr(e->d_name, stage->nonce))
				(void)dw_path_remove_tree(dirfd(dir), e->d_name);
	}
}

int dw_stage_set(struct dw_stage *stage, const struct dw_range *range,
                 const struct dw_attack *attack, struct dw_error *err)
{
	char id[DW_ID_MAX], flag[64];
	const char *name;

	*stage = (struct dw_stage){
		.range = range,
		.out_is_writable = strstr(attack->options, "--writable {base}/ws/out"),
		.witness = {.pid = -1, .fd = -1},
	};
	dw_id_make(id);
	(void)snprintf(stage->nonce, sizeof(stage->nonce), "%.16s", id);
	dw_id_make(stage->secret);
	dw_id_make(stage->word);
	if (plant(stage, err) < 0)
		return -1;
	/*
	 * The range's own names, which no process outside of it has. With two cells
	 * the secret is the first one's, and the names are what it might change.
	 */
	name = strcmp(attack->cells, "one") == 0 ? stage->secret : "range";
	(void)!sethostname(name, strlen(name));
	(void)!setdomainname(name, strlen(name));
	(void)snprintf(flag, sizeof(flag), "%s/flag", range->base);
	if (dw_witness_start(&stage->witness, stage->secret, flag, err) < 0)
		return -1;
	dw_look_begin();
	stage->files = describe_files(stage);
	stage->remains = describe_remains(stage);
	if (!stage->files || !stage->remains)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "note how the range is");
	return 0;
}

void dw_stage_strike(struct dw_stage *stage)
{
	dw_witness_end(&stage->witness);
	dw_look_end_all();
	unmount_what_was_left(stage);
	forget_what_was_left(stage);
	free(stage->files);
	free(stage->remains);
	stage->files = stage->remains = NULL;
}

void dw_stage_env(const struct dw_stage *stage, const char *role, char *ret, size_t size)
{
	const struct dw_range *range = stage->range;
	const char *secret = strcmp(role, "first") == 0    ? stage->secret
	                     : strcmp(role, "second") == 0 ? stage->word
	                                                   : "";
	struct dw_buf buf;

	dw_buf_init(&buf, size - 1);
	(void)dw_buf_printf(&buf, "DW_NONCE=%s\n", stage->nonce);
	(void)dw_buf_printf(&buf, "DW_ROLE=%s\nDW_SECRET=%s\n", role, secret);
	(void)dw_buf_printf(&buf, "DW_BASE=%s\nDW_FLAG=%s/flag\n", range->base,
	                    range->base);
	(void)dw_buf_printf(&buf, "DW_HOME=%s/home\n", range->base);
	(void)dw_buf_printf(&buf, "DW_PID=%d\n", stage->witness.pid);
	(void)dw_buf_printf(&buf, "DW_ADDRESS=%lx\n",
	                    (unsigned long)stage->witness.memory);
	(void)dw_buf_printf(&buf, "DW_PORT=%d\n", DW_LISTEN_PORT);
	(void)dw_buf_printf(&buf, "DW_SOCKET=%s/docker.sock\n", range->base);
	(void)dw_buf_printf(&buf, "DW_LOG=%s/log.sock\n", range->base);
	(void)dw_buf_printf(&buf,
	                    "DW_ABSTRACT=dewar-range\nDW_ABSTRACT_LOG=dewar-range-log\n");
	for (const struct dw_place *p = range->places; p->name; p++)
		(void)dw_buf_printf(&buf, "DW_%s=%s\n", p->name, p->path);
	(void)snprintf(ret, size, "%s", buf.data ? buf.data : "");
	dw_buf_finish(&buf);
	for (char *p = ret; *p; p++)
		if (*p == '\n')
			*p = '\0';
}

bool dw_stage_files_changed(const struct dw_stage *stage, char *ret, size_t size)
{
	autofree char *now = describe_files(stage);

	for (size_t i = 0; i < ARRAY_SIZE(public_folders); i++) {
		autodir DIR *dir = opendir(public_folders[i]);
		const struct dirent *e;

		while (dir && (e = readdir(dir)) != NULL)
			if (strstr(e->d_name, stage->nonce)) {
				(void)snprintf(ret, size, "%s/%s was made",
				               public_folders[i], e->d_name);
				return true;
			}
	}
	return now && first_difference(stage->files, now, ret, size);
}

static char wanted_group[20], found_group[128];

static int match_group(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	if (type != FTW_D || ftw->level > 6)
		return 0;
	if (!strstr(path + ftw->base, wanted_group))
		return 0;
	(void)snprintf(found_group, sizeof(found_group), "%s", path);
	return 1;
}

bool dw_stage_remains(const struct dw_stage *stage, const char *run, char *ret,
                      size_t size)
{
	autofree char *now = NULL;

	if (dw_look_somebody(stage->witness.pid, ret, size))
		return true;
	(void)snprintf(wanted_group, sizeof(wanted_group), "%.16s", run);
	if (wanted_group[0] != '\0' &&
	    nftw("/sys/fs/cgroup", match_group, 16, FTW_PHYS) == 1) {
		(void)snprintf(ret, size, "the cgroup %s is left", found_group);
		return true;
	}
	now = describe_remains(stage);
	return now && first_difference(stage->remains, now, ret, size);
}
