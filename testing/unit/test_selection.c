// SPDX-License-Identifier: GPL-2.0-or-later

/* What part of a trace is handed on, to the instruction. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/selection.h"
#include "report_events.h"

#define ARRAY_LEN(array)	(sizeof(array) / sizeof((array)[0]))
#define EL0	0u
#define EL1	1u

static struct itrace_event got[256];
static unsigned int got_count, left_out_count;
static struct itrace_program program;
static struct itrace_selection selection;

static void take(void *ctx, const struct itrace_event *events, unsigned int n)
{
	(void)ctx;
	left_out_count += !n;
	for (unsigned int i = 0; i < n; i++) {
		assert_true(got_count < ARRAY_LEN(got));
		got[got_count++] = events[i];
	}
}

static struct itrace_selection_rules everything(void)
{
	return (struct itrace_selection_rules){ .context = -1, .el = -1 };
}

static void run(const struct itrace_selection_rules *rules, const struct itrace_event *events, unsigned int n)
{
	got_count = 0;
	left_out_count = 0;
	itrace_selection_init(&selection, rules, &program, take, NULL);
	itrace_selection_events(&selection, events, n);
	itrace_selection_finish(&selection);
	itrace_selection_free(&selection);
}

static uint64_t instructions(void)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < got_count; i++)
		if (got[i].kind == ITRACE_EVENT_RANGE)
			count += got[i].count;
	return count;
}

static const struct itrace_event *range(unsigned int index)
{
	for (unsigned int i = 0; i < got_count; i++)
		if (got[i].kind == ITRACE_EVENT_RANGE && !index--)
			return &got[i];
	fail_msg("no such range");
	return NULL;
}

static void check_range(unsigned int index, uint64_t addr, uint64_t end)
{
	const struct itrace_event *event = range(index);

	if (event->addr != addr || event->end != end || event->count != (end - addr) / 4)
		fail_msg("range %u is 0x%llx..0x%llx", index, (unsigned long long)event->addr,
				(unsigned long long)event->end);
}

static void test_all(void **state)
{
	struct itrace_selection_rules rules = everything();
	const struct itrace_event events[] = { trace_on(), call(0x1000, 3), other(ITRACE_EVENT_END, 0) };

	(void)state;
	assert_true(itrace_selection_is_all(&rules));
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(got_count, 3);
	assert_memory_equal(got, events, sizeof(events));
}

static void test_first_divides_a_range(void **state)
{
	struct itrace_selection_rules rules = everything();
	const struct itrace_event events[] = { call(0x1000, 3), call(0x2000, 4), call(0x3000, 1) };

	(void)state;
	rules.has_first = true;
	rules.first = 5;
	run(&rules, events, ARRAY_LEN(events));
	assert_true(selection.done);
	assert_int_equal(instructions(), 5);
	check_range(0, 0x1000, 0x100c);
	check_range(1, 0x2000, 0x2008);
	/* the branch was cut off */
	assert_int_equal(range(1)->branch, ITRACE_INSN_OTHER);
	assert_int_equal(range(1)->last_size, 4);
	/* on a border, the whole range */
	rules.first = 7;
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(range(1)->branch, ITRACE_INSN_DIRECT);
	assert_int_equal(instructions(), 7);
}

static void test_last_is_exact(void **state)
{
	const struct itrace_event events[] = {
		context(EL1, 0), call(0x1000, 3), trace_on(), call(0x2000, 4), exception(1, 0x2010), call(0x3000, 2),
		other(ITRACE_EVENT_END, 0)
	};
	struct itrace_selection_rules rules = everything();

	(void)state;
	rules.has_last = true;
	for (rules.last = 1; rules.last < 12; rules.last++) {
		run(&rules, events, ARRAY_LEN(events));
		assert_int_equal(instructions(), rules.last < 9 ? rules.last : 9);
		/* the context is that of the first event */
		assert_int_equal(got[0].kind, ITRACE_EVENT_CONTEXT);
		assert_int_equal(got[got_count - 1].kind, ITRACE_EVENT_END);
	}
	rules.last = 3;
	run(&rules, events, ARRAY_LEN(events));
	check_range(0, 0x200c, 0x2010);
	check_range(1, 0x3000, 0x3008);
	assert_int_equal(range(0)->branch, ITRACE_INSN_DIRECT);
	/* what stood before the range that was cut is not shown, what stands behind is */
	assert_int_equal(got[1].kind, ITRACE_EVENT_RANGE);
	assert_int_equal(got[2].kind, ITRACE_EVENT_EXCEPTION);
}

static void test_last_of_much_is_kept_in_little(void **state)
{
	struct itrace_selection_rules rules = everything();

	(void)state;
	rules.has_last = true;
	rules.last = 10;
	got_count = 0;
	itrace_selection_init(&selection, &rules, &program, take, NULL);
	for (unsigned int i = 0; i < 1000000; i++) {
		struct itrace_event event = call(0x1000 + 16 * i, 1 + i % 4);
		itrace_selection_events(&selection, &event, 1);
	}
	assert_true(selection.ring_size <= 1024);
	itrace_selection_finish(&selection);
	assert_int_equal(instructions(), 10);
	assert_false(selection.last_cut);
	itrace_selection_free(&selection);
}

static void test_from_and_to(void **state)
{
	struct itrace_selection_rules rules = everything();
	const struct itrace_event events[] = { trace_on(), jump(0x1000, 8), jump(0x1000, 8), jump(0x2000, 2) };

	(void)state;
	rules.has_from = true;
	rules.from = 0x1008;
	run(&rules, events, ARRAY_LEN(events));
	assert_true(selection.reached);
	assert_int_equal(got_count, 3);
	assert_int_equal(left_out_count, 0);
	check_range(0, 0x1008, 0x1020);
	check_range(1, 0x1000, 0x1020);

	/* again at each: the instruction at "to" is the last */
	rules.has_to = true;
	rules.to = 0x1010;
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(got_count, 2);
	check_range(0, 0x1008, 0x1014);
	check_range(1, 0x1008, 0x1014);
	/* the mouth is told that the second does not go on from the first */
	assert_int_equal(left_out_count, 1);
	rules.has_last = true;
	rules.last = 4;
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(left_out_count, 1);
	check_range(0, 0x1010, 0x1014);
	check_range(1, 0x1008, 0x1014);
	rules.has_last = false;

	/* "to" alone: once */
	rules.has_from = false;
	run(&rules, events, ARRAY_LEN(events));
	assert_true(selection.done);
	assert_int_equal(got_count, 2);
	check_range(0, 0x1000, 0x1014);

	/* an address inside an instruction is never reached */
	rules.has_from = true;
	rules.from = 0x100a;
	run(&rules, events, ARRAY_LEN(events));
	assert_false(selection.reached);
	assert_int_equal(got_count, 0);
}

static void test_two_parts_of_one_range(void **state)
{
	struct itrace_selection_rules rules = everything();
	const struct itrace_event events[] = { jump(0x1000, 100) };

	(void)state;
	rules.has_from = true;
	rules.has_to = true;
	rules.from = 0x1010;
	rules.to = 0x1010;
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(got_count, 1);
	check_range(0, 0x1010, 0x1190);

	rules.to = 0x1000;
	run(&rules, events, ARRAY_LEN(events));
	check_range(0, 0x1010, 0x1190);
}

static void test_context_and_level(void **state)
{
	struct itrace_selection_rules rules = everything();
	const struct itrace_event events[] = {
		plain(0x0, 1), context(EL1 | ITRACE_CONTEXT_HAS_CID, 7), plain(0x1000, 1),
		context(EL0 | ITRACE_CONTEXT_HAS_CID, 7), trace_on(), plain(0x2000, 1),
		context(EL0 | ITRACE_CONTEXT_HAS_CID, 8), trace_on(), plain(0x3000, 1),
		context(EL0, 0), plain(0x4000, 1)
	};

	(void)state;
	rules.el = 0;
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(instructions(), 3);
	check_range(0, 0x2000, 0x2004);
	/* each context is told before the first thing in it */
	assert_int_equal(got[0].kind, ITRACE_EVENT_CONTEXT);
	assert_int_equal(got[1].kind, ITRACE_EVENT_TRACE_ON);

	rules.context = 7;
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(instructions(), 1);
	check_range(0, 0x2000, 0x2004);

	rules.el = -1;
	run(&rules, events, ARRAY_LEN(events));
	assert_int_equal(instructions(), 2);
	check_range(0, 0x1000, 0x1004);
}

/* T32: instructions of two sizes, found in the code. */
static void test_t32_is_divided_between_instructions(void **state)
{
	/* nop; nop.w; nop; bl (4 bytes) */
	static const uint8_t code[] = { 0x00, 0xbf, 0xaf, 0xf3, 0x00, 0x80, 0x00, 0xbf, 0x00, 0xf0, 0x00, 0xf8 };
	const struct itrace_segment segment = {
		.addr = 0x1000, .len = sizeof(code), .data = code, .space = ITRACE_SPACE_ANY
	};
	struct itrace_selection_rules rules = everything();
	struct itrace_event event;
	static struct itrace_image image;

	(void)state;
	itrace_image_init(&image, &segment, 1, NULL, NULL);
	program.image = &image;
	memset(&event, 0, sizeof(event));
	event.addr = 0x1000;
	event.end = 0x100c;
	event.count = 4;
	event.tag = itrace_event_range_tag(ITRACE_ISA_T32, ITRACE_INSN_DIRECT, TAKEN | ITRACE_INSN_LINK, 4);

	rules.has_first = true;
	rules.first = 2;
	run(&rules, &event, 1);
	assert_true(range(0)->end == 0x1006);
	assert_int_equal(range(0)->last_size, 4);

	rules.has_first = false;
	rules.has_last = true;
	rules.last = 2;
	run(&rules, &event, 1);
	assert_true(range(0)->addr == 0x1006 && range(0)->end == 0x100c);

	/* the middle of the wide one is no instruction */
	rules.has_last = false;
	rules.has_from = true;
	rules.from = 0x1004;
	run(&rules, &event, 1);
	assert_int_equal(got_count, 0);
	rules.from = 0x1008;
	run(&rules, &event, 1);
	assert_int_equal(instructions(), 1);
	program.image = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_first_divides_a_range),
		cmocka_unit_test(test_last_is_exact),
		cmocka_unit_test(test_last_of_much_is_kept_in_little),
		cmocka_unit_test(test_from_and_to),
		cmocka_unit_test(test_two_parts_of_one_range),
		cmocka_unit_test(test_context_and_level),
		cmocka_unit_test(test_t32_is_divided_between_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
