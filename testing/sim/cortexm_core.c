// SPDX-License-Identifier: GPL-2.0-or-later

#include "cortexm.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define IT_ALWAYS_ONE	0xe8u	/* an IT block of one instruction whose condition always holds */
#define NO_PC		1u		/* no instruction has it */
#define MAGIC_PC	0xf0000000u	/* from here on: EXC_RETURN and lock-up */

uint32_t cortexm_reg(const struct cortexm *core, int reg)
{
	uint32_t value = 0;

	uc_reg_read(core->uc, reg, &value);
	return value;
}

void cortexm_reg_set(struct cortexm *core, int reg, uint32_t value)
{
	uc_reg_write(core->uc, reg, &value);
}

/* ---- stacks and modes ---- */

enum cortexm_stack cortexm_stack_in_use(const struct cortexm *core)
{
	return !core->ipsr && core->control & CORTEXM_SPSEL ? CORTEXM_PSP : CORTEXM_MSP;
}

uint32_t cortexm_sp(const struct cortexm *core, enum cortexm_stack stack)
{
	return stack == cortexm_stack_in_use(core) ? cortexm_reg(core, UC_ARM_REG_SP) : core->stack[stack];
}

void cortexm_sp_set(struct cortexm *core, enum cortexm_stack stack, uint32_t value)
{
	value &= ~3u;
	if (stack == cortexm_stack_in_use(core))
		cortexm_reg_set(core, UC_ARM_REG_SP, value);
	else
		core->stack[stack] = value;
}

void cortexm_set_mode(struct cortexm *core, uint32_t ipsr, uint32_t control)
{
	enum cortexm_stack before = cortexm_stack_in_use(core);

	core->ipsr = ipsr;
	core->control = control;
	enum cortexm_stack after = cortexm_stack_in_use(core);
	if (before == after)
		return;
	core->stack[before] = cortexm_reg(core, UC_ARM_REG_SP);
	cortexm_reg_set(core, UC_ARM_REG_SP, core->stack[after]);
}

/* The two halves of the IT state are bits 26:25 and 15:10. */
static uint32_t it_to_xpsr(uint8_t it)
{
	return (it & 3u) << 25 | (it >> 2 & 0x3fu) << 10;
}

static uint8_t it_from_xpsr(uint32_t xpsr)
{
	return (xpsr >> 25 & 3) | (xpsr >> 10 & 0x3f) << 2;
}

uint32_t cortexm_xpsr(const struct cortexm *core)
{
	uint32_t xpsr = cortexm_reg(core, UC_ARM_REG_XPSR);

	return (xpsr & (CORTEXM_XPSR_FLAGS | CORTEXM_XPSR_T)) | it_to_xpsr(core->it) | core->ipsr;
}

void cortexm_xpsr_set(struct cortexm *core, uint32_t value)
{
	core->it = core->type->v8m ? it_from_xpsr(value) : 0;
	core->arm_state = !(value & CORTEXM_XPSR_T);
	cortexm_reg_set(core, UC_ARM_REG_XPSR, value & (CORTEXM_XPSR_FLAGS | CORTEXM_XPSR_T));
}

bool cortexm_privileged(const struct cortexm *core)
{
	return core->ipsr || !(core->control & CORTEXM_NPRIV);
}

/* ---- memory ---- */

uint8_t *cortexm_memory(const struct cortexm *core, uint32_t addr, uint32_t len)
{
	for (unsigned int i = 0; i < core->regions; i++) {
		const struct cortexm_region *region = &core->region[i];
		if (addr - region->base < region->size && region->size - (addr - region->base) >= len)
			return region->bytes + (addr - region->base);
	}
	return NULL;
}

bool cortexm_load(const struct cortexm *core, uint32_t addr, uint32_t *word)
{
	const uint8_t *at = cortexm_memory(core, addr, 4);

	if (!at)
		return false;
	memcpy(word, at, 4);
	return true;
}

bool cortexm_store(struct cortexm *core, uint32_t addr, uint32_t word)
{
	uint8_t *at = cortexm_memory(core, addr, 4);

	if (!at)
		return false;
	memcpy(at, &word, 4);
	return true;
}

bool cortexm_fetch(const struct cortexm *core, uint32_t pc, uint32_t *opcode)
{
	const uint8_t *at = cortexm_memory(core, pc, 2);

	if (!at)
		return false;
	*opcode = (uint32_t)(at[0] | at[1] << 8) << 16;
	if (cortexm_insn_size(*opcode) == 2)
		return true;
	at = cortexm_memory(core, pc + 2, 2);
	if (!at)
		return false;
	*opcode |= at[0] | at[1] << 8;
	return true;
}

/* ---- log and trace ---- */

void cortexm_log(struct cortexm *core, const char *format, ...)
{
	va_list args;

	if (!core->log)
		return;
	va_start(args, format);
	vfprintf(core->log, format, args);
	va_end(args);
}

void cortexm_trace(struct cortexm *core, uint32_t source, bool atomic, uint32_t destination)
{
	struct cortexm_mtb *mtb = &core->mtb;
	uint32_t at = cortexm_mtb_bus(mtb, mtb->position);
	bool start = mtb->start_bit;

	if (!cortexm_mtb_packet(mtb, source, atomic, destination))
		return;
	cortexm_log(core, "M %08" PRIx32 " %08" PRIx32 " %08" PRIx32 "\n", at, (source & ~1u) | atomic,
		(destination & ~1u) | start);
	if (mtb->master & CORTEXM_MTB_HALTREQ)
		core->attention = true;
}

/* One line for each instruction: the most frequent one by far. */
static void log_insn(const struct cortexm *core, char flag)
{
	static const char digits[] = "0123456789abcdef";
	char line[] = "I 00000000 2 .\n";

	for (unsigned int i = 0; i < 8; i++)
		line[2 + i] = digits[core->last.pc >> (28 - 4 * i) & 15];
	line[11] += cortexm_insn_size(core->last.opcode) - 2;
	line[13] = flag;
	fwrite(line, 1, sizeof(line) - 1, core->log);
}

/* The target is what comes next anyway. The flags and the register have not changed since. */
static bool cond_taken_to_next(const struct cortexm *core)
{
	uint32_t half = core->last.opcode >> 16;
	int cond = cortexm_insn_condition(core->last.opcode);

	if (cortexm_insn_cond_offset(core->last.opcode) != (int32_t)cortexm_insn_size(core->last.opcode))
		return false;
	if (cond >= 0)
		return cortexm_condition_holds(cond, cortexm_reg(core, UC_ARM_REG_XPSR));
	bool zero = !cortexm_reg(core, UC_ARM_REG_R0 + (half & 7));
	return zero != (half >> 11 & 1);	/* bit 11: CBNZ */
}

static bool was_taken(const struct cortexm *core, uint32_t next)
{
	bool jumps = next != core->last.pc + cortexm_insn_size(core->last.opcode);

	switch (core->last.kind) {
	case CORTEXM_INSN_COND:
		return jumps || cond_taken_to_next(core);
	case CORTEXM_INSN_DIRECT:
	case CORTEXM_INSN_INDIRECT:
	case CORTEXM_INSN_RETURN:
		return true;
	default:
		break;
	}
	if (jumps) {
		fprintf(stderr, "cortexm: %08" PRIx32 " %08" PRIx32 " is no branch and goes to %08" PRIx32 "\n",
			core->last.pc, core->last.opcode, next);
		abort();
	}
	return false;
}

void cortexm_retire(struct cortexm *core, uint32_t next)
{
	if (!core->last.valid)
		return;
	bool taken = was_taken(core, next);
	core->last.valid = false;
	core->retired++;
	core->debug.retired = true;
	core->sampled_pc = core->last.pc;
	if (core->log)
		log_insn(core, taken ? 'T' : '.');
	if (taken)
		cortexm_trace(core, core->last.pc, false, next);
	if (core->debug.skidding && core->debug.skid)
		core->debug.skid--;
}

/* ---- hooks ---- */

static void stop_before(struct cortexm *core, uint32_t pc)
{
	core->pc = pc;
	uc_emu_stop(core->uc);
}

static void on_code(uc_engine *uc, uint64_t pc, uint32_t size, void *user)
{
	struct cortexm *core = user;
	uint32_t opcode;

	(void)uc;
	(void)size;
	cortexm_retire(core, pc);
	enum cortexm_insn_kind kind = cortexm_fetch(core, pc, &opcode) ? cortexm_insn_kind(opcode, core->type->v8m) :
		CORTEXM_INSN_SPECIAL;
	/* all has been asked already about the first of a run */
	if (pc != core->pc && (core->cycle >= core->until || core->attention || kind == CORTEXM_INSN_SPECIAL ||
			cortexm_debug_looks(core, pc))) {
		stop_before(core, pc);
		return;
	}
	core->pc = NO_PC;
	core->cycle++;
	core->last = (struct cortexm_last){ true, pc, opcode, kind };
}

static void on_interrupt(uc_engine *uc, uint32_t intno, void *user)
{
	struct cortexm *core = user;

	core->intno = intno;
	uc_emu_stop(uc);
}

static void on_access(uc_engine *uc, uc_mem_type type, uint64_t addr, int size, int64_t value, void *user)
{
	struct cortexm *core = user;

	(void)uc;
	(void)value;
	if (core->debug.any_watchpoint)
		cortexm_debug_access(core, addr, size, type == UC_MEM_WRITE);
}

static bool on_unmapped(uc_engine *uc, uc_mem_type type, uint64_t addr, int size, int64_t value, void *user)
{
	struct cortexm *core = user;

	(void)uc;
	(void)type;
	(void)size;
	(void)value;
	core->fault_addr = addr;
	return false;
}

/* ---- running ---- */

static bool is_exception_return(const struct cortexm *core, uint32_t pc)
{
	return core->ipsr && core->last.valid && core->last.kind == CORTEXM_INSN_RETURN &&
		pc >= (core->type->v8m ? 0xff000000u : MAGIC_PC);
}

/* The target of a branch cannot be executed. */
static void fetch_failed(struct cortexm *core, uint32_t pc)
{
	if (is_exception_return(core, pc)) {
		cortexm_retire(core, pc);
		cortexm_exception_return(core, core->type->v8m ? pc : pc | 1);
		return;
	}
	cortexm_retire(core, pc);
	cortexm_fault(core, pc >= CORTEXM_PPB_BASE ? CORTEXM_IACCVIOL : CORTEXM_IBUSERR, pc, pc);
}

/* Unicorn stopped by itself, at or behind core->last. */
static void failed(struct cortexm *core, uc_err error)
{
	uint32_t pc = cortexm_reg(core, UC_ARM_REG_PC);
	bool thumb = cortexm_reg(core, UC_ARM_REG_XPSR) & CORTEXM_XPSR_T;

	if (is_exception_return(core, pc)) {	/* an even one has switched to another state, which means nothing */
		fetch_failed(core, pc);
		return;
	}
	if (!thumb) {
		core->arm_state = true;
		cortexm_retire(core, pc);
		cortexm_fault(core, CORTEXM_INVSTATE, pc, 0);
		return;
	}
	if (error == UC_ERR_FETCH_UNMAPPED || core->intno == 8 || !core->last.valid || core->last.pc != pc) {
		fetch_failed(core, pc);
		return;
	}
	core->last.valid = false;
	core->pc = pc;
	if (error == UC_ERR_READ_UNMAPPED || error == UC_ERR_WRITE_UNMAPPED || error == UC_ERR_WRITE_PROT)
		cortexm_fault(core, CORTEXM_PRECISERR | CORTEXM_BFARVALID, pc, core->fault_addr);
	else if (core->intno == 4)
		cortexm_fault(core, CORTEXM_UNALIGNED, pc, 0);
	else
		cortexm_fault(core, CORTEXM_UNDEFINSTR, pc, 0);
}

static void drop_translations(struct cortexm *core)
{
	if (!core->code_dirty)
		return;
	core->code_dirty = false;
	for (unsigned int i = 0; i < core->regions; i++)
		uc_ctl_remove_cache(core->uc, core->region[i].base, (uint64_t)core->region[i].base + core->region[i].size);
}

static void execute(struct cortexm *core)
{
	uint32_t pc = core->pc;

	core->intno = -1;
	uc_err error = uc_emu_start(core->uc, pc | 1, ~0ull, 0, 0);
	if (error || core->intno >= 0 || core->last.valid)
		failed(core, error);
}

/* An instruction of an IT block: alone, under a condition that holds, or not at all. */
static void execute_in_it(struct cortexm *core, uint32_t opcode)
{
	uint32_t flags = cortexm_reg(core, UC_ARM_REG_XPSR);
	bool holds = cortexm_condition_holds(core->it >> 4, flags);
	enum cortexm_insn_kind kind = cortexm_insn_kind(opcode, true);

	if (opcode >> 24 == 0xbe) {	/* BKPT asks for no condition */
		cortexm_special(core, opcode);
		return;
	}
	if (!holds) {
		core->last = (struct cortexm_last){ false, core->pc, opcode, CORTEXM_INSN_PLAIN };
		core->cycle++;
		core->retired++;
		core->debug.retired = true;
		if (core->log)
			log_insn(core, 'F');
		core->pc += cortexm_insn_size(opcode);
		cortexm_it_advance(core);
		return;
	}
	uint8_t it = core->it;
	cortexm_it_advance(core);
	if (kind == CORTEXM_INSN_SPECIAL) {
		cortexm_special(core, opcode);
		return;
	}
	uint64_t until = core->until;
	uint8_t after = core->it;
	core->until = core->cycle + 1;
	core->it = it;		/* what a fault has to save */
	cortexm_reg_set(core, UC_ARM_REG_XPSR, (flags & (CORTEXM_XPSR_FLAGS | CORTEXM_XPSR_T)) | it_to_xpsr(IT_ALWAYS_ONE));
	core->intno = -1;
	uc_err error = uc_emu_start(core->uc, core->pc | 1, ~0ull, 0, 0);
	core->until = until;
	if (error || core->intno >= 0 || core->last.valid) {
		if (core->last.valid && cortexm_reg(core, UC_ARM_REG_PC) != core->last.pc)
			core->it = after;
		failed(core, error);
		return;
	}
	core->it = after;
}

/* At core->pc nothing is asked any more but what kind of instruction it is. */
static void go(struct cortexm *core)
{
	uint32_t opcode;

	drop_translations(core);
	if (core->arm_state) {
		core->cycle++;
		cortexm_fault(core, CORTEXM_INVSTATE, core->pc, 0);
		return;
	}
	if (!cortexm_fetch(core, core->pc, &opcode)) {
		core->cycle++;
		fetch_failed(core, core->pc);
		return;
	}
	if (core->it)
		execute_in_it(core, opcode);
	else if (cortexm_insn_kind(opcode, core->type->v8m) == CORTEXM_INSN_SPECIAL)
		cortexm_special(core, opcode);
	else
		execute(core);
}

/* @returns true if that took the place of an instruction. */
static bool look_around(struct cortexm *core)
{
	bool debug = cortexm_debug_on(core);
	bool external = core->mtb.master & CORTEXM_MTB_HALTREQ;

	core->attention = false;
	if (core->reset_request) {
		cortexm_reset(core);
		return true;
	}
	if (core->debug.watch_hit) {
		core->debug.watch_hit = false;
		if (debug) {
			cortexm_halt(core, CORTEXM_DFSR_DWTTRAP);
			return true;
		}
		cortexm_monitor(core, CORTEXM_DFSR_DWTTRAP);
	}
	if (external && !debug)
		cortexm_monitor(core, CORTEXM_DFSR_EXTERNAL);
	if (external && debug && !core->debug.skidding) {
		core->debug.skidding = true;
		core->debug.skid = core->choices.halt_skid;
	}
	if (!external)
		core->debug.skidding = false;
	if (core->debug.skidding && debug) {
		if (!core->debug.skid) {
			cortexm_halt(core, CORTEXM_DFSR_EXTERNAL);
			return true;
		}
		core->attention = true;
	}
	unsigned int number = cortexm_pending_to_take(core, debug && core->debug.dhcsr & CORTEXM_C_MASKINTS);
	if (number && !core->lockup) {
		core->sleeping = false;
		cortexm_enter(core, number, core->pc);
		return true;
	}
	return false;
}

static void sleep_on(struct cortexm *core)
{
	uint64_t next = cortexm_next_event(core);

	if (cortexm_wakes(core)) {
		core->sleeping = false;
		return;
	}
	core->cycle = next < core->until ? next : core->until;
}

/* Until the next thing happens. */
static void run_some(struct cortexm *core, uint64_t end)
{
	uint64_t next = cortexm_next_event(core);

	core->until = next < end ? next : end;
	if (core->lockup) {
		core->cycle = core->until;
		return;
	}
	if (core->sleeping) {
		sleep_on(core);
		return;
	}
	if (cortexm_debug_looks(core, core->pc)) {
		uint32_t reason = cortexm_debug_at(core, core->pc);
		if (reason) {
			cortexm_halt(core, reason);
			return;
		}
	}
	go(core);
}

void cortexm_run(struct cortexm *core, uint64_t cycles, uint64_t max)
{
	uint64_t end = core->cycle + cycles;
	uint64_t last = core->retired + max;

	while (core->cycle < end && core->retired < last && !core->debug.halted && !core->in_reset) {
		cortexm_timers(core);
		if (look_around(core))
			continue;
		uint64_t left = last - core->retired;
		run_some(core, end - core->cycle > left ? core->cycle + left : end);
	}
}

void cortexm_step(struct cortexm *core)
{
	uint64_t before = core->retired;
	bool masked = core->debug.dhcsr & CORTEXM_C_MASKINTS;

	cortexm_timers(core);
	core->attention = false;
	unsigned int number = cortexm_pending_to_take(core, masked);
	core->sleeping = false;
	if (number)
		cortexm_enter(core, number, core->pc);
	core->until = core->cycle + 1;
	if (cortexm_debug_looks(core, core->pc))
		cortexm_debug_at(core, core->pc);	/* for the trace; a step goes over breakpoints */
	if (!core->lockup && !core->debug.halted)
		go(core);
	core->sleeping = false;
	if (core->reset_request)
		cortexm_reset(core);
	core->debug.retired |= before != core->retired;
}

/* ---- the engine ---- */

static uint64_t ppb_read(uc_engine *uc, uint64_t offset, unsigned int size, void *user)
{
	struct cortexm *core = user;
	uint32_t addr = CORTEXM_PPB_BASE + offset;
	uint32_t value = 0;

	(void)uc;
	if (!cortexm_debug_read(core, addr & ~3u, false, &value))
		cortexm_scs_read(core, addr & ~3u, &value);
	return value >> 8 * (addr & 3) & (size == 4 ? ~0u : (1u << 8 * size) - 1);
}

static void ppb_write(uc_engine *uc, uint64_t offset, unsigned int size, uint64_t value, void *user)
{
	struct cortexm *core = user;
	uint32_t addr = CORTEXM_PPB_BASE + offset;
	uint32_t word = value;

	(void)uc;
	if (!cortexm_privileged(core))
		return;
	if (size < 4) {
		uint32_t mask = ((1u << 8 * size) - 1) << 8 * (addr & 3);
		uint32_t now = 0;
		cortexm_scs_read(core, addr & ~3u, &now);
		word = (now & ~mask) | (word << 8 * (addr & 3) & mask);
	}
	if (!cortexm_debug_write(core, addr & ~3u, false, word))
		cortexm_scs_write(core, addr & ~3u, word, true);
}

static uint64_t chip_read(uc_engine *uc, uint64_t offset, unsigned int size, void *user)
{
	struct cortexm *core = user;
	uint32_t value = 0;

	(void)uc;
	(void)size;
	cortexm_scs_read(core, 0x40000000u + (offset & ~3u), &value);
	return value;
}

static void chip_write(uc_engine *uc, uint64_t offset, unsigned int size, uint64_t value, void *user)
{
	(void)uc;
	(void)size;
	cortexm_scs_write(user, 0x40000000u + (offset & ~3u), value, true);
}

static uint64_t vendor_read(uc_engine *uc, uint64_t offset, unsigned int size, void *user)
{
	struct cortexm *core = user;
	uint32_t value = 0;

	(void)uc;
	(void)size;
	cortexm_scs_read(core, core->type->mtb_base + (offset & ~3u), &value);
	return value;
}

static void vendor_write(uc_engine *uc, uint64_t offset, unsigned int size, uint64_t value, void *user)
{
	struct cortexm *core = user;

	(void)uc;
	(void)size;
	cortexm_scs_write(core, core->type->mtb_base + (offset & ~3u), value, cortexm_privileged(core));
}

static bool in_ppb(uint32_t addr)
{
	return addr - CORTEXM_PPB_BASE < CORTEXM_PPB_SIZE;
}

static bool add_hooks(struct cortexm *core)
{
	uc_hook hook;
	const struct {
		int type;
		void *callback;
	} hooks[] = {
		{ UC_HOOK_CODE, (void *)(uintptr_t)on_code },
		{ UC_HOOK_INTR, (void *)(uintptr_t)on_interrupt },
		{ UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, (void *)(uintptr_t)on_access },
		{ UC_HOOK_MEM_UNMAPPED | UC_HOOK_MEM_PROT, (void *)(uintptr_t)on_unmapped },
	};
	uc_err error = UC_ERR_OK;

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		error |= uc_hook_add(core->uc, &hook, hooks[i].type, hooks[i].callback, core, (uint64_t)1, (uint64_t)0);
	return !error;
}

const char *cortexm_init(struct cortexm *core)
{
	if (uc_open(UC_ARCH_ARM, UC_MODE_THUMB, &core->uc))
		return "no Unicorn";
	uc_err error = uc_ctl_set_cpu_model(core->uc, core->type->uc_model);
	for (unsigned int i = 0; i < core->regions; i++) {
		const struct cortexm_region *region = &core->region[i];
		uint32_t rights = UC_PROT_READ | UC_PROT_EXEC | (region->read_only ? 0 : UC_PROT_WRITE);
		error |= uc_mem_map_ptr(core->uc, region->base, region->size, rights, region->bytes);
	}
	error |= uc_mmio_map(core->uc, CORTEXM_PPB_BASE, CORTEXM_PPB_SIZE, ppb_read, core, ppb_write, core);
	error |= uc_mmio_map(core->uc, 0x40000000, 0x2000, chip_read, core, chip_write, core);
	if (core->type->mtb_base && !in_ppb(core->type->mtb_base))
		error |= uc_mmio_map(core->uc, core->type->mtb_base, 0x3000, vendor_read, core, vendor_write, core);
	if (error || !add_hooks(core))
		return "Unicorn refuses the memory map";
	cortexm_debug_init(core);
	cortexm_reset(core);
	return NULL;
}

void cortexm_free(struct cortexm *core)
{
	if (core->uc)
		uc_close(core->uc);
	for (unsigned int i = 0; i < core->regions; i++)
		free(core->region[i].bytes);
	if (core->log)
		fclose(core->log);
}
