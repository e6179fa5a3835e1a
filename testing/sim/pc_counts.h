/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How often each address was seen: an open hash table that grows. All zero is empty. */

#ifndef PC_COUNTS_H
#define PC_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct pc_count {
	uint32_t pc;
	uint64_t count;		/* 0: free place */
};

struct pc_counts {
	struct pc_count *place;
	size_t places;		/* a power of two, or 0 */
	size_t used;
};

/** Count @a pc once more. Out of memory ends the program. */
void pc_counts_add(struct pc_counts *counts, uint32_t pc);

/** Forget all. */
void pc_counts_free(struct pc_counts *counts);

#endif
