/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The ledger: where did every byte go, and what came of it.
 *
 * Invariant: trace_len == decoded_len + padding_len + unsynced_len + skipped_len (itrace_ledger_balances()).
 */

#ifndef OPENOCD_ITRACE_LEDGER_H
#define OPENOCD_ITRACE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "ete_packet.h"
#include "event.h"
#include "mtb_packet.h"

#define ITRACE_LEDGER_SOURCES	64

/* Kinds of packets: enum itrace_packet_kind, behind them enum itrace_mtb_kind. */
#define ITRACE_LEDGER_MTB	ITRACE_PACKET_NUM
#define ITRACE_LEDGER_KINDS	(ITRACE_PACKET_NUM + ITRACE_MTB_KIND_NUM)

struct itrace_ledger {
	/* bytes of trace (behind the frame layer: of this trace ID) */
	uint64_t trace_len;
	uint64_t decoded_len;	/* in packets that were understood */
	uint64_t padding_len;	/* A-Sync, Ignore */
	uint64_t unsynced_len;	/* before the first A-Sync, between an error and the next one, a partial last packet */
	uint64_t skipped_len;	/* reserved headers and malformed packets */
	uint64_t frame_len;	/* bytes of frames (0: not framed); of them not trace_len: IDs, syncs, other trace IDs */
	uint64_t partial_len;	/* of unsynced_len: the packet that was cut off at the end */
	uint64_t presync_len;	/* of unsynced_len: before the first A-Sync */

	uint64_t packet_count[ITRACE_LEDGER_KINDS];
	uint64_t packet_len[ITRACE_LEDGER_KINDS];

	uint64_t event_count[ITRACE_EVENT_NUM];
	uint64_t gap_count[ITRACE_GAP_NUM];
	uint64_t gap_first_off[ITRACE_GAP_NUM];		/* where the first gap of each cause is */
	uint64_t gap_first_addr[ITRACE_GAP_NUM];	/* and the address concerned */
	uint32_t gap_first_detail[ITRACE_GAP_NUM];	/* and the event's count */
	uint64_t instruction_count;
	uint64_t unknown_path_count;	/* instructions in ranges of unknown path, as far as they were counted */
	uint64_t source_count[ITRACE_LEDGER_SOURCES + 1];	/* instructions by source of their code; last: live memory */
};

void itrace_ledger_init(struct itrace_ledger *ledger);

/* Count @a n events. Pointers may be NULL only when @a n is 0. */
void itrace_ledger_count(struct itrace_ledger *ledger, const struct itrace_event *events, unsigned int n);

/* Add @a other to @a ledger (several buffers or trace IDs); the first gap stays the first. */
void itrace_ledger_add(struct itrace_ledger *ledger, const struct itrace_ledger *other);

/* Plain name of a kind of packet as the ledger counts it. Never NULL. */
const char *itrace_ledger_packet_name(unsigned int kind);

bool itrace_ledger_balances(const struct itrace_ledger *ledger);
uint64_t itrace_ledger_gaps(const struct itrace_ledger *ledger);

#endif /* OPENOCD_ITRACE_LEDGER_H */
