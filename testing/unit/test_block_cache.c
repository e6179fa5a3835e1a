// SPDX-License-Identifier: GPL-2.0-or-later

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <itrace/block_cache.h>

#define BASE	0x1000u

static struct itrace_image image;
static struct itrace_block blocks[16];
static struct itrace_block_cache cache;
static struct itrace_segment segment;
static struct itrace_insn_rules rules = { .v8_3 = true, .v9 = true };

static void load(const void *code, size_t len)
{
	segment = (struct itrace_segment){ BASE, len, code, ITRACE_SPACE_ANY, 9 };
	itrace_image_init(&image, &segment, 1, NULL, NULL);
	itrace_block_cache_init(&cache, blocks, 16, &image, &rules, true);
}

static const struct itrace_block *find(uint64_t addr, enum itrace_isa isa)
{
	return itrace_block_cache_find(&cache, addr, itrace_block_key(&cache, (uint8_t)isa, 0, ITRACE_SPACE_S),
		ITRACE_SPACE_S);
}

static void expect(const struct itrace_block *block, uint32_t count, uint32_t len, enum itrace_insn_class branch,
		unsigned int flags, uint64_t target, unsigned int end)
{
	assert_int_equal(block->count, count);
	assert_int_equal(block->len, len);
	assert_int_equal(itrace_event_branch(block->tag), branch);
	assert_int_equal(itrace_event_flags(block->tag), flags | ITRACE_EVENT_EXECUTED);
	assert_true(block->target == target);
	assert_int_equal(block->end, end);
}

static void blocks_end_at_waypoints(void **state)
{
	static const uint32_t code[] = {
		0xd503201f, 0xd503201f, 0x54000060,	/* 1000 nop; nop; b.eq 0x1014 */
		0x94000001,				/* 100c bl 0x1010 */
		0x14000004,				/* 1010 b 0x1020 */
		0x14000001,				/* 1014 b 0x1018 */
		0xd65f03c0,				/* 1018 ret */
		0xd69f03e0,				/* 101c eret */
		0xd503201f, 0x00000000,			/* 1020 nop; udf */
		0xd503201f, 0xd503201f,			/* 1028 nop; nop; end of memory */
	};

	(void)state;
	load(code, sizeof(code));
	expect(find(0x1000, ITRACE_ISA_A64), 3, 12, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x1014, 0);
	expect(find(0x1004, ITRACE_ISA_A64), 2, 8, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x1014, 0);
	/* a link is special when there is a return stack; a target behind it may be traced as not taken */
	expect(find(0x100c, ITRACE_ISA_A64), 1, 4, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK, 0x1010, ITRACE_BLOCK_SPECIAL);
	expect(find(0x1010, ITRACE_ISA_A64), 1, 4, ITRACE_INSN_DIRECT, 0, 0x1020, ITRACE_BLOCK_ALWAYS);
	expect(find(0x1014, ITRACE_ISA_A64), 1, 4, ITRACE_INSN_DIRECT, 0, 0x1018, 0);
	expect(find(0x1018, ITRACE_ISA_A64), 1, 4, ITRACE_INSN_INDIRECT, ITRACE_INSN_RETURN, 0x101c, ITRACE_BLOCK_INDIRECT);
	expect(find(0x101c, ITRACE_ISA_A64), 1, 4, ITRACE_INSN_INDIRECT, ITRACE_INSN_ERET, 0x1020, ITRACE_BLOCK_SPECIAL);
	expect(find(0x1020, ITRACE_ISA_A64), 1, 4, ITRACE_INSN_OTHER, 0, 0x1024, ITRACE_BLOCK_UNDESCRIBED);
	expect(find(0x1028, ITRACE_ISA_A64), 2, 8, ITRACE_INSN_OTHER, 0, 0x1030, ITRACE_BLOCK_NO_MEMORY);
	assert_int_equal(find(0x1030, ITRACE_ISA_A64)->count, 0);
	assert_int_equal(find(0x1000, ITRACE_ISA_A64)->source, 9);
}

static void t32_keeps_it_blocks(void **state)
{
	static const uint16_t code[] = {
		0xbf04,		/* 1000 itt eq */
		0xbf00,		/* 1002 nop */
		0xd0fd,		/* 1004 beq (in the IT block) */
		0xbf08,		/* 1006 it eq */
		0xf3bf, 0x8f6f,	/* 1008 isb: a waypoint in the IT block */
		0x4770,		/* 100c bx lr */
		0xe000,		/* 100e b 0x1012, the last halfword of memory */
	};

	(void)state;
	load(code, sizeof(code));
	const struct itrace_block *block = find(0x1000, ITRACE_ISA_T32);
	expect(block, 3, 6, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x1002, 0);
	block = find(0x1006, ITRACE_ISA_T32);
	expect(block, 2, 6, ITRACE_INSN_ISB, ITRACE_INSN_COND, 0x100c, 0);
	assert_int_equal(find(0x100c, ITRACE_ISA_T32)->end & ITRACE_BLOCK_INDIRECT, ITRACE_BLOCK_INDIRECT);
	block = find(0x100e, ITRACE_ISA_T32);
	assert_int_equal(block->count, 1);
	assert_int_equal(block->len, 2);
}

static void walks_stop_where_they_are_told(void **state)
{
	static const uint32_t code[] = { 0xd503201f, 0x54000060, 0xd5033fdf, 0xd503201f, 0x14000004, 0xd503201f };
	struct itrace_walk walk = { .addr = BASE, .count_max = ITRACE_BLOCK_COUNT_MAX, .space = ITRACE_SPACE_S };
	struct itrace_block block;

	(void)state;
	load(code, sizeof(code));
	walk.limit = BASE + 12;
	walk.use_limit = true;
	walk.stop = ITRACE_WALK_PASS;
	itrace_block_walk(&image, &rules, &walk, &block);
	assert_int_equal(block.count, 3);
	/* a limit inside an instruction: that one did not complete */
	walk.limit = BASE + 10;
	itrace_block_walk(&image, &rules, &walk, &block);
	assert_int_equal(block.count, 2);
	/* behind a branch that is always taken there is no straight way */
	walk.limit = BASE + 24;
	itrace_block_walk(&image, &rules, &walk, &block);
	assert_int_equal(block.count, 4);
	assert_int_equal(block.end & ITRACE_BLOCK_CUT_MASK, ITRACE_BLOCK_FULL);
	walk.use_limit = false;
	walk.stop = ITRACE_WALK_TO_BRANCH;
	walk.addr = BASE + 8;
	itrace_block_walk(&image, &rules, &walk, &block);
	assert_int_equal(block.count, 3);
	walk.count_max = 1;
	itrace_block_walk(&image, &rules, &walk, &block);
	assert_int_equal(block.count, 1);
	assert_int_equal(block.end & ITRACE_BLOCK_CUT_MASK, ITRACE_BLOCK_FULL);
}

static void a_changed_image_is_decoded_again(void **state)
{
	uint32_t code[] = { 0xd503201f, 0xd65f03c0 };

	(void)state;
	load(code, sizeof(code));
	assert_int_equal(find(BASE, ITRACE_ISA_A64)->count, 2);
	code[0] = 0xd65f03c0;
	assert_int_equal(find(BASE, ITRACE_ISA_A64)->count, 2);
	itrace_image_changed(&image, &segment, 1);
	itrace_block_cache_refresh(&cache);
	assert_int_equal(find(BASE, ITRACE_ISA_A64)->count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_end_at_waypoints),
		cmocka_unit_test(t32_keeps_it_blocks),
		cmocka_unit_test(walks_stop_where_they_are_told),
		cmocka_unit_test(a_changed_image_is_decoded_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
