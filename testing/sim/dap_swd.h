/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A debug port for SWD (Arm ADIv5 SW-DP) with access ports behind it, bit by bit as a J-Link drives the wire. The
 * probe gives no bit to the first turnaround: the acknowledge begins with the first bit that the target drives. The
 * data phase is always there, also behind WAIT and FAULT.
 */

#ifndef DAP_SWD_H
#define DAP_SWD_H

#include "mem_ap.h"
#include "sim_clock.h"

#include <stddef.h>

#define DAP_SWD_APS	4u

enum dap_swd_state {
	DAP_SWD_LOCKED,		/* nothing but a line reset is understood */
	DAP_SWD_RESET,
	DAP_SWD_IDLE,
	DAP_SWD_HEADER,
	DAP_SWD_TARGET,		/* the target drives */
	DAP_SWD_DATA,
};

/** What goes wrong with the next access. */
enum dap_swd_injection {
	DAP_SWD_GOOD,
	DAP_SWD_WAIT,
	DAP_SWD_FAULT,
	DAP_SWD_PARITY,		/* of the data */
};

struct dap_swd {
	uint32_t dpidr;
	struct mem_ap *ap[DAP_SWD_APS];	/* NULL: not there, reads 0 */
	struct sim_clock *clock;
	enum dap_swd_state state;
	bool must_identify;		/* the first access behind a line reset is a read of DPIDR */
	unsigned int ones;		/* driven by the host one after the other */
	unsigned int bits;		/* of what is shifted */
	uint64_t shift;
	unsigned int target_bits;
	uint8_t header;
	uint32_t select;
	uint32_t ctrl;
	uint32_t posted;		/* result of the last access port read */
	bool swallow;			/* the data of this write means nothing */
	enum dap_swd_injection injection;
	uint64_t transactions;		/* headers that were understood */
	void (*begins)(void *ctx);	/* with each of them; may be NULL */
	void *ctx;
};

void dap_swd_init(struct dap_swd *dap, uint32_t dpidr, struct sim_clock *clock);

/** @a bits clocks, bit 0 of byte 0 first; @a dir: 1, the host drives. */
void dap_swd_io(struct dap_swd *dap, const uint8_t *dir, const uint8_t *out, uint8_t *in, size_t bits);

#endif
