/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a Thumb instruction of an M profile core is, as far as the simulator has to know: its size, whether it can
 * change the PC, and whether the simulator executes it itself.
 */

#ifndef CORTEXM_INSN_H
#define CORTEXM_INSN_H

#include <stdbool.h>
#include <stdint.h>

enum cortexm_insn_kind {
	CORTEXM_INSN_PLAIN,
	CORTEXM_INSN_COND,	/* direct branch that may fall through */
	CORTEXM_INSN_DIRECT,	/* direct branch, always taken */
	CORTEXM_INSN_INDIRECT,	/* target from a register or table, no exception return */
	CORTEXM_INSN_RETURN,	/* the same, and EXC_RETURN values are exception returns */
	CORTEXM_INSN_SPECIAL,	/* not for Unicorn */
};

/** Instructions as first halfword << 16 | second halfword; the second is ignored if there is none. */
static inline unsigned int cortexm_insn_size(uint32_t opcode)
{
	return opcode >> 29 == 7 && opcode >> 27 != 0x1c ? 4 : 2;
}

/** @a v8m: IT blocks exist. */
enum cortexm_insn_kind cortexm_insn_kind(uint32_t opcode, bool v8m);

/** Offset from the instruction to the target of a CORTEXM_INSN_COND. */
int32_t cortexm_insn_cond_offset(uint32_t opcode);

/** The condition field of a B<c>, -1 for CBZ and CBNZ. */
int cortexm_insn_condition(uint32_t opcode);

/** Does condition @a cond hold with these flags (NZCV in bits 31 to 28)? */
bool cortexm_condition_holds(unsigned int cond, uint32_t xpsr);

#endif
