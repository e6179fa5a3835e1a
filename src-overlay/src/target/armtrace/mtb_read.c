// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <string.h>

#include <target/target.h>

#include "mtb_parts.h"

/* The system control block, from CPUID to VTOR. */
#define SCB_CPUID	0xe000ed00u
#define SCB_VTOR	8	/* offset in bytes */
#define SCB_WORDS	3

/* What traces, may trace, or halts the core. */
#define ACTIVE	(ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ | ARM_MTB_MASTER_TSTARTEN | ARM_MTB_MASTER_TSTOPEN)

static void add_register(struct itrace_mtb_registers *regs, uint32_t bit, uint32_t *reg, uint32_t value)
{
	*reg = value;
	regs->given |= bit;
}

/* Once while the core only runs; each time it stands, it can have come from elsewhere. */
static void read_vtor(struct arm_mtb *mtb)
{
	uint8_t scb[4 * SCB_WORDS] = { 0 };

	if (!arm_mtb_has_core(mtb) || (mtb->vtor_known && !arm_mtb_is_halted(mtb)))
		return;
	/* CPUID, which is never 0, comes in the same access: what got lost may read 0 */
	arm_mtb_port_resync(mtb->target);
	mtb->vtor_known = target_read_memory(mtb->target, SCB_CPUID, 4, SCB_WORDS, scb) == ERROR_OK &&
			target_buffer_get_u32(mtb->target, scb);
	mtb->vtor = target_buffer_get_u32(mtb->target, scb + SCB_VTOR);
}

static void note_registers(struct arm_mtb *mtb, struct arm_mtb_capture *capture, const struct arm_mtb_state *state)
{
	struct itrace_mtb_registers *regs = &capture->regs;

	memset(regs, 0, sizeof(*regs));
	add_register(regs, ITRACE_MTB_REG_MASTER, &regs->master, state->master);
	add_register(regs, ITRACE_MTB_REG_FLOW, &regs->flow, state->flow);
	if (!capture->in_order) {
		add_register(regs, ITRACE_MTB_REG_POSITION, &regs->position, state->position);
		add_register(regs, ITRACE_MTB_REG_BASE, &regs->base, mtb->ram.base);
		add_register(regs, ITRACE_MTB_REG_AW, &regs->aw, mtb->ram.aw);
	}
	if (mtb->has_pc_arm)
		add_register(regs, ITRACE_MTB_REG_PC_ARM, &regs->pc_arm, mtb->pc_arm);
	if (mtb->vtor_known)
		add_register(regs, ITRACE_MTB_REG_VTOR, &regs->vtor, mtb->vtor);
	capture->buffer = mtb->buffer.addr;
	capture->buffer_size = mtb->buffer.size;
}

/* Does POSITION still lie in the buffer that was armed? */
static int check_position(const struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size)
{
	if (arm_mtb_is_in_buffer(state, mtb->armed.position, mtb->armed.master, mtb->buffer.size))
		return ERROR_OK;
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "POSITION 0x%08" PRIx32 " and MASTER 0x%08" PRIx32 " are not "
			"of the buffer that was armed (0x%08" PRIx32 ", %" PRIu32 " bytes): the program or a reset changed them; "
			"disable ends this, adopt then takes what is there", state->position, state->master, mtb->buffer.addr,
			mtb->buffer.size);
}

/* The bytes that hold packets, into a capture of their own: the old one stays when this fails. */
static int read_buffer(struct arm_mtb *mtb, const struct arm_mtb_state *state, struct arm_mtb_capture *capture,
		char *why, size_t why_size)
{
	const uint32_t len = arm_mtb_used_bytes(mtb, state);

	memset(capture, 0, sizeof(*capture));
	if (!len)
		return ERROR_OK;
	uint8_t *bytes = arm_mtb_capture_stage(capture, len);
	if (!bytes)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "out of memory");
	const int retval = arm_mtb_port_read_packets(&mtb->port, mtb->buffer.addr, bytes, len);
	if (retval != ERROR_OK) {
		arm_mtb_capture_free(capture);
		return arm_mtb_fail(why, why_size, retval, mtb, "the buffer (%" PRIu32 " bytes at 0x%08" PRIx32 ") cannot be "
				"read: is the part asleep, without power or in reset? It still holds the trace; try again", len,
				mtb->buffer.addr);
	}
	arm_mtb_capture_commit(capture);
	return ERROR_OK;
}

int arm_mtb_hold(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size)
{
	const uint32_t flow = end ? 0 : state->flow;
	const uint32_t master = state->master & ~ACTIVE;

	if (!(state->master & ACTIVE) && state->flow == flow)
		return ERROR_OK;
	if (!mtb->held.held)
		mtb->held.en = state->master & ARM_MTB_MASTER_EN;
	mtb->held.held = true;
	mtb->held.flow |= end;
	for (unsigned int i = 0; i < 3; i++) {
		const int retval = arm_mtb_port_put_flow(&mtb->port, master, flow, state);
		if (retval != ERROR_OK)
			return arm_mtb_unreachable(mtb, retval, "written", why, why_size);
		if (!(state->master & ACTIVE) && state->flow == flow)
			return ERROR_OK;
	}
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "tracing cannot be switched off: MASTER keeps 0x%08" PRIx32
			" where 0x%08" PRIx32 " was written, FLOW 0x%08" PRIx32 " where 0x%08" PRIx32, state->master, master,
			state->flow, flow);
}

/* Tracing was off and nobody here did it: say why, if that can be told. */
static void tell_found_off(struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	if (state->master & ARM_MTB_MASTER_EN || mtb->held.held || !(mtb->armed.master & ARM_MTB_MASTER_EN) || mtb->adopted)
		return;
	if (arm_mtb_is_full(mtb, state)) {
		mtb->full = true;
		return;
	}
	if (mtb->armed.master & ARM_MTB_MASTER_TSTOPEN || mtb->told_off)
		return;
	mtb->told_off = true;
	LOG_WARNING("%s: tracing was off already (MASTER.EN is 0): the part was reset, or the program changed it; what the "
			"buffer holds is captured", mtb->name);
}

void arm_mtb_tell_full(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	LOG_INFO("%s: the buffer is full (%" PRIu32 " packets) and has halted the core: decode or dump it, then resume",
			mtb->name, arm_mtb_packets(mtb, state));
}

/* Into mtb->capture; the hardware stays held still. */
static int capture_buffer(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size)
{
	const bool halted = arm_mtb_is_halted(mtb);
	struct arm_mtb_capture capture;
	struct arm_mtb_state found;
	uint32_t pc;
	int retval = arm_mtb_port_read(&mtb->port, state);

	if (retval != ERROR_OK)
		return arm_mtb_unreachable(mtb, retval, "read", why, why_size);
	/* the stop before this one got so far */
	if (mtb->stopping && !(state->master & ARM_MTB_MASTER_EN))
		return ERROR_OK;
	tell_found_off(mtb, state);
	if (state->master & ARM_MTB_MASTER_HALTREQ)
		mtb->full = true;
	retval = check_position(mtb, state, why, why_size);
	/* while the core runs, reading would meet packets half written */
	found = *state;
	if (retval == ERROR_OK && !halted)
		retval = arm_mtb_hold(mtb, end, state, why, why_size);
	/* it is cleared before OpenOCD has seen the halt */
	if (retval == ERROR_OK && !halted && found.master & ARM_MTB_MASTER_HALTREQ)
		arm_mtb_tell_full(mtb, &found);
	if (retval == ERROR_OK)
		retval = read_buffer(mtb, state, &capture, why, why_size);
	if (retval != ERROR_OK)
		return retval;

	read_vtor(mtb);
	/* what led to a reset is worth more than nothing */
	if (mtb->reset_seen && !capture.len && mtb->capture.exists) {
		arm_mtb_capture_free(&capture);
		LOG_INFO("%s: nothing was traced since the reset; the capture is of before", mtb->name);
		return ERROR_OK;
	}
	if (!capture.len && mtb->has_start && mtb->config.start)
		LOG_INFO("%s: no packet: -start %s was not reached, or no branch was taken behind it", mtb->name,
				mtb->config.start);
	note_registers(mtb, &capture, state);
	if (halted && state->master & ARM_MTB_MASTER_EN && !arm_mtb_has_window(mtb->armed.master) &&
			arm_mtb_core_pc(mtb, &pc))
		add_register(&capture.regs, ITRACE_MTB_REG_PC_HALT, &capture.regs.pc_halt, pc);
	capture.exists = true;
	arm_mtb_capture_free(&mtb->capture);
	mtb->capture = capture;
	mtb->reset_seen = false;
	mtb->fresh = false;
	return ERROR_OK;
}

/* Its end is no longer where the core stood at the last flush. */
void arm_mtb_take_drained(struct arm_mtb *mtb)
{
	if (mtb->fresh && mtb->drained.exists) {
		arm_mtb_capture_free(&mtb->capture);
		mtb->capture = mtb->drained;
		memset(&mtb->drained, 0, sizeof(mtb->drained));
		mtb->drain.capture = &mtb->capture;
		mtb->fresh = false;
		/* if it ends here, because the probe goes away, this is what is known */
		if (mtb->has_pc_arm)
			add_register(&mtb->capture.regs, ITRACE_MTB_REG_PC_ARM, &mtb->capture.regs.pc_arm, mtb->pc_arm);
		if (mtb->vtor_known)
			add_register(&mtb->capture.regs, ITRACE_MTB_REG_VTOR, &mtb->capture.regs.vtor, mtb->vtor);
	}
	if (!mtb->fresh)
		mtb->capture.regs.given &= ~ITRACE_MTB_REG_PC_HALT;
}

/* The rest of a drained trace. @param end tracing ends with it */
static int capture_drained(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size)
{
	struct arm_mtb_stand stand = { .has_pc = false };
	const int retval = arm_mtb_drain_now(&mtb->drain, end, &stand);

	*state = stand.state;
	arm_mtb_take_drained(mtb);
	if (retval != ERROR_OK)
		return arm_mtb_fail(why, why_size, retval, mtb, "%s", mtb->drain.error);
	if (!mtb->drain.ending)
		tell_found_off(mtb, state);
	read_vtor(mtb);
	if (!mtb->fresh) {
		struct arm_mtb_capture *capture = &mtb->capture;
		note_registers(mtb, capture, state);
		/* behind a reset the way is only known from the first packet on */
		const bool begun = !mtb->drain.begun || capture->len > mtb->drain.begun;
		if (stand.has_pc && begun && state->master & ARM_MTB_MASTER_EN && !arm_mtb_has_window(mtb->armed.master))
			add_register(&capture->regs, ITRACE_MTB_REG_PC_HALT, &capture->regs.pc_halt, stand.pc);
	}
	/* what its end has written, and seen */
	if (mtb->drain.ended) {
		state->master &= ~ACTIVE;
		state->flow = 0;
	}
	return ERROR_OK;
}

int arm_mtb_capture_now(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size)
{
	return mtb->draining ? capture_drained(mtb, end, state, why, why_size) :
			capture_buffer(mtb, end, state, why, why_size);
}

/* Does it trace again, or did it get to an end by itself since? */
static bool goes_on(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	if (state->flow != mtb->armed.flow || (state->master ^ mtb->armed.master) & ARM_MTB_MASTER_TSTARTEN)
		return false;
	return !mtb->held.en || state->master & (ARM_MTB_MASTER_EN | ARM_MTB_MASTER_TSTOPEN) ||
			arm_mtb_is_full(mtb, state);
}

int arm_mtb_let_go(struct arm_mtb *mtb, char *why, size_t why_size)
{
	uint32_t master = mtb->armed.master & ~ARM_MTB_MASTER_EN;
	struct arm_mtb_state state;

	if (!mtb->held.held)
		return ERROR_OK;
	/* EN as it was: with -start and -stop it is the comparators' */
	if (mtb->held.en)
		master |= ARM_MTB_MASTER_EN;
	for (unsigned int i = 0; i < 3; i++) {
		int retval = ERROR_OK;
		if (mtb->held.flow)
			retval = arm_mtb_port_write_u32(&mtb->port, ARM_MTB_FLOW, mtb->armed.flow);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_put_master(&mtb->port, master, &state);
		if (retval != ERROR_OK)
			return arm_mtb_unreachable(mtb, retval, "written", why, why_size);
		if (goes_on(mtb, &state)) {
			memset(&mtb->held, 0, sizeof(mtb->held));
			return ERROR_OK;
		}
		mtb->held.flow = true;
	}
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "tracing does not go on: MASTER keeps 0x%08" PRIx32
			" where 0x%08" PRIx32 " was written", state.master, master);
}

int arm_mtb_disarm(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size)
{
	int retval = arm_mtb_hold(mtb, true, state, why, why_size);

	if (retval != ERROR_OK)
		return retval;
	retval = arm_mtb_trigger_clear(&mtb->trigger, false);
	if (retval != ERROR_OK)
		return arm_mtb_fail(why, why_size, retval, mtb, "the comparators of -start and -stop could not be put back");
	return ERROR_OK;
}
