// SPDX-License-Identifier: GPL-2.0-or-later

#include "cortexm.h"

#include <inttypes.h>

#define NOTHING_ACTIVE	256	/* execution priority of a program without exceptions */
#define FRAME_SIZE	0x20u
#define FRAME_ALIGNED	(1u << 9)	/* in the stacked xPSR */
#define SHCSR_ENABLES	16u
#define HFSR_VECTTBL	(1u << 1)
#define HFSR_FORCED	(1u << 30)
#define HFSR_DEBUGEVT	(1u << 31)
#define RETURN_HANDLER	0xfffffff1u
#define RETURN_V8	0xffffffb0u	/* without the security extension: bits 6 and 0 are 0 */
#define RETURN_THREAD	(1u << 3)
#define RETURN_PSP	(1u << 2)
#define SCR_SLEEPONEXIT	(1u << 1)
#define SCR_SEVONPEND	(1u << 4)
#define DEMCR_MON_EN	(1u << 16)
#define SYSTICK_ENABLE	1u
#define SYSTICK_TICKINT	2u
#define SYSTICK_COUNTED	(1u << 16)

static uint64_t bit(unsigned int number)
{
	return 1ull << number;
}

/* ---- priorities ---- */

/* PRIGROUP: so many bits of a priority decide who interrupts whom. */
static unsigned int group_mask(const struct cortexm *core)
{
	return core->type->v8m ? 0xffu << ((core->aircr >> 8 & 7) + 1) & 0xff : 0xff;
}

int cortexm_priority_of(const struct cortexm *core, unsigned int number)
{
	if (number <= CORTEXM_HARDFAULT)
		return (int)number - 4;
	return core->priority[number];
}

static int group_priority(const struct cortexm *core, unsigned int number)
{
	int priority = cortexm_priority_of(core, number);

	return priority < 0 ? priority : (int)(priority & group_mask(core));
}

int cortexm_priority_now(const struct cortexm *core)
{
	int now = NOTHING_ACTIVE;

	for (unsigned int i = 1; i < CORTEXM_EXCEPTIONS; i++) {
		if (core->active & bit(i) && group_priority(core, i) < now)
			now = group_priority(core, i);
	}
	if (core->basepri && (int)(core->basepri & group_mask(core)) < now)
		now = core->basepri & group_mask(core);
	if (core->primask && now > 0)
		now = 0;
	if (core->faultmask && now > -1)
		now = -1;
	return now;
}

static uint64_t candidates(const struct cortexm *core)
{
	return core->pending & (core->enabled | 0xffff);
}

static unsigned int best_pending(const struct cortexm *core, uint64_t from)
{
	unsigned int best = 0;

	for (uint64_t left = from; left; left &= left - 1) {
		unsigned int i = __builtin_ctzll(left);
		if (!best || cortexm_priority_of(core, i) < cortexm_priority_of(core, best))
			best = i;
	}
	return best;
}

unsigned int cortexm_pending_to_take(const struct cortexm *core, bool masked)
{
	uint64_t from = candidates(core);

	if (masked)
		from &= bit(CORTEXM_PENDSV) - 1;
	if (!from)
		return 0;
	unsigned int best = best_pending(core, from);
	return best && group_priority(core, best) < cortexm_priority_now(core) ? best : 0;
}

/* WFI wakes up as if PRIMASK were 0. */
bool cortexm_wakes(const struct cortexm *core)
{
	struct cortexm open = *core;

	open.primask = 0;
	return cortexm_pending_to_take(&open, false) || (core->sleep_for_event && core->event);
}

void cortexm_pend(struct cortexm *core, unsigned int number)
{
	if (!(core->pending & bit(number)) && core->scr & SCR_SEVONPEND)
		core->event = true;
	core->pending |= bit(number);
	core->attention = true;
}

/* ---- entry ---- */

static void lock_up(struct cortexm *core, uint32_t pc)
{
	uint32_t address = core->type->v8m ? 0xeffffffe : 0xfffffffe;

	cortexm_log(core, "L %08" PRIx32 "\n", pc);
	core->lockup = true;
	core->pc = address;
	core->it = 0;
	if (!core->choices.lockup_silent)
		cortexm_trace(core, pc, true, address);
}

static bool masks_interrupts(const struct cortexm *core)
{
	return cortexm_debug_on(core) && core->debug.dhcsr & CORTEXM_C_MASKINTS;
}

/* The handler begins. The trace has it as going there from @a source. */
static void begin_handler(struct cortexm *core, unsigned int number, uint32_t source, uint32_t exc_return)
{
	uint32_t vector = 0;
	bool there = cortexm_load(core, core->vtor + 4 * number, &vector);

	core->pending &= ~bit(number);
	core->active |= bit(number);
	cortexm_set_mode(core, number, core->control & ~CORTEXM_SPSEL);
	cortexm_xpsr_set(core, (cortexm_xpsr(core) & CORTEXM_XPSR_FLAGS) | (vector & 1 ? CORTEXM_XPSR_T : 0));
	cortexm_reg_set(core, UC_ARM_REG_LR, exc_return);
	core->pc = vector & ~1u;
	core->event = true;
	core->attention = true;
	if (!there) {
		core->hfsr |= HFSR_VECTTBL;
		lock_up(core, source);
		return;
	}
	cortexm_trace(core, source, true, core->pc);
	if (cortexm_vector_catch(core, number, core->cfsr))
		cortexm_halt(core, CORTEXM_DFSR_VCATCH);
}

static bool push_frame(struct cortexm *core, uint32_t return_pc)
{
	enum cortexm_stack stack = cortexm_stack_in_use(core);
	uint32_t sp = cortexm_sp(core, stack);
	uint32_t frame = (sp - FRAME_SIZE) & ~7u;
	const uint32_t words[8] = {
		cortexm_reg(core, UC_ARM_REG_R0), cortexm_reg(core, UC_ARM_REG_R1), cortexm_reg(core, UC_ARM_REG_R2),
		cortexm_reg(core, UC_ARM_REG_R3), cortexm_reg(core, UC_ARM_REG_R12), cortexm_reg(core, UC_ARM_REG_LR),
		return_pc, (cortexm_xpsr(core) & ~FRAME_ALIGNED) | (sp & 4 ? FRAME_ALIGNED : 0),
	};
	bool good = true;

	for (unsigned int i = 0; i < 8; i++)
		good &= cortexm_store(core, frame + 4 * i, words[i]);
	cortexm_sp_set(core, stack, frame);
	return good;
}

static uint32_t exc_return_value(const struct cortexm *core)
{
	uint32_t value = core->type->v8m ? RETURN_V8 : RETURN_HANDLER;

	if (!core->ipsr)
		value |= RETURN_THREAD;
	if (cortexm_stack_in_use(core) == CORTEXM_PSP)
		value |= RETURN_PSP;
	return value;
}

/* The exception that a fault becomes, with what it leaves in the registers. 0: lock-up. */
static unsigned int fault_exception(struct cortexm *core, uint32_t status, uint32_t addr)
{
	unsigned int number = status & 0xff ? CORTEXM_MEMMANAGE : status & 0xff00 ? CORTEXM_BUSFAULT : CORTEXM_USAGEFAULT;
	int now = cortexm_priority_now(core);

	if (core->type->v8m) {
		core->cfsr |= status;
		if (status & CORTEXM_BFARVALID)
			core->bfar = addr;
		if (core->shcsr >> (SHCSR_ENABLES + number - CORTEXM_MEMMANAGE) & 1 && group_priority(core, number) < now)
			return number;
		core->hfsr |= HFSR_FORCED;
	}
	return now > -1 ? CORTEXM_HARDFAULT : 0;
}

void cortexm_enter(struct cortexm *core, unsigned int number, uint32_t return_pc)
{
	uint32_t exc_return = exc_return_value(core);

	if (!push_frame(core, return_pc)) {
		unsigned int derived = fault_exception(core, CORTEXM_STKERR, 0);
		if (!derived || number == CORTEXM_HARDFAULT) {
			lock_up(core, return_pc);
			return;
		}
		core->pending |= bit(derived);
	}
	/* what comes while the frame is stacked can be first all the same */
	core->cycle += core->type->entry_cycles / 2;
	cortexm_timers(core);
	unsigned int first = cortexm_pending_to_take(core, masks_interrupts(core));
	number = first ? first : number;
	core->cycle += core->type->entry_cycles - core->type->entry_cycles / 2;
	cortexm_log(core, "X %u %08" PRIx32 "\n", number, return_pc);
	begin_handler(core, number, return_pc, exc_return);
}

/* ---- return ---- */

static void chain(struct cortexm *core, unsigned int number, uint32_t value)
{
	uint32_t source = value;
	uint32_t frame = cortexm_sp(core, value & RETURN_PSP ? CORTEXM_PSP : CORTEXM_MSP);
	uint32_t resume = 0;
	bool there = cortexm_load(core, frame + 24, &resume);

	cortexm_log(core, "T %u %08" PRIx32 " %08" PRIx32 "\n", number, value, resume & ~1u);
	core->cycle += core->type->entry_cycles / 2;
	if (core->choices.chain_unstacked && there) {
		cortexm_trace(core, value, true, resume);
		source = resume & ~1u;
	}
	begin_handler(core, number, source, value);
}

/* A fault of the return itself takes the place of what was returned from. */
static void return_fault(struct cortexm *core, uint32_t status, uint32_t value)
{
	unsigned int number = fault_exception(core, status, 0);

	if (number)
		chain(core, number, value);
	else
		lock_up(core, value);
}

static bool is_valid(const struct cortexm *core, uint32_t value)
{
	unsigned int low = value & 0xf;

	if (core->type->v8m)
		return (value & 0xffffff90) == 0xffffff90 && (value & (RETURN_THREAD | RETURN_PSP)) != RETURN_PSP;
	if (value >> 4 != 0xfffffff)
		return false;
	/* back to the program is only right if no other exception is active */
	return low == 1 ? core->active : (low == 9 || low == 0xd) && !core->active;
}

static bool pop_frame(struct cortexm *core, uint32_t value)
{
	static const int regs[6] = {
		UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R12, UC_ARM_REG_LR,
	};
	enum cortexm_stack stack = value & RETURN_PSP ? CORTEXM_PSP : CORTEXM_MSP;
	uint32_t frame = cortexm_sp(core, stack);
	uint32_t word[8];

	for (unsigned int i = 0; i < 8; i++) {
		if (!cortexm_load(core, frame + 4 * i, &word[i])) {
			return_fault(core, CORTEXM_UNSTKERR, value);
			return false;
		}
	}
	uint32_t ipsr = word[7] & 0x1ff;
	if (!(value & RETURN_THREAD) != !!ipsr) {
		return_fault(core, CORTEXM_INVPC, value);
		return false;
	}
	for (unsigned int i = 0; i < 6; i++)
		cortexm_reg_set(core, regs[i], word[i]);
	cortexm_sp_set(core, stack, (frame + FRAME_SIZE) | (word[7] & FRAME_ALIGNED ? 4 : 0));
	uint32_t control = core->control & ~CORTEXM_SPSEL;
	if (value & RETURN_THREAD && value & RETURN_PSP)
		control |= CORTEXM_SPSEL;
	cortexm_set_mode(core, ipsr, control);
	cortexm_xpsr_set(core, word[7]);
	core->pc = word[6] & ~1u;
	return true;
}

void cortexm_exception_return(struct cortexm *core, uint32_t value)
{
	core->active &= ~bit(core->ipsr);
	if (core->ipsr != CORTEXM_NMI)
		core->faultmask = 0;
	core->attention = true;
	core->event = true;
	if (!is_valid(core, value)) {
		return_fault(core, CORTEXM_INVPC, value);
		return;
	}
	unsigned int next = cortexm_pending_to_take(core, masks_interrupts(core));
	if (next) {
		chain(core, next, value);
		return;
	}
	core->cycle += core->type->entry_cycles / 2;
	if (!pop_frame(core, value))
		return;
	cortexm_log(core, "R %08" PRIx32 " %08" PRIx32 "\n", value, core->pc);
	cortexm_trace(core, value, true, core->pc);
	if (value & RETURN_THREAD && core->scr & SCR_SLEEPONEXIT) {
		core->sleeping = true;
		core->sleep_for_event = false;
	}
}

/* ---- what raises them ---- */

static void raise_now(struct cortexm *core, unsigned int number, uint32_t pc)
{
	if (!number) {
		lock_up(core, pc);
		return;
	}
	core->pending |= bit(number);
	cortexm_enter(core, number, pc);
}

void cortexm_fault(struct cortexm *core, uint32_t status, uint32_t pc, uint32_t addr)
{
	core->last.valid = false;
	core->pc = pc;
	raise_now(core, fault_exception(core, status, addr), pc);
}

static unsigned int escalated(struct cortexm *core)
{
	if (core->type->v8m)
		core->hfsr |= HFSR_FORCED;
	return cortexm_priority_now(core) > -1 ? CORTEXM_HARDFAULT : 0;
}

void cortexm_svc(struct cortexm *core, uint32_t pc)
{
	bool taken = group_priority(core, CORTEXM_SVCALL) < cortexm_priority_now(core);

	raise_now(core, taken ? (unsigned int)CORTEXM_SVCALL : escalated(core), pc);
}

void cortexm_debug_fault(struct cortexm *core, uint32_t pc)
{
	if (core->type->v8m && core->debug.demcr & DEMCR_MON_EN &&
			group_priority(core, CORTEXM_DEBUGMON) < cortexm_priority_now(core)) {
		core->debug.dfsr |= CORTEXM_DFSR_BKPT;
		raise_now(core, CORTEXM_DEBUGMON, pc);
		return;
	}
	if (core->type->v8m)
		core->hfsr |= HFSR_DEBUGEVT;
	raise_now(core, cortexm_priority_now(core) > -1 ? CORTEXM_HARDFAULT : 0, pc);
}

void cortexm_monitor(struct cortexm *core, uint32_t reason)
{
	if (!core->type->v8m || !(core->debug.demcr & DEMCR_MON_EN) ||
			group_priority(core, CORTEXM_DEBUGMON) >= cortexm_priority_now(core))
		return;
	core->debug.dfsr |= reason;
	cortexm_pend(core, CORTEXM_DEBUGMON);
}

/* ---- timers ---- */

static void systick(struct cortexm *core)
{
	if (!(core->systick_csr & SYSTICK_ENABLE) || core->systick_zero > core->cycle)
		return;
	core->systick_csr |= SYSTICK_COUNTED;
	if (core->systick_csr & SYSTICK_TICKINT)
		cortexm_pend(core, CORTEXM_SYSTICK);
	uint64_t period = core->systick_rvr + 1ull;
	core->systick_zero += ((core->cycle - core->systick_zero) / period + 1) * period;
	if (!core->systick_rvr)
		core->systick_zero = UINT64_MAX;
}

void cortexm_timers(struct cortexm *core)
{
	systick(core);
	for (unsigned int i = 0; i < CORTEXM_TIMERS; i++) {
		struct cortexm_timer *timer = &core->timer[i];
		if (!(timer->ctrl & 1) || timer->next > core->cycle)
			continue;
		timer->fired++;
		cortexm_pend(core, 16 + i);
		timer->next = core->cycle + 1;
		timer->next += timer->ctrl & 2 ? sim_random_below(&core->random, timer->load) : timer->load;
	}
}

uint64_t cortexm_next_event(const struct cortexm *core)
{
	uint64_t next = UINT64_MAX;

	if (core->systick_csr & SYSTICK_ENABLE)
		next = core->systick_zero;
	for (unsigned int i = 0; i < CORTEXM_TIMERS; i++) {
		if (core->timer[i].ctrl & 1 && core->timer[i].next < next)
			next = core->timer[i].next;
	}
	return next;
}

/* ---- reset ---- */

static void reset_registers(struct cortexm *core)
{
	uint32_t sp = 0;
	uint32_t pc = 0;

	core->ipsr = core->control = core->primask = core->basepri = core->faultmask = 0;
	core->limit[0] = core->limit[1] = 0;
	cortexm_load(core, core->vtor, &sp);
	cortexm_load(core, core->vtor + 4, &pc);
	for (int reg = UC_ARM_REG_R0; reg <= UC_ARM_REG_R12; reg++)
		cortexm_reg_set(core, reg, 0);
	cortexm_reg_set(core, UC_ARM_REG_LR, ~0u);
	cortexm_xpsr_set(core, pc & 1 ? CORTEXM_XPSR_T : 0);
	cortexm_sp_set(core, CORTEXM_MSP, sp);
	cortexm_sp_set(core, CORTEXM_PSP, 0);
	core->pc = pc & ~1u;
}

void cortexm_reset(struct cortexm *core)
{
	core->resets++;
	core->last.valid = false;
	core->pending = core->active = core->enabled = 0;
	for (unsigned int i = 0; i < CORTEXM_EXCEPTIONS; i++)
		core->priority[i] = 0;
	core->vtor = core->type->flash_base;
	core->aircr = core->scr = core->shcsr = core->cfsr = core->hfsr = core->mmfar = core->bfar = core->actlr = 0;
	core->ccr = core->type->v8m ? 0x201 : 0x208;
	core->reset_request = core->event = core->sleeping = core->lockup = core->attention = false;
	core->systick_csr = core->systick_rvr = core->systick_cvr = 0;
	for (unsigned int i = 0; i < CORTEXM_TIMERS; i++)
		core->timer[i].ctrl = 0;
	cortexm_mtb_reset(&core->mtb);
	core->debug.reset_seen = true;
	core->debug.pc_written = core->debug.watch_hit = core->debug.skidding = false;
	core->debug.halted = false;
	core->debug.reg_wait = 0;
	reset_registers(core);
	cortexm_log(core, "Z %08" PRIx32 "\n", core->pc);
	if (cortexm_debug_on(core) && core->debug.demcr & 1)
		cortexm_halt(core, CORTEXM_DFSR_VCATCH);
}
