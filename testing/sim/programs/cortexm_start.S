/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Vectors and reset. A handler that a program does not have stops it for ever in `unexpected`. */

	.syntax unified
	.thumb

	.macro handler name
	.weak \name
	.thumb_set \name, unexpected
	.word \name
	.endm

	.section .vectors, "a"
	.global vectors
vectors:
	.word __stack
	.word reset
	handler on_nmi
	handler on_hardfault
	handler on_memmanage
	handler on_busfault
	handler on_usagefault
	.word 0, 0, 0, 0
	handler on_svc
	handler on_debugmon
	.word 0
	handler on_pendsv
	handler on_systick
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	handler on_irq\n
	.endr
	.rept 24
	.word unexpected
	.endr

	.text
	.global reset
	.type reset, %function
	.thumb_func
reset:
	movs r0, #0
	ldr r1, =__bss_start
	ldr r2, =__bss_end
1:	cmp r1, r2
	bhs 2f
	str r0, [r1]
	adds r1, #4
	b 1b
2:	bl main
	.global done
	.type done, %function
	.thumb_func
done:
	b done
	.size reset, . - reset

	.global unexpected
	.type unexpected, %function
	.thumb_func
unexpected:
	b unexpected
	.size unexpected, . - unexpected
