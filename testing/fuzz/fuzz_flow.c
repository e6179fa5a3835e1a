// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Any bytes as a trace: the first ones choose registers, framing and how the input is cut, the rest is both the trace
 * and the program image. Held: no fault, an end in bounded time, and a ledger that balances.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <itrace/cs_frame.h>
#include <itrace/ete_flow.h>
#include <itrace/text.h>

#define HEAD_LEN	24u
#define BLOCK_NUM	64u
#define EVENTS_PER_BYTE	64u

static struct itrace_ete_flow flow;
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

static void drain(bool m_profile)
{
	struct itrace_event events[16];
	char line[ITRACE_TEXT_MAX];
	unsigned int n;

	while ((n = itrace_ete_flow_next(&flow, events, 16))) {
		event_count += n;
		for (unsigned int i = 0; i < n; i++) {
			if (itrace_text_event_opencsd(1, &events[i], line, sizeof(line)) >= sizeof(line))
				abort();
			if (itrace_text_event(&events[i], m_profile, line, sizeof(line)) >= sizeof(line))
				abort();
		}
	}
}

static void feed(const struct itrace_ete_config *config, uint64_t off, const uint8_t *bytes, size_t len)
{
	itrace_ete_flow_feed(&flow, off, bytes, len);
	drain(config->profile == ITRACE_PROFILE_M);
}

static void feed_frames(const struct itrace_ete_config *config, enum itrace_framing framing, const uint8_t *bytes,
		size_t len)
{
	struct itrace_cs_frame frame;
	struct itrace_frame_run run;
	int found;

	itrace_cs_frame_init(&frame, framing);
	itrace_cs_frame_feed(&frame, 0, bytes, len);
	while ((found = itrace_cs_frame_next(&frame, &run)))
		if (found > 0 && run.id == config->trace_id)
			feed(config, run.off, run.bytes, run.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct itrace_ete_registers regs;
	struct itrace_ete_config config;

	if (size < HEAD_LEN)
		return 0;
	const enum itrace_protocol protocol = data[0] & 1 ? ITRACE_PROTOCOL_ETMV4 : ITRACE_PROTOCOL_ETE;
	itrace_ete_registers_default(protocol, &regs);
	regs.trcidr0 = word(data + 4);
	regs.trcidr2 = word(data + 8);
	regs.trcidr8 = data[1] & 1 ? word(data + 12) : data[12] & 3;
	regs.trcconfigr = data[16] | (uint32_t)(data[17] & 0x10) << 8;
	regs.trctraceidr = 0x10;
	if (protocol == ITRACE_PROTOCOL_ETE)
		regs.trcdevarch = 0x47705a13 | (uint32_t)(data[18] & 3) << 16;
	else
		regs.trcidr1 = 0x4100f400 | (uint32_t)(data[18] & 7) << 4;
	/* a refused configuration still reads packets */
	itrace_ete_config_init(&config, protocol, (enum itrace_profile)(data[19] % ITRACE_PROFILE_NUM),
		(enum itrace_arch)(data[20] % ITRACE_ARCH_NUM), &regs, NULL);

	const uint8_t *bytes = data + HEAD_LEN;
	const size_t len = size - HEAD_LEN;
	const struct itrace_segment segment = { 0x1000, len, bytes, ITRACE_SPACE_ANY, 0 };
	itrace_ledger_init(&ledger);
	itrace_image_init(&image, &segment, 1, NULL, NULL);
	itrace_ete_flow_init(&flow, &config, &image, blocks, BLOCK_NUM, &ledger);
	flow.split_at_n = data[2] & 1;
	flow.layered = data[2] & 2;
	event_count = 0;
	const enum itrace_framing framing = (enum itrace_framing)(data[3] % ITRACE_FRAMING_NUM);
	if (framing == ITRACE_FRAMING_RAW) {
		const size_t cut = data[21] < len ? data[21] : len;
		feed(&config, 0, bytes, cut);
		feed(&config, cut, bytes + cut, len - cut);
	} else {
		feed_frames(&config, framing, bytes, len);
	}
	itrace_ete_flow_finish(&flow);
	drain(config.profile == ITRACE_PROFILE_M);
	if (!itrace_ledger_balances(&ledger) || event_count > EVENTS_PER_BYTE * (len + 16))
		abort();
	return 0;
}
