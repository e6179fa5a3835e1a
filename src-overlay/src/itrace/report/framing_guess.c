// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../ete_stream.h"
#include "framing_guess.h"

const char *itrace_framing_name(enum itrace_framing framing)
{
	static const char *const names[] = {
		[ITRACE_FRAMING_RAW] = "raw",
		[ITRACE_FRAMING_CORESIGHT] = "coresight",
		[ITRACE_FRAMING_TPIU] = "tpiu",
		[ITRACE_FRAMING_DSTREAM] = "dstream",
	};
	_Static_assert(sizeof(names) / sizeof(names[0]) == ITRACE_FRAMING_NUM, "a name for each");

	return (unsigned int)framing < ITRACE_FRAMING_NUM ? names[framing] : "unknown";
}

static void drain(struct itrace_ete_stream *stream)
{
	struct itrace_ete_packet packets[16];

	while (itrace_ete_stream_next(stream, packets, 16))
		;
}

/* Bytes in packets, less those of what cannot be. */
static uint64_t understood(const struct itrace_ledger *ledger)
{
	uint64_t good = ledger->decoded_len + ledger->padding_len;
	uint64_t bad = 8 * ledger->skipped_len;

	if (!ledger->packet_count[ITRACE_PACKET_ASYNC])
		return 0;
	return good > bad ? good - bad : 0;
}

static uint64_t try_raw(const struct itrace_ete_config *config, const uint8_t *bytes, size_t len)
{
	struct itrace_ete_stream stream;
	struct itrace_ledger ledger;

	itrace_ledger_init(&ledger);
	itrace_ete_stream_init(&stream, config, &ledger);
	itrace_ete_stream_feed(&stream, 0, bytes, len);
	drain(&stream);
	itrace_ete_stream_finish(&stream);
	drain(&stream);
	return understood(&ledger);
}

/* The bytes of one trace ID only. */
static uint64_t try_id(struct itrace_cs_frame *frame, const struct itrace_ete_config *config, unsigned int id,
		const uint8_t *bytes, size_t len)
{
	struct itrace_ete_stream stream;
	struct itrace_ledger ledger;
	struct itrace_frame_run run;
	int got;

	itrace_ledger_init(&ledger);
	itrace_ete_stream_init(&stream, config, &ledger);
	itrace_cs_frame_init(frame, frame->framing);
	itrace_cs_frame_feed(frame, 0, bytes, len);
	while ((got = itrace_cs_frame_next(frame, &run)) != 0) {
		if (got < 0 || run.id != id)
			continue;
		itrace_ete_stream_feed(&stream, run.off, run.bytes, run.len);
		drain(&stream);
	}
	return understood(&ledger);
}

static uint64_t try_framed(enum itrace_framing framing, const struct itrace_ete_config *config, const uint8_t *bytes,
		size_t len)
{
	struct itrace_cs_frame frame;
	struct itrace_frame_run run;
	uint64_t id_len[ITRACE_ID_NUM];
	uint64_t best = 0, total = 0;

	itrace_cs_frame_init(&frame, framing);
	itrace_cs_frame_feed(&frame, 0, bytes, len);
	while (itrace_cs_frame_next(&frame, &run))
		;
	if (frame.error_count * 4 > frame.frame_count)
		return 0;
	for (unsigned int id = 0; id < ITRACE_ID_NUM; id++)
		id_len[id] = frame.id_len[id];

	/* IDs that carry little say little; in framed trace padding, too, is accounted for */
	for (unsigned int id = 1; id < 0x70; id++) {
		if (id_len[id] < 16 || id_len[id] * 32 < len)
			continue;
		uint64_t good = try_id(&frame, config, id, bytes, len);
		if (good * 2 > id_len[id])
			total += good;
		if (good > best)
			best = good;
	}
	/* ID bytes and the like take a 16th and more of what is read */
	total += total / 15 + id_len[0];
	return best ? (total < len ? total : len) : 0;
}

unsigned int itrace_framing_score(enum itrace_framing framing, const struct itrace_ete_config *config,
		const uint8_t *bytes, size_t len)
{
	uint64_t good;

	if (!len)
		return 0;
	good = framing == ITRACE_FRAMING_RAW ? try_raw(config, bytes, len) : try_framed(framing, config, bytes, len);
	return (unsigned int)(good * 100 / len);
}

enum itrace_framing itrace_framing_guess(const struct itrace_ete_config *config, const uint8_t *bytes, size_t len,
		char *reason, size_t reason_size)
{
	enum itrace_framing best = ITRACE_FRAMING_RAW;
	unsigned int scores[ITRACE_FRAMING_NUM];

	for (unsigned int framing = 0; framing < ITRACE_FRAMING_NUM; framing++) {
		scores[framing] = itrace_framing_score((enum itrace_framing)framing, config, bytes, len);
		if (scores[framing] > scores[best])
			best = (enum itrace_framing)framing;
	}
	if (!scores[best])
		snprintf(reason, reason_size, "framing raw assumed: no framing gives packets in the first %zu bytes", len);
	else
		snprintf(reason, reason_size, "framing %s: packets make up %u %% of the first %zu bytes (raw %u, coresight %u, "
				"tpiu %u, dstream %u)", itrace_framing_name(best), scores[best], len, scores[ITRACE_FRAMING_RAW],
				scores[ITRACE_FRAMING_CORESIGHT], scores[ITRACE_FRAMING_TPIU], scores[ITRACE_FRAMING_DSTREAM]);
	return best;
}
