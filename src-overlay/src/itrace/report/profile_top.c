// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>

#include "profile_format.h"

static int by_addr(const void *left, const void *right)
{
	const struct itrace_profile_place *a = left;
	const struct itrace_profile_place *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int by_count(const void *left, const void *right)
{
	const struct itrace_profile_place *a = left;
	const struct itrace_profile_place *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return by_addr(left, right);
}

/* Whether both are the same place: a function, or one address without a symbol. */
static bool is_same(const struct itrace_profile_place *a, const struct itrace_profile_place *b)
{
	return a->addr == b->addr && a->name == b->name;
}

/* Add up neighbours that are the same. @returns how many are left */
static size_t unite(struct itrace_profile_place *places, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (n && is_same(&places[n - 1], &places[i]))
			places[n - 1].count += places[i].count;
		else
			places[n++] = places[i];
	}
	return n;
}

static size_t most_addresses(const struct itrace_profile_walk *walk)
{
	size_t count = 0;

	for (unsigned int i = 0; i < walk->core_count; i++)
		count += walk->entry_count[i];
	return count;
}

bool itrace_profile_top(const struct itrace_profile *profile, uint32_t core, size_t max,
		struct itrace_profile_place **places, size_t *count)
{
	struct itrace_profile_walk walk;

	*places = NULL;
	*count = 0;
	if (core != ITRACE_PROFILE_ALL_CORES && core >= profile->core_count)
		return false;
	if (!itrace_profile_walk_begin(&walk, profile, core))
		return false;
	size_t room = most_addresses(&walk);
	if (!room) {
		itrace_profile_walk_end(&walk);
		return true;
	}
	struct itrace_profile_place *list = malloc(room * sizeof(*list));
	if (!list) {
		itrace_profile_walk_end(&walk);
		return false;
	}

	size_t n = 0;
	while (itrace_profile_walk_next(&walk)) {
		const struct itrace_symbol *symbol = itrace_profile_symbol(profile, walk.addr, NULL);
		list[n].name = symbol ? symbol->name : NULL;
		list[n].addr = symbol ? symbol->addr : walk.addr;
		list[n].count = walk.sum;
		n++;
	}
	itrace_profile_walk_end(&walk);

	/* a function may have another one inside, so its addresses need not be neighbours before they are sorted */
	n = unite(list, n);
	qsort(list, n, sizeof(*list), by_addr);
	n = unite(list, n);
	qsort(list, n, sizeof(*list), by_count);
	*places = list;
	*count = max && max < n ? max : n;
	return true;
}
