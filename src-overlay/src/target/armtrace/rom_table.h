/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A walk through ROM tables: what they name, and what is there. Reads only.
 *
 * Tables of class 1 (up to 960 entries) and of class 9 (32-bit or 64-bit entries). A table may lie: entries that lead
 * to nothing, to memory that faults, back to a table above. Each of that is one find, and the walk goes on; it ends
 * after bounded reads whatever it meets.
 *
 * Source: Arm Debug Interface, ROM tables.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_ROM_TABLE_H
#define OPENOCD_TARGET_ARMTRACE_ROM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "cs_component.h"

#define ROM_TABLE_DEPTH		8u	/* tables below tables */
#define ROM_TABLE_TABLES	64u
#define ROM_TABLE_FINDS		2048u

enum rom_find_state {
	ROM_FIND_COMPONENT,	/* ids tell what it is */
	ROM_FIND_TABLE,		/* a ROM table; its entries come next, one deeper */
	ROM_FIND_ABSENT,	/* the entry says: not present. Not looked at */
	ROM_FIND_UNREADABLE,	/* the ID registers cannot be read */
	ROM_FIND_NOTHING,	/* what is read is no ID of a component */
	ROM_FIND_AGAIN,		/* a ROM table that was met before: not walked again */
	ROM_FIND_TOO_DEEP,	/* a ROM table that is not walked: ROM_TABLE_DEPTH or ROM_TABLE_TABLES is reached */
	ROM_FIND_CUT,		/* addr: of entries that cannot be read; the rest of this table is unknown */
	ROM_FIND_TOO_MANY,	/* the walk ends here: ROM_TABLE_FINDS is reached */
};

struct rom_find {
	enum rom_find_state state;
	uint64_t addr;		/* of the 4 KB with the ID registers */
	unsigned int depth;	/* 0: where the walk began */
	uint64_t entry_addr;	/* of the entry that names it; 0 at depth 0 */
	uint64_t entry;
	int power_domain;	/* that the entry names, or -1 */
	struct cs_ids ids;	/* COMPONENT, TABLE, AGAIN, TOO_DEEP */
	uint32_t cidr;		/* bytes of CIDR3 to CIDR0 as read; not UNREADABLE, ABSENT */
};

struct rom_walk {
	/* Read @a count words from @a addr on. @returns false: that cannot be read */
	bool (*read)(void *ctx, uint64_t addr, uint32_t *words, unsigned int count);
	/* @returns false: end the walk */
	bool (*visit)(void *ctx, const struct rom_find *find);
	void *ctx;
	/* private */
	uint64_t tables[ROM_TABLE_TABLES];
	unsigned int table_count;
	unsigned int find_count;
};

/**
 * Walk from the component at @a base (a ROM table as a rule) on; visit is told each find, a table before what it names.
 * @param walk read, visit and ctx are set, the rest is zero
 * @returns true if it came to its end, false if visit or ROM_TABLE_FINDS ended it
 */
bool rom_table_walk(struct rom_walk *walk, uint64_t base);

#endif /* OPENOCD_TARGET_ARMTRACE_ROM_TABLE_H */
