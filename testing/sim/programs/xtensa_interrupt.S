/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Interrupts of level 1 for programs in C: they go to `void on_interrupt(void)`, with the registers that C may change
 * saved. `void interrupts_start(uint32_t mask)` sets VECBASE, enables interrupts and lets them in. Any other exception
 * stays in `unexpected`.
 */

	.section .vectors, "ax"
	.global	vectors
vectors:
	.begin	no-transform
	.org	0x300
	j	unexpected
	.org	0x340
	j	interrupt_entry
	.org	0x3c0
	j	unexpected
	.org	0x400
	.end	no-transform

	.text
	.literal_position
	.align	4
	.global	unexpected
	.type	unexpected, @function
unexpected:
	j	unexpected
	.size	unexpected, . - unexpected

	.align	4
	.type	interrupt_entry, @function
interrupt_entry:
	addi	a1, a1, -64
	s32i	a0, a1, 0
	rsr	a0, exccause
	bnei	a0, 4, unexpected	/* no interrupt of level 1 */
	.irp	n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	s32i	a\n, a1, 4 * \n
	.endr
	rsr	a3, sar
	s32i	a3, a1, 48
	call0	on_interrupt
	l32i	a3, a1, 48
	wsr	a3, sar
	.irp	n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	l32i	a\n, a1, 4 * \n
	.endr
	l32i	a0, a1, 0
	addi	a1, a1, 64
	rfe
	.size	interrupt_entry, . - interrupt_entry

	.align	4
	.global	interrupts_start
	.type	interrupts_start, @function
interrupts_start:
	movi	a3, vectors
	wsr	a3, vecbase
	wsr	a2, intenable
	movi	a3, 0x20		/* PS.UM: user vector */
	wsr	a3, ps
	rsync
	ret
	.size	interrupts_start, . - interrupts_start
