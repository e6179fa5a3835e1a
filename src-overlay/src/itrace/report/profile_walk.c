// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_format.h"

bool itrace_profile_walk_begin(struct itrace_profile_walk *walk, const struct itrace_profile *profile, uint32_t core)
{
	memset(walk, 0, sizeof(*walk));
	walk->core_count = profile->core_count;
	for (unsigned int i = 0; i < profile->core_count; i++) {
		if (core != ITRACE_PROFILE_ALL_CORES && core != i)
			continue;
		if (!itrace_pc_histogram_sorted(profile->cores[i].histogram, &walk->entries[i], &walk->entry_count[i])) {
			itrace_profile_walk_end(walk);
			return false;
		}
	}
	return true;
}

static const struct itrace_pc_count *waiting(const struct itrace_profile_walk *walk, unsigned int core)
{
	return walk->pos[core] < walk->entry_count[core] ? &walk->entries[core][walk->pos[core]] : NULL;
}

bool itrace_profile_walk_next(struct itrace_profile_walk *walk)
{
	bool has_any = false;

	for (unsigned int i = 0; i < walk->core_count; i++) {
		const struct itrace_pc_count *entry = waiting(walk, i);
		if (entry && (!has_any || entry->addr < walk->addr)) {
			walk->addr = entry->addr;
			has_any = true;
		}
	}
	if (!has_any)
		return false;
	walk->sum = 0;
	for (unsigned int i = 0; i < walk->core_count; i++) {
		const struct itrace_pc_count *entry = waiting(walk, i);
		walk->counts[i] = 0;
		if (entry && entry->addr == walk->addr) {
			walk->counts[i] = entry->count;
			walk->pos[i]++;
		}
		walk->sum += walk->counts[i];
	}
	return true;
}

void itrace_profile_walk_end(struct itrace_profile_walk *walk)
{
	for (unsigned int i = 0; i < walk->core_count; i++)
		free(walk->entries[i]);
	memset(walk, 0, sizeof(*walk));
}

const char *itrace_profile_unit(const struct itrace_profile *profile)
{
	return profile->unit && profile->unit[0] ? profile->unit : "samples";
}

void itrace_profile_core_name(const struct itrace_profile *profile, unsigned int core,
		char name[ITRACE_PROFILE_NAME_MAX])
{
	const char *given = profile->cores[core].name;

	if (given && given[0])
		snprintf(name, ITRACE_PROFILE_NAME_MAX, "%s", given);
	else
		snprintf(name, ITRACE_PROFILE_NAME_MAX, "core%u", core);
}

const struct itrace_symbol *itrace_profile_symbol(const struct itrace_profile *profile, uint64_t addr, uint64_t *off)
{
	return profile->symbols ? itrace_symbols_find(profile->symbols, addr, off) : NULL;
}

void itrace_profile_write_addr(struct itrace_output *out, const struct itrace_profile *profile, uint64_t addr)
{
	itrace_output_text(out, "0x");
	itrace_output_hex(out, addr, profile->word_size / 4);
}
