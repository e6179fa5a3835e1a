// SPDX-License-Identifier: GPL-2.0-or-later

/* Depth of calls from events that are complete, and from those that are not. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/call_tree.h"
#include "report_events.h"

#define ARRAY_LEN(array)	(sizeof(array) / sizeof((array)[0]))

/* An event, and for a range what it does and the depth it then runs at. */
struct step {
	struct itrace_event event;
	enum itrace_call_change change;
	uint32_t depth;
};

static struct itrace_call_tree tree;

static void run(const struct step *steps, size_t count)
{
	itrace_call_tree_init(&tree);
	for (size_t i = 0; i < count; i++) {
		if (steps[i].event.kind != ITRACE_EVENT_RANGE) {
			itrace_call_tree_event(&tree, &steps[i].event);
			continue;
		}
		enum itrace_call_change change = itrace_call_tree_range(&tree, &steps[i].event);
		if (change != steps[i].change || tree.depth != steps[i].depth)
			fail_msg("step %zu: change %d depth %u", i, (int)change, tree.depth);
	}
}

static void test_calls_and_returns(void **state)
{
	const struct step steps[] = {
		{ trace_on(), 0, 0 },
		{ call(0x1000, 2), ITRACE_CALL_RESUMED, 0 },
		{ call(0x2000, 1), ITRACE_CALL_CALLED, 1 },
		{ ret(0x3000, 1), ITRACE_CALL_CALLED, 2 },
		{ ret(0x2004, 3), ITRACE_CALL_RETURNED, 1 },
		{ not_taken(0x1008, 1), ITRACE_CALL_RETURNED, 0 },
		{ jump(0x100c, 1), ITRACE_CALL_SAME, 0 },
		{ plain(0x1000, 1), ITRACE_CALL_SAME, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_tail_call_returns_to_the_first_caller(void **state)
{
	const struct step steps[] = {
		{ call(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ jump(0x2000, 1), ITRACE_CALL_CALLED, 1 },
		{ ret(0x3000, 1), ITRACE_CALL_SAME, 1 },
		{ plain(0x1004, 1), ITRACE_CALL_RETURNED, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_missing_returns_are_made_up_for(void **state)
{
	/* longjmp: from two deep straight back to the outermost caller */
	const struct step steps[] = {
		{ call(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ call(0x2000, 1), ITRACE_CALL_CALLED, 1 },
		{ ret(0x3000, 1), ITRACE_CALL_CALLED, 2 },
		{ plain(0x1004, 1), ITRACE_CALL_RETURNED, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_return_to_an_unseen_caller(void **state)
{
	const struct step steps[] = {
		{ ret(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ call(0x5000, 1), ITRACE_CALL_ROOT, 0 },
		{ ret(0x1000, 1), ITRACE_CALL_CALLED, 1 },
		/* not where it was called from */
		{ plain(0x6000, 1), ITRACE_CALL_TAIL, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_return_by_a_plain_branch(void **state)
{
	const struct step steps[] = {
		{ call(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ a64_range(0x2000, 1, ITRACE_INSN_INDIRECT, TAKEN), ITRACE_CALL_CALLED, 1 },
		{ plain(0x1004, 1), ITRACE_CALL_RETURNED, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_exceptions_are_calls(void **state)
{
	const struct step steps[] = {
		{ call(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ plain(0x2000, 1), ITRACE_CALL_CALLED, 1 },
		{ exception(0x0e, 0x2004), 0, 0 },
		{ call(0x8000, 1), ITRACE_CALL_EXCEPTION, 2 },
		/* the handler's callee returns, the handler does */
		{ ret(0x9000, 1), ITRACE_CALL_CALLED, 3 },
		{ eret(0x8004, 1), ITRACE_CALL_RETURNED, 2 },
		{ other(ITRACE_EVENT_EXCEPTION_RETURN, 0), 0, 0 },
		{ ret(0x2004, 1), ITRACE_CALL_RETURNED, 1 },
		{ plain(0x1004, 1), ITRACE_CALL_RETURNED, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_two_exceptions_in_a_row(void **state)
{
	const struct step steps[] = {
		{ plain(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ exception(0x0e, 0x1004), 0, 0 },
		{ exception(0x0f, 0x8000), 0, 0 },
		{ eret(0x8100, 1), ITRACE_CALL_EXCEPTION, 2 },
		{ eret(0x8000, 1), ITRACE_CALL_RETURNED, 1 },
		{ plain(0x1004, 1), ITRACE_CALL_RETURNED, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_scheduler_returns_to_another_thread(void **state)
{
	const struct step steps[] = {
		{ call(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ plain(0x2000, 1), ITRACE_CALL_CALLED, 1 },
		{ exception(0x0e, 0x2004), 0, 0 },
		{ eret(0x8000, 1), ITRACE_CALL_EXCEPTION, 2 },
		{ ret(0x7000, 1), ITRACE_CALL_ROOT, 0 },
	};

	(void)state;
	run(steps, ARRAY_LEN(steps));
}

static void test_loss_keeps_the_callers_but_a_pause_does_not(void **state)
{
	const struct step lost[] = {
		{ call(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ call(0x2000, 1), ITRACE_CALL_CALLED, 1 },
		{ gap(ITRACE_GAP_OVERFLOW, 0), 0, 0 },
		{ other(ITRACE_EVENT_TRACE_ON, ITRACE_TRACE_ON_OVERFLOW), 0, 0 },
		{ ret(0x2008, 1), ITRACE_CALL_RESUMED, 1 },
		{ plain(0x1004, 1), ITRACE_CALL_RETURNED, 0 },
	};
	const struct step paused[] = {
		{ call(0x1000, 1), ITRACE_CALL_RESUMED, 0 },
		{ call(0x2000, 1), ITRACE_CALL_CALLED, 1 },
		{ trace_on(), 0, 0 },
		{ plain(0x2008, 1), ITRACE_CALL_RESUMED, 0 },
	};

	(void)state;
	run(lost, ARRAY_LEN(lost));
	run(paused, ARRAY_LEN(paused));
}

static void test_depth_is_bounded(void **state)
{
	uint64_t depth = 5ull * ITRACE_CALL_DEPTH;

	(void)state;
	itrace_call_tree_init(&tree);
	for (uint64_t i = 0; i <= depth; i++) {
		struct itrace_event event = call(0x1000 * (i + 1), 1);
		itrace_call_tree_range(&tree, &event);
		assert_true(tree.depth <= ITRACE_CALL_DEPTH);
		assert_true(tree.depth + tree.lost == i);
	}
	/* the newest callers are still known */
	struct itrace_event last = ret(0x1000 * (depth + 2), 1);
	struct itrace_event back = plain(0x1000 * (depth + 1) + 4, 1);
	assert_int_equal(itrace_call_tree_range(&tree, &last), ITRACE_CALL_CALLED);
	assert_int_equal(itrace_call_tree_range(&tree, &back), ITRACE_CALL_RETURNED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_and_returns),
		cmocka_unit_test(test_tail_call_returns_to_the_first_caller),
		cmocka_unit_test(test_missing_returns_are_made_up_for),
		cmocka_unit_test(test_return_to_an_unseen_caller),
		cmocka_unit_test(test_return_by_a_plain_branch),
		cmocka_unit_test(test_exceptions_are_calls),
		cmocka_unit_test(test_two_exceptions_in_a_row),
		cmocka_unit_test(test_scheduler_returns_to_another_thread),
		cmocka_unit_test(test_loss_keeps_the_callers_but_a_pause_does_not),
		cmocka_unit_test(test_depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
