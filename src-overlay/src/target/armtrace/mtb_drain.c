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
#define REG_PC		15u	/* of DCRSR */
#define HALT_MS		100

/* so often in a row reading may fail before the halt is shown as one */
#define FAILURES_MAX	3u
/* and so often in a row it is let go when it stands for no reason that is known */
#define RELEASES_MAX	3u

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
	drain->capture = capture;
}

void arm_mtb_drain_rearmed(struct arm_mtb_drain *drain)
{
	/* where the piece before the reset ends, if there is one */
	if (drain->capture->len > drain->begun && drain->ended && drain->end.has_pc &&
			drain->end.state.master & ARM_MTB_MASTER_EN && !arm_mtb_has_window(drain->master))
		arm_mtb_capture_seam(drain->capture, &drain->end.pc);
	drain->begun = drain->capture->len;
	drain->uncertain = drain->release = drain->unproved = drain->has_pc = drain->ending = drain->ended = false;
	drain->halted_here = drain->blind = drain->reset_met = drain->rewound = false;
	drain->failures = drain->releases = 0;
	drain->capture->staged = 0;
}

static int failed(struct arm_mtb_drain *drain, int retval, const char *what)
{
	if (drain->background)
		drain->failures++;
	snprintf(drain->error, sizeof(drain->error), "%s; what was drained is kept, and this is tried again", what);
	return retval == ERROR_OK ? ERROR_FAIL : retval;
}

/* ---- the core ---- */

/* Once more if it fails, or reads 0. */
static int read_again(const struct arm_mtb_drain *drain, target_addr_t addr, uint32_t *value)
{
	int retval = ERROR_FAIL;

	*value = 0;
	for (unsigned int i = 0; i < 2 && (retval != ERROR_OK || !*value); i++)
		retval = arm_mtb_port_read_word(drain->port->target, addr, value);
	return retval;
}

/* A word that is never 0 here: some adapter drivers take a lost exchange for zeros. */
static int read_u32(const struct arm_mtb_drain *drain, target_addr_t addr, uint32_t *value)
{
	const int retval = read_again(drain, addr, value);

	return retval == ERROR_OK && !*value ? ERROR_FAIL : retval;
}

/* Reading it clears S_RESET_ST, by which OpenOCD sees that the part was reset: so it is told. */
static int read_dhcsr(struct arm_mtb_drain *drain, uint32_t *dhcsr)
{
	const int retval = read_u32(drain, DCB_DHCSR, dhcsr);

	if (retval != ERROR_OK)
		return retval;
	target_to_cm(drain->port->target)->dcb_dhcsr_cumulated_sticky |= *dhcsr & S_RESET_ST;
	drain->reset_met |= !!(*dhcsr & S_RESET_ST);
	return ERROR_OK;
}

/* The core stands here from now on. */
static void begin_service(struct arm_mtb_drain *drain)
{
	drain->reset_met = drain->rewound = false;
}

/* Where the standing core is, without OpenOCD's register cache, which knows nothing of this halt. */
static int read_pc(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	uint32_t dhcsr, pc;
	int retval = ERROR_OK;

	if (drain->has_pc)
		return ERROR_OK;
	/* DCRDR is also the mailbox of target requests */
	if (target->dbg_msg_enabled && !drain->has_kept) {
		retval = arm_mtb_port_read_still_word(target, DCB_DCRDR, UINT32_MAX, &drain->kept);
		drain->has_kept = retval == ERROR_OK;
	}
	/* an odd value stays when the request is lost: a PC is even */
	if (retval == ERROR_OK)
		retval = arm_mtb_port_write_word(target, DCB_DCRDR, 1);
	if (retval == ERROR_OK)
		retval = arm_mtb_port_write_word(target, DCB_DCRSR, REG_PC);
	if (retval == ERROR_OK)
		retval = read_dhcsr(drain, &dhcsr);
	if (retval == ERROR_OK && !(dhcsr & S_REGRDY))
		retval = ERROR_FAIL;
	if (retval == ERROR_OK)
		retval = read_u32(drain, DCB_DCRDR, &pc);
	if (retval == ERROR_OK && pc & 1)
		retval = ERROR_FAIL;
	if (drain->has_kept && arm_mtb_port_write_word(target, DCB_DCRDR, drain->kept) == ERROR_OK)
		drain->has_kept = false;
	if (retval != ERROR_OK)
		return failed(drain, retval, "the PC of the halted core cannot be read");
	drain->pc = pc;
	drain->has_pc = true;
	return ERROR_OK;
}

/* Some access has met a reset that OpenOCD does not know of yet. */
static bool is_reset_unseen(const struct arm_mtb_drain *drain)
{
	return target_to_cm(drain->port->target)->dcb_dhcsr_cumulated_sticky & S_RESET_ST;
}

/* @returns OpenOCD's error, or ERROR_FAIL: it does not keep it */
static int switch_off(struct arm_mtb_drain *drain)
{
	const uint32_t master = drain->master &
			~(ARM_MTB_MASTER_EN | ARM_MTB_MASTER_TSTARTEN | ARM_MTB_MASTER_TSTOPEN);
	struct arm_mtb_state now;

	for (unsigned int i = 0; i < 3; i++) {
		const int retval = arm_mtb_port_put_flow(drain->port, master, 0, &now);
		if (retval == ERROR_OK && now.master == master && !now.flow)
			return ERROR_OK;
	}
	return ERROR_FAIL;
}

/*
 * The reset came while the buffer was emptied, and the write that did it may have armed the MTB again. That is too
 * early: a buffer that is full before OpenOCD has seen the core run would be a halt that it sees. And what was read may
 * be what the program's start made of that RAM.
 */
static int undo_filling(struct arm_mtb_drain *drain)
{
	struct arm_mtb_capture *capture = drain->capture;

	if (!drain->rewound)
		return ERROR_OK;
	if (capture->len > drain->len_before) {
		capture->len = drain->len_before;
		capture->seam_count = drain->seams_before;
		drain->fillings--;
	}
	drain->rewound = false;
	return switch_off(drain);
}

/* Is it the buffer, or the halt that was asked for here, and nothing else beside? */
static bool is_ours(struct arm_mtb_drain *drain)
{
	const uint32_t others = DFSR_BKPT | DFSR_DWTTRAP | DFSR_VCATCH;
	uint32_t dfsr;

	if (read_again(drain, NVIC_DFSR, &dfsr) != ERROR_OK)
		return false;
	if (dfsr)
		return !(dfsr & others);
	/* no cause is left where it was cleared, but the core not released */
	return drain->release || drain->unproved || drain->halted_here;
}

/* Let it go on, as OpenOCD had it: nothing but C_HALT changes. */
static int release(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	uint32_t dhcsr;
	int retval = read_dhcsr(drain, &dhcsr);

	/* the halt may be one of the reset's own */
	const bool caught = retval == ERROR_OK && dhcsr & S_RESET_ST && !is_ours(drain);
	if (drain->reset_met && undo_filling(drain) != ERROR_OK)
		LOG_WARNING("%s: the MTB could not be switched off behind a reset", drain->name);
	if (caught) {
		drain->release = drain->halted_here = drain->has_pc = false;
		return ERROR_OK;
	}
	/* else the next halt would be taken for this one */
	if (retval == ERROR_OK)
		retval = arm_mtb_port_write_word(target, NVIC_DFSR, DFSR_EXTERNAL | DFSR_HALTED);
	if (retval == ERROR_OK)
		retval = arm_mtb_port_write_word(target, DCB_DHCSR, DBGKEY | C_DEBUGEN | (dhcsr & C_MASKINTS));
	if (retval != ERROR_OK)
		return failed(drain, retval, "the core cannot be resumed after its trace was read");
	drain->release = drain->halted_here = false;
	drain->unproved = true;
	drain->has_pc = false;
	return ERROR_OK;
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
	if (wrapped && used) {
		mark_loss(bytes);
		drain->overwritten = used / ARM_MTB_PACKET_LEN;
	}
	return ERROR_OK;
}

/* The staged packets count, and the next filling begins. */
static int finish_filling(struct arm_mtb_drain *drain, bool end, const struct arm_mtb_state *state)
{
	struct arm_mtb_capture *capture = drain->capture;
	const bool some = capture->staged;
	/* else the core came there untraced, or it may have been so for a while */
	const bool has_pc = drain->has_pc && state->master & ARM_MTB_MASTER_EN && !arm_mtb_has_window(drain->master);

	drain->uncertain = false;
	drain->len_before = capture->len;
	drain->seams_before = capture->seam_count;
	arm_mtb_capture_commit(capture);
	if (drain->overwritten) {
		capture->lost += drain->overwritten;
		LOG_WARNING("%s: the core halted too late: %" PRIu32 " packets were overwritten; take a larger buffer",
				drain->name, drain->overwritten);
		drain->overwritten = 0;
	}
	if (some)
		drain->fillings++;
	capture->exists = capture->in_order = true;
	if (!end && some && !arm_mtb_capture_seam(capture, has_pc ? &drain->pc : NULL))
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
	drain->capture->staged = drain->overwritten = 0;
	drain->uncertain = false;
	return ERROR_OK;
}

/* The MTB begins anew and does not ask for a halt any more; only what reads so has happened. */
static int rewind_buffer(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	const uint32_t master = state->master & ~ARM_MTB_MASTER_HALTREQ;
	struct arm_mtb_state now;

	drain->uncertain = true;
	drain->staged_position = state->position;
	for (unsigned int i = 0; i < 3; i++) {
		const int retval = arm_mtb_port_put_position(drain->port, drain->position, master, &now);
		if (retval == ERROR_OK && now.position == drain->position && now.master == master) {
			drain->rewound = true;
			return ERROR_OK;
		}
	}
	return failed(drain, ERROR_FAIL, "the MTB's registers cannot be written");
}

/* POSITION stays, so that the packets can be read again when this fails. */
static int end_trace(struct arm_mtb_drain *drain)
{
	drain->ending = true;
	if (switch_off(drain) == ERROR_OK)
		return ERROR_OK;
	drain->capture->staged = drain->overwritten = 0;
	return failed(drain, ERROR_FAIL, "the MTB cannot be stopped");
}

static void set_end(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	drain->ended = true;
	drain->end = (struct arm_mtb_stand) { .state = *state, .has_pc = drain->has_pc, .pc = drain->pc };
}

/* No more can be kept: trace ends here, the core runs on. */
static int end_full(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	const int retval = end_trace(drain);

	if (retval != ERROR_OK)
		return retval;
	LOG_WARNING("%s: the capture of %zu bytes cannot grow: tracing was stopped; stop, dump it and start again",
			drain->name, drain->capture->len);
	/* behind what could not be kept nothing is known */
	drain->has_pc = false;
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
	drain->uncertain = false;
	drain->capture->staged = drain->overwritten = 0;
	if (drain->background)
		drain->failures++;
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
	int retval = read_pc(drain);
	if (retval == ERROR_OK)
		retval = settle_uncertain(drain, state);
	if (retval != ERROR_OK)
		return retval;
	if (!end && holds_nothing(drain, state))
		return ERROR_OK;
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

/* It stands for the buffer: empty that. @returns false: it stands for something else */
static bool serve_halt(struct arm_mtb_drain *drain)
{
	struct arm_mtb_state state;

	if (drain->release)
		return true;
	if (!drain->ended && arm_mtb_port_read(drain->port, &state) != ERROR_OK) {
		failed(drain, ERROR_FAIL, "the MTB's registers cannot be read");
		return true;
	}
	if (!drain->ended && (state.master & ARM_MTB_MASTER_HALTREQ || drain->uncertain)) {
		drain->release = empty(drain, false, &state) == ERROR_OK;
		if (drain->release)
			drain->failures = drain->releases = 0;
		return true;
	}
	/* a release that got lost is done again, but not for ever */
	drain->release = drain->halted_here || (drain->unproved && drain->releases++ < RELEASES_MAX);
	return drain->release;
}

/* Did somebody else ask for a halt? OpenOCD keeps the reason of one that a reset has ended until the next resume. */
static bool is_halt_asked(const struct arm_mtb_drain *drain)
{
	const struct target *target = drain->port->target;

	return target->halt_issued || target->debug_reason == DBG_REASON_DBGRQ;
}

static void seen_running(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;

	drain->unproved = drain->release = drain->halted_here = drain->has_pc = false;
	drain->failures = drain->releases = 0;
	if (!target->halt_issued && target->debug_reason == DBG_REASON_DBGRQ)
		target->debug_reason = DBG_REASON_NOTHALTED;
}

static bool poll_core(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	uint32_t dhcsr;

	if (target->state == TARGET_HALTED || target->state == TARGET_DEBUG_RUNNING || drain->failures > FAILURES_MAX)
		return false;
	drain->blind = read_dhcsr(drain, &dhcsr) != ERROR_OK;
	/* a reset that another access has met is OpenOCD's to see, too */
	if (drain->blind || dhcsr & S_LOCKUP || is_reset_unseen(drain))
		return false;
	if (!(dhcsr & S_HALT)) {
		seen_running(drain);
		return target->state == TARGET_RUNNING;
	}
	/* what the user asked for is to be seen, whatever else there is */
	if (is_halt_asked(drain))
		return false;
	begin_service(drain);
	if (!is_ours(drain) || !serve_halt(drain))
		return false;
	if (drain->release && release(drain) == ERROR_OK)
		drain->error[0] = 0;
	return true;
}

bool arm_mtb_drain_poll(struct arm_mtb_drain *drain)
{
	drain->background = true;
	const bool done = poll_core(drain);
	drain->background = false;
	return done;
}

int arm_mtb_drain_halted(struct arm_mtb_drain *drain)
{
	struct arm_mtb_state state;

	drain->release = drain->unproved = drain->halted_here = false;
	drain->has_pc = false;
	drain->failures = drain->releases = 0;
	if (drain->ended)
		return ERROR_OK;
	const int retval = arm_mtb_port_read(drain->port, &state);
	if (retval != ERROR_OK)
		return failed(drain, retval, "the MTB's registers cannot be read");
	if (!(state.master & ARM_MTB_MASTER_HALTREQ) && !drain->uncertain)
		return ERROR_OK;
	return empty(drain, false, &state);
}

/* For as long as it takes to read the buffer. If that fails half way, it is released when the core answers again. */
static int halt_core(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	const int64_t end = timeval_ms() + HALT_MS;
	uint32_t dhcsr;

	if (target->state == TARGET_HALTED)
		return ERROR_OK;
	int retval = read_dhcsr(drain, &dhcsr);
	while (retval == ERROR_OK && !(dhcsr & S_HALT)) {
		drain->halted_here = !is_halt_asked(drain);
		retval = arm_mtb_port_write_word(target, DCB_DHCSR, DBGKEY | C_DEBUGEN | C_HALT | (dhcsr & C_MASKINTS));
		if (retval == ERROR_OK)
			retval = read_dhcsr(drain, &dhcsr);
		if (retval == ERROR_OK && !(dhcsr & S_HALT) && timeval_ms() > end) {
			/* it would halt later, when nobody expects it */
			arm_mtb_port_write_word(target, DCB_DHCSR, DBGKEY | C_DEBUGEN | (dhcsr & C_MASKINTS));
			drain->halted_here = false;
			retval = ERROR_TARGET_TIMEOUT;
		}
	}
	return retval == ERROR_OK ? ERROR_OK : failed(drain, retval, "the core cannot be halted to read its trace");
}

int arm_mtb_drain_now(struct arm_mtb_drain *drain, bool end, struct arm_mtb_stand *stand)
{
	/* at most the release is still to be done */
	if (drain->ended) {
		*stand = drain->end;
		return arm_mtb_drain_leave(drain);
	}
	drain->error[0] = 0;
	int retval = halt_core(drain);
	if (retval != ERROR_OK)
		return retval;
	begin_service(drain);
	drain->has_pc = false;
	memset(&stand->state, 0, sizeof(stand->state));
	retval = arm_mtb_port_read(drain->port, &stand->state);
	if (retval != ERROR_OK)
		retval = failed(drain, retval, "the MTB's registers cannot be read");
	else
		retval = empty(drain, end, &stand->state);
	stand->pc = drain->pc;
	stand->has_pc = drain->has_pc;
	/* the buffer's own halt, and whether POSITION was rewritten, have to be settled first: the next poll does it */
	if (retval != ERROR_OK && (drain->uncertain || stand->state.master & ARM_MTB_MASTER_HALTREQ))
		return retval;
	/* what stopped it meanwhile for another reason is the next poll's affair */
	if (drain->port->target->state != TARGET_HALTED && !is_halt_asked(drain) && is_ours(drain)) {
		drain->release = true;
		const int released = release(drain);
		retval = retval == ERROR_OK ? released : retval;
	}
	/* nobody looks at it after the end */
	if (retval == ERROR_OK && drain->ended)
		retval = arm_mtb_drain_leave(drain);
	return retval;
}

int arm_mtb_drain_leave(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	uint32_t dhcsr;

	if (target->state == TARGET_HALTED || is_halt_asked(drain))
		return ERROR_OK;
	const int retval = read_dhcsr(drain, &dhcsr);
	if (retval != ERROR_OK)
		return failed(drain, retval, "whether the core runs again is not known");
	if (!(dhcsr & S_HALT))
		return ERROR_OK;
	if (!is_ours(drain))
		return ERROR_OK;
	begin_service(drain);
	drain->release = true;
	return release(drain);
}
