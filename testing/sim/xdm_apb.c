// SPDX-License-Identifier: GPL-2.0-or-later

#include "xdm_apb.h"

#define MODULE_SIZE	0x4000u
#define PWRCTL		0x3020u
#define PWRSTAT		0x3024u

/* Offsets and numbers run in parallel within each of these. */
static const struct {
	uint16_t offset;
	uint16_t count;
	uint8_t nar;
} blocks[] = {
	{ 0x0000, 16, 0x00 },
	{ 0x1000, 1, 0x20 },
	{ 0x1010, 1, 0x24 },
	{ 0x1080, 8, 0x28 },
	{ 0x1100, 8, 0x30 },
	{ 0x1180, 8, 0x38 },
	{ 0x2000, 16, 0x40 },
	{ 0x3028, 1, 0x5a },
	{ 0x3f00, 1, 0x60 },
	{ 0x3fa0, 24, 0x68 },
};

/* Power bits of the two faces. JtagDebugUse has no counterpart here. */
static const struct {
	uint32_t apb;
	uint32_t jtag;
} power_bits[] = {
	{ 1u << 28, 1u << 6 },
	{ 1u << 16, 1u << 4 },
	{ 1u << 12, 1u << 2 },
	{ 1u << 8, 1u << 1 },
	{ 1u << 4, 1u << 3 },
	{ 1u << 0, 1u << 0 },
};

static uint32_t to_jtag(uint32_t apb)
{
	uint32_t jtag = 0;

	for (size_t i = 0; i < sizeof(power_bits) / sizeof(power_bits[0]); i++)
		jtag |= apb & power_bits[i].apb ? power_bits[i].jtag : 0;
	return jtag;
}

static uint32_t to_apb(uint32_t jtag)
{
	uint32_t apb = 0;

	for (size_t i = 0; i < sizeof(power_bits) / sizeof(power_bits[0]); i++)
		apb |= jtag & power_bits[i].jtag ? power_bits[i].apb : 0;
	return apb;
}

/* NAR number of an offset, XDM_NAR_COUNT: there is no register. */
static unsigned int nar_of(uint32_t offset)
{
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		uint32_t n = (offset - blocks[i].offset) / 4;
		if (offset >= blocks[i].offset && n < blocks[i].count)
			return blocks[i].nar + n;
	}
	return XDM_NAR_COUNT;
}

static bool bus_read(void *ctx, uint64_t addr, unsigned int size, uint32_t *value)
{
	struct xdm *xdm = ((struct xdm_apb *)ctx)->xdm;
	unsigned int nar = nar_of(addr);

	*value = 0;
	if (size != 4 || addr >= MODULE_SIZE)
		return size == 4;	/* beyond the module the bus is empty, and answers 0 */
	if (addr == PWRCTL)
		*value = to_apb(xdm_pwrctl_read(xdm));
	else if (addr == PWRSTAT)
		*value = to_apb(xdm_pwrstat_read(xdm));
	else if (nar < XDM_NAR_COUNT)
		xdm_read(xdm, nar, value);
	return true;
}

static bool bus_write(void *ctx, uint64_t addr, unsigned int size, uint32_t value)
{
	struct xdm *xdm = ((struct xdm_apb *)ctx)->xdm;
	unsigned int nar = nar_of(addr);

	if (size != 4 || addr >= MODULE_SIZE)
		return size == 4;
	if (addr == PWRCTL)
		xdm_pwrctl_write(xdm, to_jtag(value));
	else if (addr == PWRSTAT)
		xdm_pwrstat_clear(xdm, to_jtag(value));
	else if (nar < XDM_NAR_COUNT)
		xdm_write(xdm, nar, value);
	return true;
}

void xdm_apb_init(struct xdm_apb *apb, struct xdm *xdm)
{
	apb->xdm = xdm;
}

const struct mem_ap_bus xdm_apb_bus = {
	.read = bus_read,
	.write = bus_write,
};
