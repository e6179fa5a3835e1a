// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/*
 * Any bytes as an MTB's registers, buffer, seams and program. Held: no fault, an end in bounded time, a ledger that
 * balances, that the bytes of the ring are each decoded once, and that each seam is given once.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <itrace/mtb_flow.h>
#include <itrace/mtb_ring.h>
#include <itrace/text.h>

#define HEAD_LEN		44u
#define BLOCK_NUM		64u
#define CODE_ADDR		0x1000u
/* a range is at most 64 KiB: at most one event for each of its halfwords, and a few for the packet itself */
#define EVENTS_PER_PACKET	(ITRACE_MTB_RANGE_MAX / 2 + 8)

static struct itrace_mtb_flow flow;
static struct itrace_image image;
static struct itrace_block blocks[BLOCK_NUM];
static struct itrace_ledger ledger;
static uint64_t event_count;

static uint32_t word(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static void drain(unsigned int n)
{
	struct itrace_event events[16];
	char line[ITRACE_TEXT_MAX];
	unsigned int got;

	while ((got = itrace_mtb_flow_next(&flow, events, n))) {
		event_count += got;
		for (unsigned int i = 0; i < got; i++) {
			if (itrace_text_event(&events[i], true, line, sizeof(line)) >= sizeof(line))
				abort();
			if (itrace_text_event_opencsd(0, &events[i], line, sizeof(line)) >= sizeof(line))
				abort();
		}
	}
}

static void list_packets(const uint8_t *bytes, size_t len)
{
	struct itrace_mtb_packet packet = { .off = len };
	char line[ITRACE_TEXT_MAX];

	for (size_t pos = 0; itrace_mtb_packet_read(bytes + pos, len - pos, &packet) > 0; pos += ITRACE_MTB_PACKET_LEN)
		if (itrace_text_mtb_packet(&packet, line, sizeof(line)) >= sizeof(line) ||
				itrace_text_mtb_element(&packet, line, sizeof(line)) >= sizeof(line))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct itrace_mtb_ring ring;

	if (size < HEAD_LEN)
		return 0;
	const struct itrace_mtb_registers regs = {
		.position = word(data), .master = word(data + 4), .base = word(data + 8), .aw = data[12], .given = data[13],
	};
	const bool has_addr = data[14] & 1;
	const uint8_t *bytes = data + HEAD_LEN;
	const size_t len = size - HEAD_LEN;
	if (itrace_mtb_ring_find(&ring, &regs, has_addr, word(data + 16), len) != ITRACE_MTB_RING_OK)
		return 0;
	uint64_t sum = 0;
	for (unsigned int i = 0; i < ring.piece_count; i++) {
		sum += ring.pieces[i].len;
		if (ring.pieces[i].off > len || ring.pieces[i].len > len - ring.pieces[i].off)
			abort();
	}

	/* several at one place, in front of the first packet and behind the last; in a ring, too */
	struct itrace_seam seams[4];
	uint64_t seam_off = 0;
	for (unsigned int i = 0; i < 4; i++) {
		seam_off += data[39 + i] >> 2;
		seams[i] = (struct itrace_seam){
			.off = seam_off, .has_pc = data[39 + i] & 1, .pc = CODE_ADDR + (word(data + 20) >> 4 * i & 0xff),
		};
	}
	const struct itrace_mtb_hints hints = {
		.wrapped = ring.wrapped, .has_pc_arm = data[15] & 1, .has_pc_halt = data[15] & 2, .has_vtor = data[15] & 4,
		.pc_arm = word(data + 20), .pc_halt = word(data + 24), .vtor = word(data + 28),
		.seams = seams, .seam_count = data[43] % 5,
	};
	const struct itrace_segment segments[] = {
		{ CODE_ADDR, len, bytes, ITRACE_SPACE_ANY, 0 },
		{ word(data + 32), len, bytes, ITRACE_SPACE_ANY, 1 },
	};
	itrace_image_init(&image, segments, 2, NULL, NULL);
	itrace_ledger_init(&ledger);
	itrace_mtb_flow_init(&flow, &hints, &image, blocks, 1u << data[36] % 7, &ledger);
	event_count = 0;
	const unsigned int n = 1 + data[37] % 16;
	for (unsigned int i = 0; i < ring.piece_count; i++) {
		const uint64_t off = ring.pieces[i].off, all = ring.pieces[i].len;
		const uint64_t cut = data[38] < all ? data[38] : all;
		itrace_mtb_flow_feed(&flow, off, bytes + off, (size_t)cut);
		drain(n);
		itrace_mtb_flow_feed(&flow, off + cut, bytes + off + cut, (size_t)(all - cut));
		drain(n);
		list_packets(bytes + off, (size_t)all);
	}
	itrace_mtb_flow_finish(&flow);
	drain(n);
	if (!itrace_ledger_balances(&ledger) || ledger.trace_len != sum || ledger.decoded_len + ledger.partial_len != sum ||
			ledger.event_count[ITRACE_EVENT_SEAM] != hints.seam_count ||
			event_count > EVENTS_PER_PACKET * (sum / ITRACE_MTB_PACKET_LEN + 2))
		abort();
	return 0;
}
