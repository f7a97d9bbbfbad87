/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_LOCATIONS_H
#define DW_BASE_LOCATIONS_H

#include <sys/types.h>

#include "dewar/error.h"

#define DW_STATE_PATH_MAX 4096

/* $XDG_STATE_HOME/dewar, or ~/.local/state/dewar. */
int dw_state_of_user(char ret[DW_STATE_PATH_MAX], struct dw_error *err);

/* The folder of a daemon: /var/lib/dewar for root, for other users as above. */
int dw_state_of_daemon(char ret[DW_STATE_PATH_MAX], struct dw_error *err);

/* Make the folders above path that are missing, as mkdir -p would. 0 or -errno. */
int dw_state_make_folders(const char *path, mode_t mode);

#endif
