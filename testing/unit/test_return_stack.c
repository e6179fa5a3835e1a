// SPDX-License-Identifier: GPL-2.0-or-later

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <itrace/return_stack.h>

static void last_in_first_out(void **state)
{
	struct itrace_return_stack stack;
	uint64_t addr = 1;
	uint8_t isa = 7;

	(void)state;
	memset(&stack, 0xcd, sizeof(stack));
	itrace_return_stack_flush(&stack);
	assert_false(itrace_return_stack_pop(&stack, &addr, &isa));
	assert_true(addr == 1 && isa == 7);
	itrace_return_stack_push(&stack, 0x1000, 0);
	itrace_return_stack_push(&stack, 0x2000, 2);
	assert_true(itrace_return_stack_pop(&stack, &addr, &isa));
	assert_true(addr == 0x2000 && isa == 2);
	assert_true(itrace_return_stack_pop(&stack, &addr, &isa));
	assert_true(addr == 0x1000 && isa == 0);
	assert_false(itrace_return_stack_pop(&stack, &addr, &isa));
}

static void a_full_one_forgets_the_oldest(void **state)
{
	struct itrace_return_stack stack;
	uint64_t addr;
	uint8_t isa;

	(void)state;
	itrace_return_stack_flush(&stack);
	for (unsigned int i = 0; i < ITRACE_RETURN_STACK_NUM + 3; i++)
		itrace_return_stack_push(&stack, i, 0);
	for (unsigned int i = ITRACE_RETURN_STACK_NUM + 2; i >= 3; i--) {
		assert_true(itrace_return_stack_pop(&stack, &addr, &isa));
		assert_int_equal(addr, i);
	}
	assert_false(itrace_return_stack_pop(&stack, &addr, &isa));
	itrace_return_stack_push(&stack, 5, 0);
	itrace_return_stack_flush(&stack);
	assert_false(itrace_return_stack_pop(&stack, &addr, &isa));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_in_first_out),
		cmocka_unit_test(a_full_one_forgets_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
