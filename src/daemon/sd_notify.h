/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_SD_NOTIFY_H
#define DW_DAEMON_SD_NOTIFY_H

/*
 * What systemd, or another manager that speaks as it does, tells us and wants to be
 * told. Without one, nothing happens.
 */

/* "READY=1", "STOPPING=1" */
void dw_sd_notify(const char *text);

/* How many sockets we were given, from descriptor 3 on; forgets about them. */
int dw_sd_sockets(void);

#define DW_SD_FIRST 3

#endif
