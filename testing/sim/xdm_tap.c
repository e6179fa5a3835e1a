// SPDX-License-Identifier: GPL-2.0-or-later

#include "xdm_tap.h"

enum {
	IR_PWRCTL = 0x08,
	IR_PWRSTAT = 0x09,
	IR_NARSEL = 0x1c,
	IR_IDCODE = 0x1e,
};

static void tap_reset(void *ctx)
{
	struct xdm_tap *tap = ctx;

	tap->ir = IR_IDCODE;
	tap->data_phase = false;
}

static void update_ir(void *ctx, uint32_t value)
{
	struct xdm_tap *tap = ctx;

	tap->ir = value;
	tap->data_phase = false;
}

static bool reachable(const struct xdm_tap *tap)
{
	return tap->xdm->pwrctl & XDM_PWRCTL_JTAG_DEBUG_USE;
}

static uint64_t capture_nar(struct xdm_tap *tap, unsigned int *len)
{
	uint32_t value = 0;

	if (!tap->data_phase) {
		*len = 8;
		return tap->status | xdm_busy(tap->xdm);
	}
	*len = 32;
	if (tap->write)
		return 0;
	tap->status = reachable(tap) ? xdm_read(tap->xdm, tap->nar, &value) : XDM_STATUS_ERROR;
	return value;
}

static uint64_t capture_dr(void *ctx, unsigned int *len)
{
	struct xdm_tap *tap = ctx;

	switch (tap->ir) {
	case IR_PWRCTL:
		*len = 8;
		return xdm_pwrctl_read(tap->xdm);
	case IR_PWRSTAT:
		*len = 8;
		return xdm_pwrstat_read(tap->xdm);
	case IR_NARSEL:
		return capture_nar(tap, len);
	case IR_IDCODE:
		*len = 32;
		return tap->idcode;
	default:
		*len = 1;
		return 0;
	}
}

static void update_nar(struct xdm_tap *tap, uint32_t value)
{
	if (!tap->data_phase) {
		tap->nar = value >> 1;
		tap->write = value & 1;
	} else if (tap->write) {
		tap->status = reachable(tap) ? xdm_write(tap->xdm, tap->nar, value) : XDM_STATUS_ERROR;
	}
	tap->data_phase = !tap->data_phase;
}

static void update_dr(void *ctx, uint64_t value)
{
	struct xdm_tap *tap = ctx;

	if (tap->ir == IR_PWRCTL)
		xdm_pwrctl_write(tap->xdm, value);
	else if (tap->ir == IR_PWRSTAT)
		xdm_pwrstat_clear(tap->xdm, value);
	else if (tap->ir == IR_NARSEL)
		update_nar(tap, value);
}

const struct jtag_tap_ops xdm_tap_ops = {
	.reset = tap_reset,
	.ir_capture = 1,
	.update_ir = update_ir,
	.capture_dr = capture_dr,
	.update_dr = update_dr,
};
