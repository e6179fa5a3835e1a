/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How often each address occurred, for as long as it takes, in memory that is bounded beforehand.
 *
 * A hash table with linear probing, 16 bytes a slot, that doubles while it may. When it is full and may not grow
 * (its limit is reached, or the system has no more memory) it becomes coarser instead: low address bits are dropped,
 * addresses that are then equal are added up, and counting goes on. So no sample is ever lost; what is lost is told
 * by itrace_pc_histogram_shift().
 *
 * At most the table and, while it grows, the table of half the size are in memory: with the default limit 12 MiB for
 * a moment, 8 MiB then, for 393 216 different addresses.
 *
 * The struct is the caller's; its members are not. Several threads need a lock of their own.
 */

#ifndef OPENOCD_ITRACE_REPORT_PC_HISTOGRAM_H
#define OPENOCD_ITRACE_REPORT_PC_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITRACE_PC_HISTOGRAM_SLOTS	(1u << 19)	/* the default limit */
#define ITRACE_PC_HISTOGRAM_SLOTS_MIN	16u
#define ITRACE_PC_HISTOGRAM_SLOTS_MAX	(1u << 28)

/* An address and how often it occurred. */
struct itrace_pc_count {
	uint64_t addr;	/* rounded down to a multiple of 2^shift */
	uint64_t count;	/* never 0 in what is handed out */
};

struct itrace_pc_histogram {
	struct itrace_pc_count *slots;	/* count 0: free */
	size_t slot_count;		/* a power of two */
	size_t slot_max;		/* it may grow up to here */
	size_t used;			/* slots that are not free */
	uint64_t total;
	unsigned int slot_bits;		/* log2 of slot_count */
	unsigned int shift;
};

/*
 * Begin, empty.
 *
 * @param slot_max limit of slots, of which three quarters are used; rounded down to a power of two and brought into
 * [ITRACE_PC_HISTOGRAM_SLOTS_MIN, ITRACE_PC_HISTOGRAM_SLOTS_MAX]; 0: ITRACE_PC_HISTOGRAM_SLOTS
 * @returns false when there is no memory (a few KiB are taken at first); free() is then allowed, nothing else.
 */
bool itrace_pc_histogram_init(struct itrace_pc_histogram *histogram, size_t slot_max);

/* Give the memory back. May be called again, and on zeroed storage. */
void itrace_pc_histogram_free(struct itrace_pc_histogram *histogram);

/* Forget all samples and the coarseness; the memory stays. */
void itrace_pc_histogram_clear(struct itrace_pc_histogram *histogram);

/*
 * @a count samples more at @a addr; 0 changes nothing.
 *
 * Cannot fail. Some ten ns, but for the calls that make the table grow or coarser: some 10 ms for each bit that is
 * dropped, of which programs need one or two, random addresses all at once. Not checked: that the sum of all counts
 * stays below 2^63.
 */
void itrace_pc_histogram_add(struct itrace_pc_histogram *histogram, uint64_t addr, uint64_t count);

/*
 * Add all samples of @a other, which stays as it is. The result is at least as coarse as the coarser of the two.
 * Cannot fail. Both must be begun; that they differ is not checked.
 */
void itrace_pc_histogram_merge(struct itrace_pc_histogram *histogram, const struct itrace_pc_histogram *other);

/*
 * All addresses that occurred, in ascending order, each once.
 *
 * @param[out] entries   the caller's to free(); NULL when there are none or the call failed
 * @param[out] count     how many
 * @returns false when there is no memory: 16 bytes an address.
 */
bool itrace_pc_histogram_sorted(const struct itrace_pc_histogram *histogram, struct itrace_pc_count **entries,
		size_t *count);

/* @returns the sum of all counts, exact however coarse the addresses are. */
static inline uint64_t itrace_pc_histogram_total(const struct itrace_pc_histogram *histogram)
{
	return histogram->total;
}

/* @returns how many different addresses there are (rounded ones count once). */
static inline size_t itrace_pc_histogram_addresses(const struct itrace_pc_histogram *histogram)
{
	return histogram->used;
}

/* @returns 0 when addresses are exact, else how many of their low bits were dropped (at most 63). */
static inline unsigned int itrace_pc_histogram_shift(const struct itrace_pc_histogram *histogram)
{
	return histogram->shift;
}

#endif /* OPENOCD_ITRACE_REPORT_PC_HISTOGRAM_H */
