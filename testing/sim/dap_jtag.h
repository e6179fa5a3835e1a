/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A debug port for JTAG (Arm ADIv5 JTAG-DP) with access ports behind it. It never answers WAIT. */

#ifndef DAP_JTAG_H
#define DAP_JTAG_H

#include "jtag_chain.h"
#include "mem_ap.h"

#define DAP_JTAG_APS	4u

struct dap_jtag {
	uint32_t idcode;
	struct mem_ap *ap[DAP_JTAG_APS];	/* NULL: not there, reads 0 */
	uint32_t ir;
	uint32_t select;
	uint32_t ctrl;
	uint32_t result;	/* of the last access, for the next capture */
	uint32_t rdbuff;	/* of the last access port read */
};

void dap_jtag_init(struct dap_jtag *dap, uint32_t idcode);

/** The TAP; its context is a struct dap_jtag, its instruction register has 4 bits. */
extern const struct jtag_tap_ops dap_jtag_ops;

#endif
