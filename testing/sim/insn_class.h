/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an executed instruction means to a trace unit. The simulator's own small table: it only answers whether the
 * instruction is a P0 instruction (one that gets an atom) and of which family; whether it branched is seen from the
 * discontinuity of the program counter, and where to from the execution itself.
 * Source of the rules: Arm Architecture Reference Manual encodings; list of P0 instructions of the ETE specification.
 */

#ifndef SIM_INSN_CLASS_H
#define SIM_INSN_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum sim_isa {
	SIM_A64,
	SIM_A32,
	SIM_T32,
	SIM_ISA_NUM
};

enum sim_insn_kind {
	SIM_INSN_OTHER,		/* no P0 */
	SIM_INSN_DIRECT,	/* branch whose target is in the opcode */
	SIM_INSN_INDIRECT,	/* branch whose target is not in the opcode */
	SIM_INSN_ISB,		/* P0, never branches */
	SIM_INSN_WFX,		/* WFI, WFE: P0 only if TRCIDR2.WFXMODE */
	SIM_INSN_TSTART,	/* P0, never branches */
	SIM_INSN_KIND_NUM
};

struct sim_insn_class {
	enum sim_insn_kind kind;
	bool link;		/* writes the return address to LR */
	bool conditional;	/* may fall through */
	bool exception_return;	/* ERET family, SUBS PC LR, RFE */
};

/**
 * Classify an instruction.
 * @param isa Instruction set.
 * @param opcode A64, A32: the word. T32: first halfword in the high half, second (0 if 16 bit) in the low half.
 * @returns its class; SIM_INSN_OTHER for everything that is not in the table.
 */
struct sim_insn_class sim_insn_classify(enum sim_isa isa, uint32_t opcode);

/** Size in bytes of an instruction, from its (first half) word as given to sim_insn_classify(). */
unsigned int sim_insn_size(enum sim_isa isa, uint32_t opcode);

/** Name as written in truth logs: a64, a32, t32. */
const char *sim_isa_name(enum sim_isa isa);

#endif
