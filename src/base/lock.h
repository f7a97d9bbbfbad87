/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_LOCK_H
#define DW_BASE_LOCK_H

#include <pthread.h>

struct dw_held_lock {
	pthread_mutex_t *mutex;
};

static inline struct dw_held_lock dw_lock_take(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
	return (struct dw_held_lock){mutex};
}

static inline void dw_lock_release(const struct dw_held_lock *held)
{
	(void)pthread_mutex_unlock(held->mutex);
}

/* Lock the mutex until the end of the block. A block may use this only once. */
#define HOLD_LOCK(mutex)                         \
	__attribute__((cleanup(dw_lock_release), \
	               unused)) struct dw_held_lock held_ = dw_lock_take(mutex)

/* Make a condition whose timed waits use the monotonic clock, as base/clock.h does. */
static inline void dw_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(cond, &attr);
	(void)pthread_condattr_destroy(&attr);
}

#endif
