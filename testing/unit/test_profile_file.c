// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Profile files: gmon.out byte by byte and by a reader that is as strict as gprof, text formats, and that a file is
 * either complete or not there.
 */

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile_file.h"

#define S	UINT64_C(1000000000)	/* ns */

static char dir[64];
static char path[128];
static char why[512];

static uint8_t *bytes;
static size_t bytes_len;

static struct itrace_pc_histogram histograms[3];
static struct itrace_profile_core cores[3];
static struct itrace_profile profile;

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_profile_file.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/out", dir);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	free(bytes);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static int begin(void **state)
{
	(void)state;
	memset(&profile, 0, sizeof(profile));
	memset(cores, 0, sizeof(cores));
	for (unsigned int i = 0; i < 3; i++) {
		if (!itrace_pc_histogram_init(&histograms[i], 0))
			return -1;
		cores[i].histogram = &histograms[i];
	}
	profile.cores = cores;
	profile.core_count = 1;
	profile.word_size = 32;
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		itrace_pc_histogram_free(&histograms[i]);
	unlink(path);
	return 0;
}

static void again(void)
{
	end(NULL);
	assert_int_equal(begin(NULL), 0);
}

static void add(uint64_t addr, uint64_t count)
{
	itrace_pc_histogram_add(&histograms[0], addr, count);
}

static void read_back(void)
{
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	free(bytes);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	bytes_len = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(bytes_len + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, bytes_len, f), bytes_len);
	bytes[bytes_len] = 0;
	fclose(f);
}

static void written(enum itrace_profile_format format, const char *note)
{
	why[0] = 'x';
	if (!itrace_profile_file_write(&profile, format, path, why, sizeof(why)))
		fail_msg("%s", why);
	assert_string_equal(why, note);
	read_back();
}

static void refused(const char *where, const char *reason)
{
	assert_false(itrace_profile_file_write(&profile, ITRACE_PROFILE_GMON, where, why, sizeof(why)));
	if (!strstr(why, reason) || !strstr(why, where))
		fail_msg("'%s' does not say '%s' of '%s'", why, reason, where);
	assert_null(strchr(why, '\n'));
}

/* How many files there are, hidden ones too. */
static unsigned int files(void)
{
	unsigned int count = 0;
	DIR *d = opendir(dir);

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count - 2;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* bytes of gmon.out */

static void assert_bytes(const void *want, size_t len)
{
	assert_int_equal(bytes_len, len);
	assert_memory_equal(bytes, want, len);
}

static void test_one_sample(void **state)
{
	static const char little[] =
		"gmon" "\1\0\0\0" "\0\0\0\0\0\0\0\0\0\0\0\0"
		"\0" "\x34\x12\x0d\x40" "\x36\x12\x0d\x40" "\1\0\0\0" "\1\0\0\0" "seconds\0\0\0\0\0\0\0\0" "s"
		"\1\0";
	static const char big[] =
		"gmon" "\0\0\0\1" "\0\0\0\0\0\0\0\0\0\0\0\0"
		"\0" "\x40\x0d\x12\x34" "\x40\x0d\x12\x36" "\0\0\0\1" "\0\0\0\1" "seconds\0\0\0\0\0\0\0\0" "s"
		"\0\1";
	static const char little64[] =
		"gmon" "\1\0\0\0" "\0\0\0\0\0\0\0\0\0\0\0\0"
		"\0" "\x34\x12\x0d\x40\0\0\0\0" "\x36\x12\x0d\x40\0\0\0\0" "\1\0\0\0" "\1\0\0\0" "seconds\0\0\0\0\0\0\0\0" "s"
		"\1\0";

	(void)state;
	/* an odd address is in the bucket that begins before it */
	add(0x400d1235, 1);
	profile.elapsed_ns = S;
	written(ITRACE_PROFILE_GMON, "");
	assert_bytes(little, sizeof(little) - 1);
	profile.is_big_endian = true;
	written(ITRACE_PROFILE_GMON, "");
	assert_bytes(big, sizeof(big) - 1);
	profile.is_big_endian = false;
	profile.word_size = 64;
	written(ITRACE_PROFILE_GMON, "");
	assert_bytes(little64, sizeof(little64) - 1);
}

/* Two buckets, one empty between them; then a range of its own. */
static void test_records(void **state)
{
	static const char want[] =
		"gmon" "\0\0\0\1" "\0\0\0\0\0\0\0\0\0\0\0\0"
		"\0" "\x40\0\0\0" "\x40\0\0\6" "\0\0\0\3" "\0\1\x10\x02" "seconds\0\0\0\0\0\0\0\0" "s"
		"\x01\x02" "\0\0" "\xff\xff"
		"\0" "\x40\x08\0\0" "\x40\x08\0\2" "\0\0\0\1" "\0\1\x10\x02" "seconds\0\0\0\0\0\0\0\0" "s"
		"\x0f\x01";

	(void)state;
	add(0x40000000, 0x100);
	add(0x40000001, 2);
	add(0x40000004, 0xffff);
	add(0x40080000, 0x0f01);
	profile.elapsed_ns = S;
	profile.is_big_endian = true;
	written(ITRACE_PROFILE_GMON, "");
	assert_bytes(want, sizeof(want) - 1);
}

/* The rate and its dimension. */
static void test_rate(void **state)
{
	static const struct {
		uint64_t samples, ns;
		const char *dimension;
		uint32_t rate;
	} rates[] = {
		{ 89, 10 * S, "minutes", 534 },			/* 8.9 a second */
		{ 100, S, "seconds", 100 },
		{ 97123, S, "seconds", 97123 },
		{ 10, 10 * S, "seconds", 1 },
		{ 1005, 100 * S, "seconds", 10 },		/* 10.05: right within 0.5 % */
		{ 1006, 100 * S, "minutes", 604 },		/* 10.06 is not */
		{ 1985, 1000 * S, "minutes", 119 },
		{ 4, 10 * S, "minutes", 24 },
		{ 1, 100 * S, "hours", 36 },
		{ 1, 86400 * S, "days", 1 },
		{ 3, 86400 * S * 2, "samples", 1 },		/* 1.5 a day */
		{ 1, UINT64_MAX, "samples", 1 },
		{ 123, 0, "samples", 1 },
		{ 3000000000, S, "samples", 1 },
		{ 2000000000, S, "seconds", 2000000000 },
	};

	(void)state;
	add(0x400d0000, 1);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		char dimension[16] = "";
		strcpy(dimension, rates[i].dimension);
		dimension[15] = rates[i].dimension[0];
		profile.samples = rates[i].samples;
		profile.elapsed_ns = rates[i].ns;
		written(ITRACE_PROFILE_GMON, "");
		assert_int_equal(bytes[33] | bytes[34] << 8 | bytes[35] << 16 | (uint32_t)bytes[36] << 24, rates[i].rate);
		assert_memory_equal(bytes + 37, dimension, 16);
	}

	/* samples that are not said are those of all cores */
	profile.core_count = 2;
	itrace_pc_histogram_add(&histograms[1], 0x400d0000, 6);
	profile.samples = 0;
	profile.elapsed_ns = S;
	written(ITRACE_PROFILE_GMON, "");
	assert_int_equal(bytes[33], 7);

	/* no matter of time */
	profile.elapsed_ns = 0;
	profile.unit = "instructions";
	written(ITRACE_PROFILE_GMON, "");
	assert_memory_equal(bytes + 33, "\1\0\0\0instructions\0\0\0i", 20);
	profile.unit = "a unit that is too long";
	written(ITRACE_PROFILE_GMON, "");
	assert_memory_equal(bytes + 37, "a unit that is\0a", 16);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* a reader that asks for what gprof asks for */

struct record {
	uint64_t low;
	uint64_t high;
};

static struct record records[8000];
static size_t record_count;
static size_t all_records;

static uint64_t take(size_t *pos, unsigned int len)
{
	uint64_t value = 0;

	assert_true(*pos + len <= bytes_len);
	for (unsigned int i = 0; i < len; i++)
		value |= (uint64_t)bytes[*pos + (profile.is_big_endian ? len - 1 - i : i)] << 8 * i;
	*pos += len;
	return value;
}

/* Whether [low, high) is a range that was there; fails when it overlaps one. */
static bool is_known(uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < record_count; i++) {
		if (records[i].low == low && records[i].high == high)
			return true;
		assert_true(high <= records[i].low || low >= records[i].high);
	}
	return false;
}

/* Every bucket of the file is added to @a found at its address. */
static void parse(struct itrace_pc_histogram *found)
{
	unsigned int word_len = profile.word_size / 8;
	size_t pos = 4;
	size_t dimension_pos = 0;

	assert_memory_equal(bytes, "gmon", 4);
	assert_int_equal(take(&pos, 4), 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(take(&pos, 4), 0);
	record_count = 0;
	all_records = 0;
	while (pos < bytes_len) {
		assert_int_equal(take(&pos, 1), 0);
		uint64_t low = take(&pos, word_len);
		uint64_t high = take(&pos, word_len);
		uint64_t buckets = take(&pos, 4);
		assert_true(low < high);
		assert_true((high - low) % 2 == 0 && (high - low) / 2 == buckets);
		assert_true(take(&pos, 4) > 0);
		assert_true(pos + 16 <= bytes_len);
		if (!dimension_pos)
			dimension_pos = pos;
		assert_memory_equal(bytes + pos, bytes + dimension_pos, 16);
		pos += 16;
		all_records++;
		if (!is_known(low, high)) {
			assert_true(record_count < 8000);
			records[record_count].low = low;
			records[record_count++].high = high;
		}
		for (uint64_t i = 0; i < buckets; i++)
			itrace_pc_histogram_add(found, low + 2 * i, take(&pos, 2));
	}
}

static void assert_equal(const struct itrace_pc_histogram *have, const struct itrace_pc_histogram *want)
{
	struct itrace_pc_count *a;
	struct itrace_pc_count *b;
	size_t a_count;
	size_t b_count;

	assert_true(itrace_pc_histogram_sorted(have, &a, &a_count));
	assert_true(itrace_pc_histogram_sorted(want, &b, &b_count));
	assert_int_equal(a_count, b_count);
	for (size_t i = 0; i < a_count; i++) {
		assert_true(a[i].addr == b[i].addr);
		assert_true(a[i].count == b[i].count);
	}
	free(a);
	free(b);
}

/* Write all cores and read them back: each bucket holds what was added to it. */
static void round_trip(void)
{
	struct itrace_pc_histogram want;
	struct itrace_pc_histogram have;

	assert_true(itrace_pc_histogram_init(&want, 0));
	assert_true(itrace_pc_histogram_init(&have, 0));
	for (unsigned int core = 0; core < profile.core_count; core++) {
		struct itrace_pc_count *list;
		size_t count;
		assert_true(itrace_pc_histogram_sorted(&histograms[core], &list, &count));
		for (size_t i = 0; i < count; i++)
			itrace_pc_histogram_add(&want, list[i].addr & ~UINT64_C(1), list[i].count);
		free(list);
	}
	written(ITRACE_PROFILE_GMON, "");
	parse(&have);
	assert_equal(&have, &want);
	itrace_pc_histogram_free(&want);
	itrace_pc_histogram_free(&have);
}

static void test_gaps(void **state)
{
	(void)state;
	add(0x400d0000, 1);
	add(0x400d001e, 2);
	round_trip();
	assert_int_equal(record_count, 1);
	assert_int_equal(records[0].high, 0x400d0020);
	add(0x400d003e, 3);
	round_trip();
	assert_int_equal(record_count, 2);
	assert_int_equal(records[1].low, 0x400d003e);
}

static void test_full_buckets(void **state)
{
	(void)state;
	add(0x400d0000, 65535);
	round_trip();
	assert_int_equal(all_records, 1);
	add(0x400d0000, 1);
	add(0x400d0002, 9);
	round_trip();
	/* one repeated record of a bucket, one for what is behind it */
	assert_int_equal(all_records, 3);
	assert_int_equal(record_count, 2);
	add(0x400d0004, 65535 * 40);
	add(0x400d0006, 65535 * 33);
	round_trip();
	assert_int_equal(record_count, 3);
	assert_int_equal(all_records, 3 + 40);
	add(0x400d0005, 5000000);
	add(0x400d0040, UINT64_C(0x7ffffffe));
	add(0x400d0042, 1);
	round_trip();
	/* no two neighbours are of the same size any more */
	assert_int_equal(record_count, 6);
}

static void test_divided_counts(void **state)
{
	struct itrace_pc_histogram have;
	uint64_t total = 0;

	(void)state;
	assert_true(itrace_pc_histogram_init(&have, 0));
	add(0x400d0000, UINT64_C(0x7fffffff) * 3);
	add(0x400d1000, 7);
	add(0x400d2000, 1);
	for (unsigned int i = 0; i < 5; i++)
		add(0x400d3000 + 2 * i, 1);
	profile.elapsed_ns = 6553 * S;
	total = itrace_pc_histogram_total(&histograms[0]);
	written(ITRACE_PROFILE_GMON, "counts are divided by 4: gprof adds up at most 2147483647 for an address");
	parse(&have);
	assert_int_equal(itrace_pc_histogram_total(&have), total / 4);
	/* the time stays right: rate times time is the number of samples in the file */
	double rate = bytes[33] | bytes[34] << 8 | bytes[35] << 16;
	assert_true(rate * 6553 > total / 4 * 0.99 && rate * 6553 < total / 4 * 1.01);
	itrace_pc_histogram_free(&have);
}

static void test_top_of_the_address_space(void **state)
{
	static const unsigned int sizes[] = { 32, 64 };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t last = i ? UINT64_MAX : UINT32_MAX;
		again();
		profile.word_size = sizes[i];
		add(last, 3);
		add(last - 1, 4);
		add(last - 2, 5);
		add(last - 5, 6);
		written(ITRACE_PROFILE_GMON, "");
		struct itrace_pc_histogram have;
		struct itrace_pc_histogram want;
		assert_true(itrace_pc_histogram_init(&have, 0));
		assert_true(itrace_pc_histogram_init(&want, 0));
		parse(&have);
		itrace_pc_histogram_add(&want, last - 3, 12);
		itrace_pc_histogram_add(&want, last - 5, 6);
		assert_equal(&have, &want);
		assert_int_equal(record_count, 1);
		assert_true(records[0].high == last - 1);
		itrace_pc_histogram_free(&have);
		itrace_pc_histogram_free(&want);
	}
	again();
	add(0, 1);
	round_trip();
	assert_int_equal(records[0].low, 0);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Programs of all kinds: some functions far apart, counts of all sizes, three cores. */
static void test_random(void **state)
{
	uint64_t seed = 77777777777;

	(void)state;
	for (unsigned int run = 0; run < 40; run++) {
		again();
		profile.word_size = run % 2 ? 64 : 32;
		profile.is_big_endian = run % 3 == 0;
		profile.core_count = 1 + run % 3;
		for (unsigned int function = 0; function < 12; function++) {
			uint64_t base = random_next(&seed) >> (run % 2 ? 0 : 33);
			for (unsigned int i = 0; i < 100; i++) {
				unsigned int core = (unsigned int)(random_next(&seed) % profile.core_count);
				uint64_t addr = (base & ~UINT64_C(0xfff)) + random_next(&seed) % 1000;
				itrace_pc_histogram_add(&histograms[core], addr, random_next(&seed) >> (43 + random_next(&seed) % 21));
			}
		}
		round_trip();
	}
}

/* As many records as make gprof slow: gaps are bridged, but not at any price. */
static void test_many_records(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5000; i++)
		add(0x400d0000 + 48 * i, 1 + i % 7);
	round_trip();
	assert_int_equal(record_count, 1);
	again();
	for (unsigned int i = 0; i < 5000; i++)
		add(0x40000000 + 100000 * i, 1 + i % 7);
	round_trip();
	assert_int_equal(record_count, 5000);
	assert_int_equal(bytes_len, 20 + 5000 * 35);
}

/* Records that are apart because of their counts, which no gap joins. */
static void test_many_sizes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3000; i++) {
		add(0x400d0000 + 4 * i, 70000);
		add(0x400d0002 + 4 * i, 1);
	}
	round_trip();
	assert_true(record_count > 4096);
}

static void test_rounded_addresses(void **state)
{
	(void)state;
	itrace_pc_histogram_free(&histograms[0]);
	assert_true(itrace_pc_histogram_init(&histograms[0], 16));
	for (unsigned int i = 0; i < 64; i++)
		add(0x400d0000 + i, 1);
	written(ITRACE_PROFILE_GMON, "too many different addresses: they are rounded down to multiples of 8");
	struct itrace_pc_histogram have;
	assert_true(itrace_pc_histogram_init(&have, 0));
	parse(&have);
	assert_int_equal(itrace_pc_histogram_total(&have), 64);
	assert_int_equal(itrace_pc_histogram_addresses(&have), 8);
	itrace_pc_histogram_free(&have);
	add(0x400d0000, UINT64_C(1) << 31);
	written(ITRACE_PROFILE_GMON, "counts are divided by 2: gprof adds up at most 2147483647 for an address; "
		"too many different addresses: they are rounded down to multiples of 8");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* text formats */

static void assert_text(enum itrace_profile_format format, const char *want)
{
	written(format, "");
	assert_string_equal((const char *)bytes, want);
}

static void test_text_of_one_core(void **state)
{
	(void)state;
	add(0x400d0003, 5);
	add(0x1000, 70000);
	add(0xffffffff, UINT64_C(10000000000));
	assert_text(ITRACE_PROFILE_FOLDED, "0xffffffff 10000000000\n0x00001000 70000\n0x400d0003 5\n");
	assert_text(ITRACE_PROFILE_CSV, "core,address,count,function,offset,file,line\n"
		"core0,0x00001000,70000,,,,\ncore0,0x400d0003,5,,,,\ncore0,0xffffffff,10000000000,,,,\n");
	assert_text(ITRACE_PROFILE_CALLGRIND, "# callgrind format\nversion: 1\ncreator: OpenOCD\npositions: instr line\n"
		"events: Samples\nsummary: 10000070005\n"
		"\nob=???\nfl=???\nfn=0x00001000\n0x1000 0 70000\n"
		"\nfl=???\nfn=0x400d0003\n0x400d0003 0 5\n"
		"\nfl=???\nfn=0xffffffff\n0xffffffff 0 10000000000\n");
	again();
	profile.word_size = 64;
	add(UINT64_C(0xffff800000000000), 1);
	assert_text(ITRACE_PROFILE_FOLDED, "0xffff800000000000 1\n");
}

static void test_text_of_several_cores(void **state)
{
	(void)state;
	profile.core_count = 3;
	cores[0].name = "esp 32;cpu\n0";
	cores[1].name = "a,\"b\"";
	profile.unit = "instructions";
	profile.command = "xtensa profile 1\nfile";
	profile.elapsed_ns = 1500 * S / 1000;
	profile.has_range = true;
	profile.range_start = 0x400d0000;
	add(0x400d0000, 1);
	itrace_pc_histogram_add(&histograms[1], 0x400d0000, 2);
	itrace_pc_histogram_add(&histograms[1], 0x400d0004, 3);
	assert_text(ITRACE_PROFILE_FOLDED, "esp_32_cpu_0;0x400d0000 1\na,\"b\";0x400d0004 3\na,\"b\";0x400d0000 2\n");
	assert_text(ITRACE_PROFILE_CSV, "core,address,count,function,offset,file,line\n"
		"\"esp 32;cpu\n0\",0x400d0000,1,,,,\n"
		"\"a,\"\"b\"\"\",0x400d0000,2,,,,\n\"a,\"\"b\"\"\",0x400d0004,3,,,,\n");
	assert_text(ITRACE_PROFILE_CALLGRIND, "# callgrind format\nversion: 1\ncreator: OpenOCD\n"
		"cmd: xtensa profile 1_file\ndesc: Duration: 1500 ms\ndesc: Range: 0x400d0000-0xffffffff\n"
		"positions: instr line\n"
		"events: Instructions_esp_32_cpu_0 Instructions_a__b_ Instructions_core2\nsummary: 1 5 0\n"
		"\nob=???\nfl=???\nfn=0x400d0000\n0x400d0000 0 1 2 0\n"
		"\nfl=???\nfn=0x400d0004\n0x400d0004 0 0 3 0\n");
}

static void test_formats(void **state)
{
	static const char * const names[] = { "gmon", "folded", "callgrind", "csv" };
	enum itrace_profile_format format;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		assert_true(itrace_profile_format_find(names[i], &format, why, sizeof(why)));
		assert_int_equal(format, i);
		assert_string_equal(itrace_profile_format_name(format), names[i]);
	}
	assert_string_equal(itrace_profile_format_name(ITRACE_PROFILE_FORMAT_NUM), "?");
	assert_false(itrace_profile_format_find("pprof", &format, why, sizeof(why)));
	assert_string_equal(why, "'pprof' is no format of a profile, which are: gmon, folded, callgrind, csv");
	assert_false(itrace_profile_format_find("", &format, why, sizeof(why)));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* the places with the most samples */

static void test_top(void **state)
{
	struct itrace_profile_place *places;
	size_t count;

	(void)state;
	profile.core_count = 2;
	assert_true(itrace_profile_top(&profile, ITRACE_PROFILE_ALL_CORES, 0, &places, &count));
	assert_int_equal(count, 0);
	assert_null(places);

	add(0x10, 5);
	add(0x20, 7);
	add(0x30, 5);
	itrace_pc_histogram_add(&histograms[1], 0x10, 3);
	itrace_pc_histogram_add(&histograms[1], 0x40, 1);
	assert_true(itrace_profile_top(&profile, ITRACE_PROFILE_ALL_CORES, 0, &places, &count));
	assert_int_equal(count, 4);
	static const struct itrace_profile_place want[] = { { NULL, 0x10, 8 }, { NULL, 0x20, 7 }, { NULL, 0x30, 5 },
		{ NULL, 0x40, 1 } };
	for (unsigned int i = 0; i < 4; i++) {
		assert_null(places[i].name);
		assert_int_equal(places[i].addr, want[i].addr);
		assert_int_equal(places[i].count, want[i].count);
	}
	free(places);
	assert_true(itrace_profile_top(&profile, 0, 2, &places, &count));
	assert_int_equal(count, 2);
	assert_int_equal(places[0].addr, 0x20);
	assert_int_equal(places[1].addr, 0x10);
	assert_int_equal(places[1].count, 5);
	free(places);
	assert_false(itrace_profile_top(&profile, 2, 2, &places, &count));
	assert_null(places);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* complete or not there */

static void put(const char *where, const char *text)
{
	FILE *f = fopen(where, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) >= 0, 1);
	assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *where, const char *text)
{
	char have[64] = "";
	FILE *f = fopen(where, "r");

	assert_non_null(f);
	assert_int_equal(fread(have, 1, sizeof(have) - 1, f), strlen(text));
	fclose(f);
	assert_string_equal(have, text);
}

static void test_no_samples(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ITRACE_PROFILE_FORMAT_NUM; i++) {
		assert_false(itrace_profile_file_write(&profile, (enum itrace_profile_format)i, path, why, sizeof(why)));
		assert_non_null(strstr(why, "no samples"));
		assert_non_null(strstr(why, path));
		assert_int_equal(files(), 0);
	}
	put(path, "old");
	refused(path, "no samples");
	assert_holds(path, "old");
	profile.unit = "instructions";
	refused(path, "no instructions");
}

static void test_places_that_cannot_be(void **state)
{
	(void)state;
	add(0x400d0000, 1);
	char absent[128];
	snprintf(absent, sizeof(absent), "%s/absent/out", dir);
	static const char * const bad[] = { "/", "/proc/out" };
	for (unsigned int i = 0; i < 4; i++) {
		const char *where = i < 2 ? bad[i] : i == 2 ? absent : dir;
		refused(where, "cannot write");
		assert_false(itrace_profile_file_check(where, why, sizeof(why)));
		assert_non_null(strstr(why, where));
	}
	assert_int_equal(files(), 0);
	refused("", "the name is empty");
	assert_false(itrace_profile_file_check("", why, sizeof(why)));
	put(path, "old");
	char below[160];
	snprintf(below, sizeof(below), "%s/out", path);
	refused(below, "Not a directory");
	chmod(path, 0444);
	if (geteuid()) {
		refused(path, "Permission denied");
		assert_false(itrace_profile_file_check(path, why, sizeof(why)));
	}
	assert_holds(path, "old");
	char small[10];
	assert_false(itrace_profile_file_write(&profile, ITRACE_PROFILE_CSV, absent, small, sizeof(small)));
	assert_string_equal(small, "cannot wr");

	profile.core_count = 0;
	refused(path, "1 to 32 cores");
	profile.core_count = ITRACE_PROFILE_CORES_MAX + 1;
	refused(path, "1 to 32 cores");
}

static void test_check(void **state)
{
	(void)state;
	assert_true(itrace_profile_file_check(path, why, sizeof(why)));
	assert_int_equal(files(), 0);
	put(path, "old");
	assert_true(itrace_profile_file_check(path, why, sizeof(why)));
	assert_holds(path, "old");
	assert_int_equal(files(), 1);
	assert_true(itrace_profile_file_check("/dev/null", why, sizeof(why)));
}

/* Names that happen to be taken, links, rights: what replaces a file is like it. */
static void test_replace(void **state)
{
	struct stat st;
	char taken[160];
	char target[160];

	(void)state;
	add(0x400d0000, 1);
	put(path, "old");
	chmod(path, 0640);
	snprintf(taken, sizeof(taken), "%s.0.tmp", path);
	put(taken, "not ours");
	assert_text(ITRACE_PROFILE_FOLDED, "0x400d0000 1\n");
	assert_holds(taken, "not ours");
	assert_int_equal(files(), 2);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	unlink(taken);

	snprintf(target, sizeof(target), "%s/target", dir);
	put(target, "old");
	unlink(path);
	assert_int_equal(symlink("target", path), 0);
	assert_text(ITRACE_PROFILE_FOLDED, "0x400d0000 1\n");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_holds(target, "0x400d0000 1\n");
	assert_int_equal(files(), 2);
	unlink(target);
}

/* The disk gets full in the middle of the file. */
static void test_full_disk(void **state)
{
	struct rlimit old;
	struct stat st;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++)
		add(0x400d0000 + 3 * i, 1);
	put(path, "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	struct rlimit limit = { .rlim_cur = 100000, .rlim_max = old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	for (unsigned int i = 0; i < ITRACE_PROFILE_FORMAT_NUM; i++) {
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		bool is_ok = itrace_profile_file_write(&profile, (enum itrace_profile_format)i, path, why, sizeof(why));
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_false(is_ok);
		assert_non_null(strstr(why, "File too large"));
		assert_non_null(strstr(why, path));
		assert_holds(path, "old");
		assert_int_equal(files(), 1);
	}
	/* what is no file is not replaced */
	if (!stat("/dev/full", &st)) {
		refused("/dev/full", "No space left on device");
		assert_int_equal(stat("/dev/full", &st), 0);
		assert_true(S_ISCHR(st.st_mode));
	}
	assert_true(itrace_profile_file_write(&profile, ITRACE_PROFILE_CSV, "/dev/null", why, sizeof(why)));
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

int main(void)
{
#define EACH(test)	cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		EACH(test_one_sample),
		EACH(test_records),
		EACH(test_rate),
		EACH(test_gaps),
		EACH(test_full_buckets),
		EACH(test_divided_counts),
		EACH(test_top_of_the_address_space),
		EACH(test_random),
		EACH(test_many_records),
		EACH(test_many_sizes),
		EACH(test_rounded_addresses),
		EACH(test_text_of_one_core),
		EACH(test_text_of_several_cores),
		EACH(test_formats),
		EACH(test_top),
		EACH(test_no_samples),
		EACH(test_places_that_cannot_be),
		EACH(test_check),
		EACH(test_replace),
		EACH(test_full_disk),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
