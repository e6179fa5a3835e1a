// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/*
 * The walk through ROM tables, on tables made by hand: true ones, and such that lie.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* these parts of the OpenOCD drivers need no OpenOCD */
#include <target/armtrace/cs_component.c>
#include <target/armtrace/rom_table.c>

#define PAGES	160u
#define FINDS	4096u

static struct {
	struct {
		uint64_t base;
		uint32_t words[1024];
		unsigned int fails_from, fails_to;	/* byte offsets between which reads fail */
	} pages[PAGES];
	unsigned int page_count;
	struct rom_find finds[FINDS];
	unsigned int find_count;
	unsigned int end_after;		/* visit says stop with this find; 0: never */
	unsigned int reads;
	bool read_outside;		/* something else was read than a page that is there */
} board;

static bool read_words(void *ctx, uint64_t addr, uint32_t *words, unsigned int count)
{
	assert_ptr_equal(ctx, &board);
	assert_int_equal(addr % 4, 0);
	board.reads++;
	for (unsigned int i = 0; i < board.page_count; i++) {
		unsigned int offset = addr & 0xfff;

		if (board.pages[i].base != (addr & ~0xfffull))
			continue;
		assert_true(offset + 4 * count <= 0x1000);
		if (offset < board.pages[i].fails_to && offset + 4 * count > board.pages[i].fails_from)
			return false;
		memcpy(words, &board.pages[i].words[offset / 4], 4 * count);
		return true;
	}
	board.read_outside = true;
	return false;
}

static bool visit(void *ctx, const struct rom_find *find)
{
	assert_ptr_equal(ctx, &board);
	assert_true(board.find_count < FINDS);
	board.finds[board.find_count++] = *find;
	return board.find_count != board.end_after;
}

static uint32_t *page(uint64_t base)
{
	assert_true(board.page_count < PAGES);
	board.pages[board.page_count].base = base;
	return board.pages[board.page_count++].words;
}

/* Arm's component, IDs in the bytes where they belong. */
static uint32_t *component(uint64_t base, unsigned int class, unsigned int part, uint32_t devarch, uint32_t devtype)
{
	uint32_t *words = page(base);
	static const uint32_t cidr[4] = { 0x0d, 0, 0x05, 0xb1 };

	words[0xfd0 / 4] = 0x04;
	words[0xfe0 / 4] = part & 0xff;
	words[0xfe4 / 4] = 0xb0 | part >> 8;
	words[0xfe8 / 4] = 0x0b;
	memcpy(&words[0xff0 / 4], cidr, sizeof(cidr));
	words[0xff4 / 4] = class << 4;
	words[0xfbc / 4] = devarch;
	words[0xfcc / 4] = devtype;
	return words;
}

static uint32_t *table1(uint64_t base)
{
	return component(base, 1, 0x4c0, 0, 0);
}

static uint32_t *table9(uint64_t base, bool wide)
{
	uint32_t *words = component(base, 9, 0x4e0, 0x47700af7, 0);

	words[0xfc8 / 4] = wide;
	return words;
}

static uint32_t *mtb(uint64_t base)
{
	return component(base, 9, 0xd21, 0x47700a31, 0x31);
}

static uint32_t entry(uint32_t table, uint32_t to, uint32_t bits)
{
	return ((to - table) & ~0xfffu) | bits;
}

static bool walk(uint64_t base)
{
	struct rom_walk walk = { .read = read_words, .visit = visit, .ctx = &board };

	return rom_table_walk(&walk, base);
}

static int fresh(void **state)
{
	(void)state;
	memset(&board, 0, sizeof(board));
	return 0;
}

#define IS(n, what, address, deep) do { \
	assert_true((n) < board.find_count); \
	assert_int_equal(board.finds[n].state, what); \
	assert_int_equal(board.finds[n].addr, address); \
	assert_int_equal(board.finds[n].depth, deep); \
} while (0)

static void class_1_with_a_table_in_it(void **state)
{
	uint32_t *chip = table1(0xf0002000);
	uint32_t *core = table1(0xe00ff000);

	(void)state;
	chip[0] = 0xffffe003;		/* 0xf0000000 */
	chip[1] = 0xfffff002;		/* 0xf0001000, not present */
	chip[2] = 0xf00fd003;		/* 0xe00ff000: downwards past zero and back */
	mtb(0xf0000000);
	core[0] = 0xfff0f003;
	component(0xe000e000, 0xe, 0x008, 0, 0);
	assert_true(walk(0xf0002003));
	assert_int_equal(board.find_count, 5);
	IS(0, ROM_FIND_TABLE, 0xf0002000, 0);
	IS(1, ROM_FIND_COMPONENT, 0xf0000000, 1);
	IS(2, ROM_FIND_ABSENT, 0xf0001000, 1);
	IS(3, ROM_FIND_TABLE, 0xe00ff000, 1);
	IS(4, ROM_FIND_COMPONENT, 0xe000e000, 2);
	assert_int_equal(board.finds[1].ids.part, 0xd21);
	assert_int_equal(board.finds[1].ids.designer, CS_DESIGNER_ARM);
	assert_int_equal(board.finds[1].ids.devarch, 0x47700a31);
	assert_int_equal(board.finds[1].ids.devtype, 0x31);
	assert_int_equal(board.finds[1].entry_addr, 0xf0002000);
	assert_int_equal(board.finds[2].entry, 0xfffff002);
	assert_int_equal(board.finds[1].power_domain, -1);
	assert_false(board.read_outside);
}

static void absent_is_not_read(void **state)
{
	uint32_t *table = table1(0xe00ff000);

	(void)state;
	table[0] = 0xfff44002;
	table[1] = 0x00000002;		/* filler: leads to the table itself */
	mtb(0xe0043000);
	assert_true(walk(0xe00ff000));
	assert_int_equal(board.find_count, 2);
	IS(1, ROM_FIND_ABSENT, 0xe0043000, 1);
}

static void all_960_words(void **state)
{
	uint32_t *table = table1(0x80000000);

	(void)state;
	for (unsigned int i = 0; i < 960; i++)
		table[i] = entry(0x80000000, 0x80001000, 3);
	/* what follows is no entry: 0xf00 */
	table[960] = entry(0x80000000, 0x80002000, 3);
	component(0x80001000, 9, 0x907, 0, 0x21);
	component(0x80002000, 9, 0x907, 0, 0x21);
	assert_true(walk(0x80000000));
	assert_int_equal(board.find_count, 961);
	IS(960, ROM_FIND_COMPONENT, 0x80001000, 1);
	assert_int_equal(board.finds[960].entry_addr, 0x80000000 + 4 * 959);
}

static void class_9(void **state)
{
	uint32_t *table = table9(0x40000000, false);

	(void)state;
	table[0] = 0x00001003;
	table[1] = 0x00002002;
	table[2] = 0x000034f7;		/* power domain 15 */
	table[3] = 0x00004001;		/* 01 is reserved: no end */
	table[4] = 0xfffff003;
	table[5] = 0xdeadb000;		/* 00: the end */
	table[6] = 0x00001003;
	mtb(0x40001000);
	component(0x40003000, 9, 0x961, 0, 0x21)[0xfc8 / 4] = 1 << 6;
	component(0x40004000, 9, 0x908, 0, 0x12);
	component(0x3ffff000, 9, 0x909, 0, 0x22);
	assert_true(walk(0x40000000));
	assert_int_equal(board.find_count, 6);
	IS(1, ROM_FIND_COMPONENT, 0x40001000, 1);
	IS(2, ROM_FIND_ABSENT, 0x40002000, 1);
	IS(3, ROM_FIND_COMPONENT, 0x40003000, 1);
	IS(4, ROM_FIND_COMPONENT, 0x40004000, 1);
	IS(5, ROM_FIND_COMPONENT, 0x3ffff000, 1);
	assert_int_equal(board.finds[3].power_domain, 15);
	assert_string_equal(cs_component_name(&board.finds[3].ids).name, "TMC ETR");
}

static void class_9_fills_its_512_entries(void **state)
{
	uint32_t *table = table9(0x40000000, false);

	(void)state;
	for (unsigned int i = 0; i < 513; i++)
		table[i] = 0x00001003;
	mtb(0x40001000);
	assert_true(walk(0x40000000));
	assert_int_equal(board.find_count, 513);
}

static void wide_entries(void **state)
{
	uint32_t *table = table9(0x1200000000ull, true);

	(void)state;
	table[0] = 0x00001003;
	table[2] = 0x00002003;
	table[3] = 0x00000001;
	table[4] = 0xfffff003;
	table[5] = 0xffffffff;
	mtb(0x1200001000ull);
	mtb(0x1300002000ull);
	mtb(0x11fffff000ull);
	assert_true(walk(0x1200000000ull));
	assert_int_equal(board.find_count, 4);
	IS(1, ROM_FIND_COMPONENT, 0x1200001000ull, 1);
	IS(2, ROM_FIND_COMPONENT, 0x1300002000ull, 1);
	IS(3, ROM_FIND_COMPONENT, 0x11fffff000ull, 1);
	assert_int_equal(board.finds[2].entry_addr, 0x1200000008ull);
}

static void narrow_entries_above_4_gb(void **state)
{
	uint32_t *table = table1(0x1200000000ull);

	(void)state;
	table[0] = 0x00001003;
	table[1] = 0xfffff003;
	mtb(0x1200001000ull);
	mtb(0x11fffff000ull);
	assert_true(walk(0x1200000000ull));
	assert_int_equal(board.find_count, 3);
	IS(2, ROM_FIND_COMPONENT, 0x11fffff000ull, 1);
}

static void loops_are_named(void **state)
{
	uint32_t *up = table1(0x10000000);
	uint32_t *down = table9(0x10001000, false);

	(void)state;
	up[0] = entry(0x10000000, 0x10001000, 3);
	up[1] = entry(0x10000000, 0x10000000, 3);	/* itself */
	up[2] = entry(0x10000000, 0x10001000, 3);	/* twice */
	up[3] = entry(0x10000000, 0x10002000, 3);
	down[0] = entry(0x10001000, 0x10000000, 3);
	mtb(0x10002000);
	assert_true(walk(0x10000000));
	assert_int_equal(board.find_count, 6);
	IS(0, ROM_FIND_TABLE, 0x10000000, 0);
	IS(1, ROM_FIND_TABLE, 0x10001000, 1);
	IS(2, ROM_FIND_AGAIN, 0x10000000, 2);
	IS(3, ROM_FIND_AGAIN, 0x10000000, 1);
	IS(4, ROM_FIND_AGAIN, 0x10001000, 1);
	IS(5, ROM_FIND_COMPONENT, 0x10002000, 1);
}

static void depth_is_bounded(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 12; i++)
		table1(0x10000000 + 0x1000 * i)[0] = 0x00001003;
	assert_true(walk(0x10000000));
	assert_int_equal(board.find_count, ROM_TABLE_DEPTH + 1);
	IS(ROM_TABLE_DEPTH - 1, ROM_FIND_TABLE, 0x10000000 + 0x1000 * (ROM_TABLE_DEPTH - 1), ROM_TABLE_DEPTH - 1);
	IS(ROM_TABLE_DEPTH, ROM_FIND_TOO_DEEP, 0x10000000 + 0x1000 * ROM_TABLE_DEPTH, ROM_TABLE_DEPTH);
}

static void tables_are_bounded(void **state)
{
	uint32_t *top = table1(0x10000000);

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		top[i] = entry(0x10000000, 0x10001000 + 0x1000 * i, 3);
		table1(0x10001000 + 0x1000 * i);
	}
	assert_true(walk(0x10000000));
	assert_int_equal(board.find_count, 101);
	IS(ROM_TABLE_TABLES - 1, ROM_FIND_TABLE, 0x10000000 + 0x1000 * (ROM_TABLE_TABLES - 1), 1);
	IS(ROM_TABLE_TABLES, ROM_FIND_TOO_DEEP, 0x10000000 + 0x1000 * ROM_TABLE_TABLES, 1);
}

static void finds_are_bounded(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t base = 0x10000000 + 0x1000 * i;
		uint32_t *table = table1(base);

		table[0] = 0x00001003;
		for (unsigned int j = 1; j < 960; j++)
			table[j] = entry(base, 0x20000000, 3);
	}
	component(0x10004000, 0xe, 0, 0, 0);
	mtb(0x20000000);
	assert_false(walk(0x10000000));
	assert_int_equal(board.find_count, ROM_TABLE_FINDS + 1);
	assert_int_equal(board.finds[ROM_TABLE_FINDS].state, ROM_FIND_TOO_MANY);
	assert_int_equal(board.finds[ROM_TABLE_FINDS - 1].state, ROM_FIND_COMPONENT);
}

static void lies(void **state)
{
	uint32_t *table = table1(0x10000000);

	(void)state;
	table[0] = 0x00001003;		/* nothing answers */
	table[1] = 0x00002003;		/* zeros */
	table[2] = 0x00003003;		/* memory */
	table[3] = 0x00004003;		/* DEVARCH faults */
	table[4] = 0x00005003;		/* only the upper bits of ID words differ */
	page(0x10002000);
	memset(page(0x10003000), 0x5a, 0x1000);
	mtb(0x10004000);
	board.pages[board.page_count - 1].fails_from = 0xfbc;
	board.pages[board.page_count - 1].fails_to = 0xfd0;
	uint32_t *real = mtb(0x10005000);
	for (unsigned int i = 0xfd0 / 4; i < 0x400; i++)
		real[i] |= 0xabcdef00;
	assert_true(walk(0x10000000));
	assert_int_equal(board.find_count, 6);
	IS(1, ROM_FIND_UNREADABLE, 0x10001000, 1);
	IS(2, ROM_FIND_NOTHING, 0x10002000, 1);
	assert_int_equal(board.finds[2].cidr, 0);
	IS(3, ROM_FIND_NOTHING, 0x10003000, 1);
	assert_int_equal(board.finds[3].cidr, 0x5a5a5a5a);
	IS(4, ROM_FIND_UNREADABLE, 0x10004000, 1);
	IS(5, ROM_FIND_COMPONENT, 0x10005000, 1);
	assert_int_equal(board.finds[5].ids.part, 0xd21);
}

static void a_table_that_ends_in_a_fault(void **state)
{
	uint32_t *table = table1(0x10000000);

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		table[i] = 0x00001003;
	board.pages[0].fails_from = 0x80;
	board.pages[0].fails_to = 0xc0;
	mtb(0x10001000);
	assert_true(walk(0x10000000));
	assert_int_equal(board.find_count, 34);
	IS(32, ROM_FIND_COMPONENT, 0x10001000, 1);
	IS(33, ROM_FIND_CUT, 0x10000080, 1);
}

static void no_table_at_all(void **state)
{
	(void)state;
	assert_true(walk(0x10000000));
	IS(0, ROM_FIND_UNREADABLE, 0x10000000, 0);
	assert_int_equal(board.find_count, 1);
	fresh(NULL);
	mtb(0x10000000);
	assert_true(walk(0x10000000));
	IS(0, ROM_FIND_COMPONENT, 0x10000000, 0);
	assert_int_equal(board.find_count, 1);
}

static void visit_ends_the_walk(void **state)
{
	uint32_t *table = table1(0x10000000);

	(void)state;
	for (unsigned int i = 0; i < 9; i++)
		table[i] = 0x00001003;
	mtb(0x10001000);
	for (unsigned int end = 1; end < 10; end++) {
		board.find_count = 0;
		board.end_after = end;
		assert_false(walk(0x10000000));
		assert_int_equal(board.find_count, end);
	}
}

static void names(void **state)
{
	static const struct {
		struct cs_ids ids;
		const char *name;
		const char *group;
	} rows[] = {
		{ { 9, 0xd21, 0x23b, 0x47700a31, 0, 0x31 }, "MTB", "mtb" },
		{ { 9, 0x932, 0x23b, 0x47700a31, 0, 0x31 }, "MTB", "mtb" },
		{ { 9, 0x123, 0x017, 0x47700a31, 0, 0x31 }, "MTB", "mtb" },
		{ { 9, 0x9a3, 0x23b, 0, 0, 0x13 }, "MTB of unknown model", NULL },
		{ { 9, 0x932, 0x23b, 0x47700a31, 0, 0x13 }, "core trace by its type", NULL },
		{ { 9, 0x932, 0x23b, 0x47600a31, 0, 0x31 }, "basic trace router by its type", NULL },
		{ { 9, 0xd21, 0x23b, 0x47704a13, 0, 0x13 }, "ETMv4", "ete" },
		{ { 9, 0xd46, 0x23b, 0x47715a13, 0, 0x13 }, "ETE", "ete" },
		{ { 9, 0x961, 0x23b, 0, 0x00, 0x21 }, "TMC ETB", "tmc" },
		{ { 9, 0x961, 0x23b, 0, 0x40, 0x21 }, "TMC ETR", "tmc" },
		{ { 9, 0x961, 0x23b, 0, 0x80, 0x32 }, "TMC ETF", "tmc" },
		{ { 9, 0x961, 0x23b, 0, 0xc0, 0x32 }, "trace FIFO by its type", NULL },
		{ { 9, 0x908, 0x23b, 0, 0, 0x12 }, "funnel", "funnel" },
		{ { 9, 0x908, 0x017, 0, 0, 0x12 }, "trace funnel by its type", NULL },
		{ { 9, 0x9ec, 0x23b, 0, 0, 0x22 }, "replicator", "replicator" },
		{ { 9, 0x9e7, 0x23b, 0, 0, 0x11 }, "TPIU", NULL },
		{ { 9, 0xd21, 0x23b, 0x47701a14, 0, 0x14 }, "CTI", NULL },
		{ { 9, 0xd21, 0x23b, 0x47702a04, 0, 0 }, "SCS", NULL },
		{ { 9, 0xd21, 0x23b, 0x47701a02, 0, 0 }, "DWT", NULL },
		{ { 9, 0xd21, 0x23b, 0x47701a03, 0, 0 }, "FPB", NULL },
		{ { 9, 0xd03, 0x23b, 0x47706a15, 0, 0x15 }, "core debug", NULL },
		{ { 0xe, 0x008, 0x23b, 0, 0, 0 }, "SCS", NULL },
		{ { 0xe, 0x00a, 0x23b, 0, 0, 0 }, "DWT", NULL },
		{ { 0xe, 0x00b, 0x23b, 0, 0, 0 }, "BPU", NULL },
		{ { 0xe, 0x001, 0x23b, 0, 0, 0 }, "ITM", NULL },
		{ { 0xe, 0x001, 0x017, 0, 0, 0 }, "generic component", NULL },
		{ { 9, 0x001, 0x23b, 0, 0, 0x04 }, "debug logic", NULL },
		{ { 9, 0x001, 0x017, 0, 0, 0x7f }, "CoreSight component", NULL },
		{ { 1, 0x4c0, 0x23b, 0, 0, 0 }, "ROM table", NULL },
		{ { 9, 0x4e0, 0x23b, 0x47700af7, 0, 0 }, "ROM table", NULL },
		{ { 0x5, 0, 0, 0, 0, 0 }, "component of unknown class", NULL },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cs_name name = cs_component_name(&rows[i].ids);

		assert_string_equal(name.name, rows[i].name);
		assert_int_equal(!!name.group, !!rows[i].group);
		if (name.group)
			assert_string_equal(name.group, rows[i].group);
		assert_int_equal(cs_component_is_rom_table(&rows[i].ids), !strcmp(rows[i].name, "ROM table"));
	}
}

/* Whatever is read, the walk ends, within as many reads as its bounds allow. */
static void noise(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		fresh(NULL);
		for (unsigned int i = 0; i < 16; i++) {
			uint32_t *words = i % 3 ? table1(0x10000000 + 0x1000 * i) : table9(0x10000000 + 0x1000 * i, i & 1);

			for (unsigned int j = 0; j < 40; j++) {
				random = random * 6364136223846793005ull + 1442695040888963407ull;
				words[j] = (random >> 40 & 0x1f) << 12 | (random >> 33 & 0xfff);
			}
		}
		walk(0x10000000);
		assert_true(board.reads < ROM_TABLE_FINDS * 2 + ROM_TABLE_TABLES * 60);
		assert_true(board.find_count <= ROM_TABLE_FINDS + 1);
	}
}

#define TEST(function) cmocka_unit_test_setup(function, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(class_1_with_a_table_in_it),
		TEST(absent_is_not_read),
		TEST(all_960_words),
		TEST(class_9),
		TEST(class_9_fills_its_512_entries),
		TEST(wide_entries),
		TEST(narrow_entries_above_4_gb),
		TEST(loops_are_named),
		TEST(depth_is_bounded),
		TEST(tables_are_bounded),
		TEST(finds_are_bounded),
		TEST(lies),
		TEST(a_table_that_ends_in_a_fault),
		TEST(no_table_at_all),
		TEST(visit_ends_the_walk),
		TEST(names),
		TEST(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
