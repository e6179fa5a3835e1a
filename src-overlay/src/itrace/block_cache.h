/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Each block of the program is decoded once.
 *
 * A block is the run of instructions from an address up to and including the next waypoint. The cache is direct
 * mapped, in
 * the caller's storage, and keyed by address, instruction set, memory space (when the image has several) and the
 * state of
 * the IT block that is open at its start.
 */

#ifndef OPENOCD_ITRACE_BLOCK_CACHE_H
#define OPENOCD_ITRACE_BLOCK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "image.h"
#include "insn.h"

/*
 * A decoded block, 32 bytes: two in a cache line.
 *
 * count 0 and ITRACE_BLOCK_NO_MEMORY: nothing is known at start. A block that ends for another reason than a waypoint
 * has a tag whose branch is ITRACE_INSN_OTHER.
 */
struct itrace_block {
	uint64_t start;
	uint64_t target;	/* where a taken (E) branch goes, if that is known; else where the block ends */
	uint32_t key;		/* itrace_block_key(); 0 = free */
	uint32_t len;		/* bytes, up to and including the last instruction */
	uint32_t tag;		/* itrace_event_range_tag() of an executed (E) range */
	uint16_t count;		/* instructions */
	uint8_t source;		/* of the code, as in the image */
	uint8_t end;		/* ITRACE_BLOCK_... */
};

_Static_assert(sizeof(struct itrace_block) == 32, "two blocks in a cache line");

/* end of struct itrace_block; 0: a plain block, after which execution goes on at target (E) or behind it (N) */
#define ITRACE_BLOCK_IT_MASK	0x07u	/* instructions behind the block that an open IT block makes conditional */
#define ITRACE_BLOCK_INDIRECT	0x08u	/* ends with an indirect branch that is no exception return */
#define ITRACE_BLOCK_SPECIAL	0x10u	/* needs a closer look: links, exchanges, returns from exception */
#define ITRACE_BLOCK_EXCHANGE	ITRACE_BLOCK_INDIRECT	/* of a direct branch, with SPECIAL: A32 to T32 or back */
#define ITRACE_BLOCK_ALWAYS	0x20u	/* its last instruction is a direct branch elsewhere, always taken: no N atom */
#define ITRACE_BLOCK_CUT_MASK	0xc0u	/* it did not end at a waypoint, but ... */
#define ITRACE_BLOCK_NO_MEMORY	0x40u	/* because the image has no bytes behind it */
#define ITRACE_BLOCK_UNDESCRIBED 0x80u	/* before a branch for which no source says how it is traced;
					 * A64: before an opcode that is permanently undefined */
#define ITRACE_BLOCK_FULL	0xc0u	/* at count_max: the walk goes on behind it; when passing waypoints also before
					 * a branch that is always taken: it cannot go on */

/* A block holds at most this many instructions; longer straight-line code is several blocks. */
#define ITRACE_BLOCK_COUNT_MAX	0xffffu

struct itrace_block_cache {
	struct itrace_block *blocks;
	uint64_t mask;			/* number of blocks - 1 */
	struct itrace_image *image;
	const struct itrace_insn_rules *rules;
	unsigned int generation;	/* of the image when the blocks were decoded */
	uint8_t space_mask;		/* 0 when the image looks the same from every space */
	bool links_special;		/* branches with link are: there is a return stack to push on */
	uint64_t miss_count;
	bool by_halfword;		/* blocks are where itrace_block_place_t32() says; set it behind init, or not at all */

	/* the piece of the image in which the last block was decoded, so that the next need not look for it */
	const uint8_t *window;
	uint64_t window_addr;
	uint64_t window_len;
	uint8_t window_space;
	uint8_t window_source;
};

/*
 * @param blocks caller's storage, @param count a power of two, at least 1
 * @param image stays the caller's and must live as long as the cache, as @a rules
 * @param links_special mark blocks that end with a branch with link ITRACE_BLOCK_SPECIAL
 */
void itrace_block_cache_init(struct itrace_block_cache *cache, struct itrace_block *blocks, size_t count,
		struct itrace_image *image, const struct itrace_insn_rules *rules, bool links_special);

/* Decode everything again if the image changed. Call before a series of finds, not between. */
void itrace_block_cache_refresh(struct itrace_block_cache *cache);

/* What ends a walk before its limit and count_max. */
enum itrace_walk_stop {
	ITRACE_WALK_TO_WAYPOINT,
	ITRACE_WALK_TO_BRANCH,	/* pass waypoints that are no branches */
	ITRACE_WALK_PASS,	/* pass all that may fall through; needs use_limit */
	ITRACE_WALK_PASS_TAKEN	/* also indirect branches, which may have gone to the next instruction; needs use_limit */
};

/* How far a walk goes. */
struct itrace_walk {
	uint64_t addr;
	uint64_t limit;		/* with use_limit: stop in front of the first instruction that would end behind it */
	uint32_t count_max;	/* and after so many instructions, at most ITRACE_BLOCK_COUNT_MAX */
	uint8_t isa;
	uint8_t it_left;
	uint8_t space;
	bool use_limit;
	uint8_t stop;		/* enum itrace_walk_stop */
};

/* Decode instructions without the cache. *block is filled but for its key. */
void itrace_block_walk(struct itrace_image *image, const struct itrace_insn_rules *rules,
		const struct itrace_walk *walk, struct itrace_block *block);

/* What tells blocks at the same address apart. Never 0. */
static inline uint32_t itrace_block_key(const struct itrace_block_cache *cache, uint8_t isa, uint8_t it_left,
		uint8_t space)
{
	return 0x10000u | (uint32_t)(space & cache->space_mask) << 8 | (uint32_t)it_left << 2 | isa;
}

static inline uint8_t itrace_block_key_isa(uint32_t key)
{
	return key & 3;
}

static inline uint8_t itrace_block_key_it(uint32_t key)
{
	return key >> 2 & 7;
}

/*
 * Where the block at @a addr is kept, to be masked. A32 and A64 addresses differ from bit 2 on, T32 ones from bit
 * 1: taken
 * from bit 2, two T32 blocks share a place only when they begin in the same word.
 */
static inline uint64_t itrace_block_place(uint64_t addr)
{
	return addr >> 2 ^ addr >> 16;
}

/* The same where all code is T32: a conditional branch is often a block of two bytes, with another right behind it. */
static inline uint64_t itrace_block_place_t32(uint64_t addr)
{
	return addr >> 1 ^ addr >> 16;
}

/* Decode the block at @a addr into its place. */
const struct itrace_block *itrace_block_cache_miss(struct itrace_block_cache *cache, uint64_t addr, uint32_t key,
		uint8_t space);

/*
 * Find or decode the block at @a addr, in a cache that is by_halfword. @a key by itrace_block_key(), for the same
 * @a space.
 * @returns the block, valid until the next call; never NULL.
 */
static inline const struct itrace_block *itrace_block_cache_find_t32(struct itrace_block_cache *cache, uint64_t addr,
		uint32_t key, uint8_t space)
{
	const struct itrace_block *block = &cache->blocks[itrace_block_place_t32(addr) & cache->mask];

	if (block->start == addr && block->key == key)
		return block;
	return itrace_block_cache_miss(cache, addr, key, space);
}

/* As itrace_block_cache_find_t32(), of a cache that is not by_halfword. */
static inline const struct itrace_block *itrace_block_cache_find(struct itrace_block_cache *cache, uint64_t addr,
		uint32_t key, uint8_t space)
{
	const struct itrace_block *block = &cache->blocks[itrace_block_place(addr) & cache->mask];

	if (block->start == addr && block->key == key)
		return block;
	return itrace_block_cache_miss(cache, addr, key, space);
}

#endif /* OPENOCD_ITRACE_BLOCK_CACHE_H */
