// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <helper/time_support.h>
#include <target/cortex_m.h>
#include <target/target.h>
#include <target/target_type.h>

#include "mtb_drain.h"
#include "ocd_compat.h"

#define MARGIN_MAX	4u
#define HALT_MS		100

/* so often in a row reading may fail before the halt is shown as one */
#define FAILURES_MAX	3u
/* and so often in a row it is let go when it stands for no reason that is known */
#define RELEASES_MAX	3u
/* and so often an exchange is tried */
#define TRIES		3u

uint32_t arm_mtb_drain_margin(uint32_t size)
{
	const uint32_t half = size / ARM_MTB_PACKET_LEN / 2;

	return half > MARGIN_MAX ? MARGIN_MAX : half;
}

void arm_mtb_drain_init(struct arm_mtb_drain *drain, const char *name, struct arm_mtb_port *port,
		struct arm_mtb_capture *capture)
{
	memset(drain, 0, sizeof(*drain));
	drain->name = name;
	drain->port = port;
	arm_mtb_service_init(&drain->service, port);
	drain->capture = capture;
}

/* What was read of the buffer, but is not known to be out of it. */
static void drop_staged(struct arm_mtb_drain *drain)
{
	drain->capture->staged = drain->overwritten = 0;
	drain->uncertain = false;
}

void arm_mtb_drain_rearmed(struct arm_mtb_drain *drain)
{
	/* where the piece before the reset ends, if there is one */
	if (drain->capture->len > drain->begun && drain->ended && drain->end.has_pc &&
			drain->end.state.master & ARM_MTB_MASTER_EN && !arm_mtb_has_window(drain->master))
		arm_mtb_capture_seam(drain->capture, &drain->end.pc);
	drain->begun = drain->capture->len;
	drain->ending = drain->ended = drain->halted_here = drain->blind = drain->doubtful = false;
	/* as when it begins: it may have been full and halted the core before the arming was seen to be done */
	drain->unproved = drain->port->target->state == TARGET_RUNNING;
	arm_mtb_service_end(&drain->service);
	arm_mtb_service_begin(&drain->service);
	drain->lost = false;
	drain->failures = drain->releases = 0;
	drop_staged(drain);
}

static int failed(struct arm_mtb_drain *drain, int retval, const char *what)
{
	if (drain->background)
		drain->failures++;
	snprintf(drain->error, sizeof(drain->error), "%s; what was drained is kept, and this is tried again", what);
	return retval == ERROR_OK ? ERROR_FAIL : retval;
}

/* ---- the core ---- */

/* What the core does not tell is not known; all that was traced is there nevertheless. */
static void find_pc(struct arm_mtb_drain *drain)
{
	if (!arm_mtb_service_find_pc(&drain->service) && !drain->service.reset_met)
		LOG_WARNING("%s: where the core was halted cannot be read: what ran behind the last packet there is not known",
				drain->name);
}

/* POSITION stays. @returns ERROR_OK, or ERROR_FAIL: it does not keep it, or does not answer */
static int switch_off(struct arm_mtb_drain *drain)
{
	const uint32_t master = drain->master &
			~(ARM_MTB_MASTER_EN | ARM_MTB_MASTER_TSTARTEN | ARM_MTB_MASTER_TSTOPEN);
	const struct arm_mtb_write writes[] = { { ARM_MTB_MASTER, master }, { ARM_MTB_FLOW, 0 } };
	struct arm_mtb_view now;

	for (unsigned int i = 0; i < TRIES; i++) {
		const int retval = arm_mtb_service_put(&drain->service, writes, ARRAY_SIZE(writes), &now);
		if (retval == ERROR_OK && now.state.master == master && !now.state.flow)
			return ERROR_OK;
	}
	return ERROR_FAIL;
}

/* Does it stand for the buffer, or for the halt that was asked for here, and for nothing else beside? */
static bool is_ours(const struct arm_mtb_drain *drain)
{
	const uint32_t others = DFSR_BKPT | DFSR_DWTTRAP | DFSR_VCATCH;

	if (!drain->service.dfsr_known)
		return false;
	if (drain->service.dfsr)
		return !(drain->service.dfsr & others);
	/* no cause is left where it was cleared, but the core not released */
	return drain->unproved;
}

static int release(struct arm_mtb_drain *drain)
{
	uint32_t dhcsr;

	drain->halted_here = false;
	/* the halt may be one of the reset's own */
	if (drain->service.reset_met && !is_ours(drain))
		return ERROR_OK;
	const int retval = arm_mtb_service_release(&drain->service, &dhcsr);
	/* if so, the next look at it finds out whether it stands for this */
	drain->unproved = retval != ERROR_OK || dhcsr & S_HALT;
	return retval == ERROR_OK ? ERROR_OK : failed(drain, retval, "the core cannot be resumed after its trace was read");
}

/* ---- the buffer ---- */

/* Packets were overwritten: the decoder sees it by the start bit, which says that nothing is known of before. */
static void mark_loss(uint8_t *packet)
{
	packet[4] |= 1;
}

/* The packets of this filling, behind those that are here, oldest first. */
static int stage_filling(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	const uint32_t size = drain->buffer.size;
	const uint32_t used = state->position & ARM_MTB_POSITION_POINTER & (size - 1);
	const bool wrapped = state->position & ARM_MTB_POSITION_WRAP;
	const uint32_t len = wrapped ? size : used;
	int retval = ERROR_OK;

	if (!len)
		return ERROR_OK;
	uint8_t *bytes = arm_mtb_capture_stage(drain->capture, len);
	if (!bytes)
		return ERROR_BUF_TOO_SMALL;
	/* the oldest is where the next would go */
	if (wrapped && used)
		retval = arm_mtb_port_read_packets(drain->port, drain->buffer.addr + used, bytes, size - used);
	if (retval == ERROR_OK && (!wrapped || used))
		retval = arm_mtb_port_read_packets(drain->port, drain->buffer.addr, wrapped ? bytes + size - used : bytes,
		used);
	if (retval == ERROR_OK && wrapped && !used)
		retval = arm_mtb_port_read_packets(drain->port, drain->buffer.addr, bytes, size);
	if (retval != ERROR_OK) {
		drain->capture->staged -= len;
		return failed(drain, retval, "the trace buffer cannot be read");
	}
	if (drain->doubtful)
		mark_loss(bytes);
	if (wrapped && used) {
		mark_loss(bytes);
		drain->overwritten = used / ARM_MTB_PACKET_LEN;
	}
	return ERROR_OK;
}

/*
 * The reset came while the buffer was emptied: what was read may be what the program's start made of that RAM. And the
 * write that emptied it may have armed the MTB again, which is too early: a buffer that is full before OpenOCD has seen
 * the core run would be a halt that it sees.
 */
static int drop_filling(struct arm_mtb_drain *drain, bool end)
{
	drop_staged(drain);
	drain->service.has_pc = false;
	LOG_WARNING("%s: the part was reset while the buffer was read: that filling is lost", drain->name);
	if (switch_off(drain) != ERROR_OK)
		return failed(drain, ERROR_FAIL, "the MTB cannot be switched off behind a reset");
	/* who asked for what there is does not get it */
	return drain->background || end ? ERROR_OK : failed(drain, ERROR_FAIL, "the part was reset meanwhile");
}

/* The staged packets count, and the next filling begins. */
static int finish_filling(struct arm_mtb_drain *drain, bool end, const struct arm_mtb_state *state)
{
	struct arm_mtb_capture *capture = drain->capture;
	const bool some = capture->staged;
	/* else the core came there untraced, or it may have been so for a while */
	const bool traced = state->master & ARM_MTB_MASTER_EN && !arm_mtb_has_window(drain->master);
	const bool has_pc = drain->service.has_pc && traced;

	if (drain->service.reset_met)
		return drop_filling(drain, end);
	drain->uncertain = false;
	arm_mtb_capture_commit(capture);
	if (drain->overwritten) {
		capture->lost += drain->overwritten;
		LOG_WARNING("%s: the core halted too late: %" PRIu32 " packets were overwritten; take a larger buffer",
				drain->name, drain->overwritten);
		drain->overwritten = 0;
	}
	if (some) {
		drain->fillings++;
		drain->doubtful = false;
	}
	capture->exists = capture->in_order = true;
	if (!end && some && !arm_mtb_capture_seam(capture, has_pc ? &drain->service.pc : NULL))
		return failed(drain, ERROR_FAIL, "out of memory for the places where the buffer was read");
	return ERROR_OK;
}

/* What was staged before a write that failed: if POSITION is no longer where it was, the write was carried out. */
static int settle_uncertain(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	if (!drain->uncertain)
		return ERROR_OK;
	if (state->position != drain->staged_position)
		return finish_filling(drain, false, state);
	drop_staged(drain);
	return ERROR_OK;
}

/* The MTB begins anew and does not ask for a halt any more; only what reads so has happened. */
static int rewind_buffer(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	const uint32_t master = state->master & ~ARM_MTB_MASTER_HALTREQ;
	const struct arm_mtb_write writes[] = { { ARM_MTB_POSITION, drain->position }, { ARM_MTB_MASTER, master } };
	struct arm_mtb_view now;

	drain->uncertain = true;
	drain->staged_position = state->position;
	for (unsigned int i = 0; i < TRIES; i++) {
		const int retval = arm_mtb_service_put(&drain->service, writes, ARRAY_SIZE(writes), &now);
		if (retval == ERROR_OK && now.state.position == drain->position && now.state.master == master) {
			find_pc(drain);
			return ERROR_OK;
		}
	}
	return failed(drain, ERROR_FAIL, "the MTB's registers cannot be written");
}

/* POSITION stays, so that the packets can be read again when this fails. */
static int end_trace(struct arm_mtb_drain *drain)
{
	drain->ending = true;
	if (switch_off(drain) == ERROR_OK) {
		find_pc(drain);
		return ERROR_OK;
	}
	drop_staged(drain);
	return failed(drain, ERROR_FAIL, "the MTB cannot be stopped");
}

static void set_end(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	drain->ended = true;
	drain->end = (struct arm_mtb_stand) { .state = *state, .has_pc = drain->service.has_pc, .pc = drain->service.pc };
}

/* No more can be kept: trace ends here, the core runs on. */
static int end_full(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	const int retval = end_trace(drain);

	if (retval != ERROR_OK)
		return retval;
	LOG_WARNING("%s: the capture of %zu bytes cannot grow: tracing was stopped; stop, dump it and start again",
			drain->name, drain->capture->len);
	/* behind what could not be kept nothing is known; and if that is all, the capture is empty, not the one before */
	drain->service.has_pc = false;
	drain->capture->exists = drain->capture->in_order = true;
	set_end(drain, state);
	return ERROR_OK;
}

static bool holds_nothing(const struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	return !(state->position & (ARM_MTB_POSITION_WRAP | (drain->buffer.size - ARM_MTB_PACKET_LEN))) &&
			!(state->master & ARM_MTB_MASTER_HALTREQ);
}

static int end_filling(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	int retval = end_trace(drain);

	if (retval == ERROR_OK)
		retval = finish_filling(drain, true, state);
	if (retval == ERROR_OK)
		set_end(drain, state);
	return retval;
}

/* There is nothing to drain any more: the core must not halt again for it. */
static int lose_buffer(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	arm_mtb_port_set_master(drain->port, state->master & ~ARM_MTB_MASTER_HALTREQ, ARM_MTB_MASTER_HALTREQ);
	/* what was staged cannot be settled any more */
	drop_staged(drain);
	drain->lost = true;
	snprintf(drain->error, sizeof(drain->error), "POSITION 0x%08" PRIx32 " and MASTER 0x%08" PRIx32 " are not of the "
			"buffer that was armed: the program or a reset changed them; what was drained is kept, disable ends this",
			state->position, state->master);
	if (drain->background)
		LOG_ERROR("%s: %s", drain->name, drain->error);
	return ERROR_FAIL;
}

/* The core stands: read and empty the buffer. */
static int empty(struct arm_mtb_drain *drain, bool end, const struct arm_mtb_state *state)
{
	if (!arm_mtb_is_in_buffer(state, drain->position, drain->master, drain->buffer.size))
		return lose_buffer(drain, state);
	const bool nothing = !end && holds_nothing(drain, state);
	/* who asks for what there is wants to know where it ends; else it is asked for with the writes below */
	if (drain->uncertain || (nothing && !drain->background))
		find_pc(drain);
	int retval = settle_uncertain(drain, state);
	if (retval != ERROR_OK)
		return retval;
	if (nothing) {
		/* what ran without a branch is a trace, too */
		if (!drain->background)
			drain->capture->exists = drain->capture->in_order = true;
		return ERROR_OK;
	}
	retval = stage_filling(drain, state);
	if (retval == ERROR_BUF_TOO_SMALL)
		return end_full(drain, state);
	if (retval != ERROR_OK)
		return retval;
	if (end)
		return end_filling(drain, state);
	retval = rewind_buffer(drain, state);
	return retval == ERROR_OK ? finish_filling(drain, false, state) : retval;
}

enum halt { OF_OTHERS, STAYS, DONE };

/* What the registers of the MTB do not tell any more once they are written. */
static void note_reason(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	drain->unproved |= !!(state->master & ARM_MTB_MASTER_HALTREQ);
}

/* It stands for the buffer: empty that. @returns OF_OTHERS: it stands for something else; STAYS: that failed */
static enum halt serve_halt(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	/* it is not the buffer that was armed any more */
	if (drain->lost && state->master & ARM_MTB_MASTER_HALTREQ)
		return OF_OTHERS;
	note_reason(drain, state);
	if (!drain->ended && (state->master & ARM_MTB_MASTER_HALTREQ || drain->uncertain)) {
		if (empty(drain, false, state) != ERROR_OK)
			return drain->lost ? DONE : STAYS;
		drain->failures = drain->releases = 0;
		return DONE;
	}
	/* a release that got lost is done again, but not for ever */
	return drain->halted_here || (drain->unproved && drain->releases++ < RELEASES_MAX) ? DONE : OF_OTHERS;
}

/* Did somebody else ask for a halt? OpenOCD keeps the reason of one that a reset has ended until the next resume. */
static bool is_halt_asked(const struct arm_mtb_drain *drain)
{
	const struct target *target = drain->port->target;

	return target->halt_issued || target->debug_reason == DBG_REASON_DBGRQ;
}

void arm_mtb_drain_resumed(struct arm_mtb_drain *drain)
{
	arm_mtb_service_end_stand(&drain->service);
	drain->unproved = drain->halted_here = false;
	if (!drain->uncertain)
		return;
	LOG_WARNING("%s: whether the buffer was emptied is not known: packets may be missing before the next ones",
			drain->name);
	drop_staged(drain);
	drain->doubtful = true;
}

/*
 * It is what OpenOCD's own poll would find. That shall not look a moment later, when the core can stand for the buffer:
 * out of a state that is not known it becomes halted without an event.
 */
static void tell_running(struct target *target)
{
	if (target->state == TARGET_UNKNOWN)
		target->state = TARGET_RUNNING;
}

static void seen_running(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;

	arm_mtb_drain_resumed(drain);
	drain->failures = drain->releases = 0;
	tell_running(target);
	if (!target->halt_issued && target->debug_reason == DBG_REASON_DBGRQ)
		target->debug_reason = DBG_REASON_NOTHALTED;
}

static bool poll_core(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	struct arm_mtb_view view;
	uint32_t dhcsr;

	if (target->state == TARGET_HALTED || target->state == TARGET_DEBUG_RUNNING || drain->failures > FAILURES_MAX)
		return false;
	drain->blind = arm_mtb_service_read_core(&drain->service, &dhcsr) != ERROR_OK;
	/* a reset that another access has met is OpenOCD's to see, too */
	if (drain->blind || dhcsr & S_LOCKUP || arm_mtb_service_is_reset_unseen(&drain->service))
		return false;
	if (!(dhcsr & S_HALT)) {
		seen_running(drain);
		return target->state == TARGET_RUNNING;
	}
	/* what the user asked for is to be seen, whatever else there is */
	if (is_halt_asked(drain) || !is_ours(drain))
		return false;
	arm_mtb_service_begin(&drain->service);
	const int retval = arm_mtb_service_look(&drain->service, &view);
	/* it was reset or released meanwhile, by whoever */
	if (retval == ERROR_OK && (!(view.dhcsr & S_HALT) || !is_ours(drain)))
		return false;
	/* the MTB may be switched off: what it says is not needed once it has ended, or if the halt is not its own */
	if (retval != ERROR_OK && ((drain->uncertain || !drain->halted_here) && !drain->ended)) {
		failed(drain, retval, "the MTB's registers cannot be read");
		return true;
	}
	if (retval != ERROR_OK)
		memset(&view.state, 0, sizeof(view.state));
	const enum halt halt = serve_halt(drain, &view.state);
	if (halt == DONE && release(drain) == ERROR_OK) {
		tell_running(target);
		if (!drain->lost)
			drain->error[0] = 0;
	}
	return halt != OF_OTHERS;
}

bool arm_mtb_drain_poll(struct arm_mtb_drain *drain)
{
	drain->background = true;
	const bool done = poll_core(drain);
	drain->background = false;
	return done;
}

/* OpenOCD has it halted. */
static int look_at_halted(struct arm_mtb_drain *drain, struct arm_mtb_view *view)
{
	const int retval = arm_mtb_service_look(&drain->service, view);

	if (retval != ERROR_OK)
		return failed(drain, retval, "the MTB's registers cannot be read");
	/* what runs must not be written to, nor read */
	if (!(view->dhcsr & S_HALT))
		return failed(drain, ERROR_TARGET_NOT_HALTED, "the core runs, though OpenOCD had it halted");
	return ERROR_OK;
}

int arm_mtb_drain_halted(struct arm_mtb_drain *drain)
{
	struct arm_mtb_view view;

	drain->unproved = drain->halted_here = false;
	arm_mtb_service_give_back(&drain->service);
	arm_mtb_service_end(&drain->service);
	drain->failures = drain->releases = 0;
	if (drain->ended)
		return ERROR_OK;
	arm_mtb_service_begin(&drain->service);
	int retval = look_at_halted(drain, &view);
	if (retval != ERROR_OK || (!(view.state.master & ARM_MTB_MASTER_HALTREQ) && !drain->uncertain))
		return retval;
	retval = empty(drain, false, &view.state);
	arm_mtb_service_give_back(&drain->service);
	return retval;
}

/* For as long as it takes to read the buffer. If that fails half way, it is released when the core answers again. */
static int halt_core(struct arm_mtb_drain *drain, struct arm_mtb_view *view)
{
	const int64_t end = timeval_ms() + HALT_MS;
	bool halted;
	int retval;

	do {
		retval = arm_mtb_service_halt(&drain->service, view, &halted);
		drain->halted_here |= halted && !is_halt_asked(drain);
	} while (retval == ERROR_OK && !(view->dhcsr & S_HALT) && timeval_ms() <= end);
	if (retval != ERROR_OK)
		return failed(drain, retval, "core and MTB do not answer");
	if (view->dhcsr & S_HALT)
		return ERROR_OK;
	/* it would halt later, when nobody expects it */
	if (arm_mtb_service_do_not_halt(&drain->service) == ERROR_OK)
		drain->halted_here = false;
	return failed(drain, ERROR_TARGET_TIMEOUT, "the core cannot be halted to read its trace");
}

static int look_standing(struct arm_mtb_drain *drain, struct arm_mtb_view *view)
{
	return drain->port->target->state == TARGET_HALTED ? look_at_halted(drain, view) : halt_core(drain, view);
}

/* The core goes on, if it stood for us. What stopped it meanwhile for another reason is the next poll's affair. */
static int release_own(struct arm_mtb_drain *drain)
{
	uint32_t dhcsr;

	if (drain->port->target->state == TARGET_HALTED || is_halt_asked(drain)) {
		arm_mtb_service_give_back(&drain->service);
		return ERROR_OK;
	}
	if (!drain->service.dfsr_known && arm_mtb_service_read_core(&drain->service, &dhcsr) != ERROR_OK)
		return failed(drain, ERROR_FAIL, "the core cannot be resumed after its trace was read");
	if (is_ours(drain) && (drain->halted_here || drain->unproved))
		return release(drain);
	arm_mtb_service_give_back(&drain->service);
	return ERROR_OK;
}

/* Something failed. The buffer's own halt, and whether it was emptied, are to be settled first, by the next poll. */
static void leave_to_poll(struct arm_mtb_drain *drain)
{
	struct arm_mtb_view view;

	const int retval = arm_mtb_service_look(&drain->service, &view);
	if (drain->port->target->state != TARGET_HALTED &&
			(drain->uncertain || (retval == ERROR_OK && view.state.master & ARM_MTB_MASTER_HALTREQ)))
		return;
	release_own(drain);
}

int arm_mtb_drain_now(struct arm_mtb_drain *drain, bool end, struct arm_mtb_stand *stand)
{
	struct arm_mtb_view view;

	drain->error[0] = 0;
	/* at most the release is still to be done */
	if (drain->ended) {
		*stand = drain->end;
		return arm_mtb_drain_leave(drain);
	}
	memset(stand, 0, sizeof(*stand));
	drain->service.has_pc = false;
	arm_mtb_service_begin(&drain->service);
	int retval = look_standing(drain, &view);
	if (retval == ERROR_OK) {
		stand->state = view.state;
		if (is_ours(drain))
			note_reason(drain, &view.state);
		retval = empty(drain, end, &view.state);
		stand->pc = drain->service.pc;
		stand->has_pc = drain->service.has_pc;
	}
	if (retval != ERROR_OK) {
		leave_to_poll(drain);
		return retval;
	}
	retval = release_own(drain);
	/* nobody looks at it after the end */
	if (retval == ERROR_OK && drain->ended && (drain->unproved || drain->halted_here))
		retval = arm_mtb_drain_leave(drain);
	return retval;
}

int arm_mtb_drain_leave(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	uint32_t dhcsr;

	if (target->state == TARGET_HALTED || is_halt_asked(drain))
		return ERROR_OK;
	for (unsigned int i = 0; i < TRIES; i++) {
		/* not with the registers of the MTB, which may be switched off */
		const int retval = arm_mtb_service_read_core(&drain->service, &dhcsr);
		if (retval != ERROR_OK)
			return failed(drain, retval, "whether the core runs again is not known");
		if (!(dhcsr & S_HALT) || !is_ours(drain))
			return ERROR_OK;
		arm_mtb_service_begin(&drain->service);
		release(drain);
		if (!drain->unproved)
			return ERROR_OK;
	}
	return failed(drain, ERROR_FAIL, "the core does not go on");
}
