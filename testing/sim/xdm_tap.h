/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The JTAG face of an Xtensa debug module: a TAP with a 5-bit instruction register.
 *
 * Under NARSEL the data register alternates between an address of 8 bits (number << 1 | write), whose capture is the
 * status of the access before, and data of 32 bits. Update-IR goes back to the address. A read happens in Capture-DR
 * of the data scan, a write in Update-DR. While PWRCTL.JtagDebugUse is clear nothing reaches the module: an error,
 * and reads are 0.
 */

#ifndef XDM_TAP_H
#define XDM_TAP_H

#include "jtag_chain.h"
#include "xdm.h"

#define XDM_TAP_IR_LEN		5u

struct xdm_tap {
	struct xdm *xdm;
	uint32_t idcode;
	uint32_t ir;
	bool data_phase;
	bool write;
	unsigned int nar;
	uint32_t status;	/* of the last access */
};

extern const struct jtag_tap_ops xdm_tap_ops;

#endif
