/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A memory access port (Arm ADIv5 MEM-AP) in front of any bus. Debug ports (dap_jtag.h; SWD could be another) call
 * it by register number. Packed transfers and 64-bit addresses are not there, and CSW says so.
 */

#ifndef MEM_AP_H
#define MEM_AP_H

#include <stdbool.h>
#include <stdint.h>

/** What is behind the port. @a size is 1, 2 or 4; values are in the low bits. @returns false: bus error. */
struct mem_ap_bus {
	bool (*read)(void *ctx, uint64_t addr, unsigned int size, uint32_t *value);
	bool (*write)(void *ctx, uint64_t addr, unsigned int size, uint32_t value);
};

struct mem_ap {
	uint32_t idr;
	uint32_t base;		/* BASE; all ones: no ROM table */
	uint32_t csw;
	uint32_t tar;
	const struct mem_ap_bus *bus;
	void *bus_ctx;
};

void mem_ap_init(struct mem_ap *ap, uint32_t idr, const struct mem_ap_bus *bus, void *bus_ctx);

/** Access register @a reg (0x00 to 0xfc, a multiple of 4). @returns false: bus error. */
bool mem_ap_read(struct mem_ap *ap, unsigned int reg, uint32_t *value);
bool mem_ap_write(struct mem_ap *ap, unsigned int reg, uint32_t value);

#endif
