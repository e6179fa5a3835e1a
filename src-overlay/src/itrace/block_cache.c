// SPDX-License-Identifier: GPL-2.0-or-later

#include "block_cache.h"

#include <string.h>

#include "ete_packet_fast.h"
#include "insn_a64_fast.h"

static void forget(struct itrace_block_cache *cache)
{
	memset(cache->blocks, 0, (size_t)(cache->mask + 1) * sizeof(cache->blocks[0]));
	cache->generation = cache->image->generation;
	cache->space_mask = cache->image->by_space ? 0xff : 0;
	cache->window_len = 0;
}

void itrace_block_cache_init(struct itrace_block_cache *cache, struct itrace_block *blocks, size_t count,
		struct itrace_image *image, const struct itrace_insn_rules *rules, bool links_special)
{
	cache->blocks = blocks;
	cache->mask = count - 1;
	cache->image = image;
	cache->rules = rules;
	cache->miss_count = 0;
	cache->links_special = links_special;
	cache->by_halfword = false;
	forget(cache);
}

void itrace_block_cache_refresh(struct itrace_block_cache *cache)
{
	if (cache->generation != cache->image->generation)
		forget(cache);
}

/* what is seldom needed stays out of the way of what always is */
#define NOT_INLINE __attribute__((noinline))

/* bytes of a common block at most */
#define COMMON_LEN_MAX 4096u

#define IT_BLOCK_MAX	4u	/* instructions in an IT block */

/* Where a walk stands. */
struct walker {
	struct itrace_image *image;
	const struct itrace_insn_rules *rules;
	const uint8_t *bytes;	/* at addr */
	size_t avail;
	uint64_t addr;
	uint8_t isa;
	uint8_t space;
	uint8_t source;		/* of the bytes */
};

static bool fetch_window(struct walker *w)
{
	w->bytes = itrace_image_at(w->image, w->addr, w->space, &w->avail, &w->source);
	return w->bytes;
}

static uint16_t le16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

/* Up to 4 bytes at @a addr, which may lie in several segments. @returns how many. */
static unsigned int gather(struct walker *w, uint64_t addr, uint8_t *bytes)
{
	unsigned int got = 0;

	while (got < 4) {
		size_t avail;
		const uint8_t *from = itrace_image_at(w->image, addr + got, w->space, &avail, NULL);
		if (!from)
			break;
		for (size_t i = 0; i < avail && got < 4; i++)
			bytes[got++] = from[i];
	}
	return got;
}

static void advance(struct walker *w, unsigned int size)
{
	w->addr += size;
	w->bytes += size;
	w->avail -= size;
}

/* A64 UDF: it never completes, so code that runs through it is not what ran (cleared memory, mostly). */
static inline bool is_udf(uint32_t opcode)
{
	return opcode <= 0xffff;
}

/* Decode the instruction at the walker's place. @returns false when there is no memory for it. */
static bool decode(struct walker *w, struct itrace_insn *insn)
{
	const uint8_t *bytes = w->bytes;
	uint8_t seam[4];
	size_t avail = w->avail;

	if (avail < 4) {
		/* the end of a segment, or of a page of live memory: the next one may go on */
		avail = gather(w, w->addr, seam);
		bytes = seam;
		w->avail = 0;	/* look again behind it */
	}
	if (w->isa == ITRACE_ISA_T32) {
		if (avail < 2)
			return false;
		uint16_t first = le16(bytes);
		unsigned int size = itrace_insn_t32_size(first);
		if (avail < size)
			return false;
		itrace_insn_t32(w->rules, first, size == 4 ? le16(bytes + 2) : 0, w->addr, insn);
		return true;
	}
	if (avail < 4)
		return false;
	if (w->isa == ITRACE_ISA_A64) {
		itrace_insn_a64(w->rules, itrace_le32(bytes), w->addr, insn);
		if (is_udf(itrace_le32(bytes)))
			insn->class = ITRACE_INSN_UNDESCRIBED;
	} else {
		itrace_insn_a32(w->rules, itrace_le32(bytes), w->addr, insn);
	}
	return true;
}

/* Pass the A64 instructions that cannot be waypoints, as many as lie in the window. @returns how many. */
static uint32_t skip_a64(struct walker *w, uint32_t count_max)
{
	uint32_t count = 0;

	while (count < count_max && w->avail >= 4 && !itrace_insn_a64_may_branch(itrace_le32(w->bytes)) &&
			!is_udf(itrace_le32(w->bytes))) {
		advance(w, 4);
		count++;
	}
	return count;
}

/* Instructions that may be passed at once. */
static uint32_t straight_max(const struct itrace_walk *walk, const struct walker *w, uint32_t count)
{
	uint32_t left = walk->count_max - count;

	if (walk->use_limit && (walk->limit - w->addr) / 4 < left)
		left = (uint32_t)((walk->limit - w->addr) / 4);
	return left;
}

/* The IT block behind an instruction: one instruction of it is used up, or a new one opens. */
static uint8_t next_it(uint8_t it_left, const struct itrace_insn *insn)
{
	if (it_left)
		return it_left - 1;
	return insn->it_count;
}

static bool stops_at(const struct itrace_walk *walk, const struct itrace_insn *insn)
{
	switch (walk->stop) {
	case ITRACE_WALK_TO_WAYPOINT:
		return insn->class != ITRACE_INSN_OTHER;
	case ITRACE_WALK_TO_BRANCH:
		return insn->class == ITRACE_INSN_DIRECT || insn->class == ITRACE_INSN_INDIRECT;
	default:
		return false;
	}
}

/*
 * Execution cannot go on straight behind it. The first instructions of a T32 walk may stand in an IT block that was
 * entered in its middle, by an exception return, so that nothing is sure of them.
 */
static bool always_leaves(const struct itrace_insn *insn, uint8_t isa, uint32_t count)
{
	if (isa == ITRACE_ISA_T32 && count < IT_BLOCK_MAX)
		return false;
	return (insn->class == ITRACE_INSN_DIRECT || insn->class == ITRACE_INSN_INDIRECT) &&
		!(insn->flags & ITRACE_INSN_COND);
}

static void set_waypoint(struct itrace_block *block, const struct itrace_insn *insn, uint8_t isa)
{
	if (insn->class == ITRACE_INSN_DIRECT) {
		block->target = insn->target;
		if (insn->target_isa != isa)
			block->end |= ITRACE_BLOCK_EXCHANGE | ITRACE_BLOCK_SPECIAL;
	} else if (insn->class == ITRACE_INSN_INDIRECT) {
		block->end |= insn->flags & ITRACE_INSN_ERET ? ITRACE_BLOCK_SPECIAL : ITRACE_BLOCK_INDIRECT;
	}
}

/*
 * A walk that passes waypoints comes to one that it cannot pass. At its end an indirect branch is let be: where it went
 * is not known. The source address itself may go where it will.
 */
static bool cannot_pass(const struct itrace_walk *walk, const struct itrace_insn *insn, uint64_t addr, uint32_t count)
{
	const bool at_limit = walk->limit - addr == insn->size;
	const bool elsewhere = insn->class == ITRACE_INSN_DIRECT && insn->target != addr + insn->size;

	switch (walk->stop) {
	case ITRACE_WALK_PASS:
		return always_leaves(insn, walk->isa, count) && (elsewhere || !at_limit);
	case ITRACE_WALK_PASS_TAKEN:
		return always_leaves(insn, walk->isa, count) && elsewhere && !at_limit;
	default:
		return false;
	}
}

void itrace_block_walk(struct itrace_image *image, const struct itrace_insn_rules *rules,
		const struct itrace_walk *walk, struct itrace_block *block)
{
	struct walker w = { image, rules, NULL, 0, walk->addr, walk->isa, walk->space, 0 };
	struct itrace_insn last = { 0, ITRACE_INSN_OTHER, 0, 4, walk->isa, 0 };
	uint8_t it_left = walk->it_left;
	uint32_t count = 0;
	bool waypoint = false;

	block->start = walk->addr;
	block->end = 0;
	block->source = 0;
	while (!waypoint) {
		if (count == walk->count_max) {
			block->end |= ITRACE_BLOCK_FULL;
			break;
		}
		if (walk->use_limit && w.addr >= walk->limit)
			break;
		if (!w.avail && !fetch_window(&w)) {
			block->end |= ITRACE_BLOCK_NO_MEMORY;
			break;
		}
		if (!count)
			block->source = w.source;
		if (w.isa == ITRACE_ISA_A64) {
			uint32_t skipped = skip_a64(&w, straight_max(walk, &w, count));
			if (skipped) {
				count += skipped;
				last.class = ITRACE_INSN_OTHER;
				last.flags = 0;
				continue;
			}
		}
		struct itrace_insn insn;
		if (!decode(&w, &insn)) {
			block->end |= ITRACE_BLOCK_NO_MEMORY;
			break;
		}
		if (walk->use_limit && insn.size > walk->limit - w.addr)
			break;		/* the limit lies inside: this one did not complete */
		if (insn.class == ITRACE_INSN_UNDESCRIBED) {
			block->end |= ITRACE_BLOCK_UNDESCRIBED;
			break;
		}
		if (it_left)
			insn.flags |= ITRACE_INSN_COND;
		if (cannot_pass(walk, &insn, w.addr, count)) {
			block->end |= ITRACE_BLOCK_FULL;
			break;
		}
		it_left = next_it(it_left, &insn);
		last = insn;
		count++;
		waypoint = stops_at(walk, &insn);
		if (w.avail)
			advance(&w, insn.size);
		else
			w.addr += insn.size;
	}
	block->len = (uint32_t)(w.addr - walk->addr);
	block->count = (uint16_t)count;
	block->target = w.addr;
	block->tag = itrace_event_range_tag((enum itrace_isa)walk->isa, (enum itrace_insn_class)last.class,
			last.flags | ITRACE_EVENT_EXECUTED, last.size);
	block->end |= it_left;
	if (waypoint) {
		set_waypoint(block, &last, walk->isa);
		/* a target that is the next instruction may be traced either way; that of an indirect branch is not known */
		if (always_leaves(&last, walk->isa, count - 1) && block->target != w.addr)
			block->end |= ITRACE_BLOCK_ALWAYS;
	}
}

/* Make the piece of the image that holds @a addr the window. @returns false when there is none to keep. */
static bool move_window(struct itrace_block_cache *cache, uint64_t addr, uint8_t space)
{
	size_t avail;
	uint8_t source;
	const uint8_t *bytes = itrace_image_at(cache->image, addr, space, &avail, &source);

	/* live memory is overwritten by the next read */
	if (!bytes || source == ITRACE_SOURCE_LIVE)
		return false;
	cache->window = bytes;
	cache->window_addr = addr;
	cache->window_len = avail;
	cache->window_space = space;
	cache->window_source = source;
	return true;
}

/* Any block. */
static NOT_INLINE const struct itrace_block *miss_any(struct itrace_block_cache *cache, uint64_t addr, uint32_t key,
		uint8_t space)
{
	const uint64_t place = cache->by_halfword ? itrace_block_place_t32(addr) : itrace_block_place(addr);
	struct itrace_block *block = &cache->blocks[place & cache->mask];
	const struct itrace_walk walk = {
		.addr = addr,
		.count_max = ITRACE_BLOCK_COUNT_MAX,
		.isa = itrace_block_key_isa(key),
		.it_left = itrace_block_key_it(key),
		.space = space,
	};

	itrace_block_walk(cache->image, cache->rules, &walk, block);
	if (cache->links_special && itrace_event_flags(block->tag) & ITRACE_INSN_LINK)
		block->end |= ITRACE_BLOCK_SPECIAL;
	block->key = key;
	cache->miss_count++;
	/* the next is likely near */
	move_window(cache, addr, space);
	return block;
}

/*
 * The common block: A64, in the window, ending with a common waypoint. Where code does not repeat most of the time
 * goes here,
 * so all that is seldom needed is out of the way, behind a tail call.
 */
const struct itrace_block *itrace_block_cache_miss(struct itrace_block_cache *cache, uint64_t addr, uint32_t key,
		uint8_t space)
{
	const uint64_t skip = addr - cache->window_addr;

	if (skip >= cache->window_len || space != cache->window_space || itrace_block_key_isa(key) != ITRACE_ISA_A64)
		return miss_any(cache, addr, key, space);
	const uint8_t *const begin = cache->window + skip;
	const uint64_t avail = cache->window_len - skip;
	const uint8_t *const end = begin + (avail < COMMON_LEN_MAX ? avail & ~(uint64_t)3 : COMMON_LEN_MAX);
	for (const uint8_t *pos = begin; pos < end; pos += 4) {
		const uint32_t opcode = itrace_le32(pos);
		struct itrace_insn insn;
		if (!itrace_insn_a64_may_branch(opcode)) {
			if (is_udf(opcode))
				break;
			continue;
		}
		if (!itrace_insn_a64_common(opcode, addr + (uint64_t)(pos - begin), &insn))
			break;
		if (insn.class == ITRACE_INSN_OTHER)
			continue;
		struct itrace_block *block = &cache->blocks[itrace_block_place(addr) & cache->mask];
		const uint32_t len = (uint32_t)(pos - begin) + 4;
		const bool direct = insn.class == ITRACE_INSN_DIRECT;
		const bool always = direct && !(insn.flags & ITRACE_INSN_COND) && insn.target != addr + len;
		block->start = addr;
		block->target = direct ? insn.target : addr + len;
		block->key = key;
		block->len = len;
		block->tag = itrace_event_range_tag(ITRACE_ISA_A64, (enum itrace_insn_class)insn.class,
				insn.flags | ITRACE_EVENT_EXECUTED, 4);
		block->count = (uint16_t)(len / 4);
		block->source = cache->window_source;
		block->end = (uint8_t)((direct ? 0 : ITRACE_BLOCK_INDIRECT) | (always ? ITRACE_BLOCK_ALWAYS : 0) |
			(cache->links_special && insn.flags & ITRACE_INSN_LINK ? ITRACE_BLOCK_SPECIAL : 0));
		cache->miss_count++;
		return block;
	}
	return miss_any(cache, addr, key, space);
}
