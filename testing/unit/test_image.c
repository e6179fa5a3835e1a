// SPDX-License-Identifier: GPL-2.0-or-later

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <itrace/image.h>

static const uint8_t first[16] = "first segment 16";
static const uint8_t second[8] = "second 8";

static struct itrace_image image;

/* The bytes at addr are those at @a bytes, @a avail of them. */
static void expect(uint64_t addr, unsigned int space, const uint8_t *bytes, size_t avail, uint8_t source)
{
	size_t got = 0;
	uint8_t from = 0x55;

	assert_ptr_equal(itrace_image_at(&image, addr, space, &got, &from), bytes);
	if (bytes) {
		assert_int_equal(got, avail);
		assert_int_equal(from, source);
	}
}

static void segments_are_found(void **state)
{
	const struct itrace_segment segments[] = {
		{ 0x1000, sizeof(first), first, ITRACE_SPACE_ANY, 3 },
		{ 0x1010, sizeof(second), second, ITRACE_SPACE_ANY, 4 },
		{ 0x2000, 0, NULL, ITRACE_SPACE_ANY, 5 },
		{ 0xfffffffffffffff8, sizeof(second), second, ITRACE_SPACE_ANY, 6 },
	};

	(void)state;
	itrace_image_init(&image, segments, 4, NULL, NULL);
	assert_false(image.by_space);
	expect(0x1000, ITRACE_SPACE_EL1N, first, 16, 3);
	expect(0x100f, ITRACE_SPACE_EL1N, first + 15, 1, 3);
	expect(0x1010, ITRACE_SPACE_EL1N, second, 8, 4);	/* a piece never spans two segments */
	expect(0x0fff, ITRACE_SPACE_EL1N, NULL, 0, 0);
	expect(0x1018, ITRACE_SPACE_EL1N, NULL, 0, 0);
	expect(0x2000, ITRACE_SPACE_EL1N, NULL, 0, 0);
	expect(0xffffffffffffffff, ITRACE_SPACE_EL1N, second + 7, 1, 6);
	expect(0, ITRACE_SPACE_EL1N, NULL, 0, 0);
}

static void the_first_that_overlaps_wins(void **state)
{
	const struct itrace_segment segments[] = {
		{ 0x1004, 4, second, ITRACE_SPACE_ANY, 1 },
		{ 0x1000, 16, first, ITRACE_SPACE_ANY, 2 },
	};

	(void)state;
	itrace_image_init(&image, segments, 2, NULL, NULL);
	expect(0x1000, ITRACE_SPACE_S, first, 4, 2);
	expect(0x1004, ITRACE_SPACE_S, second, 4, 1);
	expect(0x1008, ITRACE_SPACE_S, first + 8, 8, 2);
	expect(0x1002, ITRACE_SPACE_S, first + 2, 2, 2);
}

static void spaces_are_told_apart(void **state)
{
	const struct itrace_segment segments[] = {
		{ 0x1000, 16, first, ITRACE_SPACE_EL2N, 1 },
		{ 0x1000, 8, second, ITRACE_SPACE_S, 2 },
	};

	(void)state;
	itrace_image_init(&image, segments, 2, NULL, NULL);
	assert_true(image.by_space);
	expect(0x1000, ITRACE_SPACE_EL2N, first, 16, 1);
	expect(0x1000, ITRACE_SPACE_EL1S, second, 8, 2);
	expect(0x1000, ITRACE_SPACE_EL1N, NULL, 0, 0);
	expect(0x1000, ITRACE_SPACE_N, first, 16, 1);
}

struct live {
	unsigned int calls;
	size_t give;
};

static size_t read_live(void *ctx, uint64_t addr, unsigned int space, uint8_t *dst, size_t len)
{
	struct live *live = ctx;

	assert_int_equal(addr % ITRACE_IMAGE_PAGE, 0);
	assert_int_equal(len, ITRACE_IMAGE_PAGE);
	live->calls++;
	for (size_t i = 0; i < len; i++)
		dst[i] = (uint8_t)(addr + i + space);
	return live->give;
}

static void live_memory_is_read_once(void **state)
{
	struct live live = { 0, ITRACE_IMAGE_PAGE };
	size_t avail;
	uint8_t source;

	(void)state;
	itrace_image_init(&image, NULL, 0, read_live, &live);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *bytes = itrace_image_at(&image, 0x1010 + i, ITRACE_SPACE_EL1N, &avail, &source);
		assert_non_null(bytes);
		assert_int_equal(bytes[0], 0x12 + i);
		assert_int_equal(avail, ITRACE_IMAGE_PAGE - 0x10 - i);
		assert_int_equal(source, ITRACE_SOURCE_LIVE);
	}
	assert_int_equal(live.calls, 1);
	itrace_image_at(&image, 0x1010, ITRACE_SPACE_EL2N, &avail, NULL);
	assert_int_equal(live.calls, 2);

	/* what cannot be read is not asked for again, until something changes */
	live.give = 0;
	for (unsigned int i = 0; i < 3; i++)
		assert_null(itrace_image_at(&image, 0x5000, ITRACE_SPACE_EL1N, &avail, NULL));
	assert_int_equal(live.calls, 3);
	unsigned int generation = image.generation;
	itrace_image_changed(&image, NULL, 0);
	assert_int_not_equal(image.generation, generation);
	live.give = 4;
	assert_non_null(itrace_image_at(&image, 0x5003, ITRACE_SPACE_EL1N, &avail, NULL));
	assert_null(itrace_image_at(&image, 0x5004, ITRACE_SPACE_EL1N, &avail, NULL));

	/* more pages than are kept */
	live.give = ITRACE_IMAGE_PAGE;
	live.calls = 0;
	for (uint64_t i = 0; i < ITRACE_IMAGE_PAGES + 1; i++)
		itrace_image_at(&image, 0x10000 + i * ITRACE_IMAGE_PAGE, ITRACE_SPACE_EL1N, &avail, NULL);
	assert_int_equal(live.calls, ITRACE_IMAGE_PAGES + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_found),
		cmocka_unit_test(the_first_that_overlaps_wins),
		cmocka_unit_test(spaces_are_told_apart),
		cmocka_unit_test(live_memory_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
