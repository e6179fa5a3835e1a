// SPDX-License-Identifier: GPL-2.0-or-later

#include "cpu_unicorn.h"

#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#define NEST_MAX 3
#define PAGE 0x1000u

enum stop_reason {
	STOP_NONE,
	STOP_BUDGET,	/* or the client's wish */
	STOP_EXCEPTION,
	STOP_RESET,
	STOP_SPECIAL,	/* an instruction that the simulator does itself */
	STOP_PAD,	/* an M profile handler returned */
};

struct saved_state {
	uc_context *context;
	uint64_t pc;
};

struct sim_cpu {
	enum sim_cpu_kind kind;
	uc_engine *uc;
	uc_context *reset_state;
	uc_context *stop_state;		/* before the instruction that was stopped at */
	const struct sim_program *program;
	const struct sim_cpu_client *client;
	uint64_t left;

	bool have_last;			/* an executed instruction not yet reported: its successor is unknown */
	struct ete_insn last;
	enum stop_reason stop;
	uint64_t stop_pc;
	unsigned int it_left;		/* instructions left in a T32 IT block */

	struct saved_state saved[NEST_MAX];
	unsigned int nest;
	bool in_transaction;
	uint64_t transaction_pc;	/* of TSTART */
	unsigned int transaction_reg;
};

static enum sim_isa isa_at(const struct sim_cpu *cpu, uint64_t pc)
{
	uint64_t offset = pc - SIM_CODE_BASE;

	if (offset >= SIM_CODE_MAX)
		return cpu->program->isa;
	return cpu->program->isa_map[offset / 2];
}

static void report(struct sim_cpu *cpu, uint64_t next_pc, bool exception_return)
{
	if (!cpu->have_last)
		return;
	cpu->have_last = false;
	cpu->last.next_pc = next_pc;
	cpu->last.next_isa = isa_at(cpu, next_pc);
	cpu->last.exception_return = exception_return;
	cpu->client->insn(cpu->client->ctx, &cpu->last);
}

static void start_insn(struct sim_cpu *cpu, uint64_t pc, uint32_t opcode)
{
	memset(&cpu->last, 0, sizeof(cpu->last));
	cpu->last.pc = pc;
	cpu->last.isa = isa_at(cpu, pc);
	cpu->last.opcode = opcode;
	cpu->have_last = true;
}

static bool is_svc(enum sim_isa isa, uint32_t opcode)
{
	switch (isa) {
	case SIM_A64:
		return (opcode & 0xffe0001f) == 0xd4000001;
	case SIM_A32:
		return (opcode & 0x0f000000) == 0x0f000000 && (opcode >> 28) != 15;
	default:
		return (opcode & 0xff000000) == 0xdf000000;
	}
}

static bool is_tcommit(enum sim_isa isa, uint32_t opcode)
{
	return isa == SIM_A64 && opcode == 0xd503307f;
}

static bool is_tcancel(enum sim_isa isa, uint32_t opcode)
{
	return isa == SIM_A64 && (opcode & 0xffe0001f) == 0xd4600000;
}

static bool is_special(enum sim_isa isa, uint32_t opcode)
{
	struct sim_insn_class class = sim_insn_classify(isa, opcode);

	return class.exception_return || class.kind == SIM_INSN_WFX || class.kind == SIM_INSN_TSTART ||
		is_svc(isa, opcode) || is_tcommit(isa, opcode) || is_tcancel(isa, opcode);
}

static void count_it(struct sim_cpu *cpu, enum sim_isa isa, uint32_t opcode)
{
	if (cpu->it_left) {
		cpu->it_left--;
		return;
	}
	if (isa != SIM_T32 || (opcode & 0xff000000) != 0xbf000000)
		return;
	unsigned int mask = (opcode >> 16) & 15;
	if (mask)
		cpu->it_left = 4 - __builtin_ctz(mask);
}

/*
 * Unicorn does not report instructions of an IT block whose condition fails. A branch can only be the last of a block,
 * so whatever lies between the last one reported and @a pc was passed over.
 */
static void insert_skipped(struct sim_cpu *cpu, uint64_t pc)
{
	while (cpu->have_last && cpu->it_left) {
		uint64_t next = cpu->last.pc + sim_insn_size(cpu->last.isa, cpu->last.opcode);
		if (next == pc)
			return;
		report(cpu, next, false);
		uint32_t opcode = sim_program_opcode(cpu->program, next - SIM_CODE_BASE);
		start_insn(cpu, next, opcode);
		count_it(cpu, SIM_T32, opcode);
	}
}

static void stop_at(struct sim_cpu *cpu, enum stop_reason reason, uint64_t pc)
{
	cpu->stop = reason;
	cpu->stop_pc = pc;
	/* Unicorn sometimes executes the instruction although it was told to stop before it. */
	uc_context_save(cpu->uc, cpu->stop_state);
	uc_emu_stop(cpu->uc);
}

static void on_code(uc_engine *uc, uint64_t pc, uint32_t size, void *user)
{
	struct sim_cpu *cpu = user;

	(void)uc;
	(void)size;
	if (cpu->stop)
		return;
	if (pc == SIM_RETURN_PAD) {
		stop_at(cpu, STOP_PAD, pc);
		return;
	}
	insert_skipped(cpu, pc);
	report(cpu, pc, false);
	if (!cpu->left) {
		stop_at(cpu, STOP_BUDGET, pc);
		return;
	}
	switch (cpu->client->before(cpu->client->ctx, pc, cpu->it_left || cpu->in_transaction ||
			cpu->nest == NEST_MAX)) {
	case SIM_CPU_GO:
		break;
	case SIM_CPU_STOP:
		stop_at(cpu, STOP_BUDGET, pc);
		return;
	case SIM_CPU_EXCEPTION:
		stop_at(cpu, STOP_EXCEPTION, pc);
		return;
	case SIM_CPU_RESET:
		stop_at(cpu, STOP_RESET, pc);
		return;
	}
	enum sim_isa isa = isa_at(cpu, pc);
	uint32_t opcode = sim_program_opcode(cpu->program, pc - SIM_CODE_BASE);
	if (is_special(isa, opcode)) {
		stop_at(cpu, STOP_SPECIAL, pc);
		return;
	}
	cpu->left--;
	start_insn(cpu, pc, opcode);
	count_it(cpu, isa, opcode);
}

static int reg_lr(const struct sim_cpu *cpu)
{
	return cpu->kind == SIM_CPU_A64 ? UC_ARM64_REG_X30 : UC_ARM_REG_LR;
}

static void write_reg(struct sim_cpu *cpu, int reg, uint64_t value)
{
	uc_reg_write(cpu->uc, reg, &value);
}

/* @returns where to go on. */
static uint64_t enter_exception(struct sim_cpu *cpu, bool call, uint64_t pra, bool chained)
{
	uint64_t handler = SIM_CODE_BASE + cpu->program->handlers[call ? 1 : 0];

	if (!chained) {
		struct saved_state *saved = &cpu->saved[cpu->nest++];
		uc_context_save(cpu->uc, saved->context);
		saved->pc = pra;
	}
	if (!cpu->client->exception(cpu->client->ctx, call, chained ? ETE_TAIL_CHAINED : pra, isa_at(cpu, pra))) {
		cpu->nest--;
		return pra;
	}
	if (cpu->kind == SIM_CPU_M)
		write_reg(cpu, reg_lr(cpu), SIM_RETURN_PAD | 1);
	return handler;
}

static uint64_t leave_exception(struct sim_cpu *cpu)
{
	struct saved_state *saved;

	if (!cpu->nest) {
		report(cpu, SIM_RETURN_PAD, false);
		return 0;
	}
	if (!cpu->client->exception_return(cpu->client->ctx, cpu->kind == SIM_CPU_M)) {
		report(cpu, ETE_TAIL_CHAINED, true);
		return enter_exception(cpu, false, cpu->saved[cpu->nest - 1].pc, true);
	}
	saved = &cpu->saved[--cpu->nest];
	uc_context_restore(cpu->uc, saved->context);
	report(cpu, saved->pc, cpu->kind == SIM_CPU_M);
	return saved->pc;
}

static uint64_t do_transaction(struct sim_cpu *cpu, uint64_t pc, uint32_t opcode, struct sim_insn_class class)
{
	if (class.kind == SIM_INSN_TSTART) {
		cpu->in_transaction = true;
		cpu->transaction_pc = pc;
		cpu->transaction_reg = opcode & 31;
		write_reg(cpu, UC_ARM64_REG_X0 + cpu->transaction_reg, 0);
		report(cpu, pc + 4, false);
		cpu->client->transaction(cpu->client->ctx, 1);
		return pc + 4;
	}
	if (!cpu->in_transaction) {
		report(cpu, pc + 4, false);
		return pc + 4;
	}
	cpu->in_transaction = false;
	if (is_tcommit(SIM_A64, opcode)) {
		report(cpu, pc + 4, false);
		cpu->client->transaction(cpu->client->ctx, 2);
		return pc + 4;
	}
	write_reg(cpu, UC_ARM64_REG_X0 + cpu->transaction_reg, 1);
	report(cpu, cpu->transaction_pc + 4, false);
	cpu->client->transaction(cpu->client->ctx, 3);
	return cpu->transaction_pc + 4;
}

/* @returns where to go on, 0 on an exception return without exception. */
static uint64_t do_special(struct sim_cpu *cpu, uint64_t pc)
{
	enum sim_isa isa = isa_at(cpu, pc);
	uint32_t opcode = sim_program_opcode(cpu->program, pc - SIM_CODE_BASE);
	struct sim_insn_class class = sim_insn_classify(isa, opcode);
	uint64_t next = pc + sim_insn_size(isa, opcode);

	cpu->left--;
	start_insn(cpu, pc, opcode);
	if (class.exception_return)
		return leave_exception(cpu);
	if (is_svc(isa, opcode)) {
		report(cpu, next, false);
		if (cpu->nest == NEST_MAX)
			return next;
		return enter_exception(cpu, true, next, false);
	}
	if (class.kind == SIM_INSN_WFX) {
		report(cpu, next, false);
		return next;
	}
	return do_transaction(cpu, pc, opcode, class);
}

static uint64_t handle_stop(struct sim_cpu *cpu)
{
	uint64_t pc = cpu->stop_pc;

	uc_context_restore(cpu->uc, cpu->stop_state);
	switch (cpu->stop) {
	case STOP_EXCEPTION:
		return enter_exception(cpu, false, pc, false);
	case STOP_RESET:
		cpu->nest = 0;
		cpu->in_transaction = false;
		cpu->client->reset(cpu->client->ctx);
		return SIM_CODE_BASE + cpu->program->entry;
	case STOP_SPECIAL:
		return do_special(cpu, pc);
	case STOP_PAD:
		return leave_exception(cpu);
	default:
		return 0;
	}
}

bool sim_cpu_write(struct sim_cpu *cpu, uint64_t address, const void *data, size_t len)
{
	return !uc_mem_write(cpu->uc, address, data, len);
}

bool sim_cpu_read(struct sim_cpu *cpu, uint64_t address, void *data, size_t len)
{
	return !uc_mem_read(cpu->uc, address, data, len);
}

static void prepare_run(struct sim_cpu *cpu)
{
	bool a64 = cpu->kind == SIM_CPU_A64;

	uc_context_restore(cpu->uc, cpu->reset_state);
	uc_mem_write(cpu->uc, SIM_CODE_BASE, cpu->program->code, cpu->program->len);
	uc_ctl_remove_cache(cpu->uc, SIM_CODE_BASE, SIM_CODE_BASE + SIM_CODE_MAX);
	write_reg(cpu, a64 ? UC_ARM64_REG_SP : UC_ARM_REG_SP, SIM_DATA_BASE + SIM_DATA_SIZE - 0x100);
	write_reg(cpu, a64 ? UC_ARM64_REG_X28 : UC_ARM_REG_R11, SIM_DATA_BASE);
	write_reg(cpu, a64 ? UC_ARM64_REG_X10 : UC_ARM_REG_R4, 0x12345678 + cpu->program->len);
	write_reg(cpu, reg_lr(cpu), 0);
}

const char *sim_cpu_run(struct sim_cpu *cpu, const struct sim_program *program, uint64_t max_insns,
		const struct sim_cpu_client *client)
{
	uint64_t pc = SIM_CODE_BASE + program->entry;

	cpu->program = program;
	cpu->client = client;
	cpu->left = max_insns;
	cpu->have_last = false;
	cpu->it_left = 0;
	cpu->nest = 0;
	cpu->in_transaction = false;
	prepare_run(cpu);
	for (;;) {
		cpu->stop = STOP_NONE;
		uint64_t start = pc | (isa_at(cpu, pc) == SIM_T32 ? 1 : 0);
		uc_err err = uc_emu_start(cpu->uc, start, ~0ull, 0, 0);
		if (cpu->stop == STOP_BUDGET)
			return NULL;
		if (cpu->stop == STOP_NONE)
			return err ? uc_strerror(err) : "Unicorn stopped by itself";
		pc = handle_stop(cpu);
		if (!pc)
			return client->ends_with_return ? NULL : "exception return without exception";
	}
}

static bool open_engine(struct sim_cpu *cpu)
{
	static const struct {
		uc_arch arch;
		uc_mode mode;
		int model;
	} engines[SIM_CPU_KIND_NUM] = {
		[SIM_CPU_A64] = { UC_ARCH_ARM64, UC_MODE_ARM, UC_CPU_ARM64_MAX },
		[SIM_CPU_A32] = { UC_ARCH_ARM, UC_MODE_ARM, UC_CPU_ARM_CORTEX_A15 },
		[SIM_CPU_M] = { UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, UC_CPU_ARM_CORTEX_M33 },
	};

	if (uc_open(engines[cpu->kind].arch, engines[cpu->kind].mode, &cpu->uc))
		return false;
	uc_ctl_set_cpu_model(cpu->uc, engines[cpu->kind].model);
	return true;
}

struct sim_cpu *sim_cpu_new(enum sim_cpu_kind kind)
{
	struct sim_cpu *cpu = calloc(1, sizeof(*cpu));
	static const uint16_t pad[2] = { 0xbf00, 0xbf00 };
	uc_hook hook;

	if (!cpu)
		return NULL;
	cpu->kind = kind;
	if (!open_engine(cpu)) {
		free(cpu);
		return NULL;
	}
	uc_err err = uc_mem_map(cpu->uc, SIM_CODE_BASE, SIM_CODE_MAX, UC_PROT_ALL);
	err |= uc_mem_map(cpu->uc, SIM_DATA_BASE, SIM_DATA_SIZE, UC_PROT_READ | UC_PROT_WRITE);
	err |= uc_mem_map(cpu->uc, SIM_RETURN_PAD & ~(PAGE - 1), PAGE, UC_PROT_ALL);
	err |= uc_mem_write(cpu->uc, SIM_RETURN_PAD, pad, sizeof(pad));
	err |= uc_hook_add(cpu->uc, &hook, UC_HOOK_CODE, (void *)(uintptr_t)on_code, cpu, (uint64_t)1, (uint64_t)0);
	err |= uc_context_alloc(cpu->uc, &cpu->reset_state);
	err |= uc_context_save(cpu->uc, cpu->reset_state);
	err |= uc_context_alloc(cpu->uc, &cpu->stop_state);
	for (unsigned int i = 0; i < NEST_MAX; i++)
		err |= uc_context_alloc(cpu->uc, &cpu->saved[i].context);
	if (err) {
		sim_cpu_free(cpu);
		return NULL;
	}
	return cpu;
}

void sim_cpu_free(struct sim_cpu *cpu)
{
	if (!cpu)
		return;
	for (unsigned int i = 0; i < NEST_MAX; i++) {
		if (cpu->saved[i].context)
			uc_context_free(cpu->saved[i].context);
	}
	if (cpu->reset_state)
		uc_context_free(cpu->reset_state);
	if (cpu->stop_state)
		uc_context_free(cpu->stop_state);
	uc_close(cpu->uc);
	free(cpu);
}
