/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_CLOCK_H
#define DW_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds of the clock that all deadlines are on; it never goes back. */
uint64_t dw_now_ms(void);

/* The same clock in nanoseconds. */
uint64_t dw_now_ns(void);

/* Milliseconds since 1970, for what must survive a restart. */
uint64_t dw_wall_ms(void);

/* Until then, as poll() takes it: 0 if it has passed, never more than a minute. */
int dw_ms_until(uint64_t deadline_ms);

/* The moment so many milliseconds from now, on the same clock. */
struct timespec dw_time_in(uint64_t ms);

#endif
