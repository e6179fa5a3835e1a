// SPDX-License-Identifier: GPL-2.0-or-later

#include "jtag_chain.h"

#include <string.h>

/* Next state for TMS 0 and 1. */
static const uint8_t next_state[16][2] = {
	[JTAG_RESET] = { JTAG_IDLE, JTAG_RESET },
	[JTAG_IDLE] = { JTAG_IDLE, JTAG_SELECT_DR },
	[JTAG_SELECT_DR] = { JTAG_CAPTURE_DR, JTAG_SELECT_IR },
	[JTAG_CAPTURE_DR] = { JTAG_SHIFT_DR, JTAG_EXIT1_DR },
	[JTAG_SHIFT_DR] = { JTAG_SHIFT_DR, JTAG_EXIT1_DR },
	[JTAG_EXIT1_DR] = { JTAG_PAUSE_DR, JTAG_UPDATE_DR },
	[JTAG_PAUSE_DR] = { JTAG_PAUSE_DR, JTAG_EXIT2_DR },
	[JTAG_EXIT2_DR] = { JTAG_SHIFT_DR, JTAG_UPDATE_DR },
	[JTAG_UPDATE_DR] = { JTAG_IDLE, JTAG_SELECT_DR },
	[JTAG_SELECT_IR] = { JTAG_CAPTURE_IR, JTAG_RESET },
	[JTAG_CAPTURE_IR] = { JTAG_SHIFT_IR, JTAG_EXIT1_IR },
	[JTAG_SHIFT_IR] = { JTAG_SHIFT_IR, JTAG_EXIT1_IR },
	[JTAG_EXIT1_IR] = { JTAG_PAUSE_IR, JTAG_UPDATE_IR },
	[JTAG_PAUSE_IR] = { JTAG_PAUSE_IR, JTAG_EXIT2_IR },
	[JTAG_EXIT2_IR] = { JTAG_SHIFT_IR, JTAG_UPDATE_IR },
	[JTAG_UPDATE_IR] = { JTAG_IDLE, JTAG_SELECT_DR },
};

void jtag_chain_add(struct jtag_chain *chain, const struct jtag_tap_ops *ops, void *ctx, unsigned int ir_len)
{
	chain->tap[chain->count++] = (struct jtag_tap){ .ops = ops, .ctx = ctx, .ir_len = ir_len };
}

void jtag_chain_reset(struct jtag_chain *chain)
{
	chain->state = JTAG_RESET;
	for (unsigned int i = 0; i < chain->count; i++)
		chain->tap[i].ops->reset(chain->tap[i].ctx);
}

static void load(struct jtag_chain *chain, struct jtag_tap *tap, uint64_t value, unsigned int len)
{
	tap->len = len;
	chain->shift |= (unsigned __int128)value << chain->shift_len;
	chain->shift_len += len;
}

static void capture(struct jtag_chain *chain, bool ir)
{
	chain->shift = 0;
	chain->shift_len = 0;
	for (unsigned int i = 0; i < chain->count; i++) {
		struct jtag_tap *tap = &chain->tap[i];
		unsigned int len = tap->ir_len;
		uint64_t value = ir ? tap->ops->ir_capture : tap->ops->capture_dr(tap->ctx, &len);
		load(chain, tap, value, len);
	}
}

static void update(struct jtag_chain *chain, bool ir)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < chain->count; i++) {
		struct jtag_tap *tap = &chain->tap[i];
		uint64_t value = (uint64_t)(chain->shift >> at) & ((1ull << tap->len) - 1);
		at += tap->len;
		if (ir)
			tap->ops->update_ir(tap->ctx, value);
		else
			tap->ops->update_dr(tap->ctx, value);
	}
}

/* What the rising edge does besides moving on. Updates happen with the falling edge that follows. */
static void edge(struct jtag_chain *chain, enum jtag_state before, enum jtag_state after, bool tdi)
{
	switch (before) {
	case JTAG_SHIFT_DR:
	case JTAG_SHIFT_IR:
		chain->shift = chain->shift >> 1 | (unsigned __int128)tdi << (chain->shift_len - 1);
		break;
	case JTAG_CAPTURE_DR:
		chain->dr_scans++;
		capture(chain, false);
		break;
	case JTAG_CAPTURE_IR:
		chain->ir_scans++;
		capture(chain, true);
		break;
	default:
		break;
	}
	if (after == JTAG_UPDATE_DR)
		update(chain, false);
	else if (after == JTAG_UPDATE_IR)
		update(chain, true);
	else if (after == JTAG_RESET && before != JTAG_RESET)
		jtag_chain_reset(chain);
}

void jtag_chain_clock(struct jtag_chain *chain, bool tms, bool tdi)
{
	enum jtag_state before = chain->state;

	sim_clock_tck(chain->clock, 1);
	chain->state = next_state[before][tms];
	edge(chain, before, chain->state, tdi);
}

/* How many of @a bits from @a at on leave TMS low. */
static size_t stay(const uint8_t *tms, size_t at, size_t bits)
{
	size_t i = at;

	while (i < bits && !(tms[i / 8] >> i % 8 & 1))
		i += i % 8 == 0 && bits - i >= 8 && !tms[i / 8] ? 8 : 1;
	return i - at;
}

static bool is_stable(enum jtag_state state)
{
	return state == JTAG_IDLE || state == JTAG_PAUSE_DR || state == JTAG_PAUSE_IR;
}

void jtag_chain_io(struct jtag_chain *chain, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo, size_t bits)
{
	memset(tdo, 0xff, (bits + 7) / 8);
	for (size_t i = 0; i < bits; i++) {
		if (is_stable(chain->state)) {
			size_t n = stay(tms, i, bits);
			sim_clock_tck(chain->clock, n);
			i += n;
			if (i == bits)
				break;
		}
		if (!jtag_chain_tdo(chain))
			tdo[i / 8] &= ~(1u << i % 8);
		jtag_chain_clock(chain, tms[i / 8] >> i % 8 & 1, tdi[i / 8] >> i % 8 & 1);
	}
}
