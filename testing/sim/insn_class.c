// SPDX-License-Identifier: GPL-2.0-or-later

#include "insn_class.h"

#include <stddef.h>

#define LINK 1
#define COND 2
#define ERET 4
#define COND_BY_FIELD 8	/* A32: conditional unless the condition field is AL or the unconditional space */

struct row {
	uint32_t mask;
	uint32_t value;
	uint8_t kind;
	uint8_t flags;
};

/* The first matching row decides. */
static const struct row a64_rows[] = {
	{ 0xfffffc1f, 0xd61f0000, SIM_INSN_INDIRECT, 0 },		/* BR */
	{ 0xfffffc1f, 0xd63f0000, SIM_INSN_INDIRECT, LINK },		/* BLR */
	{ 0xfffffc1f, 0xd65f0000, SIM_INSN_INDIRECT, 0 },		/* RET */
	{ 0xfffff81f, 0xd61f081f, SIM_INSN_INDIRECT, 0 },		/* BRAAZ BRABZ */
	{ 0xfffff81f, 0xd63f081f, SIM_INSN_INDIRECT, LINK },		/* BLRAAZ BLRABZ */
	{ 0xfffffbff, 0xd65f0bff, SIM_INSN_INDIRECT, 0 },		/* RETAA RETAB */
	{ 0xfffff800, 0xd71f0800, SIM_INSN_INDIRECT, 0 },		/* BRAA BRAB */
	{ 0xfffff800, 0xd73f0800, SIM_INSN_INDIRECT, LINK },		/* BLRAA BLRAB */
	{ 0xffffffff, 0xd69f03e0, SIM_INSN_INDIRECT, ERET },		/* ERET */
	{ 0xfffffbff, 0xd69f0bff, SIM_INSN_INDIRECT, ERET },		/* ERETAA ERETAB */
	{ 0xfc000000, 0x14000000, SIM_INSN_DIRECT, 0 },			/* B */
	{ 0xfc000000, 0x94000000, SIM_INSN_DIRECT, LINK },		/* BL */
	{ 0xff000000, 0x54000000, SIM_INSN_DIRECT, COND },		/* B.cond BC.cond */
	{ 0x7e000000, 0x34000000, SIM_INSN_DIRECT, COND },		/* CBZ CBNZ */
	{ 0x7e000000, 0x36000000, SIM_INSN_DIRECT, COND },		/* TBZ TBNZ */
	{ 0xfffff0ff, 0xd50330df, SIM_INSN_ISB, 0 },			/* ISB */
	{ 0xffffffdf, 0xd503205f, SIM_INSN_WFX, 0 },			/* WFE WFI */
	{ 0xffffffc0, 0xd5031000, SIM_INSN_WFX, 0 },			/* WFET WFIT */
	{ 0xffffffe0, 0xd5233060, SIM_INSN_TSTART, 0 },			/* TSTART */
};

static const struct row a32_rows[] = {
	{ 0xfe000000, 0xfa000000, SIM_INSN_DIRECT, LINK },		/* BLX immediate */
	{ 0xfe50ffff, 0xf8100a00, SIM_INSN_INDIRECT, ERET },		/* RFE */
	{ 0xfffffff0, 0xf57ff060, SIM_INSN_ISB, 0 },			/* ISB */
	{ 0xf0000000, 0xf0000000, SIM_INSN_OTHER, 0 },			/* rest of the unconditional space */
	{ 0x0f000000, 0x0a000000, SIM_INSN_DIRECT, COND_BY_FIELD },	/* B */
	{ 0x0f000000, 0x0b000000, SIM_INSN_DIRECT, LINK | COND_BY_FIELD },	/* BL */
	{ 0x0ffffff0, 0x012fff10, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* BX */
	{ 0x0ffffff0, 0x012fff20, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* BXJ */
	{ 0x0ffffff0, 0x012fff30, SIM_INSN_INDIRECT, LINK | COND_BY_FIELD },	/* BLX register */
	{ 0x0fffffff, 0x0160006e, SIM_INSN_INDIRECT, ERET | COND_BY_FIELD },	/* ERET */
	{ 0x0ffffffe, 0x0320f002, SIM_INSN_WFX, COND_BY_FIELD },	/* WFE WFI */
	{ 0x0f70f000, 0x0510f000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* LDR PC, [Rn, #imm] */
	{ 0x0f50f000, 0x0410f000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* LDR PC, [Rn], #imm */
	{ 0x0f70f000, 0x0530f000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* LDR PC, [Rn, #imm]! */
	{ 0x0e50f010, 0x0610f000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* LDR PC, [Rn, Rm] */
	{ 0x0e508000, 0x08508000, SIM_INSN_INDIRECT, ERET | COND_BY_FIELD },	/* LDM {.., PC}^ */
	{ 0x0e508000, 0x08108000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* LDM {.., PC} */
	{ 0x0ff0f000, 0x0250f000, SIM_INSN_INDIRECT, ERET | COND_BY_FIELD },	/* SUBS PC, Rn, #imm */
	{ 0x0ffff010, 0x01b0f000, SIM_INSN_INDIRECT, ERET | COND_BY_FIELD },	/* MOVS PC, Rm */
	{ 0x0fe0f010, 0x0080f000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* ADD PC, Rn, Rm */
	{ 0x0fe0f000, 0x0280f000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* ADD PC, Rn, #imm */
	{ 0x0feff010, 0x01a0f000, SIM_INSN_INDIRECT, COND_BY_FIELD },	/* MOV PC, Rm */
};

static const struct row t32_rows[] = {
	{ 0xff870000, 0x47000000, SIM_INSN_INDIRECT, 0 },		/* BX */
	{ 0xff870000, 0x47800000, SIM_INSN_INDIRECT, LINK },		/* BLX register */
	{ 0xff000000, 0xbd000000, SIM_INSN_INDIRECT, 0 },		/* POP {.., PC} */
	{ 0xff870000, 0x46870000, SIM_INSN_INDIRECT, 0 },		/* MOV PC, Rm */
	{ 0xff870000, 0x44870000, SIM_INSN_INDIRECT, 0 },		/* ADD PC, Rm */
	{ 0xf5000000, 0xb1000000, SIM_INSN_DIRECT, COND },		/* CBZ CBNZ */
	{ 0xff000000, 0xde000000, SIM_INSN_OTHER, 0 },			/* UDF */
	{ 0xff000000, 0xdf000000, SIM_INSN_OTHER, 0 },			/* SVC */
	{ 0xf0000000, 0xd0000000, SIM_INSN_DIRECT, COND },		/* B<c> T1 */
	{ 0xf8000000, 0xe0000000, SIM_INSN_DIRECT, 0 },			/* B T2 */
	{ 0xffef0000, 0xbf200000, SIM_INSN_WFX, 0 },			/* WFE WFI, 16 bit */
	{ 0xfffffff0, 0xf3bf8f60, SIM_INSN_ISB, 0 },			/* ISB */
	{ 0xfffffffe, 0xf3af8002, SIM_INSN_WFX, 0 },			/* WFE WFI, 32 bit */
	{ 0xfff0ff00, 0xf3d08f00, SIM_INSN_INDIRECT, ERET },		/* SUBS PC, LR, #imm; ERET */
	{ 0xfff0ffff, 0xf3c08f00, SIM_INSN_INDIRECT, 0 },		/* BXJ */
	{ 0xfb80d000, 0xf3808000, SIM_INSN_OTHER, 0 },			/* MSR, MRS, hints, misc control */
	{ 0xf800d000, 0xf0008000, SIM_INSN_DIRECT, COND },		/* B<c> T3 */
	{ 0xf800d000, 0xf0009000, SIM_INSN_DIRECT, 0 },			/* B T4 */
	{ 0xf800d000, 0xf000d000, SIM_INSN_DIRECT, LINK },		/* BL */
	{ 0xf800d001, 0xf000c000, SIM_INSN_DIRECT, LINK },		/* BLX immediate */
	{ 0xfff0ffe0, 0xe8d0f000, SIM_INSN_INDIRECT, 0 },		/* TBB TBH */
	{ 0xffd0ffff, 0xe810c000, SIM_INSN_INDIRECT, ERET },		/* RFEDB */
	{ 0xffd0ffff, 0xe990c000, SIM_INSN_INDIRECT, ERET },		/* RFEIA */
	{ 0xffd08000, 0xe8908000, SIM_INSN_INDIRECT, 0 },		/* LDMIA {.., PC} */
	{ 0xffd08000, 0xe9108000, SIM_INSN_INDIRECT, 0 },		/* LDMDB {.., PC} */
	{ 0xff7ff000, 0xf85ff000, SIM_INSN_INDIRECT, 0 },		/* LDR PC, literal */
	{ 0xfff0f000, 0xf8d0f000, SIM_INSN_INDIRECT, 0 },		/* LDR PC, [Rn, #imm12] */
	{ 0xfff0f800, 0xf850f800, SIM_INSN_INDIRECT, 0 },		/* LDR PC, [Rn, #+-imm8] and writeback */
	{ 0xfff0ffc0, 0xf850f000, SIM_INSN_INDIRECT, 0 },		/* LDR PC, [Rn, Rm, LSL] */
};

static const struct {
	const struct row *rows;
	size_t count;
} tables[SIM_ISA_NUM] = {
	[SIM_A64] = { a64_rows, sizeof(a64_rows) / sizeof(a64_rows[0]) },
	[SIM_A32] = { a32_rows, sizeof(a32_rows) / sizeof(a32_rows[0]) },
	[SIM_T32] = { t32_rows, sizeof(t32_rows) / sizeof(t32_rows[0]) },
};

struct sim_insn_class sim_insn_classify(enum sim_isa isa, uint32_t opcode)
{
	struct sim_insn_class result = { .kind = SIM_INSN_OTHER };

	for (size_t i = 0; i < tables[isa].count; i++) {
		const struct row *row = &tables[isa].rows[i];
		if ((opcode & row->mask) != row->value)
			continue;
		result.kind = row->kind;
		result.link = row->flags & LINK;
		result.exception_return = row->flags & ERET;
		result.conditional = (row->flags & COND) ||
			((row->flags & COND_BY_FIELD) && (opcode >> 28) < 0xe);
		break;
	}
	return result;
}

unsigned int sim_insn_size(enum sim_isa isa, uint32_t opcode)
{
	if (isa == SIM_T32 && (opcode >> 27) < 0x1d)
		return 2;
	return 4;
}

const char *sim_isa_name(enum sim_isa isa)
{
	static const char * const names[SIM_ISA_NUM] = { "a64", "a32", "t32" };

	return names[isa];
}
