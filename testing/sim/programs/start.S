/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Entry, end and exception handlers of the demo. The simulator enters a handler as an exception would and restores the
 * interrupted state at ERET.
 */

	.section .text.start, "ax"
	.global _start
	.type _start, %function
_start:
	adrp	x0, stack_top
	add	x0, x0, :lo12:stack_top
	mov	sp, x0
	mov	x29, xzr
	mov	x30, xzr
	bl	main
	.size _start, . - _start

	/* The simulator stops here. */
	.global demo_stop
	.type demo_stop, %function
demo_stop:
	b	demo_stop
	.size demo_stop, . - demo_stop

	.global irq_entry
	.type irq_entry, %function
irq_entry:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	irq_tick
	ldp	x29, x30, [sp], #16
	eret
	.size irq_entry, . - irq_entry

	/* x0: character to write */
	.global svc_entry
	.type svc_entry, %function
svc_entry:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	svc_write
	ldp	x29, x30, [sp], #16
	eret
	.size svc_entry, . - svc_entry

	/* void put_char(char) */
	.global put_char
	.type put_char, %function
put_char:
	svc	#1
	ret
	.size put_char, . - put_char
