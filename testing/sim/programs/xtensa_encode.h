/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Instructions that the lx106 assembler lacks, as bytes. Registers are numbers here. The assembler does not see these
 * as instructions, so it must not be allowed to move or change what is around them: .begin no-transform.
 */

/* three operands, r = s op t */
.macro RRR op2, op1, r, s, t
	.byte	(\t) << 4, (\r) << 4 | (\s), (\op2) << 4 | (\op1)
.endm

.macro ENTRY s, frame
	.byte	0x36, ((\frame) / 8 & 15) << 4 | (\s), (\frame) / 8 >> 4
.endm

/* CALL4, CALL8, CALL12 by panes = 1, 2, 3; the target is aligned to 4, `code_base` is a label in the same section */
.macro CALLW panes, target
.Lcall\@:
	.byte	5 | (\panes) << 4 | ((((\target - code_base) >> 2) - ((.Lcall\@ - code_base) >> 2) - 1) & 3) << 6
	.byte	((((\target - code_base) >> 2) - ((.Lcall\@ - code_base) >> 2) - 1) >> 2) & 255
	.byte	((((\target - code_base) >> 2) - ((.Lcall\@ - code_base) >> 2) - 1) >> 10) & 255
.endm

.macro CALLXW panes, s
	.byte	0xc0 | (\panes) << 4, \s, 0
.endm

.macro RETW
	.byte	0x90, 0, 0
.endm

.macro RETW_N
	.byte	0x1d, 0xf0
.endm

.macro MOVSP t, s
	.byte	(\t) << 4, 0x10 | (\s), 0
.endm

.macro ROTW panes
	.byte	((\panes) & 15) << 4, 0x80, 0x40
.endm

.macro RFWO
	.byte	0, 0x34, 0
.endm

.macro RFWU
	.byte	0, 0x35, 0
.endm

/* offset: -64 to -4 */
.macro L32E t, s, offset
	RRR	0, 9, ((\offset) + 64) / 4, \s, \t
.endm

.macro S32E t, s, offset
	RRR	4, 9, ((\offset) + 64) / 4, \s, \t
.endm

/* LOOP, LOOPNEZ, LOOPGTZ by kind = 8, 9, 10 */
.macro LOOPS kind, s, end
.Lloop\@:
	.byte	0x76, (\kind) << 4 | (\s), \end - .Lloop\@ - 4
.endm

/* RSR, WSR, XSR of a special register by number */
.macro RSRN t, sr
	.byte	(\t) << 4, \sr, 0x03
.endm

.macro WSRN t, sr
	.byte	(\t) << 4, \sr, 0x13
.endm

.macro XSRN t, sr
	.byte	(\t) << 4, \sr, 0x61
.endm

.macro S32C1I t, s, offset
	.byte	(\t) << 4 | 2, 0xe0 | (\s), (\offset) / 4
.endm

.macro L32AI t, s, offset
	.byte	(\t) << 4 | 2, 0xb0 | (\s), (\offset) / 4
.endm

.macro S32RI t, s, offset
	.byte	(\t) << 4 | 2, 0xf0 | (\s), (\offset) / 4
.endm

/* SEXT and CLAMPS by op2 = 2, 3; the sign is bit 7 to 22 */
.macro SIGNED op2, r, s, bit
	RRR	\op2, 3, \r, \s, (\bit) - 7
.endm
