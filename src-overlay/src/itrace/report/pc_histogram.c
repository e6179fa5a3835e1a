// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "pc_histogram.h"

#define SLOTS_FIRST	256u		/* as many as a short profile needs */

/* In a count while slots are put in order: this entry does not yet stand where a search would find it. */
#define MISPLACED	((uint64_t)1 << 63)

/* 2^64 divided by the golden ratio: spreads neighbours evenly over the table. */
#define HASH_FACTOR	UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t rounded(const struct itrace_pc_histogram *h, uint64_t addr)
{
	return addr >> h->shift << h->shift;
}

static inline size_t home(const struct itrace_pc_histogram *h, uint64_t addr)
{
	/* what was dropped must not be what the table is spread by */
	return (size_t)((addr >> h->shift) * HASH_FACTOR >> (64 - h->slot_bits));
}

static bool is_full(const struct itrace_pc_histogram *h)
{
	return h->used >= h->slot_count / 4 * 3;
}

static void set_slots(struct itrace_pc_histogram *h, struct itrace_pc_count *slots, size_t slot_count)
{
	h->slots = slots;
	h->slot_count = slot_count;
	h->slot_bits = 0;
	while ((size_t)1 << h->slot_bits < slot_count)
		h->slot_bits++;
}

bool itrace_pc_histogram_init(struct itrace_pc_histogram *histogram, size_t slot_max)
{
	size_t limit = slot_max ? slot_max : ITRACE_PC_HISTOGRAM_SLOTS;

	memset(histogram, 0, sizeof(*histogram));
	if (limit > ITRACE_PC_HISTOGRAM_SLOTS_MAX)
		limit = ITRACE_PC_HISTOGRAM_SLOTS_MAX;
	histogram->slot_max = ITRACE_PC_HISTOGRAM_SLOTS_MIN;
	while (histogram->slot_max * 2 <= limit)
		histogram->slot_max *= 2;

	size_t first = histogram->slot_max < SLOTS_FIRST ? histogram->slot_max : SLOTS_FIRST;
	struct itrace_pc_count *slots = calloc(first, sizeof(*slots));
	if (!slots)
		return false;
	set_slots(histogram, slots, first);
	return true;
}

void itrace_pc_histogram_free(struct itrace_pc_histogram *histogram)
{
	free(histogram->slots);
	memset(histogram, 0, sizeof(*histogram));
}

void itrace_pc_histogram_clear(struct itrace_pc_histogram *histogram)
{
	memset(histogram->slots, 0, histogram->slot_count * sizeof(*histogram->slots));
	histogram->used = 0;
	histogram->total = 0;
	histogram->shift = 0;
}

/*
 * Put @a entry where it belongs while others are still misplaced: a search passes over placed entries only, so that a
 * misplaced one in the way can be taken out and be placed next.
 */
static void place(struct itrace_pc_histogram *h, struct itrace_pc_count entry)
{
	size_t i = home(h, entry.addr);

	for (;;) {
		struct itrace_pc_count *slot = &h->slots[i];
		if (slot->count & MISPLACED) {
			struct itrace_pc_count other = { rounded(h, slot->addr), slot->count & ~MISPLACED };
			*slot = entry;
			entry = other;
			i = home(h, entry.addr);
			continue;
		}
		if (!slot->count) {
			*slot = entry;
			return;
		}
		if (slot->addr == entry.addr) {
			slot->count += entry.count;
			h->used--;
			return;
		}
		i = (i + 1) & (h->slot_count - 1);
	}
}

/* Put everything in order after shift or slot_count changed; what became equal is added up. Needs no memory. */
static void place_all(struct itrace_pc_histogram *h)
{
	for (size_t i = 0; i < h->slot_count; i++)
		if (h->slots[i].count)
			h->slots[i].count |= MISPLACED;
	for (size_t i = 0; i < h->slot_count; i++) {
		if (!(h->slots[i].count & MISPLACED))
			continue;
		struct itrace_pc_count entry = { rounded(h, h->slots[i].addr), h->slots[i].count & ~MISPLACED };
		h->slots[i].count = 0;
		place(h, entry);
	}
}

/* @returns false when there is no memory; nothing is changed then */
static bool grow(struct itrace_pc_histogram *h)
{
	size_t slot_count = h->slot_count * 2;
	struct itrace_pc_count *slots = realloc(h->slots, slot_count * sizeof(*slots));

	if (!slots)
		return false;
	memset(slots + h->slot_count, 0, (slot_count - h->slot_count) * sizeof(*slots));
	set_slots(h, slots, slot_count);
	place_all(h);
	return true;
}

static void make_room(struct itrace_pc_histogram *h)
{
	if (h->slot_count < h->slot_max) {
		if (grow(h))
			return;
		h->slot_max = h->slot_count;
	}
	/*
	 * Down to half of the slots, so that this is not soon to be done again. With 63 bits dropped two addresses are
	 * left, which fit into the smallest table.
	 */
	do {
		h->shift++;
		place_all(h);
	} while (h->used > h->slot_count / 2);
}

void itrace_pc_histogram_add(struct itrace_pc_histogram *histogram, uint64_t addr, uint64_t count)
{
	if (!count)
		return;
	histogram->total += count;

	uint64_t key = rounded(histogram, addr);
	size_t mask = histogram->slot_count - 1;
	for (size_t i = home(histogram, key); ; i = (i + 1) & mask) {
		struct itrace_pc_count *slot = &histogram->slots[i];
		if (!slot->count) {
			slot->addr = key;
			slot->count = count;
			break;
		}
		if (slot->addr == key) {
			slot->count += count;
			return;
		}
	}
	histogram->used++;
	/* at least one slot is always free, so that the search above ends */
	if (is_full(histogram))
		make_room(histogram);
}

void itrace_pc_histogram_merge(struct itrace_pc_histogram *histogram, const struct itrace_pc_histogram *other)
{
	if (histogram->shift < other->shift) {
		histogram->shift = other->shift;
		place_all(histogram);
	}
	for (size_t i = 0; i < other->slot_count; i++)
		itrace_pc_histogram_add(histogram, other->slots[i].addr, other->slots[i].count);
}

static int addr_compare(const void *left, const void *right)
{
	const struct itrace_pc_count *a = left;
	const struct itrace_pc_count *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

bool itrace_pc_histogram_sorted(const struct itrace_pc_histogram *histogram, struct itrace_pc_count **entries,
		size_t *count)
{
	*entries = NULL;
	*count = 0;
	if (!histogram->used)
		return true;
	struct itrace_pc_count *list = malloc(histogram->used * sizeof(*list));
	if (!list)
		return false;
	size_t n = 0;
	for (size_t i = 0; i < histogram->slot_count; i++)
		if (histogram->slots[i].count)
			list[n++] = histogram->slots[i];
	qsort(list, n, sizeof(*list), addr_compare);
	*entries = list;
	*count = n;
	return true;
}
