/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A chain of JTAG TAPs. All of them see the same TMS, so there is one state machine; the registers of all TAPs
 * between TDI and TDO are one long shift register.
 */

#ifndef JTAG_CHAIN_H
#define JTAG_CHAIN_H

#include "sim_clock.h"

#include <stddef.h>

#define JTAG_CHAIN_MAX		3u	/* TAPs */
#define JTAG_DR_MAX		40u	/* bits of one TAP's register */

struct jtag_tap_ops {
	/** Test-Logic-Reset. */
	void (*reset)(void *ctx);
	/** What Capture-IR loads; ends in binary 01. */
	uint32_t ir_capture;
	void (*update_ir)(void *ctx, uint32_t value);
	/** Capture-DR: the value, and the length of the register that the instruction selects, 1 to JTAG_DR_MAX. */
	uint64_t (*capture_dr)(void *ctx, unsigned int *len);
	/** Update-DR. */
	void (*update_dr)(void *ctx, uint64_t value);
};

struct jtag_tap {
	const struct jtag_tap_ops *ops;
	void *ctx;
	unsigned int ir_len;
	unsigned int len;	/* of what was captured last */
};

enum jtag_state {
	JTAG_RESET, JTAG_IDLE,
	JTAG_SELECT_DR, JTAG_CAPTURE_DR, JTAG_SHIFT_DR, JTAG_EXIT1_DR, JTAG_PAUSE_DR, JTAG_EXIT2_DR, JTAG_UPDATE_DR,
	JTAG_SELECT_IR, JTAG_CAPTURE_IR, JTAG_SHIFT_IR, JTAG_EXIT1_IR, JTAG_PAUSE_IR, JTAG_EXIT2_IR, JTAG_UPDATE_IR,
};

struct jtag_chain {
	struct sim_clock *clock;
	struct jtag_tap tap[JTAG_CHAIN_MAX];	/* [0] is nearest TDO */
	unsigned int count;
	enum jtag_state state;
	unsigned __int128 shift;
	unsigned int shift_len;
	uint64_t ir_scans;
	uint64_t dr_scans;
};

/** Add a TAP in front of those there are, that is farther from TDO. */
void jtag_chain_add(struct jtag_chain *chain, const struct jtag_tap_ops *ops, void *ctx, unsigned int ir_len);

/** All TAPs to Test-Logic-Reset, as TRST does. */
void jtag_chain_reset(struct jtag_chain *chain);

/** TDO as it stands before the next rising edge. An undriven TDO is pulled up. */
static inline bool jtag_chain_tdo(const struct jtag_chain *chain)
{
	return chain->state == JTAG_SHIFT_DR || chain->state == JTAG_SHIFT_IR ? chain->shift & 1 : true;
}

/** One TCK. */
void jtag_chain_clock(struct jtag_chain *chain, bool tms, bool tdi);

/**
 * @a bits clocks, bit 0 of byte 0 first; @a tdo gets the value before each rising edge.
 * A stay in Run-Test/Idle or a Pause state costs one step.
 */
void jtag_chain_io(struct jtag_chain *chain, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo, size_t bits);

#endif
