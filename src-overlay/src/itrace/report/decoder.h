/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The decoder of one trace ID: core objects with their storage, and where what they make goes.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODER_H
#define OPENOCD_ITRACE_REPORT_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ete_flow.h"
#include "../ledger.h"
#include "../mtb_flow.h"
#include "output.h"

/* A listing of a layer below flow events. */
enum itrace_tap {
	ITRACE_TAP_NONE,
	ITRACE_TAP_PACKETS,
	ITRACE_TAP_OPENCSD_PACKETS,
	ITRACE_TAP_ELEMENTS
};

struct itrace_decoder {
	struct itrace_ete_config config;
	struct itrace_image image;
	struct itrace_segment *segments;	/* owned */
	struct itrace_ledger ledger;
	enum itrace_tap tap;
	struct itrace_output *out;		/* of the tap */
	unsigned int packet_id;			/* as OpenCSD's packet lines show it */
	uint64_t element_count;			/* that the tap has listed */
	bool unsynced;				/* the tap's last packet was not synchronised */
	bool unsynced_listed;			/* one such packet was listed */
	uint64_t unsynced_off, unsynced_len;	/* bytes of those that follow it and were not listed */
	bool has_flow;
	unsigned int batch;			/* events that are asked of the flow at a time */
	struct itrace_ete_stream stream;	/* of a packet tap */
	struct itrace_ete_elements elements;	/* of an element tap */
	struct itrace_ete_flow flow;
	struct itrace_mtb_flow mtb;		/* in place of flow */
	bool is_mtb;
	uint8_t held[ITRACE_MTB_PACKET_LEN];	/* of a tap of MTB packets: one that a chunk ended in */
	unsigned int held_len;
	uint64_t held_off;
	struct itrace_block *blocks;		/* owned */
	/*
	 * Where events go. @returns false to stop: then nothing more is decoded.
	 */
	bool (*emit)(void *ctx, struct itrace_decoder *decoder, const struct itrace_event *events, unsigned int n);
	void *ctx;
	bool stopped;
};

struct itrace_decoder_setup {
	enum itrace_protocol protocol;
	enum itrace_profile profile;
	enum itrace_arch arch;
	struct itrace_ete_registers regs;
	const struct itrace_mtb_hints *mtb;	/* protocol MTB, which has no regs */
	struct itrace_segment *segments;	/* goes over to the decoder; may be NULL */
	size_t segment_count;
	itrace_image_read *read;		/* live memory; may be NULL */
	void *read_ctx;
	size_t block_count;			/* of the block cache; a power of two */
	enum itrace_tap tap;
	struct itrace_output *out;
	unsigned int packet_id;
	bool has_flow;				/* false: only the tap */
	bool split_at_n;
	bool one_by_one;			/* decode nothing behind the event at which emit says stop (slower) */
	bool is_further;			/* not the first input: it begins with "reset", not with "init" */
	bool (*emit)(void *ctx, struct itrace_decoder *decoder, const struct itrace_event *events, unsigned int n);
	void *ctx;
};

/*
 * @param[out] why on failure one line about registers or memory
 * @returns NULL on failure; the segments are then freed.
 */
struct itrace_decoder *itrace_decoder_new(const struct itrace_decoder_setup *setup, char *why, size_t why_size);

/* @param decoder may be NULL */
void itrace_decoder_free(struct itrace_decoder *decoder);

/* The next bytes, as itrace_ete_flow_feed(); everything that follows from them has been handed on when it returns. */
void itrace_decoder_feed(struct itrace_decoder *decoder, uint64_t off, const uint8_t *bytes, size_t len);

/*
 * Bytes are missing here (bad frame): a gap of cause @a gap at @a off; decoding goes on at the next A-Sync. Not of an
 * MTB, whose trace has neither.
 */
void itrace_decoder_break(struct itrace_decoder *decoder, enum itrace_gap gap, uint64_t off);

/* The input has ended. */
void itrace_decoder_finish(struct itrace_decoder *decoder);

#endif /* OPENOCD_ITRACE_REPORT_DECODER_H */
