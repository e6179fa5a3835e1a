// SPDX-License-Identifier: GPL-2.0-or-later

#include "dap_jtag.h"

enum {
	IR_ABORT = 0x8,
	IR_DPACC = 0xa,
	IR_APACC = 0xb,
	IR_IDCODE = 0xe,
};

enum {
	DP_CTRL_STAT = 0x4,
	DP_SELECT = 0x8,
	DP_RDBUFF = 0xc,
};

#define ACK_OK			2u
#define ACCESS_LEN		35u

#define CTRL_ORUNDETECT		(1u << 0)
#define CTRL_STICKYORUN		(1u << 1)
#define CTRL_STICKYERR		(1u << 5)
#define CTRL_STICKY		(CTRL_STICKYORUN | CTRL_STICKYERR)
#define CTRL_DBG_REQ		(1u << 28)
#define CTRL_SYS_REQ		(1u << 30)
#define CTRL_KEPT		(CTRL_ORUNDETECT | CTRL_DBG_REQ | CTRL_SYS_REQ)

void dap_jtag_init(struct dap_jtag *dap, uint32_t idcode)
{
	*dap = (struct dap_jtag){ .idcode = idcode, .ir = IR_IDCODE };
}

static void tap_reset(void *ctx)
{
	struct dap_jtag *dap = ctx;

	dap->ir = IR_IDCODE;
}

static void update_ir(void *ctx, uint32_t value)
{
	struct dap_jtag *dap = ctx;

	dap->ir = value;
}

static uint64_t capture_dr(void *ctx, unsigned int *len)
{
	struct dap_jtag *dap = ctx;

	switch (dap->ir) {
	case IR_ABORT:
		*len = ACCESS_LEN;
		return 0;
	case IR_DPACC:
	case IR_APACC:
		*len = ACCESS_LEN;
		return (uint64_t)dap->result << 3 | ACK_OK;
	case IR_IDCODE:
		*len = 32;
		return dap->idcode;
	default:
		*len = 1;
		return 0;
	}
}

/* Each power request is acknowledged at once, in the bit above it. */
static uint32_t ctrl_stat(const struct dap_jtag *dap)
{
	return dap->ctrl | (dap->ctrl & (CTRL_DBG_REQ | CTRL_SYS_REQ)) << 1;
}

static uint32_t dp_read(const struct dap_jtag *dap, unsigned int reg)
{
	switch (reg) {
	case DP_CTRL_STAT:
		return ctrl_stat(dap);
	case DP_SELECT:
		return dap->select;
	case DP_RDBUFF:
		return dap->rdbuff;
	default:
		return 0;
	}
}

static void dp_write(struct dap_jtag *dap, unsigned int reg, uint32_t value)
{
	if (reg == DP_SELECT)
		dap->select = value;
	else if (reg == DP_CTRL_STAT)	/* ones clear the sticky bits */
		dap->ctrl = (dap->ctrl & CTRL_STICKY & ~value) | (value & CTRL_KEPT);
}

static void ap_access(struct dap_jtag *dap, unsigned int reg, bool read, uint32_t value)
{
	unsigned int n = dap->select >> 24;
	bool ok = true;

	if (dap->ctrl & CTRL_STICKY)
		return;
	reg |= dap->select & 0xf0;
	dap->rdbuff = read ? 0 : dap->rdbuff;
	if (n >= DAP_JTAG_APS || !dap->ap[n])
		return;
	if (read)
		ok = mem_ap_read(dap->ap[n], reg, &dap->rdbuff);
	else
		ok = mem_ap_write(dap->ap[n], reg, value);
	if (!ok)
		dap->ctrl |= CTRL_STICKYERR;
}

static void update_dr(void *ctx, uint64_t value)
{
	struct dap_jtag *dap = ctx;
	bool read = value & 1;
	unsigned int reg = (value >> 1 & 3) * 4;

	if (dap->ir == IR_APACC) {
		ap_access(dap, reg, read, value >> 3);
		dap->result = dap->rdbuff;
	} else if (dap->ir == IR_DPACC) {
		dap->result = read ? dp_read(dap, reg) : 0;
		if (!read)
			dp_write(dap, reg, value >> 3);
		if (read && reg == DP_RDBUFF)
			dap->rdbuff = 0;
	}
}

const struct jtag_tap_ops dap_jtag_ops = {
	.reset = tap_reset,
	.ir_capture = 1,
	.update_ir = update_ir,
	.capture_dr = capture_dr,
	.update_dr = update_dr,
};
