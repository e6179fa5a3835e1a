// SPDX-License-Identifier: GPL-2.0-or-later

#include "cortexm_mtb.h"

enum {
	REG_POSITION = 0x000,
	REG_MASTER = 0x004,
	REG_FLOW = 0x008,
	REG_BASE = 0x00c,
	REG_TSTART = 0x010,
	REG_TSTOP = 0x014,
	REG_AUTHSTATUS = 0xfb8,
	REG_DEVARCH = 0xfbc,
	REG_DEVTYPE = 0xfcc,
};

#define POINTER		0xfffffff8u
#define WRAP		(1u << 2)
#define RAMPRIV		(1u << 8)
#define SFRWPRIV	(1u << 7)
#define TSTOPEN		(1u << 6)
#define TSTARTEN	(1u << 5)
#define MASK		0x1fu
#define WATERMARK	0xfffffff8u
#define AUTOHALT	(1u << 1)
#define AUTOSTOP	(1u << 0)
#define COMPARATORS	0xfu

#define MASTER_BOTH	(CORTEXM_MTB_EN | CORTEXM_MTB_HALTREQ | RAMPRIV | TSTOPEN | TSTARTEN | MASK)

static uint32_t ram_mask(const struct cortexm_mtb *mtb)
{
	return (uint32_t)((1ull << mtb->options.aw) - 1);
}

void cortexm_mtb_init(struct cortexm_mtb *mtb, const struct cortexm_mtb_options *options, uint64_t noise)
{
	mtb->options = *options;
	mtb->position = noise & ram_mask(mtb) & (POINTER | WRAP);
	mtb->flow = noise >> 32 & ram_mask(mtb) & (WATERMARK | AUTOHALT | AUTOSTOP);
	mtb->master = noise >> 20 & MASK;
	cortexm_mtb_reset(mtb);
}

void cortexm_mtb_reset(struct cortexm_mtb *mtb)
{
	mtb->master &= MASK;
	if (!mtb->options.m33)
		mtb->master |= SFRWPRIV;
	mtb->tstart = 0;
	mtb->tstop = 0;
	mtb->clocked = !mtb->options.gated;
}

static const struct {
	uint16_t offset;
	uint8_t m0plus;
	uint8_t m33;
} ids[] = {
	{ 0xfd0, 0x04, 0x04 },
	{ 0xfe0, 0x32, 0x21 }, { 0xfe4, 0xb9, 0xbd }, { 0xfe8, 0x0b, 0x0b }, { 0xfec, 0x00, 0x00 },
	{ 0xff0, 0x0d, 0x0d }, { 0xff4, 0x90, 0x90 }, { 0xff8, 0x05, 0x05 }, { 0xffc, 0xb1, 0xb1 },
	{ 0xfcc, 0x31, 0x31 },
	{ 0xfb8, 0x0f, 0x0f },
};

static uint32_t read_id(const struct cortexm_mtb *mtb, uint32_t offset)
{
	if (offset == REG_DEVARCH)
		return 0x47700a31;
	for (unsigned int i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (ids[i].offset == offset)
			return mtb->options.m33 ? ids[i].m33 : ids[i].m0plus;
	}
	return 0;
}

uint32_t cortexm_mtb_read(const struct cortexm_mtb *mtb, uint32_t offset)
{
	if (!mtb->clocked)
		return 0;
	switch (offset) {
	case REG_POSITION:
		return mtb->position;
	case REG_MASTER:
		return mtb->master;
	case REG_FLOW:
		return mtb->flow;
	case REG_BASE:
		return mtb->options.base_reads;
	case REG_TSTART:
		return mtb->tstart;
	case REG_TSTOP:
		return mtb->tstop;
	default:
		return read_id(mtb, offset);
	}
}

/* While the pointer is at the watermark with AUTOSTOP, nothing enables trace. */
static bool may_enable(const struct cortexm_mtb *mtb)
{
	return !(mtb->flow & AUTOSTOP) || ((mtb->flow ^ mtb->position) & POINTER);
}

static void enable(struct cortexm_mtb *mtb)
{
	if (mtb->master & CORTEXM_MTB_EN || !may_enable(mtb))
		return;
	mtb->master |= CORTEXM_MTB_EN;
	mtb->start_bit = true;
}

static void write_master(struct cortexm_mtb *mtb, uint32_t value)
{
	uint32_t was = mtb->master & CORTEXM_MTB_EN;
	uint32_t kept = MASTER_BOTH | (mtb->options.m33 ? 0 : SFRWPRIV);

	mtb->master = (value & kept & ~CORTEXM_MTB_EN) | (value & was);
	if (value & CORTEXM_MTB_EN)
		enable(mtb);
}

void cortexm_mtb_write(struct cortexm_mtb *mtb, uint32_t offset, uint32_t value, bool privileged)
{
	if (!mtb->clocked || (!privileged && mtb->master & SFRWPRIV))
		return;
	switch (offset) {
	case REG_POSITION:
		mtb->position = value & ram_mask(mtb) & (POINTER | WRAP);
		break;
	case REG_MASTER:
		write_master(mtb, value);
		break;
	case REG_FLOW:
		mtb->flow = value & ((ram_mask(mtb) & WATERMARK) | AUTOHALT | AUTOSTOP);
		break;
	case REG_TSTART:
		mtb->tstart = mtb->options.m33 ? value & COMPARATORS : 0;
		break;
	case REG_TSTOP:
		mtb->tstop = mtb->options.m33 ? value & COMPARATORS : 0;
		break;
	default:
		break;
	}
}

void cortexm_mtb_inputs(struct cortexm_mtb *mtb, bool start, bool stop)
{
	if (start && mtb->master & TSTARTEN)
		enable(mtb);
	else if (stop && mtb->master & TSTOPEN)
		mtb->master &= ~CORTEXM_MTB_EN;
}

/* The buffer's mask of address bits that count. */
static uint32_t count_mask(const struct cortexm_mtb *mtb)
{
	unsigned int bits = (mtb->master & MASK) + 4;

	return bits >= mtb->options.aw ? ram_mask(mtb) : (uint32_t)((1ull << bits) - 1);
}

uint32_t cortexm_mtb_size(const struct cortexm_mtb *mtb)
{
	return count_mask(mtb) + 1;
}

uint32_t cortexm_mtb_bus(const struct cortexm_mtb *mtb, uint32_t position)
{
	uint32_t mask = ram_mask(mtb);

	return mtb->options.ram_base + (((position & POINTER) - (mtb->options.ram_base & mask)) & mask);
}

static void advance(struct cortexm_mtb *mtb)
{
	uint32_t mask = count_mask(mtb);
	uint32_t pointer = mtb->position & POINTER;
	uint32_t next = (pointer & ~mask) | ((pointer + 8) & mask);

	mtb->position = next | (mtb->position & WRAP);
	if (!(next & mask))
		mtb->position |= WRAP;
	if (next != (mtb->flow & WATERMARK))
		return;
	if (mtb->flow & AUTOSTOP)
		mtb->master &= ~CORTEXM_MTB_EN;
	if (mtb->flow & AUTOHALT)
		mtb->master |= CORTEXM_MTB_HALTREQ;
}

bool cortexm_mtb_packet(struct cortexm_mtb *mtb, uint32_t source, bool atomic, uint32_t destination)
{
	uint32_t at = cortexm_mtb_bus(mtb, mtb->position);

	if (!mtb->clocked || !(mtb->master & CORTEXM_MTB_EN))
		return false;
	mtb->store(mtb->ctx, at, (source & ~1u) | atomic);
	mtb->store(mtb->ctx, at + 4, (destination & ~1u) | mtb->start_bit);
	mtb->start_bit = false;
	mtb->packets++;
	advance(mtb);
	return true;
}
