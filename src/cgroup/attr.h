/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_ATTR_H
#define DW_CGROUP_ATTR_H

#include <stdint.h>

/* The files of a control group. What sets one returns 0 or -errno. */

int dw_attr_set(int dir_fd, const char *attr, const char *value);
int dw_attr_set_number(int dir_fd, const char *attr, uint64_t value);

/* The same, and what the kernel made of it; UINT64_MAX if it does not say. */
int dw_attr_set_limit(int dir_fd, const char *attr, uint64_t value, uint64_t *ret);

/* A number, or one behind a word at the start of a line; UINT64_MAX if there is none. */
uint64_t dw_attr_number(int dir_fd, const char *attr);
uint64_t dw_attr_event(int dir_fd, const char *attr, const char *word);

#endif
