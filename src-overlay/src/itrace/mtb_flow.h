/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Program flow from the packets of a Micro Trace Buffer: packets and the program image to flow events.
 *
 * Between two packets the core ran straight ahead, from where the first went to where the second came from; every
 * conditional branch on that way was not taken. Use is that of ete_flow.h: init; feed a chunk and call next until it
 * returns 0, again and again; finish, and next until 0. The pieces of a buffer that has wrapped are fed one behind the
 * other, oldest first.
 *
 * A trace may consist of several fillings of a buffer, with a seam between each and the next: the core was halted, the
 * buffer was read and emptied, and the core went on. A seam shows as an event; the instructions are those that they
 * would be without it.
 *
 * Decoding never fails: where trace and image contradict each other there is a gap that holds both sides, and decoding
 * goes on where the packet says that execution went.
 */

#ifndef OPENOCD_ITRACE_MTB_FLOW_H
#define OPENOCD_ITRACE_MTB_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_cache.h"
#include "event.h"
#include "image.h"
#include "ledger.h"
#include "mtb_packet.h"
#include "mtb_vectors.h"

#define ITRACE_MTB_PENDING_NUM	8u	/* events that one step can give beyond what the caller has room for */
#define ITRACE_MTB_FRAME_NUM	32u	/* exceptions that are open at a time; the oldest is forgotten */
#define ITRACE_MTB_RANGE_MAX	0x10000u	/* bytes that execution can run straight ahead */

/* Where one filling of a buffer ends and the next begins: nothing is missing there, but the core was halted. */
struct itrace_seam {
	uint64_t off;		/* byte offset in the trace of the first packet of the next filling */
	uint32_t pc;		/* where the core stood, with trace on until then */
	bool has_pc;
};

/* What is known beside packets and program. */
struct itrace_mtb_hints {
	bool wrapped;		/* older packets were overwritten: nothing is known of what led to the first */
	bool has_pc_arm;	/* execution began at pc_arm when the buffer was empty; of no use when wrapped */
	bool has_pc_halt;	/* tracing was on until the core stopped in front of pc_halt */
	bool has_vtor;		/* the vector table is at vtor */
	uint32_t pc_arm;
	uint32_t pc_halt;
	uint32_t vtor;
	const struct itrace_seam *seams;	/* the caller's, as long as the flow lives; ascending off */
	size_t seam_count;
};

/* An exception that was entered and not yet returned from. */
struct itrace_mtb_frame {
	uint32_t addr;		/* where it returns to */
	uint8_t it_left;	/* instructions there that an open IT block makes conditional, */
	uint8_t loose;		/* or may make so */
};

struct itrace_mtb_flow {
	struct itrace_block_cache cache;
	struct itrace_insn_rules rules;
	struct itrace_ledger *ledger;
	struct itrace_mtb_hints hints;

	/* the input */
	const uint8_t *pos;
	const uint8_t *end;
	uint64_t off;			/* of pos */
	uint8_t held[ITRACE_MTB_PACKET_LEN];	/* a packet that a chunk ended in */
	uint8_t held_len;
	uint64_t held_off;
	bool finished;
	bool ended;
	bool first;			/* no packet was seen */
	bool begun;			/* the first event was given */
	bool begun_tail;		/* all packets are worked off */
	uint8_t begin_cause;		/* enum itrace_no_sync of it */

	/* where the program is */
	uint8_t place;			/* nowhere, at addr, or on its way back by the value in addr */
	uint32_t addr;
	uint8_t it_left;		/* instructions that an open IT block still makes conditional */
	uint8_t loose;			/* instructions that may be of an IT block which was entered in its middle */
	bool ran;			/* instructions in front of addr, since execution came here */
	bool branched;			/* nothing ran since a branch to addr */
	bool excepted;			/* nothing ran since an exception, which returns to return_addr */
	uint32_t return_addr;

	/* the packet that is being worked off */
	struct itrace_mtb_packet packet;
	bool walking;
	bool waiting;			/* for the seams in front of it */
	size_t seam_next;		/* in hints */
	uint64_t seam_off;		/* of that seam; UINT64_MAX: there is none */

	struct itrace_mtb_frame frames[ITRACE_MTB_FRAME_NUM];
	uint32_t frame_count;

	struct itrace_mtb_vectors vectors;

	/* option; set it after init */
	bool one_by_one;		/* no short cut over plain branches: the same events, slower (for tests) */

	/* where events go: the caller's array, and what it has no room for */
	struct itrace_event *out;
	struct itrace_event *out_end;
	uint8_t pending_count;
	uint8_t pending_next;
	struct itrace_event pending[ITRACE_MTB_PENDING_NUM];
};

/*
 * @param hints copied; NULL: nothing is known
 * @param image, @param ledger (may be NULL) stay the caller's and must live as long as the flow
 * @param blocks storage of the block cache: @param block_count (a power of two) blocks
 */
void itrace_mtb_flow_init(struct itrace_mtb_flow *flow, const struct itrace_mtb_hints *hints,
		struct itrace_image *image, struct itrace_block *blocks, size_t block_count, struct itrace_ledger *ledger);

/* The next @a len bytes, which stay the caller's and are used until next returns 0. @a off: offset of the first. */
void itrace_mtb_flow_feed(struct itrace_mtb_flow *flow, uint64_t off, const uint8_t *bytes, size_t len);

/* There is no more. */
void itrace_mtb_flow_finish(struct itrace_mtb_flow *flow);

/*
 * Up to @a n events (n >= 1) in program order.
 * @returns how many; 0: give more bytes, or (after the END event) finished.
 * The ledger has counted what was returned, and what is waiting.
 */
unsigned int itrace_mtb_flow_next(struct itrace_mtb_flow *flow, struct itrace_event *events, unsigned int n);

/* Begin a further input with other @a hints (NULL: none). What was open is forgotten. */
void itrace_mtb_flow_reset(struct itrace_mtb_flow *flow, const struct itrace_mtb_hints *hints, enum itrace_no_sync why);

#endif /* OPENOCD_ITRACE_MTB_FLOW_H */
