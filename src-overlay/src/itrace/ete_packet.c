// SPDX-License-Identifier: GPL-2.0-or-later

#include "ete_packet.h"

#include <string.h>

#include "ete_packet_fast.h"

#define LE128_LEN_MAX	5	/* bytes that a 32-bit number can take */
#define ASYNC_ZEROS	11
#define EXCEPTION_PE_RESET		0x00
#define EXCEPTION_TRANSACTION_FAIL	0x18
#define CONTEXT_VMID	0x40u	/* context info: a virtual context ID follows */
#define CONTEXT_CID	0x80u	/* then a context ID follows */

/* Shorthands, for this table only. */
#define P(kind)	ITRACE_PACKET_ ## kind
#define RSVD	ITRACE_PACKET_RESERVED

/*
 * Who owns each header byte, when everything is configured; itrace_ete_packet_kind() takes away what the configuration
 * does not have. The second table of the atoms stands in ete_packet_fast.h.
 */
static const uint8_t header_kind[256] = {
	/* 00 */ P(EXTENSION), P(TRACE_INFO), P(TIMESTAMP), P(TIMESTAMP),
	/* 04 */ P(TRACE_ON), P(FUNCTION_RETURN), P(EXCEPTION), P(EXCEPTION_RETURN),
	/* 08 */ RSVD, P(INSTRUMENTATION), P(TRANSACTION_START), P(TRANSACTION_COMMIT),
	/* 0c */ P(CYCLES_F2), P(CYCLES_F2), P(CYCLES_F1), P(CYCLES_F1),
	/* 10 */ P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3),
	/* 14 */ P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3),
	/* 18 */ P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3),
	/* 1c */ P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3), P(CYCLES_F3),
	/* 20 */ P(SYNC_NUMBERED), P(SYNC_NUMBERED), P(SYNC_NUMBERED), P(SYNC_NUMBERED),
	/* 24 */ P(SYNC_NUMBERED), P(SYNC_NUMBERED), P(SYNC_NUMBERED), P(SYNC_NUMBERED),
	/* 28 */ P(SYNC_UNNUMBERED), P(SYNC_UNNUMBERED), P(SYNC_UNNUMBERED), P(SYNC_UNNUMBERED),
	/* 2c */ P(SYNC_UNNUMBERED), P(COMMIT), P(CANCEL_F1), P(CANCEL_F1_MISPREDICT),
	/* 30 */ P(MISPREDICT), P(MISPREDICT), P(MISPREDICT), P(MISPREDICT),
	/* 34 */ P(CANCEL_F2), P(CANCEL_F2), P(CANCEL_F2), P(CANCEL_F2),
	/* 38 */ P(CANCEL_F3), P(CANCEL_F3), P(CANCEL_F3), P(CANCEL_F3),
	/* 3c */ P(CANCEL_F3), P(CANCEL_F3), P(CANCEL_F3), P(CANCEL_F3),
	/* 40 */ P(COND_INSTR_F2), P(COND_INSTR_F2), P(COND_INSTR_F2), P(COND_FLUSH),
	/* 44 */ P(COND_RESULT_F4), P(COND_RESULT_F4), P(COND_RESULT_F4), RSVD,
	/* 48 */ P(COND_RESULT_F2), P(COND_RESULT_F2), P(COND_RESULT_F2), RSVD,
	/* 4c */ P(COND_RESULT_F2), P(COND_RESULT_F2), P(COND_RESULT_F2), RSVD,
	/* 50 */ P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3),
	/* 54 */ P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3),
	/* 58 */ P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3),
	/* 5c */ P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3), P(COND_RESULT_F3),
	/* 60 */ RSVD, RSVD, RSVD, RSVD, RSVD, RSVD, RSVD, RSVD,
	/* 68 */ P(COND_RESULT_F1), P(COND_RESULT_F1), P(COND_RESULT_F1), P(COND_RESULT_F1),
	/* 6c */ P(COND_INSTR_F1), P(COND_INSTR_F3), P(COND_RESULT_F1), P(COND_RESULT_F1),
	/* 70 */ P(IGNORE), P(EVENT), P(EVENT), P(EVENT), P(EVENT), P(EVENT), P(EVENT), P(EVENT),
	/* 78 */ P(EVENT), P(EVENT), P(EVENT), P(EVENT), P(EVENT), P(EVENT), P(EVENT), P(EVENT),
	/* 80 */ P(CONTEXT), P(CONTEXT), P(ADDR_CONTEXT_32_IS0), P(ADDR_CONTEXT_32_IS1),
	/* 84 */ RSVD, P(ADDR_CONTEXT_64_IS0), P(ADDR_CONTEXT_64_IS1), RSVD,
	/* 88 */ P(MARKER), RSVD, RSVD, RSVD, RSVD, RSVD, RSVD, RSVD,
	/* 90 */ P(ADDR_MATCH), P(ADDR_MATCH), P(ADDR_MATCH), RSVD, RSVD, P(ADDR_SHORT_IS0), P(ADDR_SHORT_IS1), RSVD,
	/* 98 */ RSVD, RSVD, P(ADDR_32_IS0), P(ADDR_32_IS1), RSVD, P(ADDR_64_IS0), P(ADDR_64_IS1), RSVD,
	/* a0 */ P(Q), P(Q), P(Q), RSVD, RSVD, P(Q), P(Q), RSVD,
	/* a8 */ RSVD, RSVD, P(Q), P(Q), P(Q), RSVD, RSVD, P(Q),
	/* b0 */ P(SOURCE_MATCH), P(SOURCE_MATCH), P(SOURCE_MATCH), RSVD,
	/* b4 */ P(SOURCE_SHORT_IS0), P(SOURCE_SHORT_IS1), P(SOURCE_32_IS0), P(SOURCE_32_IS1),
	/* b8 */ P(SOURCE_64_IS0), P(SOURCE_64_IS1), RSVD, RSVD, RSVD, RSVD, RSVD, RSVD,
	/* c0 */ P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6),
	/* c8 */ P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6),
	/* d0 */ P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F5), P(ATOM_F5), P(ATOM_F5),
	/* d8 */ P(ATOM_F2), P(ATOM_F2), P(ATOM_F2), P(ATOM_F2), P(ATOM_F4), P(ATOM_F4), P(ATOM_F4), P(ATOM_F4),
	/* e0 */ P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6),
	/* e8 */ P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6),
	/* f0 */ P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F6), P(ATOM_F5), P(ATOM_F1), P(ATOM_F1),
	/* f8 */ P(ATOM_F3), P(ATOM_F3), P(ATOM_F3), P(ATOM_F3), P(ATOM_F3), P(ATOM_F3), P(ATOM_F3), P(ATOM_F3),
};

#undef P
#undef RSVD

static enum itrace_packet_kind gate(bool open, enum itrace_packet_kind kind, enum itrace_packet_kind closed)
{
	return open ? kind : closed;
}

enum itrace_packet_kind itrace_ete_packet_kind(const struct itrace_ete_config *config, uint8_t header)
{
	const enum itrace_packet_kind kind = (enum itrace_packet_kind)header_kind[header];
	const bool ete = config->protocol == ITRACE_PROTOCOL_ETE;

	switch (kind) {
	case ITRACE_PACKET_FUNCTION_RETURN:
		return gate(!ete && config->profile == ITRACE_PROFILE_M && config->arch >= ITRACE_ARCH_V8 &&
				config->version >= 0x42, kind, ITRACE_PACKET_RESERVED);
	case ITRACE_PACKET_EXCEPTION_RETURN:
		return gate(!ete, kind, ITRACE_PACKET_RESERVED_CFG);
	case ITRACE_PACKET_INSTRUMENTATION:
		return gate(config->version >= 0x53, kind, ITRACE_PACKET_RESERVED);
	case ITRACE_PACKET_TRANSACTION_START:
	case ITRACE_PACKET_TRANSACTION_COMMIT:
	case ITRACE_PACKET_SOURCE_MATCH:
	case ITRACE_PACKET_SOURCE_SHORT_IS0:
	case ITRACE_PACKET_SOURCE_SHORT_IS1:
	case ITRACE_PACKET_SOURCE_32_IS0:
	case ITRACE_PACKET_SOURCE_32_IS1:
	case ITRACE_PACKET_SOURCE_64_IS0:
	case ITRACE_PACKET_SOURCE_64_IS1:
		return gate(ete, kind, ITRACE_PACKET_RESERVED);
	case ITRACE_PACKET_SYNC_NUMBERED:
	case ITRACE_PACKET_SYNC_UNNUMBERED:
		return gate(config->data_trace, kind, ITRACE_PACKET_RESERVED_CFG);
	case ITRACE_PACKET_COND_INSTR_F1:
	case ITRACE_PACKET_COND_INSTR_F2:
	case ITRACE_PACKET_COND_INSTR_F3:
	case ITRACE_PACKET_COND_FLUSH:
	case ITRACE_PACKET_COND_RESULT_F1:
	case ITRACE_PACKET_COND_RESULT_F2:
	case ITRACE_PACKET_COND_RESULT_F3:
	case ITRACE_PACKET_COND_RESULT_F4:
		return gate(config->conditional, kind, ITRACE_PACKET_RESERVED_CFG);
	case ITRACE_PACKET_IGNORE:
		return gate(config->version >= 0x43, kind, ITRACE_PACKET_RESERVED);
	case ITRACE_PACKET_MARKER:
		return gate(config->version >= 0x46, kind, ITRACE_PACKET_RESERVED);
	case ITRACE_PACKET_Q:
		return gate(config->q_elements, kind, ITRACE_PACKET_RESERVED);
	default:
		return kind;
	}
}

/* What is left to read of a packet. Once a read failed, status says why and later reads do nothing. */
struct reader {
	const uint8_t *pos;
	const uint8_t *end;
	int status;
};

static uint8_t read_byte(struct reader *r)
{
	if (r->status)
		return 0;
	if (r->pos == r->end) {
		r->status = ITRACE_NEED_MORE;
		return 0;
	}
	return *r->pos++;
}

/* Unsigned little-endian base 128, at most 32 bits of it. */
static uint32_t read_le128(struct reader *r)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < LE128_LEN_MAX; i++) {
		uint8_t byte = read_byte(r);
		if (r->status)
			return 0;
		value |= (uint32_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return value;
	}
	r->status = ITRACE_BAD_SEQUENCE;
	return 0;
}

static uint64_t read_le(struct reader *r, unsigned int len)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < len; i++)
		value |= (uint64_t)read_byte(r) << (8 * i);
	return value;
}

static void read_extension(struct reader *r, struct itrace_ete_packet *packet)
{
	uint8_t byte = read_byte(r);

	if (r->status)
		return;
	if (byte == 0x03) {
		packet->kind = ITRACE_PACKET_DISCARD;
	} else if (byte == 0x05) {
		packet->kind = ITRACE_PACKET_OVERFLOW;
	} else if (byte) {
		r->status = ITRACE_BAD_SEQUENCE;
	} else {
		packet->kind = ITRACE_PACKET_ASYNC;
		for (unsigned int zeros = 2; zeros < ASYNC_ZEROS && !r->status; zeros++)
			if (read_byte(r))
				r->status = ITRACE_BAD_SEQUENCE;
		if (read_byte(r) != 0x80 && !r->status)
			r->status = ITRACE_BAD_SEQUENCE;
	}
}

static void read_trace_info(struct reader *r, struct itrace_ete_packet *packet)
{
	uint8_t control = read_byte(r);

	/* further control bytes have no meaning yet */
	for (uint8_t more = control; (more & 0x80) && !r->status;)
		more = read_byte(r);
	packet->number = 0;
	packet->cid = 0;
	packet->cycles = 0;
	if (control & 0x01)
		packet->number = read_le128(r);
	if (control & 0x02)
		read_le128(r);		/* P0 key: data trace only */
	if (control & 0x04) {
		packet->cid = read_le128(r);
		packet->flags |= ITRACE_PKT_SPEC;
	}
	if (control & 0x08)
		packet->cycles = read_le128(r);
	if (control & 0x10)
		read_le128(r);		/* commit window */
	packet->info = (uint8_t)packet->number;
}

static void read_timestamp(const struct itrace_ete_config *config, struct reader *r, uint8_t header,
		struct itrace_ete_packet *packet)
{
	uint64_t value = 0;
	unsigned int bits = 0;

	for (;;) {
		uint8_t byte = read_byte(r);
		if (bits == 56) {
			/* the ninth byte holds eight bits */
			value |= (uint64_t)byte << bits;
			bits = 64;
			break;
		}
		value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
		if (!(byte & 0x80))
			break;
	}
	packet->addr = value;
	packet->addr_bits = (uint8_t)bits;
	if (header & 1) {
		packet->cycles = read_le128(r) & config->cycle_mask;
		packet->flags |= ITRACE_PKT_CYCLES;
	}
}

static void read_exception(const struct itrace_ete_config *config, struct reader *r, struct itrace_ete_packet *packet)
{
	uint8_t byte = read_byte(r);
	uint8_t type = (byte >> 1) & 0x1f;

	packet->number = type;
	if (r->status)
		return;
	/* a PE Reset or Transaction Failure of ETE has three bytes, whether it says so or not, and no address */
	const bool no_addr = config->protocol == ITRACE_PROTOCOL_ETE && (type == EXCEPTION_PE_RESET ||
			type == EXCEPTION_TRANSACTION_FAIL);
	if (no_addr || byte & 0x80) {
		uint8_t more = read_byte(r);
		if (byte & 0x80)
			packet->number |= (uint32_t)(more & 0x1f) << 5;
		if (byte & 0x80 && more & 0x20 && config->profile == ITRACE_PROFILE_M)
			packet->flags |= ITRACE_PKT_FAULT_PENDING;
	}
	if (no_addr && packet->number == type) {
		packet->kind = type == EXCEPTION_PE_RESET ? ITRACE_PACKET_PE_RESET : ITRACE_PACKET_TRANSACTION_FAIL;
		return;
	}
	/* E: 01 the return address follows, 10 it is the target of the branch before, too; the others are reserved */
	const unsigned int e = (byte >> 5 & 2) | (byte & 1);
	if (!r->status && (e == 0 || e == 3))
		r->status = ITRACE_BAD_SEQUENCE;
	packet->flags |= ITRACE_PKT_ADDR_FOLLOWS;
	if (e == 2)
		packet->flags |= ITRACE_PKT_MATCHES_TARGET;
}

/* The commit number that a cycle count packet carries is performed before the count. */
static void set_commit(struct itrace_ete_packet *packet, uint32_t number)
{
	packet->flags |= ITRACE_PKT_COMMIT;
	packet->number = number;
}

static void read_cycles_f1(const struct itrace_ete_config *config, struct reader *r, uint8_t header,
		struct itrace_ete_packet *packet)
{
	if (config->commit_in_cc)
		set_commit(packet, read_le128(r));
	packet->cycles = 0;
	if (header & 1) {
		packet->flags |= ITRACE_PKT_CYCLES_UNKNOWN;
	} else {
		packet->flags |= ITRACE_PKT_CYCLES;
		packet->cycles = read_le128(r);
	}
}

static void read_cycles_f2(const struct itrace_ete_config *config, struct reader *r, uint8_t header,
		struct itrace_ete_packet *packet)
{
	uint8_t byte = read_byte(r);
	uint32_t commit = byte >> 4;

	packet->flags |= ITRACE_PKT_CYCLES;
	packet->cycles = byte & 0x0f;
	if (!config->commit_in_cc)
		return;
	if (!(header & 1))
		set_commit(packet, commit + 1);
	else if ((uint64_t)config->max_spec_depth + commit > 15)
		set_commit(packet, config->max_spec_depth - 15 + commit);
	else
		set_commit(packet, 0);
}

static void read_context(const struct itrace_ete_config *config, struct reader *r, struct itrace_ete_packet *packet)
{
	packet->info = read_byte(r);
	packet->flags |= ITRACE_PKT_CONTEXT;
	packet->vmid = 0;
	packet->cid = 0;
	if (packet->info & CONTEXT_VMID)
		packet->vmid = (uint32_t)read_le(r, config->vmid_len);
	if (packet->info & CONTEXT_CID)
		packet->cid = (uint32_t)read_le(r, config->cid_len);
}

static void read_short(struct reader *r, unsigned int is, struct itrace_ete_packet *packet)
{
	uint8_t first = read_byte(r);
	unsigned int shift = is ? 1 : 2;

	packet->flags |= ITRACE_PKT_ADDR;
	packet->is = (uint8_t)is;
	packet->addr = (uint64_t)(first & 0x7f) << shift;
	packet->addr_bits = (uint8_t)(7 + shift);
	if (first & 0x80) {
		packet->addr |= (uint64_t)read_byte(r) << (7 + shift);
		packet->addr_bits = (uint8_t)(15 + shift);
	}
}

static void read_long(struct reader *r, unsigned int is, unsigned int bits, struct itrace_ete_packet *packet)
{
	uint64_t first = read_byte(r) & 0x7f;
	uint64_t second = read_byte(r);

	packet->flags |= ITRACE_PKT_ADDR;
	packet->is = (uint8_t)is;
	packet->addr_bits = (uint8_t)bits;
	packet->addr = is ? first << 1 | second << 8 : first << 2 | (second & 0x7f) << 9;
	packet->addr |= read_le(r, bits / 8 - 2) << 16;
}

static void read_match(uint8_t header, struct itrace_ete_packet *packet)
{
	packet->flags |= ITRACE_PKT_ADDR;
	packet->info = header & 3;
	packet->addr = header & 3;
	packet->addr_bits = 0;
	packet->is = 0;
}

static void read_q(struct reader *r, uint8_t header, struct itrace_ete_packet *packet)
{
	switch (header & 0x0f) {
	case 0x0:
	case 0x1:
	case 0x2:
		read_match(header, packet);
		break;
	case 0x5:
		read_short(r, 0, packet);
		break;
	case 0x6:
		read_short(r, 1, packet);
		break;
	case 0xa:
		read_long(r, 0, 32, packet);
		break;
	case 0xb:
		read_long(r, 1, 32, packet);
		break;
	case 0xc:
		packet->flags |= ITRACE_PKT_ADDR_FOLLOWS;
		break;
	default:
		packet->flags |= ITRACE_PKT_ADDR_FOLLOWS;
		return;		/* no count */
	}
	packet->flags |= ITRACE_PKT_COUNT;
	packet->number = read_le128(r);
}

/* One payload of a conditional result: a key of up to 6 bytes, whose first also holds four result bits. */
static uint32_t read_result(struct reader *r)
{
	uint8_t byte = read_byte(r);
	uint32_t value = byte & 0x7f;

	for (unsigned int i = 1; (byte & 0x80) && !r->status; i++) {
		if (i == 6) {
			r->status = ITRACE_BAD_SEQUENCE;
			break;
		}
		byte = read_byte(r);
	}
	return value;
}

static void read_conditional(struct reader *r, uint8_t header, struct itrace_ete_packet *packet)
{
	switch (packet->kind) {
	case ITRACE_PACKET_COND_INSTR_F1:
		packet->number = read_le128(r);
		break;
	case ITRACE_PACKET_COND_INSTR_F3:
		packet->number = read_byte(r);
		break;
	case ITRACE_PACKET_COND_RESULT_F1:
		packet->number = read_result(r);
		if (!(header & 4))
			packet->number |= read_result(r) << 8;
		break;
	case ITRACE_PACKET_COND_RESULT_F3:
		packet->number = (uint32_t)(header & 0x0f) << 8 | read_byte(r);
		break;
	case ITRACE_PACKET_COND_RESULT_F2:
		packet->number = header & 7;
		break;
	default:
		packet->number = header & 3;
		break;
	}
}

static void set_atoms(struct itrace_ete_packet *packet, uint32_t atoms, unsigned int count)
{
	packet->atoms = atoms;
	packet->atom_count = (uint8_t)count;
}

/* The atoms that come with mispredict and cancel format 2: none, E, EE, N. */
static void set_atoms_of_two_bits(struct itrace_ete_packet *packet, uint8_t header)
{
	static const uint8_t count[4] = { 0, 1, 2, 1 };

	set_atoms(packet, (header & 3) == 3 ? 0 : (1u << count[header & 3]) - 1, count[header & 3]);
}

static void read_cancel(struct reader *r, uint8_t header, struct itrace_ete_packet *packet)
{
	packet->flags |= ITRACE_PKT_CANCEL;
	if (packet->kind == ITRACE_PACKET_CANCEL_F1 || packet->kind == ITRACE_PACKET_CANCEL_F1_MISPREDICT) {
		packet->number = read_le128(r);
	} else if (packet->kind == ITRACE_PACKET_CANCEL_F2) {
		packet->number = 1;
		set_atoms_of_two_bits(packet, header);
	} else {
		packet->number = ((header >> 1) & 3) + 2;
		if (header & 1)
			set_atoms(packet, 1, 1);
	}
	if (packet->kind != ITRACE_PACKET_CANCEL_F1)
		packet->flags |= ITRACE_PKT_MISPREDICT;
}

/* Everything behind the header, by kind. */
static void read_payload(const struct itrace_ete_config *config, struct reader *r, uint8_t header,
		struct itrace_ete_packet *packet)
{
	switch (packet->kind) {
	case ITRACE_PACKET_EXTENSION:
		read_extension(r, packet);
		break;
	case ITRACE_PACKET_TRACE_INFO:
		read_trace_info(r, packet);
		break;
	case ITRACE_PACKET_TIMESTAMP:
		read_timestamp(config, r, header, packet);
		break;
	case ITRACE_PACKET_EXCEPTION:
		read_exception(config, r, packet);
		break;
	case ITRACE_PACKET_INSTRUMENTATION:
		packet->info = read_byte(r) & 3;
		packet->addr = read_le(r, 8);
		break;
	case ITRACE_PACKET_CYCLES_F1:
		read_cycles_f1(config, r, header, packet);
		break;
	case ITRACE_PACKET_CYCLES_F2:
		read_cycles_f2(config, r, header, packet);
		break;
	case ITRACE_PACKET_CYCLES_F3:
		packet->flags |= ITRACE_PKT_CYCLES;
		packet->cycles = header & 3;
		if (config->commit_in_cc)
			set_commit(packet, ((header >> 2) & 3) + 1);
		break;
	case ITRACE_PACKET_SYNC_NUMBERED:
	case ITRACE_PACKET_SYNC_UNNUMBERED:
		packet->number = header & 7;
		break;
	case ITRACE_PACKET_COMMIT:
		set_commit(packet, read_le128(r));
		break;
	case ITRACE_PACKET_CANCEL_F1:
	case ITRACE_PACKET_CANCEL_F1_MISPREDICT:
	case ITRACE_PACKET_CANCEL_F2:
	case ITRACE_PACKET_CANCEL_F3:
		read_cancel(r, header, packet);
		break;
	case ITRACE_PACKET_MISPREDICT:
		packet->flags |= ITRACE_PKT_MISPREDICT;
		set_atoms_of_two_bits(packet, header);
		break;
	case ITRACE_PACKET_COND_INSTR_F1:
	case ITRACE_PACKET_COND_INSTR_F2:
	case ITRACE_PACKET_COND_INSTR_F3:
	case ITRACE_PACKET_COND_RESULT_F1:
	case ITRACE_PACKET_COND_RESULT_F2:
	case ITRACE_PACKET_COND_RESULT_F3:
	case ITRACE_PACKET_COND_RESULT_F4:
		read_conditional(r, header, packet);
		break;
	case ITRACE_PACKET_EVENT:
		packet->info = header & 0x0f;
		break;
	case ITRACE_PACKET_CONTEXT:
		if (header & 1)
			read_context(config, r, packet);
		else
			packet->flags |= ITRACE_PKT_CONTEXT_SAME;
		break;
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS1:
		read_long(r, packet->kind == ITRACE_PACKET_ADDR_CONTEXT_32_IS1, 32, packet);
		read_context(config, r, packet);
		break;
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS1:
		read_long(r, packet->kind == ITRACE_PACKET_ADDR_CONTEXT_64_IS1, 64, packet);
		read_context(config, r, packet);
		break;
	case ITRACE_PACKET_ADDR_MATCH:
	case ITRACE_PACKET_SOURCE_MATCH:
		read_match(header, packet);
		break;
	case ITRACE_PACKET_ADDR_SHORT_IS0:
	case ITRACE_PACKET_SOURCE_SHORT_IS0:
		read_short(r, 0, packet);
		break;
	case ITRACE_PACKET_ADDR_SHORT_IS1:
	case ITRACE_PACKET_SOURCE_SHORT_IS1:
		read_short(r, 1, packet);
		break;
	case ITRACE_PACKET_ADDR_32_IS0:
	case ITRACE_PACKET_SOURCE_32_IS0:
		read_long(r, 0, 32, packet);
		break;
	case ITRACE_PACKET_ADDR_32_IS1:
	case ITRACE_PACKET_SOURCE_32_IS1:
		read_long(r, 1, 32, packet);
		break;
	case ITRACE_PACKET_ADDR_64_IS0:
	case ITRACE_PACKET_SOURCE_64_IS0:
		read_long(r, 0, 64, packet);
		break;
	case ITRACE_PACKET_ADDR_64_IS1:
	case ITRACE_PACKET_SOURCE_64_IS1:
		read_long(r, 1, 64, packet);
		break;
	case ITRACE_PACKET_Q:
		read_q(r, header, packet);
		break;
	case ITRACE_PACKET_ATOM_F1:
	case ITRACE_PACKET_ATOM_F2:
	case ITRACE_PACKET_ATOM_F3:
	case ITRACE_PACKET_ATOM_F4:
	case ITRACE_PACKET_ATOM_F5:
	case ITRACE_PACKET_ATOM_F6:
		set_atoms(packet, itrace_atoms_table[header - ITRACE_ATOM_HEADER].bits,
			itrace_atoms_table[header - ITRACE_ATOM_HEADER].count);
		break;
	case ITRACE_PACKET_RESERVED:
		r->status = ITRACE_RESERVED;
		break;
	case ITRACE_PACKET_RESERVED_CFG:
		r->status = ITRACE_RESERVED_CFG;
		break;
	default:
		break;		/* nothing but a header */
	}
}

int itrace_ete_packet_read(const struct itrace_ete_config *config, const uint8_t *bytes, size_t len,
		struct itrace_ete_packet *packet)
{
	/* so that "need more" and "too long" are told apart */
	size_t readable = len > ITRACE_PACKET_LEN_MAX ? ITRACE_PACKET_LEN_MAX : len;
	struct reader r = { bytes + 1, bytes + readable, ITRACE_OK };

	const enum itrace_packet_kind kind = itrace_ete_packet_kind(config, bytes[0]);
	packet->kind = (uint8_t)kind;
	packet->intended = packet->kind == ITRACE_PACKET_RESERVED_CFG ? header_kind[bytes[0]] : packet->kind;
	packet->flags = 0;
	packet->atom_count = 0;
	read_payload(config, &r, bytes[0], packet);
	packet->len = (uint32_t)(r.pos - bytes);
	if (!r.status)
		return (int)packet->len;
	if (r.status == ITRACE_NEED_MORE) {
		if (readable < ITRACE_PACKET_LEN_MAX)
			return ITRACE_NEED_MORE;
		r.status = ITRACE_BAD_SEQUENCE;
	}
	if (r.status == ITRACE_BAD_SEQUENCE) {
		packet->intended = packet->kind;
		packet->kind = ITRACE_PACKET_BAD_SEQUENCE;
	}
	return r.status;
}
