/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The benchmark: the same trace through libitrace and through OpenCSD, in one process, in turn.
 */

#ifndef OPENOCD_ITRACE_TESTING_BENCH_H
#define OPENOCD_ITRACE_TESTING_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ete_config.h"
#include "image.h"

/* Both decoders get the trace in pieces of this many bytes. */
#define BENCH_CHUNK_LEN		(64u * 1024u)

/* What a decode came to. Timed passes count ranges and instructions only, check passes fill all of it. */
struct bench_count {
	uint64_t range_count;
	uint64_t instruction_count;
	uint64_t exception_count;	/* and exception returns, contexts, trace-ons: everything else that both report */
	uint64_t packet_count;
	uint64_t hash;			/* of all ranges (packets) in order */
};

/* A trace with its program and its registers. */
struct bench_program {
	enum itrace_protocol protocol;
	enum itrace_profile profile;
	enum itrace_arch arch;
	struct itrace_ete_registers regs;
	struct itrace_segment *segments;
	size_t segment_count;
	uint8_t *trace;
	size_t trace_len;
};

/* A piece of a made trace that begins with an A-Sync, and what the maker says it must decode to. */
struct bench_slice {
	size_t off;
	size_t len;
	struct bench_count count;
};

static inline uint64_t bench_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline void bench_hash(uint64_t *hash, uint64_t value)
{
	*hash = (*hash ^ value) * 0x9fb21c651e98df25ull;
	*hash ^= *hash >> 32;
}

static inline void bench_hash_range(uint64_t *hash, uint64_t addr, uint64_t end, uint64_t count, bool executed)
{
	bench_hash(hash, addr);
	bench_hash(hash, end);
	bench_hash(hash, count << 1 | executed);
}

/* Prints to standard error and ends the program with status 1. */
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *bench_alloc(size_t len);

/* job.c: the description that testing/bench/run makes of a snapshot; fails with a message. */
void bench_job_load(struct bench_program *program, const char *path);

/* ours.c */
struct bench_ours;
struct bench_ours *bench_ours_new(const struct bench_program *program, size_t block_count, bool with_ledger);
void bench_ours_delete(struct bench_ours *ours);
/* A whole decode of a trace that is @a copies times @a bytes, without a reset between the copies. */
void bench_ours_decode(struct bench_ours *ours, const uint8_t *bytes, size_t len, unsigned int copies,
		struct bench_count *count);
void bench_ours_check(struct bench_ours *ours, const uint8_t *bytes, size_t len, unsigned int copies,
		struct bench_count *count);
void bench_ours_packets(struct bench_ours *ours, const uint8_t *bytes, size_t len, struct bench_count *count);
void bench_ours_packets_check(struct bench_ours *ours, const uint8_t *bytes, size_t len, struct bench_count *count);

/* opencsd.c */
struct bench_opencsd;
struct bench_opencsd *bench_opencsd_new(const struct bench_program *program, bool packets_only);
void bench_opencsd_delete(struct bench_opencsd *opencsd);
void bench_opencsd_decode(struct bench_opencsd *opencsd, const uint8_t *bytes, size_t len, unsigned int copies,
		bool check, struct bench_count *count);
const char *bench_opencsd_version(void);

/*
 * cold.c: a program of @a code_len bytes of A64 code, a random control-flow graph, and the ETE trace of a walk through
 * it.
 * @param slices room for @a slice_count slices of about @a slice_len bytes each
 */
void bench_cold_make(struct bench_program *program, size_t code_len, struct bench_slice *slices, size_t slice_count,
		size_t slice_len, uint64_t seed);

/*
 * packets.c: an ETMv4 stream of about @a len bytes with the packet mix of the ETE trace in @a model, but with other
 * addresses and in another order.
 */
void bench_packets_make(struct bench_program *program, const struct bench_program *model, size_t len, uint64_t seed);

#endif /* OPENOCD_ITRACE_TESTING_BENCH_H */
