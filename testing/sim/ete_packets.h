/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Bytes of the single packets, and the state that their compression needs: address history, last timestamp.
 * Each function appends one packet (and perhaps an Ignore packet before it). What the packets mean is in ete_encoder.c.
 */

#ifndef ETE_PACKETS_H
#define ETE_PACKETS_H

#include "ete_encoder.h"

struct ete_packets {
	struct sim_buffer *out;		/* not owned */
	struct ete_config config;
	struct ete_rates rates;
	struct sim_random random;
	struct {
		uint64_t address;
		bool is1;
	} history[3];
	uint64_t timestamp;		/* last one, 0 after Trace Info */
	struct ete_context last_context;
	bool context_sent;
};

/** Packets that hold a target address; the value is added to the header of target address packets. */
enum ete_address_use {
	ETE_ADDRESS_TARGET,
	ETE_ADDRESS_SOURCE,
	ETE_ADDRESS_OF_EXCEPTION,	/* as target, but nothing may come before it */
};

void ete_put_async(struct ete_packets *p);
/** Also resets the history and the timestamp. */
void ete_put_trace_info(struct ete_packets *p, unsigned int spec, bool in_transaction);
void ete_put_header(struct ete_packets *p, uint8_t header);
void ete_put_bytes2(struct ete_packets *p, uint8_t a, uint8_t b);
/** Header and an unsigned LE128 number. */
void ete_put_number(struct ete_packets *p, uint8_t header, uint32_t number);
/** @a cycles < 0: without cycle count. */
void ete_put_timestamp(struct ete_packets *p, uint64_t timestamp, int32_t cycles);
void ete_put_address(struct ete_packets *p, enum ete_address_use use, uint64_t address, enum sim_isa isa);
void ete_put_context(struct ete_packets *p, const struct ete_context *context, bool exception);
void ete_put_address_context(struct ete_packets *p, uint64_t address, enum sim_isa isa,
		const struct ete_context *context, bool exception);
/** Q with count (0: unknown); @a following: the address is left to the next packet, which the caller must put. */
void ete_put_q(struct ete_packets *p, unsigned int count, uint64_t address, enum sim_isa isa, bool following);
/** True if a Q packet can hold the address. */
bool ete_q_can_hold(const struct ete_packets *p, uint64_t address);
/** The address that follows is put by the caller; @a e is 1 or 2. */
void ete_put_exception(struct ete_packets *p, unsigned int e, unsigned int type, bool fault_pending);
/** PE Reset (type 0) or Transaction Failure (0x18): complete packets that push address 0. */
void ete_put_exception_special(struct ete_packets *p, unsigned int type);
/** @a cycles < 0: unknown. @a commit only used if COMMOPT=0; any value up to MaxSpecDepth. */
void ete_put_cycle_count(struct ete_packets *p, int32_t cycles, unsigned int commit);
void ete_put_instrumentation(struct ete_packets *p, unsigned int el, uint64_t value);

/** Write one atom packet for the oldest of @a n atoms. @returns how many it holds. */
unsigned int ete_put_atoms(struct ete_packets *p, const uint8_t *atoms, unsigned int n);

#endif
