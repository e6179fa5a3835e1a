// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Which T32 instructions are waypoints, and where the direct ones go.
 *
 * Encodings: DDI 0487 F3.1 and DDI 0406 A6 (A and R profile), DDI 0553 C2.3 (M profile). Should-be-zero and
 * should-be-one bits are not looked at: what a core makes of other values there is still that instruction, a NOP or
 * an exception.
 */

#include "insn.h"

/* What a row asks of struct itrace_insn_rules. */
enum t32_gate {
	T32_ALWAYS,
	T32_WFX,
	T32_M,
	T32_NOT_M,
};

enum t32_target {
	T32_TARGET_NONE,
	T32_TARGET_CBZ,		/* i:imm5 * 2, forward */
	T32_TARGET_B_T1,	/* imm8 * 2 */
	T32_TARGET_B_T2,	/* imm11 * 2 */
	T32_TARGET_B_T3,	/* S:J2:J1:imm6:imm11 * 2 */
	T32_TARGET_B_T4,	/* S:I1:I2:imm10:imm11 * 2 */
	T32_TARGET_BLX,		/* S:I1:I2:imm10H:imm10L * 4 from the aligned PC, to A32 */
	T32_TARGET_LOOP_END,	/* imm10:imm1 * 2, back */
	T32_TARGET_LOOP_SKIP,	/* imm10:imm1 * 2, forward */
};

enum t32_group {
	T32_GROUP_NONE,
	T32_GROUP_SPECIAL,
	T32_GROUP_MISC16,
	T32_GROUP_B_COND16,
	T32_GROUP_B16,
	T32_GROUP_LOAD_MULTIPLE,
	T32_GROUP_COPROCESSOR,
	T32_GROUP_B_COND_MISC,
	T32_GROUP_B32,
	T32_GROUP_BL,
	T32_GROUP_BLX_LOOP,
	T32_GROUP_LOAD,
	T32_GROUP_DP_REGISTER,
	T32_GROUP_NUM
};

/* 16-bit instructions, by bits 15:12 */
static const uint8_t t32_groups16[16] = {
	[0x4] = T32_GROUP_SPECIAL,
	[0xb] = T32_GROUP_MISC16,
	[0xd] = T32_GROUP_B_COND16,
	[0xe] = T32_GROUP_B16,
};

/* 32-bit instructions but those of t32_groups_branch[], by bits 12:9 of hw1 */
static const uint8_t t32_groups32[16] = {
	[0x4] = T32_GROUP_LOAD_MULTIPLE,
	[0x7] = T32_GROUP_COPROCESSOR,
	[0xc] = T32_GROUP_LOAD,
	[0xd] = T32_GROUP_DP_REGISTER,
};

/* hw1 1111 0..., hw2 1...: by bits 14 and 12 of hw2 */
static const uint8_t t32_groups_branch[4] = {
	T32_GROUP_B_COND_MISC,
	T32_GROUP_B32,
	T32_GROUP_BLX_LOOP,
	T32_GROUP_BL,
};

/*
 * (opcode & mask) == value, where the opcode is hw1:hw2, or hw1:0000 if it has 16 bits; the first row that fits
 * decides. Rows of zeros fill each group up: they fit all opcodes and say ITRACE_INSN_OTHER.
 */
struct t32_row {
	uint32_t mask;
	uint32_t value;
	uint8_t class;
	uint8_t flags;
	uint8_t gate;
	uint8_t target;
};

/* One more than the longest group has. */
#define T32_ROW_MAX 13

static const struct t32_row t32_rows[T32_GROUP_NUM][T32_ROW_MAX] = {
	/* 16-bit, 0100 ...: special data processing, BX */
	[T32_GROUP_SPECIAL] = {
		/* BX LR, BXNS LR */
		{ 0xfff80000, 0x47700000, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, T32_ALWAYS, T32_TARGET_NONE },
		/* BX, BXNS */
		{ 0xff800000, 0x47000000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* BLX, BLXNS */
		{ 0xff800000, 0x47800000, ITRACE_INSN_INDIRECT, ITRACE_INSN_LINK, T32_ALWAYS, T32_TARGET_NONE },
		/* MOV PC, LR */
		{ 0xffff0000, 0x46f70000, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, T32_ALWAYS, T32_TARGET_NONE },
		/* MOV PC, Rm */
		{ 0xff870000, 0x46870000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* ADD PC, Rm */
		{ 0xff870000, 0x44870000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
	},

	/* 16-bit, 1011 ...: miscellaneous */
	[T32_GROUP_MISC16] = {
		/* POP {.., PC} */
		{ 0xff000000, 0xbd000000, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, T32_ALWAYS, T32_TARGET_NONE },
		/* CBZ, CBNZ */
		{ 0xf5000000, 0xb1000000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, T32_ALWAYS, T32_TARGET_CBZ },
		/* WFE, WFI */
		{ 0xffef0000, 0xbf200000, ITRACE_INSN_WFX, 0, T32_WFX, T32_TARGET_NONE },
	},

	/* 16-bit, 1101 ... */
	[T32_GROUP_B_COND16] = {
		/* UDF, SVC */
		{ 0xfe000000, 0xde000000, ITRACE_INSN_OTHER, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* B<c> T1 */
		{ 0xf0000000, 0xd0000000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, T32_ALWAYS, T32_TARGET_B_T1 },
	},

	/* 16-bit, 1110 0... */
	[T32_GROUP_B16] = {
		/* B T2 */
		{ 0xf8000000, 0xe0000000, ITRACE_INSN_DIRECT, 0, T32_ALWAYS, T32_TARGET_B_T2 },
	},

	/* 1110 100.: load and store multiple, dual, exclusive, table branch */
	[T32_GROUP_LOAD_MULTIPLE] = {
		/* POP.W {.., PC} */
		{ 0xffff8000, 0xe8bd8000, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, T32_ALWAYS, T32_TARGET_NONE },
		/* CLRM {.., APSR} (Armv8.1-M) has the place of LDM PC, which is UNPREDICTABLE elsewhere */
		{ 0xffff0000, 0xe89f0000, ITRACE_INSN_OTHER, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* LDM, LDMDB {.., PC} */
		{ 0xffd08000, 0xe8908000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		{ 0xffd08000, 0xe9108000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* TBB, TBH */
		{ 0xfff000e0, 0xe8d00000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* RFEDB, RFEIA */
		{ 0xffd00000, 0xe8100000, ITRACE_INSN_INDIRECT, 0, T32_NOT_M, T32_TARGET_NONE },
		{ 0xffd00000, 0xe9900000, ITRACE_INSN_INDIRECT, 0, T32_NOT_M, T32_TARGET_NONE },
	},

	/* 1110 111.: coprocessor */
	[T32_GROUP_COPROCESSOR] = {
		/* CP15ISB: MCR p15, 0, Rt, c7, c5, 4 */
		{ 0xffff0fff, 0xee070f95, ITRACE_INSN_ISB, 0, T32_NOT_M, T32_TARGET_NONE },
	},

	/* 1111 0..., hw2 10.0 ... */
	[T32_GROUP_B_COND_MISC] = {
		/* ISB: every option is one */
		{ 0xfff0d0f0, 0xf3b08060, ITRACE_INSN_ISB, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* WFE.W, WFI.W */
		{ 0xfff0d7fe, 0xf3a08002, ITRACE_INSN_WFX, 0, T32_WFX, T32_TARGET_NONE },
		/* BXJ */
		{ 0xfff0d000, 0xf3c08000, ITRACE_INSN_INDIRECT, 0, T32_NOT_M, T32_TARGET_NONE },
		/* SUBS PC, LR, #imm; with zero it is ERET */
		{ 0xfff0d000, 0xf3d08000, ITRACE_INSN_INDIRECT, 0, T32_NOT_M, T32_TARGET_NONE },
		/* MSR, MRS, hints, barriers, HVC, SMC, UDF */
		{ 0xfb80d000, 0xf3808000, ITRACE_INSN_OTHER, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* B<c> T3 */
		{ 0xf800d000, 0xf0008000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, T32_ALWAYS, T32_TARGET_B_T3 },
	},

	/* 1111 0..., hw2 10.1 ... */
	[T32_GROUP_B32] = {
		/* B T4 */
		{ 0xf800d000, 0xf0009000, ITRACE_INSN_DIRECT, 0, T32_ALWAYS, T32_TARGET_B_T4 },
	},

	/* 1111 0..., hw2 11.1 ... */
	[T32_GROUP_BL] = {
		/* BL */
		{ 0xf800d000, 0xf000d000, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK, T32_ALWAYS, T32_TARGET_B_T4 },
	},

	/*
	 * 1111 0..., hw2 11.0 ...: BLX, or with bit 0 of hw2 Armv8.1-M low-overhead loops (bits 26:23 zero) and branch
	 * future. That half is UNDEFINED in A and R profile; the loops need no gate therefore.
	 */
	[T32_GROUP_BLX_LOOP] = {
		/* BLX label */
		{ 0xf800d001, 0xf000c000, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK, T32_NOT_M, T32_TARGET_BLX },
		/* LE LR, label */
		{ 0xfffff001, 0xf00fc001, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, T32_ALWAYS, T32_TARGET_LOOP_END },
		/* LE label: loops without a count, so always */
		{ 0xfffff001, 0xf02fc001, ITRACE_INSN_DIRECT, 0, T32_ALWAYS, T32_TARGET_LOOP_END },
		/* LETP LR, label */
		{ 0xfffff001, 0xf01fc001, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, T32_ALWAYS, T32_TARGET_LOOP_END },
		/* unallocated */
		{ 0xfffff001, 0xf03fc001, ITRACE_INSN_OTHER, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* WLS LR, Rn, label */
		{ 0xfff0f001, 0xf040c001, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, T32_ALWAYS, T32_TARGET_LOOP_SKIP },
		/* WLSTP.<size> LR, Rn, label */
		{ 0xffc0f001, 0xf000c001, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, T32_ALWAYS, T32_TARGET_LOOP_SKIP },
		/* DLS, DLSTP, LCTP, unallocated */
		{ 0xff80d001, 0xf000c001, ITRACE_INSN_OTHER, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* BFL */
		{ 0xf800f001, 0xf000c001, ITRACE_INSN_UNDESCRIBED, 0, T32_M, T32_TARGET_NONE },
		/* BFCSEL */
		{ 0xf840f001, 0xf000e001, ITRACE_INSN_UNDESCRIBED, 0, T32_M, T32_TARGET_NONE },
		/* BF */
		{ 0xf860f001, 0xf040e001, ITRACE_INSN_UNDESCRIBED, 0, T32_M, T32_TARGET_NONE },
		/* BFX, BFLX */
		{ 0xf860ffff, 0xf060e001, ITRACE_INSN_UNDESCRIBED, 0, T32_M, T32_TARGET_NONE },
	},

	/* 1111 100.: load and store single */
	[T32_GROUP_LOAD] = {
		/* LDR PC, [Rn, #imm12] */
		{ 0xfff0f000, 0xf8d0f000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* LDR PC, label */
		{ 0xff7ff000, 0xf85ff000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* LDR PC, [SP], #imm8: POP {PC} */
		{ 0xffffff00, 0xf85dfb00, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, T32_ALWAYS, T32_TARGET_NONE },
		/* LDR PC, [Rn], #+/-imm8 (101x would not write back: UNDEFINED) */
		{ 0xfff0fd00, 0xf850f900, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* LDR PC, [Rn, #-imm8]; with U it is LDRT */
		{ 0xfff0ff00, 0xf850fc00, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* LDR PC, [Rn, #+/-imm8]! */
		{ 0xfff0fd00, 0xf850fd00, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
		/* LDR PC, [Rn, Rm, LSL #n] */
		{ 0xfff0ffc0, 0xf850f000, ITRACE_INSN_INDIRECT, 0, T32_ALWAYS, T32_TARGET_NONE },
	},

	/* 1111 101.: data processing (register), multiply */
	[T32_GROUP_DP_REGISTER] = {
		/* BXAUT Ra, LR, Rm (Armv8.1-M PACBTI) */
		{ 0xffff0ff0, 0xfb5e0f10, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, T32_M, T32_TARGET_NONE },
		/* BXAUT Ra, Rn, Rm */
		{ 0xfff00ff0, 0xfb500f10, ITRACE_INSN_INDIRECT, 0, T32_M, T32_TARGET_NONE },
	},
};

static bool t32_gate_open(const struct itrace_insn_rules *rules, enum t32_gate gate)
{
	switch (gate) {
	case T32_ALWAYS:
		return true;
	case T32_WFX:
		return rules->wfx;
	case T32_M:
		return rules->m_profile;
	case T32_NOT_M:
		return !rules->m_profile;
	}
	return false;
}

/* The @a width low bits of @a value, sign-extended. */
static uint32_t t32_sign_extend(uint32_t value, unsigned int width)
{
	const uint32_t sign = UINT32_C(1) << (width - 1);

	return ((value & (sign * 2 - 1)) ^ sign) - sign;
}

/* The 25-bit byte offset of B T4, BL and BLX. */
static uint32_t t32_long_offset(uint32_t opcode)
{
	const uint32_t s = opcode >> 26 & 1;
	const uint32_t i1 = ~(opcode >> 13 ^ s) & 1;
	const uint32_t i2 = ~(opcode >> 11 ^ s) & 1;

	return t32_sign_extend(s << 24 | i1 << 23 | i2 << 22 | (opcode >> 16 & 0x3ff) << 12 | (opcode & 0x7ff) << 1, 25);
}

static uint64_t t32_target(enum t32_target target, uint32_t opcode, uint64_t addr)
{
	const uint32_t pc = ((uint32_t)addr & ~UINT32_C(1)) + 4;
	const uint32_t loop = (opcode >> 1 & 0x3ff) * 4 + (opcode >> 11 & 1) * 2;

	switch (target) {
	case T32_TARGET_NONE:
		return 0;
	case T32_TARGET_CBZ:
		return (uint32_t)(pc + (opcode >> 19 & 0x1f) * 2 + (opcode >> 25 & 1) * 64);
	case T32_TARGET_B_T1:
		return (uint32_t)(pc + t32_sign_extend(opcode >> 16, 8) * 2);
	case T32_TARGET_B_T2:
		return (uint32_t)(pc + t32_sign_extend(opcode >> 16, 11) * 2);
	case T32_TARGET_B_T3:
		return (uint32_t)(pc + t32_sign_extend((opcode >> 26 & 1) << 19 | (opcode >> 11 & 1) << 18 |
				(opcode >> 13 & 1) << 17 | (opcode >> 16 & 0x3f) << 11 | (opcode & 0x7ff), 20) * 2);
	case T32_TARGET_B_T4:
		return (uint32_t)(pc + t32_long_offset(opcode));
	case T32_TARGET_BLX:
		/* bit 0 of hw2 is H, which is zero */
		return (uint32_t)((pc & ~UINT32_C(3)) + t32_long_offset(opcode));
	case T32_TARGET_LOOP_END:
		return (uint32_t)(pc - loop);
	case T32_TARGET_LOOP_SKIP:
		return (uint32_t)(pc + loop);
	}
	return 0;
}

/* How many instructions an IT makes conditional. The condition AL makes none so. */
static unsigned int t32_it_count(uint16_t hw1)
{
	unsigned int count = 4;

	if ((hw1 & 0xff00) != 0xbf00 || !(hw1 & 0x000f) || (hw1 & 0x00e0) == 0x00e0)
		return 0;

	for (unsigned int mask = hw1; !(mask & 1); mask >>= 1)
		count--;
	return count;
}

void itrace_insn_t32(const struct itrace_insn_rules *rules, uint16_t hw1, uint16_t hw2, uint64_t addr,
		struct itrace_insn *insn)
{
	static const struct t32_row other = { .class = ITRACE_INSN_OTHER };
	const unsigned int size = itrace_insn_t32_size(hw1);
	uint32_t opcode = (uint32_t)hw1 << 16;
	unsigned int group = T32_GROUP_NONE;

	if (size == 2) {
		group = t32_groups16[hw1 >> 12];
	} else {
		opcode |= hw2;
		if ((hw1 & 0xf800) != 0xf000)
			group = t32_groups32[hw1 >> 9 & 0xf];
		else if (hw2 & 0x8000)
			group = t32_groups_branch[(hw2 >> 13 & 2) | (hw2 >> 12 & 1)];
	}

	const struct t32_row *found = t32_rows[group];

	while ((opcode & found->mask) != found->value)
		found++;
	if (!t32_gate_open(rules, found->gate))
		found = &other;

	*insn = (struct itrace_insn) {
		.target = t32_target(found->target, opcode, addr),
		.class = found->class,
		.flags = found->flags,
		.size = size,
		.target_isa = found->target == T32_TARGET_BLX ? ITRACE_ISA_A32 : ITRACE_ISA_T32,
		.it_count = size == 2 ? t32_it_count(hw1) : 0,
	};
}
