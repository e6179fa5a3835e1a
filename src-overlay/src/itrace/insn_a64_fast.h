/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The A64 instructions that nearly all blocks end with (and hints), told from all else by one comparison, inline.
 *
 * Private to the core. Exactly what itrace_insn_a64() would give; it asks here first. They are in its rows, too. What
 * a block ends with cannot be predicted, so there is one row for each value of bits 31:24 and no scan.
 */

#ifndef OPENOCD_ITRACE_INSN_A64_FAST_H
#define OPENOCD_ITRACE_INSN_A64_FAST_H

#include "insn.h"

struct itrace_insn_a64_common {
	uint32_t mask;	/* it is what the row says when (opcode & mask) == value, */
	uint32_t value;
	uint32_t but;	/* and not all of these bits are set */
	uint8_t left;	/* direct branches: shifts that leave the word offset, sign-extended */
	uint8_t right;
	uint8_t class;
	uint8_t flags;
	uint8_t pick;	/* 3: bits 22:21 pick further flags, as BR, BLR, RET have them */
};

#define ITRACE_A64_NEVER	0xffffffffu	/* "but" of rows without exception: no opcode in them is all ones */
#define ITRACE_A64_B(flags)	{ 0, 0, ITRACE_A64_NEVER, 6, 6, ITRACE_INSN_DIRECT, flags, 0 }
#define ITRACE_A64_CBZ		{ 0, 0, ITRACE_A64_NEVER, 8, 13, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0 }
#define ITRACE_A64_TBZ		{ 0, 0, ITRACE_A64_NEVER, 13, 18, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0 }

/* Rows of zeros have an empty "but", whose bits are all set in every opcode: nothing is what they say. */
static const struct itrace_insn_a64_common itrace_insn_a64_commons[256] = {
	[0x14] = ITRACE_A64_B(0), ITRACE_A64_B(0), ITRACE_A64_B(0), ITRACE_A64_B(0),
	[0x34] = ITRACE_A64_CBZ, ITRACE_A64_CBZ, ITRACE_A64_TBZ, ITRACE_A64_TBZ,
	/* B.cond, BC.cond, but not AL and NV, which are always taken */
	[0x54] = { 0, 0, 0xe, 8, 13, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0 },
	[0x94] = ITRACE_A64_B(ITRACE_INSN_LINK), ITRACE_A64_B(ITRACE_INSN_LINK), ITRACE_A64_B(ITRACE_INSN_LINK),
	ITRACE_A64_B(ITRACE_INSN_LINK),
	[0xb4] = ITRACE_A64_CBZ, ITRACE_A64_CBZ, ITRACE_A64_TBZ, ITRACE_A64_TBZ,
	/* hints, but not those with bit 6, among which are WFE and WFI: no waypoints */
	[0xd5] = { 0xfffff01f, 0xd503201f, 0x40, 0, 0, ITRACE_INSN_OTHER, 0, 0 },
	/* BR, BLR, RET */
	[0xd6] = { 0xff9ffc1f, 0xd61f0000, 0x600000, 0, 0, ITRACE_INSN_INDIRECT, 0, 3 },
};

/*
 * @param opcode one for which itrace_insn_a64_may_branch() is true
 * @returns true with target, class and flags of *insn set; false, with nothing set, when it is none of these.
 */
static inline bool itrace_insn_a64_common(uint32_t opcode, uint64_t addr, struct itrace_insn *insn)
{
	static const uint8_t picked[4] = { 0, ITRACE_INSN_LINK, ITRACE_INSN_RETURN, 0 };
	const struct itrace_insn_a64_common *common = &itrace_insn_a64_commons[opcode >> 24];

	/* one test, not two */
	if (((opcode & common->mask) ^ common->value) | ((opcode & common->but) == common->but))
		return false;
	const int32_t words = (int32_t)(opcode << common->left) >> common->right;
	const uint64_t target = (addr + (uint64_t)(int64_t)words * 4) & ~UINT64_C(1);
	insn->class = common->class;
	insn->flags = common->flags | picked[opcode >> 21 & common->pick];
	insn->target = common->class == ITRACE_INSN_DIRECT ? target : 0;
	return true;
}

#endif /* OPENOCD_ITRACE_INSN_A64_FAST_H */
