/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * CoreSight formatter frames: 16 bytes that carry the bytes of up to 111 trace IDs.
 *
 * Frames come memory aligned (ETB, ETR: no syncs), with full syncs (FF FF FF 7F between frames), with half syncs too
 * (FF 7F between any two halfwords of a frame, TPIU continuous mode), or in DSTREAM blocks (512 bytes, the last 8 a
 * footer; full syncs).
 * Source: CoreSight Architecture Specification (IHI 0029) chapter D4.
 */

#ifndef OPENOCD_ITRACE_CS_FRAME_H
#define OPENOCD_ITRACE_CS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum itrace_framing {
	ITRACE_FRAMING_RAW,		/* not framed */
	ITRACE_FRAMING_CORESIGHT,	/* memory aligned frames */
	ITRACE_FRAMING_TPIU,		/* frames with full and half syncs */
	ITRACE_FRAMING_DSTREAM,		/* 512-byte blocks of 504 bytes of frames with full syncs, 8 bytes of footer */
	ITRACE_FRAMING_NUM
};

#define ITRACE_ID_NONE	0xffu	/* before the first ID */
#define ITRACE_ID_NUM	0x80u

/* A run of bytes of one trace ID. */
struct itrace_frame_run {
	uint64_t off;		/* of its first byte, by the index rule below */
	const uint8_t *bytes;	/* valid until the next call of itrace_cs_frame_next() */
	uint8_t len;		/* 1 .. 16 */
	uint8_t id;		/* 0x01 .. 0x6f sources; also 0 padding, 0x70 .. 0x7e reserved. RAW: ITRACE_ID_NONE */
};

/*
 * Every byte that was fed is in just one of: frames (16 bytes each), sync_len_total, error_len, itrace_cs_frame_rest().
 */
struct itrace_cs_frame {
	enum itrace_framing framing;
	uint8_t id;			/* current, ITRACE_ID_NONE before the first */
	bool synced;			/* TPIU, DSTREAM: a full sync was found */
	uint8_t frame[16];
	uint64_t frame_off;		/* of its first byte */
	uint8_t frame_len;		/* bytes of it so far */
	uint8_t run_count, run_next;
	uint8_t half;			/* TPIU, DSTREAM: first byte of a halfword whose second is not there yet */
	bool half_held;
	uint64_t half_off;		/* its offset */
	uint8_t sync_len;		/* synced: 2 after FF FF between frames; else FF bytes read in a row, up to 3 */
	uint16_t block_len;		/* DSTREAM: bytes of the current block that are passed */
	struct itrace_frame_run runs[8];
	uint8_t data[16];		/* what the runs point to */
	const uint8_t *pos, *end;
	uint64_t off;			/* of pos */
	uint64_t frame_count;		/* complete frames */
	uint64_t sync_len_total;	/* bytes of syncs, footers and bytes passed in search of a full sync */
	uint64_t no_id_len;		/* bytes of frames before the first ID, which are handed to nobody */
	uint64_t error_count;		/* frames thrown away */
	uint64_t error_len;		/* their bytes */
	uint64_t error_off;		/* offset of the last one */
	uint64_t id_len[ITRACE_ID_NUM];	/* bytes by ID */
};

void itrace_cs_frame_init(struct itrace_cs_frame *frame, enum itrace_framing framing);

/* Give the next bytes; they must stay until itrace_cs_frame_next() has returned 0. Any split is allowed. */
void itrace_cs_frame_feed(struct itrace_cs_frame *frame, uint64_t off, const uint8_t *bytes, size_t len);

#define ITRACE_FRAME_JOIN	(-2)

/*
 * The next run.
 * @returns 1 with *run filled; 0: give more bytes; -1: a frame was thrown away because of a bad sync in it or an
 * impossible ID (0x7f, an even byte FF); error_off tells where. The current ID is then unknown. Call again: aligned
 * frames go on with the next frame, the others search the next full sync.
 *
 * ITRACE_FRAME_JOIN: an aligned frame of four full syncs, which perf writes where two captures meet: what came
 * before has
 * no continuation here (error_off tells where). The current ID is unknown, too.
 *
 * Index rule (OpenCSD's): the first run of a frame has the frame's offset; an ID change at pair n starts a run with the
 * offset frame + 2n, and byte k of a run counts as run + k.
 */
int itrace_cs_frame_next(struct itrace_cs_frame *frame, struct itrace_frame_run *run);

/* Bytes of a frame (or of a sync between frames) that was not complete at the end of the input (0 .. 15). */
unsigned int itrace_cs_frame_rest(const struct itrace_cs_frame *frame);

#endif /* OPENOCD_ITRACE_CS_FRAME_H */
