/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A flat profile - how often each address was seen - as a file that other programs open.
 *
 *   gmon       gmon.out, for gprof
 *   folded     "frame;frame count" lines, for flame graphs
 *   callgrind  for callgrind_annotate and KCachegrind
 *   csv        for spreadsheets and scripts
 *
 * In each of them the counts add up to all samples that were given.
 */

#ifndef OPENOCD_ITRACE_REPORT_PROFILE_FILE_H
#define OPENOCD_ITRACE_REPORT_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pc_histogram.h"
#include "symbols.h"

#define ITRACE_PROFILE_CORES_MAX	32u

enum itrace_profile_format {
	ITRACE_PROFILE_GMON,
	ITRACE_PROFILE_FOLDED,
	ITRACE_PROFILE_CALLGRIND,
	ITRACE_PROFILE_CSV,
	ITRACE_PROFILE_FORMAT_NUM
};

struct itrace_profile_core {
	const char *name;	/* as shown, say "esp32.cpu0"; NULL: "core" and its index */
	const struct itrace_pc_histogram *histogram;	/* begun; may be empty */
};

/* What was measured. Everything behind a pointer stays the caller's; nothing is kept behind a call. */
struct itrace_profile {
	const struct itrace_profile_core *cores;
	unsigned int core_count;	/* 1 ... ITRACE_PROFILE_CORES_MAX */
	/*
	 * Time and samples make the rate in gmon.out: each sample stands for elapsed_ns / samples.
	 * samples: all that were taken in elapsed_ns, also those that the caller left out because they lie outside of a
	 * range; 0: the sum of the histograms. elapsed_ns 0: not known, or no matter of time.
	 */
	uint64_t elapsed_ns;
	uint64_t samples;
	struct itrace_symbols *symbols;	/* names and lines; NULL: none */
	const char *unit;		/* what is counted, a plural in lower case: "instructions"; NULL: "samples" */
	const char *command;		/* what made the profile, for people; NULL: nothing to say */
	bool has_range;			/* only addresses in [range_start, range_end) were counted (for people, too) */
	uint64_t range_start;
	uint64_t range_end;		/* 0: the end of the address space */
	unsigned int word_size;		/* of an address of the target: 32 or 64 bits */
	bool is_big_endian;		/* the target is (gmon.out is in its byte order) */
};

/* A function or address, and how often it was seen. */
struct itrace_profile_place {
	const char *name;	/* belongs to profile->symbols; NULL: no symbol is there */
	uint64_t addr;		/* of the function's first byte; without a symbol the address that was seen */
	uint64_t count;
};

/* @returns "gmon", "folded" ...; "?" for what is no format. */
const char *itrace_profile_format_name(enum itrace_profile_format format);

/*
 * The format called @a name.
 * @returns false when there is none of that name; *why is then one line that lists those there are.
 */
bool itrace_profile_format_find(const char *name, enum itrace_profile_format *format, char *why, size_t why_size);

/*
 * Whether itrace_profile_file_write() could write to @a path now: to be asked before the measurement, not after it.
 * An existing file stays as it is, nothing new is left behind. Free space is not looked at.
 * @returns false when not; *why is then one line that names the file.
 */
bool itrace_profile_file_check(const char *path, char *why, size_t why_size);

/*
 * Write the whole profile to @a path, which is replaced when it exists: the new text is written next to it under a name
 * of its own and renamed when it is complete. When it fails nothing is left of it, and an older file is still there.
 * (What is no ordinary file, a pipe or a device, is written to directly.)
 *
 * gmon: the sum of all cores. Each record covers addresses that lie close together, in buckets of 2 bytes; it is
 * repeated until the sum is right where a bucket has more than 65535 samples. The two last bytes of the address space,
 * which no record can cover, are counted two bytes lower; so are, when word_size is 32, addresses that do not fit.
 * Counts that gprof could not add up (2^31 and more at one address) are all divided by the same power of two, and *why
 * tells so. The rate is right within 1 %: where whole samples per second are too coarse they are given per minute, hour
 * or day; when the time is not known, or less than one sample a day, the dimension is the unit and the rate 1.
 * gprof itself shows no samples of the highest symbol of a program, and gives what lies behind the end of a function to
 * the function; the other formats have both right.
 *
 * folded: a line for each function ("core;function count" when there are several cores), most samples first. Addresses
 * without a symbol are frames of their own: "0x" and the address, not rounded. In names ';', blanks and control
 * characters become '_'.
 *
 * callgrind: an event for each core ("Samples", or "Samples_" and the core's name with '_' for what is no letter or
 * digit), files and lines where the debug information has them (else "???" and line 0), one entry for each address. An
 * address without a symbol is a function of its own, named as in folded.
 *
 * csv: "core,address,count,function,offset,file,line" and a row for each address of each core, quoted as RFC 4180 says,
 * with LF line ends; address and offset in hexadecimal with 0x. What is not known is empty.
 *
 * @param[out] why   at most @a why_size (> 0) bytes. On failure: what is wrong, naming the file. On success: empty, or
 * what is to be known about the file (addresses are rounded, counts are divided).
 * @returns false when the file could not be written, there is no memory, or no sample in the profile (a file without
 * samples helps nobody: gprof divides by their number).
 */
bool itrace_profile_file_write(const struct itrace_profile *profile, enum itrace_profile_format format,
		const char *path, char *why, size_t why_size);

#define ITRACE_PROFILE_ALL_CORES	UINT32_MAX

/*
 * The places with the most samples: functions where there are symbols, addresses where there are none. Functions of the
 * same name at different addresses are different places.
 *
 * @param core         index of a core, or ITRACE_PROFILE_ALL_CORES for their sum
 * @param max          at most so many; 0: all
 * @param[out] places  most samples first, of equal ones the lower address; the caller's to free(); NULL when there is
 *                     none or the call failed
 * @param[out] count   how many
 * @returns false when there is no memory, or no such core.
 */
bool itrace_profile_top(const struct itrace_profile *profile, uint32_t core, size_t max,
		struct itrace_profile_place **places, size_t *count);

#endif /* OPENOCD_ITRACE_REPORT_PROFILE_FILE_H */
