/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Inside of the Xtensa interpreter: what decoding and execution (xtensa_insn.c) and state (xtensa_cpu.c) share. */

#ifndef SIM_XTENSA_INSN_H
#define SIM_XTENSA_INSN_H

#include "xtensa_cpu.h"

#define PS_INTLEVEL	0x0000000fu
#define PS_EXCM		0x00000010u
#define PS_UM		0x00000020u
#define PS_OWB		0x00000f00u
#define PS_OWB_SHIFT	8
#define PS_CALLINC	0x00030000u
#define PS_CALLINC_SHIFT	16
#define PS_WOE		0x00040000u
#define PS_MASK		0x00070fffu

enum xtensa_exccause {
	EXC_ILLEGAL = 0,
	EXC_SYSCALL = 1,
	EXC_FETCH_ERROR = 2,
	EXC_LOAD_STORE_ERROR = 3,
	EXC_LEVEL1_INTERRUPT = 4,
	EXC_ALLOCA = 5,
	EXC_DIVIDE_BY_ZERO = 6,
	EXC_UNALIGNED = 9,
	EXC_COPROCESSOR0 = 32,
};

/* Offsets from VECBASE. */
enum xtensa_vector {
	VECTOR_OVERFLOW4 = 0x000,	/* 8: + 0x80, 12: + 0x100 */
	VECTOR_UNDERFLOW4 = 0x040,	/* 8: + 0x80, 12: + 0x100 */
	VECTOR_LEVEL2 = 0x180,		/* each further level: + 0x40 */
	VECTOR_KERNEL = 0x300,
	VECTOR_USER = 0x340,
	VECTOR_DOUBLE = 0x3c0,
};

/* What executing gives: the cycles it took, and flags. */
#define INSN_CYCLES	0x0ffu
#define INSN_MOVED	0x100u		/* pc is set already; else the next instruction is executed */
#define INSN_FAULT	0x200u		/* an exception was taken instead, or would be by an injected instruction */

#define INSN_NEXT	1u
#define INSN_DIVIDE	13u
#define INSN_TAKEN	(3u | INSN_MOVED)
#define INSN_FAULTED	(1u | INSN_MOVED | INSN_FAULT)

/* 24 bytes: a cache line holds two and more. */
struct xtensa_decoded {
	unsigned int (*execute)(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn);
	uint32_t pc;
	int32_t imm;		/* constant; a jump's, call's or L32R's address */
	int16_t offset;		/* of a branch, from pc */
	uint8_t len;
	uint8_t r, s, t;
	uint8_t panes;		/* highest AR that is named, divided by 4 */
	bool flow;		/* not to be injected */
};

/*
 * Decode what is at @a pc, in at least 3 bytes (2 if it is a short one).
 * @returns false if @a len bytes are not enough; an unknown instruction decodes to one that faults.
 */
bool xtensa_decode(struct xtensa_decoded *insn, uint32_t pc, const uint8_t *bytes, size_t len);

static inline uint32_t *xtensa_ar(struct xtensa_cpu *cpu, unsigned int n)
{
	return &cpu->ar[(cpu->window_at + n) & cpu->ar_mask];
}

/* Exceptions: take it, @returns what the instruction's function has to return. */
unsigned int xtensa_raise(struct xtensa_cpu *cpu, enum xtensa_exccause cause);
unsigned int xtensa_raise_at(struct xtensa_cpu *cpu, enum xtensa_exccause cause, uint32_t vaddr);
unsigned int xtensa_raise_debug(struct xtensa_cpu *cpu, uint32_t debug_cause);
unsigned int xtensa_window_overflow(struct xtensa_cpu *cpu);

/* Special registers with what happens when they are read and written. */
uint32_t xtensa_sr_read(struct xtensa_cpu *cpu, unsigned int sr);
void xtensa_sr_write(struct xtensa_cpu *cpu, unsigned int sr, uint32_t value);
void xtensa_ps_write(struct xtensa_cpu *cpu, uint32_t value);

/* Windows. */
void xtensa_rotate(struct xtensa_cpu *cpu, unsigned int panes);
bool xtensa_window_live(const struct xtensa_cpu *cpu, int panes);
unsigned int xtensa_window_return(struct xtensa_cpu *cpu);
void xtensa_window_mark(struct xtensa_cpu *cpu, bool live);

/* Memory. @returns 0 or what the instruction's function has to return. */
unsigned int xtensa_load(struct xtensa_cpu *cpu, uint32_t addr, unsigned int size, uint32_t *value);
unsigned int xtensa_load_literal(struct xtensa_cpu *cpu, uint32_t addr, uint32_t *value);
unsigned int xtensa_store(struct xtensa_cpu *cpu, uint32_t addr, unsigned int size, uint32_t value);

#endif /* SIM_XTENSA_INSN_H */
