/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_PIDFD_H
#define DW_BASE_PIDFD_H

#include <sys/types.h>

/* The pid of a pidfd in the pid namespace of /proc; -1 if it has ended. */
pid_t dw_pidfd_pid(int pidfd);

#endif
