// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jtag/jtag.h>
#include <target/cortex_m.h>
#include <target/target.h>

#include "mtb_parts.h"
#include "mtb_trace.h"

/* A body whose failure changes nothing. */
static void tell_event(struct arm_mtb *mtb, enum arm_mtb_event event)
{
	char why[ARM_MTB_WHY];

	if (arm_mtb_run_event(mtb, event, why, sizeof(why)) != ERROR_OK)
		LOG_ERROR("%s", why);
}

/* ---- start ---- */

/* Its command is deleted, or is that of a newer object. */
static bool is_ghost(const struct arm_mtb *mtb)
{
	return !arm_mtb_command_exists(mtb->interp, mtb->name) || arm_mtb_find(mtb->name) != mtb;
}

int arm_mtb_need_alone(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb *other = arm_mtb_rival(mtb);
	char reason[ARM_MTB_WHY / 2];

	if (other && is_ghost(other)) {
		LOG_WARNING("%s: the command of %s, which traces with this MTB, is deleted: its trace ends", mtb->name,
				other->name);
		if (arm_mtb_disable(other, reason, sizeof(reason)) != ERROR_OK)
			return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "%s", reason);
		other = arm_mtb_rival(mtb);
	}
	if (!other)
		return ERROR_OK;
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "%s traces %s already: %s stop first", other->name,
			other->target == mtb->target ? target_name(mtb->target) : "with the same MTB", other->name);
}

/* The core is halted and resumed for the buffer's sake: who else does that must not be disturbed. */
static int need_core(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	const bool drain = mtb->config.when_full == ARM_MTB_DRAIN;
	struct target *target = mtb->target;

	if (!drain && mtb->config.when_full != ARM_MTB_HALT)
		return ERROR_OK;
	if (!arm_mtb_has_core(mtb))
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "-when-full halt and drain need a cortex_m target; "
				"%s is %s", target_name(target), target_type_name(target));
	if (drain && target->smp)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "-when-full drain is not for cores of an SMP group: "
				"use halt");
	/* such adapters keep the causes of a halt to themselves, by which the buffer's halts are known */
	if (drain && strcmp(target_type_name(target), "cortex_m"))
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "-when-full drain needs a cortex_m target; %s is %s: "
				"use halt, or the adapter without HLA (st-link: dapdirect_swd)", target_name(target),
				target_type_name(target));
	return ERROR_OK;
}

static int check_start(struct arm_mtb *mtb, char *why, size_t why_size)
{
	int retval = ERROR_OK;

	if (mtb->disabling)
		retval = arm_mtb_disable(mtb, why, why_size);
	if (retval == ERROR_OK && mtb->starting)
		retval = arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "its start is still running");
	/* which can end the trace of another, whose body of pre-disable can do anything */
	if (retval == ERROR_OK && mtb->phase != ARM_MTB_ARMED)
		retval = arm_mtb_need_alone(mtb, why, why_size);
	if (retval == ERROR_OK && mtb->phase == ARM_MTB_ARMED)
		retval = arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "it is started already: %s stop first", mtb->name);
	if (retval == ERROR_OK)
		retval = need_core(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = arm_mtb_need_target(mtb, why, why_size);
	return retval;
}

/* Has nobody written to it since stop, which has captured what is there? */
static bool is_left(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	const struct arm_mtb_state *left = &mtb->left;

	return mtb->left_known && mtb->capture.exists && state->position == left->position &&
			state->master == left->master && state->flow == left->flow;
}

/* What one trace must not know of the one before. */
static void begin_trace(struct arm_mtb *mtb)
{
	mtb->phase = ARM_MTB_ARMED;
	mtb->trace_number++;
	mtb->adopted = mtb->rearm = mtb->unasked_reset = mtb->reset_seen = mtb->full = mtb->told_off = false;
	mtb->stopping = mtb->disabling = mtb->said_goodbye = mtb->paused = mtb->draining = mtb->has_pc_arm = false;
	mtb->left_known = false;
	memset(&mtb->held, 0, sizeof(mtb->held));
	mtb->fresh = true;
	mtb->error[0] = 0;
}

static void begin_draining(struct arm_mtb *mtb)
{
	arm_mtb_capture_clear(&mtb->drained);
	mtb->drained.most = mtb->config.capture_max;
	mtb->drain.buffer = mtb->buffer;
	mtb->drain.position = mtb->armed.position;
	mtb->drain.master = mtb->armed.master;
	/* it may have been full and halted the core before the arming was seen to be done */
	mtb->drain.unproved = mtb->target->state == TARGET_RUNNING;
	mtb->draining = true;
	if (!jtag_poll_get_enabled())
		LOG_WARNING("%s: polling is off (poll off): the buffer is only drained by commands that poll, as wait_halt",
				mtb->name);
}

static bool is_unseen(const struct target *target)
{
	return target->state != TARGET_RUNNING && target->state != TARGET_HALTED;
}

static void see_running(struct target *target)
{
	unsigned int tries = 3;

	do
		target_poll(target);
	while (is_unseen(target) && --tries);
}

int arm_mtb_start(struct arm_mtb *mtb, char *why, size_t why_size)
{
	int retval = check_start(mtb, why, why_size);

	/* it may switch on the MTB's clock, and do much else */
	if (retval == ERROR_OK) {
		mtb->starting = true;
		retval = arm_mtb_run_event(mtb, ARM_MTB_PRE_ENABLE, why, why_size);
		mtb->starting = false;
	}
	if (retval == ERROR_OK)
		retval = check_start(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;

	/*
	 * a full buffer must not halt the core before OpenOCD has seen that it runs: it would take that for a halt; and a
	 * reset of before is not one of the trace
	 */
	if (mtb->config.when_full == ARM_MTB_DRAIN && mtb->target->state != TARGET_HALTED)
		see_running(mtb->target);
	mtb->when_full = mtb->config.when_full;
	arm_mtb_drain_init(&mtb->drain, mtb->name, &mtb->port, &mtb->drained);
	retval = arm_mtb_arm(mtb, why, why_size);
	if (retval != ERROR_OK) {
		/* the buffer may have halted the core meanwhile */
		if (mtb->touched && mtb->when_full == ARM_MTB_DRAIN)
			arm_mtb_drain_leave(&mtb->drain);
		return retval;
	}
	mtb->found_left = is_left(mtb, &mtb->before);
	begin_trace(mtb);
	arm_mtb_note_begin(mtb);
	if (arm_mtb_is_halted(mtb))
		mtb->vtor_known = false;
	if (mtb->when_full == ARM_MTB_DRAIN)
		begin_draining(mtb);
	/* OpenOCD keeps the reason of a halt over a reset, which has ended that halt */
	if (mtb->draining && !arm_mtb_is_halted(mtb) && !mtb->target->halt_issued)
		mtb->target->debug_reason = DBG_REASON_NOTHALTED;
	arm_mtb_hook(mtb);
	mtb->haltreq_settled = arm_mtb_is_halted(mtb);
	tell_event(mtb, ARM_MTB_POST_ENABLE);
	return ERROR_OK;
}

/* Nothing of it is in the hardware any more. */
static void end_trace(struct arm_mtb *mtb, enum arm_mtb_phase phase)
{
	arm_mtb_unhook(mtb);
	mtb->phase = phase;
	mtb->adopted = mtb->draining = mtb->rearm = mtb->stopping = mtb->disabling = false;
	memset(&mtb->held, 0, sizeof(mtb->held));
}

/* Is there a trace of the program's? */
static int check_adopted(const struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size)
{
	/* or it waits for a comparator that starts it */
	if (state->master & (ARM_MTB_MASTER_EN | ARM_MTB_MASTER_TSTARTEN))
		return ERROR_OK;
	if (!arm_mtb_used_bytes(mtb, state))
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "nothing is armed (MASTER.EN is 0), and nothing was "
				"traced: POSITION 0x%08" PRIx32 " is at the start of its buffer of %" PRIu32 " bytes, and that has not "
				"wrapped", state->position, mtb->buffer.size);
	if (is_left(mtb, state))
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "nothing was armed since %s stop, whose capture is here: "
				"decode or dump it", mtb->name);
	return ERROR_OK;
}

int arm_mtb_adopt(struct arm_mtb *mtb, char *why, size_t why_size)
{
	const struct arm_mtb_buffer buffer = mtb->buffer;
	struct arm_mtb_state state;

	if (mtb->phase == ARM_MTB_ARMED && !mtb->adopted)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "it is started already: %s stop first", mtb->name);
	int retval = arm_mtb_need_alone(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = arm_mtb_look_alone(mtb, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	const bool still = arm_mtb_is_halted(mtb) || !(state.master & ARM_MTB_MASTER_EN);
	if (!still && !mtb->aw)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "where POSITION points to can only be found out while "
				"nothing is traced: halt the core first");
	retval = arm_mtb_find_armed(mtb, &state, why, why_size);
	if (retval == ERROR_OK)
		retval = check_adopted(mtb, &state, why, why_size);
	if (retval != ERROR_OK) {
		mtb->buffer = buffer;
		return retval;
	}

	mtb->armed = state;
	mtb->armed.position = state.position & ~(mtb->buffer.size - 1) & ARM_MTB_POSITION_POINTER;
	mtb->armed.master &= ~ARM_MTB_MASTER_HALTREQ;
	mtb->when_full = state.flow & ARM_MTB_FLOW_AUTOHALT ? ARM_MTB_HALT :
			state.flow & ARM_MTB_FLOW_AUTOSTOP ? ARM_MTB_STOP : ARM_MTB_WRAP;
	begin_trace(mtb);
	mtb->adopted = true;
	mtb->has_start = mtb->has_stop = mtb->vtor_known = false;
	arm_mtb_hook(mtb);
	if (!still) {
		LOG_INFO("%s: adopted; the core runs: flush, stop or decode captures", mtb->name);
		return ERROR_OK;
	}
	retval = arm_mtb_capture_now(mtb, false, &state, why, why_size);
	if (retval != ERROR_OK)
		end_trace(mtb, ARM_MTB_IDLE);
	return retval;
}

/* ---- while it is armed ---- */

static int need_armed(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (mtb->phase != ARM_MTB_ARMED)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "it is not started");
	if (mtb->target->state == TARGET_DEBUG_RUNNING)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "the core runs code of OpenOCD: try again behind that");
	return arm_mtb_need_target(mtb, why, why_size);
}

/*
 * A reset has ended what was armed, and it is not armed again yet. A script of OpenOCD's own reset can ask before that
 * is done, and not every reset ends a trace: the registers tell.
 */
static bool is_lost(struct arm_mtb *mtb)
{
	struct arm_mtb_state state;

	if (!mtb->rearm || mtb->unasked_reset)
		return mtb->rearm && !arm_mtb_survived_reset(mtb);
	return arm_mtb_port_read(&mtb->port, &state) != ERROR_OK || !arm_mtb_is_armed(mtb, &state) ||
			mtb->armed.master & ~state.master & ARM_MTB_MASTER_EN;
}

/* The same. What led to a reset of OpenOCD's was captured before it; to another one, now. */
static bool is_lost_captured(struct arm_mtb *mtb)
{
	const bool lost = is_lost(mtb);

	if (lost)
		arm_mtb_capture_unasked(mtb);
	return lost;
}

static void note_left(struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	mtb->left = *state;
	mtb->left_known = true;
}

/* Of what is lost: not every reset clears FLOW, whose watermark would halt or stop what the program traces one day. */
static int leave_lost(struct arm_mtb *mtb, char *why, size_t why_size)
{
	const uint32_t flow = mtb->armed.flow;
	struct arm_mtb_state state = { 0 };

	arm_mtb_trigger_clear(&mtb->trigger, true);
	for (unsigned int i = 0; i < 4; i++) {
		if (arm_mtb_port_read(&mtb->port, &state) != ERROR_OK) {
			if (flow)
				LOG_WARNING("%s: the MTB does not answer behind the reset: whether FLOW keeps 0x%08" PRIx32
						" is not known", mtb->name, flow);
			return ERROR_OK;
		}
		/* else the reset or the program has written it */
		if (!flow || state.flow != flow) {
			note_left(mtb, &state);
			return ERROR_OK;
		}
		if (i < 3)
			arm_mtb_port_write_u32(&mtb->port, ARM_MTB_FLOW, 0);
	}
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "FLOW keeps 0x%08" PRIx32 " where 0 was written", state.flow);
}

int arm_mtb_flush(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;
	char later[ARM_MTB_WHY];
	int retval = need_armed(mtb, why, why_size);

	if (retval != ERROR_OK || is_lost_captured(mtb))
		return retval;
	if (mtb->draining && mtb->drain.ended)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "tracing has ended already: %s stop", mtb->name);
	mtb->stopping = false;
	retval = arm_mtb_capture_now(mtb, false, &state, why, why_size);
	if (mtb->paused)
		return retval;
	const int resumed = arm_mtb_let_go(mtb, later, sizeof(later));
	if (retval == ERROR_OK && resumed != ERROR_OK) {
		snprintf(why, why_size, "%s", later);
		retval = resumed;
	}
	return retval;
}

/* ---- the end ---- */

/* Once for each trace. The body may itself end the trace, and begin another. @returns it is still this one */
static bool say_goodbye(struct arm_mtb *mtb)
{
	const unsigned int number = mtb->trace_number;
	const bool said = mtb->said_goodbye;

	mtb->said_goodbye = true;
	if (!said)
		tell_event(mtb, ARM_MTB_PRE_DISABLE);
	return mtb->phase == ARM_MTB_ARMED && mtb->trace_number == number;
}

int arm_mtb_stop(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;
	int retval = need_armed(mtb, why, why_size);

	if (retval != ERROR_OK)
		return retval;
	if (!say_goodbye(mtb))
		return ERROR_OK;
	if (is_lost_captured(mtb)) {
		retval = leave_lost(mtb, why, why_size);
		if (retval != ERROR_OK)
			return retval;
		mtb->before_known = false;
		end_trace(mtb, ARM_MTB_STOPPED);
		return ERROR_OK;
	}
	retval = arm_mtb_capture_now(mtb, true, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	mtb->stopping = true;
	retval = arm_mtb_disarm(mtb, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	note_left(mtb, &state);
	/* what the program had armed is not what a start found, nor what is there behind the reset that comes now */
	mtb->before_known &= !mtb->adopted && !mtb->rearm;
	end_trace(mtb, ARM_MTB_STOPPED);
	return ERROR_OK;
}

/* Registers as before start, or as the program had them. */
static int leave_hardware(struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (is_lost(mtb))
		return leave_lost(mtb, why, why_size);
	int retval = arm_mtb_trigger_clear(&mtb->trigger, false);
	if (retval == ERROR_OK && mtb->adopted)
		return arm_mtb_let_go(mtb, why, why_size);
	if (retval == ERROR_OK && mtb->before_known) {
		retval = arm_mtb_put_back(mtb);
		mtb->left_known = mtb->found_left;
		mtb->left = mtb->before;
	}
	return retval == ERROR_OK ? ERROR_OK : arm_mtb_unreachable(mtb, retval, "written", why, why_size);
}

/* One that stands for its full buffer, and runs for everybody else. */
static int release_core(struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (!mtb->draining || arm_mtb_drain_leave(&mtb->drain) == ERROR_OK)
		return ERROR_OK;
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "the core may stand where its trace buffer was full");
}

int arm_mtb_disable(struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (mtb->phase != ARM_MTB_ARMED && !mtb->before_known)
		return ERROR_OK;
	const unsigned int number = mtb->trace_number;
	int retval = arm_mtb_need_target(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	if (mtb->phase == ARM_MTB_ARMED && !say_goodbye(mtb) && (!mtb->before_known || mtb->trace_number != number))
		return ERROR_OK;
	/* what a start of before has found is no business of a trace of another object */
	if (mtb->phase != ARM_MTB_ARMED)
		retval = arm_mtb_need_alone(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	mtb->disabling = true;
	retval = leave_hardware(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = release_core(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	/* what was put back is what the next start would find */
	mtb->before_known &= !mtb->adopted && !mtb->rearm;
	end_trace(mtb, ARM_MTB_IDLE);
	return ERROR_OK;
}

/* OpenOCD ends: what would halt the core must not stay, since nobody resumes it. */
static void leave_for_good(struct arm_mtb *mtb)
{
	struct arm_mtb_state state;
	char why[ARM_MTB_WHY];

	if (mtb->phase != ARM_MTB_ARMED || mtb->adopted || !target_was_examined(mtb->target) ||
			(mtb->when_full != ARM_MTB_HALT && mtb->when_full != ARM_MTB_DRAIN))
		return;
	int retval = ERROR_OK;
	if (is_lost(mtb)) {
		retval = leave_lost(mtb, why, sizeof(why));
	} else {
		retval = arm_mtb_look(mtb, &state, why, sizeof(why));
		if (retval == ERROR_OK)
			retval = arm_mtb_disarm(mtb, &state, why, sizeof(why));
	}
	if (retval == ERROR_OK)
		retval = release_core(mtb, why, sizeof(why));
	if (retval != ERROR_OK)
		LOG_WARNING("%s (at the end of OpenOCD)", why);
}

/* ---- what was captured ---- */

bool arm_mtb_get_capture(const struct arm_mtb *mtb, struct itrace_capture *capture)
{
	const struct arm_mtb_capture *own = &mtb->capture;

	memset(capture, 0, sizeof(*capture));
	if (!own->exists)
		return false;
	capture->name = mtb->name;
	capture->protocol = ITRACE_PROTOCOL_MTB;
	if (arm_mtb_has_core(mtb)) {
		const struct cortex_m_common *cortex_m = target_to_cm(mtb->target);
		if (cortex_m->core_info)
			capture->core = cortex_m->core_info->name;
	}
	capture->mtb = own->regs;
	capture->bytes = own->bytes;
	capture->len = own->len;
	capture->seams = own->seams;
	capture->seam_count = own->seam_count;
	capture->elfs = (const char *const *)mtb->config.elfs;
	capture->elf_count = mtb->config.elf_count;
	return true;
}

/* ---- objects ---- */

struct arm_mtb *arm_mtb_new(Jim_Interp *interp, const char *name, struct target *target, char *why, size_t why_size)
{
	struct arm_mtb *mtb = arm_mtb_object_new(interp, name, target, why, why_size);

	if (mtb)
		arm_mtb_attach(mtb);
	return mtb;
}

void arm_mtb_free(struct arm_mtb *mtb)
{
	arm_mtb_detach(mtb);
	arm_mtb_object_free(mtb);
}

void arm_mtb_cleanup_all(void)
{
	arm_mtb_objects_each(leave_for_good);
	arm_mtb_objects_each(arm_mtb_free);
}
