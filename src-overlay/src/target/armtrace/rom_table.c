// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stddef.h>

#include "rom_table.h"

#define CS_DEVARCH		0xfbcu
#define CS_PIDR4		0xfd0u
#define CIDR_FIXED		0xffff0fffu
#define CIDR_PREAMBLE		0xb105000du

#define ENTRY_PRESENT		(1u << 0)
#define ENTRY_FORMAT		(1u << 1)	/* class 1: entries of 32 bits. Class 9: an entry, be it present or not */
#define ENTRY_POWER_VALID	(1u << 2)
#define ENTRY_POWER(entry)	((entry) >> 4 & 0x1f)
#define ENTRY_OFFSET		0xfffff000u

#define CHUNK			16u		/* words of a table in one read */
#define CLASS1_WORDS		(0xf00u / 4)
#define CLASS9_WORDS		(0x800u / 4)

static bool tell(struct rom_walk *walk, const struct rom_find *find)
{
	struct rom_find last = *find;

	if (walk->find_count++ < ROM_TABLE_FINDS)
		return walk->visit(walk->ctx, find);
	last.state = ROM_FIND_TOO_MANY;
	walk->visit(walk->ctx, &last);
	return false;
}

static uint32_t bytes_of(const uint32_t words[4])
{
	return (words[0] & 0xff) | (words[1] & 0xff) << 8 | (words[2] & 0xff) << 16 | (words[3] & 0xff) << 24;
}

/* PIDR4..7, PIDR0..3, CIDR0..3; of class 9 also DEVARCH, DEVID2, DEVID1, DEVID, DEVTYPE. */
static enum rom_find_state identify(struct rom_walk *walk, struct rom_find *find)
{
	uint32_t id[12];
	uint32_t device[5];

	if (!walk->read(walk->ctx, find->addr + CS_PIDR4, id, 12))
		return ROM_FIND_UNREADABLE;
	find->cidr = bytes_of(&id[8]);
	if ((find->cidr & CIDR_FIXED) != CIDR_PREAMBLE)
		return ROM_FIND_NOTHING;
	uint32_t pidr = bytes_of(&id[4]);
	find->ids.component_class = find->cidr >> 12 & 0xf;
	find->ids.part = pidr & 0xfff;
	find->ids.designer = (pidr >> 12 & 0x7f) | (id[0] & 0xf) << 7;
	if (find->ids.component_class == CS_CLASS_CORESIGHT) {
		if (!walk->read(walk->ctx, find->addr + CS_DEVARCH, device, 5))
			return ROM_FIND_UNREADABLE;
		find->ids.devarch = device[0];
		find->ids.devid = device[3];
		find->ids.devtype = device[4] & 0xff;
	}
	return cs_component_is_rom_table(&find->ids) ? ROM_FIND_TABLE : ROM_FIND_COMPONENT;
}

static bool met_before(const struct rom_walk *walk, uint64_t table)
{
	for (unsigned int i = 0; i < walk->table_count; i++) {
		if (walk->tables[i] == table)
			return true;
	}
	return false;
}

static enum rom_find_state state_of_table(const struct rom_walk *walk, const struct rom_find *find)
{
	if (met_before(walk, find->addr))
		return ROM_FIND_AGAIN;
	return find->depth >= ROM_TABLE_DEPTH || walk->table_count >= ROM_TABLE_TABLES ? ROM_FIND_TOO_DEEP : ROM_FIND_TABLE;
}

/* Offsets are signed. A table below 4 GB with 32-bit entries does not lead out of there. */
static uint64_t address_of(uint64_t table, uint64_t entry, bool wide)
{
	uint64_t low = entry & ENTRY_OFFSET;

	if (wide)
		return table + ((entry & ~0xffffffffull) | low);
	if (table >> 32)
		return table + low - (low >> 31 ? 1ull << 32 : 0);
	return (table + low) & 0xffffffff;
}

static bool visit_at(struct rom_walk *walk, struct rom_find *find);

static bool visit_entry(struct rom_walk *walk, const struct rom_find *table, uint64_t entry_addr, uint64_t entry,
		bool wide)
{
	struct rom_find find = {
		.state = ROM_FIND_ABSENT,
		.addr = address_of(table->addr, entry, wide),
		.depth = table->depth + 1,
		.entry_addr = entry_addr,
		.entry = entry,
		.power_domain = entry & ENTRY_POWER_VALID ? (int)ENTRY_POWER(entry) : -1,
	};

	/* many tables are filled up with entries that are absent and lead nowhere */
	if (!(entry & ENTRY_PRESENT))
		return find.addr == table->addr || tell(walk, &find);
	return visit_at(walk, &find);
}

static bool visit_entries(struct rom_walk *walk, const struct rom_find *table)
{
	bool class9 = table->ids.component_class == CS_CLASS_CORESIGHT;
	bool wide = class9 && (table->ids.devid & 0xf) == 1;
	unsigned int words = class9 ? CLASS9_WORDS : CLASS1_WORDS;
	unsigned int step = wide ? 2 : 1;

	for (unsigned int i = 0; i < words; i += CHUNK) {
		uint32_t chunk[CHUNK];
		struct rom_find cut = { .state = ROM_FIND_CUT, .addr = table->addr + 4 * i, .depth = table->depth + 1,
			.power_domain = -1 };

		if (!walk->read(walk->ctx, cut.addr, chunk, CHUNK))
			return tell(walk, &cut);
		for (unsigned int j = 0; j < CHUNK; j += step) {
			uint64_t entry = chunk[j] | (wide ? (uint64_t)chunk[j + 1] << 32 : 0);

			if (!(class9 ? entry & (ENTRY_PRESENT | ENTRY_FORMAT) : entry))
				return true;
			if (!visit_entry(walk, table, cut.addr + 4 * j, entry, wide))
				return false;
		}
	}
	return true;
}

static bool visit_at(struct rom_walk *walk, struct rom_find *find)
{
	find->state = identify(walk, find);
	if (find->state == ROM_FIND_TABLE)
		find->state = state_of_table(walk, find);
	if (!tell(walk, find))
		return false;
	if (find->state != ROM_FIND_TABLE)
		return true;
	walk->tables[walk->table_count++] = find->addr;
	return visit_entries(walk, find);
}

bool rom_table_walk(struct rom_walk *walk, uint64_t base)
{
	struct rom_find find = { .addr = base & ~0xfffull, .power_domain = -1 };

	return visit_at(walk, &find);
}
