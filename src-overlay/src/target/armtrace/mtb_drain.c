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

#define PACKET_LEN	8u
#define MARGIN_MAX	4u
#define REG_PC		15u	/* of DCRSR */
#define HALT_MS		100

/* so often in a row reading may fail before the halt is shown as one */
#define FAILURES_MAX	3u

uint32_t arm_mtb_drain_margin(uint32_t size)
{
	const uint32_t half = size / PACKET_LEN / 2;

	return half > MARGIN_MAX ? MARGIN_MAX : half;
}

void arm_mtb_drain_init(struct arm_mtb_drain *drain, struct arm_mtb_port *port, struct arm_mtb_capture *capture)
{
	memset(drain, 0, sizeof(*drain));
	drain->port = port;
	drain->capture = capture;
}

static int failed(struct arm_mtb_drain *drain, int retval, const char *what)
{
	drain->failures++;
	snprintf(drain->error, sizeof(drain->error), "%s; what was drained is kept, and this is tried again", what);
	return retval == ERROR_OK ? ERROR_FAIL : retval;
}

/* ---- the core ---- */

/* A word that is never 0 here: some adapter drivers take a lost exchange for zeros. */
static int read_u32(const struct arm_mtb_drain *drain, target_addr_t addr, uint32_t *value)
{
	struct target *target = drain->port->target;
	int retval = target_read_u32(target, addr, value);

	if (retval != ERROR_OK || !*value) {
		arm_mtb_port_resync(drain->port);
		retval = target_read_u32(target, addr, value);
	}
	return retval == ERROR_OK && !*value ? ERROR_FAIL : retval;
}

/* Where the standing core is, without OpenOCD's register cache, which knows nothing of this halt. */
static int read_pc(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	uint32_t kept = 0, dhcsr, pc;

	if (drain->has_pc)
		return ERROR_OK;
	/* DCRDR is also the mailbox of target requests */
	int retval = target->dbg_msg_enabled ? target_read_u32(target, DCB_DCRDR, &kept) : ERROR_OK;
	/* an odd value stays when the request is lost: a PC is even */
	if (retval == ERROR_OK)
		retval = target_write_u32(target, DCB_DCRDR, 1);
	if (retval == ERROR_OK)
		retval = target_write_u32(target, DCB_DCRSR, REG_PC);
	if (retval == ERROR_OK)
		retval = read_u32(drain, DCB_DHCSR, &dhcsr);
	if (retval == ERROR_OK && !(dhcsr & S_REGRDY))
		retval = ERROR_FAIL;
	if (retval == ERROR_OK)
		retval = read_u32(drain, DCB_DCRDR, &pc);
	if (retval == ERROR_OK && pc & 1)
		retval = ERROR_FAIL;
	if (retval == ERROR_OK && target->dbg_msg_enabled)
		retval = target_write_u32(target, DCB_DCRDR, kept);
	if (retval != ERROR_OK)
		return failed(drain, retval, "the PC of the halted core cannot be read");
	drain->pc = pc;
	drain->has_pc = true;
	return ERROR_OK;
}

/* Let it go on, as OpenOCD had it: nothing but C_HALT changes. */
static int release(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	uint32_t dhcsr;
	int retval = read_u32(drain, DCB_DHCSR, &dhcsr);

	/* else the next halt would be taken for this one */
	if (retval == ERROR_OK)
		retval = target_write_u32(target, NVIC_DFSR, DFSR_EXTERNAL | DFSR_HALTED);
	if (retval == ERROR_OK)
		retval = target_write_u32(target, DCB_DHCSR, DBGKEY | C_DEBUGEN | (dhcsr & C_MASKINTS));
	if (retval != ERROR_OK)
		return failed(drain, retval, "the core cannot be resumed after its trace was read");
	drain->release = false;
	drain->unproved = true;
	drain->has_pc = false;
	drain->failures = 0;
	drain->error[0] = 0;
	return ERROR_OK;
}

/* Is it the buffer, or the halt that was asked for here, and nothing else beside? */
static bool is_ours(struct arm_mtb_drain *drain)
{
	const uint32_t others = DFSR_BKPT | DFSR_DWTTRAP | DFSR_VCATCH;
	uint32_t dfsr = others;

	if (read_u32(drain, NVIC_DFSR, &dfsr) == ERROR_OK)
		return !(dfsr & others);
	/* no cause is left where it was cleared, but the core not released */
	return !dfsr && (drain->release || drain->unproved);
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
		drain->capture->lost += used / PACKET_LEN;
		LOG_WARNING("MTB: the core halted too late: %" PRIu32 " packets were overwritten; take a larger buffer",
				used / PACKET_LEN);
	}
	return ERROR_OK;
}

/* The staged packets count, and the next filling begins. */
static int finish_filling(struct arm_mtb_drain *drain, bool end)
{
	struct arm_mtb_capture *capture = drain->capture;
	const bool some = capture->staged;

	drain->uncertain = false;
	arm_mtb_capture_commit(capture);
	if (some)
		drain->fillings++;
	capture->exists = capture->in_order = true;
	if (!end && some && !arm_mtb_capture_seam(capture, drain->has_pc ? &drain->pc : NULL))
		return failed(drain, ERROR_FAIL, "out of memory for the places where the buffer was read");
	return ERROR_OK;
}

/* What was staged before a write that failed: did POSITION move to the start? Then it was carried out. */
static int settle_uncertain(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	if (!drain->uncertain)
		return ERROR_OK;
	if (state->position == drain->position)
		return finish_filling(drain, false);
	drain->capture->staged = 0;
	drain->uncertain = false;
	return ERROR_OK;
}

/* The MTB begins anew and does not ask for a halt any more; only what reads so has happened. */
static int rewind_buffer(struct arm_mtb_drain *drain, const struct arm_mtb_state *state)
{
	const uint32_t master = state->master & ~ARM_MTB_MASTER_HALTREQ;
	struct arm_mtb_state now;

	drain->uncertain = true;
	for (unsigned int i = 0; i < 3; i++) {
		int retval = arm_mtb_port_write_position(drain->port, drain->position, master);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_read(drain->port, &now);
		if (retval == ERROR_OK && now.position == drain->position && now.master == master)
			return ERROR_OK;
	}
	return failed(drain, ERROR_FAIL, "the MTB's registers cannot be written");
}

/* POSITION stays, so that the packets can be read again when this fails. */
static int end_trace(struct arm_mtb_drain *drain)
{
	const uint32_t master = drain->master &
			~(ARM_MTB_MASTER_EN | ARM_MTB_MASTER_TSTARTEN | ARM_MTB_MASTER_TSTOPEN);
	struct arm_mtb_state now;

	for (unsigned int i = 0; i < 3; i++) {
		int retval = arm_mtb_port_write_master(drain->port, master, 0);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_read(drain->port, &now);
		if (retval == ERROR_OK && now.master == master && !now.flow)
			return ERROR_OK;
	}
	drain->capture->staged = 0;
	return failed(drain, ERROR_FAIL, "the MTB cannot be stopped");
}

/* No more can be kept: trace ends here, the core runs on. */
static int end_full(struct arm_mtb_drain *drain)
{
	const int retval = end_trace(drain);

	if (retval != ERROR_OK)
		return retval;
	LOG_WARNING("MTB: the capture holds %zu bytes and takes no more: tracing was stopped; stop, dump it and start "
			"again",
			drain->capture->len);
	return ERROR_OK;
}

/* The core stands: read and empty the buffer. */
static int empty(struct arm_mtb_drain *drain, bool end, const struct arm_mtb_state *state)
{
	int retval = settle_uncertain(drain, state);

	if ((state->position ^ drain->position) & ~(drain->buffer.size - 1) & ARM_MTB_POSITION_POINTER ||
			(state->master ^ drain->master) & ARM_MTB_MASTER_MASK)
		return failed(drain, ERROR_FAIL, "POSITION or MASTER are not of the buffer that was armed: the program or a "
		"reset "
				"changed them");
	if (retval == ERROR_OK)
		retval = read_pc(drain);
	if (retval != ERROR_OK)
		return retval;
	if (!(state->position & (ARM_MTB_POSITION_WRAP | (drain->buffer.size - 8))) &&
			!(state->master & ARM_MTB_MASTER_HALTREQ) && !end)
		return ERROR_OK;
	retval = stage_filling(drain, state);
	if (retval == ERROR_BUF_TOO_SMALL)
		return end_full(drain);
	if (retval != ERROR_OK)
		return retval;

	retval = end ? end_trace(drain) : rewind_buffer(drain, state);
	return retval == ERROR_OK ? finish_filling(drain, end) : retval;
}

bool arm_mtb_drain_poll(struct arm_mtb_drain *drain)
{
	struct target *target = drain->port->target;
	struct arm_mtb_state state;
	uint32_t dhcsr;

	/* a halt that the user asked for is to be seen, whatever else there is */
	if ((target->state != TARGET_RUNNING && target->state != TARGET_UNKNOWN) ||
			target->debug_reason == DBG_REASON_DBGRQ ||
			drain->failures > FAILURES_MAX)
		return false;
	if (read_u32(drain, DCB_DHCSR, &dhcsr) != ERROR_OK)
		return false;
	if (dhcsr & (S_RESET_ST | S_LOCKUP)) {
		/* reading has cleared it */
		struct cortex_m_common *cortex_m = target_to_cm(target);
		cortex_m->dcb_dhcsr_cumulated_sticky |= dhcsr & S_RESET_ST;
		return false;
	}
	if (!(dhcsr & S_HALT)) {
		drain->unproved = false;
		return target->state == TARGET_RUNNING;
	}
	if (!is_ours(drain))
		return false;
	if (!drain->release) {
		if (arm_mtb_port_read(drain->port, &state) != ERROR_OK) {
			failed(drain, ERROR_FAIL, "the MTB's registers cannot be read");
			return true;
		}
		if (state.master & ARM_MTB_MASTER_HALTREQ || drain->uncertain) {
			if (empty(drain, false, &state) != ERROR_OK)
				return true;
		} else if (!drain->unproved || ++drain->failures > FAILURES_MAX) {
			return false;
		}
		drain->release = true;
	}
	release(drain);
	return true;
}

int arm_mtb_drain_halted(struct arm_mtb_drain *drain)
{
	struct arm_mtb_state state;

	drain->release = drain->unproved = false;
	drain->has_pc = false;
	drain->failures = 0;
	const int retval = arm_mtb_port_read(drain->port, &state);
	if (retval != ERROR_OK)
		return failed(drain, retval, "the MTB's registers cannot be read");
	if (!(state.master & ARM_MTB_MASTER_HALTREQ) && !drain->uncertain)
		return ERROR_OK;
	return empty(drain, false, &state);
}

/* @param[out] was_running it has to be released */
static int halt_core(struct arm_mtb_drain *drain, bool *was_running)
{
	struct target *target = drain->port->target;
	const int64_t end = timeval_ms() + HALT_MS;
	uint32_t dhcsr;

	*was_running = target->state != TARGET_HALTED;
	if (!*was_running)
		return ERROR_OK;
	int retval = read_u32(drain, DCB_DHCSR, &dhcsr);
	while (retval == ERROR_OK && !(dhcsr & S_HALT)) {
		retval = target_write_u32(target, DCB_DHCSR, DBGKEY | C_DEBUGEN | C_HALT | (dhcsr & C_MASKINTS));
		if (retval == ERROR_OK)
			retval = read_u32(drain, DCB_DHCSR, &dhcsr);
		if (retval == ERROR_OK && timeval_ms() > end)
			retval = ERROR_TARGET_TIMEOUT;
	}
	return retval == ERROR_OK ? ERROR_OK : failed(drain, retval, "the core cannot be halted to read its trace");
}

int arm_mtb_drain_now(struct arm_mtb_drain *drain, bool end, struct arm_mtb_state *state, uint32_t *pc, bool *has_pc)
{
	bool was_running;
	int retval = halt_core(drain, &was_running);

	if (retval != ERROR_OK)
		return retval;
	drain->has_pc = false;
	retval = arm_mtb_port_read(drain->port, state);
	if (retval != ERROR_OK)
		retval = failed(drain, retval, "the MTB's registers cannot be read");
	else
		retval = empty(drain, end, state);
	*pc = drain->pc;
	*has_pc = drain->has_pc;
	/* what stopped it meanwhile for another reason is the next poll's affair */
	if (was_running && (drain->release || is_ours(drain))) {
		drain->release = true;
		const int released = release(drain);
		retval = retval == ERROR_OK ? released : retval;
	}
	return retval;
}
