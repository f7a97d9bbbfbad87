/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "wire/guest.h"

void dw_collected_open(struct dw_collected *c, const char *folder)
{
	*c = (struct dw_collected){.folder = folder, .dir_fd = -1, .fd = -1};
}

/*
 * Create the folder for the first file only, so that a run that is killed earlier leaves
 * nothing.
 */
static int make_folder(struct dw_collected *c)
{
	if (c->dir_fd >= 0)
		return 0;
	if (!c->folder)
		return -EPROTO;
	if (mkdir(c->folder, 0700) < 0)
		return -errno;
	c->dir_fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return c->dir_fd < 0 ? -errno : 0;
}

void dw_collected_close(struct dw_collected *c)
{
	dw_fd_close(&c->dir_fd);
	dw_fd_close(&c->fd);
}

int dw_collected_file(struct dw_collected *c, const char *payload, size_t len)
{
	struct dw_guest_file header;
	char name[DW_GUEST_NAME_MAX + 1];
	int r;

	dw_fd_close(&c->fd);
	c->left = 0;
	if (len <= sizeof(header) || len - sizeof(header) >= sizeof(name) ||
	    c->files++ >= DW_GUEST_FILES_MAX)
		return -EPROTO;
	memcpy(&header, payload, sizeof(header));
	memcpy(name, payload + sizeof(header), len - sizeof(header));
	name[len - sizeof(header)] = '\0';
	if (strlen(name) != len - sizeof(header) || !dw_path_is_plain(name) ||
	    header.size > INT64_MAX)
		return -EPROTO;

	r = make_folder(c);
	if (r < 0)
		return r;
	r = dw_path_make_parents(c->dir_fd, name, 0700);
	if (r < 0)
		return r;
	c->fd = dw_path_open_beneath(c->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (c->fd < 0) {
		r = c->fd;
		c->fd = -1;
		return r;
	}
	/*
	 * Set the size now: the guest sends no data for a file that is too large, and
	 * dewar needs its size to report it.
	 */
	if (ftruncate(c->fd, (off_t)header.size) < 0)
		return -errno;
	c->left = header.size;
	return 0;
}

int dw_collected_data(struct dw_collected *c, const char *payload, size_t len)
{
	if (c->fd < 0 || len > c->left || len > DW_GUEST_BYTES_MAX - c->bytes)
		return -EPROTO;
	c->left -= len;
	c->bytes += len;
	return dw_fd_write_all(c->fd, payload, len);
}
