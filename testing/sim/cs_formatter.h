/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * CoreSight formatter: mixes the bytes of several trace sources into 16 byte frames, as the hardware does for a trace
 * buffer or a trace port, with the synchronisation that belongs to the port.
 * Source of the rules: CoreSight Architecture Specification, formatter; described in the project's protocol reference.
 */

#ifndef CS_FORMATTER_H
#define CS_FORMATTER_H

#include "sim_buffer.h"

enum cs_framing {
	CS_FRAMING_RAW,		/* no frames */
	CS_FRAMING_MEMORY,	/* aligned frames, as in a trace buffer */
	CS_FRAMING_TPIU,	/* frames with full syncs between them */
	CS_FRAMING_TPIU_HSYNC,	/* and half syncs between any two halfwords */
	CS_FRAMING_DSTREAM,	/* as TPIU, in blocks of 512 bytes whose last 8 are no trace */
	CS_FRAMING_NUM
};

struct cs_source {
	uint8_t id;		/* 1..0x6f */
	const uint8_t *data;	/* not owned */
	size_t len;
};

/** How often (per mille) the formatter makes choices that real ones make. */
struct cs_rates {
	unsigned int switch_source;	/* per byte: another source goes on */
	unsigned int null_bytes;	/* per byte: some padding (ID 0) */
	unsigned int repeat_id;		/* an ID byte that changes nothing */
	unsigned int late_id;		/* an ID that is effective after the next byte, where both are possible */
	unsigned int fsync;		/* per frame; there always is one at the start */
	unsigned int hsync;		/* per halfword, between frames as well as in them */
};

/**
 * Format the sources. Each source's bytes keep their order; all are written.
 * @param out Frames are appended.
 */
void cs_format(const struct cs_source *sources, unsigned int count, enum cs_framing framing,
		const struct cs_rates *rates, struct sim_random *random, struct sim_buffer *out);

#endif
