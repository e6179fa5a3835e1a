/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The trace unit's return stack, mirrored: a return to the address on its top is traced without an address.
 *
 * A push onto a full stack overwrites the oldest entry. Source: DDI 0487 D5 "return stack".
 */

#ifndef OPENOCD_ITRACE_RETURN_STACK_H
#define OPENOCD_ITRACE_RETURN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define ITRACE_RETURN_STACK_NUM	16	/* the architecture allows a trace unit at most 15 */

struct itrace_return_stack {
	uint64_t addr[ITRACE_RETURN_STACK_NUM];
	uint8_t isa[ITRACE_RETURN_STACK_NUM];
	uint8_t top;	/* next free slot */
	uint8_t count;	/* entries, at most ITRACE_RETURN_STACK_NUM */
};

static inline void itrace_return_stack_flush(struct itrace_return_stack *stack)
{
	stack->top = 0;
	stack->count = 0;
}

static inline void itrace_return_stack_push(struct itrace_return_stack *stack, uint64_t addr, uint8_t isa)
{
	stack->addr[stack->top] = addr;
	stack->isa[stack->top] = isa;
	stack->top = (stack->top + 1) % ITRACE_RETURN_STACK_NUM;
	if (stack->count < ITRACE_RETURN_STACK_NUM)
		stack->count++;
}

/* @returns false when the stack is empty: *addr and *isa are then untouched. */
static inline bool itrace_return_stack_pop(struct itrace_return_stack *stack, uint64_t *addr, uint8_t *isa)
{
	if (!stack->count)
		return false;
	stack->top = (stack->top + ITRACE_RETURN_STACK_NUM - 1) % ITRACE_RETURN_STACK_NUM;
	stack->count--;
	*addr = stack->addr[stack->top];
	*isa = stack->isa[stack->top];
	return true;
}

#endif /* OPENOCD_ITRACE_RETURN_STACK_H */
