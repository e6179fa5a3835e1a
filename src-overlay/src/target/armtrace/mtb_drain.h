/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A Micro Trace Buffer that halts the core when it is full: read it, empty it, let the core go on.
 *
 * FLOW.AUTOHALT halts the core a few packets before the end of the buffer. While the core stands, the packets are
 * appended to the capture, POSITION goes back to the buffer's start, HALTREQ is cleared, and the core is released by
 * DHCSR alone: no register of it is touched, EN stays set, and no packet is lost or added. Between two fillings the
 * capture has a seam with the PC at which the core stood.
 *
 * OpenOCD shall not see these halts, nor GDB. So the target's poll function is replaced while this is on
 * (mtb_background.c): it asks here first, and only what is not the buffer's doing goes on to the original.
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
#include "mtb_service.h"

/* Where the core stood, and the MTB's registers there. */
struct arm_mtb_stand {
	struct arm_mtb_state state;
	bool has_pc;
	uint32_t pc;
};

struct arm_mtb_drain {
	const char *name;	/* for messages */
	struct arm_mtb_port *port;
	struct arm_mtb_capture *capture;
	struct arm_mtb_service service;
	struct arm_mtb_buffer buffer;
	uint32_t position;	/* of the buffer's start */
	uint32_t master;	/* as armed */

	uint64_t fillings;	/* read so far */
	bool uncertain;		/* whether POSITION was rewritten is not known; the packets are staged */
	uint32_t staged_position;	/* POSITION before that */
	bool doubtful;		/* and it was never found out: there may be packets missing before the next one */
	bool halted_here;	/* for a reading that somebody asked for */
	bool unproved;		/* it was armed or released, but not seen to run since */
	unsigned int releases;	/* for no reason that is known, since it was seen to run */
	uint32_t overwritten;	/* packets that the staged filling lacks */
	size_t begun;		/* bytes of the capture when it was armed last */
	bool lost;		/* POSITION or MASK were changed by others: nothing is drained any more */
	bool ending;		/* EN was cleared, or it was tried */
	bool ended;		/* the last filling is in the capture, EN is clear */
	struct arm_mtb_stand end;	/* valid if ended */
	bool blind;		/* the core did not answer when it was looked at last */
	bool background;	/* nobody asked for what is done now */
	unsigned int failures;	/* in the background, since the last filling or since the core was seen to run */
	char error[256];	/* of the last action; empty: all went well */
};

/* The distance of the watermark from the buffer's end: packets that can still come between the match and the halt. */
uint32_t arm_mtb_drain_margin(uint32_t size);

/* Begin. Buffer, position and master are for the caller to fill in; all pointers stay the caller's. */
void arm_mtb_drain_init(struct arm_mtb_drain *drain, const char *name, struct arm_mtb_port *port,
		struct arm_mtb_capture *capture);

/* The target was reset and the MTB is armed again: what was under way has ended, the capture goes on. */
void arm_mtb_drain_rearmed(struct arm_mtb_drain *drain);

/*
 * The core runs, by OpenOCD or by itself: if it was not found out whether the buffer had been emptied it cannot be any
 * more, and what was read of it is read again if it was not.
 */
void arm_mtb_drain_resumed(struct arm_mtb_drain *drain);

/*
 * Has the buffer halted the core? Then read it and let the core go on.
 * @returns true: the core runs, or stands for the buffer's sake alone (call it again); false: the rest of the world
 * has to look at it
 */
bool arm_mtb_drain_poll(struct arm_mtb_drain *drain);

/*
 * The core stands, and OpenOCD knows it: read the buffer if it is full, and clear HALTREQ so that the core can be
 * resumed. To be done again before a resume if it failed: behind that nobody can tell whether a write was carried out.
 * @returns ERROR_OK, or an error: drain->error tells, nothing is lost
 */
int arm_mtb_drain_halted(struct arm_mtb_drain *drain);

/*
 * Read what the buffer holds now. A running core is halted for that.
 * @param end tracing ends here (EN, HALTREQ and FLOW are cleared), else it goes on seamlessly; when it has ended
 *	already, only what failed behind that is done again
 * @param[out] stand registers and PC while the core stood
 * @returns ERROR_OK, or an error: drain->error tells, nothing is lost
 */
int arm_mtb_drain_now(struct arm_mtb_drain *drain, bool end, struct arm_mtb_stand *stand);

/*
 * The MTB was switched off: a core that stands for the buffer's sake alone runs again.
 * @returns ERROR_OK, or an error: drain->error tells; it may stand
 */
int arm_mtb_drain_leave(struct arm_mtb_drain *drain);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_DRAIN_H */
