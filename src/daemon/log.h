/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_LOG_H
#define DW_DAEMON_LOG_H

/*
 * The log: one line per event on standard error, as JSON or text. Any thread may log;
 * each line is written whole.
 */
enum dw_log_level {
	DW_LOG_DEBUG = 0,
	DW_LOG_INFO,
	DW_LOG_WARNING,
	DW_LOG_ERROR,
	DW_LOG_LEVEL_COUNT
};

/* The names of levels and formats in the config; both end in NULL. */
extern const char *const dw_log_level_words[];
extern const char *const dw_log_format_words[];

/* The names are those of the config; NULL and unknown names mean "info" and "json". */
void dw_log_setup(const char *level, const char *format);

/*
 * Log an event, a noun such as "run.refused", with pairs of a key and a value, ended by
 * NULL. A pair whose value is NULL is left out.
 */
void dw_log(enum dw_log_level level, const char *event, ...) __attribute__((sentinel));

#endif
