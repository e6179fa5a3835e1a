/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A loop with a period that can be chosen: one pass through spin_a, spin_b, spin_c and spin_rest takes exactly
 * `period_cycles` cycles of the interpreter, from 62 on; with less it is 55. The word is read once in each pass; the
 * host may write it at any time, and the next pass has the new period. There are no interrupts, so nothing else takes
 * time: the k-th pass after a change begins exactly k periods later. `passes` counts them.
 *
 * Cycles of a pass, each function with its return: spin_a 9, spin_b 14, spin_c 6, the loop itself 19, the rest in
 * spin_rest, of that 10 fixed. A jump, call, return or taken branch takes 3, everything else 1.
 */

#define FIXED	(19 + 9 + 14 + 6 + 10)

	.text
	.literal .Lperiod, period_cycles
	.literal .Lpasses, passes
	.literal .Lstack, stack_top
	.begin	no-transform

	.macro	FUNCTION name
	.balign	4
	.global	\name
	.type	\name, @function
\name:
	.endm

	FUNCTION _start
	l32r	a1, .Lstack
	l32r	a12, .Lperiod
	l32r	a13, .Lpasses
	movi	a3, 1
	j	spin_main
	.size	_start, . - _start

	FUNCTION spin_main
	l32i	a2, a12, 0
	call0	spin_a
	call0	spin_b
	call0	spin_c
	call0	spin_rest
	l32i	a4, a13, 0
	addi	a4, a4, 1
	s32i	a4, a13, 0
	j	spin_main
	.size	spin_main, . - spin_main

	/* 6 and 3 */
	FUNCTION spin_a
	slli	a4, a3, 13
	xor	a3, a3, a4
	extui	a4, a3, 16, 16
	xor	a3, a3, a4
	slli	a4, a3, 5
	xor	a3, a3, a4
	ret
	.size	spin_a, . - spin_a

	/* 11 and 3 */
	FUNCTION spin_b
	movi	a5, 1
	.rept	5
	addx2	a5, a5, a3
	xor	a3, a3, a5
	.endr
	ret
	.size	spin_b, . - spin_b

	/* 3 and 3 */
	FUNCTION spin_c
	addi	a3, a3, 1
	neg	a3, a3
	addi	a3, a3, 77
	ret
	.size	spin_c, . - spin_c

	/* The rest: how many times 4 by a loop, and 0 to 3 by branches that are taken or not. */
	FUNCTION spin_rest
	addi	a6, a2, -FIXED
	blti	a6, 4, .Ldone
	bbci	a6, 0, .Leven		/* 3, or 4 with what follows */
	nop
	nop
	nop
.Leven:
	bbci	a6, 1, .Lfourth		/* 3, or 5 with what follows */
	nop
	nop
	nop
	nop
.Lfourth:
	srli	a6, a6, 2
.Lwait:
	addi	a6, a6, -1		/* 4 for each, but 2 for the last */
	bnez	a6, .Lwait
.Ldone:
	ret
	.size	spin_rest, . - spin_rest
	.end	no-transform

	.data
	.balign	4
	.global	period_cycles, passes
	.type	period_cycles, @object
	.type	passes, @object
period_cycles:
	.word	1000
	.size	period_cycles, 4
passes:
	.word	0
	.size	passes, 4
