// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <string.h>

#include <helper/time_support.h>
#include <jtag/jtag.h>
#include <target/armv7m.h>
#include <target/target.h>
#include <target/target_type.h>

#include "mtb_parts.h"
#include "mtb_trace.h"

#define LOOK_MS		1	/* at a core that is drained */
#define RETRY_MS	50	/* of a target that does not answer that */
#define REARM_MS	1000	/* so long behind a reset a part may need until it answers */

static void tell_background(struct arm_mtb *mtb, const char *why)
{
	snprintf(mtb->error, sizeof(mtb->error), "%s", why);
	LOG_ERROR("%s", why);
}

static int tick(void *priv);

static void want_timer(struct arm_mtb *mtb)
{
	mtb->ticking = true;
	if (!mtb->timer)
		mtb->timer = target_register_timer_callback(tick, LOOK_MS, TARGET_TIMER_TYPE_PERIODIC, mtb) == ERROR_OK;
}

/* ---- halts ---- */

/* HALTREQ would halt the core again as soon as it is resumed. */
static int clear_haltreq(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;
	int retval = arm_mtb_port_read(&mtb->port, &state);

	if (retval != ERROR_OK)
		return arm_mtb_unreachable(mtb, retval, "read", why, why_size);
	if (!(state.master & ARM_MTB_MASTER_HALTREQ))
		return ERROR_OK;
	mtb->full = true;
	retval = arm_mtb_port_set_master(&mtb->port, state.master & ~ARM_MTB_MASTER_HALTREQ, ARM_MTB_MASTER_HALTREQ);
	if (retval != ERROR_OK)
		return arm_mtb_unreachable(mtb, retval, "written", why, why_size);
	arm_mtb_tell_full(mtb, &state);
	return ERROR_OK;
}

/* The core stands, whatever for: serve the buffer, so that it can be resumed. */
static void settle_halt(struct arm_mtb *mtb)
{
	char why[ARM_MTB_WHY];
	int retval = ERROR_OK;

	const bool unsettled = mtb->draining && mtb->drain.uncertain;

	if ((mtb->haltreq_settled && !unsettled) || mtb->rearm || !arm_mtb_is_halted(mtb))
		return;
	if (mtb->draining) {
		retval = arm_mtb_drain_halted(&mtb->drain);
		if (retval != ERROR_OK)
			LOG_ERROR("%s: %s", mtb->name, mtb->drain.error);
		arm_mtb_take_drained(mtb);
	} else if (mtb->when_full == ARM_MTB_HALT) {
		retval = clear_haltreq(mtb, why, sizeof(why));
		if (retval != ERROR_OK)
			tell_background(mtb, why);
	}
	mtb->haltreq_settled = retval == ERROR_OK;
	if (retval == ERROR_OK)
		mtb->error[0] = 0;
}

/* ---- resets ---- */

static void rearm_failed(struct arm_mtb *mtb, const char *why)
{
	char later[ARM_MTB_WHY];
	struct arm_mtb_state state = { 0 };

	tell_background(mtb, why);
	LOG_ERROR("%s: it could not be armed again after the reset: it is stopped", mtb->name);
	/* half of it may be there */
	mtb->left_known = arm_mtb_look(mtb, &state, later, sizeof(later)) == ERROR_OK &&
			arm_mtb_hold(mtb, true, &state, later, sizeof(later)) == ERROR_OK;
	mtb->left = state;
	if (mtb->draining)
		arm_mtb_drain_leave(&mtb->drain);
	arm_mtb_trigger_clear(&mtb->trigger, true);
	mtb->phase = ARM_MTB_STOPPED;
	mtb->rearm = mtb->draining = mtb->before_known = false;
	arm_mtb_unhook(mtb);
}

enum after_reset { LOST, KEPT, NO_ANSWER };

static enum after_reset look_after_reset(struct arm_mtb *mtb)
{
	struct arm_mtb_state state;

	if (!mtb->unasked_reset)
		return LOST;
	if (arm_mtb_port_read(&mtb->port, &state) != ERROR_OK)
		return NO_ANSWER;
	/*
	 * Full, it cannot be told from one that a reset has switched off. A drained one that a true reset has left alone
	 * may be full again before OpenOCD has seen the core run: that halt is seen.
	 */
	if (!arm_mtb_is_armed(mtb, &state) || (mtb->armed.master & ~state.master & ARM_MTB_MASTER_EN))
		return LOST;
	mtb->rearm = mtb->unasked_reset = false;
	if (mtb->draining)
		arm_mtb_drain_resumed(&mtb->drain);
	return KEPT;
}

bool arm_mtb_survived_reset(struct arm_mtb *mtb)
{
	return look_after_reset(mtb) != LOST;
}

/* What led to a reset that OpenOCD did not do, if the MTB has kept it. */
static void capture_after_reset(struct arm_mtb *mtb)
{
	char why[ARM_MTB_WHY];
	struct arm_mtb_state state;

	LOG_INFO("%s: the part was reset, not by OpenOCD", mtb->name);
	if (mtb->draining)
		LOG_WARNING("%s: what was traced between the last filling and this reset is lost", mtb->name);
	else if (arm_mtb_look(mtb, &state, why, sizeof(why)) == ERROR_OK && arm_mtb_packets(mtb, &state))
		arm_mtb_capture_now(mtb, false, &state, why, sizeof(why));
}

void arm_mtb_capture_unasked(struct arm_mtb *mtb)
{
	if (mtb->unasked_reset)
		capture_after_reset(mtb);
	mtb->unasked_reset = false;
}

/* Once: its body may switch on the clock that the MTB needs to answer. */
static void tell_reset(struct arm_mtb *mtb)
{
	char why[ARM_MTB_WHY];

	if (mtb->reset_told)
		return;
	mtb->reset_told = true;
	arm_mtb_capture_unasked(mtb);
	if (arm_mtb_run_event(mtb, ARM_MTB_RESET, why, sizeof(why)) != ERROR_OK)
		LOG_ERROR("%s", why);
}

static void rearm_after_reset(struct arm_mtb *mtb)
{
	const enum after_reset now = look_after_reset(mtb);
	const bool first = !mtb->rearm_until;
	char why[ARM_MTB_WHY];

	mtb->retry_at = timeval_ms() + RETRY_MS;
	if (first)
		mtb->rearm_until = timeval_ms() + REARM_MS;
	/* the line may have failed for a moment; a second time it is the MTB that is off */
	if (now == KEPT || (now == NO_ANSWER && first))
		return;
	tell_reset(mtb);
	/* the body may have stopped it */
	if (!mtb->rearm)
		return;
	if (arm_mtb_arm_again(mtb, why, sizeof(why)) != ERROR_OK) {
		if (timeval_ms() >= mtb->rearm_until)
			rearm_failed(mtb, why);
		return;
	}
	mtb->rearm = mtb->unasked_reset = mtb->full = mtb->told_off = mtb->stopping = mtb->said_goodbye = false;
	mtb->haltreq_settled = mtb->paused = mtb->hooks.paused = false;
	mtb->error[0] = 0;
	mtb->retry_at = 0;
	memset(&mtb->held, 0, sizeof(mtb->held));
	/* OpenOCD keeps the reason of a halt over a reset, which has ended that halt */
	if (!arm_mtb_is_halted(mtb))
		mtb->target->debug_reason = DBG_REASON_NOTHALTED;
	mtb->reset_seen = true;
	if (mtb->draining)
		arm_mtb_drain_rearmed(&mtb->drain);
	/* what is drained goes on, and its first instruction is the one of start */
	if (!mtb->draining || !mtb->drain.capture->len)
		arm_mtb_note_begin(mtb);
	LOG_INFO("%s: armed again after the reset", mtb->name);
}

/* Arm again as soon as that is possible. */
static void await_rearm(struct arm_mtb *mtb, bool unasked)
{
	mtb->rearm = true;
	mtb->unasked_reset = unasked;
	mtb->rearm_until = mtb->retry_at = 0;
	mtb->reset_told = false;
	want_timer(mtb);
}

/* Before a reset: what led to it is captured, since start-up code may use that RAM. */
static int on_target_reset(struct target *target, enum target_reset_mode mode, void *priv)
{
	struct arm_mtb *mtb = priv;
	struct arm_mtb_state state;
	char why[ARM_MTB_WHY];

	if (target != mtb->target)
		return ERROR_OK;
	mtb->vtor_known = false;
	if (mtb->phase != ARM_MTB_ARMED)
		mtb->before_known = false;
	if (mtb->phase != ARM_MTB_ARMED || mtb->adopted)
		return ERROR_OK;
	if (target_was_examined(target) && !mtb->rearm &&
			arm_mtb_capture_now(mtb, mtb->draining, &state, why, sizeof(why)) != ERROR_OK)
		LOG_WARNING("%s (before the reset)", why);
	await_rearm(mtb, false);
	return ERROR_OK;
}

/* ---- the timer ---- */

/* Scripts of reset are in charge of the target. The pair leaves the mask as it was, and tells what that was. */
static bool is_masked(void)
{
	const bool saved = jtag_poll_mask();

	jtag_poll_unmask(saved);
	return !saved;
}

static bool is_drained(const struct arm_mtb *mtb)
{
	return mtb->draining && mtb->target->state != TARGET_HALTED;
}

static bool may_rearm(const struct arm_mtb *mtb)
{
	const enum target_state state = mtb->target->state;

	if (!mtb->rearm || is_masked() || timeval_ms() < mtb->retry_at)
		return false;
	/*
	 * A reset that nobody asked for can be a line that failed. And drained, a buffer that is full before OpenOCD has
	 * seen the core run again would be a halt that it sees.
	 */
	return state == TARGET_RUNNING || state == TARGET_HALTED || !(mtb->unasked_reset || mtb->draining);
}

static void look_at_drain(struct arm_mtb *mtb)
{
	const uint64_t fillings = mtb->drain.fillings;

	if (!arm_mtb_drain_poll(&mtb->drain))
		/* anything else is for OpenOCD's own poll, which comes ten times a second */
		mtb->retry_at = timeval_ms() + RETRY_MS;
	if (mtb->drain.fillings != fillings)
		arm_mtb_take_drained(mtb);
}

static int tick(void *priv)
{
	struct arm_mtb *mtb = priv;

	/* only here: who unregisters a callback elsewhere can meet one that is gone already, and leave this one */
	if (!mtb->ticking) {
		mtb->timer = false;
		return target_unregister_timer_callback(tick, mtb);
	}
	if (may_rearm(mtb))
		rearm_after_reset(mtb);
	/* a core that does not answer is left to OpenOCD's own poll, which looks ever more seldom */
	if (!mtb->rearm && is_drained(mtb) && target_was_examined(mtb->target) && !mtb->drain.blind &&
			is_jtag_poll_safe() && timeval_ms() >= mtb->retry_at)
		look_at_drain(mtb);
	mtb->ticking = mtb->rearm || is_drained(mtb);
	return ERROR_OK;
}

/* ---- in place of functions of the target ---- */

/* A halt that is the buffer's is nobody else's business; a reset that nobody here did arms again. */
static int poll_traced(struct target *target)
{
	struct arm_mtb *mtb = arm_mtb_tracing(target);
	const uint64_t fillings = mtb->drain.fillings;

	if (mtb->rearm)
		arm_mtb_survived_reset(mtb);
	if (mtb->draining && !mtb->rearm) {
		const bool done = arm_mtb_drain_poll(&mtb->drain);
		if (mtb->drain.fillings != fillings)
			arm_mtb_take_drained(mtb);
		if (done)
			return ERROR_OK;
	}
	const int retval = mtb->hooks.poll(target);
	if (target->state == TARGET_RESET && mtb->phase == ARM_MTB_ARMED && !mtb->rearm && !mtb->adopted) {
		mtb->vtor_known = false;
		await_rearm(mtb, true);
	}
	if (is_drained(mtb))
		want_timer(mtb);
	return retval;
}

/* OpenOCD's own code on the core is not what is to be traced, nor may a full buffer halt it. @returns paused here */
static bool pause_trace(struct arm_mtb *mtb)
{
	char why[ARM_MTB_WHY];
	struct arm_mtb_state state;

	if (mtb->held.held || mtb->rearm)
		return false;
	settle_halt(mtb);
	/* all that the program did until now is in order, before something else is traced */
	if (mtb->draining && arm_mtb_capture_now(mtb, false, &state, why, sizeof(why)) != ERROR_OK)
		tell_background(mtb, why);
	int retval = arm_mtb_look(mtb, &state, why, sizeof(why));
	if (retval == ERROR_OK)
		retval = arm_mtb_hold(mtb, false, &state, why, sizeof(why));
	if (retval != ERROR_OK)
		tell_background(mtb, why);
	mtb->paused = mtb->held.held;
	return mtb->paused;
}

static void go_on(struct arm_mtb *mtb)
{
	char why[ARM_MTB_WHY];

	mtb->paused = false;
	if (arm_mtb_let_go(mtb, why, sizeof(why)) != ERROR_OK)
		tell_background(mtb, why);
}

/*
 * OpenOCD has the registers of the program back in its cache only: the core gets them with the next resume, and a
 * change of its PC is a packet.
 */
static void go_on_in_program(struct arm_mtb *mtb)
{
	if (arm_mtb_is_halted(mtb))
		armv7m_restore_context(mtb->target);
	go_on(mtb);
}

static int run_algorithm_untraced(struct target *target, int num_mem_params, struct mem_param *mem_params,
		int num_reg_params, struct reg_param *reg_params, target_addr_t entry, target_addr_t exit,
		ocd_timeout timeout_ms, void *arch_info)
{
	struct arm_mtb *mtb = arm_mtb_tracing(target);
	const bool paused = pause_trace(mtb);
	const int retval = mtb->hooks.run_algorithm(target, num_mem_params, mem_params, num_reg_params, reg_params, entry,
			exit, timeout_ms, arch_info);

	if (paused)
		go_on_in_program(mtb);
	return retval;
}

static int start_algorithm_untraced(struct target *target, int num_mem_params, struct mem_param *mem_params,
		int num_reg_params, struct reg_param *reg_params, target_addr_t entry, target_addr_t exit, void *arch_info)
{
	struct arm_mtb *mtb = arm_mtb_tracing(target);

	mtb->hooks.paused |= pause_trace(mtb);
	const int retval = mtb->hooks.start_algorithm(target, num_mem_params, mem_params, num_reg_params, reg_params, entry,
			exit, arch_info);
	if (retval != ERROR_OK && mtb->hooks.paused) {
		go_on_in_program(mtb);
		mtb->hooks.paused = false;
	}
	return retval;
}

static int wait_algorithm_untraced(struct target *target, int num_mem_params, struct mem_param *mem_params,
		int num_reg_params, struct reg_param *reg_params, target_addr_t exit, ocd_timeout timeout_ms, void *arch_info)
{
	struct arm_mtb *mtb = arm_mtb_tracing(target);
	const int retval = mtb->hooks.wait_algorithm(target, num_mem_params, mem_params, num_reg_params, reg_params, exit,
			timeout_ms, arch_info);

	if (mtb->hooks.paused)
		go_on_in_program(mtb);
	mtb->hooks.paused = false;
	return retval;
}

/*
 * Each target has a copy of its type of its own, so nobody else is concerned. There is no event for these: a poll that
 * finds the core halted has no way to say that it is to be ignored, and DEBUG_RESUMED comes when the code runs already.
 */
void arm_mtb_hook(struct arm_mtb *mtb)
{
	struct target_type *type = mtb->target->type;
	struct arm_mtb_hooks *hooks = &mtb->hooks;

	mtb->haltreq_settled = false;
	if (mtb->draining || mtb->rearm)
		want_timer(mtb);
	if (hooks->set)
		return;
	*hooks = (struct arm_mtb_hooks) {
		.set = true,
		.poll = type->poll,
		.run_algorithm = type->run_algorithm,
		.start_algorithm = type->start_algorithm,
		.wait_algorithm = type->wait_algorithm,
	};
	type->poll = poll_traced;
	if (type->run_algorithm)
		type->run_algorithm = run_algorithm_untraced;
	if (type->start_algorithm)
		type->start_algorithm = start_algorithm_untraced;
	if (type->wait_algorithm)
		type->wait_algorithm = wait_algorithm_untraced;
}

void arm_mtb_unhook(struct arm_mtb *mtb)
{
	struct target_type *type = mtb->target->type;
	const struct arm_mtb_hooks *hooks = &mtb->hooks;

	mtb->ticking = false;
	if (!hooks->set)
		return;
	type->poll = hooks->poll;
	type->run_algorithm = hooks->run_algorithm;
	type->start_algorithm = hooks->start_algorithm;
	type->wait_algorithm = hooks->wait_algorithm;
	mtb->hooks.set = false;
}

/* ---- events ---- */

static void serve(struct arm_mtb *mtb)
{
	if (mtb->rearm)
		rearm_after_reset(mtb);
	settle_halt(mtb);
}

static void on_halted(struct arm_mtb *mtb)
{
	mtb->haltreq_settled = false;
	serve(mtb);
}

static int on_target_event(struct target *target, enum target_event event, void *priv)
{
	struct arm_mtb *mtb = priv;

	if (target != mtb->target || mtb->phase != ARM_MTB_ARMED)
		return ERROR_OK;
	switch (event) {
	case TARGET_EVENT_HALTED:
		on_halted(mtb);
		break;
	case TARGET_EVENT_RESUME_START:
	case TARGET_EVENT_STEP_START:
		/* handlers of scripts come before this one, and may resume; and what failed is tried again */
		serve(mtb);
		mtb->haltreq_settled = false;
		/* a halt that was asked for is over, though OpenOCD has not polled since: the next can be the buffer's */
		if (mtb->draining && target->state == TARGET_HALTED)
			target->halt_issued = false;
		break;
	case TARGET_EVENT_RESUMED:
		mtb->haltreq_settled = false;
		if (mtb->draining)
			arm_mtb_drain_resumed(&mtb->drain);
		/* also by another than OpenOCD, which keeps the reason of the halt then */
		if (mtb->draining && !target->halt_issued && target->debug_reason == DBG_REASON_DBGRQ)
			target->debug_reason = DBG_REASON_NOTHALTED;
		if (is_drained(mtb))
			want_timer(mtb);
		break;
	case TARGET_EVENT_EXAMINE_END:
		if (arm_mtb_trigger_keep(&mtb->trigger) != ERROR_OK)
			tell_background(mtb, "the comparators of -start and -stop could not be set again");
		break;
	case TARGET_EVENT_GDB_FLASH_ERASE_START:
	case TARGET_EVENT_GDB_FLASH_WRITE_START:
		pause_trace(mtb);
		break;
	case TARGET_EVENT_GDB_FLASH_ERASE_END:
	case TARGET_EVENT_GDB_FLASH_WRITE_END:
		go_on_in_program(mtb);
		break;
	default:
		break;
	}
	return ERROR_OK;
}

void arm_mtb_attach(struct arm_mtb *mtb)
{
	target_register_event_callback(on_target_event, mtb);
	target_register_reset_callback(on_target_reset, mtb);
}

void arm_mtb_detach(struct arm_mtb *mtb)
{
	arm_mtb_unhook(mtb);
	if (mtb->timer)
		target_unregister_timer_callback(tick, mtb);
	target_unregister_event_callback(on_target_event, mtb);
	target_unregister_reset_callback(on_target_reset, mtb);
}
