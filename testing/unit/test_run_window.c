// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: xtensa */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* the profiler's own library needs OpenOCD; these two parts of it do not */
#include <target/xtensa/profile/interval_stats.h>
#include <target/xtensa/profile/run_window.c>

#define MS	1000000u

static struct run_window window_of(double duty, uint64_t shortest, uint64_t period, bool jitter,
		struct profile_random *random)
{
	struct run_window window;

	profile_random_init(random, 1);
	run_window_init(&window, duty, shortest, period, jitter, random, MS);
	return window;
}

static void numbers_are_in_range_and_uniform(void **state)
{
	struct profile_random random;
	unsigned int seen[64] = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		profile_random_init(&random, seed);
		assert_true(random.state);
		for (unsigned int i = 0; i < 64 * 1000; i++) {
			uint32_t number = profile_random_upto(&random, 63);

			assert_in_range(number, 0, 63);
			seen[number]++;
		}
	}
	/* 5000 each; 5 standard deviations are 350 */
	for (unsigned int i = 0; i < 64; i++)
		assert_in_range(seen[i], 4650, 5350);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(profile_random_upto(&random, 0), 0);
}

static void seeds_begin_differently(void **state)
{
	struct profile_random one, two, again;

	(void)state;
	profile_random_init(&one, 1);
	profile_random_init(&two, 2);
	profile_random_init(&again, 1);
	uint32_t first = profile_random_upto(&one, UINT32_MAX);

	assert_int_not_equal(first, profile_random_upto(&two, UINT32_MAX));
	assert_int_equal(first, profile_random_upto(&again, UINT32_MAX));
}

static void the_mean_follows_the_duty(void **state)
{
	static const struct { double duty; uint64_t shortest, period, mean; } rows[] = {
		{ 0, 50000, 0, 50000 },			/* the shortest window */
		{ 0.5, 50000, 0, MS },			/* as long as it stands */
		{ 0.9, 50000, 0, 9 * MS },
		{ 0.5, 2 * MS, 0, 2 * MS },
		{ 0.5, 50000, 10 * MS, 9 * MS },	/* a rate asked for: the rest of its period */
		{ 0.5, 50000, MS, MS },			/* one that cannot be reached */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_random random;
		struct run_window window = window_of(rows[i].duty, rows[i].shortest, rows[i].period, false, &random);
		uint64_t mean = run_window_mean_ns(&window);

		assert_in_range(mean, rows[i].mean - 1, rows[i].mean + 1);
		assert_true(run_window_next_ns(&window) == mean);
	}
}

static void jitter_is_uniform_up_to_twice_the_mean(void **state)
{
	struct profile_random random;
	struct run_window window = window_of(0.5, 0, 0, true, &random);
	uint64_t sum = 0;
	unsigned int low = 0, high = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t ns = run_window_next_ns(&window);

		assert_true(ns <= 2 * MS);
		low += ns < MS / 2;
		high += ns > 3 * MS / 2;
		sum += ns;
	}
	assert_in_range(sum / 100000, 0.99 * MS, 1.01 * MS);
	assert_in_range(low, 24000, 26000);
	assert_in_range(high, 24000, 26000);
}

static void windows_of_seconds_fit(void **state)
{
	struct profile_random random;
	struct run_window window = window_of(0, 0, UINT64_C(10000000000), true, &random);
	uint64_t longest = 0;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t ns = run_window_next_ns(&window);

		assert_true(ns <= UINT64_C(20000000000));
		if (ns > longest)
			longest = ns;
	}
	assert_true(longest > UINT64_C(15000000000));
}

/* A core that stands for a random time each sample runs for the share asked for, over all. */
static void the_share_is_kept(void **state)
{
	static const double duties[] = { 0.1, 0.5, 0.75, 0.95 };

	(void)state;
	for (size_t i = 0; i < sizeof(duties) / sizeof(duties[0]); i++) {
		struct profile_random random;
		struct run_window window = window_of(duties[i], 1000, 0, true, &random);
		double run = 0, total = 0;

		for (unsigned int n = 0; n < 5000; n++) {
			uint64_t ns = run_window_next_ns(&window);
			/* the host is late now and then */
			uint64_t stand = MS + profile_random_upto(&random, MS / 2) + (n % 50 ? 0 : 10 * MS);

			run_window_account(&window, ns + stand, ns);
			run += ns;
			total += ns + stand;
		}
		assert_true(run / total > duties[i] - 0.01);
		/* and not for much more */
		assert_true(run / total < duties[i] + 0.03);
	}
}

static void intervals_are_summed_up(void **state)
{
	struct interval_stats stats = { 0 };
	static const uint64_t times[] = { 1000, 3000, 7000, 13000 };	/* 2000, 4000, 6000 */

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		interval_stats_add(&stats, times[i]);
	assert_int_equal(stats.count, 3);
	assert_int_equal((int)(stats.mean_ns + 0.5), 4000);
	assert_int_equal((int)(interval_stats_deviation_ns(&stats) + 0.5), 2000);
	assert_int_equal(stats.min_ns, 2000);
	assert_int_equal(stats.max_ns, 6000);
}

static void one_sample_has_no_interval(void **state)
{
	struct interval_stats stats = { 0 };

	(void)state;
	interval_stats_add(&stats, 5);
	assert_int_equal(stats.count, 0);
	assert_true(interval_stats_deviation_ns(&stats) == 0);
	/* a clock that went back is no interval */
	interval_stats_add(&stats, 4);
	assert_int_equal(stats.count, 0);
}

/*
 * Flushes as method_debugpc.c queues them, with a gap behind each that varies by a quarter: how many reads a second
 * come of it, by what is asked for.
 */
static double rate_of_flushes(double period, double access, double room, double gap, unsigned int reads_max)
{
	struct profile_random random;
	double known = 0, time = 0, reads = 0;

	profile_random_init(&random, 7);
	for (unsigned int flush = 0; flush < 1000; flush++) {
		const double pause = run_window_pause_ns(period, access, room, known, reads_max);
		double used = 0, extra;
		unsigned int count = 0;

		do {
			used += access + profile_random_upto(&random, 2 * pause);
			count++;
		} while (count < reads_max && room - used >= 5 * access + 2 * pause);
		extra = 2 * access + gap * (0.75 + profile_random_upto(&random, 1000) / 2000.0);
		known = (3 * known + extra) / 4;
		/* the first ones have learned nothing yet */
		if (flush < 100)
			continue;
		time += used + extra;
		reads += count;
	}
	return reads * period / time;
}

static void reads_have_their_rate(void **state)
{
	/* ns: J-Link at 10 MHz, one with more room, a slow one, and behind a DAP */
	static const struct {
		double access, room;
		unsigned int reads_max;
	} links[] = { { 5600, 1638400, 250 }, { 5600, 25000000, 250 }, { 56000, 16384000, 250 }, { 13000, 332800, 40 } };
	static const double gaps[] = { 0, 30000, 500000, 1450000, 3000000, 10000000 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		for (unsigned int k = 0; k < sizeof(gaps) / sizeof(gaps[0]); k++) {
			const double access = links[i].access, room = links[i].room;
			/* from what is slower than the adapter, to what has no flush of its own */
			const double fastest = access + (2 * access + gaps[k]) / links[i].reads_max;
			const double fastest_by_room = access * (room + gaps[k]) / (room - 7 * access);
			const double from = 1.3 * (fastest > fastest_by_room ? fastest : fastest_by_room);

			for (double period = from; period < room / 4; period *= 1.03) {
				const double rate = rate_of_flushes(period, access, room, gaps[k], links[i].reads_max);

				if (rate < 0.93 || rate > 1.07)
					fail_msg("access %.0f room %.0f gap %.0f period %.0f: %.3f", access, room, gaps[k], period, rate);
			}
		}
	}
}

static void a_pause_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(run_window_pause_ns(1000, 5600, 1638400, 0, 250), 0);
	assert_int_equal(run_window_pause_ns(50000, 5600, 1638400, INT32_MAX, 250), 0);
	assert_int_equal(run_window_pause_ns(50000, 5600, 1638400, -INT64_C(1000000000), 250), 100000);
	assert_in_range(run_window_pause_ns(50000, 5600, 1638400, -1638400, 250), 0, 100000);
	assert_in_range(run_window_pause_ns(50000, 5600, 0, 0, 1), 44000, 44400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_in_range_and_uniform),
		cmocka_unit_test(seeds_begin_differently),
		cmocka_unit_test(the_mean_follows_the_duty),
		cmocka_unit_test(jitter_is_uniform_up_to_twice_the_mean),
		cmocka_unit_test(windows_of_seconds_fit),
		cmocka_unit_test(the_share_is_kept),
		cmocka_unit_test(reads_have_their_rate),
		cmocka_unit_test(a_pause_is_bounded),
		cmocka_unit_test(intervals_are_summed_up),
		cmocka_unit_test(one_sample_has_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
