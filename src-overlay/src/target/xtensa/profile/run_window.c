// SPDX-License-Identifier: GPL-2.0-or-later

#include "run_window.h"

#define STAND_WEIGHT	(1.0 / 8)	/* of a new value in the smoothed one */
#define DEFICIT_WEIGHT	(1.0 / 16)	/* of a missing share made up for by each window */

void profile_random_init(struct profile_random *random, uint64_t seed)
{
	/* close seeds must not give alike beginnings: splitmix64's finisher */
	seed += 0x9e3779b97f4a7c15u;
	seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
	seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
	seed ^= seed >> 31;
	random->state = seed ? seed : 1;
}

/* xorshift64* */
static uint32_t profile_random_next(struct profile_random *random)
{
	uint64_t x = random->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return (x * 0x2545f4914f6cdd1du) >> 32;
}

uint32_t profile_random_upto(struct profile_random *random, uint32_t max)
{
	return ((uint64_t)profile_random_next(random) * ((uint64_t)max + 1)) >> 32;
}

void run_window_init(struct run_window *window, double duty, uint64_t shortest_ns, uint64_t period_ns, bool jitter,
		struct profile_random *random, uint64_t stand_ns)
{
	*window = (struct run_window) {
		.duty = duty,
		.shortest_ns = shortest_ns,
		.period_ns = period_ns,
		.jitter = jitter,
		.random = random,
		.stand_ns = stand_ns,
	};
}

uint64_t run_window_mean_ns(const struct run_window *window)
{
	double mean = window->duty / (1 - window->duty) * window->stand_ns;
	double deficit = window->duty * window->total_ns - window->run_ns;

	if (deficit > 0) {
		deficit *= DEFICIT_WEIGHT;
		mean += deficit < mean ? deficit : mean;
	}
	if (window->period_ns > mean + window->stand_ns)
		mean = window->period_ns - window->stand_ns;
	return mean > window->shortest_ns ? mean : window->shortest_ns;
}

uint64_t run_window_next_ns(struct run_window *window)
{
	uint64_t mean = run_window_mean_ns(window);

	if (!window->jitter)
		return mean;
	/* in microseconds once it gets long, so that any length fits the generator's 32 bits */
	if (mean > UINT32_MAX / 2)
		return profile_random_upto(window->random, mean / 1000 * 2) * UINT64_C(1000);
	return profile_random_upto(window->random, mean * 2);
}

/* What a flush of which @a room_ns are filled needs. */
static double run_window_pause(double period_ns, double access_ns, double room_ns, double gap_ns, double reads_max)
{
	double reads = (room_ns + gap_ns) / period_ns;

	if (reads < 1)
		reads = 1;
	else if (reads > reads_max)
		reads = reads_max;
	const double pause_ns = period_ns - access_ns - gap_ns / reads;
	if (pause_ns <= 0)
		return 0;
	return pause_ns < 2 * period_ns ? pause_ns : 2 * period_ns;
}

uint64_t run_window_pause_ns(uint64_t period_ns, uint64_t access_ns, uint64_t room_ns, int64_t gap_ns,
		unsigned int reads_max)
{
	/* the last read and what comes behind it need some room, on the average */
	const double room = room_ns - 4.5 * access_ns > access_ns ? room_ns - 4.5 * access_ns : access_ns;
	double pause = run_window_pause(period_ns, access_ns, room, gap_ns, reads_max);

	if (room - 1.5 * pause > access_ns)
		pause = run_window_pause(period_ns, access_ns, room - 1.5 * pause, gap_ns, reads_max);
	return pause;
}

void run_window_account(struct run_window *window, uint64_t cycle_ns, uint64_t run_ns)
{
	if (run_ns > cycle_ns)
		run_ns = cycle_ns;

	double stand = cycle_ns - run_ns;

	/* a host that was busy for once is no reason for a long window: at most twice what is usual counts */
	if (stand > 2 * window->stand_ns && window->stand_ns > 0)
		stand = 2 * window->stand_ns;
	window->stand_ns += (stand - window->stand_ns) * STAND_WEIGHT;
	window->total_ns += cycle_ns;
	window->run_ns += run_ns;
}
