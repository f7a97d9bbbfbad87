/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_LOG_H
#define DW_DAEMON_LOG_H

/*
 * What happens, a line each to standard error: JSON, or text for people. From any
 * thread; a line is written whole.
 */
enum dw_log_level {
	DW_LOG_DEBUG = 0,
	DW_LOG_INFO,
	DW_LOG_WARNING,
	DW_LOG_ERROR,
	DW_LOG_LEVEL_COUNT
};

/* Names as in the config; what is none is taken for "info" and "json". */
void dw_log_setup(const char *level, const char *format);

/*
 * Then pairs of a name and a text, ending in NULL. A pair whose text is NULL is
 * left out.
 */
void dw_log(enum dw_log_level level, const char *message, ...) __attribute__((sentinel));

#endif
