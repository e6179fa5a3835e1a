// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The benchmark program. testing/bench/run builds it, makes the job file and calls it; see there.
 *
 * The two decoders take turns on the same bytes in one process; CPU time of the process is what counts. A figure is
 * the median over the turns of the ratio of the two speeds in that turn. Before that each case is decoded once with all
 * ranges (packets) hashed, and the two must agree.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define BENCH_TURNS_MAX		101u
#define BENCH_OURS_MIN_S	0.1	/* our side is repeated within a turn until it has taken this long */
#define BENCH_MIB		(1024u * 1024u)

struct bench_options {
	unsigned int turns;
	unsigned int mib;	/* of trace */
	unsigned int copies;
	size_t block_count;
	size_t code_len;	/* of the made program */
	uint64_t seed;
	bool with_ledger;
};

struct bench_turns {
	unsigned int count;
	double ours[BENCH_TURNS_MAX];	/* MB/s */
	double theirs[BENCH_TURNS_MAX];
	double ratio[BENCH_TURNS_MAX];
};

void bench_fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(EXIT_FAILURE);
}

void *bench_alloc(size_t len)
{
	void *p = calloc(1, len);
	if (!p)
		bench_fail("out of memory (%zu bytes wanted)", len);
	return p;
}

static double bench_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double bench_median(const double *values, unsigned int n)
{
	double sorted[BENCH_TURNS_MAX];
	memcpy(sorted, values, n * sizeof(values[0]));
	qsort(sorted, n, sizeof(sorted[0]), bench_compare);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static void bench_turn(struct bench_turns *turns, double ours, double theirs)
{
	turns->ours[turns->count] = ours;
	turns->theirs[turns->count] = theirs;
	turns->ratio[turns->count++] = ours / theirs;
}

static void bench_report(const struct bench_turns *turns, const char *name, const char *per, double units_per_byte)
{
	double ours = bench_median(turns->ours, turns->count);
	double theirs = bench_median(turns->theirs, turns->count);
	double low = turns->ratio[0], high = turns->ratio[0];
	for (unsigned int i = 1; i < turns->count; i++) {
		low = turns->ratio[i] < low ? turns->ratio[i] : low;
		high = turns->ratio[i] > high ? turns->ratio[i] : high;
	}
	printf("itrace   %9.2f MB/s of trace, %8.2f M%s/s\n", ours, ours * units_per_byte, per);
	printf("OpenCSD  %9.2f MB/s of trace, %8.2f M%s/s (%u turns, ratio %.2f to %.2f)\n", theirs,
		theirs * units_per_byte, per, turns->count, low, high);
	printf("ratio %s %.2f\n", name, bench_median(turns->ratio, turns->count));
	fflush(stdout);
}

static void bench_agree(const char *what, const struct bench_count *a, const struct bench_count *b)
{
	if (a->range_count == b->range_count && a->instruction_count == b->instruction_count
			&& a->exception_count == b->exception_count && a->packet_count == b->packet_count && a->hash == b->hash)
		return;
	bench_fail("%s differ: %llu/%llu ranges, %llu/%llu instructions, %llu/%llu other elements, %llu/%llu packets, "
		"hash %016llx/%016llx", what, (unsigned long long)a->range_count, (unsigned long long)b->range_count,
		(unsigned long long)a->instruction_count, (unsigned long long)b->instruction_count,
		(unsigned long long)a->exception_count, (unsigned long long)b->exception_count,
		(unsigned long long)a->packet_count, (unsigned long long)b->packet_count,
		(unsigned long long)a->hash, (unsigned long long)b->hash);
}

/* A timed pass fills in less; what it has must be the same. */
static void bench_agree_timed(const char *what, const struct bench_count *timed, const struct bench_count *checked)
{
	struct bench_count count = *checked;
	count.range_count = timed->range_count;
	count.instruction_count = timed->instruction_count;
	count.packet_count = timed->packet_count;
	bench_agree(what, &count, checked);
}

/* MB/s of our side over @a copies of the bytes, repeated until the clock can tell. */
static double bench_time_ours(struct bench_ours *ours, const uint8_t *bytes, size_t len, unsigned int copies,
		const struct bench_count *expected)
{
	struct bench_count count;
	double start = bench_now(), time;
	unsigned int passes = 0;
	do {
		if (expected->packet_count)
			bench_ours_packets(ours, bytes, len, &count);
		else
			bench_ours_decode(ours, bytes, len, copies, &count);
		passes++;
		time = bench_now() - start;
	} while (time < BENCH_OURS_MIN_S);
	bench_agree_timed("itrace's passes", &count, expected);
	return 1e-6 * (double)len * copies * passes / time;
}

static double bench_time_opencsd(struct bench_opencsd *opencsd, const uint8_t *bytes, size_t len, unsigned int copies,
		const struct bench_count *expected)
{
	struct bench_count count;
	double start = bench_now();
	bench_opencsd_decode(opencsd, bytes, len, copies, false, &count);
	double time = bench_now() - start;
	bench_agree_timed("OpenCSD's passes", &count, expected);
	return 1e-6 * (double)len * copies / time;
}

/* How often the trace has to be repeated to be as long as asked for. */
static unsigned int bench_copies(const struct bench_options *options, const struct bench_program *program)
{
	return (unsigned int)(((uint64_t)options->mib * BENCH_MIB + program->trace_len - 1) / program->trace_len);
}

static void bench_full(const struct bench_options *options, const char *job)
{
	struct bench_program program;
	bench_job_load(&program, job);
	unsigned int copies = bench_copies(options, &program);
	printf("\ndecode-full: a trace of %zu bytes %u times, code in %zu buffers\n", program.trace_len, copies,
		program.segment_count);

	struct bench_ours *ours = bench_ours_new(&program, options->block_count, false);
	struct bench_ours *ledger = bench_ours_new(&program, options->block_count, true);
	struct bench_opencsd *opencsd = bench_opencsd_new(&program, false);
	struct bench_count expected, count;
	bench_opencsd_decode(opencsd, program.trace, program.trace_len, copies, true, &expected);
	bench_ours_check(ours, program.trace, program.trace_len, copies, &count);
	bench_agree("decode-full: itrace and OpenCSD", &count, &expected);
	printf("both decode %llu instructions in %llu ranges\n", (unsigned long long)count.instruction_count,
		(unsigned long long)count.range_count);

	struct bench_turns turns = { 0 }, ledger_turns = { 0 };
	for (unsigned int i = 0; i < options->turns; i++) {
		double fast = bench_time_ours(ours, program.trace, program.trace_len, copies, &expected);
		double slow = bench_time_opencsd(opencsd, program.trace, program.trace_len, copies, &expected);
		double counted = bench_time_ours(ledger, program.trace, program.trace_len, copies, &expected);
		bench_turn(&turns, fast, slow);
		bench_turn(&ledger_turns, counted, slow);
	}
	double per_byte = (double)expected.instruction_count / (double)program.trace_len / copies;
	bench_report(&ledger_turns, "decode-full-ledger", "instr", per_byte);
	bench_report(&turns, "decode-full", "instr", per_byte);
	bench_ours_delete(ours);
	bench_ours_delete(ledger);
	bench_opencsd_delete(opencsd);
}

#define COLD_SLICE_NUM	16u

static void bench_cold_add(struct bench_count *sum, const struct bench_slice *slices)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < COLD_SLICE_NUM; i++) {
		sum->range_count += slices[i].count.range_count;
		sum->instruction_count += slices[i].count.instruction_count;
	}
}

static void bench_cold(const struct bench_options *options)
{
	struct bench_slice slices[COLD_SLICE_NUM];
	struct bench_program program;
	bench_cold_make(&program, options->code_len, slices, COLD_SLICE_NUM,
		(size_t)options->mib * BENCH_MIB / COLD_SLICE_NUM, options->seed);
	struct bench_count all;
	bench_cold_add(&all, slices);
	printf("\ndecode-cold: %zu bytes of trace over %zu bytes of code, %llu ranges, %.1f instructions a range, "
		"%.2f ranges a byte\n", program.trace_len, options->code_len, (unsigned long long)all.range_count,
		(double)all.instruction_count / (double)all.range_count, (double)all.range_count / (double)program.trace_len);
	printf("itrace decodes all of it in every turn, OpenCSD another %u bytes of it (one of %u parts) in each\n",
		(unsigned int)slices[0].len, COLD_SLICE_NUM);

	struct bench_ours *ours = bench_ours_new(&program, options->block_count, false);
	struct bench_opencsd *opencsd = bench_opencsd_new(&program, false);
	struct bench_count count;
	for (unsigned int i = 0; i < COLD_SLICE_NUM; i++) {
		bench_ours_check(ours, program.trace + slices[i].off, slices[i].len, 1, &count);
		count.exception_count = 0;
		bench_agree("decode-cold: itrace and what was walked", &count, &slices[i].count);
	}

	struct bench_turns turns = { 0 };
	for (unsigned int i = 0; i < options->turns; i++) {
		const struct bench_slice *slice = &slices[i % COLD_SLICE_NUM];
		double fast = bench_time_ours(ours, program.trace, program.trace_len, 1, &all);
		double slow = bench_time_opencsd(opencsd, program.trace + slice->off, slice->len, 1, &slice->count);
		bench_turn(&turns, fast, slow);
		if (!i) {
			bench_opencsd_decode(opencsd, program.trace + slice->off, slice->len, 1, true, &count);
			count.exception_count = 0;
			bench_agree("decode-cold: OpenCSD and what was walked", &count, &slice->count);
		}
	}
	bench_report(&turns, "decode-cold", "instr", (double)all.instruction_count / (double)program.trace_len);
	bench_ours_delete(ours);
	bench_opencsd_delete(opencsd);
}

static void bench_packets(const struct bench_options *options, const char *job)
{
	struct bench_program model, program;
	bench_job_load(&model, job);
	bench_packets_make(&program, &model, (size_t)options->mib * BENCH_MIB, options->seed);
	struct bench_ours *ours = bench_ours_new(&program, 1, false);
	struct bench_opencsd *opencsd = bench_opencsd_new(&program, true);

	struct bench_count expected, count;
	bench_opencsd_decode(opencsd, program.trace, program.trace_len, 1, true, &expected);
	bench_ours_packets_check(ours, program.trace, program.trace_len, &count);
	printf("\npackets: %zu bytes of ETMv4 trace made with the packet mix of the snapshot, %llu packets, packets only\n",
		program.trace_len, (unsigned long long)expected.packet_count);
	bench_agree("packets: itrace and OpenCSD", &count, &expected);

	struct bench_turns turns = { 0 };
	for (unsigned int i = 0; i < options->turns; i++) {
		double fast = bench_time_ours(ours, program.trace, program.trace_len, 1, &expected);
		double slow = bench_time_opencsd(opencsd, program.trace, program.trace_len, 1, &expected);
		bench_turn(&turns, fast, slow);
	}
	bench_report(&turns, "packets", "packets", (double)expected.packet_count / (double)program.trace_len);
	bench_ours_delete(ours);
	bench_opencsd_delete(opencsd);
}

/* What a case decodes: the job's trace, or one that is made. */
static void bench_prepare(const struct bench_options *options, const char *what, const char *job,
		struct bench_program *program)
{
	struct bench_slice slices[COLD_SLICE_NUM];
	if (!strcmp(what, "cold")) {
		bench_cold_make(program, options->code_len, slices, COLD_SLICE_NUM,
			(size_t)options->mib * BENCH_MIB / COLD_SLICE_NUM, options->seed);
		return;
	}
	bench_job_load(program, job);
	if (!strcmp(what, "packets")) {
		struct bench_program model = *program;
		bench_packets_make(program, &model, (size_t)options->mib * BENCH_MIB, options->seed);
	}
}

static void bench_pass(const struct bench_program *program, struct bench_ours *ours, const char *what,
		unsigned int copies, struct bench_count *count)
{
	if (!strcmp(what, "packets"))
		bench_ours_packets(ours, program->trace, program->trace_len, count);
	else
		bench_ours_decode(ours, program->trace, program->trace_len, copies, count);
}

/* The shortest CPU time of our side over a number of passes: ns per byte. */
static void bench_best(const struct bench_options *options, const char *what, const char *job)
{
	struct bench_program program;
	bench_prepare(options, what, job, &program);
	struct bench_ours *ours = bench_ours_new(&program, options->block_count, options->with_ledger);
	unsigned int copies = strcmp(what, "full") ? 1 : bench_copies(options, &program);
	double best = 0;
	for (unsigned int i = 0; i < options->turns; i++) {
		struct bench_count count;
		double start = bench_now();
		bench_pass(&program, ours, what, copies, &count);
		double time = bench_now() - start;
		if (!i || time < best)
			best = time;
	}
	printf("%.4f\n", 1e9 * best / (double)program.trace_len / copies);
	bench_ours_delete(ours);
}

/* One decode and nothing else, for valgrind and perf. */
static void bench_once(const struct bench_options *options, const char *what, const char *job)
{
	struct bench_program program;
	struct bench_count count;
	bool theirs = !strcmp(what, "opencsd");
	bench_prepare(options, what, job, &program);
	if (theirs) {
		struct bench_opencsd *opencsd = bench_opencsd_new(&program, false);
		bench_opencsd_decode(opencsd, program.trace, program.trace_len, options->copies, false, &count);
		bench_opencsd_delete(opencsd);
	} else {
		struct bench_ours *ours = bench_ours_new(&program, options->block_count, options->with_ledger);
		bench_pass(&program, ours, what, options->copies, &count);
		bench_ours_delete(ours);
	}
	printf("%llu ranges, %llu instructions, %llu packets\n", (unsigned long long)count.range_count,
		(unsigned long long)count.instruction_count, (unsigned long long)count.packet_count);
}

static void bench_write(const char *dir, const char *name, const void *bytes, size_t len)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		bench_fail("%s: cannot be written", path);
}

/* Writes the first part of the made trace and its code, and prints what it must decode to. */
static void bench_cold_dump(const struct bench_options *options, const char *dir)
{
	struct bench_slice slices[COLD_SLICE_NUM];
	struct bench_program program;
	bench_cold_make(&program, options->code_len, slices, COLD_SLICE_NUM,
		(size_t)options->mib * BENCH_MIB / COLD_SLICE_NUM, options->seed);
	bench_write(dir, "trace.bin", program.trace, slices[0].len);
	bench_write(dir, "code.bin", program.segments[0].data, program.segments[0].len);
	printf("%#llx %llu %llu\n", (unsigned long long)program.segments[0].addr,
		(unsigned long long)slices[0].count.range_count, (unsigned long long)slices[0].count.instruction_count);
}

static unsigned long bench_number(const char *text, unsigned long low, unsigned long high)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);
	if (*end || end == text || value < low || value > high)
		bench_fail("%s: a number from %lu to %lu is wanted", text, low, high);
	return value;
}

int main(int argc, char **argv)
{
	static const char usage[] =
		"usage: bench CASE [JOB] [option=value ...]\n"
		"cases: decode-full JOB, decode-cold, packets JOB, cold-dump DIR, version,\n"
		"       best-full JOB, best-cold, best-packets JOB: only itrace, ns per byte of its fastest turn,\n"
		"       once-full JOB, once-cold, once-packets JOB, once-opencsd JOB: one decode for a profiler\n"
		"options: turns=N mib=N copies=N blocks=N code=KIB seed=N ledger=0|1\n";
	struct bench_options options = {
		.turns = 7,
		.copies = 1,
		.block_count = 16384,
		.code_len = 4 * BENCH_MIB,
		.seed = 1,
	};
	const char *job = NULL;
	if (argc < 2) {
		fputs(usage, stderr);
		return 2;
	}

	for (int i = 2; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		if (!value)
			job = argv[i];
		else if (!strncmp(argv[i], "turns=", 6))
			options.turns = (unsigned int)bench_number(value + 1, 1, BENCH_TURNS_MAX);
		else if (!strncmp(argv[i], "mib=", 4))
			options.mib = (unsigned int)bench_number(value + 1, 1, 4096);
		else if (!strncmp(argv[i], "copies=", 7))
			options.copies = (unsigned int)bench_number(value + 1, 1, 1u << 30);
		else if (!strncmp(argv[i], "blocks=", 7))
			options.block_count = bench_number(value + 1, 1, 1u << 24);
		else if (!strncmp(argv[i], "code=", 5))
			options.code_len = bench_number(value + 1, 8, 32768) * 1024;
		else if (!strncmp(argv[i], "seed=", 5))
			options.seed = bench_number(value + 1, 0, ~0ul);
		else if (!strncmp(argv[i], "ledger=", 7))
			options.with_ledger = bench_number(value + 1, 0, 1);
		else
			bench_fail("unknown option %s", argv[i]);
	}

	const char *what = argv[1];
	bool cold = strstr(what, "cold");
	if (!options.mib)
		options.mib = cold ? 64 : strstr(what, "packets") ? 32 : 4;
	if (!strcmp(what, "version")) {
		printf("%s\n", bench_opencsd_version());
		return 0;
	}
	if (!job && (!cold || !strcmp(what, "cold-dump"))) {
		fputs(usage, stderr);
		return 2;
	}
	if (!strcmp(what, "decode-full")) {
		bench_full(&options, job);
	} else if (!strcmp(what, "decode-cold")) {
		bench_cold(&options);
	} else if (!strcmp(what, "packets")) {
		bench_packets(&options, job);
	} else if (!strcmp(what, "cold-dump")) {
		bench_cold_dump(&options, job);
	} else if (!strncmp(what, "once-", 5)) {
		bench_once(&options, what + 5, job);
	} else if (!strncmp(what, "best-", 5)) {
		bench_best(&options, what + 5, job);
	} else {
		fputs(usage, stderr);
		return 2;
	}
	return 0;
}
