// SPDX-License-Identifier: GPL-2.0-or-later

#include "pc_counts.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_PLACES	1024u

static struct pc_count *find(const struct pc_counts *counts, uint32_t pc)
{
	size_t i = (pc * 0x9e3779b1u) >> 8 & (counts->places - 1);

	while (counts->place[i].count && counts->place[i].pc != pc)
		i = (i + 1) & (counts->places - 1);
	return &counts->place[i];
}

static void grow(struct pc_counts *counts)
{
	struct pc_counts bigger = { .places = counts->places ? counts->places * 2 : FIRST_PLACES, .used = counts->used };

	bigger.place = calloc(bigger.places, sizeof(*bigger.place));
	if (!bigger.place) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	for (size_t i = 0; i < counts->places; i++) {
		if (counts->place[i].count)
			*find(&bigger, counts->place[i].pc) = counts->place[i];
	}
	free(counts->place);
	*counts = bigger;
}

void pc_counts_add(struct pc_counts *counts, uint32_t pc)
{
	if (2 * counts->used >= counts->places)
		grow(counts);
	struct pc_count *at = find(counts, pc);
	if (!at->count)
		counts->used++;
	at->pc = pc;
	at->count++;
}

void pc_counts_free(struct pc_counts *counts)
{
	free(counts->place);
	*counts = (struct pc_counts){ 0 };
}
