/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The clock that sampling is timed by, and signals, which must not come at the wrong time.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_CLOCK_H
#define OPENOCD_TARGET_XTENSA_PROFILE_CLOCK_H

#include <signal.h>
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

/* Signals that were blocked before. */
struct profile_signals {
#ifdef _WIN32
	int unused;
#else
	sigset_t before;
#endif
};

/*
 * Hold back the signals that end OpenOCD, for the time of an exchange with the adapter: one that interrupts it leaves a
 * reply behind that the next exchange would take for its own.
 */
static inline void profile_signals_hold(struct profile_signals *signals)
{
#ifdef _WIN32
	signals->unused = 0;
#else
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGQUIT);
	sigprocmask(SIG_BLOCK, &held, &signals->before);
#endif
}

static inline void profile_signals_let_go(struct profile_signals *signals)
{
#ifndef _WIN32
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
#endif
}

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_CLOCK_H */
