/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_PIDFD_H
#define DW_BASE_PIDFD_H

#include <sys/types.h>

/* The process behind a pidfd, as /proc has it; -1 if it is gone. */
pid_t dw_pidfd_pid(int pidfd);

#endif
