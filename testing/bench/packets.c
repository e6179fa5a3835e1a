// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * An ETMv4 packet stream that no branch predictor can learn, with the packet mix of a real ETE trace.
 *
 * The model is cut into units: a packet, or an exception or Trace On with the packet that must follow it. Units are
 * drawn at random and their payload (addresses, pattern of atoms) is drawn anew, so that kinds and lengths keep their
 * shares.
 */

#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define PACKETS_FIRST_LEN	14u	/* A-Sync and Trace Info that begin the stream */
#define PACKETS_SPARE		64u	/* the last unit may pass the length asked for */

struct packets_unit {
	size_t off;
	size_t len;
};

/* Length of the packet at @a bytes, for the kinds that plain program trace has; 0: not one of them. */
static size_t packets_len(const uint8_t *bytes, size_t left)
{
	size_t len;
	switch (bytes[0]) {
	case 0x00:
		len = 12;
		break;
	case 0x01:
		len = left > 1 && bytes[1] & 0x01 ? 3 : 2;
		break;
	case 0x06:
		len = left > 1 && bytes[1] & 0x80 ? 3 : 2;
		break;
	case 0x81:
		len = left > 1 && bytes[1] & 0xc0 ? 0 : 2;
		break;
	case 0x82:
		len = left > 5 && bytes[5] & 0xc0 ? 0 : 6;
		break;
	case 0x95:
		len = left > 1 && bytes[1] & 0x80 ? 3 : 2;
		break;
	case 0x9a:
		len = 5;
		break;
	case 0x04:
	case 0x80:
	case 0x90:
	case 0x91:
	case 0x92:
		len = 1;
		break;
	default:
		len = bytes[0] >= 0xc0 ? 1 : 0;
		break;
	}
	return len <= left ? len : 0;
}

static void packets_emit(uint8_t *out, const uint8_t *bytes, size_t len, uint64_t *state)
{
	memcpy(out, bytes, len);
	uint64_t value = bench_random(state);
	switch (bytes[0]) {
	case 0x82:
	case 0x9a:
		out[1] = value & 0x7f;
		out[2] = value >> 8 & 0x7f;
		out[3] = value >> 16 & 0xff;
		out[4] = value >> 24 & 0xff;
		break;
	case 0x95:
		out[1] = (bytes[1] & 0x80) | (value & 0x7f);
		if (len == 3)
			out[2] = value >> 8 & 0xff;
		break;
	default:
		if (bytes[0] >= 0xf8)
			out[0] = 0xf8 | (value & 7);
		else if ((bytes[0] & 0xfc) == 0xd8)
			out[0] = 0xd8 | (value & 3);
		break;
	}
}

void bench_packets_make(struct bench_program *program, const struct bench_program *model, size_t len, uint64_t seed)
{
	struct packets_unit *units = bench_alloc(model->trace_len * sizeof(units[0]));
	size_t unit_count = 0;
	bool joined = false;
	for (size_t pos = 0; pos < model->trace_len; ) {
		const uint8_t *bytes = model->trace + pos;
		size_t n = packets_len(bytes, model->trace_len - pos);
		if (!n)
			bench_fail("packet mix: header 0x%02x at byte %zu is not one of plain program trace", bytes[0], pos);
		if (joined)
			units[unit_count - 1].len += n;
		else
			units[unit_count++] = (struct packets_unit) { pos, n };
		joined = bytes[0] == 0x00 || bytes[0] == 0x04 || bytes[0] == 0x06 || (joined && bytes[0] == 0x81);
		pos += n;
	}

	*program = *model;
	program->protocol = ITRACE_PROTOCOL_ETMV4;
	itrace_ete_registers_default(ITRACE_PROTOCOL_ETMV4, &program->regs);
	program->regs.trcconfigr = 0x1;
	program->regs.trctraceidr = 0x10;
	program->regs.trcidr0 = 0x28000ea1;
	program->regs.trcidr1 = 0x4100f403;
	program->regs.trcidr2 = 0x488;
	program->segments = NULL;
	program->segment_count = 0;

	program->trace = bench_alloc(len + PACKETS_SPARE);
	memcpy(program->trace, model->trace, PACKETS_FIRST_LEN);
	size_t out = PACKETS_FIRST_LEN;
	uint64_t state = seed;
	while (out < len) {
		const struct packets_unit *unit = &units[(bench_random(&state) >> 32) * unit_count >> 32];
		for (size_t pos = 0; pos < unit->len; ) {
			const uint8_t *bytes = model->trace + unit->off + pos;
			size_t n = packets_len(bytes, unit->len - pos);
			packets_emit(program->trace + out, bytes, n, &state);
			pos += n;
			out += n;
		}
	}
	program->trace_len = out;
	free(units);
}
