// SPDX-License-Identifier: GPL-2.0-or-later

#include "ete_stream.h"

#include <string.h>

#include "ete_packet_fast.h"

#define ASYNC_LEN	12
#define ASYNC_ZEROS	11
#define NOT_SYNC_LEN	8	/* bytes in one NOT_SYNC packet, so that the result does not depend on the chunks */

void itrace_ete_stream_init(struct itrace_ete_stream *stream, const struct itrace_ete_config *config,
		struct itrace_ledger *ledger)
{
	memset(stream, 0, sizeof(*stream));
	stream->config = config;
	stream->ledger = ledger;
}

void itrace_ete_stream_reset(struct itrace_ete_stream *stream)
{
	const uint64_t unread_len = stream->held_len - stream->held_done + (uint64_t)(stream->end - stream->pos);

	const bool seen_sync = stream->seen_sync;

	if (stream->ledger)
		stream->ledger->unsynced_len += unread_len;
	itrace_ete_stream_init(stream, stream->config, stream->ledger);
	stream->seen_sync = seen_sync;
}

void itrace_ete_stream_resync(struct itrace_ete_stream *stream)
{
	stream->synced = false;
	stream->zeros = 0;
}

void itrace_ete_stream_feed(struct itrace_ete_stream *stream, uint64_t off, const uint8_t *bytes, size_t len)
{
	stream->pos = bytes;
	stream->end = len ? bytes + len : bytes;
	stream->end_off = off + len;
	if (stream->ledger)
		stream->ledger->trace_len += len;
}

void itrace_ete_stream_finish(struct itrace_ete_stream *stream)
{
	stream->finished = true;
}

static void count(struct itrace_ete_stream *stream, const struct itrace_ete_packet *packet)
{
	struct itrace_ledger *ledger = stream->ledger;

	if (!ledger)
		return;
	ledger->packet_count[packet->kind]++;
	ledger->packet_len[packet->kind] += packet->len;
	switch (packet->kind) {
	case ITRACE_PACKET_NOT_SYNC:
		ledger->unsynced_len += packet->len;
		if (!stream->seen_sync)
			ledger->presync_len += packet->len;
		break;
	case ITRACE_PACKET_INCOMPLETE:
		ledger->unsynced_len += packet->len;
		ledger->partial_len += packet->len;
		break;
	case ITRACE_PACKET_BAD_SEQUENCE:
	case ITRACE_PACKET_RESERVED:
	case ITRACE_PACKET_RESERVED_CFG:
		ledger->skipped_len += packet->len;
		break;
	case ITRACE_PACKET_ASYNC:
	case ITRACE_PACKET_IGNORE:
		ledger->padding_len += packet->len;
		break;
	default:
		ledger->decoded_len += packet->len;
		break;
	}
}

static void resolve_addr(struct itrace_ete_stream *stream, struct itrace_ete_packet *packet)
{
	struct itrace_addr_history *history = &stream->history;

	if (packet->addr_bits) {
		packet->addr = itrace_addr_history_update(history, packet->addr, packet->addr_bits, packet->is);
	} else {
		packet->is = history->is[packet->info];
		packet->addr = history->addr[packet->info];
		itrace_addr_history_push(history, packet->addr, packet->is);
	}
}

static void resolve_timestamp(struct itrace_ete_stream *stream, struct itrace_ete_packet *packet)
{
	uint64_t mask = packet->addr_bits < 64 ? ((uint64_t)1 << packet->addr_bits) - 1 : ~(uint64_t)0;

	/* the first one behind a Trace Info holds all bits that are not zero */
	if (!stream->timestamp_valid)
		stream->timestamp = 0;
	stream->timestamp_valid = true;
	stream->timestamp = (stream->timestamp & ~mask) | (packet->addr & mask);
	packet->addr = stream->timestamp;
}

/* Fill in what the packet leaves out because the stream knows it. */
static void resolve(struct itrace_ete_stream *stream, struct itrace_ete_packet *packet)
{
	if (packet->flags & ITRACE_PKT_ADDR) {
		resolve_addr(stream, packet);
		return;
	}
	switch (packet->kind) {
	case ITRACE_PACKET_TRACE_INFO:
		itrace_addr_history_reset(&stream->history);
		stream->timestamp_valid = false;
		stream->cycle_threshold = packet->cycles;
		break;
	case ITRACE_PACKET_TIMESTAMP:
		resolve_timestamp(stream, packet);
		break;
	case ITRACE_PACKET_CYCLES_F1:
	case ITRACE_PACKET_CYCLES_F2:
	case ITRACE_PACKET_CYCLES_F3:
		if (packet->flags & ITRACE_PKT_CYCLES)
			packet->cycles += stream->cycle_threshold;
		break;
	case ITRACE_PACKET_PE_RESET:
	case ITRACE_PACKET_TRANSACTION_FAIL:
		itrace_addr_history_push(&stream->history, 0, 0);
		break;
	default:
		break;
	}
}

/* Drop the first @a n held bytes. */
static void drop_held(struct itrace_ete_stream *stream, uint32_t n)
{
	stream->held_len -= n;
	memmove(stream->held, stream->held + n, stream->held_len);
	memmove(stream->held_off, stream->held_off + n, stream->held_len * sizeof(stream->held_off[0]));
}

static void hold_byte(struct itrace_ete_stream *stream)
{
	stream->held[stream->held_len] = *stream->pos;
	stream->held_off[stream->held_len] = itrace_ete_stream_off(stream, stream->pos);
	stream->held_len++;
	stream->pos++;
}

/* A packet of the first @a len held bytes, which are dropped at the next call. */
static void take_held(struct itrace_ete_stream *stream, enum itrace_packet_kind kind, uint32_t len,
		struct itrace_ete_packet *packet)
{
	packet->kind = (uint8_t)kind;
	packet->flags = 0;
	packet->atom_count = 0;
	packet->len = len;
	packet->off = stream->held_off[0];
	packet->bytes = stream->held;
	stream->held_done = len;
	count(stream, packet);
}

/*
 * Look for an A-Sync byte by byte. Bytes are gathered in groups; zeros may begin an A-Sync, so a group ends before the
 * first of them.
 * @returns 1 with a NOT_SYNC or ASYNC packet, 0 when the chunk is used up.
 */
static int next_unsynced(struct itrace_ete_stream *stream, struct itrace_ete_packet *packet)
{
	while (stream->pos < stream->end) {
		uint8_t byte = *stream->pos;
		uint32_t before = stream->held_len - stream->zeros;
		if (byte == 0x80 && stream->zeros == ASYNC_ZEROS) {
			hold_byte(stream);
			stream->zeros = 0;
			stream->synced = true;
			stream->seen_sync = true;
			take_held(stream, ITRACE_PACKET_ASYNC, ASYNC_LEN, packet);
			return 1;
		}
		if (!byte && (before || stream->zeros == ASYNC_ZEROS)) {
			if (!before) {
				/* one zero too many: the first is none of the A-Sync */
				stream->zeros--;
				before = 1;
			}
			take_held(stream, ITRACE_PACKET_NOT_SYNC, before, packet);
			return 1;
		}
		hold_byte(stream);
		stream->zeros = byte ? 0 : stream->zeros + 1;
		if (byte && stream->held_len >= NOT_SYNC_LEN) {
			take_held(stream, ITRACE_PACKET_NOT_SYNC, stream->held_len, packet);
			return 1;
		}
	}
	return 0;
}

/* What is held at the end of the input. */
static int next_finished(struct itrace_ete_stream *stream, struct itrace_ete_packet *packet)
{
	if (!stream->held_len)
		return 0;
	if (stream->synced) {
		struct itrace_ete_packet whole;
		itrace_ete_packet_read(stream->config, stream->held, stream->held_len, &whole);
		packet->intended = whole.intended;
		take_held(stream, ITRACE_PACKET_INCOMPLETE, stream->held_len, packet);
	} else {
		take_held(stream, ITRACE_PACKET_NOT_SYNC, stream->held_len, packet);
	}
	stream->zeros = 0;
	return 1;
}

/* Go on with the packet that began in an earlier chunk. */
static int next_held(struct itrace_ete_stream *stream, struct itrace_ete_packet *packet)
{
	while (stream->pos < stream->end) {
		hold_byte(stream);
		/* one more byte may complete it; a packet never ends before the byte that was missing */
		int len = itrace_ete_packet_read(stream->config, stream->held, stream->held_len, packet);
		if (len == ITRACE_NEED_MORE)
			continue;
		packet->off = stream->held_off[0];
		packet->bytes = stream->held;
		stream->held_done = stream->held_len;
		resolve(stream, packet);
		count(stream, packet);
		return 1;
	}
	return 0;
}

static void hold_rest(struct itrace_ete_stream *stream)
{
	while (stream->pos < stream->end)
		hold_byte(stream);
}

unsigned int itrace_ete_stream_next(struct itrace_ete_stream *stream, struct itrace_ete_packet *packets,
		unsigned int n)
{
	unsigned int done = 0;

	if (stream->held_done) {
		drop_held(stream, stream->held_done);
		stream->held_done = 0;
	}
	if (!stream->synced || stream->held_len) {
		int found = stream->synced ? next_held(stream, packets) : next_unsynced(stream, packets);
		if (!found && stream->finished)
			found = next_finished(stream, packets);
		return (unsigned int)found;
	}
	const uint8_t *pos = stream->pos;
	const uint8_t *const end = stream->end;
	const uint64_t begin_off = itrace_ete_stream_off(stream, pos);
	while (done < n && pos < end) {
		struct itrace_ete_packet *packet = &packets[done];
		const struct itrace_addr_row *row;
		packet->off = begin_off + (uint64_t)(pos - stream->pos);
		packet->bytes = pos;
		if (*pos >= ITRACE_ATOM_HEADER) {
			const struct itrace_atoms *atoms = &itrace_atoms_table[*pos - ITRACE_ATOM_HEADER];
			packet->small = atoms->small;
			packet->atoms = atoms->bits;
			packet->len = 1;
		} else if ((row = itrace_addr_row(pos, (size_t)(end - pos)))) {
			uint8_t is;
			packet->addr = itrace_addr_row_read(row, pos, &stream->history, &is);
			packet->small = row->small;
			packet->is = is;
			packet->len = row->len;
		} else if (itrace_ete_packet_read(stream->config, pos, (size_t)(end - pos), packet) == ITRACE_NEED_MORE) {
			break;
		} else {
			resolve(stream, packet);
		}
		if (stream->ledger)
			count(stream, packet);
		pos += packet->len;
		done++;
	}
	stream->pos = pos;
	if (!done && stream->pos < stream->end) {
		hold_rest(stream);
		if (stream->finished)
			return (unsigned int)next_finished(stream, packets);
	}
	return done;
}
