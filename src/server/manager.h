/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_MANAGER_H
#define DW_SERVER_MANAGER_H

/*
 * What systemd, or another manager that speaks as it does, tells us and wants to be
 * told. Without one, nothing happens.
 */

/* "READY=1", "STOPPING=1" */
void dw_manager_tell(const char *text);

/* How many sockets we were given, from descriptor 3 on; forgets about them. */
int dw_manager_sockets(void);

#define DW_MANAGER_FIRST 3

#endif
