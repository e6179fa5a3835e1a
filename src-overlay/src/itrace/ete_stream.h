/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The stream of packets of one trace unit: chunks of bytes in, resolved packets out.
 *
 * It finds the first A-Sync, holds a packet that is split between two chunks, and resolves what packets send
 * incompletely: addresses (history), timestamps, counts (threshold). It never loses its place by itself: after a
 * reserved header it goes on with the next byte, and says so.
 */

#ifndef OPENOCD_ITRACE_ETE_STREAM_H
#define OPENOCD_ITRACE_ETE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addr_history.h"
#include "ete_config.h"
#include "ete_packet.h"
#include "ledger.h"

struct itrace_ete_stream {
	const struct itrace_ete_config *config;
	struct itrace_ledger *ledger;	/* bytes and packets are counted here; may be NULL */
	const uint8_t *pos;		/* next byte of the chunk */
	const uint8_t *end;
	uint64_t end_off;		/* offset in the trace of @c end */
	struct itrace_addr_history history;
	uint64_t timestamp;
	uint32_t cycle_threshold;
	bool synced;
	bool seen_sync;			/* an A-Sync has been found since init */
	bool timestamp_valid;
	bool finished;
	/* bytes of a packet that began in an earlier chunk; while not synchronised: bytes that may be part of an A-Sync */
	uint32_t held_len;
	uint32_t held_done;		/* of them already handed out: dropped at the next call */
	uint32_t zeros;			/* not synchronised: zeros at the end of held */
	uint8_t held[ITRACE_PACKET_LEN_MAX];
	uint64_t held_off[ITRACE_PACKET_LEN_MAX];	/* chunks need not be adjacent */
};

/* Where in the trace the next byte of the chunk is. */
static inline uint64_t itrace_ete_stream_off(const struct itrace_ete_stream *stream, const uint8_t *pos)
{
	return stream->end_off - (uint64_t)(stream->end - pos);
}

/* @a config and @a ledger (may be NULL) stay the caller's and must live as long as the stream. */
void itrace_ete_stream_init(struct itrace_ete_stream *stream, const struct itrace_ete_config *config,
		struct itrace_ledger *ledger);

/*
 * Give the next @a len bytes (0 is allowed), whose first has the offset @a off in the trace. They stay the caller's and
 * must stay until itrace_ete_stream_next() has returned 0. Call only then.
 */
void itrace_ete_stream_feed(struct itrace_ete_stream *stream, uint64_t off, const uint8_t *bytes, size_t len);

/* No more bytes will come: what is held becomes an INCOMPLETE packet (NOT_SYNC when not synchronised). */
void itrace_ete_stream_finish(struct itrace_ete_stream *stream);

/*
 * Up to @a n packets (n >= 1), with off, bytes, addresses and timestamps resolved.
 * packet.bytes is valid until the next call.
 * @returns how many; 0: give more bytes, or (after finish) the end.
 */
unsigned int itrace_ete_stream_next(struct itrace_ete_stream *stream, struct itrace_ete_packet *packets,
		unsigned int n);

/*
 * Forget everything but the configuration and the ledger; the next bytes need a new A-Sync. Bytes that were given and
 * are not handed out yet count as not synchronised.
 */
void itrace_ete_stream_reset(struct itrace_ete_stream *stream);

/* Look for the next A-Sync byte by byte, from behind the packet that was handed out last. Call after a batch of one. */
void itrace_ete_stream_resync(struct itrace_ete_stream *stream);

#endif /* OPENOCD_ITRACE_ETE_STREAM_H */
