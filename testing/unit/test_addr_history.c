// SPDX-License-Identifier: GPL-2.0-or-later

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <itrace/addr_history.h>

static void low_bits_are_replaced(void **state)
{
	static const struct { uint64_t before, low; unsigned int bits; uint64_t after; } rows[] = {
		{ 0x69538, 0x9ec0, 17, 0x69ec0 },		/* ete-protocol, worked example 17 */
		{ 0x63d28, 0x12c, 9, 0x63d2c },			/* 18 */
		{ 0xa500000040100a48, 0x120, 9, 0xa500000040100b20 },	/* 45 */
		{ 0xffffffc000109ea4, 0x0010609c, 32, 0xffffffc00010609c },
		{ 0x1234, 0x56, 8, 0x1256 },
		{ 0x12345678, 0xabcd, 16, 0x1234abcd },
		{ 0x1234, 0xa500000040100a48, 64, 0xa500000040100a48 },
		{ ~(uint64_t)0, 0, 9, ~(uint64_t)0x1ff },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct itrace_addr_history history;
		memset(&history, 0xcd, sizeof(history));
		itrace_addr_history_reset(&history);
		itrace_addr_history_push(&history, rows[i].before, 1);
		assert_true(itrace_addr_history_update(&history, rows[i].low, rows[i].bits, 0) == rows[i].after);
		assert_true(history.addr[0] == rows[i].after);
		assert_true(history.addr[1] == rows[i].before);
		assert_int_equal(history.is[0], 0);
		assert_int_equal(history.is[1], 1);
	}
}

static void three_are_kept(void **state)
{
	struct itrace_addr_history history;

	(void)state;
	itrace_addr_history_reset(&history);
	for (unsigned int i = 1; i <= 4; i++)
		itrace_addr_history_push(&history, 0x1000 * i, i & 1);
	assert_true(history.addr[0] == 0x4000 && history.addr[1] == 0x3000 && history.addr[2] == 0x2000);
	assert_true(!history.is[0] && history.is[1] && !history.is[2]);
	itrace_addr_history_reset(&history);
	assert_true(!history.addr[0] && !history.addr[1] && !history.addr[2] && !history.is[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(low_bits_are_replaced),
		cmocka_unit_test(three_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
