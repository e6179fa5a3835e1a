// SPDX-License-Identifier: GPL-2.0-or-later

#include "cortexm_insn.h"

#include <stddef.h>

struct pattern {
	uint32_t mask;
	uint32_t value;
	enum cortexm_insn_kind kind;
};

/* The first that fits decides. 16-bit opcodes are in the upper half. */
static const struct pattern narrow[] = {
	{ 0xff000000, 0xde000000, CORTEXM_INSN_PLAIN },		/* UDF */
	{ 0xff000000, 0xdf000000, CORTEXM_INSN_SPECIAL },	/* SVC */
	{ 0xf0000000, 0xd0000000, CORTEXM_INSN_COND },		/* B<c> */
	{ 0xf8000000, 0xe0000000, CORTEXM_INSN_DIRECT },	/* B */
	{ 0xf5000000, 0xb1000000, CORTEXM_INSN_COND },		/* CBZ, CBNZ */
	{ 0xff800000, 0x47000000, CORTEXM_INSN_RETURN },	/* BX */
	{ 0xff800000, 0x47800000, CORTEXM_INSN_INDIRECT },	/* BLX */
	{ 0xff870000, 0x44870000, CORTEXM_INSN_INDIRECT },	/* ADD pc */
	{ 0xff870000, 0x46870000, CORTEXM_INSN_INDIRECT },	/* MOV pc */
	{ 0xff000000, 0xbd000000, CORTEXM_INSN_RETURN },	/* POP with pc */
	{ 0xff000000, 0xbe000000, CORTEXM_INSN_SPECIAL },	/* BKPT */
	{ 0xffff0000, 0xbf000000, CORTEXM_INSN_PLAIN },		/* NOP */
	{ 0xff000000, 0xbf000000, CORTEXM_INSN_SPECIAL },	/* other hints, IT */
	{ 0xffe00000, 0xb6600000, CORTEXM_INSN_SPECIAL },	/* CPS */
};

static const struct pattern wide[] = {
	{ 0xf800d000, 0xf000d000, CORTEXM_INSN_DIRECT },	/* BL */
	{ 0xf800d000, 0xf0009000, CORTEXM_INSN_DIRECT },	/* B */
	{ 0xfff0d000, 0xf3808000, CORTEXM_INSN_SPECIAL },	/* MSR */
	{ 0xffffd000, 0xf3ef8000, CORTEXM_INSN_SPECIAL },	/* MRS */
	{ 0xffffffff, 0xf3af8000, CORTEXM_INSN_PLAIN },		/* NOP */
	{ 0xfffff800, 0xf3af8000, CORTEXM_INSN_SPECIAL },	/* other hints */
	{ 0xfb80d000, 0xf3808000, CORTEXM_INSN_PLAIN },		/* conditions 14 and 15: barriers and others */
	{ 0xf800d000, 0xf0008000, CORTEXM_INSN_COND },		/* B<c> */
	{ 0xfff0ffe0, 0xe8d0f000, CORTEXM_INSN_INDIRECT },	/* TBB, TBH */
	{ 0xffd08000, 0xe8908000, CORTEXM_INSN_RETURN },	/* LDM with pc */
	{ 0xffd08000, 0xe9108000, CORTEXM_INSN_RETURN },	/* LDMDB with pc */
	{ 0xff70f000, 0xf850f000, CORTEXM_INSN_RETURN },	/* LDR pc */
};

static enum cortexm_insn_kind find(const struct pattern *pattern, size_t count, uint32_t opcode)
{
	for (size_t i = 0; i < count; i++) {
		if ((opcode & pattern[i].mask) == pattern[i].value)
			return pattern[i].kind;
	}
	return CORTEXM_INSN_PLAIN;
}

static bool is_it(uint32_t opcode)
{
	return opcode >> 24 == 0xbf && (opcode >> 16 & 0xf);
}

enum cortexm_insn_kind cortexm_insn_kind(uint32_t opcode, bool v8m)
{
	if (cortexm_insn_size(opcode) == 4)
		return find(wide, sizeof(wide) / sizeof(wide[0]), opcode);
	if (!v8m && is_it(opcode))
		return CORTEXM_INSN_PLAIN;
	if (opcode >> 28 < 0xb && opcode >> 28 != 4)	/* nothing in the table */
		return CORTEXM_INSN_PLAIN;
	return find(narrow, sizeof(narrow) / sizeof(narrow[0]), opcode);
}

int32_t cortexm_insn_cond_offset(uint32_t opcode)
{
	uint32_t half = opcode >> 16;

	if (cortexm_insn_size(opcode) == 4) {
		uint32_t offset = (opcode >> 26 & 1) << 20 | (opcode >> 11 & 1) << 19 | (opcode >> 13 & 1) << 18 |
			(half & 0x3f) << 12 | (opcode & 0x7ff) << 1;
		return ((int32_t)(offset << 11) >> 11) + 4;
	}
	if ((half & 0xf000) == 0xd000)
		return (int32_t)(int8_t)(half & 0xff) * 2 + 4;
	return (half >> 9 & 1) * 64 + (half >> 3 & 31) * 2 + 4;
}

int cortexm_insn_condition(uint32_t opcode)
{
	if (cortexm_insn_size(opcode) == 4)
		return opcode >> 22 & 15;
	return opcode >> 28 == 0xd ? (int)(opcode >> 24 & 15) : -1;
}

bool cortexm_condition_holds(unsigned int cond, uint32_t xpsr)
{
	bool n = xpsr >> 31 & 1;
	bool z = xpsr >> 30 & 1;
	bool c = xpsr >> 29 & 1;
	bool v = xpsr >> 28 & 1;
	const bool holds[8] = { z, c, n, v, c && !z, n == v, n == v && !z, true };

	if (cond >= 14)
		return true;
	return holds[cond >> 1] != (cond & 1);
}
