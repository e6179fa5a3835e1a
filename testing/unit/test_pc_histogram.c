// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Histogram of addresses: nothing is lost whatever its limit is, checked against plain sorting; and what happens when
 * there is no memory.
 */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Memory that runs out: the source is compiled in here with allocators of our own. */
static bool is_out_of_memory;
static size_t peak;

static void *scarce_calloc(size_t count, size_t size)
{
	return is_out_of_memory ? NULL : calloc(count, size);
}

static void *scarce_realloc(void *old, size_t size)
{
	if (size > peak)
		peak = size;
	return is_out_of_memory ? NULL : realloc(old, size);
}

static void *scarce_malloc(size_t size)
{
	return is_out_of_memory ? NULL : malloc(size);
}

#define calloc	scarce_calloc
#define realloc	scarce_realloc
#define malloc	scarce_malloc
#include "pc_histogram.c"
#undef calloc
#undef realloc
#undef malloc

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare_entries(const void *left, const void *right)
{
	const struct itrace_pc_count *a = left;
	const struct itrace_pc_count *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* The histogram says of all @a count samples what sorting them says. */
static void assert_same(const struct itrace_pc_histogram *histogram, const struct itrace_pc_count *samples,
		size_t count)
{
	unsigned int shift = itrace_pc_histogram_shift(histogram);
	struct itrace_pc_count *want = malloc((count + 1) * sizeof(*want));
	struct itrace_pc_count *have;
	size_t want_count = 0;
	size_t have_count;
	uint64_t total = 0;

	assert_non_null(want);
	for (size_t i = 0; i < count; i++) {
		want[i].addr = samples[i].addr >> shift << shift;
		want[i].count = samples[i].count;
		total += samples[i].count;
	}
	qsort(want, count, sizeof(*want), compare_entries);
	for (size_t i = 0; i < count; i++) {
		if (!want[i].count)
			continue;
		if (want_count && want[want_count - 1].addr == want[i].addr)
			want[want_count - 1].count += want[i].count;
		else
			want[want_count++] = want[i];
	}

	assert_true(itrace_pc_histogram_sorted(histogram, &have, &have_count));
	assert_int_equal(have_count, want_count);
	assert_int_equal(itrace_pc_histogram_addresses(histogram), want_count);
	assert_true(itrace_pc_histogram_total(histogram) == total);
	for (size_t i = 0; i < want_count; i++) {
		assert_true(have[i].addr == want[i].addr);
		assert_true(have[i].count == want[i].count);
	}
	assert_true(want_count || !have);
	free(have);
	free(want);
}

static void test_few(void **state)
{
	static const struct itrace_pc_count samples[] = {
		{ 0x400d0010, 1 }, { 0x400d0010, 2 }, { 0, 5 }, { UINT64_MAX, 7 }, { 0x400d0010, UINT64_C(1) << 40 }, { 4, 0 },
	};
	struct itrace_pc_histogram histogram;

	(void)state;
	assert_true(itrace_pc_histogram_init(&histogram, 0));
	assert_same(&histogram, NULL, 0);
	for (size_t i = 0; i < 6; i++) {
		itrace_pc_histogram_add(&histogram, samples[i].addr, samples[i].count);
		assert_same(&histogram, samples, i + 1);
	}
	assert_int_equal(itrace_pc_histogram_addresses(&histogram), 3);
	assert_int_equal(itrace_pc_histogram_shift(&histogram), 0);
	itrace_pc_histogram_clear(&histogram);
	assert_same(&histogram, NULL, 0);
	itrace_pc_histogram_add(&histogram, 3, 3);
	assert_int_equal(itrace_pc_histogram_total(&histogram), 3);
	itrace_pc_histogram_free(&histogram);
	itrace_pc_histogram_free(&histogram);
}

static void test_limit(void **state)
{
	static const struct {
		size_t given, used;
	} limits[] = {
		{ 0, ITRACE_PC_HISTOGRAM_SLOTS }, { 1, 16 }, { 16, 16 }, { 31, 16 }, { 32, 32 }, { 1000, 512 },
		{ SIZE_MAX, ITRACE_PC_HISTOGRAM_SLOTS_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct itrace_pc_histogram histogram;
		assert_true(itrace_pc_histogram_init(&histogram, limits[i].given));
		assert_int_equal(histogram.slot_max, limits[i].used);
		assert_true(histogram.slot_count <= histogram.slot_max);
		itrace_pc_histogram_free(&histogram);
	}
}

/* As long as there is room addresses are exact: three quarters of the slots can be used, less one. */
static void test_exact_up_to_the_limit(void **state)
{
	struct itrace_pc_histogram histogram;
	struct itrace_pc_count samples[768];

	(void)state;
	assert_true(itrace_pc_histogram_init(&histogram, 1024));
	for (size_t i = 0; i < 768; i++) {
		samples[i].addr = 0x40080001 + 3 * i;
		samples[i].count = i + 1;
		itrace_pc_histogram_add(&histogram, samples[i].addr, samples[i].count);
		if (i == 766) {
			assert_int_equal(itrace_pc_histogram_shift(&histogram), 0);
			assert_same(&histogram, samples, 767);
		}
	}
	/* 3 apart: without 1 bit there are still 768 addresses, without 2 bits 576, without 3 less than half the slots */
	assert_int_equal(itrace_pc_histogram_shift(&histogram), 3);
	assert_int_equal(histogram.slot_count, 1024);
	assert_same(&histogram, samples, 768);
	itrace_pc_histogram_free(&histogram);
}

/* Random addresses of several widths, limits and seeds. */
static void test_random(void **state)
{
	static const unsigned int widths[] = { 4, 12, 20, 32, 64 };
	static const size_t limits[] = { 16, 64, 1024, 0 };
	static struct itrace_pc_count samples[20000];
	uint64_t seed = 88172645463325252;

	(void)state;
	for (unsigned int run = 0; run < 40; run++) {
		unsigned int width = widths[run % 5];
		uint64_t base = random_next(&seed);
		struct itrace_pc_histogram histogram;

		peak = 0;
		assert_true(itrace_pc_histogram_init(&histogram, limits[run % 4]));
		for (size_t i = 0; i < 20000; i++) {
			samples[i].addr = base + (random_next(&seed) >> (64 - width));
			samples[i].count = random_next(&seed) % 5;
			itrace_pc_histogram_add(&histogram, samples[i].addr, samples[i].count);
		}
		assert_same(&histogram, samples, 20000);
		assert_true(peak <= histogram.slot_max * sizeof(struct itrace_pc_count));
		/* it is no coarser than it has to be: it would not have been made so when half was enough */
		if (itrace_pc_histogram_shift(&histogram))
			assert_true(histogram.slot_count == histogram.slot_max);
		if (limits[run % 4] == 0)
			assert_int_equal(itrace_pc_histogram_shift(&histogram), 0);
		itrace_pc_histogram_free(&histogram);
	}
}

/* The coarsest there is: addresses that differ in their highest bits only. */
static void test_coarsest(void **state)
{
	struct itrace_pc_count samples[4096];
	struct itrace_pc_histogram histogram;

	(void)state;
	assert_true(itrace_pc_histogram_init(&histogram, 1));
	for (size_t i = 0; i < 4096; i++) {
		samples[i].addr = (uint64_t)i << 52 | i;
		samples[i].count = 1;
		itrace_pc_histogram_add(&histogram, samples[i].addr, 1);
	}
	assert_same(&histogram, samples, 4096);
	assert_true(itrace_pc_histogram_shift(&histogram) >= 60 && itrace_pc_histogram_shift(&histogram) <= 63);
	itrace_pc_histogram_free(&histogram);
}

static void test_merge(void **state)
{
	static const size_t limits[][2] = { { 0, 0 }, { 0, 64 }, { 64, 0 }, { 64, 128 }, { 16, 16 } };
	static struct itrace_pc_count samples[2000];
	uint64_t seed = 1234567;

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct itrace_pc_histogram a;
		struct itrace_pc_histogram b;

		assert_true(itrace_pc_histogram_init(&a, limits[i][0]));
		assert_true(itrace_pc_histogram_init(&b, limits[i][1]));
		for (size_t n = 0; n < 2000; n++) {
			samples[n].addr = 0x40000000 + random_next(&seed) % 5000;
			samples[n].count = 1 + n;
			itrace_pc_histogram_add(n < 1000 ? &a : &b, samples[n].addr, samples[n].count);
		}
		unsigned int shift_b = itrace_pc_histogram_shift(&b);
		itrace_pc_histogram_merge(&a, &b);
		assert_same(&a, samples, 2000);
		assert_same(&b, samples + 1000, 1000);
		assert_true(itrace_pc_histogram_shift(&a) >= shift_b);
		itrace_pc_histogram_free(&a);
		itrace_pc_histogram_free(&b);
	}
}

static void test_no_memory(void **state)
{
	static struct itrace_pc_count samples[5000];
	struct itrace_pc_histogram histogram;
	struct itrace_pc_count *entries = samples;
	size_t count = 1;

	(void)state;
	is_out_of_memory = true;
	assert_false(itrace_pc_histogram_init(&histogram, 0));
	itrace_pc_histogram_free(&histogram);
	is_out_of_memory = false;

	assert_true(itrace_pc_histogram_init(&histogram, 0));
	for (size_t i = 0; i < 5000; i++) {
		/* the memory runs out, and later there is some again: what is coarse stays so */
		is_out_of_memory = i >= 1000 && i < 4000;
		samples[i].addr = 0x400d0000 + 2 * i;
		samples[i].count = 1;
		itrace_pc_histogram_add(&histogram, samples[i].addr, 1);
	}
	is_out_of_memory = false;
	assert_true(itrace_pc_histogram_shift(&histogram) > 1);
	assert_same(&histogram, samples, 5000);

	is_out_of_memory = true;
	assert_false(itrace_pc_histogram_sorted(&histogram, &entries, &count));
	is_out_of_memory = false;
	assert_null(entries);
	assert_int_equal(count, 0);
	itrace_pc_histogram_free(&histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_exact_up_to_the_limit),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_coarsest),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
