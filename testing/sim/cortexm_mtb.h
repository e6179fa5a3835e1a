/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A Micro Trace Buffer as its manual has it: registers, and a packet of two words for each change of the PC, in the RAM
 * that the program uses too. Only what the manual leaves open is a choice, see struct cortexm_mtb_options.
 */

#ifndef CORTEXM_MTB_H
#define CORTEXM_MTB_H

#include <stdbool.h>
#include <stdint.h>

#define CORTEXM_MTB_EN		(1u << 31)
#define CORTEXM_MTB_HALTREQ	(1u << 9)

struct cortexm_mtb_options {
	bool m33;		/* TSTART and TSTOP registers, no SFRWPRIV */
	unsigned int aw;	/* RAM addresses have so many bits */
	uint32_t ram_base;	/* bus address of the RAM */
	uint32_t base_reads;	/* what BASE says */
	bool gated;		/* it has a clock that has to be switched on */
};

struct cortexm_mtb {
	struct cortexm_mtb_options options;
	uint32_t position;
	uint32_t master;
	uint32_t flow;
	uint32_t tstart, tstop;
	bool start_bit;		/* the next packet is the first one */
	bool clocked;		/* else registers read 0, keep what they have, and nothing is traced */
	uint64_t packets;
	/* A word of the RAM; addresses without memory swallow it. */
	void (*store)(void *ctx, uint32_t addr, uint32_t value);
	void *ctx;
};

/** Power-on: what the manual calls UNKNOWN comes from @a noise. */
void cortexm_mtb_init(struct cortexm_mtb *mtb, const struct cortexm_mtb_options *options, uint64_t noise);

/** A system reset: control bits end, position and flow stay; a gated clock is off. */
void cortexm_mtb_reset(struct cortexm_mtb *mtb);

/** Registers and IDs, 4 KB. */
uint32_t cortexm_mtb_read(const struct cortexm_mtb *mtb, uint32_t offset);
void cortexm_mtb_write(struct cortexm_mtb *mtb, uint32_t offset, uint32_t value, bool privileged);

/** Levels of the inputs, for one cycle. If both are high, start wins. */
void cortexm_mtb_inputs(struct cortexm_mtb *mtb, bool start, bool stop);

/** The PC changes: a packet if trace is on. @returns true if one was written. */
bool cortexm_mtb_packet(struct cortexm_mtb *mtb, uint32_t source, bool atomic, uint32_t destination);

/** Size of the buffer as MASTER has it, and the bus address of a position. */
uint32_t cortexm_mtb_size(const struct cortexm_mtb *mtb);
uint32_t cortexm_mtb_bus(const struct cortexm_mtb *mtb, uint32_t position);

#endif
