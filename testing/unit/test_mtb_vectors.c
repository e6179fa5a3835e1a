// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/* Which exception a handler is for, by a vector table in memory. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/event.h>
#include <itrace/mtb_vectors.h>

#define VTOR		0x1000u
#define ENTRIES		(16 + 40)

#define LATE		0x100u	/* behind SVC #1 */
#define PLAIN		0x200u	/* behind a NOP */
#define NOWHERE		0x900u	/* no memory */

/* handlers */
#define ALL		0x3000u		/* of everything that has none of its own */
#define OWN(n)		(0x4000u + 16 * (n))
#define HARDFAULT	OWN(1)
#define SVC		OWN(2)
#define SYSTICK		OWN(3)
#define IRQ7		OWN(4)
#define IRQ8		OWN(5)
#define IRQ39		OWN(6)
#define TWICE		OWN(7)		/* PendSV and IRQ20 */

static uint8_t table[4 * ENTRIES], code[0x1100];
static const uint8_t svc_1[] = { 0x01, 0xdf }, nop[] = { 0x00, 0xbf };
static struct itrace_segment segments[] = {
	{ VTOR, sizeof(table), table, ITRACE_SPACE_ANY, 0 },
	{ ALL, sizeof(code), code, ITRACE_SPACE_ANY, 0 },
	{ LATE - 2, 2, svc_1, ITRACE_SPACE_ANY, 0 },
	{ PLAIN - 2, 2, nop, ITRACE_SPACE_ANY, 0 },
};
static struct itrace_image image;
static struct itrace_mtb_vectors vectors;

static void put(unsigned int entry, uint32_t value)
{
	for (unsigned int byte = 0; byte < 4; byte++)
		table[4 * entry + byte] = (uint8_t)(value >> 8 * byte);
}

static int setup(void **state)
{
	(void)state;
	put(0, 0x20001000);
	for (unsigned int i = 1; i < ENTRIES; i++)
		put(i, ALL | 1);
	for (unsigned int i = 7; i < 11; i++)
		put(i, 0);
	put(3, HARDFAULT | 1);
	put(11, SVC | 1);
	put(14, TWICE | 1);
	put(15, SYSTICK | 1);
	put(16 + 7, IRQ7 | 1);
	put(16 + 8, IRQ8 | 1);
	put(16 + 20, TWICE | 1);
	put(16 + 39, IRQ39 | 1);
	itrace_image_init(&image, segments, sizeof(segments) / sizeof(segments[0]), NULL, NULL);
	itrace_mtb_vectors_init(&vectors);
	return 0;
}

static void expect(uint32_t handler, const struct itrace_mtb_interrupted *from, uint32_t number, unsigned int flags)
{
	/* from the table, and from memory */
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int got = 0xdead;

		assert_int_equal(itrace_mtb_vectors_find(&vectors, &image, VTOR, handler, from, &got), number);
		assert_int_equal(got, flags);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		uint32_t handler;
		uint32_t number;
		unsigned int flags;
	} rows[] = {
		{ HARDFAULT, 3, 0 },
		{ SYSTICK, 15, 0 },
		{ IRQ7, 23, 0 },
		{ IRQ8, 0x208, 0 },
		{ IRQ39, 0x227, 0 },
		{ TWICE, 14, ITRACE_EVENT_UNKNOWN },
		{ ALL, 2, ITRACE_EVENT_UNKNOWN },
		{ OWN(8), 0, ITRACE_EVENT_UNKNOWN },
		{ 0, 0, ITRACE_EVENT_UNKNOWN },		/* entries of 0 are nobody's */
		{ 0x20001000, 0, ITRACE_EVENT_UNKNOWN },	/* the stack pointer */
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(rows[i].handler, NULL, rows[i].number, rows[i].flags);
}

/* SVC is taken behind that instruction and nowhere else. */
static void test_svc(void **state)
{
	const struct itrace_mtb_interrupted late = { LATE, true }, came = { LATE, false }, plain = { PLAIN, true },
		nowhere = { NOWHERE, true };

	(void)state;
	expect(SVC, NULL, 11, 0);
	expect(SVC, &late, 11, 0);
	expect(SVC, &nowhere, 11, 0);
	expect(SVC, &plain, 0, ITRACE_EVENT_UNKNOWN);

	/* one handler for all: by the instruction in front of it, if that ran */
	put(11, ALL | 1);
	itrace_image_changed(&image, segments, sizeof(segments) / sizeof(segments[0]));
	expect(ALL, &late, 11, 0);
	expect(ALL, &came, 2, ITRACE_EVENT_UNKNOWN);
	expect(ALL, &plain, 2, ITRACE_EVENT_UNKNOWN);
	expect(ALL, NULL, 2, ITRACE_EVENT_UNKNOWN);
}

/* A word that can be no handler ends the interrupts; the system's own entries are there in any case. */
static void test_end_of_table(void **state)
{
	(void)state;
	put(16 + 30, 0x20000001);	/* not mapped */
	expect(IRQ8, NULL, 0x208, 0);
	expect(IRQ39, NULL, 0, ITRACE_EVENT_UNKNOWN);

	put(16 + 30, ALL | 1);
	put(16 + 31, IRQ39);		/* no Thumb */
	expect(IRQ39, NULL, 0, ITRACE_EVENT_UNKNOWN);	/* as it was read */
	itrace_image_changed(&image, segments, sizeof(segments) / sizeof(segments[0]));
	expect(IRQ39, NULL, 0, ITRACE_EVENT_UNKNOWN);

	put(16 + 31, 0);		/* an interrupt that is not there */
	put(5, 0x20000001);
	itrace_image_changed(&image, segments, sizeof(segments) / sizeof(segments[0]));
	expect(IRQ39, NULL, 0x227, 0);
}

static void test_no_table(void **state)
{
	unsigned int flags = 0;

	(void)state;
	assert_int_equal(itrace_mtb_vectors_find(&vectors, &image, 0x8000, SYSTICK, NULL, &flags), 0);
	assert_int_equal(flags, ITRACE_EVENT_UNKNOWN);
	/* another table only behind init */
	itrace_mtb_vectors_init(&vectors);
	expect(SYSTICK, NULL, 15, 0);
	/* cut off behind PendSV */
	segments[0].len = 4 * 15;
	itrace_image_changed(&image, segments, sizeof(segments) / sizeof(segments[0]));
	expect(SYSTICK, NULL, 0, ITRACE_EVENT_UNKNOWN);
	expect(TWICE, NULL, 14, 0);
	segments[0].len = sizeof(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_numbers, setup),
		cmocka_unit_test_setup(test_svc, setup),
		cmocka_unit_test_setup(test_end_of_table, setup),
		cmocka_unit_test_setup(test_no_table, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
