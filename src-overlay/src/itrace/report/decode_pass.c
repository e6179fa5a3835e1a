// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cs_frame.h"
#include "decode_pass.h"
#include "listing.h"
#include "message.h"
#include "transition.h"

#define BLOCKS_ALONE	16384u	/* of the block cache of a stream that is decoded alone */
#define BLOCKS_AMONG	2048u	/* of one among many */
#define CHECK_CLOCK	20000u	/* instructions between two looks at the clock */

/* Kinds of events that only frame the others. */
#define FRAMES	(1u << ITRACE_EVENT_NO_SYNC | 1u << ITRACE_EVENT_END | 1u << ITRACE_EVENT_GAP | 1u << ITRACE_EVENT_SEAM)

/* What some events hold. */
struct sum {
	uint64_t instructions;
	unsigned int frames;
};

/* To the mouths. */
static void give(struct itrace_decode_state *run, const struct itrace_event *events, unsigned int n,
		const struct sum *sum)
{
	run->selected_count += sum->instructions;
	run->event_count += n - sum->frames;
	run->weight += 8 * (uint64_t)n;
	if (run->listing)
		itrace_mouth_events(run->listing, events, n);
	if (run->btrace)
		itrace_mouth_events(run->btrace, events, n);
	/* also at the end, where the last instructions are listed all at once */
	if (run->weight > CHECK_CLOCK)
		itrace_decode_tick(run);
}

/* What the selection lets through; n 0: it left something out. */
static void hand_on(void *ctx, const struct itrace_event *events, unsigned int n)
{
	struct itrace_decode_state *run = ctx;
	struct sum sum = { 0 };

	if (!n) {
		if (run->listing)
			itrace_mouth_left_out(run->listing);
		if (run->btrace)
			itrace_mouth_left_out(run->btrace);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE)
			sum.instructions += events[i].count;
		else
			sum.frames += FRAMES >> events[i].kind & 1;
	}
	give(run, events, n, &sum);
}

/* @returns false: it was told already, or there are too many */
static bool is_to_tell(struct itrace_decode_state *run, uint64_t addr)
{
	for (unsigned int i = 0; i < run->unmapped_count; i++)
		if (run->unmapped[i] == addr)
			return false;
	if (run->unmapped_count == ITRACE_UNMAPPED_TOLD)
		return false;
	run->unmapped[run->unmapped_count++] = addr;
	return true;
}

/*
 * The first branches to where no code is known: often the very fault that is being looked for. That known code ends, or
 * that the handler of an exception is not known, is only a gap.
 */
static void watch_unmapped(struct itrace_decode_state *run, const struct itrace_event *event)
{
	uint64_t off = 0;

	if (event->cause != ITRACE_GAP_NO_MEMORY || !run->last_branched || !is_to_tell(run, event->addr))
		return;
	const struct itrace_symbol *symbol = itrace_program_function(&run->program, run->last_addr, &off);
	if (symbol)
		itrace_warn(run->io, "branched to unmapped 0x%" PRIx64 " from 0x%" PRIx64 " <%s+0x%" PRIx64
				"> (byte %" PRIu64 ")", event->addr, run->last_addr, symbol->name, off, event->off);
	else
		itrace_warn(run->io, "branched to unmapped 0x%" PRIx64 " from 0x%" PRIx64 " (byte %" PRIu64
				")", event->addr, run->last_addr, event->off);
}

static void keep_last(struct itrace_decode_state *run, const struct itrace_event *range)
{
	if (!range)
		return;
	run->last_addr = itrace_range_last(range);
	run->last_branched = itrace_range_branched(range);
}

static void watch(struct itrace_decode_state *run, const struct itrace_event *events, unsigned int n, struct sum *sum)
{
	const struct itrace_event *range = NULL;	/* the last; only where something else comes does it matter which */
	unsigned int isas = 0, frames = 0;
	uint64_t instructions = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE) {
			range = &events[i];
			isas |= 1u << range->isa;
			instructions += range->count;
			continue;
		}
		frames += FRAMES >> events[i].kind & 1;
		if (events[i].kind == ITRACE_EVENT_GAP || events[i].kind == ITRACE_EVENT_TRACE_ON ||
				events[i].kind == ITRACE_EVENT_EXCEPTION) {
			keep_last(run, range);
			range = NULL;
			if (events[i].kind == ITRACE_EVENT_GAP)
				watch_unmapped(run, &events[i]);
			run->last_branched = false;
		}
	}
	keep_last(run, range);
	run->isas |= isas;
	run->weight += instructions;
	*sum = (struct sum){ instructions, frames };
	if (run->have_live)
		itrace_live_memory_events(&run->live, events, n);
}

/* Nobody wants more: the reader went away or the disk is full, and nothing else is being written. */
static bool is_unwanted(const struct itrace_decode_state *run)
{
	return itrace_output_stopped(&run->out) && !run->btrace;
}

static void stream_info(const struct itrace_decode_state *run, const struct itrace_decoder *decoder,
		struct itrace_stream_info *info);

static bool take_events(void *ctx, struct itrace_decoder *decoder, const struct itrace_event *events, unsigned int n)
{
	struct itrace_decode_state *run = ctx;
	struct itrace_stream_info info;
	struct sum sum;

	watch(run, events, n, &sum);
	if (run->interleaved && run->current != decoder) {
		run->current = decoder;
		stream_info(run, decoder, &info);
		itrace_mouth_begin(run->listing, &info);
	}
	if (run->selecting)
		itrace_selection_events(&run->selection, events, n);
	else
		give(run, events, n, &sum);
	if (run->weight > CHECK_CLOCK)
		itrace_decode_tick(run);
	if (run->stop_reason)
		return false;
	if (run->selecting && run->selection.done) {
		run->stop_reason = "selection";
		return false;
	}
	return !is_unwanted(run);
}

/* ---- one pass over a buffer ---- */

/* Streams first .. first + count - 1 of the plan, all of one buffer, in one pass. */
struct itrace_decode_pass {
	struct itrace_decode_state *run;
	size_t first, count;
	struct itrace_decoder **decoders;
	uint8_t by_id[ITRACE_ID_NUM];	/* number of the decoder + 1; 0: none */
	struct itrace_cs_frame frame;
	uint64_t stray_len;		/* a pipe: bytes of trace IDs that nobody decodes */
	unsigned int stray_id;
};

static bool new_decoder(struct itrace_decode_pass *pass, size_t number)
{
	struct itrace_decode_state *run = pass->run;
	size_t index = pass->first + number;
	struct itrace_plan_stream *stream = &run->plan.streams[index];
	char why[ITRACE_MESSAGE_MAX];
	struct itrace_decoder_setup setup = {
		.protocol = stream->protocol,
		.profile = stream->profile,
		.arch = stream->arch,
		.regs = stream->regs,
		.mtb = &stream->mtb.hints,
		.read = run->have_live ? itrace_live_memory_read : NULL,
		.read_ctx = &run->live,
		.block_count = pass->count > 1 ? BLOCKS_AMONG : BLOCKS_ALONE,
		.tap = itrace_decode_tap(run->format),
		.out = &run->out,
		.packet_id = stream->id == ITRACE_ID_NONE ? 0 : stream->id,
		.has_flow = run->listing || run->btrace,
		.split_at_n = run->options.src_addr_n,
		.one_by_one = run->rules.has_first || (run->rules.has_to && !run->rules.has_from),
		.is_further = stream->buffer > 0,
		.emit = take_events,
		.ctx = run,
	};

	if (!itrace_decode_code(run, index, &setup.segments, &setup.segment_count))
		return false;
	if (stream->protocol == ITRACE_PROTOCOL_MTB && setup.has_flow)
		itrace_mtb_source_vectors(&stream->mtb, run->symbols, setup.segments, setup.segment_count, run->io);
	pass->decoders[number] = itrace_decoder_new(&setup, why, sizeof(why));
	if (!pass->decoders[number]) {
		itrace_error(run->io, "%s: %s", stream->source ? stream->source :
				itrace_plan_label(itrace_decode_buffer(run, index)), why);
		run->failed = true;
		return false;
	}
	if (stream->id != ITRACE_ID_NONE)
		pass->by_id[stream->id] = (uint8_t)(number + 1);
	return true;
}

static void take_run(struct itrace_decode_pass *pass, const struct itrace_frame_run *frame_run)
{
	unsigned int number = frame_run->id < ITRACE_ID_NUM ? pass->by_id[frame_run->id] : 0;

	if (number) {
		itrace_decoder_feed(pass->decoders[number - 1], frame_run->off, frame_run->bytes, frame_run->len);
	} else if (frame_run->id >= 0x01 && frame_run->id <= 0x6f) {
		pass->stray_id = frame_run->id;
		pass->stray_len += frame_run->len;
	}
}

static void take_frames(struct itrace_decode_pass *pass, uint64_t off, const uint8_t *bytes, size_t len)
{
	struct itrace_frame_run frame_run;
	int got;

	itrace_cs_frame_feed(&pass->frame, off, bytes, len);
	while (!pass->run->stop_reason && (got = itrace_cs_frame_next(&pass->frame, &frame_run)) != 0) {
		if (got > 0) {
			take_run(pass, &frame_run);
			continue;
		}
		for (size_t i = 0; i < pass->count; i++)
			itrace_decoder_break(pass->decoders[i], got == ITRACE_FRAME_JOIN ? ITRACE_GAP_JOIN : ITRACE_GAP_FRAME,
				pass->frame.error_off);
	}
}

/*
 * Of a pipe only the beginning was searched for trace IDs. When another one comes later the answer is the same as for a
 * file: which one is meant has to be said.
 */
static bool check_stray(struct itrace_decode_pass *pass)
{
	struct itrace_decode_state *run = pass->run;
	const struct itrace_plan_buffer *buffer = itrace_decode_buffer(run, pass->first);

	if (!pass->stray_len || buffer->scanned || run->options.trace_id >= 0)
		return true;
	itrace_error(run->io, "%s holds a second trace ID, 0x%02x, from about byte %" PRIu64 " on; choose "
			"one with %strace-id or give %sall-streams", itrace_plan_label(buffer), pass->stray_id, run->read_len,
			run->dash, run->dash);
	run->failed = true;
	return false;
}

static bool all_stopped(const struct itrace_decode_pass *pass)
{
	for (size_t i = 0; i < pass->count; i++)
		if (!pass->decoders[i]->stopped)
			return false;
	return true;
}

/* The pieces of an MTB's ring, oldest first. */
static bool read_ring(struct itrace_decode_pass *pass)
{
	struct itrace_decode_state *run = pass->run;
	struct itrace_plan_buffer *buffer = itrace_decode_buffer(run, pass->first);
	const struct itrace_mtb_ring *ring = &run->plan.streams[pass->first].mtb.ring;
	char why[ITRACE_MESSAGE_MAX];
	const uint8_t *bytes;

	run->read_len = 0;
	for (unsigned int i = 0; i < ring->piece_count; i++) {
		uint64_t off = ring->pieces[i].off, left = ring->pieces[i].len;
		long len = 0;
		if (!itrace_trace_file_seek(&buffer->file, off, why, sizeof(why)))
			return itrace_decode_fail(run, why);
		while (left && !itrace_decode_tick(run) &&
				(len = itrace_trace_file_read(&buffer->file, &bytes, why, sizeof(why))) > 0) {
			const size_t part = (uint64_t)len < left ? (size_t)len : (size_t)left;
			itrace_decoder_feed(pass->decoders[0], off, bytes, part);
			off += part;
			left -= part;
			run->read_len += part;
			if (run->stop_reason || all_stopped(pass))
				return true;
		}
		if (len < 0)
			return itrace_decode_fail(run, why);
	}
	return true;
}

static bool read_pass(struct itrace_decode_pass *pass)
{
	struct itrace_decode_state *run = pass->run;
	struct itrace_plan_buffer *buffer = itrace_decode_buffer(run, pass->first);
	bool framed = buffer->framing != ITRACE_FRAMING_RAW;
	char why[ITRACE_MESSAGE_MAX];
	const uint8_t *bytes;
	long len = 0;

	if (run->plan.streams[pass->first].protocol == ITRACE_PROTOCOL_MTB)
		return read_ring(pass);
	run->read_len = 0;
	while (!itrace_decode_tick(run) && (len = itrace_trace_file_read(&buffer->file, &bytes, why, sizeof(why))) > 0) {
		uint64_t off = run->read_len;
		run->read_len += (uint64_t)len;
		if (framed)
			take_frames(pass, off, bytes, (size_t)len);
		else
			itrace_decoder_feed(pass->decoders[0], off, bytes, (size_t)len);
		if (!check_stray(pass))
			return false;
		if (run->stop_reason || all_stopped(pass))
			break;
	}
	if (len < 0)
		return itrace_decode_fail(run, why);
	return true;
}

static void note_stop(struct itrace_decode_state *run, const struct itrace_plan_buffer *buffer)
{
	char of[64] = "";

	if (!run->stop_reason)
		return;
	if (buffer->file.seekable)
		snprintf(of, sizeof(of), " of %" PRIu64, buffer->file.size);
	if (!strcmp(run->stop_reason, "selection"))
		itrace_inform(run->io, "stopped after what was asked for; the ledger is of what was decoded until then");
	else
		itrace_warn(run->io, "stopped (%s): %" PRIu64 "%s bytes were read", run->stop_reason,
				run->read_len, of);
}

static void note_end(struct itrace_decode_pass *pass)
{
	struct itrace_decode_state *run = pass->run;
	unsigned int rest = itrace_cs_frame_rest(&pass->frame);
	const struct itrace_plan_stream *streams = run->plan.streams;

	/* once for each buffer */
	if (pass->first && streams[pass->first - 1].buffer == streams[pass->first].buffer)
		return;
	memcpy(itrace_decode_buffer(run, pass->first)->id_len, pass->frame.id_len, sizeof(pass->frame.id_len));
	if (pass->frame.framing != ITRACE_FRAMING_RAW && rest)
		itrace_inform(run->io, "%s: %u bytes at its end are no complete frame",
				itrace_plan_label(itrace_decode_buffer(run, pass->first)), rest);
}

static void end_pass(struct itrace_decode_pass *pass)
{
	struct itrace_decode_state *run = pass->run;

	for (size_t i = 0; i < pass->count; i++) {
		struct itrace_decoder *decoder = pass->decoders[i];

		if (!run->stop_reason)
			itrace_decoder_finish(decoder);
		if (run->format == ITRACE_FORMAT_OPENCSD_PACKETS)
			itrace_output_format(&run->out, "ID:%x\tEND OF TRACE DATA\n", decoder->packet_id);
		if (pass->frame.framing != ITRACE_FRAMING_RAW)
			decoder->ledger.frame_len = run->read_len;
		/* what was fed but not looked at is no part of the trace that this ledger is about */
		if (decoder->stopped || run->stop_reason)
			decoder->ledger.trace_len = decoder->ledger.decoded_len + decoder->ledger.padding_len +
					decoder->ledger.unsynced_len + decoder->ledger.skipped_len;
		itrace_ledger_add(&run->ledger, &decoder->ledger);
		run->element_count += decoder->element_count;
	}
	note_stop(run, itrace_decode_buffer(run, pass->first));
	if (!run->stop_reason)
		note_end(pass);
}

/* ---- streams ---- */

static size_t heading_count(const struct itrace_decode_state *run)
{
	bool opencsd = run->format == ITRACE_FORMAT_OPENCSD_PACKETS || run->format == ITRACE_FORMAT_OPENCSD_ELEMENTS;

	return opencsd ? run->plan.buffer_count : run->plan.stream_count;
}

static void planned_info(const struct itrace_decode_state *run, size_t index, struct itrace_stream_info *info)
{
	const struct itrace_plan_stream *stream = &run->plan.streams[index];
	bool by_buffer = heading_count(run) == run->plan.buffer_count;

	info->buffer = itrace_decode_buffer(run, index)->name;
	info->source = stream->source;
	info->trace_id = stream->regs.trctraceidr & 0x7f;
	info->packet_id = stream->id == ITRACE_ID_NONE ? 0 : stream->id;
	info->number = (unsigned int)(by_buffer ? stream->buffer : index) + 1;
	info->count = (unsigned int)heading_count(run);
	info->headed = run->options.all_streams && info->count > 1;
}

static void stream_info(const struct itrace_decode_state *run, const struct itrace_decoder *decoder,
		struct itrace_stream_info *info)
{
	size_t number = 0;

	while (run->pass->decoders[number] != decoder)
		number++;
	planned_info(run, run->pass->first + number, info);
}

/* The heading of a format that is not made by a mouth. */
static void tap_heading(struct itrace_decode_state *run, const struct itrace_stream_info *info)
{
	if (run->format == ITRACE_FORMAT_OPENCSD_PACKETS)
		itrace_listing_opencsd_begin(&run->out, info);
	else
		itrace_listing_heading(&run->out, info);
}

static void begin_streams(struct itrace_decode_state *run, size_t first)
{
	struct itrace_stream_info info;

	planned_info(run, first, &info);
	if (run->listing)
		itrace_mouth_begin(run->listing, &info);
	else
		tap_heading(run, &info);
	if (run->btrace)
		itrace_mouth_begin(run->btrace, &info);
	run->last_branched = false;
	run->current = NULL;
	if (run->selecting)
		itrace_selection_init(&run->selection, &run->rules, &run->program, hand_on, run);
}

static void end_streams(struct itrace_decode_state *run, size_t first)
{
	struct itrace_stream_info info;

	if (run->selecting) {
		itrace_selection_finish(&run->selection);
		if (run->selection.last_cut)
			itrace_warn(run->io, "%slast: memory did not suffice; fewer instructions are shown",
					run->dash);
		itrace_selection_free(&run->selection);
	}
	if (run->listing)
		itrace_mouth_end(run->listing);
	if (run->btrace)
		itrace_mouth_end(run->btrace);
	planned_info(run, first, &info);
	if (run->format == ITRACE_FORMAT_OPENCSD_PACKETS)
		itrace_listing_opencsd_end(&run->out, &info);
}

static void use_program(struct itrace_decode_state *run, struct itrace_decoder *decoder)
{
	run->program.image = &decoder->image;
	run->program.rules = &decoder->config.rules;
	run->program.m_profile = decoder->config.profile == ITRACE_PROFILE_M;
	run->program.space = 0;
}

static void compare_live(struct itrace_decode_state *run, struct itrace_decoder *decoder)
{
	unsigned int differ;
	uint64_t addr = 0, off;

	if (!run->have_live)
		return;
	unsigned int compared = itrace_live_memory_compare(&run->live, decoder->image.segments, decoder->image.count, &addr,
			&differ);
	if (!differ)
		return;
	const struct itrace_symbol *symbol = itrace_program_function(&run->program, addr, &off);
	itrace_warn(run->io, "target memory differs from the files in %u of %u pages that ran, first at 0x%"
			PRIx64 "%s%s%s; is the ELF the one that was loaded?", differ, compared, addr, symbol ? " <" : "",
			symbol ? symbol->name : "", symbol ? ">" : "");
}

static bool run_pass(struct itrace_decode_state *run, size_t first, size_t count)
{
	struct itrace_plan_buffer *buffer = itrace_decode_buffer(run, first);
	struct itrace_decode_pass pass = { .run = run, .first = first, .count = count };
	char why[ITRACE_MESSAGE_MAX];
	bool ok = true;

	run->pass = &pass;

	if (buffer->file.off && !itrace_trace_file_rewind(&buffer->file, why, sizeof(why)))
		return itrace_decode_fail(run, why);
	itrace_cs_frame_init(&pass.frame, buffer->framing);
	pass.decoders = calloc(count, sizeof(*pass.decoders));
	if (!pass.decoders)
		return itrace_decode_fail(run, "no memory");
	for (size_t i = 0; i < count && ok; i++)
		ok = new_decoder(&pass, i);
	if (ok) {
		use_program(run, pass.decoders[0]);
		begin_streams(run, first);
		ok = read_pass(&pass);
		if (ok)
			end_pass(&pass);
		end_streams(run, first);
		compare_live(run, pass.decoders[0]);
	}
	run->program.image = NULL;
	run->program.rules = NULL;
	for (size_t i = 0; i < count; i++)
		itrace_decoder_free(pass.decoders[i]);
	free(pass.decoders);
	return ok;
}

static size_t streams_of_pass(const struct itrace_decode_state *run, size_t first)
{
	size_t count = 1;

	while (run->interleaved && first + count < run->plan.stream_count &&
			run->plan.streams[first + count].buffer == run->plan.streams[first].buffer)
		count++;
	return count;
}

bool itrace_decode_streams(struct itrace_decode_state *run)
{
	for (size_t first = 0; first < run->plan.stream_count;) {
		size_t count = streams_of_pass(run, first);
		bool ok = run_pass(run, first, count);

		/* with several streams, what is wrong with one does not hide the others */
		if (!ok && !run->options.all_streams)
			return false;
		if (run->stop_reason && strcmp(run->stop_reason, "selection"))
			break;
		if (is_unwanted(run))
			break;
		run->stop_reason = NULL;
		first += count;
	}
	return true;
}
