// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decode_state.h"
#include "message.h"

#define POLL_MS		100u
#define PROGRESS_MS	500u

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool itrace_decode_fail(struct itrace_decode_state *run, const char *text)
{
	itrace_error(run->io, "%s", text);
	run->failed = true;
	return false;
}

static void show_progress(struct itrace_decode_state *run, uint64_t now)
{
	if (now - run->progress_ms < PROGRESS_MS)
		return;
	run->progress_ms = now;
	itrace_message(run->io, ITRACE_MESSAGE_PROGRESS, "%.1f MB of trace read, %" PRIu64 " instructions selected",
			(double)run->read_len / 1e6, run->selected_count);
}

bool itrace_decode_tick(void *ctx)
{
	struct itrace_decode_state *run = ctx;
	uint64_t now = now_ms();

	run->weight = 0;
	if (run->options.timeout_s > 0 && (double)(now - run->start_ms) >= 1000 * run->options.timeout_s)
		run->stop_reason = "timeout";
	if (run->io->poll && now - run->poll_ms >= POLL_MS) {
		run->poll_ms = now;
		if (run->io->poll(run->io->ctx))
			run->stop_reason = "interrupted";
	}
	show_progress(run, now);
	return run->stop_reason;
}

void itrace_decode_start_clock(struct itrace_decode_state *run)
{
	run->start_ms = now_ms();
	run->poll_ms = run->start_ms;
	run->progress_ms = run->start_ms;
}

struct itrace_plan_buffer *itrace_decode_buffer(const struct itrace_decode_state *run, size_t stream)
{
	return &run->plan.buffers[run->plan.streams[stream].buffer];
}

enum itrace_tap itrace_decode_tap(enum itrace_format format)
{
	switch (format) {
	case ITRACE_FORMAT_PACKETS:
		return ITRACE_TAP_PACKETS;
	case ITRACE_FORMAT_OPENCSD_PACKETS:
		return ITRACE_TAP_OPENCSD_PACKETS;
	case ITRACE_FORMAT_ELEMENTS:
		return ITRACE_TAP_ELEMENTS;
	default:
		return ITRACE_TAP_NONE;
	}
}

bool itrace_decode_code(struct itrace_decode_state *run, size_t stream, struct itrace_segment **segments, size_t *count)
{
	const struct itrace_plan_stream *planned = &run->plan.streams[stream];
	size_t from_files = 0, from_snapshot = 0;
	struct itrace_segment *dumps = NULL;

	if (planned->source_index != SIZE_MAX)
		dumps = itrace_snapshot_segments(run->snapshot, itrace_decode_buffer(run, stream)->index, planned->source_index,
				&from_snapshot);
	if (from_snapshot == SIZE_MAX)
		return itrace_decode_fail(run, "no memory for the memory dumps");
	const struct itrace_segment *files = itrace_symbols_segments(run->symbols, &from_files);
	*count = from_snapshot + from_files;
	*segments = malloc((*count + 1) * sizeof(**segments));
	if (*segments) {
		if (from_snapshot)
			memcpy(*segments, dumps, from_snapshot * sizeof(**segments));
		if (from_files)
			memcpy(*segments + from_snapshot, files, from_files * sizeof(**segments));
	}
	free(dumps);
	return *segments || itrace_decode_fail(run, "no memory for the program");
}
