/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The clock that sampling is timed by.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_CLOCK_H
#define OPENOCD_TARGET_XTENSA_PROFILE_CLOCK_H

#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <helper/replacements.h>
#include <helper/time_support.h>

/* Nanoseconds of a clock that only goes forward (where the host has one). */
static inline uint64_t profile_clock_ns(void)
{
#ifdef CLOCK_MONOTONIC
	struct timespec now;

	if (!clock_gettime(CLOCK_MONOTONIC, &now))
		return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
#endif
	return (uint64_t)timeval_ms() * 1000000u;
}

/* Wait without serving clients: for less than 50 ms. */
static inline void profile_clock_wait(uint64_t ns)
{
	usleep(ns / 1000);
}

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_CLOCK_H */
