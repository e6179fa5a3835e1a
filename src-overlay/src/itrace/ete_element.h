/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Packets to committed elements: speculation is resolved here, so that everything above sees only what happened.
 *
 * Elements wait in a queue until the trace unit commits them (or a depth of MaxSpecDepth commits the oldest by itself);
 * cancel takes the newest away, mispredict turns the newest atom. Source: DDI 0487 D5 "speculation", IHI 0064 5.
 */

#ifndef OPENOCD_ITRACE_ETE_ELEMENT_H
#define OPENOCD_ITRACE_ETE_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ete_stream.h"
#include "event.h"

enum itrace_element_kind {
	ITRACE_ELEMENT_ATOMS,		/* P0: atom_count atoms, bit n of number = n-th oldest, 1 = E */
	ITRACE_ELEMENT_EXCEPTION,	/* P0: number = type, addr, is; flags; context if HAS_CONTEXT */
	ITRACE_ELEMENT_Q,		/* P0: addr, is; number = instructions if HAS_COUNT; context if HAS_CONTEXT */
	ITRACE_ELEMENT_SOURCE_ADDR,	/* P0: addr, is */
	ITRACE_ELEMENT_TRANSACTION_START,	/* P0 or not, by configuration */
	ITRACE_ELEMENT_EXCEPTION_RETURN,	/* P0 on M profile; ETMv4 only */
	ITRACE_ELEMENT_FUNCTION_RETURN,	/* P0; Armv8-M */
	ITRACE_ELEMENT_UNSEEN,		/* P0 that was traced before the trace began (Trace Info SPEC); never handed out */
	ITRACE_ELEMENT_ADDR,		/* addr, is */
	ITRACE_ELEMENT_CONTEXT,		/* info, vmid, cid; is of the last address; SAME: unchanged */
	ITRACE_ELEMENT_TRACE_ON,
	ITRACE_ELEMENT_TRACE_INFO,
	ITRACE_ELEMENT_EVENT,		/* number = mask */
	ITRACE_ELEMENT_TIMESTAMP,	/* addr = time; number = cycles if HAS_COUNT */
	ITRACE_ELEMENT_CYCLES,		/* number = cycles; UNKNOWN */
	ITRACE_ELEMENT_MARKER,
	ITRACE_ELEMENT_INSTRUMENTATION,	/* addr = payload, info = exception level */
	ITRACE_ELEMENT_TRANSACTION_COMMIT,
	ITRACE_ELEMENT_TRANSACTION_FAIL,
	ITRACE_ELEMENT_TRANSACTION_INIT,
	ITRACE_ELEMENT_NO_SYNC,		/* info = enum itrace_no_sync */
	ITRACE_ELEMENT_GAP,		/* info = enum itrace_gap; number = its detail */
	ITRACE_ELEMENT_END,		/* end of the input */
	ITRACE_ELEMENT_NUM
};

#define ITRACE_ELEMENT_HAS_CONTEXT	0x01u
#define ITRACE_ELEMENT_HAS_COUNT	0x02u
#define ITRACE_ELEMENT_MATCHES_TARGET	0x04u
#define ITRACE_ELEMENT_FAULT_PENDING	0x08u
#define ITRACE_ELEMENT_SAME		0x10u
#define ITRACE_ELEMENT_UNKNOWN		0x20u
#define ITRACE_ELEMENT_HAS_ADDR		0x40u	/* EXCEPTION, Q: addr is there (a PE Reset has none) */
#define ITRACE_ELEMENT_WITH_ADDR	0x80u	/* CONTEXT: an ADDR element of the same packet follows */

struct itrace_ete_element {
	uint64_t off;		/* of the packet that made it */
	uint64_t addr;
	uint32_t number;
	uint32_t vmid;
	uint32_t cid;
	uint8_t kind;		/* enum itrace_element_kind */
	uint8_t flags;		/* ITRACE_ELEMENT_... */
	uint8_t info;
	uint8_t is;
	uint8_t atom_count;
};

/*
 * Entries that may wait. A trace unit speculates at most a few hundred P0 elements deep; deeper than this is a gap
 * (ITRACE_GAP_SPECULATION_DEPTH), never unbounded memory.
 */
#define ITRACE_ELEMENT_QUEUE_NUM	2048u

enum itrace_elements_state {
	ITRACE_ELEMENTS_NO_SYNC,	/* the next packet is told that there is no synchronisation, and why */
	ITRACE_ELEMENTS_WAIT_ASYNC,
	ITRACE_ELEMENTS_WAIT_INFO,
	ITRACE_ELEMENTS_DECODE
};

struct itrace_ete_elements {
	struct itrace_ete_stream stream;
	struct itrace_ete_element queue[ITRACE_ELEMENT_QUEUE_NUM];	/* ring */
	uint32_t head;		/* oldest */
	uint32_t count;
	uint64_t depth;		/* uncommitted P0 elements */
	uint8_t state;		/* enum itrace_elements_state */
	uint8_t no_sync;	/* enum itrace_no_sync: why */
	uint8_t last_is;	/* of the last target address: a context packet has none of its own */
	bool awaits_addr;	/* the newest entry, an exception or Q, waits for its address */
	bool markers_seen;
	bool end_done;

	/* What is left to do of the last packet, in this order. */
	uint64_t packet_off;
	uint32_t release;	/* oldest entries to hand out, whatever they are */
	uint32_t commit;	/* P0 elements to hand out, with all that is older */
	bool has_cycles;	/* then cycles goes into the queue, before the oldest uncommitted P0 */
	struct itrace_ete_element cycles;
	uint32_t cancel;	/* newest P0 elements to take away */
	bool mispredict;
	bool has_gap;		/* then gap is handed out */
	struct itrace_ete_element gap;
	bool no_sync_now;	/* then that synchronisation is lost */
};

/*
 * True when nothing is queued or left to do and every P0 element commits at once: then atoms and target addresses may
 * be taken from the stream directly, with the same result.
 */
static inline bool itrace_ete_elements_idle(const struct itrace_ete_elements *elements)
{
	return elements->state == ITRACE_ELEMENTS_DECODE && !elements->count && !elements->awaits_addr &&
		!elements->stream.config->max_spec_depth && !elements->has_gap && !elements->no_sync_now &&
		!elements->mispredict && !elements->cancel && !elements->has_cycles;
}

/* @a config and @a ledger (may be NULL) stay the caller's. */
void itrace_ete_elements_init(struct itrace_ete_elements *elements, const struct itrace_ete_config *config,
		struct itrace_ledger *ledger);

/* As itrace_ete_stream_feed() and itrace_ete_stream_finish(). */
void itrace_ete_elements_feed(struct itrace_ete_elements *elements, uint64_t off, const uint8_t *bytes, size_t len);
void itrace_ete_elements_finish(struct itrace_ete_elements *elements);

/*
 * The next committed element.
 * @returns 1 with *element filled; 0: give more bytes, or (after END was handed out) finished.
 */
int itrace_ete_elements_next(struct itrace_ete_elements *elements, struct itrace_ete_element *element);

/* Begin a further input (the next buffer or record) with the reason @a why. */
void itrace_ete_elements_reset(struct itrace_ete_elements *elements, enum itrace_no_sync why);

/* Name of a kind in plain words. Never NULL. */
const char *itrace_element_name(enum itrace_element_kind kind);

#endif /* OPENOCD_ITRACE_ETE_ELEMENT_H */
