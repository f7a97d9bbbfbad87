/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_HOST_INFO_H
#define DW_DAEMON_HOST_INFO_H

/*
 * The languages and levels of this host, as JSON: {"languages": [...]} and
 * {"levels": [...]}. Finding versions and probing levels is slow, so the text is cached
 * for a minute. free() it; NULL without memory.
 */
char *dw_host_info_languages(void);
char *dw_host_info_levels(void);

#endif
