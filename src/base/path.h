/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_PATH_H
#define DW_BASE_PATH_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "dewar/error.h"

/*
 * Open a path below a folder that an untrusted program may write to. It is an error if
 * the path leads outside the folder, contains a symbolic or magic link, or crosses to
 * another mount. Returns a descriptor or -errno. O_CLOEXEC and O_NOFOLLOW are added.
 */
int dw_path_open_beneath(int dir_fd, const char *path, int flags, mode_t mode);

/*
 * Open a path in a root file system: links are followed as a process chrooted to it would
 * follow them, including "/" and "..", and never lead out of it.
 */
int dw_path_open_in_root(int root_fd, const char *path, int flags);

/* Open the folder of a descriptor for reading. dir_fd stays open. NULL: see errno. */
DIR *dw_path_opendir(int dir_fd);

/*
 * Returns true if a caller may use this name below a folder: relative, not empty, no
 * empty component, no "." or "..", at most 1024 bytes and 32 components.
 */
bool dw_path_is_plain(const char *path);

/* Make the folders above path, below dir_fd, as mkdir -p would. 0 or -errno. */
int dw_path_make_parents(int dir_fd, const char *path, mode_t mode);

/*
 * Remove a folder and its contents, however deep or hostile the tree is, without
 * following a link or crossing a mount. 0, or -errno of the first entry that could not be
 * removed.
 */
int dw_path_remove_tree(int parent_fd, const char *name);

/* ---- locations.c: where Dewar's own files are ---- */

#define DW_STATE_PATH_MAX 4096

/* $XDG_STATE_HOME/dewar, or ~/.local/state/dewar. */
int dw_state_of_user(char ret[DW_STATE_PATH_MAX], struct dw_error *err);

/* The folder of a daemon: /var/lib/dewar for root, dw_state_of_user() for other users. */
int dw_state_of_daemon(char ret[DW_STATE_PATH_MAX], struct dw_error *err);

/* Make the folders above path that are missing, as mkdir -p would. 0 or -errno. */
int dw_state_make_folders(const char *path, mode_t mode);

/*
 * Find a program of Dewar: at the path in the environment variable, if it is set; in the
 * folder of the running program, as in a build folder; or where Dewar is installed. The
 * variable may be NULL.
 */
int dw_program_find(const char *name, const char *variable, char *ret, size_t size,
                    struct dw_error *err);

#endif
