/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Entry of the Xtensa programs: nothing is set up but the stack. Memory that no file fills is zero in the simulator. */

	.section .text.start, "ax"
	.align	4
	.global	_start
	.type	_start, @function
_start:
	movi	a1, stack_top
	call0	main
.Lend:
	j	.Lend
	.size	_start, . - _start
