/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A Micro Trace Buffer that halts the core when it is full: read it, empty it, let the core go on.
 *
 * FLOW.AUTOHALT halts the core a few packets before the end of the buffer. While the core stands, the packets are
 * appended to the capture, POSITION goes back to the buffer's start, HALTREQ is cleared, and the core is released by
 * DHCSR alone: no register of it is touched, EN stays set, and no packet is lost or added. Between two fillings the
 * capture has a seam with the PC at which the core stood.
 *
 * OpenOCD shall not see these halts, nor GDB. So the target's poll function is replaced while this is on: it looks at
 * DHCSR and MASTER first, and only what is not the buffer's doing goes on to the original.
 *
 * Every step can fail and be done again: POSITION is rewritten only when the packets are here.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_DRAIN_H
#define OPENOCD_TARGET_ARMTRACE_MTB_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mtb_buffer.h"
#include "mtb_capture.h"
#include "mtb_port.h"

struct arm_mtb_drain {
	struct arm_mtb_port *port;
	struct arm_mtb_capture *capture;
	struct arm_mtb_buffer buffer;
	uint32_t position;	/* of the buffer's start */
	uint32_t master;	/* as armed */

	uint64_t fillings;	/* read so far */
	bool uncertain;		/* whether POSITION was rewritten is not known; the packets are staged */
	bool release;		/* the core is still to be released */
	bool unproved;		/* it was released, but not seen to run since */
	bool has_pc;		/* of the core, where it stands since it was halted here */
	uint32_t pc;
	unsigned int failures;	/* in a row */
	char error[256];	/* of the last action in the background; empty: all went well */
};

/* The distance of the watermark from the buffer's end: packets that can still come between the match and the halt. */
uint32_t arm_mtb_drain_margin(uint32_t size);

/* Begin. The rest is the caller's and stays as it is. */
void arm_mtb_drain_init(struct arm_mtb_drain *drain, struct arm_mtb_port *port, struct arm_mtb_capture *capture);

/*
 * Has the buffer halted the core? Then read it and let the core go on.
 * @returns true: the core runs, or stands for the buffer's sake alone (call it again); false: the rest of the world
 * has to look at it
 */
bool arm_mtb_drain_poll(struct arm_mtb_drain *drain);

/*
 * OpenOCD sees the core as halted: read the buffer if it is full, and clear HALTREQ so that the core can be resumed.
 * @returns ERROR_OK, or an error: drain->error tells, nothing is lost
 */
int arm_mtb_drain_halted(struct arm_mtb_drain *drain);

/*
 * Read what the buffer holds now. A running core is halted for that.
 * @param end tracing ends here (EN, HALTREQ and FLOW are cleared), else it goes on seamlessly
 * @param[out] state registers as they were while the core stood
 * @param[out] pc where it stood; @param[out] has_pc whether that is known
 */
int arm_mtb_drain_now(struct arm_mtb_drain *drain, bool end, struct arm_mtb_state *state, uint32_t *pc, bool *has_pc);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_DRAIN_H */
