/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Program flow from ETE / ETMv4 trace: elements and the program image to flow events.
 *
 * Use: init; then feed a chunk and call next until it returns 0, again and again; then finish and next until 0.
 * Decoding never fails as a whole: what cannot be decoded is a gap event, and decoding goes on at the next A-Sync.
 */

#ifndef OPENOCD_ITRACE_ETE_FLOW_H
#define OPENOCD_ITRACE_ETE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_cache.h"
#include "ete_element.h"
#include "event.h"
#include "image.h"
#include "return_stack.h"

#define ITRACE_FLOW_PENDING_NUM	8	/* events that one step can give beyond what the caller has room for */

struct itrace_ete_flow {
	struct itrace_ete_elements elements;
	struct itrace_block_cache cache;
	struct itrace_return_stack stack;
	struct itrace_ledger *ledger;

	/* where the program is */
	uint64_t addr;			/* of the next instruction, when !need_addr */
	uint8_t isa;			/* enum itrace_isa */
	uint8_t it_left;		/* instructions that an open IT block still makes conditional */
	uint8_t context;		/* ITRACE_CONTEXT_... */
	uint8_t space;			/* memory space of the code */
	uint32_t vmid;
	uint32_t cid;
	bool need_addr;
	bool need_context;
	bool pop_pending;		/* the last branch was indirect: without an address, its target is on the stack */
	bool branched_away;		/* need_addr because the last branch was indirect; addr is behind it */
	bool excepted;			/* nothing ran since the last exception: addr is its return address, not its handler */
	bool left_by_eret;		/* the last branch was an exception return */
	bool push_blocked;		/* from a Trace Info to the next address nothing is pushed */
	bool overflowed;		/* since the last Trace On */

	/* the atoms that are being worked off */
	uint64_t atoms_off;
	uint32_t atoms;			/* oldest in bit 0 */
	uint32_t atom_count;

	/* a source address range that is being split at its N atoms */
	uint64_t split_end;
	uint64_t split_off;
	bool splitting;

	/* options; set them after init */
	bool split_at_n;		/* ranges of source address elements end at every N atom */
	bool layered;			/* never take atoms past the element layer: the same events, slower (for tests) */

	/* where events go: the caller's array, and what it has no room for */
	struct itrace_event *out;
	struct itrace_event *out_end;
	uint8_t pending_count;
	uint8_t pending_next;
	struct itrace_event pending[ITRACE_FLOW_PENDING_NUM];
};

/*
 * @param config, @param image, @param ledger (may be NULL) stay the caller's and must live as long as the flow
 * @param blocks storage of the block cache: @param block_count (a power of two) blocks
 */
void itrace_ete_flow_init(struct itrace_ete_flow *flow, const struct itrace_ete_config *config,
		struct itrace_image *image, struct itrace_block *blocks, size_t block_count, struct itrace_ledger *ledger);

/* As itrace_ete_stream_feed() and _finish(). */
void itrace_ete_flow_feed(struct itrace_ete_flow *flow, uint64_t off, const uint8_t *bytes, size_t len);
void itrace_ete_flow_finish(struct itrace_ete_flow *flow);

/*
 * Up to @a n events (n >= 1) in program order.
 * @returns how many; 0: give more bytes, or (after the END event) finished.
 * The ledger has counted what was returned.
 */
unsigned int itrace_ete_flow_next(struct itrace_ete_flow *flow, struct itrace_event *events, unsigned int n);

/* Begin a further input (the next buffer or record). The context is forgotten, too. */
void itrace_ete_flow_reset(struct itrace_ete_flow *flow, enum itrace_no_sync why);

#endif /* OPENOCD_ITRACE_ETE_FLOW_H */
