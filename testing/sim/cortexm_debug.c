// SPDX-License-Identifier: GPL-2.0-or-later

/* Halting debug, breakpoint unit, watchpoint unit. */

#include "cortexm.h"

#include <inttypes.h>

enum {
	DFSR = 0xe000ed30,
	DHCSR = 0xe000edf0,
	DCRSR = 0xe000edf4,
	DCRDR = 0xe000edf8,
	DEMCR = 0xe000edfc,
	DWT_CTRL = 0xe0001000,
	DWT_PCSR = 0xe000101c,
	DWT_COMP0 = 0xe0001020,
	FP_CTRL = 0xe0002000,
	FP_COMP0 = 0xe0002008,
};

#define KEY		0xa05fu
#define S_REGRDY	(1u << 16)
#define S_HALT		(1u << 17)
#define S_SLEEP		(1u << 18)
#define S_LOCKUP	(1u << 19)
#define S_RETIRE_ST	(1u << 24)
#define S_RESET_ST	(1u << 25)
#define TRCENA		(1u << 24)
#define VC_HARDERR	(1u << 10)
#define FP_ENABLE	1u
#define FP_KEY		2u
#define MATCHED		(1u << 24)
#define DCRSR_WRITE	(1u << 16)
#define KL_FETCH	4u	/* function of MTB_DWT */

enum { V8_OFF, V8_CYCLE, V8_PC, V8_PC_LIMIT, V8_ACCESS, V8_WRITE, V8_READ, V8_ACCESS_LIMIT };
enum { V6_OFF, V6_PC = 4, V6_READ, V6_WRITE, V6_ACCESS };

bool cortexm_debug_on(const struct cortexm *core)
{
	return core->debug.dhcsr & CORTEXM_C_DEBUGEN;
}

void cortexm_debug_init(struct cortexm *core)
{
	const struct cortexm_type *type = core->type;

	core->debug = (struct cortexm_debug){
		.fp_ctrl = (type->v8m ? 1u << 28 : 0) | type->fpb << 4,
		.dwt_ctrl = type->dwt << 28,
	};
}

/* ---- comparators ---- */

static unsigned int match_of(const struct cortexm *core, unsigned int n)
{
	return core->debug.dwt[n].function & 0xf;
}

static bool dwt_enabled(const struct cortexm *core)
{
	return core->debug.demcr & TRCENA;
}

/* A limit comparator makes its lower neighbour the other end of a range. */
static bool is_linked(const struct cortexm *core, unsigned int n)
{
	unsigned int match = n + 1 < core->type->dwt ? match_of(core, n + 1) : 0;

	return core->type->v8m && (match == V8_PC_LIMIT || match == V8_ACCESS_LIMIT);
}

static bool dwt_pc_matches(const struct cortexm *core, unsigned int n, uint32_t pc)
{
	const struct cortexm_dwt *dwt = &core->debug.dwt[n];
	unsigned int match = match_of(core, n);

	if (!core->type->v8m)
		return match == V6_PC && !((pc ^ dwt->comp) >> dwt->mask << dwt->mask & ~1u);
	if (match == V8_PC_LIMIT)
		return n && match_of(core, n - 1) == V8_PC && pc >= dwt[-1].comp && pc <= dwt->comp;
	return match == V8_PC && !is_linked(core, n) && !((pc ^ dwt->comp) & ~1u);
}

static bool fpb_matches(const struct cortexm *core, uint32_t comp, uint32_t pc)
{
	if (!(comp & 1))
		return false;
	if (core->type->v8m)
		return (comp & ~1u) == pc;
	return pc < 0x20000000 && (comp & 0x1ffffffc) == (pc & ~3u) && comp >> (pc & 2 ? 31 : 30) & 1;
}

static bool fpb_hit(const struct cortexm *core, uint32_t pc)
{
	if (!(core->debug.fp_ctrl & FP_ENABLE) || !cortexm_debug_on(core))
		return false;
	for (unsigned int i = 0; i < core->type->fpb; i++) {
		if (fpb_matches(core, core->debug.fp_comp[i], pc))
			return true;
	}
	return false;
}

static bool mtb_dwt_fetch(const struct cortexm *core, unsigned int n, uint32_t pc)
{
	const struct cortexm_mtb_dwt *dwt = &core->mtb_dwt;

	return (dwt->function[n] & 0xf) == KL_FETCH && !((pc ^ dwt->comp[n]) >> dwt->mask[n] << dwt->mask[n] & ~1u);
}

bool cortexm_debug_looks(const struct cortexm *core, uint32_t pc)
{
	if (!core->debug.any_pc)
		return false;
	if (fpb_hit(core, pc))
		return true;
	for (unsigned int i = 0; i < core->type->dwt && dwt_enabled(core); i++) {
		if (dwt_pc_matches(core, i, pc))
			return true;
	}
	return mtb_dwt_fetch(core, 0, pc) || mtb_dwt_fetch(core, 1, pc);
}

/* Is something to be looked at with each instruction, with each access? */
void cortexm_debug_comparators(struct cortexm *core)
{
	core->debug.any_pc = false;
	core->debug.any_watchpoint = false;
	for (unsigned int i = 0; i < core->type->fpb; i++)
		core->debug.any_pc |= core->debug.fp_comp[i] & core->debug.fp_ctrl & FP_ENABLE;
	for (unsigned int i = 0; i < core->type->dwt && dwt_enabled(core); i++) {
		unsigned int match = match_of(core, i);
		bool pc = core->type->v8m ? match == V8_PC || match == V8_PC_LIMIT : match == V6_PC;
		core->debug.any_pc |= pc;
		core->debug.any_watchpoint |= match && !pc;
	}
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int function = core->mtb_dwt.function[i] & 0xf;
		core->debug.any_pc |= function == KL_FETCH;
		core->debug.any_watchpoint |= function > KL_FETCH;
	}
	core->attention = true;
}

static bool halts(const struct cortexm *core, unsigned int n)
{
	return !core->type->v8m || (core->debug.dwt[n].function >> 4 & 3) == 1;
}

/* Comparator @a n of MTB_DWT matches: ACOMPn says whether that is start or stop. */
static void mtb_dwt_hit(struct cortexm *core, unsigned int n)
{
	bool start = core->mtb_dwt.tbctrl >> n & 1;

	core->mtb_dwt.function[n] |= MATCHED;
	cortexm_mtb_inputs(&core->mtb, start, !start);
}

static void to_mtb(struct cortexm *core, uint32_t matches)
{
	cortexm_mtb_inputs(&core->mtb, matches & core->mtb.tstart, matches & core->mtb.tstop);
}

uint32_t cortexm_debug_at(struct cortexm *core, uint32_t pc)
{
	uint32_t reason = fpb_hit(core, pc) ? CORTEXM_DFSR_BKPT : 0;
	uint32_t matches = 0;

	for (unsigned int i = 0; i < core->type->dwt && dwt_enabled(core); i++) {
		if (!dwt_pc_matches(core, i, pc))
			continue;
		if (halts(core, i) && cortexm_debug_on(core) && !reason)
			reason = CORTEXM_DFSR_DWTTRAP;
		matches |= 1u << i;
	}
	if (reason == CORTEXM_DFSR_BKPT)
		return reason;		/* not executed now, so no match either */
	for (unsigned int i = 0; i < core->type->dwt; i++) {
		if (matches >> i & 1)
			core->debug.dwt[i].function |= MATCHED;
	}
	to_mtb(core, matches);
	for (unsigned int i = 0; i < 2; i++) {
		if (mtb_dwt_fetch(core, i, pc))
			mtb_dwt_hit(core, i);
	}
	return reason;
}

/* v6-M: functions 5, 6, 7 are read, write, both; MTB_DWT has the same. */
static bool v6_kind(unsigned int function, bool write)
{
	return function == V6_ACCESS || function == (write ? V6_WRITE : V6_READ);
}

static bool v6_access(uint32_t comp, uint32_t mask, uint32_t addr, unsigned int size)
{
	uint64_t len = 1ull << mask;
	uint32_t base = comp & ~(uint32_t)(len - 1);

	return addr < base + len && addr + size > base;
}

static bool v8_access(const struct cortexm *core, unsigned int n, uint32_t addr, unsigned int size, bool write)
{
	const struct cortexm_dwt *dwt = &core->debug.dwt[n];
	unsigned int match = match_of(core, n);
	uint32_t len = 1u << (dwt->function >> 10 & 3);
	uint32_t base = dwt->comp & ~(len - 1);

	if (match == V8_ACCESS_LIMIT) {
		unsigned int lower = n ? match_of(core, n - 1) : 0;
		bool kind = lower == V8_ACCESS || lower == (unsigned int)(write ? V8_WRITE : V8_READ);
		return kind && addr + size > dwt[-1].comp && addr <= dwt->comp;
	}
	bool kind = match == V8_ACCESS || match == (unsigned int)(write ? V8_WRITE : V8_READ);
	return kind && !is_linked(core, n) && addr < base + len && addr + size > base;
}

void cortexm_debug_access(struct cortexm *core, uint32_t addr, unsigned int size, bool write)
{
	uint32_t matches = 0;

	for (unsigned int i = 0; i < core->type->dwt && dwt_enabled(core); i++) {
		struct cortexm_dwt *dwt = &core->debug.dwt[i];
		bool match = core->type->v8m ? v8_access(core, i, addr, size, write) :
			v6_kind(match_of(core, i), write) && v6_access(dwt->comp, dwt->mask, addr, size);
		if (!match)
			continue;
		dwt->function |= MATCHED;
		matches |= 1u << i;
		if (halts(core, i)) {
			core->debug.watch_hit = true;
			core->attention = true;
		}
	}
	if (matches)
		to_mtb(core, matches);
	for (unsigned int i = 0; i < 2; i++) {
		const struct cortexm_mtb_dwt *dwt = &core->mtb_dwt;
		if (v6_kind(dwt->function[i] & 0xf, write) && v6_access(dwt->comp[i], dwt->mask[i], addr, size))
			mtb_dwt_hit(core, i);
	}
}

bool cortexm_vector_catch(const struct cortexm *core, unsigned int number, uint32_t status)
{
	uint32_t demcr = core->debug.demcr;

	if (!cortexm_debug_on(core))
		return false;
	switch (number) {
	case CORTEXM_HARDFAULT:
		return demcr & VC_HARDERR;
	case CORTEXM_MEMMANAGE:
		return demcr >> 4 & 1;
	case CORTEXM_BUSFAULT:
		return demcr >> 8 & 1;
	case CORTEXM_USAGEFAULT:
		return status & CORTEXM_UNALIGNED ? demcr >> 6 & 1 : demcr >> 7 & 1;
	default:
		return false;
	}
}

/* ---- halting ---- */

void cortexm_halt(struct cortexm *core, uint32_t reason)
{
	if (core->debug.halted)
		return;
	core->debug.halted = true;
	core->debug.dhcsr |= CORTEXM_C_HALT;
	core->debug.dfsr |= reason;
	core->debug.halts++;
	core->sleeping = false;
	core->lockup = false;
	core->debug.pc_written = false;
	cortexm_log(core, "H %08" PRIx32 "\n", core->pc);
}

/* The debugger's PC, if it wrote one, is a jump for the trace. */
static void leave(struct cortexm *core)
{
	if (core->debug.pc_written) {
		cortexm_log(core, "D %08" PRIx32 " %08" PRIx32 "\n", core->debug.old_pc, core->pc);
		if (core->debug.old_pc != core->pc || !core->choices.debug_pc_changed)
			cortexm_trace(core, core->debug.old_pc, true, core->pc);
	}
	core->debug.pc_written = false;
	core->debug.halted = false;
	core->debug.reg_wait = 0;
}

static void step(struct cortexm *core)
{
	leave(core);
	cortexm_step(core);
	uint32_t reason = CORTEXM_DFSR_HALTED;
	if (core->debug.watch_hit)
		reason |= CORTEXM_DFSR_DWTTRAP;
	core->debug.watch_hit = false;
	cortexm_halt(core, reason);
}

static void dhcsr_write(struct cortexm *core, uint32_t value, bool debugger)
{
	if (value >> 16 != KEY || !debugger)
		return;
	if (!(value & CORTEXM_C_DEBUGEN))
		value = 0;
	core->debug.dhcsr = value & 0xf;
	cortexm_debug_comparators(core);
	if (core->in_reset || !(value & CORTEXM_C_DEBUGEN)) {
		if (core->debug.halted)
			leave(core);
		return;
	}
	if (value & CORTEXM_C_HALT)
		cortexm_halt(core, CORTEXM_DFSR_HALTED);
	else if (core->debug.halted && value & CORTEXM_C_STEP)
		step(core);
	else if (core->debug.halted)
		leave(core);
}

static int uc_register(unsigned int number)
{
	return number == 14 ? UC_ARM_REG_LR : UC_ARM_REG_R0 + (int)number;
}

static uint32_t packed_masks(const struct cortexm *core)
{
	return core->control << 24 | core->faultmask << 16 | core->basepri << 8 | core->primask;
}

static void set_packed_masks(struct cortexm *core, uint32_t value)
{
	cortexm_set_mode(core, core->ipsr, value >> 24 & (CORTEXM_SPSEL | CORTEXM_NPRIV));
	core->primask = value & 1;
	if (!core->type->v8m)
		return;
	core->faultmask = value >> 16 & 1;
	core->basepri = value >> 8 & core->type->priority_mask;
}

static uint32_t register_read(const struct cortexm *core, unsigned int number)
{
	switch (number) {
	case 13:
		return cortexm_sp(core, cortexm_stack_in_use(core));
	case 15:
		return core->pc;
	case 16:
		return cortexm_xpsr(core);
	case 17:
	case 18:
		return cortexm_sp(core, number - 17);
	case 20:
		return packed_masks(core);
	case 28:
	case 29:
		return core->limit[number - 28];
	default:
		return number < 15 ? cortexm_reg(core, uc_register(number)) : 0;
	}
}

static void register_write(struct cortexm *core, unsigned int number, uint32_t value)
{
	switch (number) {
	case 13:
		cortexm_sp_set(core, cortexm_stack_in_use(core), value);
		break;
	case 15:
		if (!core->debug.pc_written)
			core->debug.old_pc = core->pc;
		core->debug.pc_written = true;
		core->pc = value & ~1u;
		break;
	case 16:
		cortexm_set_mode(core, value & 0x1ff, core->control);
		cortexm_xpsr_set(core, value);
		break;
	case 17:
	case 18:
		cortexm_sp_set(core, number - 17, value);
		break;
	case 20:
		set_packed_masks(core, value);
		break;
	case 28:
	case 29:
		core->limit[number - 28] = value & ~7u;
		break;
	default:
		if (number < 15)
			cortexm_reg_set(core, uc_register(number), value);
		break;
	}
}

/* Between DCRDR and the register that DCRSR names. */
static void transfer(struct cortexm *core)
{
	const uint32_t number = core->debug.dcrsr & 0x7f;

	if (core->debug.dcrsr & DCRSR_WRITE)
		register_write(core, number, core->debug.dcrdr);
	else
		core->debug.dcrdr = register_read(core, number);
}

static uint32_t dhcsr_read(struct cortexm *core, bool debugger)
{
	uint32_t value = core->debug.dhcsr;

	if (!core->debug.reg_wait)
		value |= S_REGRDY;
	else if (debugger && !--core->debug.reg_wait)
		transfer(core);
	if (core->debug.halted)
		value |= S_HALT;
	else if (core->sleeping)
		value |= S_SLEEP;
	if (core->lockup)
		value |= S_LOCKUP;
	if (core->debug.retired || core->debug.halted)
		value |= S_RETIRE_ST;
	if (core->debug.reset_seen)
		value |= S_RESET_ST;
	if (debugger)
		core->debug.retired = core->debug.reset_seen = false;
	return value;
}

/* What is written before it is done with the one before is lost. */
static void dcrsr_write(struct cortexm *core, uint32_t value)
{
	if (!core->debug.halted || core->debug.reg_wait)
		return;
	core->debug.dcrsr = value;
	core->debug.reg_wait = core->choices.reg_delay;
	if (!core->debug.reg_wait)
		transfer(core);
}

/* ---- registers ---- */

static uint32_t *comparator_register(struct cortexm *core, uint32_t addr)
{
	if (addr >= FP_COMP0 && addr < FP_COMP0 + 4 * core->type->fpb)
		return &core->debug.fp_comp[(addr - FP_COMP0) / 4];
	if (addr < DWT_COMP0 || addr >= DWT_COMP0 + 16 * core->type->dwt)
		return NULL;
	struct cortexm_dwt *dwt = &core->debug.dwt[(addr - DWT_COMP0) / 16];
	switch (addr & 0xf) {
	case 0:
		return &dwt->comp;
	case 4:
		return core->type->v8m ? NULL : &dwt->mask;
	case 8:
		return &dwt->function;
	default:
		return NULL;
	}
}

static bool is_function(uint32_t addr)
{
	return addr >> 12 == DWT_CTRL >> 12 && (addr & 0xf) == 8;
}

static uint32_t pc_sample(const struct cortexm *core)
{
	return core->debug.halted || core->sleeping || core->lockup || !dwt_enabled(core) ? ~0u : core->sampled_pc;
}

/* What a comparator can do: all instruction and data addresses, 0 also cycles, 1 and 3 also limits. */
static const uint32_t v8_function_id[CORTEXM_DWT] = { 0x0b, 0x1e, 0x0a, 0x1e };

bool cortexm_debug_read(struct cortexm *core, uint32_t addr, bool debugger, uint32_t *value)
{
	uint32_t *at = comparator_register(core, addr);

	if (at) {
		*value = *at;
		if (is_function(addr)) {
			*at &= ~MATCHED;
			*value |= core->type->v8m ? v8_function_id[(addr - DWT_COMP0) / 16] << 27 : 0;
		}
		return true;
	}
	switch (addr) {
	case DHCSR:
		*value = dhcsr_read(core, debugger);
		break;
	case DCRDR:
		*value = core->debug.dcrdr;
		break;
	case DEMCR:
		*value = core->debug.demcr;
		break;
	case DFSR:
		*value = core->debug.dfsr;
		break;
	case DWT_CTRL:
		*value = core->debug.dwt_ctrl;
		break;
	case DWT_PCSR:
		*value = pc_sample(core);
		break;
	case FP_CTRL:
		*value = core->debug.fp_ctrl;
		break;
	default:
		return false;
	}
	return true;
}

bool cortexm_debug_write(struct cortexm *core, uint32_t addr, bool debugger, uint32_t value)
{
	uint32_t *at = comparator_register(core, addr);

	if (at) {
		*at = is_function(addr) ? value & 0xcff : value;
		cortexm_debug_comparators(core);
		return true;
	}
	switch (addr) {
	case DHCSR:
		dhcsr_write(core, value, debugger);
		break;
	case DCRSR:
		dcrsr_write(core, value);
		break;
	case DCRDR:
		core->debug.dcrdr = value;
		break;
	case DEMCR:
		core->debug.demcr = value;
		cortexm_debug_comparators(core);
		break;
	case DFSR:
		core->debug.dfsr &= ~value;
		break;
	case FP_CTRL:
		if (value & FP_KEY)
			core->debug.fp_ctrl = (core->debug.fp_ctrl & ~FP_ENABLE) | (value & FP_ENABLE);
		cortexm_debug_comparators(core);
		break;
	default:
		return false;
	}
	return true;
}
