/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How long to let a core run between two stops.
 *
 * The window is as long as the duty asks for: over the whole profile the core runs at least this share of the time.
 * It is drawn at random between nothing and twice its mean, because what a sample finds depends on how far the program
 * got since the last one: with windows of one length a loop of the same length would always be met at the same place.
 * Uniform over two periods, all phases of such a loop are equally likely.
 *
 * No OpenOCD in here: tested alone.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_RUN_WINDOW_H
#define OPENOCD_TARGET_XTENSA_PROFILE_RUN_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct profile_random {
	uint64_t state;		/* never 0 */
};

void profile_random_init(struct profile_random *random, uint64_t seed);

/* @returns a number from 0 to @a max, all equally likely (to within 2^-32). */
uint32_t profile_random_upto(struct profile_random *random, uint32_t max);

struct run_window {
	double duty;		/* share of the time, 0 to 0.99 */
	uint64_t shortest_ns;	/* mean of the window when the duty asks for none */
	uint64_t period_ns;	/* mean time from sample to sample asked for, 0: as short as possible */
	bool jitter;
	struct profile_random *random;

	/* what was seen; kept by run_window_account() */
	double stand_ns;	/* how long the core stands still for a sample, smoothed */
	uint64_t run_ns;	/* over all */
	uint64_t total_ns;
};

/* @param stand_ns a first guess */
void run_window_init(struct run_window *window, double duty, uint64_t shortest_ns, uint64_t period_ns, bool jitter,
		struct profile_random *random, uint64_t stand_ns);

/* @returns mean of the next window, nanoseconds */
uint64_t run_window_mean_ns(const struct run_window *window);

/* @returns the length of the next window, nanoseconds. */
uint64_t run_window_next_ns(struct run_window *window);

/*
 * Pause before each of the reads that are queued into one flush, so that reads are a period apart over all: the time
 * between flushes is a part of it, and the shorter the pauses, the more reads there are to share that.
 * @param access_ns what a read takes
 * @param room_ns what a flush has room for
 * @param gap_ns time of a flush beyond that of reads and pauses; negative where clocks are faster than the adapter says
 * @param reads_max of a flush
 * @returns the pause, nanoseconds, at most two periods
 */
uint64_t run_window_pause_ns(uint64_t period_ns, uint64_t access_ns, uint64_t room_ns, int64_t gap_ns,
		unsigned int reads_max);

/* A sample took @a cycle_ns in all, of which the core ran for @a run_ns. */
void run_window_account(struct run_window *window, uint64_t cycle_ns, uint64_t run_ns);

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_RUN_WINDOW_H */
