/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The APB face of an Xtensa debug module: 16 KiB of 32-bit registers at address 0 of the bus. */

#ifndef XDM_APB_H
#define XDM_APB_H

#include "mem_ap.h"
#include "xdm.h"

struct xdm_apb {
	struct xdm *xdm;
};

void xdm_apb_init(struct xdm_apb *apb, struct xdm *xdm);

/** The bus with the module on it; its context is a struct xdm_apb. */
extern const struct mem_ap_bus xdm_apb_bus;

#endif
