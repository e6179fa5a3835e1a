// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * CoreSight formatter frames. See cs_frame.h.
 *
 * Bytes 0 .. 14 of a frame are payload, byte 15 holds the bit 0 of the even ones. An even byte with bit 0 set is a new
 * ID; the auxiliary bit of its pair says whether the odd byte behind it still belongs to the old one.
 */

#include <string.h>

#include "cs_frame.h"

#define FRAME_LEN	16u
#define RAW_RUN_LEN	16u
#define BLOCK_LEN	512u	/* of DSTREAM */
#define BLOCK_DATA_LEN	504u
#define SYNC_FF		0xffu	/* the ID it would be, 0x7f, is impossible for this reason */
#define SYNC_END	0x7fu

static const uint8_t four_syncs[FRAME_LEN] = {
	0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f
};

void itrace_cs_frame_init(struct itrace_cs_frame *frame, enum itrace_framing framing)
{
	memset(frame, 0, sizeof(*frame));
	frame->framing = framing;
	frame->id = ITRACE_ID_NONE;
}

void itrace_cs_frame_feed(struct itrace_cs_frame *frame, uint64_t off, const uint8_t *bytes, size_t len)
{
	frame->pos = bytes;
	frame->end = len ? bytes + len : bytes;
	frame->off = off;
}

static void frame_pass(struct itrace_cs_frame *frame, size_t len)
{
	frame->pos += len;
	frame->off += len;
}

static void frame_add_run(struct itrace_cs_frame *frame, uint8_t id, uint64_t off, unsigned int start, unsigned int end)
{
	if (id == ITRACE_ID_NONE) {
		frame->no_id_len += end - start;
		return;
	}

	struct itrace_frame_run *run = &frame->runs[frame->run_count++];
	run->off = off;
	run->bytes = frame->data + start;
	run->len = (uint8_t)(end - start);
	run->id = id;
	frame->id_len[id] += run->len;
}

/* A frame in which the ID changes. */
static void frame_decode_ids(struct itrace_cs_frame *frame, const uint8_t *bytes, uint64_t off)
{
	uint8_t *data = frame->data;
	unsigned int aux = bytes[15];
	uint64_t run_off = off;
	unsigned int start = 0;
	unsigned int len = 0;
	uint8_t id = frame->id;

	for (unsigned int pair = 0; pair < 7; pair++, aux >>= 1) {
		uint8_t even = bytes[2 * pair];
		uint8_t odd = bytes[2 * pair + 1];

		if (!(even & 1)) {
			data[len++] = even | (aux & 1);
			data[len++] = odd;
			continue;
		}
		if (even >> 1 == id) {
			data[len++] = odd;
			continue;
		}
		if (aux & 1)
			data[len++] = odd;
		if (len > start) {
			frame_add_run(frame, id, run_off, start, len);
			start = len;
			run_off = off + 2 * pair;
		}
		id = even >> 1;
		if (!(aux & 1))
			data[len++] = odd;
	}

	if (!(bytes[14] & 1))
		data[len++] = bytes[14] | (aux & 1);
	if (len > start)
		frame_add_run(frame, id, run_off, start, len);
	if (bytes[14] & 1)
		id = bytes[14] >> 1;
	frame->id = id;
}

/* A complete frame without impossible IDs. */
static void frame_decode(struct itrace_cs_frame *frame, const uint8_t *bytes, uint64_t off)
{
	frame->frame_count++;
	frame->run_next = 0;
	frame->run_count = 0;

	if ((bytes[0] | bytes[2] | bytes[4] | bytes[6] | bytes[8] | bytes[10] | bytes[12] | bytes[14]) & 1) {
		frame_decode_ids(frame, bytes, off);
		return;
	}

	memcpy(frame->data, bytes, FRAME_LEN);
	for (unsigned int pair = 0; pair < 8; pair++)
		frame->data[2 * pair] |= bytes[15] >> pair & 1;
	frame_add_run(frame, frame->id, off, 0, FRAME_LEN - 1);
}

static bool frame_has_ff(const uint8_t *bytes)
{
	return bytes[0] == SYNC_FF || bytes[2] == SYNC_FF || bytes[4] == SYNC_FF || bytes[6] == SYNC_FF ||
		bytes[8] == SYNC_FF || bytes[10] == SYNC_FF || bytes[12] == SYNC_FF || bytes[14] == SYNC_FF;
}

static void frame_throw(struct itrace_cs_frame *frame, uint64_t off, unsigned int len)
{
	frame->error_count++;
	frame->error_len += len;
	frame->error_off = off;
	frame->id = ITRACE_ID_NONE;
}

/* Move on by at most one frame. @returns 0, or -1 when a frame was thrown away. */
static int frame_next_aligned(struct itrace_cs_frame *frame)
{
	const uint8_t *bytes = frame->pos;
	uint64_t off = frame->off;

	if (frame->frame_len || frame->end - frame->pos < (ptrdiff_t)FRAME_LEN) {
		size_t len = FRAME_LEN - frame->frame_len;
		if (len > (size_t)(frame->end - frame->pos))
			len = (size_t)(frame->end - frame->pos);
		if (!frame->frame_len)
			frame->frame_off = off;
		memcpy(frame->frame + frame->frame_len, frame->pos, len);
		frame->frame_len += (uint8_t)len;
		frame_pass(frame, len);
		if (frame->frame_len < FRAME_LEN)
			return 0;
		frame->frame_len = 0;
		bytes = frame->frame;
		off = frame->frame_off;
	} else {
		frame_pass(frame, FRAME_LEN);
	}

	if (!frame_has_ff(bytes)) {
		frame_decode(frame, bytes, off);
		return 0;
	}
	if (!memcmp(bytes, four_syncs, FRAME_LEN)) {
		const bool joins = frame->id != ITRACE_ID_NONE;
		frame->sync_len_total += FRAME_LEN;
		frame->id = ITRACE_ID_NONE;
		frame->error_off = off;
		return joins ? ITRACE_FRAME_JOIN : 0;
	}
	frame_throw(frame, off, FRAME_LEN);
	return -1;
}

/* Search a full sync: the next byte. */
static void frame_search(struct itrace_cs_frame *frame, uint8_t byte)
{
	frame->sync_len_total++;
	if (byte == SYNC_FF) {
		if (frame->sync_len < 3)
			frame->sync_len++;
		return;
	}
	if (byte == SYNC_END && frame->sync_len == 3) {
		frame->synced = true;
		frame->frame[FRAME_LEN - 1] = 0;
	}
	frame->sync_len = 0;
}

/*
 * The halfword @a even, @a odd cannot stand where it does: give up the frame. The bytes themselves, with those of a
 * begun sync or an FF before them, may be the next full sync, even at an odd offset.
 */
static void frame_lose_sync(struct itrace_cs_frame *frame, uint8_t even, uint8_t odd)
{
	uint8_t last = frame->frame[frame->frame_len ? frame->frame_len - 1u : FRAME_LEN - 1];

	frame_throw(frame, frame->frame_len || frame->sync_len ? frame->frame_off : frame->half_off, frame->frame_len);
	frame->synced = false;
	frame->sync_len_total += frame->sync_len;
	if (last == SYNC_FF)
		frame->sync_len++;
	frame->frame_len = 0;

	frame_search(frame, even);
	if (frame->synced) {
		frame->half = odd;
		frame->half_held = true;
		frame->half_off = frame->off - 1;
	} else {
		frame_search(frame, odd);
	}
}

/* One halfword in synchronism, at half_off. @returns 0, or -1 when a frame was thrown away. */
static int frame_halfword(struct itrace_cs_frame *frame, uint8_t even, uint8_t odd)
{
	if (frame->sync_len) {
		if (even != SYNC_FF || odd != SYNC_END) {
			frame_lose_sync(frame, even, odd);
			return -1;
		}
		frame->sync_len_total += 4;
		frame->sync_len = 0;
		frame->frame[FRAME_LEN - 1] = 0;
		return 0;
	}

	if (even == SYNC_FF) {
		if (odd == SYNC_END && frame->framing == ITRACE_FRAMING_TPIU) {
			frame->sync_len_total += 2;
			return 0;
		}
		if (odd == SYNC_FF && !frame->frame_len) {
			frame->frame_off = frame->half_off;
			frame->sync_len = 2;
			return 0;
		}
		frame_lose_sync(frame, even, odd);
		return -1;
	}

	if (!frame->frame_len)
		frame->frame_off = frame->half_off;
	frame->frame[frame->frame_len++] = even;
	frame->frame[frame->frame_len++] = odd;
	if (frame->frame_len == FRAME_LEN) {
		frame->frame_len = 0;
		frame_decode(frame, frame->frame, frame->frame_off);
	}
	return 0;
}

/* Move on within the next @a len bytes until there are runs. @returns 0, or -1 when a frame was thrown away. */
static int frame_next_synced(struct itrace_cs_frame *frame, size_t len)
{
	const uint8_t *end = frame->pos + len;

	while (frame->pos < end && frame->run_next == frame->run_count) {
		if (!frame->synced) {
			frame_search(frame, *frame->pos);
			frame_pass(frame, 1);
			continue;
		}

		if (frame->half_held) {
			uint8_t odd = *frame->pos;
			frame_pass(frame, 1);
			frame->half_held = false;
			if (frame_halfword(frame, frame->half, odd))
				return -1;
			continue;
		}

		if (!frame->frame_len && !frame->sync_len && end - frame->pos >= (ptrdiff_t)FRAME_LEN &&
				!frame_has_ff(frame->pos)) {
			frame->frame[FRAME_LEN - 1] = frame->pos[FRAME_LEN - 1];
			frame_decode(frame, frame->pos, frame->off);
			frame_pass(frame, FRAME_LEN);
			continue;
		}

		frame->half = *frame->pos;
		frame->half_off = frame->off;
		frame->half_held = true;
		frame_pass(frame, 1);
	}
	return 0;
}

/* Move on within the current part of a DSTREAM block: data or footer. */
static int frame_next_dstream(struct itrace_cs_frame *frame)
{
	bool data = frame->block_len < BLOCK_DATA_LEN;
	size_t len = (data ? BLOCK_DATA_LEN : BLOCK_LEN) - frame->block_len;
	int result = 0;

	if (len > (size_t)(frame->end - frame->pos))
		len = (size_t)(frame->end - frame->pos);

	const uint8_t *start = frame->pos;
	if (data) {
		result = frame_next_synced(frame, len);
	} else {
		frame->sync_len_total += len;
		frame_pass(frame, len);
	}
	frame->block_len += (uint16_t)(frame->pos - start);
	frame->block_len %= BLOCK_LEN;
	return result;
}

static void frame_next_raw(struct itrace_cs_frame *frame, struct itrace_frame_run *run)
{
	size_t len = (size_t)(frame->end - frame->pos);

	if (len > RAW_RUN_LEN)
		len = RAW_RUN_LEN;
	run->off = frame->off;
	run->bytes = frame->pos;
	run->len = (uint8_t)len;
	run->id = ITRACE_ID_NONE;
	frame_pass(frame, len);
}

int itrace_cs_frame_next(struct itrace_cs_frame *frame, struct itrace_frame_run *run)
{
	for (;;) {
		int result;

		if (frame->run_next < frame->run_count) {
			*run = frame->runs[frame->run_next++];
			return 1;
		}
		if (frame->pos == frame->end)
			return 0;

		switch (frame->framing) {
		case ITRACE_FRAMING_RAW:
			frame_next_raw(frame, run);
			return 1;
		case ITRACE_FRAMING_CORESIGHT:
			result = frame_next_aligned(frame);
			break;
		case ITRACE_FRAMING_DSTREAM:
			result = frame_next_dstream(frame);
			break;
		default:
			result = frame_next_synced(frame, (size_t)(frame->end - frame->pos));
			break;
		}
		if (result)
			return result;
	}
}

unsigned int itrace_cs_frame_rest(const struct itrace_cs_frame *frame)
{
	if (frame->framing == ITRACE_FRAMING_CORESIGHT)
		return frame->frame_len;
	return frame->synced ? frame->frame_len + frame->half_held + frame->sync_len : 0;
}
