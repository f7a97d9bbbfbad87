/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_SD_NOTIFY_H
#define DW_DAEMON_SD_NOTIFY_H

/* The protocol of systemd's sd_notify() and socket activation; no-ops without it. */

/* "READY=1", "STOPPING=1" */
void dw_sd_notify(const char *text);

/* The number of sockets passed, from DW_SD_FIRST on. Clears the variables. */
int dw_sd_sockets(void);

#define DW_SD_FIRST 3

#endif
