// SPDX-License-Identifier: GPL-2.0-or-later

#include "mem_ap.h"

enum {
	REG_CSW = 0x00,
	REG_TAR = 0x04,
	REG_DRW = 0x0c,
	REG_BD0 = 0x10,
	REG_BD3 = 0x1c,
	REG_CFG = 0xf4,
	REG_BASE = 0xf8,
	REG_IDR = 0xfc,
};

#define CSW_SIZE		0x7u
#define CSW_INCREMENT		(1u << 4)
#define CSW_PACKED		(1u << 5)
#define CSW_DEVICE_ENABLED	(1u << 6)
#define TAR_BLOCK		0x3ffu	/* the address counts within 1 KiB */

void mem_ap_init(struct mem_ap *ap, uint32_t idr, const struct mem_ap_bus *bus, void *bus_ctx)
{
	*ap = (struct mem_ap){
		.idr = idr,
		.base = 0xffffffff,
		.csw = CSW_DEVICE_ENABLED | 2,
		.bus = bus,
		.bus_ctx = bus_ctx,
	};
}

static unsigned int size_of(const struct mem_ap *ap)
{
	return 1u << (ap->csw & CSW_SIZE);
}

static void increment(struct mem_ap *ap)
{
	if (ap->csw & CSW_INCREMENT)
		ap->tar = (ap->tar & ~TAR_BLOCK) | ((ap->tar + size_of(ap)) & TAR_BLOCK);
}

/* Byte n of DRW belongs to address TAR & ~3 + n, whatever the size. */
static bool drw_read(struct mem_ap *ap, uint32_t *value)
{
	bool ok = ap->bus->read(ap->bus_ctx, ap->tar, size_of(ap), value);

	*value <<= 8 * (ap->tar & 3);
	increment(ap);
	return ok;
}

static bool drw_write(struct mem_ap *ap, uint32_t value)
{
	unsigned int size = size_of(ap);
	uint32_t mask = size == 4 ? 0xffffffff : (1u << 8 * size) - 1;
	bool ok = ap->bus->write(ap->bus_ctx, ap->tar, size, value >> 8 * (ap->tar & 3) & mask);

	increment(ap);
	return ok;
}

static uint32_t banked(const struct mem_ap *ap, unsigned int reg)
{
	return (ap->tar & ~0xfu) | (reg & 0xc);
}

bool mem_ap_read(struct mem_ap *ap, unsigned int reg, uint32_t *value)
{
	*value = 0;
	if (reg >= REG_BD0 && reg <= REG_BD3)
		return ap->bus->read(ap->bus_ctx, banked(ap, reg), 4, value);
	switch (reg) {
	case REG_CSW:
		*value = ap->csw;
		break;
	case REG_TAR:
		*value = ap->tar;
		break;
	case REG_DRW:
		return drw_read(ap, value);
	case REG_BASE:
		*value = ap->base;
		break;
	case REG_IDR:
		*value = ap->idr;
		break;
	case REG_CFG:
	default:
		break;
	}
	return true;
}

bool mem_ap_write(struct mem_ap *ap, unsigned int reg, uint32_t value)
{
	if (reg >= REG_BD0 && reg <= REG_BD3)
		return ap->bus->write(ap->bus_ctx, banked(ap, reg), 4, value);
	switch (reg) {
	case REG_CSW:
		ap->csw = (value & ~CSW_PACKED) | CSW_DEVICE_ENABLED;
		if ((ap->csw & CSW_SIZE) > 2)
			ap->csw = (ap->csw & ~CSW_SIZE) | 2;
		break;
	case REG_TAR:
		ap->tar = value;
		break;
	case REG_DRW:
		return drw_write(ap, value);
	default:
		break;
	}
	return true;
}
