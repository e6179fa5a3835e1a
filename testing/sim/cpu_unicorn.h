/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Executes programs with Unicorn and reports every instruction with what came next. Exceptions, their returns, waits
 * and transactions are done by the simulator itself: on entry it saves all registers, on return it puts them back.
 */

#ifndef CPU_UNICORN_H
#define CPU_UNICORN_H

#include "ete_encoder.h"
#include "program_random.h"

struct sim_cpu;

enum sim_cpu_kind {
	SIM_CPU_A64,
	SIM_CPU_A32,	/* A32 and T32 */
	SIM_CPU_M,
	SIM_CPU_KIND_NUM
};

/** What the client wants to happen before an instruction. */
enum sim_cpu_action {
	SIM_CPU_GO,
	SIM_CPU_STOP,
	SIM_CPU_EXCEPTION,	/* next_exception() tells which */
	SIM_CPU_RESET,		/* go on at the entry */
};

/** Receiver of a run; all functions are called in program order. Addresses are those of the program in memory. */
struct sim_cpu_client {
	void *ctx;
	/* Before the instruction at @pc; quiet: no exception may be injected here. */
	enum sim_cpu_action (*before)(void *ctx, uint64_t pc, bool quiet);
	void (*insn)(void *ctx, const struct ete_insn *insn);
	/* Before the first instruction of a handler; @pra may be ETE_TAIL_CHAINED. call: by an SVC.
	 * false: the client has done everything, the program goes on at @pra. */
	bool (*exception)(void *ctx, bool call, uint64_t pra, enum sim_isa isa);
	/* Before the returning instruction is reported; false (only if may_chain): the next one is tail chained. */
	bool (*exception_return)(void *ctx, bool may_chain);
	void (*reset)(void *ctx);
	void (*transaction)(void *ctx, int what);	/* 1 start, 2 commit, 3 fail */
	/* The program is a handler: the run ends with its return, which is reported with next_pc SIM_RETURN_PAD. */
	bool ends_with_return;
};

/** Create a CPU; reusable for any number of programs. @returns NULL if Unicorn refuses. */
struct sim_cpu *sim_cpu_new(enum sim_cpu_kind kind);

/** Release it. */
void sim_cpu_free(struct sim_cpu *cpu);

/** Write or read the data memory of the program (SIM_DATA_BASE). @returns false if it is not all there. */
bool sim_cpu_write(struct sim_cpu *cpu, uint64_t address, const void *data, size_t len);
bool sim_cpu_read(struct sim_cpu *cpu, uint64_t address, void *data, size_t len);

/**
 * Run a program from its entry.
 * @param max_insns Stop after so many instructions.
 * @returns NULL if all went well, else what went wrong (static text).
 */
const char *sim_cpu_run(struct sim_cpu *cpu, const struct sim_program *program, uint64_t max_insns,
		const struct sim_cpu_client *client);

#endif
