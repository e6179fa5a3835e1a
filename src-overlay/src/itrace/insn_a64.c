// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Which A64 instructions are waypoints, and where the direct ones go.
 *
 * Encodings: DDI 0487 C4.1 "Branches, Exception Generating and System instructions". The rows are in groups, so
 * that few are compared; within a group the frequent ones come first.
 */

#include "insn.h"
#include "insn_a64_fast.h"

/* What a row asks of struct itrace_insn_rules. */
enum {
	A64_V8_3 = 0x1,
	A64_V9 = 0x2,
	A64_WFX = 0x4,
};

/* Where the word offset of a direct branch stands in the opcode. */
enum a64_imm {
	A64_IMM_NONE,
	A64_IMM26,	/* B, BL */
	A64_IMM19,	/* B.cond, BC.cond, CBZ, CBNZ */
	A64_IMM14,	/* TBZ, TBNZ */
	A64_IMM9,	/* compare and branch (FEAT_CMPBR) */
	A64_IMM_NUM
};

static const struct {
	uint8_t lsb;
	uint8_t width;
} a64_imm_fields[] = {
	[A64_IMM_NONE] = { 0, 1 },
	[A64_IMM26] = { 0, 26 },
	[A64_IMM19] = { 5, 19 },
	[A64_IMM14] = { 5, 14 },
	[A64_IMM9] = { 5, 9 },
};

_Static_assert(sizeof(a64_imm_fields) / sizeof(a64_imm_fields[0]) == A64_IMM_NUM, "one row for each enum a64_imm");

/* A group of rows is about one place of the encoding and is found by bits 31:29 and 25 of the opcode. */
enum a64_group {
	A64_GROUP_NONE,
	A64_GROUP_B,
	A64_GROUP_BL,
	A64_GROUP_CBZ,
	A64_GROUP_TBZ,
	A64_GROUP_B_COND,
	A64_GROUP_CMPBR,
	A64_GROUP_SYSTEM,
	A64_GROUP_REGISTER,
	A64_GROUP_NUM
};

static const uint8_t a64_groups[16] = {
	[0x0] = A64_GROUP_B,
	[0x1] = A64_GROUP_B,
	[0x2] = A64_GROUP_CBZ,
	[0x3] = A64_GROUP_TBZ,
	[0x4] = A64_GROUP_B_COND,
	[0x6] = A64_GROUP_CMPBR,
	[0x8] = A64_GROUP_BL,
	[0x9] = A64_GROUP_BL,
	[0xa] = A64_GROUP_CBZ,
	[0xb] = A64_GROUP_TBZ,
	[0xc] = A64_GROUP_SYSTEM,
	[0xd] = A64_GROUP_REGISTER,
	[0xe] = A64_GROUP_CMPBR,
};

/*
 * (opcode & mask) == value; the first row that fits decides. Rows of zeros fill each group up: they fit all opcodes
 * and say ITRACE_INSN_OTHER.
 */
struct a64_row {
	uint32_t mask;
	uint32_t value;
	uint8_t class;
	uint8_t flags;
	uint8_t gate;
	uint8_t imm;
};

/* One more than the longest group has. */
#define A64_ROW_MAX 12

static const struct a64_row a64_rows[A64_GROUP_NUM][A64_ROW_MAX] = {
	[A64_GROUP_B] = {
		/* B */
		{ 0xfc000000, 0x14000000, ITRACE_INSN_DIRECT, 0, 0, A64_IMM26 },
	},

	[A64_GROUP_BL] = {
		/* BL */
		{ 0xfc000000, 0x94000000, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK, 0, A64_IMM26 },
	},

	[A64_GROUP_CBZ] = {
		/* CBZ, CBNZ */
		{ 0x7e000000, 0x34000000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM19 },
	},

	[A64_GROUP_TBZ] = {
		/* TBZ, TBNZ */
		{ 0x7e000000, 0x36000000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM14 },
	},

	[A64_GROUP_B_COND] = {
		/* B.cond, BC.cond: EQ to VC, HI to LT, GT and LE */
		{ 0xff000008, 0x54000000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM19 },
		{ 0xff00000c, 0x54000008, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM19 },
		{ 0xff00000e, 0x5400000c, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM19 },
		/* B.AL, BC.AL and the same with NV, which means AL too: never not taken */
		{ 0xff00000e, 0x5400000e, ITRACE_INSN_DIRECT, 0, 0, A64_IMM19 },
		/* RETAASPPC, RETABSPPC label: the label names the signing instruction, not the target */
		{ 0xffc0001f, 0x5500001f, ITRACE_INSN_INDIRECT, ITRACE_INSN_RETURN, A64_V8_3, A64_IMM_NONE },
	},

	/* Compare and branch: cc (bits 23:21) is 0xx or 11x; 10x is unallocated. */
	[A64_GROUP_CMPBR] = {
		/* CB<cc> Rt, Rm, label */
		{ 0x7f80c000, 0x74000000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM9 },
		{ 0x7fc0c000, 0x74c00000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM9 },
		/* CB<cc> Rt, #imm, label */
		{ 0x7f804000, 0x75000000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM9 },
		{ 0x7fc04000, 0x75c00000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM9 },
		/* CBB<cc> and, with bit 14, CBH<cc> */
		{ 0xff808000, 0x74008000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM9 },
		{ 0xffc08000, 0x74c08000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0, A64_IMM9 },
	},

	[A64_GROUP_SYSTEM] = {
		/* ISB: every CRm is one */
		{ 0xfffff0ff, 0xd50330df, ITRACE_INSN_ISB, 0, 0, A64_IMM_NONE },
		/* WFE, WFI */
		{ 0xffffffdf, 0xd503205f, ITRACE_INSN_WFX, 0, A64_WFX, A64_IMM_NONE },
		/* WFET, WFIT */
		{ 0xffffffc0, 0xd5031000, ITRACE_INSN_WFX, 0, A64_WFX | A64_V9, A64_IMM_NONE },
		/* TSTART */
		{ 0xffffffe0, 0xd5233060, ITRACE_INSN_TSTART, 0, A64_V9, A64_IMM_NONE },
	},

	[A64_GROUP_REGISTER] = {
		/* RET */
		{ 0xfffffc1f, 0xd65f0000, ITRACE_INSN_INDIRECT, ITRACE_INSN_RETURN, 0, A64_IMM_NONE },
		/* BLR */
		{ 0xfffffc1f, 0xd63f0000, ITRACE_INSN_INDIRECT, ITRACE_INSN_LINK, 0, A64_IMM_NONE },
		/* BR */
		{ 0xfffffc1f, 0xd61f0000, ITRACE_INSN_INDIRECT, 0, 0, A64_IMM_NONE },
		/* RETAA, RETAB (bits 4:0 are 11111); RETAASPPC, RETABSPPC Xm (any other) */
		{ 0xfffffbe0, 0xd65f0be0, ITRACE_INSN_INDIRECT, ITRACE_INSN_RETURN, A64_V8_3, A64_IMM_NONE },
		/* BLRAAZ, BLRABZ */
		{ 0xfffff81f, 0xd63f081f, ITRACE_INSN_INDIRECT, ITRACE_INSN_LINK, A64_V8_3, A64_IMM_NONE },
		/* BLRAA, BLRAB */
		{ 0xfffff800, 0xd73f0800, ITRACE_INSN_INDIRECT, ITRACE_INSN_LINK, A64_V8_3, A64_IMM_NONE },
		/* BRAAZ, BRABZ */
		{ 0xfffff81f, 0xd61f081f, ITRACE_INSN_INDIRECT, 0, A64_V8_3, A64_IMM_NONE },
		/* BRAA, BRAB */
		{ 0xfffff800, 0xd71f0800, ITRACE_INSN_INDIRECT, 0, A64_V8_3, A64_IMM_NONE },
		/* ERET */
		{ 0xffffffff, 0xd69f03e0, ITRACE_INSN_INDIRECT, ITRACE_INSN_ERET, 0, A64_IMM_NONE },
		/* ERETAA, ERETAB */
		{ 0xfffffbff, 0xd69f0bff, ITRACE_INSN_INDIRECT, ITRACE_INSN_ERET, A64_V8_3, A64_IMM_NONE },
		/* TEXIT, TEXIT NB */
		{ 0xfffffbff, 0xd6ff03e0, ITRACE_INSN_INDIRECT, ITRACE_INSN_ERET, A64_V8_3, A64_IMM_NONE },
	},
};

static bool a64_gate_open(const struct itrace_insn_rules *rules, unsigned int gate)
{
	return (!(gate & A64_V8_3) || rules->v8_3) && (!(gate & A64_V9) || rules->v9) &&
		(!(gate & A64_WFX) || rules->wfx);
}

static uint64_t a64_target(enum a64_imm imm, uint32_t opcode, uint64_t addr)
{
	if (imm == A64_IMM_NONE)
		return 0;

	const unsigned int width = a64_imm_fields[imm].width;
	const uint64_t field = (opcode >> a64_imm_fields[imm].lsb) & ((UINT32_C(1) << width) - 1);
	const uint64_t sign = UINT64_C(1) << (width - 1);

	return (addr + ((field ^ sign) - sign) * 4) & ~UINT64_C(1);
}

static void a64_by_rows(const struct itrace_insn_rules *rules, uint32_t opcode, uint64_t addr,
		struct itrace_insn *insn)
{
	static const struct a64_row other = { .class = ITRACE_INSN_OTHER };
	const struct a64_row *row = a64_rows[a64_groups[(opcode >> 28 & 0xe) | (opcode >> 25 & 0x1)]];

	while ((opcode & row->mask) != row->value)
		row++;
	if (!a64_gate_open(rules, row->gate))
		row = &other;
	insn->target = a64_target((enum a64_imm)row->imm, opcode, addr);
	insn->class = row->class;
	insn->flags = row->flags;
}

void itrace_insn_a64(const struct itrace_insn_rules *rules, uint32_t opcode, uint64_t addr, struct itrace_insn *insn)
{
	insn->size = 4;
	insn->target_isa = ITRACE_ISA_A64;
	insn->it_count = 0;
	if (!itrace_insn_a64_may_branch(opcode)) {
		insn->target = 0;
		insn->class = ITRACE_INSN_OTHER;
		insn->flags = 0;
	} else if (!itrace_insn_a64_common(opcode, addr, insn)) {
		a64_by_rows(rules, opcode, addr, insn);
	}
}
