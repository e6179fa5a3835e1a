// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Writes a profile of samples that are given as text, for test_profile_files.py.
 *
 * Usage: profile_write FORMAT FILE ?OPTION VALUE?... <SAMPLES
 *
 * SAMPLES are lines "CORE ADDRESS COUNT": index of a core, address in hex, count in decimal. Options: -cores NAME,NAME
 * -elf FILE (of Xtensa) -ns ELAPSED -samples N -bits 32|64 -endian little|big -unit UNIT -command TEXT -slots N
 * -top N (prints them). Prints what there is to say of the file; exit status 1 when it could not be written.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <itrace/report/profile_file.h>

static struct itrace_pc_histogram histograms[ITRACE_PROFILE_CORES_MAX];
static struct itrace_profile_core cores[ITRACE_PROFILE_CORES_MAX];
static struct itrace_profile profile = { .cores = cores, .core_count = 1, .word_size = 32 };
static size_t slots;
static size_t top;

static int fail(const char *what)
{
	fprintf(stderr, "profile_write: %s\n", what);
	return 2;
}

static void take_cores(char *names)
{
	char *name = strtok(names, ",");

	for (profile.core_count = 0; name && profile.core_count < ITRACE_PROFILE_CORES_MAX; name = strtok(NULL, ","))
		cores[profile.core_count++].name = name;
}

static void take_elf(const char *path)
{
	char why[512];

	profile.symbols = itrace_symbols_new();
	if (!profile.symbols)
		exit(fail("no memory"));
	itrace_symbols_set_family(profile.symbols, ITRACE_SYMBOLS_FAMILY_XTENSA);
	if (itrace_symbols_add_elf(profile.symbols, path, 0, why, sizeof(why)) < 0)
		exit(fail(why));
}

static int take_option(const char *option, char *value)
{
	if (!strcmp(option, "-cores"))
		take_cores(value);
	else if (!strcmp(option, "-elf"))
		take_elf(value);
	else if (!strcmp(option, "-ns"))
		profile.elapsed_ns = strtoull(value, NULL, 10);
	else if (!strcmp(option, "-samples"))
		profile.samples = strtoull(value, NULL, 10);
	else if (!strcmp(option, "-bits"))
		profile.word_size = (unsigned int)strtoul(value, NULL, 10);
	else if (!strcmp(option, "-endian"))
		profile.is_big_endian = !strcmp(value, "big");
	else if (!strcmp(option, "-unit"))
		profile.unit = value;
	else if (!strcmp(option, "-command"))
		profile.command = value;
	else if (!strcmp(option, "-slots"))
		slots = strtoul(value, NULL, 10);
	else if (!strcmp(option, "-top"))
		top = strtoul(value, NULL, 10);
	else
		return -1;
	return 0;
}

static int print_top(void)
{
	struct itrace_profile_place *places;
	size_t count;

	if (!itrace_profile_top(&profile, ITRACE_PROFILE_ALL_CORES, top, &places, &count))
		return fail("no memory");
	for (size_t i = 0; i < count; i++)
		printf("%s 0x%" PRIx64 " %" PRIu64 "\n", places[i].name ? places[i].name : "-", places[i].addr,
			places[i].count);
	free(places);
	return 0;
}

int main(int argc, char **argv)
{
	char why[512];
	enum itrace_profile_format format;
	unsigned int core;
	uint64_t addr;
	uint64_t count;

	if (argc < 3 || argc % 2 == 0)
		return fail("usage: FORMAT FILE ?OPTION VALUE?...");
	for (int i = 3; i < argc; i += 2)
		if (take_option(argv[i], argv[i + 1]))
			return fail(argv[i]);
	for (unsigned int i = 0; i < profile.core_count; i++) {
		if (!itrace_pc_histogram_init(&histograms[i], slots))
			return fail("no memory");
		cores[i].histogram = &histograms[i];
	}
	while (scanf("%u %" SCNx64 " %" SCNu64, &core, &addr, &count) == 3) {
		if (core >= profile.core_count)
			return fail("no such core");
		itrace_pc_histogram_add(&histograms[core], addr, count);
	}

	int status = !itrace_profile_format_find(argv[1], &format, why, sizeof(why)) ||
		!itrace_profile_file_write(&profile, format, argv[2], why, sizeof(why));
	if (why[0])
		puts(why);
	if (!status && top)
		status = print_top();
	for (unsigned int i = 0; i < profile.core_count; i++)
		itrace_pc_histogram_free(&histograms[i]);
	itrace_symbols_free(profile.symbols);
	return status;
}
