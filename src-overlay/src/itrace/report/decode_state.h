/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What belongs to one decode from its options to its ledger. Inner header of the parts of decode_run.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODE_STATE_H
#define OPENOCD_ITRACE_REPORT_DECODE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ledger.h"
#include "decode_io.h"
#include "decode_options.h"
#include "decode_plan.h"
#include "decoder.h"
#include "disassembly.h"
#include "live_memory.h"
#include "mouth.h"
#include "output.h"
#include "program.h"
#include "selection.h"
#include "snapshot.h"
#include "symbols.h"

#define ITRACE_UNMAPPED_TOLD	4u	/* so many destinations without code are told, the rest are gaps only */

struct itrace_decode_pass;

struct itrace_decode_state {
	const struct itrace_decode_io *io;
	const char *dash;
	struct itrace_decode_options options;
	enum itrace_format format;

	struct itrace_snapshot *snapshot;
	struct itrace_plan plan;
	struct itrace_symbols *symbols;
	struct itrace_disassembly *disassembly;
	struct itrace_program program;
	struct itrace_live_memory live;
	bool have_live;

	struct itrace_output out;
	struct itrace_mouth *listing;	/* NULL: only a tap */
	struct itrace_mouth *btrace;	/* NULL: not asked for */
	struct itrace_selection_rules rules;
	struct itrace_selection selection;
	bool selecting;
	bool interleaved;		/* the streams of a buffer are listed as they come */
	struct itrace_decoder *current;	/* interleaved: whose line was last */
	struct itrace_decode_pass *pass;	/* that is running */

	struct itrace_ledger ledger;	/* sum of all streams */
	uint64_t selected_count;	/* instructions handed to the mouths */
	uint64_t event_count;		/* events handed to the mouths, but for what only frames them */
	uint64_t element_count;		/* listed by element taps */
	uint64_t last_addr;		/* of the last instruction of the last range */
	bool last_branched;		/* nothing came since that range, and it ended with a taken branch */
	uint64_t unmapped[ITRACE_UNMAPPED_TOLD];	/* where to branches went that were told */
	unsigned int unmapped_count;
	unsigned int isas;		/* that ran: bits 1 << enum itrace_isa */

	uint64_t start_ms, poll_ms, progress_ms;
	uint64_t weight;		/* instructions since the clock was looked at */
	uint64_t read_len;		/* bytes of trace that were read in this pass */
	const char *stop_reason;	/* NULL: go on */
	bool begun;			/* everything could be opened: there is a ledger */
	bool failed;			/* an error that was told */
};

/* Tell an error; the decode has then failed. @returns false */
bool itrace_decode_fail(struct itrace_decode_state *run, const char *text);

/* Begin to count time. */
void itrace_decode_start_clock(struct itrace_decode_state *run);

/*
 * Look at the clock: time-out, poll, progress. @a ctx is the struct; as a function for itrace_plan_make().
 * @returns true when the decode is to stop
 */
bool itrace_decode_tick(void *ctx);

/* The buffer of stream number @a stream of the plan. */
struct itrace_plan_buffer *itrace_decode_buffer(const struct itrace_decode_state *run, size_t stream);

/* What of the layers below events the format lists. */
enum itrace_tap itrace_decode_tap(enum itrace_format format);

/*
 * All the code that a stream's decoder may see, in the order in which it is searched: the dumps of the snapshot (what
 * was in memory when the trace was made), then the files. The array is the caller's to free().
 * @returns false without memory; that has been told.
 */
bool itrace_decode_code(struct itrace_decode_state *run, size_t stream, struct itrace_segment **segments,
		size_t *count);

#endif /* OPENOCD_ITRACE_REPORT_DECODE_STATE_H */
