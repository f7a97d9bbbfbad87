/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_CLOCK_H
#define DW_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The monotonic clock: all deadlines and durations use it. It never goes back. */
uint64_t dw_now_ms(void);
uint64_t dw_now_ns(void);

/* The wall clock, since 1970: for records, and for what must survive a restart. */
uint64_t dw_wall_ms(void);
int64_t dw_wall_us(void);

/* Milliseconds until the deadline, for poll(): 0 if it has passed, at most a minute. */
int dw_ms_until(uint64_t deadline_ms);

/* The point in time that many milliseconds from now, on the monotonic clock. */
struct timespec dw_time_in(uint64_t ms);

#endif
