// SPDX-License-Identifier: GPL-2.0-or-later

#include "dap_swd.h"

#include <string.h>

#define ACK_OK		1u
#define ACK_WAIT	2u
#define ACK_FAULT	4u
#define ACK_BITS	3u
#define READ_BITS	38u	/* acknowledge, data, parity, two more */
#define WRITE_BITS	5u	/* acknowledge, two more */
#define DATA_BITS	33u
#define LINE_RESET	50u

/* Header: start, APnDP, RnW, A2, A3, parity, stop, park. */
#define HEADER_AP	(1u << 1)
#define HEADER_READ	(1u << 2)
#define HEADER_STOP	(1u << 6)
#define HEADER_PARK	(1u << 7)

enum { DP_DPIDR = 0x0, DP_ABORT = 0x0, DP_CTRL_STAT = 0x4, DP_SELECT = 0x8, DP_RESEND = 0x8, DP_RDBUFF = 0xc };

#define CTRL_ORUNDETECT	(1u << 0)
#define CTRL_STICKYORUN	(1u << 1)
#define CTRL_STICKYCMP	(1u << 4)
#define CTRL_STICKYERR	(1u << 5)
#define CTRL_WDATAERR	(1u << 7)
#define CTRL_REQUESTS	(1u << 28 | 1u << 30)
#define CTRL_FAULTS	(CTRL_STICKYORUN | CTRL_STICKYERR | CTRL_WDATAERR)

void dap_swd_init(struct dap_swd *dap, uint32_t dpidr, struct sim_clock *clock)
{
	*dap = (struct dap_swd){ .dpidr = dpidr, .clock = clock };
}

static unsigned int parity(uint32_t value)
{
	return __builtin_parity(value);
}

static unsigned int reg_of(uint8_t header)
{
	return (header >> 3 & 3) * 4;
}

/* ---- registers ---- */

static uint32_t dp_read(const struct dap_swd *dap, unsigned int reg)
{
	switch (reg) {
	case DP_DPIDR:
		return dap->dpidr;
	case DP_CTRL_STAT:
		return dap->select & 0xf ? 0 : dap->ctrl | (dap->ctrl & CTRL_REQUESTS) << 1;
	default:
		return dap->posted;	/* RDBUFF, RESEND */
	}
}

static void clear_sticky(struct dap_swd *dap, uint32_t value)
{
	static const uint32_t bits[4] = { CTRL_STICKYCMP, CTRL_STICKYERR, CTRL_WDATAERR, CTRL_STICKYORUN };

	for (unsigned int i = 0; i < 4; i++) {
		if (value >> (i + 1) & 1)
			dap->ctrl &= ~bits[i];
	}
}

static void dp_write(struct dap_swd *dap, unsigned int reg, uint32_t value)
{
	if (reg == DP_ABORT)
		clear_sticky(dap, value);
	else if (reg == DP_SELECT)
		dap->select = value;
	else if (reg == DP_CTRL_STAT && !(dap->select & 0xf))
		dap->ctrl = (dap->ctrl & CTRL_FAULTS) | (value & (CTRL_REQUESTS | CTRL_ORUNDETECT));
}

static void ap_access(struct dap_swd *dap, unsigned int reg, bool read, uint32_t value)
{
	unsigned int n = dap->select >> 24;
	struct mem_ap *ap = n < DAP_SWD_APS ? dap->ap[n] : NULL;
	bool good = true;

	reg |= dap->select & 0xf0;
	if (read)
		dap->posted = 0;
	if (!ap)
		return;
	if (read)
		good = mem_ap_read(ap, reg, &dap->posted);
	else
		good = mem_ap_write(ap, reg, value);
	if (!good)
		dap->ctrl |= CTRL_STICKYERR;
}

/* ---- one transaction ---- */

/* These are answered whatever happened before. */
static bool always_good(uint8_t header)
{
	unsigned int reg = reg_of(header);

	if (header & HEADER_AP)
		return false;
	return header & HEADER_READ ? reg == DP_DPIDR || reg == DP_CTRL_STAT : reg == DP_ABORT;
}

static unsigned int acknowledge(struct dap_swd *dap, uint8_t header)
{
	enum dap_swd_injection injection = dap->injection;

	if (injection == DAP_SWD_WAIT) {
		dap->injection = DAP_SWD_GOOD;
		/* what the client has sent already must not take this one's place */
		if (dap->ctrl & CTRL_ORUNDETECT)
			dap->ctrl |= CTRL_STICKYORUN;
		return ACK_WAIT;
	}
	if (injection == DAP_SWD_FAULT && !always_good(header)) {
		dap->injection = DAP_SWD_GOOD;
		dap->ctrl |= CTRL_STICKYERR;
	}
	return dap->ctrl & CTRL_FAULTS && !always_good(header) ? ACK_FAULT : ACK_OK;
}

static void target_drives(struct dap_swd *dap, uint64_t bits, unsigned int count)
{
	dap->state = DAP_SWD_TARGET;
	dap->shift = bits;
	dap->target_bits = count;
}

static void begin_read(struct dap_swd *dap, uint8_t header, unsigned int ack)
{
	uint32_t value = 0;
	bool wrong = false;

	if (ack == ACK_OK) {
		value = header & HEADER_AP ? dap->posted : dp_read(dap, reg_of(header));
		wrong = dap->injection == DAP_SWD_PARITY;
		if (wrong)
			dap->injection = DAP_SWD_GOOD;
		if (header & HEADER_AP)
			ap_access(dap, reg_of(header), true, 0);
	}
	uint64_t data = value | (uint64_t)(parity(value) ^ wrong) << 32;
	target_drives(dap, ack | data << ACK_BITS, READ_BITS);
}

static bool is_header(uint8_t header)
{
	return !(header & HEADER_STOP) && header & HEADER_PARK && !parity(header >> 1 & 0x1f);
}

static void begin(struct dap_swd *dap, uint8_t header)
{
	bool identifies = header == 0xa5;

	if (!is_header(header) || (dap->must_identify && !identifies)) {
		dap->state = DAP_SWD_LOCKED;
		return;
	}
	dap->must_identify = false;
	dap->header = header;
	dap->transactions++;
	if (dap->begins)
		dap->begins(dap->ctx);
	unsigned int ack = acknowledge(dap, header);
	dap->swallow = ack != ACK_OK;
	if (header & HEADER_READ)
		begin_read(dap, header, ack);
	else
		target_drives(dap, ack, WRITE_BITS);
}

static void end_write(struct dap_swd *dap)
{
	uint32_t value = (uint32_t)dap->shift;
	bool wrong = parity(value) != (dap->shift >> 32 & 1);

	dap->state = DAP_SWD_IDLE;
	if (dap->swallow)
		return;
	if (dap->injection == DAP_SWD_PARITY) {
		dap->injection = DAP_SWD_GOOD;
		wrong = true;
	}
	if (wrong)
		dap->ctrl |= CTRL_WDATAERR;
	else if (dap->header & HEADER_AP)
		ap_access(dap, reg_of(dap->header), false, value);
	else
		dp_write(dap, reg_of(dap->header), value);
}

/* ---- bits ---- */

static void collect(struct dap_swd *dap, bool bit)
{
	dap->shift |= (uint64_t)bit << dap->bits++;
	if (dap->state == DAP_SWD_HEADER && dap->bits == 8)
		begin(dap, (uint8_t)dap->shift);
	else if (dap->state == DAP_SWD_DATA && dap->bits == DATA_BITS)
		end_write(dap);
}

static void host_bit(struct dap_swd *dap, bool bit)
{
	dap->ones = bit ? dap->ones + 1 : 0;
	if (dap->ones >= LINE_RESET) {
		dap->state = DAP_SWD_RESET;
		dap->must_identify = true;
		dap->select &= ~0xfu;
		return;
	}
	switch (dap->state) {
	case DAP_SWD_RESET:
		dap->state = DAP_SWD_IDLE;
		break;
	case DAP_SWD_IDLE:
		if (!bit)
			break;
		dap->state = DAP_SWD_HEADER;
		dap->shift = 0;
		dap->bits = 0;
		collect(dap, true);
		break;
	case DAP_SWD_HEADER:
	case DAP_SWD_DATA:
		collect(dap, bit);
		break;
	case DAP_SWD_TARGET:	/* both drive */
		dap->state = DAP_SWD_LOCKED;
		break;
	case DAP_SWD_LOCKED:
		break;
	}
}

/* An undriven line is pulled up. */
static bool target_bit(struct dap_swd *dap)
{
	if (dap->state != DAP_SWD_TARGET)
		return true;
	bool bit = dap->shift & 1;
	dap->shift >>= 1;
	if (--dap->target_bits)
		return bit;
	dap->state = dap->header & HEADER_READ ? DAP_SWD_IDLE : DAP_SWD_DATA;
	dap->shift = 0;
	dap->bits = 0;
	dap->ones = 0;
	return bit;
}

void dap_swd_io(struct dap_swd *dap, const uint8_t *dir, const uint8_t *out, uint8_t *in, size_t bits)
{
	memset(in, 0, (bits + 7) / 8);
	for (size_t i = 0; i < bits; i++) {
		bool bit = out[i / 8] >> i % 8 & 1;
		sim_clock_tck(dap->clock, 1);
		if (dir[i / 8] >> i % 8 & 1)
			host_bit(dap, bit);
		else
			bit = target_bit(dap);
		in[i / 8] |= bit << i % 8;
	}
}
