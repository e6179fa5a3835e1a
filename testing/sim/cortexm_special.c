// SPDX-License-Identifier: GPL-2.0-or-later

/* Instructions that depend on what Unicorn does not know: special registers, modes, sleep, debug, IT blocks. */

#include "cortexm.h"

enum {
	SYS_XPSR_LAST = 7,	/* 0 to 7: parts of xPSR; bit 0: IPSR, bit 2: no APSR */
	SYS_MSP = 8,
	SYS_PSP = 9,
	SYS_MSPLIM = 10,
	SYS_PSPLIM = 11,
	SYS_PRIMASK = 16,
	SYS_BASEPRI = 17,
	SYS_BASEPRI_MAX = 18,
	SYS_FAULTMASK = 19,
	SYS_CONTROL = 20,
};

enum hint { HINT_NOP, HINT_YIELD, HINT_WFE, HINT_WFI, HINT_SEV };

#define MASK_NZCVQ	(1u << 11)	/* bits of MSR's mask field */
#define MASK_GE		(1u << 10)

static int core_register(unsigned int number)
{
	return number == 13 ? UC_ARM_REG_SP : number == 14 ? UC_ARM_REG_LR : UC_ARM_REG_R0 + (int)number;
}

/* The instruction is done. */
static void finish(struct cortexm *core, uint32_t opcode)
{
	core->last = (struct cortexm_last){ true, core->pc, opcode, CORTEXM_INSN_PLAIN };
	core->cycle++;
	core->pc += cortexm_insn_size(opcode);
	cortexm_retire(core, core->pc);
}

void cortexm_it_advance(struct cortexm *core)
{
	core->it = core->it & 7 ? (core->it & 0xe0) | (core->it << 1 & 0x1f) : 0;
}

static uint32_t read_special(const struct cortexm *core, unsigned int number)
{
	uint32_t xpsr = cortexm_reg(core, UC_ARM_REG_XPSR);

	if (number <= SYS_XPSR_LAST)
		return (number & 4 ? 0 : xpsr & CORTEXM_XPSR_FLAGS) | (number & 1 ? core->ipsr : 0);
	if (number == SYS_CONTROL)
		return core->control;
	if (!cortexm_privileged(core))
		return 0;
	switch (number) {
	case SYS_MSP:
		return cortexm_sp(core, CORTEXM_MSP);
	case SYS_PSP:
		return cortexm_sp(core, CORTEXM_PSP);
	case SYS_MSPLIM:
		return core->limit[CORTEXM_MSP];
	case SYS_PSPLIM:
		return core->limit[CORTEXM_PSP];
	case SYS_PRIMASK:
		return core->primask;
	case SYS_BASEPRI:
	case SYS_BASEPRI_MAX:
		return core->basepri;
	case SYS_FAULTMASK:
		return core->faultmask;
	default:
		return 0;
	}
}

static void write_flags(struct cortexm *core, uint32_t opcode, uint32_t value)
{
	uint32_t mask = (opcode & MASK_NZCVQ ? 0xf8000000u : 0) | (opcode & MASK_GE ? 0xf0000u : 0);
	uint32_t xpsr = cortexm_reg(core, UC_ARM_REG_XPSR);

	if (!core->type->v8m)
		mask &= 0xf0000000u;
	cortexm_reg_set(core, UC_ARM_REG_XPSR, (xpsr & ~mask) | (value & mask));
}

static void write_mask_register(struct cortexm *core, unsigned int number, uint32_t value)
{
	uint32_t priority = value & core->type->priority_mask;

	core->attention = true;
	if (number == SYS_PRIMASK)
		core->primask = value & 1;
	else if (!core->type->v8m)
		return;
	else if (number == SYS_BASEPRI)
		core->basepri = priority;
	else if (number == SYS_BASEPRI_MAX && priority && (!core->basepri || priority < core->basepri))
		core->basepri = priority;
	else if (number == SYS_FAULTMASK && (!(value & 1) || cortexm_priority_now(core) > -1))
		core->faultmask = value & 1;
}

static void write_special(struct cortexm *core, uint32_t opcode, uint32_t value)
{
	unsigned int number = opcode & 0xff;

	if (number <= SYS_XPSR_LAST) {
		if (!(number & 4))
			write_flags(core, opcode, value);
		return;
	}
	if (!cortexm_privileged(core))
		return;
	switch (number) {
	case SYS_MSP:
		cortexm_sp_set(core, CORTEXM_MSP, value);
		break;
	case SYS_PSP:
		cortexm_sp_set(core, CORTEXM_PSP, value);
		break;
	case SYS_MSPLIM:
	case SYS_PSPLIM:
		core->limit[number - SYS_MSPLIM] = value & ~7u;
		break;
	case SYS_CONTROL:
		/* a handler has no choice of the stack */
		cortexm_set_mode(core, core->ipsr, core->ipsr ? (core->control & CORTEXM_SPSEL) | (value & CORTEXM_NPRIV) :
			value & (CORTEXM_SPSEL | CORTEXM_NPRIV));
		break;
	default:
		write_mask_register(core, number, value);
		break;
	}
}

static void wait(struct cortexm *core, bool for_event)
{
	core->attention = true;
	if (for_event && core->event) {
		core->event = false;
		return;
	}
	core->sleeping = true;
	core->sleep_for_event = for_event;
}

static void hint(struct cortexm *core, uint32_t opcode, unsigned int what)
{
	finish(core, opcode);
	if (what == HINT_WFE || what == HINT_WFI)
		wait(core, what == HINT_WFE);
	else if (what == HINT_SEV)
		core->event = true;
}

static void change_masks(struct cortexm *core, uint32_t opcode)
{
	uint32_t value = opcode >> 20 & 1;	/* CPSID */

	if (cortexm_privileged(core)) {
		if (opcode >> 17 & 1)
			write_mask_register(core, SYS_PRIMASK, value);
		if (opcode >> 16 & 1)
			write_mask_register(core, SYS_FAULTMASK, value);
	}
	finish(core, opcode);
}

static void breakpoint(struct cortexm *core)
{
	if (cortexm_debug_on(core)) {
		cortexm_halt(core, CORTEXM_DFSR_BKPT);
		return;
	}
	core->cycle++;
	cortexm_debug_fault(core, core->pc);
}

static void narrow(struct cortexm *core, uint32_t opcode)
{
	switch (opcode >> 24) {
	case 0xdf:
		finish(core, opcode);
		cortexm_svc(core, core->pc);
		break;
	case 0xbe:
		breakpoint(core);
		break;
	case 0xb6:
		change_masks(core, opcode);
		break;
	default:
		if (!(opcode >> 16 & 0xf)) {
			hint(core, opcode, opcode >> 20 & 0xf);
			break;
		}
		finish(core, opcode);
		core->it = opcode >> 16 & 0xff;
		break;
	}
}

void cortexm_special(struct cortexm *core, uint32_t opcode)
{
	if (cortexm_insn_size(opcode) == 2) {
		narrow(core, opcode);
	} else if (opcode >> 16 == 0xf3af) {
		hint(core, opcode, opcode & 0xff);
	} else if (opcode >> 16 == 0xf3ef) {
		cortexm_reg_set(core, core_register(opcode >> 8 & 15), read_special(core, opcode & 0xff));
		finish(core, opcode);
	} else {
		write_special(core, opcode, cortexm_reg(core, core_register(opcode >> 16 & 15)));
		finish(core, opcode);
	}
}
