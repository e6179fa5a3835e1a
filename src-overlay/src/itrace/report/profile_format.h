/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the writers of profile files have in common: a walk over all addresses, and the names that are shown.
 * Only for profile_*.c.
 */

#ifndef OPENOCD_ITRACE_REPORT_PROFILE_FORMAT_H
#define OPENOCD_ITRACE_REPORT_PROFILE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "profile_file.h"

#define ITRACE_PROFILE_NAME_MAX	64u	/* bytes of a core's name as it is written, with its 0 */

/* Addresses of several cores in ascending order. Can be copied: the copy walks by itself, but is not ended. */
struct itrace_profile_walk {
	unsigned int core_count;
	struct itrace_pc_count *entries[ITRACE_PROFILE_CORES_MAX];
	size_t entry_count[ITRACE_PROFILE_CORES_MAX];
	size_t pos[ITRACE_PROFILE_CORES_MAX];
	uint64_t addr;				/* where it is */
	uint64_t sum;				/* of counts */
	uint64_t counts[ITRACE_PROFILE_CORES_MAX];	/* of each core at addr */
};

/*
 * Begin before the first address.
 * @param core index of a core, or ITRACE_PROFILE_ALL_CORES
 * @returns false when there is no memory; nothing is to be ended then.
 */
bool itrace_profile_walk_begin(struct itrace_profile_walk *walk, const struct itrace_profile *profile, uint32_t core);

/* Go to the next address. @returns false when there is none. */
bool itrace_profile_walk_next(struct itrace_profile_walk *walk);

/* Give the memory back. */
void itrace_profile_walk_end(struct itrace_profile_walk *walk);

/* What is counted: never NULL. */
const char *itrace_profile_unit(const struct itrace_profile *profile);

/* The name of core @a core, or one made of its index, in @a name. */
void itrace_profile_core_name(const struct itrace_profile *profile, unsigned int core,
		char name[ITRACE_PROFILE_NAME_MAX]);

/* The symbol at @a addr, NULL when there is none. @param[out] off bytes from its start */
const struct itrace_symbol *itrace_profile_symbol(const struct itrace_profile *profile, uint64_t addr, uint64_t *off);

/* "0x" and an address of the target in hex. */
void itrace_profile_write_addr(struct itrace_output *out, const struct itrace_profile *profile, uint64_t addr);

/*
 * One writer for each format. The profile has at least one sample.
 * @param[in,out] note   room for a line about the file, empty at first
 * @returns false when there is no memory. That the output takes no more is not noticed here.
 */
bool itrace_profile_write_gmon(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size);
bool itrace_profile_write_folded(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size);
bool itrace_profile_write_callgrind(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size);
bool itrace_profile_write_csv(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size);

#endif /* OPENOCD_ITRACE_REPORT_PROFILE_FORMAT_H */
