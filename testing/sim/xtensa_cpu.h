/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An Xtensa LX core: an interpreter with the debug option.
 *
 * The core knows no probe and no debug module. The debug module (xdm.h) starts and stops it and injects instructions
 * by the functions below; memory and peripherals are behind struct xtensa_bus. Time is the core's own cycle counter;
 * whoever owns the core says up to which cycle it may run.
 *
 * Instruction set: the core ISA with density, L32R, MUL16, MUL32, DIV32, MIN/MAX, SEXT, NSA, CLAMPS, loops, windowed
 * registers (64 AR), S32C1I, exceptions and interrupts of high priority. Encodings and semantics are Cadence's ISA
 * summary. Cache and TLB writes do nothing. What is not there is an illegal instruction: MAC16, booleans, floating
 * point beyond moves, external registers (RER, WER), reading TLBs and cache tags.
 */

#ifndef SIM_XTENSA_CPU_H
#define SIM_XTENSA_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XTENSA_AR_COUNT		64u
#define XTENSA_WINDOW_COUNT	(XTENSA_AR_COUNT / 4u)
#define XTENSA_INTLEVELS	7u

/* Special registers, by the number that RSR, WSR and XSR carry. */
enum xtensa_sr {
	XTENSA_SR_LBEG = 0x00,
	XTENSA_SR_LEND = 0x01,
	XTENSA_SR_LCOUNT = 0x02,
	XTENSA_SR_SAR = 0x03,
	XTENSA_SR_SCOMPARE1 = 0x0c,
	XTENSA_SR_WINDOWBASE = 0x48,
	XTENSA_SR_WINDOWSTART = 0x49,
	XTENSA_SR_IBREAKENABLE = 0x60,
	XTENSA_SR_ATOMCTL = 0x63,
	XTENSA_SR_DDR = 0x68,
	XTENSA_SR_IBREAKA0 = 0x80,
	XTENSA_SR_DBREAKA0 = 0x90,
	XTENSA_SR_DBREAKC0 = 0xa0,
	XTENSA_SR_EPC1 = 0xb1,		/* ... EPC7 = 0xb7 */
	XTENSA_SR_DEPC = 0xc0,
	XTENSA_SR_EPS2 = 0xc2,		/* ... EPS7 = 0xc7 */
	XTENSA_SR_EXCSAVE1 = 0xd1,	/* ... EXCSAVE7 = 0xd7 */
	XTENSA_SR_CPENABLE = 0xe0,
	XTENSA_SR_INTERRUPT = 0xe2,	/* read; write is INTSET */
	XTENSA_SR_INTCLEAR = 0xe3,
	XTENSA_SR_INTENABLE = 0xe4,
	XTENSA_SR_PS = 0xe6,
	XTENSA_SR_VECBASE = 0xe7,
	XTENSA_SR_EXCCAUSE = 0xe8,
	XTENSA_SR_DEBUGCAUSE = 0xe9,
	XTENSA_SR_CCOUNT = 0xea,
	XTENSA_SR_PRID = 0xeb,
	XTENSA_SR_ICOUNT = 0xec,
	XTENSA_SR_ICOUNTLEVEL = 0xed,
	XTENSA_SR_EXCVADDR = 0xee,
	XTENSA_SR_CCOMPARE0 = 0xf0,	/* ... CCOMPARE2 = 0xf2 */
	XTENSA_SR_MISC0 = 0xf4,
};

/* DEBUGCAUSE */
#define XTENSA_CAUSE_ICOUNT	(1u << 0)
#define XTENSA_CAUSE_IBREAK	(1u << 1)
#define XTENSA_CAUSE_DBREAK	(1u << 2)
#define XTENSA_CAUSE_BREAK	(1u << 3)
#define XTENSA_CAUSE_BREAKN	(1u << 4)
#define XTENSA_CAUSE_DEBUGINT	(1u << 5)

enum xtensa_run {
	XTENSA_RUNNING,		/* the cycle asked for was reached */
	XTENSA_STOPPED,		/* the core entered OCD mode; debug_cause says why */
};

/* How the bus answers. */
enum xtensa_bus_result {
	XTENSA_BUS_OK,
	XTENSA_BUS_ERROR,	/* nothing is there: load/store error or instruction fetch error */
};

/*
 * What is behind the core. @a size is 1, 2 or 4, and @a addr a multiple of it. A callback may call xtensa_cpu_irq() and
 * xtensa_cpu_code_changed(), but neither run nor stop the core.
 */
struct xtensa_bus {
	void *ctx;
	enum xtensa_bus_result (*read)(void *ctx, uint32_t addr, unsigned int size, uint32_t *value);
	enum xtensa_bus_result (*write)(void *ctx, uint32_t addr, unsigned int size, uint32_t value);
	/* Pointer to the instruction bytes at @a addr and how many follow there, NULL: nothing to fetch. */
	const uint8_t *(*fetch)(void *ctx, uint32_t addr, size_t *len);
	/*
	 * May be NULL. Plain memory with nothing to notice about reads and writes: loads and stores of a whole word or
	 * less go there without asking again. @returns its first byte, at the address *start, or NULL: use read and write.
	 */
	uint8_t *(*memory)(void *ctx, uint32_t addr, uint32_t *start, uint32_t *len);
};

/* Plain memory that the core has found by xtensa_bus.memory. */
struct xtensa_memory {
	uint8_t *bytes;
	uint32_t start, len;
};

/* What the core does when an injected XSR names DDR. */
enum xtensa_xsr_ddr {
	XTENSA_XSR_SWAPS,
	XTENSA_XSR_READS_ONLY,		/* behaves as RSR */
	XTENSA_XSR_FAULTS,
};

struct xtensa_config {
	unsigned int debug_level;	/* 6: ESP32; 4: RT600 HiFi4 */
	unsigned int excm_level;	/* 3 */
	uint32_t reset_vector;
	uint32_t vecbase;		/* reset value of VECBASE */
	uint32_t prid;			/* 0xcdcd: cpu0, 0xabab: cpu1 */
	uint32_t timer_interrupt[3];	/* interrupt number of CCOMPARE0..2 */
	uint8_t interrupt_level[32];	/* level of each interrupt number, 0: not there */
	bool lddr32p;			/* LDDR32.P and SDDR32.P exist */
	enum xtensa_xsr_ddr xsr_ddr;
	bool ccount_stops;		/* CCOUNT stands still in OCD mode */
	unsigned int ar_count;		/* 64 (or 0) or 32 */
};

struct xtensa_decoded;	/* the interpreter's own */

struct xtensa_cpu {
	struct xtensa_config config;
	struct xtensa_bus bus;

	uint32_t pc;			/* running: next instruction; in OCD mode: see EPC[debug_level] */
	uint32_t ar[XTENSA_AR_COUNT];	/* physical */
	uint32_t sr[256];		/* values by number; WINDOWBASE, PS ... live here too */
	uint32_t ur[256];		/* user registers, by RUR number */
	uint32_t fr[16];		/* floating point registers: only moved, never computed with */
	uint32_t ddr;			/* the debug data register as the core sees it */
	bool ddr_read, ddr_written;	/* by the core since the debug module cleared these */

	uint64_t cycle;			/* of the core's clock, also counted in OCD mode and in WAITI */
	uint64_t retired;		/* instructions of the program, injected and faulting ones not counted */
	uint64_t standing;		/* cycles spent in OCD mode */
	uint64_t stalled;		/* cycles spent in run_stall */
	bool in_ocd;			/* stopped for the debugger */
	bool waiting;			/* in WAITI */
	bool run_stall;			/* held from outside: time passes, nothing executes */
	uint32_t debug_cause;		/* as DEBUGCAUSE, of the last stop */
	uint32_t irq_lines;		/* level interrupts from outside, by number; while the core runs: xtensa_cpu_irq() */

	/*
	 * Exact record: cycles spent at each instruction, for code inside [profile_start, profile_end). Time in WAITI
	 * counts at the instruction behind the WAITI, which is where a debug interrupt would find the core. Time in OCD
	 * mode and under run_stall is not the program's and counts nowhere here. So, all since they were cleared together:
	 * sum of profile[] + profile_outside == cycle - standing - stalled.
	 */
	uint64_t *profile;		/* one counter a byte address; NULL: not recorded */
	uint32_t profile_start, profile_end;
	uint64_t profile_outside;	/* cycles at addresses outside of it */

	struct xtensa_decoded *decoded;	/* decode cache */

	/* From here on the interpreter's own. */
	uint32_t window_at;		/* index in ar[] of the current a0 */
	uint32_t ar_mask;		/* number of AR - 1 */
	uint32_t panes_free;		/* how many groups of 4 AR above a0..a3 need no overflow exception, 0 to 3 */
	uint32_t interrupts;		/* latched: timers, software, NMI */
	uint32_t nmi_seen;		/* lines of level 7 as they were last */
	uint32_t level_mask[XTENSA_INTLEVELS + 1];	/* interrupt numbers of a level */
	uint32_t ccount_offset;
	uint64_t timer_due[3];		/* in cycles as CCOUNT counts them, but 64 bits wide */
	uint64_t limit;			/* the inner loop runs up to this cycle; 0: look around now */
	uint32_t code_low, code_high;	/* where decoded instructions are */
	struct xtensa_memory data, literals;
	bool ocd_enabled, injecting, watching;
};

/* Storage is the caller's. Also resets. @returns 0, or -1: no memory for the decode cache. */
int xtensa_cpu_init(struct xtensa_cpu *cpu, const struct xtensa_config *config, const struct xtensa_bus *bus);
void xtensa_cpu_free(struct xtensa_cpu *cpu);

/* As a core reset does: registers that the architecture leaves undefined keep their values. Leaves OCD mode. */
void xtensa_cpu_reset(struct xtensa_cpu *cpu);

/* Memory was written from outside (by another core too): forget what was decoded there. Own stores are noticed. */
void xtensa_cpu_code_changed(struct xtensa_cpu *cpu, uint32_t addr, uint32_t len);

/* The memory map changed: ask xtensa_bus.memory again, and forget all that was decoded. */
void xtensa_cpu_map_changed(struct xtensa_cpu *cpu);

/* Level interrupts from outside, by number. May be called by a bus callback. */
void xtensa_cpu_irq(struct xtensa_cpu *cpu, uint32_t lines);

/*
 * Run until @a cycle is at least @a until (it may pass it by the rest of the last instruction) or the core enters OCD
 * mode by itself: BREAK, BREAK.N, IBREAK, DBREAK, ICOUNT, provided that @a ocd_enabled. In OCD mode, stalled or
 * in WAITI time passes in one step. A core that is in OCD mode already gives XTENSA_RUNNING.
 *
 * An instruction costs 1 cycle, a taken branch, jump, call or return (from exceptions too) 3, a divide 13. Going back
 * at the end of a zero-overhead loop costs nothing, going past it without a round (LOOPNEZ, LOOPGTZ) is a taken branch.
 * An instruction that faults, also by a window overflow, costs 1, and if it is executed again then its full price.
 * Taking an interrupt costs nothing.
 *
 * Without @a ocd_enabled these debug exceptions go to the vector of level debug_level, as any interrupt of that level.
 */
enum xtensa_run xtensa_cpu_run(struct xtensa_cpu *cpu, uint64_t until, bool ocd_enabled);

/* Take an interrupt that is due, as xtensa_cpu_run() does first; no time passes. pc is then what gets executed next. */
void xtensa_cpu_settle(struct xtensa_cpu *cpu);

/*
 * Would a debug interrupt be taken now? False while PS.INTLEVEL >= debug_level, unless @a all_conditions, and in OCD
 * mode.
 */
bool xtensa_cpu_can_interrupt(const struct xtensa_cpu *cpu, bool all_conditions);

/*
 * Enter OCD mode between two instructions, as a debug interrupt does: EPC[L] = pc, EPS[L] = PS, DEBUGCAUSE = cause,
 * PS.INTLEVEL = L, PS.EXCM = 1. A core in WAITI stops behind the WAITI. In OCD mode already: only adds to DEBUGCAUSE.
 */
void xtensa_cpu_stop(struct xtensa_cpu *cpu, uint32_t cause);

enum xtensa_inject {
	XTENSA_INJECT_DONE,
	XTENSA_INJECT_EXCEPTION,	/* the instruction faulted: no register changed, the core stays in OCD mode */
	XTENSA_INJECT_RESUMED,		/* it was RFDO or RFDD: the core runs */
};

/*
 * Execute one instruction word (as written to DIR0EXEC) in OCD mode. All of RSR, WSR, XSR (any SR, DDR included), RUR,
 * WUR, RFR, WFR, ROTW, RFDO, RFDD, LDDR32.P, SDDR32.P, loads, stores, cache instructions (no effect), and everything
 * else that the interpreter knows but jumps, branches, calls, returns, loops, WAITI, BREAK and SYSCALL: these fault. No
 * time passes. Window overflow, if PS asks for it, is a fault too.
 */
enum xtensa_inject xtensa_cpu_inject(struct xtensa_cpu *cpu, uint32_t insn);

/* AR of the current window, 0 to 15. */
uint32_t xtensa_cpu_a(const struct xtensa_cpu *cpu, unsigned int n);

#endif /* SIM_XTENSA_CPU_H */
