// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * gmon.out, version 1, as gprof reads it.
 *
 *   "gmon", u32 version, 12 zero bytes
 *   then for each record: u8 tag 0, low, high (addresses), u32 number of buckets, u32 rate, 15 bytes dimension, 1 byte
 *   its abbreviation, u16 for each bucket
 *
 * All numbers are in the byte order of the target, addresses have its word size. What gprof's reader asks for:
 *   - (high - low) / 2 / buckets is the same in all records, in whole units of 2 bytes: here always 1
 *   - dimension and abbreviation are the same in all records; the rate of the first one counts
 *   - a record may have exactly the range of an earlier one, and is then added to it; any other overlap ends gprof
 *   - each bucket is added up in an int
 * It looks for each record and symbol among all records one by one, so records should be few. (gprof of binutils 2.40)
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_format.h"

#define BUCKET_LEN	2u
#define BUCKET_MAX	UINT16_MAX
#define GPROF_COUNT_MAX	INT32_MAX
#define DIMENSION_LEN	15u

/* Addresses further apart begin a new record: its head is about as long as the empty buckets between them. */
#define GAP_FIRST	32u
#define GAP_LAST	((uint64_t)1 << 32)
/* More records than this make gprof slow; then larger gaps are bridged, if the file does not get too long by it. */
#define RECORDS_MAX	4096u
#define GROWTH_MAX	4u

struct gmon {
	struct itrace_output *out;
	bool is_big_endian;
	unsigned int word_len;		/* bytes of an address */
	uint64_t last;			/* the last bucket whose end can be written */
	unsigned int divide;		/* counts are shifted right by this */
	uint32_t rate;
	char dimension[DIMENSION_LEN + 1];	/* and the abbreviation */
};

/* ------------------------------------------------------------------------------------------------------------------ */
/* buckets in ascending order; a copy goes on by itself */

struct buckets {
	struct itrace_profile_walk walk;
	uint64_t last;
	unsigned int divide;
	uint64_t rest;			/* what division left over, less than 1 << divide */
	bool has_next;			/* walk is at an address that is not yet in a bucket */
	uint64_t addr;
	uint64_t count;
};

static uint64_t bucket_of(const struct buckets *buckets, uint64_t addr)
{
	addr -= addr % BUCKET_LEN;
	return addr < buckets->last ? addr : buckets->last;
}

/* Go to the next bucket that has samples. @returns false when there is none */
static bool buckets_next(struct buckets *buckets)
{
	do {
		if (!buckets->has_next)
			return false;
		buckets->addr = bucket_of(buckets, buckets->walk.addr);
		uint64_t count = 0;
		while (buckets->has_next && bucket_of(buckets, buckets->walk.addr) == buckets->addr) {
			count += buckets->walk.sum;
			buckets->has_next = itrace_profile_walk_next(&buckets->walk);
		}
		buckets->rest += count & (((uint64_t)1 << buckets->divide) - 1);
		buckets->count = (count >> buckets->divide) + (buckets->rest >> buckets->divide);
		buckets->rest &= ((uint64_t)1 << buckets->divide) - 1;
	} while (!buckets->count);
	return true;
}

/* @param walk begun, and not moved */
static void buckets_begin(struct buckets *buckets, const struct itrace_profile_walk *walk, const struct gmon *gmon)
{
	memset(buckets, 0, sizeof(*buckets));
	buckets->walk = *walk;
	buckets->last = gmon->last;
	buckets->divide = gmon->divide;
	buckets->has_next = itrace_profile_walk_next(&buckets->walk);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/*
 * Runs: the buckets that one record covers.
 *
 * A record is repeated until its fullest bucket is written, with zeros where others have nothing left. So that an idle
 * loop does not repeat its whole neighbourhood, only buckets of about the same size are together.
 */

struct run {
	uint64_t start;
	uint64_t last;		/* address of its last bucket */
	uint64_t repeats;	/* records that are needed */
};

static uint64_t repeats_of(const struct buckets *buckets)
{
	return (buckets->count - 1) / BUCKET_MAX + 1;
}

static unsigned int size_class(uint64_t repeats)
{
	unsigned int class = 0;

	while (repeats > (uint64_t)1 << class)
		class++;
	return class;
}

/*
 * The run that begins at the bucket where @a buckets is; *buckets is then at the first one behind it.
 * @param[out] has_more whether @a buckets is at one
 */
static struct run run_take(struct buckets *buckets, uint64_t gap, bool *has_more)
{
	struct run run = { .start = buckets->addr, .last = buckets->addr, .repeats = repeats_of(buckets) };
	unsigned int class = size_class(run.repeats);

	for (;;) {
		*has_more = buckets_next(buckets);
		if (!*has_more || buckets->addr - run.last >= gap)
			return run;
		uint64_t repeats = repeats_of(buckets);
		if (size_class(repeats) != class)
			return run;
		run.last = buckets->addr;
		if (repeats > run.repeats)
			run.repeats = repeats;
	}
}

static uint64_t run_buckets(const struct run *run)
{
	return (run->last - run->start) / BUCKET_LEN + 1;
}

static unsigned int record_head_len(const struct gmon *gmon)
{
	return 1 + 2 * gmon->word_len + 4 + 4 + DIMENSION_LEN + 1;
}

/* How many records of different ranges, and how many bytes, a file would have. */
static void measure(const struct gmon *gmon, const struct itrace_profile_walk *walk, uint64_t gap, uint64_t *records,
		uint64_t *bytes)
{
	struct buckets buckets;

	*records = 0;
	*bytes = 0;
	buckets_begin(&buckets, walk, gmon);
	bool has_more = buckets_next(&buckets);
	while (has_more) {
		struct run run = run_take(&buckets, gap, &has_more);
		*records += 1;
		*bytes += run.repeats * (record_head_len(gmon) + run_buckets(&run) * BUCKET_LEN);
	}
}

static uint64_t choose_gap(const struct gmon *gmon, const struct itrace_profile_walk *walk)
{
	uint64_t gap = GAP_FIRST;
	uint64_t records;
	uint64_t bytes;
	uint64_t wider_bytes;

	measure(gmon, walk, gap, &records, &bytes);
	/* records that lie close together are apart because of their counts: no gap joins them, so not for ever */
	while (records > RECORDS_MAX && gap < GAP_LAST) {
		uint64_t wider = gap * 2;
		measure(gmon, walk, wider, &records, &wider_bytes);
		if (wider_bytes > bytes * GROWTH_MAX)
			break;
		gap = wider;
	}
	return gap;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* rate and division */

static uint64_t largest_bucket(const struct gmon *gmon, const struct itrace_profile_walk *walk)
{
	struct buckets buckets;
	uint64_t largest = 0;

	buckets_begin(&buckets, walk, gmon);
	while (buckets_next(&buckets))
		if (buckets.count > largest)
			largest = buckets.count;
	return largest;
}

/* gprof takes the rate as a whole number and 0 as one that it may guess: the first unit that is right within 0.5 %. */
static void choose_rate(struct gmon *gmon, const struct itrace_profile *profile, uint64_t samples)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "seconds", 1 }, { "minutes", 60 }, { "hours", 3600 }, { "days", 86400 } };
	double per_second = profile->elapsed_ns ? (double)(samples >> gmon->divide) * 1e9 / (double)profile->elapsed_ns : 0;
	const char *name = itrace_profile_unit(profile);

	gmon->rate = 1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double exact = per_second * units[i].seconds;
		if (exact < 0.5 || exact > INT32_MAX - 1)
			continue;
		double whole = (double)(uint32_t)(exact + 0.5);
		double error = whole > exact ? whole - exact : exact - whole;
		if (error > exact * 0.005)
			continue;
		gmon->rate = (uint32_t)whole;
		name = units[i].name;
		break;
	}
	/* padded with zeros, at least one; the abbreviation behind it */
	for (size_t i = 0; i < DIMENSION_LEN - 1 && name[i]; i++)
		gmon->dimension[i] = name[i];
	gmon->dimension[DIMENSION_LEN] = name[0];
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* bytes */

static void write_number(const struct gmon *gmon, uint64_t value, unsigned int len)
{
	char *bytes = itrace_output_room(gmon->out, len);

	for (unsigned int i = 0; i < len; i++)
		bytes[gmon->is_big_endian ? len - 1 - i : i] = (char)(value >> 8 * i & 0xff);
	itrace_output_took(gmon->out, len);
}

static void write_record_head(const struct gmon *gmon, const struct run *run)
{
	write_number(gmon, 0, 1);
	write_number(gmon, run->start, gmon->word_len);
	write_number(gmon, run->last + BUCKET_LEN, gmon->word_len);
	write_number(gmon, run_buckets(run), 4);
	write_number(gmon, gmon->rate, 4);
	itrace_output_bytes(gmon->out, gmon->dimension, sizeof(gmon->dimension));
}

/* One record. @param buckets is at the first bucket of the run @param done what is written of each bucket */
static void write_record(const struct gmon *gmon, const struct run *run, struct buckets buckets, uint64_t done)
{
	write_record_head(gmon, run);
	for (uint64_t addr = run->start; ; addr += BUCKET_LEN) {
		uint64_t count = 0;
		if (addr == buckets.addr && buckets.count > done)
			count = buckets.count - done;
		write_number(gmon, count < BUCKET_MAX ? count : BUCKET_MAX, BUCKET_LEN);
		if (addr == run->last || itrace_output_stopped(gmon->out))
			return;
		if (addr == buckets.addr)
			buckets_next(&buckets);
	}
}

static void write_records(const struct gmon *gmon, const struct itrace_profile_walk *walk, uint64_t gap)
{
	struct buckets ahead;

	buckets_begin(&ahead, walk, gmon);
	bool has_more = buckets_next(&ahead);
	while (has_more && !itrace_output_stopped(gmon->out)) {
		struct buckets at = ahead;
		struct run run = run_take(&ahead, gap, &has_more);
		for (uint64_t i = 0; i < run.repeats && !itrace_output_stopped(gmon->out); i++)
			write_record(gmon, &run, at, i * BUCKET_MAX);
	}
}

bool itrace_profile_write_gmon(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size)
{
	struct itrace_profile_walk walk;
	uint64_t samples = profile->samples;
	struct gmon gmon = {
		.out = out,
		.is_big_endian = profile->is_big_endian,
		.word_len = profile->word_size == 64 ? 8 : 4,
	};

	if (!itrace_profile_walk_begin(&walk, profile, ITRACE_PROFILE_ALL_CORES))
		return false;
	/* a record that covered the very last bucket would end at an address that cannot be written */
	gmon.last = (gmon.word_len == 8 ? UINT64_MAX : UINT32_MAX) - 1 - BUCKET_LEN;
	for (unsigned int i = 0; !profile->samples && i < profile->core_count; i++)
		samples += itrace_pc_histogram_total(profile->cores[i].histogram);

	/* division may leave one sample more in a bucket than its own share */
	uint64_t largest = largest_bucket(&gmon, &walk);
	while (largest >> gmon.divide >= GPROF_COUNT_MAX)
		gmon.divide++;
	if (gmon.divide)
		snprintf(note, note_size, "counts are divided by %" PRIu64 ": gprof adds up at most %d for an address",
				(uint64_t)1 << gmon.divide, GPROF_COUNT_MAX);
	choose_rate(&gmon, profile, samples);

	itrace_output_bytes(out, "gmon", 4);
	write_number(&gmon, 1, 4);
	for (unsigned int i = 0; i < 3; i++)
		write_number(&gmon, 0, 4);
	write_records(&gmon, &walk, choose_gap(&gmon, &walk));
	itrace_profile_walk_end(&walk);
	return true;
}
