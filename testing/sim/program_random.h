/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Random programs. A program is a main loop without end that calls a few functions; functions only call functions of a
 * higher number, so that every call returns. Execution is bounded by the caller's instruction budget.
 */

#ifndef PROGRAM_RANDOM_H
#define PROGRAM_RANDOM_H

#include "insn_class.h"
#include "sim_buffer.h"

/** Where programs are run; the trace may report other addresses (the code is position independent for a decoder). */
#define SIM_CODE_BASE 0x10000u
#define SIM_CODE_MAX 0x10000u
#define SIM_DATA_BASE 0x80000u
#define SIM_DATA_SIZE 0x10000u
/** M profile handlers return to this address; nothing else is there. */
#define SIM_RETURN_PAD 0x8000u

/** What a program may contain. */
struct sim_program_options {
	enum sim_isa isa;
	bool m_profile;
	bool interworking;	/* A32 and T32 functions mixed */
	bool pointer_auth;	/* A64 */
	bool isb;
	bool wfx;		/* WFI, WFE and, A64, WFIT, WFET */
	bool svc;
	bool transactions;	/* A64; run by the simulator, not by Unicorn */
	bool straight;		/* long blocks without branches */
	bool tight;		/* nothing behind the last instruction, which may have 16 bits */
};

#define SIM_HANDLER_NUM 2

struct sim_program {
	uint8_t code[SIM_CODE_MAX];
	uint8_t isa_map[SIM_CODE_MAX / 2];	/* enum sim_isa of each halfword */
	uint32_t len;
	uint32_t entry;				/* offsets in code */
	uint32_t handlers[SIM_HANDLER_NUM];	/* exception handlers, ending with an exception return */
	bool m_profile;
	enum sim_isa isa;
};

/** Fill @a program; the same options and random state give the same program. */
void sim_program_random(struct sim_program *program, const struct sim_program_options *options,
		struct sim_random *random);

/** Opcode at an offset, in the form of sim_insn_classify(). */
uint32_t sim_program_opcode(const struct sim_program *program, uint32_t offset);

#endif
