// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Which A32 instructions are waypoints, and where the direct ones go.
 *
 * Encodings: DDI 0487 F4.1, DDI 0406 A5. Should-be-zero and should-be-one bits are not looked at: what a core makes
 * of other values there is still that instruction, a NOP or an exception. UNPREDICTABLE forms that write the PC
 * from an instruction which cannot branch (multiplies, halfword and unprivileged loads, register-shifted register
 * operations) are not waypoints.
 */

#include "insn.h"

enum a32_target {
	A32_TARGET_NONE,
	A32_TARGET_B,		/* B, BL: imm24 * 4 */
	A32_TARGET_BLX,		/* BLX: imm24 * 4 + H * 2, to T32 */
};

/* A group of rows is found by bits 27:25 of the opcode, or by 1111 in bits 31:28. */
enum a32_group {
	A32_GROUP_DP_REGISTER = 0,
	A32_GROUP_DP_IMMEDIATE = 1,
	A32_GROUP_LOAD_IMMEDIATE = 2,
	A32_GROUP_LOAD_REGISTER = 3,
	A32_GROUP_LOAD_MULTIPLE = 4,
	A32_GROUP_BRANCH = 5,
	/* 6: coprocessor transfers of two registers and memory, no waypoint */
	A32_GROUP_COPROCESSOR = 7,
	A32_GROUP_UNCONDITIONAL,
	A32_GROUP_NUM
};

/*
 * (opcode & mask) == value; the first row that fits decides. Rows of zeros fill each group up: they fit all opcodes
 * and say ITRACE_INSN_OTHER.
 */
struct a32_row {
	uint32_t mask;
	uint32_t value;
	uint8_t class;
	uint8_t flags;
	bool wfx;		/* only with struct itrace_insn_rules.wfx */
	uint8_t target;
};

/* One more than the longest group has. */
#define A32_ROW_MAX 9

static const struct a32_row a32_rows[A32_GROUP_NUM][A32_ROW_MAX] = {
	/* Data processing (register) and miscellaneous. Opcode 10xx in bits 24:21 compares or is another instruction. */
	[A32_GROUP_DP_REGISTER] = {
		/* BX LR */
		{ 0x0ff000ff, 0x0120001e, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, false, A32_TARGET_NONE },
		/* BX */
		{ 0x0ff000f0, 0x01200010, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* BXJ */
		{ 0x0ff000f0, 0x01200020, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* BLX */
		{ 0x0ff000f0, 0x01200030, ITRACE_INSN_INDIRECT, ITRACE_INSN_LINK, false, A32_TARGET_NONE },
		/* ERET */
		{ 0x0ff000f0, 0x01600060, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* MOV PC, LR */
		{ 0x0ff0ffff, 0x01a0f00e, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, false, A32_TARGET_NONE },
		/* AND .. RSC PC, Rn, Rm, with and without S */
		{ 0x0f00f010, 0x0000f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* ORR, MOV, BIC, MVN PC, with and without S */
		{ 0x0f80f010, 0x0180f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
	},

	/* Data processing (immediate), hints. */
	[A32_GROUP_DP_IMMEDIATE] = {
		/* AND .. RSC PC, Rn, #imm, with and without S */
		{ 0x0f00f000, 0x0200f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* ORR, MOV, BIC, MVN PC, with and without S */
		{ 0x0f80f000, 0x0380f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* WFE, WFI */
		{ 0x0fff00fe, 0x03200002, ITRACE_INSN_WFX, 0, true, A32_TARGET_NONE },
	},

	[A32_GROUP_LOAD_IMMEDIATE] = {
		/* LDR PC, [SP], #imm: POP {PC} */
		{ 0x0ffff000, 0x049df000, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, false, A32_TARGET_NONE },
		/* LDR PC, [Rn, #imm] with and without write-back, literal */
		{ 0x0f50f000, 0x0510f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* LDR PC, [Rn], #imm; with bit 21 it is LDRT */
		{ 0x0f70f000, 0x0410f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
	},

	[A32_GROUP_LOAD_REGISTER] = {
		/* LDR PC, [Rn, Rm] with and without write-back; with bit 4 it is a media instruction */
		{ 0x0f50f010, 0x0710f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* LDR PC, [Rn], Rm; with bit 21 it is LDRT */
		{ 0x0f70f010, 0x0610f000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
	},

	[A32_GROUP_LOAD_MULTIPLE] = {
		/* LDMIA SP!, {.., PC} without SP: POP */
		{ 0x0fffa000, 0x08bd8000, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, false, A32_TARGET_NONE },
		/* LDM {.., PC}, all modes; with S (^) an exception return */
		{ 0x0e108000, 0x08108000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
	},

	[A32_GROUP_BRANCH] = {
		/* B */
		{ 0x0f000000, 0x0a000000, ITRACE_INSN_DIRECT, 0, false, A32_TARGET_B },
		/* BL */
		{ 0x0f000000, 0x0b000000, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK, false, A32_TARGET_B },
	},

	[A32_GROUP_COPROCESSOR] = {
		/* CP15ISB: MCR p15, 0, Rt, c7, c5, 4 */
		{ 0x0fff0fff, 0x0e070f95, ITRACE_INSN_ISB, 0, false, A32_TARGET_NONE },
	},

	/* Bits 31:28 are 1111. */
	[A32_GROUP_UNCONDITIONAL] = {
		/* BLX label */
		{ 0xfe000000, 0xfa000000, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK, false, A32_TARGET_BLX },
		/* RFE, all modes */
		{ 0xfe500000, 0xf8100000, ITRACE_INSN_INDIRECT, 0, false, A32_TARGET_NONE },
		/* ISB: every option is one */
		{ 0xfff000f0, 0xf5700060, ITRACE_INSN_ISB, 0, false, A32_TARGET_NONE },
	},
};

static uint64_t a32_target(enum a32_target target, uint32_t opcode, uint64_t addr)
{
	/* imm24 * 4, sign-extended to 32 bits */
	const uint32_t offset = ((opcode & 0x00ffffff) ^ 0x00800000) * 4 - 0x02000000;
	const uint32_t pc = ((uint32_t)addr & ~UINT32_C(1)) + 8;

	switch (target) {
	case A32_TARGET_NONE:
		return 0;
	case A32_TARGET_B:
		return (uint32_t)(pc + offset);
	case A32_TARGET_BLX:
		return (uint32_t)(pc + offset + (opcode >> 23 & 0x2));
	}
	return 0;
}

void itrace_insn_a32(const struct itrace_insn_rules *rules, uint32_t opcode, uint64_t addr, struct itrace_insn *insn)
{
	static const struct a32_row other = { .class = ITRACE_INSN_OTHER };
	const struct a32_row *found = &other;
	const unsigned int cond = opcode >> 28;
	uint8_t flags = 0;

	/* M profile has no A32: any of it is a fault */
	if (!rules->m_profile) {
		const struct a32_row *row = a32_rows[cond == 0xf ? A32_GROUP_UNCONDITIONAL : opcode >> 25 & 0x7];

		while ((opcode & row->mask) != row->value)
			row++;
		if (!row->wfx || rules->wfx)
			found = row;
		if (cond < 0xe)
			flags = ITRACE_INSN_COND;
	}

	*insn = (struct itrace_insn) {
		.target = a32_target(found->target, opcode, addr),
		.class = found->class,
		.flags = found->flags | flags,
		.size = 4,
		.target_isa = found->target == A32_TARGET_BLX ? ITRACE_ISA_T32 : ITRACE_ISA_A32,
	};
}
