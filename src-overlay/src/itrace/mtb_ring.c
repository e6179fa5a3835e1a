// SPDX-License-Identifier: GPL-2.0-or-later

#include "mtb_ring.h"

#include <stddef.h>

#define PACKET_LEN	8u
#define SIZE_MIN	16u	/* MASK 0 */
#define AW_MIN		4u
#define AW_MAX		32u

struct register_row {
	const char *name;
	size_t off;
};

/* in the order of their bits */
static const struct register_row rows[] = {
	{ "POSITION", offsetof(struct itrace_mtb_registers, position) },
	{ "MASTER", offsetof(struct itrace_mtb_registers, master) },
	{ "FLOW", offsetof(struct itrace_mtb_registers, flow) },
	{ "BASE", offsetof(struct itrace_mtb_registers, base) },
	{ "AW", offsetof(struct itrace_mtb_registers, aw) },
	{ "PC_ARM", offsetof(struct itrace_mtb_registers, pc_arm) },
	{ "PC_HALT", offsetof(struct itrace_mtb_registers, pc_halt) },
	{ "VTOR", offsetof(struct itrace_mtb_registers, vtor) },
};

#define ROW_NUM	(sizeof(rows) / sizeof(rows[0]))

static bool same_name(const char *left, const char *right)
{
	for (; *left && *right; left++, right++) {
		char a = *left, b = *right;
		if (a >= 'a' && a <= 'z')
			a -= 'a' - 'A';
		if (b >= 'a' && b <= 'z')
			b -= 'a' - 'A';
		if (a != b)
			return false;
	}
	return *left == *right;
}

uint32_t *itrace_mtb_register(struct itrace_mtb_registers *regs, const char *name, uint32_t *bit)
{
	for (unsigned int i = 0; i < ROW_NUM; i++) {
		if (!same_name(rows[i].name, name))
			continue;
		if (bit)
			*bit = UINT32_C(1) << i;
		return (uint32_t *)(void *)((char *)regs + rows[i].off);
	}
	return NULL;
}

const char *itrace_mtb_register_name(unsigned int index)
{
	return index < ROW_NUM ? rows[index].name : NULL;
}

static const char * const status_texts[] = {
	[ITRACE_MTB_RING_OK] = "the buffer is in the dump",
	[ITRACE_MTB_RING_BAD_AW] = "AW is the number of address bits of the MTB's RAM, from 4 to 32",
	[ITRACE_MTB_RING_BAD_BASE] = "BASE is a multiple of 32; give the bus address of the MTB's RAM",
	[ITRACE_MTB_RING_POSITION_ABOVE_AW] =
		"POSITION has bits that an MTB of this AW reads as zero: one of the two is wrong",
	[ITRACE_MTB_RING_NO_SIZE] =
		"the length is no power of two, so it does not tell the size of the buffer: give MASTER",
	[ITRACE_MTB_RING_NO_PLACE] =
		("where the buffer is in it is not known: give AW, or BASE (not 0: some chips read it so; the address of the "
			"MTB's RAM is meant)"),
	[ITRACE_MTB_RING_AMBIGUOUS] = "it is longer than the RAM of an MTB of this AW: give BASE, too, and not 0",
	[ITRACE_MTB_RING_NEEDS_AW] = "POSITION and BASE alone leave more than one place for the buffer: give AW, too",
	[ITRACE_MTB_RING_OUTSIDE] = "the buffer that POSITION is in begins outside of it",
	[ITRACE_MTB_RING_CUT] = "it ends before the buffer does",
	[ITRACE_MTB_RING_BEFORE] = "it begins inside of a buffer that has wrapped",
};

_Static_assert(sizeof(status_texts) / sizeof(status_texts[0]) == ITRACE_MTB_RING_STATUS_NUM, "a text for each");

const char *itrace_mtb_ring_status_text(enum itrace_mtb_ring_status status)
{
	return (unsigned int)status < ITRACE_MTB_RING_STATUS_NUM ? status_texts[status] : "unknown";
}

static bool has(const struct itrace_mtb_registers *regs, uint32_t bit)
{
	return regs->given & bit;
}

static bool is_size(uint64_t len)
{
	return len >= SIZE_MIN && !(len & (len - 1));
}

uint64_t itrace_mtb_bus_address(uint32_t base, unsigned int aw, uint32_t position)
{
	const uint64_t ram = UINT64_C(1) << aw;

	return (base + (((position & ~UINT32_C(7)) + (ram - base % ram)) & (ram - 1))) & UINT32_MAX;
}

static enum itrace_mtb_ring_status check_registers(const struct itrace_mtb_registers *regs)
{
	if (has(regs, ITRACE_MTB_REG_AW)) {
		if (regs->aw < AW_MIN || regs->aw > AW_MAX)
			return ITRACE_MTB_RING_BAD_AW;
		if (has(regs, ITRACE_MTB_REG_POSITION) && (uint64_t)regs->position >> regs->aw)
			return ITRACE_MTB_RING_POSITION_ABOVE_AW;
	}
	if (has(regs, ITRACE_MTB_REG_BASE) && regs->base & 0x1f)
		return ITRACE_MTB_RING_BAD_BASE;
	return ITRACE_MTB_RING_OK;
}

/* @returns false when nothing tells the size. */
static bool find_size(struct itrace_mtb_ring *ring, const struct itrace_mtb_registers *regs, uint64_t addr,
		uint64_t len)
{
	if (!has(regs, ITRACE_MTB_REG_MASTER)) {
		ring->size_from_dump = true;
		ring->size = len;
		return is_size(len) && !(addr & (len - 1));
	}
	uint32_t mask = regs->master & ITRACE_MTB_MASTER_MASK;
	if (has(regs, ITRACE_MTB_REG_AW) && mask > regs->aw - AW_MIN) {
		mask = regs->aw - AW_MIN;
		ring->clamped = true;
	}
	ring->size = (uint64_t)SIZE_MIN << mask;
	return true;
}

/*
 * AW is not known. Where BASE is a multiple of the largest power of two that it can be, all are the same place; else
 * only one of them may be in the dump.
 */
static enum itrace_mtb_ring_status find_without_aw(const struct itrace_mtb_ring *ring,
		const struct itrace_mtb_registers *regs, uint64_t addr, uint64_t len, int64_t *place)
{
	const uint64_t last = ring->start + ring->size - 1;
	const uint64_t need = ring->wrapped ? ring->size : (regs->position & ~(PACKET_LEN - 1)) - ring->start;
	bool found = false;

	*place = (int64_t)(regs->base + ring->start - addr);
	for (unsigned int aw = AW_MIN; aw <= AW_MAX; aw++) {
		const int64_t at = (int64_t)(itrace_mtb_bus_address(regs->base, aw, (uint32_t)ring->start) - addr);
		if (last >> aw || at < 0 || (uint64_t)at > len || len - (uint64_t)at < need)
			continue;
		if (found && at != *place)
			return ITRACE_MTB_RING_NEEDS_AW;
		*place = at;
		found = true;
	}
	return ITRACE_MTB_RING_OK;
}

/*
 * Where the buffer begins, counted from the dump's first byte; a dump may also begin inside the buffer: then it is
 * negative.
 */
static enum itrace_mtb_ring_status find_place(const struct itrace_mtb_ring *ring,
		const struct itrace_mtb_registers *regs, bool has_addr, uint64_t addr, uint64_t len, int64_t *place)
{
	const bool base = has(regs, ITRACE_MTB_REG_BASE) && regs->base;
	const bool aw = has(regs, ITRACE_MTB_REG_AW);
	const uint64_t ram = aw ? UINT64_C(1) << regs->aw : 0;

	*place = 0;
	if (!has_addr)
		return ITRACE_MTB_RING_OK;
	if (base && !aw)
		return find_without_aw(ring, regs, addr, len, place);
	if (base) {
		*place = (int64_t)(itrace_mtb_bus_address(regs->base, regs->aw, (uint32_t)ring->start) - addr);
		return ITRACE_MTB_RING_OK;
	}
	if (!aw) {
		/* the dump is as long as the buffer, and aligned like one: it is the buffer */
		if (len == ring->size && !(addr & (ring->size - 1)))
			return ITRACE_MTB_RING_OK;
		return ITRACE_MTB_RING_NO_PLACE;
	}
	if (len > ram)
		return ITRACE_MTB_RING_AMBIGUOUS;
	const uint64_t ahead = (ring->start - addr) & (ram - 1);
	/* the dump begins inside the buffer when its first byte is one of the buffer's */
	*place = ahead && ram - ahead < ring->size ? -(int64_t)(ram - ahead) : (int64_t)ahead;
	return ITRACE_MTB_RING_OK;
}

static void add_piece(struct itrace_mtb_ring *ring, uint64_t off, uint64_t len)
{
	if (!len)
		return;
	ring->pieces[ring->piece_count].off = off;
	ring->pieces[ring->piece_count].len = len;
	ring->piece_count++;
}

/* What was traced lies at [place, place + used) of the dump, or is all of the buffer. */
static enum itrace_mtb_ring_status cut_pieces(struct itrace_mtb_ring *ring, uint64_t used, int64_t place, uint64_t len)
{
	const uint64_t traced = ring->wrapped ? ring->size : used;

	if (place < 0 && (ring->wrapped || (uint64_t)-place > used))
		return ring->wrapped ? ITRACE_MTB_RING_BEFORE : ITRACE_MTB_RING_OUTSIDE;
	if (place >= 0) {
		ring->dump_off = (uint64_t)place;
		ring->need_len = ring->dump_off + traced;
		if (ring->dump_off > len || (ring->dump_off == len && traced))
			return ITRACE_MTB_RING_OUTSIDE;
	} else {
		ring->front_missing = true;
		/* what it leaves out of the front cannot be told from what was never written */
		ring->need_len = traced - (uint64_t)-place;
	}
	if (ring->need_len > len)
		return ITRACE_MTB_RING_CUT;
	if (place < 0) {
		add_piece(ring, 0, ring->need_len);
		return ITRACE_MTB_RING_OK;
	}
	if (ring->wrapped)
		add_piece(ring, ring->dump_off + used, ring->size - used);
	add_piece(ring, ring->dump_off, used);
	return ITRACE_MTB_RING_OK;
}

enum itrace_mtb_ring_status itrace_mtb_ring_find(struct itrace_mtb_ring *ring,
		const struct itrace_mtb_registers *regs, bool has_addr, uint64_t addr, uint64_t len)
{
	int64_t place;

	*ring = (struct itrace_mtb_ring){ .piece_count = 0 };
	enum itrace_mtb_ring_status status = check_registers(regs);
	if (status != ITRACE_MTB_RING_OK)
		return status;
	if (!has(regs, ITRACE_MTB_REG_POSITION)) {
		ring->size = len;
		add_piece(ring, 0, len);
		return ITRACE_MTB_RING_OK;
	}
	ring->known = true;
	ring->wrapped = regs->position & ITRACE_MTB_POSITION_WRAP;
	if (!find_size(ring, regs, has_addr ? addr : 0, len))
		return ITRACE_MTB_RING_NO_SIZE;
	const uint64_t pointer = regs->position & ~(uint32_t)(PACKET_LEN - 1);
	const uint64_t used = pointer & (ring->size - 1);
	ring->start = pointer - used;
	status = find_place(ring, regs, has_addr, addr, len, &place);
	if (status != ITRACE_MTB_RING_OK)
		return status;
	return cut_pieces(ring, used, place, len);
}
