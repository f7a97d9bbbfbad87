/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_FD_H
#define DW_BASE_FD_H

#include <stddef.h>
#include <sys/types.h>

/* Unless stated otherwise, these return 0 (or a count) or -errno. */

int dw_fd_write_all(int fd, const void *data, size_t len);

/*
 * As write(), but a pipe without a reader gives -EPIPE and never SIGPIPE, whatever the
 * disposition of that signal. The count, or -errno.
 */
ssize_t dw_fd_write_quietly(int fd, const void *data, size_t len);

/* Read up to max bytes, until the end of the file; the count, or -errno. */
ssize_t dw_fd_read_some(int fd, void *data, size_t max);

int dw_fd_nonblock(int fd);

/*
 * Read a small kernel file (an attribute of procfs or cgroupfs) whole into
 * text, NUL-terminated and without newlines at its end. The length, or
 * -errno; -E2BIG if it does not fit.
 */
ssize_t dw_fd_read_attr(int dir_fd, const char *name, char *text, size_t size);

/*
 * Close every descriptor from first on, or mark it close-on-exec. Uses close_range(), or
 * on older kernels (before 5.9; before 5.11 for close-on-exec) /proc/self/fd, which needs
 * a free descriptor. On -errno some descriptors may remain as they were. Uses no heap and
 * no lock, so that a child may call it before exec.
 */
int dw_fd_close_from(int first);
int dw_fd_cloexec_from(int first);

/*
 * Make an eventfd readable. A failed write is ignored: the eventfd is then readable
 * already. Leaves errno alone; a signal handler may call it.
 */
void dw_fd_signal(int fd);

/* Close *fd if it is not -1, and set it to -1. */
void dw_fd_close(int *fd);

#endif
