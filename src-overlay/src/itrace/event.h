/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Flow events: the one currency between trace sources and everything that speaks of the program.
 *
 * An event is a small value. ETE, ETMv4 and MTB produce the same events, and every consumer (functions, calls, exports,
 * GDB) reads nothing else. The meaning of the fields depends on the kind and is given in enum itrace_event_kind.
 */

#ifndef OPENOCD_ITRACE_EVENT_H
#define OPENOCD_ITRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "insn.h"

enum itrace_event_kind {
	/*
	 * RANGE: instructions [addr, end) were executed in order; count of them; isa; branch/flags/last_size describe the
	 * last one (enum itrace_insn_class, ITRACE_EVENT_...). Ends at a waypoint, an exception, or where memory ends.
	 */
	ITRACE_EVENT_RANGE,
	/*
	 * RANGE_NO_PATH: execution went from addr (ITRACE_EVENT_HAS_ADDR; else from an unknown place, and addr is only
	 * the last
	 * one known) to end in an unknown way; count instructions, 0 when unknown (Q element).
	 */
	ITRACE_EVENT_RANGE_NO_PATH,
	/*
	 * TRACE_ON: tracing began or resumed here; what happened before is not in the trace. cause = enum
	 * itrace_trace_on.
	 */
	ITRACE_EVENT_TRACE_ON,
	/*
	 * CONTEXT: the PE context; number = context bits (ITRACE_CONTEXT_...), addr = context ID, end = virtual
	 * context ID.
	 */
	ITRACE_EVENT_CONTEXT,
	/*
	 * EXCEPTION: number = exception type, addr = preferred return address if ITRACE_EVENT_HAS_ADDR; flag
	 * ITRACE_EVENT_MATCHES_TARGET: addr is also the target of the branch before. The handler's address is where the
	 * next range begins. MTB, which traces no numbers: ITRACE_EVENT_UNKNOWN: number is one of several that share this
	 * handler, or 0: no vector leads there, perhaps the debugger wrote the PC.
	 */
	ITRACE_EVENT_EXCEPTION,
	/*
	 * EXCEPTION_RETURN: the range before ended with an exception return that was executed. number = EXC_RETURN, 0 where
	 * the trace does not hold it.
	 */
	ITRACE_EVENT_EXCEPTION_RETURN,
	/*
	 * TIMESTAMP: addr = timestamp; all before it happened before this time; count = cycles since the last count if
	 * ITRACE_EVENT_HAS_CYCLES. ITRACE_EVENT_UNKNOWN: cycle counting is on, but this one has no count.
	 */
	ITRACE_EVENT_TIMESTAMP,
	/* CYCLES: count = cycles since the last count; flag ITRACE_EVENT_UNKNOWN: not known. */
	ITRACE_EVENT_CYCLES,
	/* MARKER: the position to which the following timestamp applies. */
	ITRACE_EVENT_MARKER,
	/* TRIGGER: number = bit mask of the trace unit's event outputs that fired. */
	ITRACE_EVENT_TRIGGER,
	/* TRANSACTION: cause = enum itrace_transaction. */
	ITRACE_EVENT_TRANSACTION,
	/* INSTRUMENTATION: addr = value written by TRCIT, number = exception level. */
	ITRACE_EVENT_INSTRUMENTATION,
	/*
	 * SEAM: the core was halted here while a full buffer was read and emptied; nothing is missing. addr = where it
	 * stood (ITRACE_EVENT_HAS_ADDR), off = of the first packet behind it. A range that was under way is cut in two.
	 */
	ITRACE_EVENT_SEAM,
	/*
	 * GAP: something is missing here. cause = enum itrace_gap; addr = address concerned (ITRACE_EVENT_HAS_ADDR), then
	 * end = memory space in which it was looked for (ITRACE_SPACE_...). count: NO_MEMORY: bytes wanted; number (the
	 * same place): BAD_PACKET, BAD_SEQUENCE: first byte of the packet; COMMIT_OVERRUN, SPECULATION_DEPTH: elements.
	 * Where trace and image contradict each other (itrace_gap_is_contradiction()) both sides are here: end = where the
	 * trace says that execution came to, number = what the image says, 0 where that is no address.
	 */
	ITRACE_EVENT_GAP,
	/* NO_SYNC: decoding starts (again) at the next A-Sync; cause = enum itrace_no_sync. Not a gap by itself. */
	ITRACE_EVENT_NO_SYNC,
	/* END: the input is finished; cause = enum itrace_end. */
	ITRACE_EVENT_END,
	ITRACE_EVENT_NUM
};

enum itrace_trace_on {
	ITRACE_TRACE_ON_NORMAL,		/* began, or a filter let it through again */
	ITRACE_TRACE_ON_OVERFLOW,	/* the trace unit had lost packets */
	ITRACE_TRACE_ON_NUM
};

enum itrace_transaction {
	ITRACE_TRANSACTION_INIT,	/* tracing began inside a transaction */
	ITRACE_TRANSACTION_START,
	ITRACE_TRANSACTION_COMMIT,
	ITRACE_TRANSACTION_FAIL,	/* what ran since the start was undone by the PE */
	ITRACE_TRANSACTION_NUM
};

/* Why there is a gap. Each has a stable name (itrace_gap_name()), a meaning and a remedy in the manual. */
enum itrace_gap {
	ITRACE_GAP_NO_MEMORY,		/* no code known at addr: count bytes wanted */
	ITRACE_GAP_OVERFLOW,		/* the trace unit's FIFO overflowed */
	ITRACE_GAP_DISCARD,		/* the trace unit threw away what was speculative (e.g. power down) */
	ITRACE_GAP_BAD_PACKET,		/* reserved header or malformed packet; number = first byte */
	ITRACE_GAP_BAD_SEQUENCE,	/* packets that cannot follow each other, e.g. an exception without an address */
	ITRACE_GAP_COMMIT_OVERRUN,	/* more committed or cancelled than was traced */
	ITRACE_GAP_SPECULATION_DEPTH,	/* more uncommitted elements than this decoder can hold; number = how many it can */
	ITRACE_GAP_RETURN_STACK,	/* a return without an address, and nothing on the return stack */
	ITRACE_GAP_NOT_DESCRIBED,	/* the instruction at addr is a branch for which no source says how it is traced */
	ITRACE_GAP_BAD_IMAGE,		/* code at addr cannot be what ran (e.g. address not reached by the walk) */
	ITRACE_GAP_NO_ADDRESS,		/* where the branch before addr, or the exception at addr, went is not in the trace */
	ITRACE_GAP_FRAME,		/* CoreSight frames: bad or lost synchronisation */
	ITRACE_GAP_JOIN,		/* two pieces of trace meet: records of a buffer, chunks */
	ITRACE_GAP_TARGET_DIFFERS,	/* the branch at addr went to end; by the image it goes to number */
	ITRACE_GAP_NOT_A_BRANCH,	/* execution went from addr to end, but the image has no branch at addr */
	ITRACE_GAP_NO_WAY,		/* execution went from addr straight to end, but the image's way there stops at number */
	ITRACE_GAP_NUM
};

enum itrace_no_sync {
	ITRACE_NO_SYNC_INIT,		/* start of the input */
	ITRACE_NO_SYNC_RESET,		/* start of a further input */
	ITRACE_NO_SYNC_OVERFLOW,
	ITRACE_NO_SYNC_DISCARD,
	ITRACE_NO_SYNC_BAD_PACKET,	/* any error */
	ITRACE_NO_SYNC_NUM
};

enum itrace_end {
	ITRACE_END_OF_TRACE,
	ITRACE_END_AFTER_OVERFLOW,	/* the trace ended before it resumed after an overflow */
	ITRACE_END_NUM
};

/* Context bits: number of ITRACE_EVENT_CONTEXT, and the PE context as the decoder keeps it. */
#define ITRACE_CONTEXT_EL_MASK	0x03u
#define ITRACE_CONTEXT_NSE	0x08u	/* FEAT_RME */
#define ITRACE_CONTEXT_SF	0x10u	/* AArch64 */
#define ITRACE_CONTEXT_NS	0x20u
#define ITRACE_CONTEXT_HAS_VMID	0x40u	/* a virtual context ID has been seen; it may be from an earlier packet */
#define ITRACE_CONTEXT_HAS_CID	0x80u	/* likewise a context ID */
/* {NSE, NS}: the security state */
#define ITRACE_CONTEXT_SECURITY	(ITRACE_CONTEXT_NSE | ITRACE_CONTEXT_NS)
#define ITRACE_SECURITY_SECURE		0u
#define ITRACE_SECURITY_NON_SECURE	ITRACE_CONTEXT_NS
#define ITRACE_SECURITY_ROOT		ITRACE_CONTEXT_NSE
#define ITRACE_SECURITY_REALM		(ITRACE_CONTEXT_NSE | ITRACE_CONTEXT_NS)

/* flags; the low five bits of a range are those of struct itrace_insn (ITRACE_INSN_...) */
#define ITRACE_EVENT_EXECUTED		0x20u	/* RANGE: the last instruction was executed / the branch was taken (E) */
#define ITRACE_EVENT_HAS_ADDR		0x40u
#define ITRACE_EVENT_HAS_CYCLES		0x80u
#define ITRACE_EVENT_MATCHES_TARGET	0x01u	/* EXCEPTION */
#define ITRACE_EVENT_FAULT_PENDING	0x02u	/* EXCEPTION, M profile */
#define ITRACE_EVENT_UNKNOWN		0x04u	/* CYCLES, TIMESTAMP, EXCEPTION */

/*
 * One event, 32 bytes. The four small fields are also one word, @c tag: producers write that word at once (four byte
 * stores followed by a copy of the struct cost twice), consumers may compare it.
 */
struct itrace_event {
	uint64_t off;	/* byte offset in the trace of the packet that caused it */
	uint64_t addr;
	uint64_t end;
	union {
		uint32_t count;
		uint32_t number;
	};
	union {
		struct {
			uint8_t kind;	/* enum itrace_event_kind */
			uint8_t flags;	/* ITRACE_EVENT_..., RANGE: | ITRACE_INSN_... */
			union {
				struct {
					uint8_t branch : 4;	/* RANGE: enum itrace_insn_class of the last instruction */
					uint8_t isa : 4;	/* RANGE, CONTEXT: enum itrace_isa */
				};
				uint8_t cause;		/* TRACE_ON, GAP, NO_SYNC, END, TRANSACTION */
			};
			uint8_t last_size;	/* RANGE: bytes of the last instruction */
		};
		uint32_t tag;
	};
};

/*
 * Four bytes in the order of the fields of a tag as one word. By shifts, not through memory: byte stores followed
 * by a load
 * of the word would wait for each other.
 */
static inline uint32_t itrace_event_tag_bytes(unsigned int kind, unsigned int flags, unsigned int third,
		unsigned int last_size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (uint32_t)kind << 24 | (uint32_t)flags << 16 | (uint32_t)third << 8 | last_size;
#else
	return (uint32_t)kind | (uint32_t)flags << 8 | (uint32_t)third << 16 | (uint32_t)last_size << 24;
#endif
}

/* The tag of a range event. */
static inline uint32_t itrace_event_range_tag(enum itrace_isa isa, enum itrace_insn_class branch, unsigned int flags,
		unsigned int last_size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	const unsigned int third = (unsigned int)branch << 4 | (unsigned int)isa;
#else
	const unsigned int third = (unsigned int)branch | (unsigned int)isa << 4;
#endif

	return itrace_event_tag_bytes(ITRACE_EVENT_RANGE, flags, third, last_size);
}

/* The tag of any other event: kind, flags and cause (0 where the kind has none). */
static inline uint32_t itrace_event_tag(enum itrace_event_kind kind, unsigned int flags, unsigned int cause)
{
	return itrace_event_tag_bytes(kind, flags, cause, 0);
}

/* The flags and, of a range, the class of the last instruction in a tag. */
static inline unsigned int itrace_event_flags(uint32_t tag)
{
	struct itrace_event event;
	event.tag = tag;
	return event.flags;
}

static inline enum itrace_insn_class itrace_event_branch(uint32_t tag)
{
	struct itrace_event event;
	event.tag = tag;
	return (enum itrace_insn_class)event.branch;
}

/* Stable name of a cause of a gap ("no-memory", "overflow" ...), and one line on what to do about it. Never NULL. */
const char *itrace_gap_name(enum itrace_gap gap);
const char *itrace_gap_remedy(enum itrace_gap gap);

/* Gaps that hold two sides: what the trace says (end) and what the image says (number). */
static inline bool itrace_gap_is_contradiction(unsigned int gap)
{
	return gap >= ITRACE_GAP_TARGET_DIFFERS && gap <= ITRACE_GAP_NO_WAY;
}

/* Name of an exception type as Arm writes it ("IRQ", "Call", "SVC" ...); "Reserved" where it has none. Never NULL. */
const char *itrace_exception_name(bool m_profile, unsigned int type);

#endif /* OPENOCD_ITRACE_EVENT_H */
