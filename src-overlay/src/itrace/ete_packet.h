/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One packet of the ETE / ETMv4 instruction trace stream: bytes in, one value struct out. No state.
 *
 * Source: DDI 0487 chapter D5 (ETE), IHI 0064 chapter 6 (ETMv4).
 */

#ifndef OPENOCD_ITRACE_ETE_PACKET_H
#define OPENOCD_ITRACE_ETE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ete_config.h"
#include "status.h"

/* In the order of the header byte map, as far as it has one. */
enum itrace_packet_kind {
	ITRACE_PACKET_NOT_SYNC,		/* bytes before an A-Sync; made by the stream, not by a header */
	ITRACE_PACKET_INCOMPLETE,	/* the input ended inside this packet; made by the stream */
	ITRACE_PACKET_BAD_SEQUENCE,
	ITRACE_PACKET_RESERVED,
	ITRACE_PACKET_RESERVED_CFG,
	ITRACE_PACKET_EXTENSION,	/* header 00; becomes one of the next three */
	ITRACE_PACKET_ASYNC,
	ITRACE_PACKET_DISCARD,
	ITRACE_PACKET_OVERFLOW,
	ITRACE_PACKET_TRACE_INFO,
	ITRACE_PACKET_TIMESTAMP,
	ITRACE_PACKET_TRACE_ON,
	ITRACE_PACKET_FUNCTION_RETURN,
	ITRACE_PACKET_EXCEPTION,
	ITRACE_PACKET_PE_RESET,
	ITRACE_PACKET_TRANSACTION_FAIL,
	ITRACE_PACKET_EXCEPTION_RETURN,
	ITRACE_PACKET_INSTRUMENTATION,
	ITRACE_PACKET_TRANSACTION_START,
	ITRACE_PACKET_TRANSACTION_COMMIT,
	ITRACE_PACKET_CYCLES_F1,
	ITRACE_PACKET_CYCLES_F2,
	ITRACE_PACKET_CYCLES_F3,
	ITRACE_PACKET_SYNC_NUMBERED,
	ITRACE_PACKET_SYNC_UNNUMBERED,
	ITRACE_PACKET_COMMIT,
	ITRACE_PACKET_CANCEL_F1,
	ITRACE_PACKET_CANCEL_F1_MISPREDICT,
	ITRACE_PACKET_MISPREDICT,
	ITRACE_PACKET_CANCEL_F2,
	ITRACE_PACKET_CANCEL_F3,
	ITRACE_PACKET_COND_INSTR_F1,
	ITRACE_PACKET_COND_INSTR_F2,
	ITRACE_PACKET_COND_INSTR_F3,
	ITRACE_PACKET_COND_FLUSH,
	ITRACE_PACKET_COND_RESULT_F1,
	ITRACE_PACKET_COND_RESULT_F2,
	ITRACE_PACKET_COND_RESULT_F3,
	ITRACE_PACKET_COND_RESULT_F4,
	ITRACE_PACKET_IGNORE,
	ITRACE_PACKET_EVENT,
	ITRACE_PACKET_CONTEXT,
	ITRACE_PACKET_ADDR_CONTEXT_32_IS0,
	ITRACE_PACKET_ADDR_CONTEXT_32_IS1,
	ITRACE_PACKET_ADDR_CONTEXT_64_IS0,
	ITRACE_PACKET_ADDR_CONTEXT_64_IS1,
	ITRACE_PACKET_MARKER,
	ITRACE_PACKET_ADDR_MATCH,
	ITRACE_PACKET_ADDR_SHORT_IS0,
	ITRACE_PACKET_ADDR_SHORT_IS1,
	ITRACE_PACKET_ADDR_32_IS0,
	ITRACE_PACKET_ADDR_32_IS1,
	ITRACE_PACKET_ADDR_64_IS0,
	ITRACE_PACKET_ADDR_64_IS1,
	ITRACE_PACKET_Q,
	ITRACE_PACKET_SOURCE_MATCH,
	ITRACE_PACKET_SOURCE_SHORT_IS0,
	ITRACE_PACKET_SOURCE_SHORT_IS1,
	ITRACE_PACKET_SOURCE_32_IS0,
	ITRACE_PACKET_SOURCE_32_IS1,
	ITRACE_PACKET_SOURCE_64_IS0,
	ITRACE_PACKET_SOURCE_64_IS1,
	ITRACE_PACKET_ATOM_F1,
	ITRACE_PACKET_ATOM_F2,
	ITRACE_PACKET_ATOM_F3,
	ITRACE_PACKET_ATOM_F4,
	ITRACE_PACKET_ATOM_F5,
	ITRACE_PACKET_ATOM_F6,
	ITRACE_PACKET_NUM
};

/* Target addresses, with or without context; source addresses; atoms: kinds that are handled alike. */
static inline bool itrace_packet_is_address(unsigned int kind)
{
	return kind >= ITRACE_PACKET_ADDR_CONTEXT_32_IS0 && kind <= ITRACE_PACKET_ADDR_64_IS1 &&
		kind != ITRACE_PACKET_MARKER;
}

static inline bool itrace_packet_is_source(unsigned int kind)
{
	return kind >= ITRACE_PACKET_SOURCE_MATCH && kind <= ITRACE_PACKET_SOURCE_64_IS1;
}

static inline bool itrace_packet_is_atoms(unsigned int kind)
{
	return kind >= ITRACE_PACKET_ATOM_F1 && kind <= ITRACE_PACKET_ATOM_F6;
}

/* flags of struct itrace_ete_packet */
#define ITRACE_PKT_ADDR		0x0001u	/* has an address (part): addr, addr_bits, is */
#define ITRACE_PKT_CONTEXT	0x0002u	/* has context info: info, and by its bits vmid, cid (0 where their size is 0) */
#define ITRACE_PKT_CONTEXT_SAME	0x0004u	/* context packet that says: unchanged */
#define ITRACE_PKT_CYCLES	0x0008u	/* has a cycle count: cycles */
#define ITRACE_PKT_CYCLES_UNKNOWN 0x0010u
#define ITRACE_PKT_COMMIT	0x0020u	/* number = P0 elements to commit */
#define ITRACE_PKT_CANCEL	0x0040u	/* number = P0 elements to cancel */
#define ITRACE_PKT_MISPREDICT	0x0080u
#define ITRACE_PKT_COUNT	0x0100u	/* Q: number = instructions */
#define ITRACE_PKT_ADDR_FOLLOWS	0x0200u	/* Q, exception: the next address packet belongs to it */
#define ITRACE_PKT_MATCHES_TARGET 0x0400u /* exception: address is also the target of the last P0 element */
#define ITRACE_PKT_FAULT_PENDING 0x0800u
#define ITRACE_PKT_SPEC		0x1000u	/* trace info: the speculation depth was given: cid */

#define ITRACE_PACKET_LEN_MAX	64	/* longer ones (absurd Trace Info extensions) are ITRACE_BAD_SEQUENCE */

/*
 * The fields that a kind has; the others are undefined, so that a packet costs no more stores than it has fields.
 * off, bytes and resolved addresses are filled by the stream (ete_stream.h).
 */
struct itrace_ete_packet {
	uint64_t off;		/* byte offset of the first byte in the trace */
	uint64_t addr;		/* ADDR: as sent (low addr_bits bits; match: index of the history entry); absolute once
				 * resolved. TIMESTAMP: the value, likewise. INSTRUMENTATION: the payload */
	const uint8_t *bytes;	/* len bytes, valid until the next call */
	union {
		struct {
			uint16_t flags;		/* ITRACE_PKT_... */
			uint8_t kind;		/* enum itrace_packet_kind */
			uint8_t addr_bits;	/* ADDR: how many low bits were sent: 8, 9, 16, 17, 32, 64; 0 = exact match.
						 * TIMESTAMP: 7 .. 64 */
			uint8_t is;		/* ADDR: instruction set bit, 0 or 1 */
			uint8_t atom_count;	/* atoms, also those in cancel and mispredict packets; 0 = none */
			uint8_t info;		/* context info byte; exception level of INSTRUMENTATION; EVENT: mask;
						 * TRACE_INFO: INFO[7:0]; exact match (also in Q): the history entry */
			uint8_t intended;	/* INCOMPLETE, BAD_SEQUENCE, RESERVED...: the kind it began as */
		};
		uint64_t small;	/* all of these at once: ITRACE_PACKET_SMALL */
	};
	uint32_t atoms;		/* bit n = atom n, oldest first; 1 = E */
	uint32_t number;	/* COMMIT, CANCEL, COUNT; exception type; TRACE_INFO: INFO; markers, conditional: value */
	uint32_t cycles;	/* cycle count (formats 1 to 3: the stream adds the threshold); TRACE_INFO: threshold */
	uint32_t vmid;
	uint32_t cid;		/* context ID; TRACE_INFO: speculation depth if SPEC */
	uint32_t len;		/* bytes of the packet */
};

/* The small fields of a packet as one word, so that a row of a table becomes a packet with one store. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ITRACE_PACKET_SMALL(flags, kind, addr_bits, is, atom_count, info) \
	((uint64_t)(flags) << 48 | (uint64_t)(kind) << 40 | (uint64_t)(addr_bits) << 32 | (uint64_t)(is) << 24 | \
	(uint64_t)(atom_count) << 16 | (uint64_t)(info) << 8)
#else
#define ITRACE_PACKET_SMALL(flags, kind, addr_bits, is, atom_count, info) \
	((uint64_t)(flags) | (uint64_t)(kind) << 16 | (uint64_t)(addr_bits) << 24 | (uint64_t)(is) << 32 | \
	(uint64_t)(atom_count) << 40 | (uint64_t)(info) << 48)
#endif

/*
 * Read the packet at @a bytes. The stream is assumed to be at a packet boundary.
 * @param len bytes that may be read, at least 1
 * @returns its length (1 .. ITRACE_PACKET_LEN_MAX) and *packet filled, or
 *   ITRACE_NEED_MORE: the packet goes on behind @a len (kind is set to what it is);
 *   and these, with *packet filled (kind RESERVED, RESERVED_CFG or BAD_SEQUENCE; len = bytes to skip):
 *   ITRACE_RESERVED, ITRACE_RESERVED_CFG, ITRACE_BAD_SEQUENCE.
 */
int itrace_ete_packet_read(const struct itrace_ete_config *config, const uint8_t *bytes, size_t len,
		struct itrace_ete_packet *packet);

/* The kind that header byte @a header begins in this configuration (EXTENSION for 00; RESERVED, RESERVED_CFG). */
enum itrace_packet_kind itrace_ete_packet_kind(const struct itrace_ete_config *config, uint8_t header);

/* Name of a kind as in OpenCSD's listings ("I_ATOM_F1"), and in plain words ("atom format 1"). Never NULL. */
const char *itrace_packet_opencsd_name(enum itrace_packet_kind kind);
const char *itrace_packet_name(enum itrace_packet_kind kind);

#endif /* OPENOCD_ITRACE_ETE_PACKET_H */
