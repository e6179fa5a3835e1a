// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../status.h"
#include "decode_outcome.h"
#include "framing_guess.h"
#include "ledger_report.h"
#include "message.h"

static uint64_t packet_count(const struct itrace_ledger *ledger)
{
	uint64_t count = 0;

	for (unsigned int kind = ITRACE_PACKET_EXTENSION; kind < ITRACE_LEDGER_KINDS; kind++)
		count += ledger->packet_count[kind];
	return count;
}

bool itrace_decode_is_nothing(const struct itrace_decode_state *run)
{
	switch (run->format) {
	case ITRACE_FORMAT_PACKETS:
	case ITRACE_FORMAT_OPENCSD_PACKETS:
		return !packet_count(&run->ledger);
	case ITRACE_FORMAT_ELEMENTS:
		return !run->element_count;
	case ITRACE_FORMAT_OPENCSD_ELEMENTS:
		return !run->event_count;
	default:
		return !run->selected_count;
	}
}

/* Would another framing give (more) packets? @returns that, or the framing of the first buffer */
static enum itrace_framing better_framing(struct itrace_decode_state *run)
{
	struct itrace_plan_buffer *buffer = itrace_decode_buffer(run, 0);
	const struct itrace_plan_stream *stream = &run->plan.streams[0];
	struct itrace_ete_config config;
	char reason[ITRACE_MESSAGE_MAX];
	const uint8_t *bytes;
	const char *why;

	if (!buffer->file.seekable || !itrace_trace_file_rewind(&buffer->file, reason, sizeof(reason)) ||
			itrace_ete_config_init(&config, stream->protocol, stream->profile, stream->arch, &stream->regs, &why) !=
			ITRACE_OK)
		return buffer->framing;
	long len = itrace_trace_file_peek(&buffer->file, &bytes, reason, sizeof(reason));
	if (len <= 0)
		return buffer->framing;
	enum itrace_framing other = itrace_framing_guess(&config, bytes, (size_t)len, reason, sizeof(reason));
	return itrace_framing_score(other, &config, bytes, (size_t)len) ? other : buffer->framing;
}

static void explain_no_sync(struct itrace_decode_state *run, const char *path)
{
	enum itrace_framing framing = itrace_decode_buffer(run, 0)->framing, better = better_framing(run);
	char text[120];

	if (better != framing)
		snprintf(text, sizeof(text), "framing %s, but framing %s does give packets", itrace_framing_name(framing),
				itrace_framing_name(better));
	else if (run->options.trace && run->options.framing == ITRACE_FRAMING_AUTO)
		snprintf(text, sizeof(text), "no framing gives any");
	else
		snprintf(text, sizeof(text), "framing %s", itrace_framing_name(framing));
	itrace_error(run->io, "%s: no A-Sync in %" PRIu64 " bytes (%s): wrong framing or trace ID, a piece shorter than "
			"the distance of A-Syncs, or not ETE or ETMv4 trace (a Micro Trace Buffer's: %sprotocol mtb)", path,
			run->ledger.trace_len, text, run->dash);
}

static void explain_no_instructions(struct itrace_decode_state *run, const char *path)
{
	const struct itrace_ledger *ledger = &run->ledger;

	if (ledger->gap_count[ITRACE_GAP_NO_MEMORY])
		itrace_error(run->io, "%s: no instruction: no code is known at 0x%" PRIx64 "; give the program that "
				"ran (%self, %simage)", path, ledger->gap_first_addr[ITRACE_GAP_NO_MEMORY], run->dash, run->dash);
	else if (ledger->skipped_len)
		itrace_error(run->io, "%s: no instruction: %" PRIu64 " bytes are no packets, the first at byte %"
				PRIu64 "; do the registers (%sreg) belong to this trace?%s%s", path, ledger->skipped_len,
				ledger->gap_first_off[ITRACE_GAP_BAD_PACKET], run->dash, run->plan.defaulted[0] ? " defaulted: " : "",
				run->plan.defaulted);
	else
		itrace_error(run->io, "%s: no instruction: %" PRIu64 " packets, but none says that instructions ran "
				"(%" PRIu64 " trace-on)", path, packet_count(ledger), ledger->event_count[ITRACE_EVENT_TRACE_ON]);
}

static void explain_no_selection(struct itrace_decode_state *run)
{
	const char *what = "the selection is empty";

	if (run->options.from && !run->selection.reached)
		what = "execution did not reach the place where it is to begin";
	else if (run->options.context >= 0)
		what = "the context ID did not occur";
	else if (run->options.el >= 0)
		what = "nothing ran at that exception level";
	itrace_error(run->io, "none of %" PRIu64 " instructions is selected: %s", run->ledger.instruction_count, what);
}

static void explain_no_byte(struct itrace_decode_state *run, const char *path)
{
	char list[1024];

	if (!run->ledger.frame_len)
		itrace_error(run->io, "%s: there is no byte of trace (0 bytes)", path);
	else if (itrace_plan_list_ids(itrace_decode_buffer(run, 0), list, sizeof(list)))
		itrace_error(run->io, "%s: there is no byte of trace with this trace ID in it; it holds %s", path, list);
	else
		itrace_error(run->io, "%s: there is no byte of trace with this trace ID in it, nor with any other: is the "
				"framing right?", path);
}

static bool is_mtb(const struct itrace_decode_state *run)
{
	return run->plan.stream_count && run->plan.streams[0].protocol == ITRACE_PROTOCOL_MTB;
}

static void explain_no_packet(struct itrace_decode_state *run, const char *path)
{
	const struct itrace_mtb_source *mtb = &run->plan.streams[0].mtb;

	if (!mtb->ring.known)
		itrace_error(run->io, "%s: there is no byte of trace (0 bytes)", path);
	else
		itrace_error(run->io, "%s: nothing was traced: POSITION 0x%08" PRIx32 " is at the start of its buffer of %"
				PRIu64 " bytes, and that has not wrapped", path, mtb->regs.position, mtb->ring.size);
}

void itrace_decode_explain_nothing(struct itrace_decode_state *run)
{
	const char *path = run->plan.stream_count ? itrace_plan_label(itrace_decode_buffer(run, 0)) : "trace";
	const struct itrace_ledger *ledger = &run->ledger;

	if (run->stop_reason)
		itrace_error(run->io, "stopped (%s) before anything was decoded", run->stop_reason);
	else if (!ledger->trace_len && is_mtb(run))
		explain_no_packet(run, path);
	else if (!ledger->trace_len)
		explain_no_byte(run, path);
	else if (is_mtb(run) && !packet_count(ledger))
		itrace_error(run->io, "%s: %" PRIu64 " bytes are no packet, which has 8", path, ledger->trace_len);
	else if (is_mtb(run))
		ledger->instruction_count ? explain_no_selection(run) : explain_no_instructions(run, path);
	else if (!ledger->packet_count[ITRACE_PACKET_ASYNC])
		explain_no_sync(run, path);
	else if (ledger->instruction_count)
		explain_no_selection(run);
	else
		explain_no_instructions(run, path);
}

/* Code was found and walked, but was it what ran? */
static void note_program(struct itrace_decode_state *run)
{
	const struct itrace_ledger *ledger = &run->ledger;
	bool only_64 = run->isas == 1u << ITRACE_ISA_A64;
	bool no_64 = run->isas && !(run->isas & 1u << ITRACE_ISA_A64);

	for (unsigned int i = 0; i < ITRACE_LEDGER_SOURCES; i++) {
		unsigned int word_size = ledger->source_count[i] ? itrace_symbols_word_size(run->symbols, i) : 0;
		if ((word_size == 32 && only_64) || (word_size == 64 && no_64))
			itrace_warn(run->io, "%s is an ELF for AArch%u, but only AArch%u code ran: it is not what was traced",
					itrace_symbols_source_name(run->symbols, i), word_size, only_64 ? 64 : 32);
	}
	for (unsigned int gap = 0; gap < ITRACE_GAP_NUM; gap++) {
		if (!itrace_gap_is_contradiction(gap) || !ledger->gap_count[gap])
			continue;
		itrace_warn(run->io, "trace and program contradict each other at 0x%" PRIx64 " (byte %" PRIu64 "); is the "
				"program the one that was traced?", ledger->gap_first_addr[gap], ledger->gap_first_off[gap]);
		break;
	}
	if (ledger->gap_count[ITRACE_GAP_BAD_IMAGE])
		itrace_warn(run->io, "the code at 0x%" PRIx64 " cannot be what ran; is the program the one that was traced?",
				ledger->gap_first_addr[ITRACE_GAP_BAD_IMAGE]);
}

/* So much that is no packet may come of frames that were taken for packets, or the other way round. */
static void note_framing(struct itrace_decode_state *run)
{
	const struct itrace_ledger *ledger = &run->ledger;
	uint64_t lost = ledger->skipped_len + ledger->unsynced_len - ledger->presync_len;

	if (!run->plan.stream_count || !run->options.framing_given || lost * 8 < ledger->trace_len ||
			!ledger->gap_count[ITRACE_GAP_BAD_PACKET])
		return;
	enum itrace_framing framing = itrace_decode_buffer(run, 0)->framing, better = better_framing(run);
	if (better != framing)
		itrace_warn(run->io, "%" PRIu64 " of %" PRIu64 " bytes are no packets: framing %s would fit better than %s",
				lost, ledger->trace_len, itrace_framing_name(better), itrace_framing_name(framing));
}

static void note_edges(struct itrace_decode_state *run)
{
	const struct itrace_ledger *ledger = &run->ledger;

	if (ledger->presync_len)
		itrace_inform(run->io, "note: %" PRIu64 " bytes before the first A-Sync cannot be decoded",
				ledger->presync_len);
	if (ledger->partial_len)
		itrace_inform(run->io, "note: the trace ends inside a packet (%" PRIu64 " bytes of it)",
				ledger->partial_len);
	if (!itrace_ledger_balances(ledger))
		itrace_warn(run->io, "the ledger does not balance: a fault of this program, please report it");
}

void itrace_decode_tell_ledger(struct itrace_decode_state *run)
{
	char line[ITRACE_LEDGER_LINE_MAX];

	note_program(run);
	note_framing(run);
	note_edges(run);
	for (unsigned int i = 0; i < ITRACE_LEDGER_LINES; i++) {
		itrace_ledger_line(&run->ledger, run->symbols, i, line, sizeof(line));
		itrace_inform(run->io, "%s", line);
	}
}
