/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_HOST_INFO_H
#define DW_DAEMON_HOST_INFO_H

/*
 * What this host has, as JSON: {"languages": [...]} and {"levels": [...]}. Languages
 * are asked for their versions, and levels are tried: both take a while, and stay true
 * for long. What was found is kept for a minute. free() it; NULL without memory.
 */
char *dw_host_info_languages(void);
char *dw_host_info_levels(void);

#endif
