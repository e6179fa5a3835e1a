/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Mean, spread and extremes of the time from sample to sample, in constant memory (Welford's method).
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_INTERVAL_STATS_H
#define OPENOCD_TARGET_XTENSA_PROFILE_INTERVAL_STATS_H

#include <stdint.h>

struct interval_stats {
	uint64_t last_ns;	/* time of the last sample, 0: none yet */
	uint64_t count;
	double mean_ns;
	double square_sum;	/* of the distances from the mean */
	uint64_t min_ns, max_ns;
};

/* A sample was taken at @a time_ns, not 0. */
static inline void interval_stats_add(struct interval_stats *stats, uint64_t time_ns)
{
	uint64_t last = stats->last_ns;

	stats->last_ns = time_ns;
	if (!last || time_ns < last)
		return;

	uint64_t interval = time_ns - last;
	double distance = interval - stats->mean_ns;

	stats->count++;
	stats->mean_ns += distance / stats->count;
	stats->square_sum += distance * (interval - stats->mean_ns);
	if (stats->count == 1 || interval < stats->min_ns)
		stats->min_ns = interval;
	if (interval > stats->max_ns)
		stats->max_ns = interval;
}

/* @returns the standard deviation, nanoseconds (Newton's square root: this needs no mathematical library). */
static inline double interval_stats_deviation_ns(const struct interval_stats *stats)
{
	if (stats->count < 2 || stats->square_sum <= 0)
		return 0;

	double variance = stats->square_sum / (stats->count - 1);
	double root = variance > 1 ? variance : 1;

	/* from above, at least a halving each time until it is near */
	for (unsigned int i = 0; i < 64; i++)
		root = (root + variance / root) / 2;
	return root;
}

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_INTERVAL_STATS_H */
