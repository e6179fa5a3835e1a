// SPDX-License-Identifier: GPL-2.0-or-later

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <itrace/ledger.h>

static const struct itrace_event events[] = {
	{ .off = 1, .addr = 0x1000, .count = 5, .kind = ITRACE_EVENT_RANGE },
	{ .off = 2, .addr = 0x2000, .count = 7, .kind = ITRACE_EVENT_RANGE_NO_PATH },
	{ .off = 3, .addr = 0x3000, .count = 4, .kind = ITRACE_EVENT_GAP, .cause = ITRACE_GAP_NO_MEMORY },
	{ .off = 4, .addr = 0x4000, .count = 2, .kind = ITRACE_EVENT_GAP, .cause = ITRACE_GAP_NO_MEMORY },
	{ .off = 5, .kind = ITRACE_EVENT_GAP, .cause = ITRACE_GAP_OVERFLOW },
	{ .off = 6, .kind = ITRACE_EVENT_EXCEPTION },
	{ .off = 7, .kind = 0xee },
};

static void events_are_counted(void **state)
{
	struct itrace_ledger ledger, sum;

	(void)state;
	itrace_ledger_init(&ledger);
	itrace_ledger_count(&ledger, NULL, 0);
	itrace_ledger_count(&ledger, events, sizeof(events) / sizeof(events[0]));
	assert_int_equal(ledger.instruction_count, 5);
	assert_int_equal(ledger.unknown_path_count, 7);
	assert_int_equal(ledger.gap_count[ITRACE_GAP_NO_MEMORY], 2);
	assert_int_equal(ledger.gap_first_off[ITRACE_GAP_NO_MEMORY], 3);
	assert_int_equal(ledger.gap_first_addr[ITRACE_GAP_NO_MEMORY], 0x3000);
	assert_int_equal(ledger.gap_first_detail[ITRACE_GAP_NO_MEMORY], 4);
	assert_int_equal(itrace_ledger_gaps(&ledger), 3);
	assert_int_equal(ledger.event_count[ITRACE_EVENT_EXCEPTION], 1);

	/* the first gap stays the first */
	itrace_ledger_init(&sum);
	itrace_ledger_count(&sum, &events[4], 1);
	ledger.gap_first_off[ITRACE_GAP_OVERFLOW] = 99;
	itrace_ledger_add(&sum, &ledger);
	assert_int_equal(sum.gap_first_off[ITRACE_GAP_OVERFLOW], 5);
	assert_int_equal(sum.gap_first_off[ITRACE_GAP_NO_MEMORY], 3);
	assert_int_equal(itrace_ledger_gaps(&sum), 4);
}

static void every_byte_has_one_place(void **state)
{
	struct itrace_ledger ledger;

	(void)state;
	itrace_ledger_init(&ledger);
	assert_true(itrace_ledger_balances(&ledger));
	ledger.trace_len = 10;
	assert_false(itrace_ledger_balances(&ledger));
	ledger.decoded_len = 4;
	ledger.padding_len = 3;
	ledger.unsynced_len = 2;
	ledger.skipped_len = 1;
	assert_true(itrace_ledger_balances(&ledger));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_counted),
		cmocka_unit_test(every_byte_has_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
