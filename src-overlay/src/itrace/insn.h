/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an instruction is to the trace: does it end a block, and where does it go.
 *
 * A trace unit reports one atom for each P0 ("waypoint") instruction. Everything between two
 * of them is found in the program image, so a decoder needs only this much of an instruction:
 * its size, its class, and the target if it can be computed.
 *
 * Source of the rules: Arm ARM (DDI 0487, DDI 0406, DDI 0553) encodings; which instructions are
 * P0: IHI 0064 and DDI 0487 chapter D5 (ETE).
 */

#ifndef OPENOCD_ITRACE_INSN_H
#define OPENOCD_ITRACE_INSN_H

#include <stdbool.h>
#include <stdint.h>

enum itrace_isa {
	ITRACE_ISA_A64,
	ITRACE_ISA_A32,
	ITRACE_ISA_T32,
	ITRACE_ISA_NUM
};

enum itrace_insn_class {
	ITRACE_INSN_OTHER,		/* not a waypoint: execution goes on behind it */
	ITRACE_INSN_DIRECT,		/* branch whose target is in the opcode */
	ITRACE_INSN_INDIRECT,		/* branch to a register, memory or stack value */
	ITRACE_INSN_ISB,		/* waypoint that always falls through */
	ITRACE_INSN_WFX,		/* WFI, WFE, WFIT, WFET where TRCIDR2.WFXMODE makes them waypoints */
	ITRACE_INSN_TSTART,		/* FEAT_TME transaction start, falls through */
	ITRACE_INSN_UNDESCRIBED,	/* a branch for which no source says how it is traced (Armv8.1-M BF family) */
	ITRACE_INSN_CLASS_NUM
};

/* flags of struct itrace_insn; the values fit five bits */
#define ITRACE_INSN_LINK	0x01u	/* writes a return address: pushes on the return stack */
#define ITRACE_INSN_COND	0x02u	/* may be not taken / not executed */
#define ITRACE_INSN_RETURN	0x04u	/* A64 RET family */
#define ITRACE_INSN_ERET	0x08u	/* A64 ERET family and TEXIT: an exception return */
#define ITRACE_INSN_IMPLIED_RETURN 0x10u /* A32/T32 idiom that returns: BX LR, POP {PC}, MOV PC,LR ... */

struct itrace_insn {
	uint64_t target;	/* direct branches: where to (bit 0 clear); else 0 */
	uint8_t class;		/* enum itrace_insn_class */
	uint8_t flags;		/* ITRACE_INSN_... */
	uint8_t size;		/* bytes: 2 or 4 */
	uint8_t target_isa;	/* enum itrace_isa behind a taken direct branch */
	uint8_t it_count;	/* T32 IT: number of instructions it makes conditional, 1..4; else 0 */
};

/* Which instructions are waypoints depends on the core and on the trace unit. */
struct itrace_insn_rules {
	bool wfx;	/* WFI/WFE are P0: TRCIDR2.WFXMODE == 1 and trace unit version >= 4.3 */
	bool v8_3;	/* Armv8.3 or later: pointer authentication branches, TEXIT */
	bool v9;	/* "AA64" core: WFIT/WFET as P0 and TSTART */
	bool m_profile;	/* Armv6-M to Armv8.1-M */
};

/*
 * Classify one A64 / A32 instruction.
 * @param opcode the 32-bit word as read little-endian from memory
 * @param addr   its address (not checked for alignment)
 * Always succeeds: what is not in the tables is ITRACE_INSN_OTHER.
 */
void itrace_insn_a64(const struct itrace_insn_rules *rules, uint32_t opcode, uint64_t addr, struct itrace_insn *insn);
void itrace_insn_a32(const struct itrace_insn_rules *rules, uint32_t opcode, uint64_t addr, struct itrace_insn *insn);

/*
 * Classify one T32 instruction.
 * @param hw1 the halfword at addr, @param hw2 the halfword behind it (ignored when hw1 is a 16-bit instruction:
 *            itrace_insn_t32_size() tells)
 * IT blocks are not followed here: a branch in one has ITRACE_INSN_COND added by the walker, which counts @c it_count.
 */
void itrace_insn_t32(const struct itrace_insn_rules *rules, uint16_t hw1, uint16_t hw2, uint64_t addr,
		struct itrace_insn *insn);

/* Size in bytes (2 or 4) of the T32 instruction that begins with halfword @a hw1. */
static inline unsigned int itrace_insn_t32_size(uint16_t hw1)
{
	return hw1 >= 0xe800 ? 4 : 2;
}

/*
 * Fast test of the A64 walker: false when @a opcode is certainly not a waypoint under any rules,
 * true when itrace_insn_a64() has to look. (Bits 28:26 == 101 hold every branch, exception and system instruction;
 * CMPBR is among them.)
 */
static inline bool itrace_insn_a64_may_branch(uint32_t opcode)
{
	return (opcode & 0x1c000000u) == 0x14000000u;
}

#endif /* OPENOCD_ITRACE_INSN_H */
