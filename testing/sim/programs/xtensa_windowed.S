/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A program with register windows: recursion that goes round all of the registers, so that overflow and underflow
 * handlers have to do their part. Each round's result is known; `rounds` and `errors` count, as in xtensa_profile.c.
 * A3 holds something that matters at any depth. The window instructions are bytes: the assembler at hand has none.
 */

#include "xtensa_encode.h"

#define PS_WOE		0x40000

/*
 * EXPECTED is what a round gives, worked out elsewhere from fibonacci(10), 2 * (1 + ... + 40), mix of 100, climb(12):
 * see w_round.
 */
#define FIBONACCI_OF	10
#define SUM_OF		40
#define MIX_OF		100
#define CLIMB_OF	12
#define EXPECTED	0x6154caec

	.macro	HANDLER name
	.global	\name
	.type	\name, @function
\name:
	.endm

	.macro	END name
	.size	\name, . - \name
	.endm

	.section .vectors, "ax"
	.global	vectors
vectors:
	.begin	no-transform
	.org	0x000			/* overflow of 4 */
	HANDLER w_overflow4
	S32E	0, 5, -16
	S32E	1, 5, -12
	S32E	2, 5, -8
	S32E	3, 5, -4
	RFWO
	END	w_overflow4
	.org	0x040			/* underflow of 4 */
	HANDLER w_underflow4
	L32E	0, 5, -16
	L32E	1, 5, -12
	L32E	2, 5, -8
	L32E	3, 5, -4
	RFWU
	END	w_underflow4
	.org	0x080			/* overflow of 8: a4 to a7 go below the caller's frame */
	HANDLER w_overflow8
	S32E	0, 9, -16
	L32E	0, 1, -12
	S32E	1, 9, -12
	S32E	2, 9, -8
	S32E	3, 9, -4
	S32E	4, 0, -32
	S32E	5, 0, -28
	S32E	6, 0, -24
	S32E	7, 0, -20
	RFWO
	END	w_overflow8
	.org	0x0c0			/* underflow of 8 */
	HANDLER w_underflow8
	L32E	0, 9, -16
	L32E	1, 9, -12
	L32E	2, 9, -8
	L32E	7, 1, -12
	L32E	3, 9, -4
	L32E	4, 7, -32
	L32E	5, 7, -28
	L32E	6, 7, -24
	L32E	7, 7, -20
	RFWU
	END	w_underflow8
	.org	0x100			/* overflow of 12 */
	HANDLER w_overflow12
	S32E	0, 13, -16
	L32E	0, 1, -12
	S32E	1, 13, -12
	S32E	2, 13, -8
	S32E	3, 13, -4
	S32E	4, 0, -48
	S32E	5, 0, -44
	S32E	6, 0, -40
	S32E	7, 0, -36
	S32E	8, 0, -32
	S32E	9, 0, -28
	S32E	10, 0, -24
	S32E	11, 0, -20
	RFWO
	END	w_overflow12
	.org	0x140			/* underflow of 12 */
	HANDLER w_underflow12
	L32E	0, 13, -16
	L32E	1, 13, -12
	L32E	2, 13, -8
	L32E	11, 1, -12
	L32E	3, 13, -4
	L32E	4, 11, -48
	L32E	5, 11, -44
	L32E	6, 11, -40
	L32E	7, 11, -36
	L32E	8, 11, -32
	L32E	9, 11, -28
	L32E	10, 11, -24
	L32E	11, 11, -20
	RFWU
	END	w_underflow12
	.org	0x300			/* any exception is an error, and ends the program */
	j	unexpected
	.org	0x340
	j	unexpected
	.org	0x3c0
	j	unexpected
	.org	0x400
	.end	no-transform

	.macro	FUNCTION name, frame
	.balign	4
	.global	\name
	.type	\name, @function
\name:
	ENTRY	1, \frame
	.endm

	.text
	.literal .Lstack, stack_top
	.literal .Lps, PS_WOE
	.literal .Lvectors, vectors
	.literal .Lrounds, rounds
	.literal .Lerrors, errors
	.literal .Lw_round, w_round
	.literal .Lexpected, EXPECTED
	.begin	no-transform
	.balign	4
code_base:
	.global	_start
	.type	_start, @function
_start:
	l32r	a3, .Lvectors
	wsr	a3, vecbase
	movi	a3, 0
	WSRN	3, 0x48			/* WINDOWBASE */
	movi	a3, 1
	WSRN	3, 0x49			/* WINDOWSTART */
	rsync
	/* The stack begins below a save area for a4 to a11; where that ends is said as in a frame called from there. */
	l32r	a2, .Lstack
	addi	a1, a2, -80
	s32i	a2, a1, 4
	addi	a1, a1, 16
	l32r	a2, .Lps
	wsr	a2, ps
	rsync
	l32r	a6, .Lrounds
	l32r	a7, .Lerrors
.Lagain:
	l32r	a10, .Lw_round
	CALLXW	2, 10
	l32r	a3, .Lexpected
	beq	a3, a10, .Lright
	l32i	a3, a7, 0
	addi	a3, a3, 1
	s32i	a3, a7, 0
.Lright:
	l32i	a3, a6, 0
	addi	a3, a3, 1
	s32i	a3, a6, 0
	j	.Lagain
	END	_start

	.global	unexpected
	.type	unexpected, @function
unexpected:
	l32r	a2, .Lerrors
	movi	a3, 1000
	s32i	a3, a2, 0
.Lstay:
	j	.Lstay
	END	unexpected

	/* a2 = (((fibonacci * 31) + sum) * 31 + mix) * 31 + climb */
	FUNCTION w_round, 48
	movi	a3, 31
	movi	a10, FIBONACCI_OF
	CALLW	2, w_fibonacci
	mull	a4, a10, a3
	movi	a6, SUM_OF
	s32i	a4, a1, 0		/* CALL4 leaves nothing but a0 to a3 alone */
	CALLW	1, w_sum
	l32i	a4, a1, 0
	add	a5, a4, a6
	mull	a5, a5, a3
	movi	a10, MIX_OF
	CALLW	2, w_mix
	add	a5, a5, a10
	mull	a5, a5, a3
	movi	a14, CLIMB_OF
	CALLW	3, w_climb
	add	a2, a5, a14
	RETW
	END	w_round

	/* by CALL8: a3 and a7 have to survive */
	FUNCTION w_fibonacci, 48
	mov	a3, a2
	blti	a2, 2, .Lfew
	addi	a10, a2, -1
	mov	a7, a2
	CALLW	2, w_fibonacci
	mov	a4, a10
	addi	a10, a3, -2
	CALLW	2, w_fibonacci
	add	a2, a4, a10
	/* both copies of the argument are the same, or the result is wrong */
	sub	a5, a7, a3
	add	a2, a2, a5
.Lfew:
	RETW_N
	END	w_fibonacci

	/* by CALL4: 2 + 4 + ... + 2 * a2 */
	FUNCTION w_sum, 32
	slli	a3, a2, 1
	beqz	a2, .Lnone
	addi	a6, a2, -1
	CALLW	1, w_sum
	add	a2, a6, a3
.Lnone:
	RETW
	END	w_sum

	/* a2 times: a3 = a3 * 5 ^ a2 */
	FUNCTION w_mix, 32
	MOVSP	4, 1
	sub	a3, a4, a1
	LOOPS	8, 2, .Lmixed
	addx4	a3, a3, a3
	xor	a3, a3, a2
	addi	a2, a2, -1
.Lmixed:
	mov	a2, a3
	RETW
	END	w_mix

	/* by CALL12: climb(n) = 3 * climb(n - 1) + n * n + (n ^ 85), climb(0) = 7 */
	FUNCTION w_climb, 64
	mull	a3, a2, a2
	movi	a4, 85
	xor	a11, a2, a4
	movi	a14, 7
	beqz	a2, .Lground
	addi	a14, a2, -1
	CALLW	3, w_climb
	addx2	a14, a14, a14
	add	a14, a14, a3
	add	a14, a14, a11
.Lground:
	mov	a2, a14
	RETW
	END	w_climb
	.end	no-transform

	.data
	.balign	4
	.global	rounds, errors
	.type	rounds, @object
	.type	errors, @object
rounds:
	.word	0
	.size	rounds, 4
errors:
	.word	0
	.size	errors, 4
