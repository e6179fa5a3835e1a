// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Our side: libitrace's flow and packet layers as a program would call them.
 */

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "ete_flow.h"
#include "ete_stream.h"
#include "ledger.h"

#define OURS_EVENT_NUM	32
#define OURS_PACKET_NUM	16

struct bench_ours {
	struct itrace_ete_config config;
	struct itrace_image image;
	struct itrace_ledger ledger;
	bool with_ledger;
	struct itrace_block *blocks;
	size_t block_count;
	struct itrace_ete_flow flow;
	struct itrace_ete_stream stream;
};

struct bench_ours *bench_ours_new(const struct bench_program *program, size_t block_count, bool with_ledger)
{
	struct bench_ours *ours = bench_alloc(sizeof(*ours));
	const char *why = NULL;
	if (itrace_ete_config_init(&ours->config, program->protocol, program->profile, program->arch, &program->regs, &why))
		bench_fail("configuration: %s", why ? why : "refused");
	itrace_image_init(&ours->image, program->segments, program->segment_count, NULL, NULL);
	itrace_ledger_init(&ours->ledger);
	ours->with_ledger = with_ledger;
	ours->block_count = block_count;
	ours->blocks = bench_alloc(block_count * sizeof(ours->blocks[0]));
	return ours;
}

void bench_ours_delete(struct bench_ours *ours)
{
	free(ours->blocks);
	free(ours);
}

static inline void ours_pull(struct bench_ours *ours, struct bench_count *count, bool check)
{
	struct itrace_event events[OURS_EVENT_NUM];
	struct bench_count sum = *count;	/* in registers */
	unsigned int n;
	while ((n = itrace_ete_flow_next(&ours->flow, events, OURS_EVENT_NUM))) {
		for (unsigned int i = 0; i < n; i++) {
			const struct itrace_event *event = &events[i];
			if (event->kind == ITRACE_EVENT_RANGE) {
				sum.range_count++;
				sum.instruction_count += event->count;
				if (check)
					bench_hash_range(&sum.hash, event->addr, event->end, event->count,
						event->flags & ITRACE_EVENT_EXECUTED);
			} else if (check && (event->kind == ITRACE_EVENT_EXCEPTION || event->kind == ITRACE_EVENT_EXCEPTION_RETURN
					|| event->kind == ITRACE_EVENT_CONTEXT || event->kind == ITRACE_EVENT_TRACE_ON)) {
				sum.exception_count++;
			}
		}
	}
	*count = sum;
}

static inline void ours_decode(struct bench_ours *ours, const uint8_t *bytes, size_t len, unsigned int copies,
		struct bench_count *count, bool check)
{
	memset(count, 0, sizeof(*count));
	/* everything is decoded anew: nothing is kept from the last pass */
	itrace_ete_flow_init(&ours->flow, &ours->config, &ours->image, ours->blocks, ours->block_count,
		ours->with_ledger ? &ours->ledger : NULL);
	uint64_t off = 0;
	for (unsigned int i = 0; i < copies; i++) {
		for (size_t pos = 0; pos < len; pos += BENCH_CHUNK_LEN) {
			size_t left = len - pos;
			itrace_ete_flow_feed(&ours->flow, off + pos, bytes + pos,
				left < BENCH_CHUNK_LEN ? left : BENCH_CHUNK_LEN);
			ours_pull(ours, count, check);
		}
		off += len;
	}
	itrace_ete_flow_finish(&ours->flow);
	ours_pull(ours, count, check);
}

void bench_ours_decode(struct bench_ours *ours, const uint8_t *bytes, size_t len, unsigned int copies,
		struct bench_count *count)
{
	ours_decode(ours, bytes, len, copies, count, false);
}

void bench_ours_check(struct bench_ours *ours, const uint8_t *bytes, size_t len, unsigned int copies,
		struct bench_count *count)
{
	ours_decode(ours, bytes, len, copies, count, true);
}

static void ours_packet_hash(uint64_t *hash, const struct itrace_ete_packet *packet)
{
	bench_hash(hash, packet->off);
	if (packet->kind >= ITRACE_PACKET_ATOM_F1)
		bench_hash(hash, (uint64_t)packet->atom_count << 32 | packet->atoms);
	else if (packet->flags & ITRACE_PKT_ADDR)
		bench_hash(hash, packet->addr);
}

static inline void ours_packets(struct bench_ours *ours, const uint8_t *bytes, size_t len, struct bench_count *count,
		bool check)
{
	struct itrace_ete_packet packets[OURS_PACKET_NUM];
	memset(count, 0, sizeof(*count));
	itrace_ete_stream_init(&ours->stream, &ours->config, ours->with_ledger ? &ours->ledger : NULL);
	for (size_t pos = 0; pos < len; pos += BENCH_CHUNK_LEN) {
		size_t left = len - pos;
		itrace_ete_stream_feed(&ours->stream, pos, bytes + pos, left < BENCH_CHUNK_LEN ? left : BENCH_CHUNK_LEN);
		unsigned int n;
		while ((n = itrace_ete_stream_next(&ours->stream, packets, OURS_PACKET_NUM))) {
			count->packet_count += n;
			for (unsigned int i = 0; check && i < n; i++)
				ours_packet_hash(&count->hash, &packets[i]);
		}
	}
	itrace_ete_stream_finish(&ours->stream);
	count->packet_count += itrace_ete_stream_next(&ours->stream, packets, OURS_PACKET_NUM);
}

void bench_ours_packets(struct bench_ours *ours, const uint8_t *bytes, size_t len, struct bench_count *count)
{
	ours_packets(ours, bytes, len, count, false);
}

void bench_ours_packets_check(struct bench_ours *ours, const uint8_t *bytes, size_t len, struct bench_count *count)
{
	ours_packets(ours, bytes, len, count, true);
}
