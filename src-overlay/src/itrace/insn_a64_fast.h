/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The A64 instructions that nearly all blocks end with (and NOP), told from all else by one comparison, inline.
 *
 * Private to the core. Exactly what itrace_insn_a64() would give; it asks here first. They are in its rows, too.
 */

#ifndef OPENOCD_ITRACE_INSN_A64_FAST_H
#define OPENOCD_ITRACE_INSN_A64_FAST_H

#include "insn.h"

/* Where in the encoding an opcode of itrace_insn_a64_may_branch() is: bits 31:29 and 25. */
static inline unsigned int itrace_insn_a64_place(uint32_t opcode)
{
	return (opcode >> 28 & 0xe) | (opcode >> 25 & 0x1);
}

struct itrace_insn_a64_common {
	uint32_t mask;
	uint32_t value;
	uint8_t left;	/* shifts that leave the word offset, sign-extended; of no meaning for indirect branches */
	uint8_t right;
	uint8_t class;
	uint8_t flags;
};

#define ITRACE_A64_B(value)	{ 0xfc000000, value, 6, 6, ITRACE_INSN_DIRECT, 0 }
#define ITRACE_A64_BL(value)	{ 0xfc000000, value, 6, 6, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK }
#define ITRACE_A64_CBZ(value)	{ 0xfe000000, value, 8, 13, ITRACE_INSN_DIRECT, ITRACE_INSN_COND }
#define ITRACE_A64_TBZ(value)	{ 0xfe000000, value, 13, 18, ITRACE_INSN_DIRECT, ITRACE_INSN_COND }
#define ITRACE_A64_NOTHING	{ 0, 1, 0, 0, ITRACE_INSN_OTHER, 0 }

/* One for each place. */
static const struct itrace_insn_a64_common itrace_insn_a64_commons[16] = {
	ITRACE_A64_B(0x14000000),
	ITRACE_A64_B(0x16000000 & 0xfc000000),
	ITRACE_A64_CBZ(0x34000000),
	ITRACE_A64_TBZ(0x36000000),
	/* B.EQ to B.VC, BC.EQ to BC.VC */
	{ 0xff000008, 0x54000000, 8, 13, ITRACE_INSN_DIRECT, ITRACE_INSN_COND },
	ITRACE_A64_NOTHING,
	ITRACE_A64_NOTHING,
	ITRACE_A64_NOTHING,
	ITRACE_A64_BL(0x94000000),
	ITRACE_A64_BL(0x96000000 & 0xfc000000),
	ITRACE_A64_CBZ(0xb4000000),
	ITRACE_A64_TBZ(0xb6000000),
	/* NOP: no waypoint, but among them by its encoding */
	{ 0xffffffff, 0xd503201f, 0, 0, ITRACE_INSN_OTHER, 0 },
	/* RET */
	{ 0xfffffc1f, 0xd65f0000, 0, 0, ITRACE_INSN_INDIRECT, ITRACE_INSN_RETURN },
	ITRACE_A64_NOTHING,
	ITRACE_A64_NOTHING,
};

/*
 * @param opcode one for which itrace_insn_a64_may_branch() is true
 * @returns true with target, class and flags of *insn set; false, with nothing set, when it is none of these.
 */
static inline bool itrace_insn_a64_common(uint32_t opcode, uint64_t addr, struct itrace_insn *insn)
{
	const struct itrace_insn_a64_common *common = &itrace_insn_a64_commons[itrace_insn_a64_place(opcode)];

	if ((opcode & common->mask) != common->value)
		return false;
	const int32_t words = (int32_t)(opcode << common->left) >> common->right;
	const uint64_t target = (addr + (uint64_t)(int64_t)words * 4) & ~UINT64_C(1);
	insn->class = common->class;
	insn->flags = common->flags;
	insn->target = common->class == ITRACE_INSN_DIRECT ? target : 0;
	return true;
}

#endif /* OPENOCD_ITRACE_INSN_A64_FAST_H */
