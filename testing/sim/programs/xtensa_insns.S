/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Each kind of instruction with many operands, for comparison with another implementation. First those with two
 * operands, for all pairs of some values; then the rest. Results go to an array, that is added up at the end: what was
 * stored is seen, too. Ends in a loop at `done`. a2: next result; a3, a4: operands.
 */

#include "xtensa_encode.h"

	.section .vectors, "ax"
	.global	vectors
vectors:
	.begin	no-transform
	.org	0x1c0			/* level 3 */
	j	on_level3
	.org	0x300
	j	on_exception
	.org	0x340
	j	on_exception
	.org	0x3c0
	j	on_double
	.org	0x400
	.end	no-transform

	.macro	KEEP value
	s32i.n	\value, a2, 0
	addi.n	a2, a2, 4
	.endm

	/* op2, op1: a5 = a3 op a4 */
	.macro	PAIR op2, op1
	movi	a5, 77
	RRR	\op2, \op1, 5, 3, 4
	KEEP	a5
	.endm

	/* a branch on a3 and a4, seen by where it goes */
	.macro	IF insn, operands:vararg
	movi	a5, 1
	\insn	\operands, .Lyes\@
	movi	a5, 2
.Lyes\@:
	KEEP	a5
	.endm

	.text
	.literal .Lvectors, vectors
	.literal .Lresults, results
	.literal .Lvalues, values
	.literal .Lvalues_end, values_end
	.literal .Lmore_end, more_end
	.literal .Lsubroutine, subroutine
	.literal .Lsubroutine2, subroutine2
	.literal .Lfrom2_at, .Lfrom2
	.literal .Lsome, 0x89abcdef
	.begin	no-transform
	.balign	4
code_base:
	.global	_start
	.type	_start, @function
_start:
	l32r	a3, .Lvectors
	wsr	a3, vecbase
	movi	a3, 1
	WSRN	3, 0x49			/* WINDOWSTART */
	movi	a3, 0
	WSRN	3, 0x48			/* WINDOWBASE */
	WSRN	3, 0x02			/* LCOUNT */
	rsync
	l32r	a14, .Lvalues
.Louter:
	l32r	a15, .Lvalues
.Linner:
	l32r	a2, .Lresults
	l32i	a3, a14, 0
	l32i	a4, a15, 0
	call0	pair
	l32r	a6, .Lvalues_end
	addi	a15, a15, 4
	bne	a15, a6, .Linner
	call0	single
	l32r	a6, .Lvalues_end
	addi	a14, a14, 4
	bne	a14, a6, .Louter
	/* more for what has constants */
	l32r	a14, .Lvalues_end
.Lmore:
	l32r	a2, .Lresults
	l32i	a3, a14, 0
	call0	single
	l32r	a6, .Lmore_end
	addi	a14, a14, 4
	bne	a14, a6, .Lmore
	call0	memory
	call0	loops
	call0	calls
	call0	rotation
	call0	exceptions
	call0	sum
	.global	done
done:
	j	done
	.size	_start, . - _start

	.balign	4
	.type	pair, @function
pair:
	and	a5, a3, a4
	KEEP	a5
	or	a5, a3, a4
	KEEP	a5
	xor	a5, a3, a4
	KEEP	a5
	add	a5, a3, a4
	KEEP	a5
	add.n	a5, a3, a4
	KEEP	a5
	addx2	a5, a3, a4
	KEEP	a5
	addx4	a5, a3, a4
	KEEP	a5
	addx8	a5, a3, a4
	KEEP	a5
	sub	a5, a3, a4
	KEEP	a5
	subx2	a5, a3, a4
	KEEP	a5
	subx4	a5, a3, a4
	KEEP	a5
	subx8	a5, a3, a4
	KEEP	a5
	PAIR	12, 1			/* MUL16U, MUL16S, MULL, MULUH, MULSH */
	PAIR	13, 1
	PAIR	8, 2
	PAIR	4, 3			/* MIN, MAX, MINU, MAXU */
	PAIR	5, 3
	PAIR	6, 3
	PAIR	7, 3
	PAIR	8, 3			/* MOVEQZ, MOVNEZ, MOVLTZ, MOVGEZ */
	PAIR	9, 3
	PAIR	10, 3
	PAIR	11, 3
	beqz	a4, .Lundivided
	PAIR	12, 2			/* QUOU, QUOS, REMU, REMS */
	PAIR	13, 2
	PAIR	14, 2
	PAIR	15, 2
.Lundivided:
	ssr	a4
	src	a5, a3, a4
	KEEP	a5
	srl	a5, a3
	KEEP	a5
	sra	a5, a3
	KEEP	a5
	ssl	a4
	sll	a5, a3
	KEEP	a5
	src	a5, a3, a4
	KEEP	a5
	ssa8l	a4
	src	a5, a3, a4
	KEEP	a5
	ssa8b	a4
	sll	a5, a3
	KEEP	a5
	rsr	a5, sar
	KEEP	a5
	IF	beq, a3, a4
	IF	bne, a3, a4
	IF	blt, a3, a4
	IF	bltu, a3, a4
	IF	bge, a3, a4
	IF	bgeu, a3, a4
	IF	bany, a3, a4
	IF	bnone, a3, a4
	IF	ball, a3, a4
	IF	bnall, a3, a4
	IF	bbc, a3, a4
	IF	bbs, a3, a4
	ret
	.size	pair, . - pair

	.balign	4
	.type	single, @function
single:
	neg	a5, a3
	KEEP	a5
	abs	a5, a3
	KEEP	a5
	nsa	a5, a3
	KEEP	a5
	nsau	a5, a3
	KEEP	a5
	.irp	bit, 7, 8, 12, 15, 16, 22
	SIGNED	2, 5, 3, \bit
	KEEP	a5
	SIGNED	3, 5, 3, \bit
	KEEP	a5
	.endr
	.irp	n, 1, 4, 15, 16, 17, 31
	slli	a5, a3, \n
	KEEP	a5
	srai	a5, a3, \n
	KEEP	a5
	ssai	\n
	sra	a5, a3
	KEEP	a5
	src	a5, a3, a4
	KEEP	a5
	extui	a5, a3, \n, 1
	KEEP	a5
	.endr
	.irp	n, 0, 1, 7, 15
	srli	a5, a3, \n
	KEEP	a5
	extui	a5, a3, \n, \n + 1
	KEEP	a5
	extui	a5, a3, 16 - \n, 16
	KEEP	a5
	.endr
	.irp	n, -128, -1, 1, 127
	addi	a5, a3, \n
	KEEP	a5
	addmi	a5, a3, \n * 256
	KEEP	a5
	.endr
	.irp	n, -1, 1, 15
	addi.n	a5, a3, \n
	KEEP	a5
	.endr
	.irp	n, -2048, -33, -32, -1, 0, 95, 96, 2047
	movi	a5, \n
	KEEP	a5
	.endr
	.irp	n, -32, -1, 0, 31, 32, 95
	movi.n	a5, \n
	KEEP	a5
	.endr
	mov.n	a5, a3
	KEEP	a5
	nop
	nop.n
	IF	beqz, a3
	IF	bnez, a3
	IF	bltz, a3
	IF	bgez, a3
	IF	beqz.n, a3
	IF	bnez.n, a3
	.irp	n, 0, 1, 15, 16, 30, 31
	IF	bbci, a3, \n
	IF	bbsi, a3, \n
	.endr
	.irp	n, -1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256
	IF	beqi, a3, \n
	IF	bnei, a3, \n
	IF	blti, a3, \n
	IF	bgei, a3, \n
	.endr
	.irp	n, 32768, 65536, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256
	IF	bltui, a3, \n
	IF	bgeui, a3, \n
	.endr
	ret
	.size	single, . - single

	.balign	4
	.type	memory, @function
memory:
	l32r	a3, .Lresults
	l32r	a4, .Lsome
	s32i	a4, a3, 128
	s32i	a4, a3, 256
	l8ui	a5, a3, 255
	l8ui	a5, a3, 252
	l8ui	a6, a3, 129
	l16ui	a7, a3, 256
	l16si	a8, a3, 256
	l16si	a9, a3, 258
	l16ui	a10, a3, 258
	s8i	a5, a3, 131
	l32i	a11, a3, 128
	l32i	a5, a3, 256
	s16i	a6, a3, 256
	l32i	a6, a3, 256
	s32i.n	a6, a3, 60
	l32i.n	a7, a3, 60
	S32RI	7, 3, 1020
	L32AI	8, 3, 1020
	memw
	extw
	isync
	dsync
	esync
	excw
	/* compare and swap: once it is not equal, once it is */
	movi	a9, 0x15
	WSRN	9, 0x63			/* ATOMCTL: allowed for all kinds of memory */
	movi	a9, 55
	mov	a10, a9
	WSRN	9, 0x0c			/* SCOMPARE1 */
	S32C1I	10, 3, 256
	l32i	a11, a3, 256
	WSRN	10, 0x0c
	S32C1I	9, 3, 256
	l32i	a11, a3, 256
	xsr	a11, excsave1
	rsr	a12, excsave1
	xsr	a11, excsave1
	ret
	.size	memory, . - memory

	.balign	4
	.type	loops, @function
loops:
	movi	a3, 0
	movi	a4, 5
	LOOPS	8, 4, .Lend1
	addi	a3, a3, 3
	KEEP	a3
.Lend1:
	movi	a4, 0
	LOOPS	9, 4, .Lend2		/* not at all */
	addi	a3, a3, 5
	KEEP	a3
.Lend2:
	movi	a4, -3
	LOOPS	10, 4, .Lend3		/* not at all */
	addi	a3, a3, 7
	KEEP	a3
.Lend3:
	movi	a4, 3
	LOOPS	10, 4, .Lend4
	addi	a3, a3, 11
	bbsi	a3, 0, .Lskip		/* to the last instruction */
	addi	a3, a3, 1
.Lskip:
	nop
.Lend4:
	movi	a4, 4
	LOOPS	9, 4, .Lend5		/* left early */
	addi	a3, a3, 1
	beqi	a3, 32, .Lend5
	nop.n
.Lend5:
	movi	a4, 2
	LOOPS	8, 4, .Lend6		/* a long way back */
	.rept	40
	addi	a3, a3, 1
	xor	a3, a3, a4
	.endr
.Lend6:
	RSRN	5, 0x00
	RSRN	6, 0x01
	RSRN	7, 0x02
	ret
	.size	loops, . - loops

	.balign	4
	.type	calls, @function
calls:
	mov	a12, a0
	call0	subroutine
	l32r	a5, .Lsubroutine
	callx0	a5
	l32r	a5, .Lsubroutine2
	jx	a5
	.balign	4
back:
	mov	a0, a12
	ret.n
	.size	calls, . - calls

	.balign	4
subroutine:
	addi	a3, a3, 1
	mov	a4, a0
	ret.n

	.balign	4
subroutine2:
	addi	a3, a3, 1
	j	back

	/* PS.EXCM is set since the beginning: no window exceptions. With 32 registers, too, a0 is not touched. */
	.balign	4
	.type	rotation, @function
rotation:
	ROTW	1
	movi	a8, 112
	ROTW	4
	movi	a8, 113
	ROTW	-5
	ROTW	-5
	movi	a7, 5
	RSRN	4, 0x48
	XSRN	7, 0x48			/* from pane 3 to 5: a7 of pane 3 gets 3 */
	RSRN	5, 0x48
	movi	a3, 0
	WSRN	3, 0x48
	rsync
	ret
	.size	rotation, . - rotation

	/* exceptions and what they leave behind; the handlers go on with the instruction behind */
	.balign	4
	.type	exceptions, @function
exceptions:
	mov	a12, a0
	movi	a3, 0x10
	wsr	a3, ps			/* EXCM alone */
	rsync
	syscall				/* double */
	KEEP	a8
	movi	a3, 0
	wsr	a3, ps
	rsync
	syscall
	KEEP	a8
	movi	a3, 0x20
	wsr	a3, ps			/* user vector */
	rsync
	syscall
	KEEP	a8
	.byte	0, 0, 0			/* illegal */
	KEEP	a8
	movi	a4, 0
	PAIR	12, 2			/* by zero */
	PAIR	15, 2
	KEEP	a8
	ENTRY	1, 16			/* illegal without PS.WOE */
	KEEP	a8
	rsil	a5, 3
	KEEP	a5
	rsr	a5, ps
	KEEP	a5
	/* return as from level 2 */
	l32r	a5, .Lfrom2_at
	wsr	a5, epc2
	movi	a6, 0x21
	wsr	a6, eps2
	rfi	2
	movi	a5, 99
.Lfrom2:
	rsr	a5, ps
	KEEP	a5
	/* software interrupts of level 1 and level 3 */
	movi	a3, 0
	wsr	a3, ps
	movi	a3, 0x80
	wsr	a3, intenable
	rsync
	wsr	a3, intset
	rsync
	nop
	KEEP	a8
	slli	a3, a3, 4
	wsr	a3, intenable
	rsync
	wsr	a3, intset
	rsync
	nop
	KEEP	a8
	mov	a0, a12
	ret
	.size	exceptions, . - exceptions

	.balign	4
on_exception:
	rsr	a8, exccause
	KEEP	a8
	beqi	a8, 4, .Linterrupt
	rsr	a8, epc1
	addi	a8, a8, 3
	wsr	a8, epc1
	rsr	a8, ps
	rfe
.Linterrupt:
	movi	a8, 0x80
	wsr	a8, intclear
	rsr	a8, epc1
	rfe

	.balign	4
on_double:
	rsr	a8, exccause
	KEEP	a8
	rsr	a8, depc
	addi	a8, a8, 3
	wsr	a8, depc
	rsr	a8, ps
	rfde

	.balign	4
on_level3:
	rsr	a8, epc3
	KEEP	a8
	rsr	a8, eps3
	KEEP	a8
	rsr	a8, ps
	KEEP	a8
	movi	a8, 0x7ff
	addi	a8, a8, 1
	wsr	a8, intclear
	rsync
	rfi	3

	.balign	4
	.type	sum, @function
sum:
	l32r	a3, .Lresults
	movi	a4, 0
	movi	a5, 0x200
.Lsum:
	l32i	a6, a3, 0
	addx2	a4, a4, a6
	addi	a3, a3, 4
	addi	a5, a5, -1
	bnez	a5, .Lsum
	ret
	.size	sum, . - sum
	.end	no-transform

	.data
	.balign	4
values:
	.word	0, 1, -1, 2, 31, 32, 33, -32, 0x7f, -0x80, 0x7fff, -0x8000, 0x10000
	.word	0x7fffffff, 0x80000000, 0x12345678, 0xfedcba98, 0x55555555, 0x8000, 65535
values_end:
	.word	-2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 17, 63, 64, 100, 127, 128, 129, 255, 256, 257, 32767, 32769, 65537
more_end:

	.bss
	.balign	16
	.global	results
results:
	.space	0x1000
