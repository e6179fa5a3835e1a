// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/*
 * Where a Micro Trace Buffer's packets go: POSITION and addresses, what a buffer must be, and which one is chosen.
 * Programs are ELF files made here; random ones are held against a map with one entry for each byte of RAM.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* these parts of the OpenOCD drivers need no OpenOCD */
#include <target/armtrace/mtb_buffer.c>
#include <target/armtrace/mtb_program.c>

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static char why[640];

/* ---- ELF files ---- */

#define THINGS	24u
#define CODE	0x08000000u	/* vectors, then code */
#define CODE_LEN	0x200u

struct thing {
	const char *name;
	uint32_t addr;
	uint32_t size;
	unsigned int kind;	/* of a section: one of the following; of a symbol: ELF's st_info */
};

#define ELSEWHERE	0u	/* not in memory */
#define ALLOCATED	1u
#define LOADED	2u	/* with bytes of the file: those at SECOND_TABLE of the code */

#define SECOND_TABLE	0x40u
#define SECOND_STACK	0x20000100u

/* A program: what lies where. The code, and a vector table in front of it, are always there. */
struct layout {
	struct thing sections[THINGS];
	struct thing symbols[THINGS];
	uint32_t stack;		/* 0: the code begins with no vector table */
	bool stripped;		/* of sections and symbols */
};

#define OBJECT	0x11u	/* global */
#define LABEL	0x10u
#define FUNCTION	0x12u
#define LOCAL(kind)	((kind) & 0xfu)

static struct {
	uint8_t data[256 * 1024];
	size_t len;
} file;

static void put16(size_t off, uint32_t value)
{
	file.data[off] = (uint8_t)value;
	file.data[off + 1] = (uint8_t)(value >> 8);
}

static void put32(size_t off, uint32_t value)
{
	put16(off, value);
	put16(off + 2, value >> 16);
}

static size_t take(size_t len)
{
	const size_t at = file.len;

	assert_true(len <= sizeof(file.data) - at);
	file.len += len;
	return at;
}

static uint32_t put_name(const char *name, size_t names)
{
	const size_t at = take(strlen(name) + 1);

	memcpy(file.data + at, name, strlen(name) + 1);
	return (uint32_t)(at - names);
}

static void put_section(size_t at, uint32_t name, uint32_t type, uint32_t flags, uint32_t addr, size_t off, size_t len,
		uint32_t link)
{
	const uint32_t words[] = { name, type, flags, addr, (uint32_t)off, (uint32_t)len, link, 0, 4, 0 };

	for (unsigned int i = 0; i < COUNT(words); i++)
		put32(at + 4 * i, words[i]);
}

static void put_segment(size_t at, uint32_t addr, size_t off, uint32_t file_len, uint32_t len, uint32_t flags)
{
	const uint32_t words[] = { 1, (uint32_t)off, addr, addr, file_len, len, flags, 4 };

	for (unsigned int i = 0; i < COUNT(words); i++)
		put32(at + 4 * i, words[i]);
}

static unsigned int count_things(const struct thing *things)
{
	unsigned int count = 0;

	while (count < THINGS && things[count].name)
		count++;
	return count;
}

static void put_sections(const struct layout *layout, size_t code)
{
	const unsigned int count = count_things(layout->sections), symbols = count_things(layout->symbols);
	const size_t names = take(1), headers_len = (count + 4) * SECTION_LEN;
	uint32_t section_names[THINGS], symbol_names[THINGS];

	for (unsigned int i = 0; i < count; i++)
		section_names[i] = put_name(layout->sections[i].name, names);
	for (unsigned int i = 0; i < symbols; i++)
		symbol_names[i] = put_name(layout->symbols[i].name, names);
	const uint32_t text = put_name(".text", names);
	const size_t names_end = file.len;

	take(3u & -file.len);
	const size_t table = take((symbols + 1) * SYMBOL_LEN);
	for (unsigned int i = 0; i < symbols; i++) {
		const size_t at = table + (i + 1) * SYMBOL_LEN;
		put32(at, symbol_names[i]);
		put32(at + 4, layout->symbols[i].addr);
		put32(at + 8, layout->symbols[i].size);
		put32(at + 12, layout->symbols[i].kind | 0xfff10000);
	}

	const size_t headers = take(headers_len);
	put_section(headers + SECTION_LEN, text, 1, 6, CODE, code, CODE_LEN, 0);
	for (unsigned int i = 0; i < count; i++) {
		const struct thing *one = &layout->sections[i];
		put_section(headers + (i + 2) * SECTION_LEN, section_names[i], one->kind == LOADED ? 1 : 8,
				one->kind == ELSEWHERE ? 0 : 3, one->addr, code + SECOND_TABLE, one->size, 0);
	}
	put_section(headers + (count + 2) * SECTION_LEN, 0, 2, 0, 0, table, (symbols + 1) * SYMBOL_LEN, count + 3);
	put_section(headers + (count + 3) * SECTION_LEN, 0, 3, 0, 0, names, names_end - names, 0);
	put32(32, (uint32_t)headers);
	put16(46, SECTION_LEN);
	put16(48, count + 4);
	put16(50, count + 3);
}

static void make_elf(const struct layout *layout)
{
	static const uint8_t ident[] = { 0x7f, 'E', 'L', 'F', 1, 1, 1 };
	const unsigned int count = layout->stripped ? count_things(layout->sections) : 0;

	memset(&file, 0, sizeof(file));
	take(52);
	memcpy(file.data, ident, sizeof(ident));
	put16(16, 2);
	put16(18, 40);
	put32(20, 1);

	const size_t segments = take((count + 1) * SEGMENT_LEN), code = take(CODE_LEN);
	put32(code, layout->stack);
	put32(code + 4, CODE + 0x101);
	put32(code + SECOND_TABLE, SECOND_STACK);
	put32(code + SECOND_TABLE + 4, CODE + 0x101);
	put_segment(segments, CODE, code, CODE_LEN, CODE_LEN, 5);
	for (unsigned int i = 0; i < count; i++)
		put_segment(segments + (i + 1) * SEGMENT_LEN, layout->sections[i].addr, code, 0, layout->sections[i].size, 6);
	put32(28, (uint32_t)segments);
	put16(42, SEGMENT_LEN);
	put16(44, count + 1);
	if (!layout->stripped)
		put_sections(layout, code);
}

/* The file as it is now. @returns whether it is a program */
static bool load_file(struct arm_mtb_program *program)
{
	char path[] = "/tmp/test_mtb_buffer.XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_true(write(fd, file.data, file.len) == (ssize_t)file.len);
	close(fd);
	const bool good = arm_mtb_program_load(program, path, why, sizeof(why));
	unlink(path);
	return good;
}

static void load(struct arm_mtb_program *program, const struct layout *layout)
{
	make_elf(layout);
	if (!load_file(program))
		fail_msg("%s", why);
}

/* A line of its own that names all @a words, which commas separate. */
static void assert_why(const char *words)
{
	char copy[256];

	assert_true(*why && !strchr(why, '\n'));
	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok(copy, ","); word; word = strtok(NULL, ","))
		if (!strstr(why, word))
			fail_msg("no '%s' in: %s", word, why);
}

/* ---- arithmetic ---- */

/* What Freescale's and NXP's manuals, and users' read-backs, have. */
static void test_known_positions(void **state)
{
	static const struct {
		uint32_t base;
		unsigned int aw;
		uint32_t addr, position;
	} known[] = {
		{ 0x1ffff800, 15, 0x1ffff800, 0x7800 }, { 0x1ffff800, 15, 0x20000000, 0 },
		{ 0x1ffff000, 15, 0x1ffff000, 0x7000 }, { 0x1ffff000, 15, 0x20000000, 0 },
		{ 0x1fffe000, 15, 0x1fffe000, 0x6000 }, { 0x1fffe000, 15, 0x20000000, 0 },
		/* BASE is a multiple of 2^AW */
		{ 0x20000000, 15, 0x20001000, 0x1000 }, { 0x30000000, 20, 0x300ffff8, 0xffff8 },
		/* BASE is not even aligned to the buffer's size, as on LPC parts */
		{ 0x10000020, 12, 0x10000020, 0x020 }, { 0x10000020, 12, 0x10001018, 0x018 },
		/* all that 32 bits have */
		{ 0, 32, 0xfffffff8, 0xfffffff8 }, { 0x20000000, 32, 0x1ffffff8, 0x1ffffff8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		const struct arm_mtb_ram ram = { .base = known[i].base, .aw = known[i].aw };

		assert_int_equal(arm_mtb_position_of(&ram, known[i].addr), known[i].position);
		/* WRAP and RES0 are no part of it */
		for (uint32_t low = 0; low < 8; low++)
			assert_int_equal(arm_mtb_address_of(&ram, known[i].position | low), known[i].addr);
	}
}

/* An address is the only one of the RAM's 2^AW bytes that has this POSITION. */
static void test_every_position(void **state)
{
	static const uint32_t bases[] = { 0, 0x20, 0x1ffff000, 0x1ffff820, 0x20000000, 0xfffff000 };

	(void)state;
	for (size_t i = 0; i < COUNT(bases); i++) {
		for (unsigned int aw = 5; aw <= 12; aw++) {
			const struct arm_mtb_ram ram = { .base = bases[i], .aw = aw };
			for (uint32_t off = 0; off < 1u << aw; off += 8) {
				const uint32_t addr = bases[i] + off;
				assert_int_equal(arm_mtb_position_of(&ram, addr), addr % (1u << aw));
				assert_int_equal(arm_mtb_address_of(&ram, addr % (1u << aw)), addr);
			}
		}
	}
}

static void test_mask(void **state)
{
	(void)state;
	for (uint32_t mask = 0; mask <= 27; mask++)
		assert_int_equal(arm_mtb_mask_of(UINT32_C(1) << (mask + 4)), mask);
}

/* ---- the check ---- */

static const struct arm_mtb_neighbours nobody;

static void test_shape(void **state)
{
	static const struct arm_mtb_ram kl25 = { 0x1ffff000, 15, 0x4000 }, whole = { 0x1ffff000, 15, 0 };
	static const struct arm_mtb_ram small = { 0x20000000, 10, 0 }, last = { 0xfffff000, 12, 0 };
	static const struct arm_mtb_ram more = { 0x20000000, 10, 0x10000 }, all = { 0, 32, 0 };
	static const struct {
		const struct arm_mtb_ram *ram;
		struct arm_mtb_buffer buffer;
		const char *words;	/* of the refusal; NULL: it is one */
	} tried[] = {
		{ &kl25, { 0x1ffff000, 0x1000 }, NULL }, { &kl25, { 0x20000000, 0x2000 }, NULL },
		{ &kl25, { 0x20002ff0, 16 }, NULL }, { &last, { 0xfffff000, 0x1000 }, NULL },
		{ &small, { 0x20000000, 0x400 }, NULL }, { &all, { 0x80000000, 0x80000000 }, NULL },
		{ &whole, { 0x20004000, 0x1000 }, NULL }, { &whole, { 0x20006000, 0x1000 }, NULL },
		{ &kl25, { 0x20000000, 0 }, "size 0,power of two,16" }, { &kl25, { 0x20000000, 8 }, "size 8,power of two" },
		{ &kl25, { 0x20000000, 24 }, "size 24,power of two" },
		{ &kl25, { 0x20000000, 0x1001 }, "size 4097,power of two" },
		{ &kl25, { 0x20000100, 0x200 }, "0x20000100,not aligned,0x200 bytes,from 0x20000000" },
		{ &kl25, { 0x20000008, 16 }, "0x20000008,not aligned" },
		{ &small, { 0x20000000, 0x800 }, "0x800,0x400 bytes,AW 10" },
		{ &more, { 0x20000000, 0x800 }, "0x800,0x400 bytes,AW 10" },
		{ &kl25, { 0x1fffe000, 0x1000 }, "0x1fffe000..0x1fffefff,not in,0x1ffff000..0x20002fff,-rambase" },
		/* it would begin below and end inside */
		{ &kl25, { 0x1fffe000, 0x2000 }, "not in,-rambase" },
		{ &kl25, { 0x20003000, 0x1000 }, "not in,0x1ffff000..0x20002fff,-ramsize" },
		{ &kl25, { 0x20002000, 0x2000 }, "not in,-ramsize" },
		{ &whole, { 0x20007000, 0x1000 }, "not in,0x1ffff000..0x20006fff,-rambase" },
		{ &more, { 0x20000400, 0x400 }, "not in,0x20000000..0x200003ff,-rambase" },
		{ &kl25, { 0xffffff00, 0x100 }, "not in" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		const bool good = arm_mtb_buffer_check(&tried[i].buffer, tried[i].ram, &nobody, why, sizeof(why));
		if (good != !tried[i].words)
			fail_msg("number %zu: %s", i, good ? "taken" : why);
		if (!good)
			assert_why(tried[i].words);
		if (!good && !strstr(tried[i].words, "-ram"))
			assert_null(strstr(why, "-ramsize"));
	}
}

/* 0x100 bytes at 0x20001000 belong to somebody; the bytes on both sides do not. */
static void check_taken(const struct layout *layout, const struct arm_mtb_neighbours *other, const char *words)
{
	static const struct {
		struct arm_mtb_buffer buffer;
		bool free;
	} tried[] = {
		{ { 0x20000f00, 0x100 }, true }, { { 0x20001100, 0x100 }, true }, { { 0x20001100, 16 }, true },
		{ { 0x20000ff0, 16 }, true }, { { 0x20001000, 0x100 }, false }, { { 0x20001000, 0x400 }, false },
		{ { 0x20001000, 16 }, false }, { { 0x200010f0, 16 }, false }, { { 0x20000000, 0x2000 }, false },
	};
	static const struct arm_mtb_ram ram = { 0x20000000, 16, 0 };
	struct arm_mtb_neighbours neighbours = *other;
	struct arm_mtb_program programs[2];

	if (layout) {
		/* the second of two is asked too */
		load(&programs[0], &(struct layout){ .stripped = true });
		load(&programs[1], layout);
		neighbours.programs = programs;
		neighbours.program_count = 2;
	}
	for (size_t i = 0; i < COUNT(tried); i++) {
		const bool free = arm_mtb_buffer_check(&tried[i].buffer, &ram, &neighbours, why, sizeof(why));
		if (free != tried[i].free)
			fail_msg("%s, number %zu: %s", words, i, free ? "taken" : why);
		if (!free)
			assert_why(words);
	}
	for (unsigned int i = 0; i < neighbours.program_count; i++)
		arm_mtb_program_free(&programs[i]);
}

static void test_taken(void **state)
{
	static const char *const pairs[][3] = {
		{ "__StackLimit", "__StackTop", "the stack" }, { "__stack_limit", "__stack_top", "the stack" },
		{ "_sstack", "_estack", "the stack" }, { "__HeapBase", "__HeapLimit", "the heap" },
		{ "__heap_start__", "__heap_end__", "the heap" }, { "_sheap", "_eheap", "the heap" },
	};
	struct arm_mtb_neighbours area = { .work_area = 0x20001000, .work_area_size = 0x100 };

	(void)state;
	check_taken(NULL, &area, "working area,0x20001000..0x200010ff,-work-area-phys");
	check_taken(&(struct layout){ .sections = { { ".debug", 0x20000000, 0x8000, 0 }, { ".bss", 0x20001000, 0x100, 1 },
			{ ".none", 0x20000f80, 0, 1 } } }, &nobody, "section .bss,0x20001000..0x200010ff,test_mtb_buffer");
	check_taken(&(struct layout){ .sections = { { "", 0x20001000, 0x100, 1 } }, .stripped = true }, &nobody,
			"segment,0x20001000..0x200010ff,test_mtb_buffer");
	check_taken(&(struct layout){ .sections = { { ".data", 0x20001000, 0x100, 1 } }, .symbols = {
			{ "table", 0x20001000, 0x100, OBJECT } } }, &nobody, "section .data,(table at 0x20001000)");
	for (size_t i = 0; i < COUNT(pairs); i++)
		check_taken(&(struct layout){ .symbols = { { pairs[i][0], 0x20001000, 0, LABEL },
				{ pairs[i][1], 0x20001100, 0, LABEL } } }, &nobody, pairs[i][2]);
}

/* Of a stack that only the vector table tells of, the first words below its top are known to be taken. */
static void test_stack_of_the_vector_table(void **state)
{
	static const struct arm_mtb_ram ram = { 0x20000000, 16, 0 };
	struct arm_mtb_program program;
	struct arm_mtb_neighbours neighbours = { .programs = &program, .program_count = 1 };

	(void)state;
	load(&program, &(struct layout){ .stack = 0x20002000 });
	assert_false(arm_mtb_buffer_check(&(struct arm_mtb_buffer){ 0x20001c00, 0x400 }, &ram, &neighbours, why,
			sizeof(why)));
	assert_why("the stack,0x20001fff");
	assert_true(arm_mtb_buffer_check(&(struct arm_mtb_buffer){ 0x20002000, 0x400 }, &ram, &neighbours, why,
			sizeof(why)));
	arm_mtb_program_free(&program);
}

/* A section may be written to where the program has an object in it for that. */
static void test_reserved(void **state)
{
	static const struct arm_mtb_ram ram = { 0x20000000, 16, 0 };
	struct arm_mtb_program program;
	struct arm_mtb_neighbours neighbours = { .programs = &program, .program_count = 1 };

	(void)state;
	for (unsigned int i = 0; arm_mtb_buffer_symbols[i]; i++) {
		load(&program, &(struct layout){ .sections = { { ".bss", 0x20000000, 0x4000, 1 } }, .symbols = {
				{ arm_mtb_buffer_symbols[i], 0x20001000, 0x300, OBJECT } } });
		neighbours.work_area_size = 0;
		for (uint32_t size = 16; size <= 0x200; size *= 2)
			assert_true(arm_mtb_buffer_check(&(struct arm_mtb_buffer){ 0x20001000, size }, &ram, &neighbours, why,
					sizeof(why)));
		assert_true(arm_mtb_buffer_check(&(struct arm_mtb_buffer){ 0x20001200, 0x100 }, &ram, &neighbours, why,
				sizeof(why)));
		/* the buffer's other half is somebody else's */
		assert_false(arm_mtb_buffer_check(&(struct arm_mtb_buffer){ 0x20001200, 0x200 }, &ram, &neighbours, why,
				sizeof(why)));
		assert_why("section .bss");
		assert_false(arm_mtb_buffer_check(&(struct arm_mtb_buffer){ 0x20001000, 0x400 }, &ram, &neighbours, why,
				sizeof(why)));
		neighbours.work_area = 0x200010f0;
		neighbours.work_area_size = 0x20;
		assert_false(arm_mtb_buffer_check(&(struct arm_mtb_buffer){ 0x20001000, 0x100 }, &ram, &neighbours, why,
				sizeof(why)));
		assert_why("working area");
		arm_mtb_program_free(&program);
	}
}

/* ---- the choice ---- */

static const struct arm_mtb_ram kl25 = { 0x1ffff000, 15, 0x4000 };

/* Expect @a addr and @a size, or a refusal with @a words. */
static void check_choice(const struct layout *layout, const struct arm_mtb_ram *ram, uint32_t area, const char *from,
		uint32_t addr, uint32_t size, const char *words)
{
	struct arm_mtb_program program;
	struct arm_mtb_neighbours neighbours = { .programs = &program, .program_count = 1, .work_area = area,
			.work_area_size = area ? 0x400 : 0 };
	struct arm_mtb_buffer buffer;
	const char *symbol = "nothing";

	load(&program, layout);
	const bool good = arm_mtb_buffer_choose(&buffer, ram, &neighbours, &symbol, why, sizeof(why));
	if (good != !words)
		fail_msg("0x%x: %s", addr, good ? "chosen" : why);
	if (!good) {
		assert_why(words);
	} else {
		assert_int_equal(buffer.addr, addr);
		assert_int_equal(buffer.size, size);
		if (from)
			assert_string_equal(symbol, from);
		else
			assert_null(symbol);
	}
	arm_mtb_program_free(&program);
}

static void test_choice_by_symbol(void **state)
{
	static const struct {
		const char *name;
		uint32_t addr, size, chosen, chosen_size;
		const char *words;
	} tried[] = {
		{ "__mtb_buffer__", 0x20000400, 0x400, 0x20000400, 0x400, NULL },
		{ "mtb_buffer", 0x20000400, 0x400, 0x20000400, 0x400, NULL },
		/* the largest part that is aligned, the lowest of those */
		{ "mtb_buffer", 0x20000400, 0x7ff, 0x20000400, 0x400, NULL },
		{ "mtb_buffer", 0x20000404, 0x400, 0x20000600, 0x200, NULL },
		{ "mtb_buffer", 0x20000404, 0x7fc, 0x20000800, 0x400, NULL },
		{ "mtb_buffer", 0x20000410, 16, 0x20000410, 16, NULL },
		{ "mtb_buffer", 0x20000408, 24, 0x20000410, 16, NULL },
		{ "mtb_buffer", 0x1ffff000, 0x2000, 0x1ffff000, 0x1000, NULL },
		{ "mtb_buffer", 0x20000408, 16, 0, 0, "mtb_buffer,16 bytes at 0x20000408,no aligned" },
		{ "mtb_buffer", 0x20000400, 15, 0, 0, "no aligned" },
		{ "__mtb_buffer__", 0x20000400, 0, 0, 0, "__mtb_buffer__ at 0x20000400,no size,-buffer 0x20000400 SIZE" },
		{ "mtb_buffer", 0x10000000, 0x400, 0, 0, "0x10000000..0x100003ff,not in" },
		{ "mtb_buffer", 0x20002000, 0x800, 0, 0, "working area" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++)
		check_choice(&(struct layout){ .sections = { { ".bss", 0x1ffff000, 0x4000, 1 } }, .symbols = {
				{ "another", 0x20000000, 0x1000, OBJECT },
				{ tried[i].name, tried[i].addr, tried[i].size, tried[i].size ? OBJECT : LABEL } } }, &kl25, 0x20002400,
				tried[i].name, tried[i].chosen, tried[i].chosen_size, tried[i].words);

	/* of both the first name, wherever it is in the table */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x1ffff000, 0x4000, 1 } }, .symbols = {
			{ "mtb_buffer", 0x20001000, 0x400, OBJECT }, { "__mtb_buffer__", 0x20000000, 0x100, OBJECT } } }, &kl25, 0,
			"__mtb_buffer__", 0x20000000, 0x100, NULL);
	/* more than the MTB can address */
	check_choice(&(struct layout){ .symbols = { { "mtb_buffer", 0x20000000, 0x10000, OBJECT } } },
			&(struct arm_mtb_ram){ 0x20000000, 12, 0 }, 0, "mtb_buffer", 0x20000000, 0x1000, NULL);
	check_choice(&(struct layout){ .symbols = { { "mtb_buffer", 0, 0xffffffff, OBJECT } } },
			&(struct arm_mtb_ram){ 0, 32, 0 }, 0, "mtb_buffer", 0, 0x80000000, NULL);
}

static void test_choice_of_a_corner(void **state)
{
	static const struct arm_mtb_ram unknown = { 0x1ffff000, 15, 0 };

	(void)state;
	/* stack and what it may grow into are at the end: the first quarter is free */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x20000000, 0x800, 1 } }, .stack = 0x20003000 }, &kl25, 0,
			NULL, 0x1ffff000, 0x1000, NULL);
	/* OpenOCD's area is in it */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x20000000, 0x800, 1 } }, .stack = 0x20003000 }, &kl25,
			0x1ffff400, NULL, 0x1ffff800, 0x800, NULL);
	/* the RAM ends where the program proves it */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x20000000, 0x800, 1 } }, .stack = 0x20003000 }, &unknown, 0,
			NULL, 0x1ffff000, 0x1000, NULL);
	/* the stack in front of all: what is behind the program */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x20000000, 0x800, 1 } }, .stack = 0x20000000 }, &kl25, 0,
			NULL, 0x20001000, 0x1000, NULL);
	/* no stack is known: it can be anywhere, also where RAM's size is given */
	for (unsigned int stripped = 0; stripped < 2; stripped++) {
		check_choice(&(struct layout){ .sections = { { ".bss", 0x30000000, 0x100, 1 } }, .stripped = stripped },
				&unknown, 0, NULL, 0, 0, "no stack is known of /tmp/test_mtb_buffer,-buffer");
		check_choice(&(struct layout){ .sections = { { ".bss", 0x20000000, 0x100, 1 } }, .stripped = stripped }, &kl25,
				0, NULL, 0, 0, "no stack is known");
		check_choice(&(struct layout){ .stripped = stripped }, &kl25, 0, NULL, 0, 0, "no stack is known");
		check_choice(&(struct layout){ .stack = 0x30001000, .stripped = stripped }, &kl25, 0, NULL, 0x20000000, 0x2000,
				NULL);
	}
	check_choice(&(struct layout){ .sections = { { ".bss", 0x1ffff000, 0x100, 1 } }, .symbols = {
			{ "_sstack", 0x20002000, 0, LABEL }, { "_estack", 0x20003000, 0, LABEL } } }, &kl25, 0, NULL, 0x20000000,
			0x2000, NULL);
	/* a heap is none */
	check_choice(&(struct layout){ .symbols = { { "_sheap", 0x20000000, 0, LABEL },
			{ "_eheap", 0x20000008, 0, LABEL } } }, &kl25, 0, NULL, 0, 0, "no stack is known");
	/* the buffer of the program is not refused for that */
	check_choice(&(struct layout){ .symbols = { { "mtb_buffer", 0x20000000, 0x400, OBJECT } } }, &kl25, 0, "mtb_buffer",
			0x20000000, 0x400, NULL);
	/* it is the MTB's own: the program's is elsewhere */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x30000000, 0x100, 1 } }, .stack = 0x30001000 }, &unknown, 0,
			NULL, 0x20000000, 0x4000, NULL);
	/* all but the stack is taken: 1 KB is left to it, or a quarter of what is there */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x1ffff000, 0x3a08, 1 } }, .stack = 0x20003000 }, &kl25, 0,
			NULL, 0x20002b00, 0x100, NULL);
	check_choice(&(struct layout){ .sections = { { ".bss", 0x1ffff000, 0x2008, 1 } }, .stack = 0x20003500 },
			&(struct arm_mtb_ram){ 0x1ffff000, 15, 0x4500 }, 0, NULL, 0x20001800, 0x800, NULL);
	/* nothing free */
	check_choice(&(struct layout){ .sections = { { ".bss", 0x1ffff008, 0x3ff0, 1 } }, .stack = 0x20003000 }, &kl25, 0,
			NULL, 0, 0, "no part of RAM,0x1ffff000..0x20002fff,-buffer");

	struct arm_mtb_buffer buffer;
	const char *from;
	assert_false(arm_mtb_buffer_choose(&buffer, &kl25, &nobody, &from, why, sizeof(why)));
	assert_why("without the program,-buffer,-elf");
}

/* Two programs: either one's RAM is taken, and either one's object is found. */
static void test_two_programs(void **state)
{
	struct arm_mtb_program programs[2];
	const struct arm_mtb_neighbours neighbours = { .programs = programs, .program_count = 2 };
	struct arm_mtb_buffer buffer;
	const char *from;

	(void)state;
	load(&programs[0], &(struct layout){ .sections = { { ".bss", 0x1ffff000, 0x1000, 1 } } });
	load(&programs[1], &(struct layout){ .sections = { { ".bss", 0x20000000, 0x1000, 1 } }, .stack = 0x1ffff000 });
	assert_true(arm_mtb_buffer_choose(&buffer, &kl25, &neighbours, &from, why, sizeof(why)));
	assert_true(buffer.addr == 0x20001000 && buffer.size == 0x1000);

	/* a stack in another RAM, and only the second program tells of one */
	assert_true(arm_mtb_buffer_choose(&buffer, &(struct arm_mtb_ram){ 0x30000000, 12, 0 }, &neighbours, &from, why,
			sizeof(why)));
	assert_true(buffer.addr == 0x30000000 && buffer.size == 0x1000);
	arm_mtb_program_free(&programs[1]);

	load(&programs[1], &(struct layout){ .symbols = { { "mtb_buffer", 0x20001000, 0x800, OBJECT } } });
	assert_true(arm_mtb_buffer_choose(&buffer, &kl25, &neighbours, &from, why, sizeof(why)));
	assert_true(buffer.addr == 0x20001000 && buffer.size == 0x800 && !strcmp(from, "mtb_buffer"));
	arm_mtb_program_free(&programs[1]);
	arm_mtb_program_free(&programs[0]);
}

/* ---- programs ---- */

static void test_vector_table(void **state)
{
	static const struct {
		uint32_t stack, reset;
		bool good;
	} tried[] = {
		{ 0x20002000, CODE + 0x101, true }, { 0x20002004, CODE + 0x101, true }, { 0x20002000, CODE + 1, true },
		{ 0, CODE + 0x101, false }, { 0x20002002, CODE + 0x101, false },
		/* Arm code, code of another program, and what is not there at all */
		{ 0x20002000, CODE + 0x100, false }, { 0x20002000, CODE + CODE_LEN + 1, false }, { 0x20002000, 1, false },
	};

	(void)state;
	for (unsigned int stripped = 0; stripped < 2; stripped++) {
		for (size_t i = 0; i < COUNT(tried); i++) {
			const struct layout layout = { .sections = { { ".bss", 0x20000000, 0x100, 1 } }, .stripped = stripped };
			struct arm_mtb_program program;
			uint32_t stack = 0;

			make_elf(&layout);
			const size_t code = 52 + (stripped ? 2 : 1) * SEGMENT_LEN;
			put32(code, tried[i].stack);
			put32(code + 4, tried[i].reset);
			assert_true(load_file(&program));
			assert_int_equal(arm_mtb_program_stack(&program, &stack), tried[i].good);
			if (tried[i].good)
				assert_int_equal(stack, tried[i].stack);
			arm_mtb_program_free(&program);
		}
	}
}

/* Of two the lowest, in whichever order they are in the file. */
static void test_lowest_vector_table(void **state)
{
	struct arm_mtb_program program;
	uint32_t stack;

	(void)state;
	load(&program, &(struct layout){ .sections = { { ".boot", 0, 0x10, LOADED } }, .stack = 0x20002000 });
	assert_true(arm_mtb_program_stack(&program, &stack));
	assert_int_equal(stack, SECOND_STACK);
	arm_mtb_program_free(&program);
	load(&program, &(struct layout){ .sections = { { ".boot", CODE + CODE_LEN, 0x10, LOADED } }, .stack = 0x20002000 });
	assert_true(arm_mtb_program_stack(&program, &stack));
	assert_int_equal(stack, 0x20002000);
	arm_mtb_program_free(&program);
	/* too short to be one */
	load(&program, &(struct layout){ .sections = { { ".boot", 0, 7, LOADED } }, .stack = 0x20002000 });
	assert_true(arm_mtb_program_stack(&program, &stack));
	assert_int_equal(stack, 0x20002000);
	arm_mtb_program_free(&program);
}

/* Of symbols of one name: a function, an object, a label; of those a global one, then the first. */
static void test_symbols_of_one_name(void **state)
{
	static const unsigned int kinds[] = { FUNCTION, LOCAL(FUNCTION), OBJECT, LOCAL(OBJECT), LABEL, LOCAL(LABEL) };

	(void)state;
	for (unsigned int i = 0; i < COUNT(kinds); i++) {
		for (unsigned int j = 0; j < COUNT(kinds); j++) {
			struct arm_mtb_program program;
			struct arm_mtb_symbol symbol;

			load(&program, &(struct layout){ .symbols = { { "other", 0, 4, FUNCTION }, { "name", 0x101, 4, kinds[i] },
					{ "name", 0x201, 8, kinds[j] }, { "section", 0x300, 4, 0x13 } } });
			assert_true(arm_mtb_program_symbol(&program, "name", &symbol));
			const unsigned int best = j < i ? j : i;
			/* only of a function bit 0 is no part of the address */
			assert_int_equal(symbol.addr, (j < i ? 0x201 : 0x101) - (best < 2 ? 1 : 0));
			assert_int_equal(symbol.size, j < i ? 8 : 4);
			assert_string_equal(symbol.name, "name");
			assert_false(arm_mtb_program_symbol(&program, "nam", &symbol));
			assert_false(arm_mtb_program_symbol(&program, "section", &symbol));
			arm_mtb_program_free(&program);
		}
	}
}

/* A table of names that nothing ends, at the end of the file. */
static void test_name_without_end(void **state)
{
	const struct layout layout = { .symbols = { { "mtb_buffer", 0x20000000, 0x100, OBJECT } } };
	struct arm_mtb_program program;
	struct arm_mtb_symbol symbol;

	(void)state;
	make_elf(&layout);
	const size_t last = file.len - SECTION_LEN, names = take(8);
	memcpy(file.data + names, "a\0bcdefg", 8);
	put32(last + 16, (uint32_t)names);
	put32(last + 20, 8);
	/* the symbol table is in front of the headers; its second entry is the one */
	const size_t table = last - 3 * SECTION_LEN - SYMBOL_LEN;
	assert_int_equal(file.data[table + 12], OBJECT);
	for (uint32_t off = 0; off <= 9; off++) {
		put32(table, off);
		assert_true(load_file(&program));
		assert_true(arm_mtb_program_object(&program, 0, UINT64_MAX, &symbol));
		assert_string_equal(symbol.name, off ? "" : "a");
		arm_mtb_program_free(&program);
	}
}

static void test_wrong_files(void **state)
{
	struct arm_mtb_program program;
	char name[] = "/tmp/test_mtb_buffer.XXXXXX", path[64];

	(void)state;
	assert_false(arm_mtb_program_load(&program, "/nowhere/at/all", why, sizeof(why)));
	assert_why("/nowhere/at/all,No such file");
	assert_false(arm_mtb_program_load(&program, "/tmp", why, sizeof(why)));
	assert_why("/tmp,not an ELF file");
	assert_false(arm_mtb_program_load(&program, "/dev/zero", why, sizeof(why)));
	assert_why("/dev/zero,not an ELF file");
	/* nobody ever writes to it */
	assert_non_null(mkdtemp(name));
	snprintf(path, sizeof(path), "%s/pipe", name);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(arm_mtb_program_load(&program, path, why, sizeof(why)));
	assert_why("pipe,not an ELF file");
	unlink(path);
	rmdir(name);

	make_elf(&(struct layout){ .stack = 0x20001000 });
	file.data[18] = 94;
	assert_false(load_file(&program));
	assert_why("not a program for a Cortex-M");

	/* far more headers than a linker makes, each of which would be looked at with each */
	make_elf(&(struct layout){ .stack = 0x20001000 });
	const size_t headers = take(4096 * SECTION_LEN);
	memset(file.data + headers, 0, 4096 * SECTION_LEN);
	put32(32, (uint32_t)headers);
	put16(48, 4096);
	put16(50, 0);
	assert_false(load_file(&program));
	assert_why("section and program headers are more than the 4096");
	put16(48, 4000);
	assert_true(load_file(&program));
	arm_mtb_program_free(&program);
}

/* What a program does to the choice of a buffer. */
struct outcome {
	struct arm_mtb_buffer buffer;
	const char *from;
	uint32_t stack;
	bool good;
	bool has_stack;
};

static void find_outcome(const struct arm_mtb_program *program, struct outcome *outcome)
{
	const struct arm_mtb_neighbours neighbours = { .programs = program, .program_count = 1 };
	const char *from = NULL;

	memset(outcome, 0, sizeof(*outcome));
	outcome->good = arm_mtb_buffer_choose(&outcome->buffer, &kl25, &neighbours, &from, why, sizeof(why));
	outcome->has_stack = arm_mtb_program_stack(program, &outcome->stack);
	for (unsigned int i = 0; from && arm_mtb_buffer_symbols[i]; i++)
		if (!strcmp(from, arm_mtb_buffer_symbols[i]))
			outcome->from = arm_mtb_buffer_symbols[i];
}

/* Put @a len bytes that a field at @a field has the offset of behind all others. */
static void move_to_end(size_t field, size_t len)
{
	const size_t from = file.data[field] | (size_t)file.data[field + 1] << 8, to = take(len);

	memcpy(file.data + to, file.data + from, len);
	memset(file.data + from, 0, len);
	put32(field, (uint32_t)to);
}

/* A program whose headers come first; then code, symbols and names in each order; then what nobody reads. */
static void make_headers_first(const struct layout *layout, unsigned int order)
{
	make_elf(layout);
	if (layout->stripped) {
		move_to_end(52 + 4, CODE_LEN);
	} else {
		const unsigned int count = count_things(layout->sections), symbols = count_things(layout->symbols);
		const size_t headers = file.data[32] | (size_t)file.data[33] << 8;
		const size_t names = headers + (count + 3) * SECTION_LEN;
		for (unsigned int i = 0; i < 3; i++) {
			switch ((i + order) % 3) {
			case 0:
				move_to_end(52 + 4, CODE_LEN);
				memcpy(file.data + headers + SECTION_LEN + 16, file.data + 52 + 4, 4);
				break;
			case 1:
				move_to_end(headers + (count + 2) * SECTION_LEN + 16, (symbols + 1) * SYMBOL_LEN);
				break;
			default:
				move_to_end(names + 16, file.data[names + 20] | (size_t)file.data[names + 21] << 8);
			}
		}
	}
	take(40);
}

/* Cut off anywhere: refused in a line that says so, or as good as whole. */
static void check_cut_off(const struct layout *layout, unsigned int order)
{
	struct arm_mtb_program program;
	struct outcome whole, cut;
	unsigned int taken = 0;

	make_headers_first(layout, order);
	const size_t len = file.len;
	assert_true(load_file(&program));
	find_outcome(&program, &whole);
	arm_mtb_program_free(&program);
	assert_true(whole.good && whole.has_stack);
	for (file.len = 0; file.len < len; file.len++) {
		if (!load_file(&program)) {
			char words[64];
			snprintf(words, sizeof(words), "cut off at %zu bytes,end at 0x", file.len);
			assert_why(file.len < 52 ? "not an ELF file" : words);
			continue;
		}
		taken++;
		find_outcome(&program, &cut);
		arm_mtb_program_free(&program);
		assert_memory_equal(&cut, &whole, sizeof(whole));
	}
	assert_int_equal(taken, 40);
}

static void test_cut_off(void **state)
{
	static const struct layout corner = {
		.sections = { { ".data", 0x20000000, 0x100, 1 }, { ".bss", 0x20000400, 0x200, 1 } },
		.symbols = { { "_sheap", 0x20000600, 0, LABEL }, { "_eheap", 0x20000700, 0, LABEL } },
		.stack = 0x20002000,
	};
	struct layout layout = corner;

	(void)state;
	for (unsigned int order = 0; order < 3; order++)
		check_cut_off(&corner, order);
	layout.symbols[2] = (struct thing){ "mtb_buffer", 0x20000400, 0x100, OBJECT };
	for (unsigned int order = 0; order < 3; order++)
		check_cut_off(&layout, order);
	layout.stripped = true;
	check_cut_off(&layout, 0);
}

/* Headers that say less than there is would make RAM free. */
static void test_damaged(void **state)
{
	static const struct layout layout = {
		.sections = { { ".bss", 0x20000000, 0x100, 1 } }, .symbols = { { "name", 0, 4, OBJECT } }, .stack = 0x20002000,
	};
	static const struct {
		size_t at;	/* in the file's header, or in that of each section */
		bool sections, word;
		uint32_t value;
		const char *words;	/* NULL: the segments are enough */
	} tried[] = {
		{ 42, false, false, 31, "damaged,1 program headers of 31 bytes" },
		{ 44, false, false, 0xffff, "damaged,65535 program headers" },
		{ 28, false, true, 0, "damaged,1 program headers of 32 bytes at 0x0" },
		{ 28, false, true, 0xfffffff0, "cut off,program headers end at 0x100000010" },
		{ 46, false, false, 0, "damaged,section headers of 0 bytes" },
		{ 48, false, false, 0, "damaged,0 section headers" },
		{ 48, false, false, 0xffff, "cut off,section headers" },
		{ 32, false, true, 0, "damaged,5 section headers of 40 bytes at 0x0" },
		{ 32, false, true, 0xfffffff0, "cut off,section headers end at 0x1000000b8" },
		{ 12, true, true, 0xfffffff0, "damaged,section 1 has 0x200 bytes from 0xfffffff0" },
		{ 16, true, true, 0xffffffff, "cut off,end at 0x1" },
		{ 20, true, true, 0xffffffff, "cut off,end at 0x1" },
		{ 24, true, true, 5, "damaged,names of its symbols,section 5 of 5" },
		{ 4, true, true, 0xffffffff, NULL },
		{ 8, true, true, 0, NULL },
	};
	struct arm_mtb_program program;
	struct outcome outcome;

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		make_elf(&layout);
		const size_t headers = file.data[32] | (size_t)file.data[33] << 8;
		for (unsigned int j = 0; j < (tried[i].sections ? 5 : 1); j++) {
			const size_t at = tried[i].at + (tried[i].sections ? headers + j * SECTION_LEN : 0);
			if (tried[i].word)
				put32(at, tried[i].value);
			else
				put16(at, tried[i].value);
		}
		const bool good = load_file(&program);
		if (good != !tried[i].words)
			fail_msg("number %zu: %s", i, good ? "taken" : why);
		if (!good) {
			assert_why(tried[i].words);
			continue;
		}
		/* the vector table is found in the segment */
		find_outcome(&program, &outcome);
		arm_mtb_program_free(&program);
		assert_true(outcome.has_stack && outcome.stack == 0x20002000);
	}

	/* no segment that is loaded, and a section without bytes */
	make_elf(&(struct layout){ .stripped = true });
	put32(52, 0);
	assert_false(load_file(&program));
	assert_why("nothing of it is loaded,linked program");
	make_elf(&(struct layout){ .stripped = true });
	put16(44, 0);
	assert_false(load_file(&program));
	assert_why("nothing of it is loaded");
	make_elf(&(struct layout){ .stripped = true });
	put32(52 + 8, 0xffffff00);
	assert_false(load_file(&program));
	assert_why("damaged,segment 0 has 0x200 bytes from 0xffffff00");
}

static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % below;
}

/* What a file that lies is good for: anything but a crash or a buffer that is none. */
static void ask_everything(const struct arm_mtb_program *program)
{
	const struct arm_mtb_neighbours neighbours = { .programs = program, .program_count = 1, .work_area = 0x20000100,
			.work_area_size = 0x100 };
	const struct arm_mtb_ram ram = { 0x20000000, 13, 0 };
	struct arm_mtb_buffer buffer;
	struct arm_mtb_symbol symbol;
	struct arm_mtb_span span;
	const char *from;

	for (unsigned int i = 0; arm_mtb_program_span(program, i, &span); i++)
		if (span.name)
			assert_true(strlen(span.name) < sizeof(file.data));
	if (arm_mtb_program_object(program, 0, UINT64_MAX, &symbol))
		assert_true(strlen(symbol.name) < sizeof(file.data));
	if (arm_mtb_buffer_choose(&buffer, &ram, &neighbours, &from, why, sizeof(why)))
		assert_true(arm_mtb_buffer_check(&buffer, &ram, &neighbours, why, sizeof(why)));
	else
		assert_why("");
}

static void test_files_that_lie(void **state)
{
	static const struct layout layout = {
		.sections = { { ".data", 0x20000000, 0x100, 1 }, { ".bss", 0x20000400, 0x200, 1 } },
		.symbols = { { "mtb_buffer", 0x20000400, 0x100, OBJECT }, { "_sheap", 0x20000600, 0, LABEL },
				{ "_eheap", 0x20000700, 0, LABEL } },
		.stack = 0x20002000,
	};
	struct arm_mtb_program program;

	(void)state;
	unsigned int taken = 0;
	random_state = 1;
	for (unsigned int round = 0; round < 3000; round++) {
		make_elf(&layout);
		for (unsigned int n = 1 + draw(4); n; n--)
			file.data[20 + draw((uint32_t)file.len - 20)] = draw(3) ? (uint8_t)draw(256) : 0xff;
		if (!load_file(&program)) {
			assert_why("test_mtb_buffer");
			continue;
		}
		taken++;
		ask_everything(&program);
		arm_mtb_program_free(&program);
	}
	assert_in_range(taken, 500, 2900);
}

/* ---- random layouts ---- */

#define MAP_BASE	0x1ffff000u
#define MAP_LEN	0x2000u

/* One entry a byte of RAM. */
static struct {
	bool section[MAP_LEN];		/* of the program: of sections, heap, the stack as far as it is known */
	bool area[MAP_LEN];		/* OpenOCD's */
	bool reserved[MAP_LEN];		/* the program's object for the buffer */
	bool stack[MAP_LEN];		/* where the stack may come to */
	bool end[MAP_LEN + 1];		/* something of the program ends in front of it */
} map;

static void mark(bool *bytes, uint32_t addr, uint32_t size)
{
	for (uint64_t at = addr; at < (uint64_t)addr + size; at++)
		if (at >= MAP_BASE && at < MAP_BASE + MAP_LEN)
			bytes[at - MAP_BASE] = true;
	if (bytes == map.section && size && addr + size >= MAP_BASE && addr + size <= MAP_BASE + MAP_LEN)
		map.end[addr + size - MAP_BASE] = true;
}

static bool any(const bool *bytes, uint32_t off, uint32_t size)
{
	for (uint32_t i = off; i < off + size; i++)
		if (bytes[i])
			return true;
	return false;
}

static bool all(const bool *bytes, uint32_t off, uint32_t size)
{
	for (uint32_t i = off; i < off + size; i++)
		if (!bytes[i])
			return false;
	return true;
}

/*
 * The stack may take all from its top down to what the program has there, and when that leaves no room a quarter of it,
 * 1 KB at the least.
 */
static void mark_stack(uint32_t top, bool whole)
{
	uint32_t floor = top - 1;

	memset(map.stack, 0, sizeof(map.stack));
	while (floor > MAP_BASE && !(floor <= MAP_BASE + MAP_LEN && map.end[floor - MAP_BASE]))
		floor--;
	if (!whole) {
		const uint32_t depth = (top - floor) / 4 < 1024 ? 1024 : (top - floor) / 4;
		if (top - floor > depth)
			floor = top - depth;
	}
	mark(map.stack, floor, top - floor);
}

/* The lowest of the largest free buffers below @a end. */
static bool find_largest(uint32_t end, struct arm_mtb_buffer *buffer)
{
	for (uint32_t size = MAP_LEN; size >= 16; size /= 2) {
		for (uint32_t addr = MAP_BASE; addr + size <= end; addr += 16) {
			const uint32_t off = addr - MAP_BASE;
			if (addr % size || any(map.section, off, size) || any(map.area, off, size) || any(map.stack, off, size))
				continue;
			buffer->addr = addr;
			buffer->size = size;
			return true;
		}
	}
	return false;
}

static bool expect_corner(const struct layout *layout, uint32_t end, struct arm_mtb_buffer *buffer)
{
	if (!layout->stack)
		return false;
	for (int whole = 1; whole >= 0; whole--) {
		memset(map.stack, 0, sizeof(map.stack));
		if (layout->stack > MAP_BASE)
			mark_stack(layout->stack, whole);
		if (find_largest(end, buffer) && (buffer->size >= 256 || !whole))
			return true;
	}
	return false;
}

static uint32_t draw_addr(void)
{
	return MAP_BASE - 0x200 + draw((MAP_LEN + 0x400) / 4) * 4;
}

/* Some free space is left in most, and much of it in some. */
static void draw_layout(struct layout *layout, struct arm_mtb_neighbours *neighbours)
{
	static const char *const names[] = { ".data", ".bss", ".noinit", ".ramfunc", ".heap" };
	const uint32_t largest = draw(2) ? 0x100 : 0x800;

	memset(layout, 0, sizeof(*layout));
	memset(&map, 0, sizeof(map));
	for (unsigned int i = 0, count = draw(COUNT(names) + 1); i < count; i++) {
		layout->sections[i] = (struct thing){ names[i], draw_addr(), draw(largest), draw(8) != 0 };
		if (layout->sections[i].kind)
			mark(map.section, layout->sections[i].addr, layout->sections[i].size);
	}
	if (!draw(3)) {
		const uint32_t start = draw_addr(), end = draw_addr();
		layout->symbols[0] = (struct thing){ "__HeapBase", start, 0, LABEL };
		layout->symbols[1] = (struct thing){ "__HeapLimit", end, 0, LABEL };
		if (start < end)
			mark(map.section, start, end - start);
	}
	if (draw(3)) {
		layout->stack = draw_addr();
		mark(map.section, layout->stack - 8, 8);
	}
	neighbours->work_area = draw_addr();
	neighbours->work_area_size = draw(2) * draw(0x400);
	mark(map.area, neighbours->work_area, neighbours->work_area_size);
}

static void draw_buffer(struct arm_mtb_buffer *buffer)
{
	buffer->size = 16u << draw(10);
	buffer->addr = MAP_BASE - 0x1000 + draw((MAP_LEN + 0x2000) / 16) * 16;
	if (draw(4))
		buffer->addr &= ~(buffer->size - 1);
	if (!draw(16))
		buffer->size += 1 + draw(64);
}

/* Does the map allow it? */
static bool allowed(const struct arm_mtb_buffer *buffer, uint32_t ram_size)
{
	bool power = false;

	for (uint32_t size = 16; size; size *= 2)
		power |= buffer->size == size;
	if (!power || buffer->addr % buffer->size || buffer->addr < MAP_BASE ||
			buffer->addr + buffer->size > MAP_BASE + ram_size)
		return false;
	const uint32_t off = buffer->addr - MAP_BASE;
	if (any(map.area, off, buffer->size))
		return false;
	return !any(map.section, off, buffer->size) || all(map.reserved, off, buffer->size);
}

static void test_random_checks(void **state)
{
	unsigned int good = 0, bad = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 400; seed++) {
		const struct arm_mtb_ram ram = { MAP_BASE, 13, seed % 2 ? 0 : 0x1800 };
		struct arm_mtb_program program;
		struct arm_mtb_neighbours neighbours = { .programs = &program, .program_count = 1 };
		struct layout layout;

		random_state = seed;
		draw_layout(&layout, &neighbours);
		if (draw(2)) {
			layout.symbols[2] = (struct thing){ draw(2) ? "mtb_buffer" : "__mtb_buffer__", draw_addr(), draw(0x800),
					OBJECT };
			/* the table ends where a name is missing */
			if (!layout.symbols[0].name)
				layout.symbols[0] = layout.symbols[1] = (struct thing){ "other", MAP_BASE, 4, OBJECT };
			mark(map.reserved, layout.symbols[2].addr, layout.symbols[2].size);
		}
		load(&program, &layout);
		for (unsigned int i = 0; i < 200; i++) {
			struct arm_mtb_buffer buffer;
			draw_buffer(&buffer);
			const bool expected = allowed(&buffer, seed % 2 ? MAP_LEN : 0x1800);
			if (arm_mtb_buffer_check(&buffer, &ram, &neighbours, why, sizeof(why)) != expected)
				fail_msg("seed %u, 0x%x and %u bytes: %s", seed, buffer.addr, buffer.size, expected ? why : "taken");
			if (!expected)
				assert_why("");
			good += expected;
			bad += !expected;
		}
		arm_mtb_program_free(&program);
	}
	/* of both enough */
	assert_true(good > 1000 && bad > 1000);
}

static void test_random_corners(void **state)
{
	unsigned int found = 0, refused = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 1500; seed++) {
		const struct arm_mtb_ram ram = { MAP_BASE, 13, seed % 2 ? MAP_LEN : 0x1800 };
		struct arm_mtb_program program;
		struct arm_mtb_neighbours neighbours = { .programs = &program, .program_count = 1 };
		struct arm_mtb_buffer buffer, expected;
		struct layout layout;
		const char *from;

		random_state = seed * 7919;
		draw_layout(&layout, &neighbours);
		load(&program, &layout);
		const bool good = arm_mtb_buffer_choose(&buffer, &ram, &neighbours, &from, why, sizeof(why));
		if (good != expect_corner(&layout, MAP_BASE + ram.size, &expected))
			fail_msg("seed %u: %s, not so: 0x%x and %u bytes", seed, good ? "found" : why, expected.addr,
					expected.size);
		if (good && (buffer.addr != expected.addr || buffer.size != expected.size))
			fail_msg("seed %u: 0x%x and %u bytes, not 0x%x and %u", seed, buffer.addr, buffer.size, expected.addr,
					expected.size);
		if (good)
			assert_true(allowed(&buffer, ram.size));
		found += good;
		refused += !good;
		arm_mtb_program_free(&program);
	}
	/* of both enough */
	assert_true(found > 500 && refused > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_positions),
		cmocka_unit_test(test_every_position),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_stack_of_the_vector_table),
		cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_choice_by_symbol),
		cmocka_unit_test(test_choice_of_a_corner),
		cmocka_unit_test(test_two_programs),
		cmocka_unit_test(test_vector_table),
		cmocka_unit_test(test_lowest_vector_table),
		cmocka_unit_test(test_symbols_of_one_name),
		cmocka_unit_test(test_name_without_end),
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_files_that_lie),
		cmocka_unit_test(test_random_checks),
		cmocka_unit_test(test_random_corners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
