// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * ELF files and raw dumps: segments, symbols and lines of files made here, byte by byte or by clang and lld, and the
 * line of text for every kind of bad file.
 */

#include <inttypes.h>
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

#include "symbols.h"

static char dir[256];

static const char *in_dir(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put_bytes(const char *name, const void *bytes, size_t len)
{
	FILE *f = fopen(in_dir(name), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static bool is_big_endian;
static enum itrace_symbols_family family;

static int setup(void **state)
{
	(void)state;
	is_big_endian = false;
	family = ITRACE_SYMBOLS_FAMILY_ARM;
	snprintf(dir, sizeof(dir), "/tmp/test_symbols.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[600];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static bool has_elfutils(void)
{
	return strcmp(itrace_symbols_build(), "no elfutils");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* an ELF by hand */

struct symbol {
	const char *name;
	uint64_t value;
	uint64_t size;
	uint8_t info;
	uint16_t section;	/* 1: .text, 0xfff1: absolute */
};

#define GLOBAL_FUNC	0x12
#define LOCAL_FUNC	0x02
#define WEAK_FUNC	0x22
#define GLOBAL_LABEL	0x10
#define LOCAL_LABEL	0x00
#define GLOBAL_OBJECT	0x11

static uint8_t elf[16384];

static void put_number(size_t off, uint64_t value, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		elf[off + (is_big_endian ? len - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

/*
 * Headers at 0, code at 0x100 (256 bytes, byte n is n), then the tables.
 * @returns the length
 */
static size_t make_elf(bool is_64, unsigned int machine, uint64_t addr, const struct symbol *symbols, size_t count)
{
	static const char section_names[] = "\0.text\0.symtab\0.strtab";
	unsigned int word = is_64 ? 8 : 4;
	size_t symbol_len = is_64 ? 24 : 16;
	size_t header_len = is_64 ? 64 : 52;
	size_t section_len = is_64 ? 64 : 40;
	size_t symtab = 0x200;
	size_t strtab = symtab + (count + 1) * symbol_len;
	size_t names = strtab + 1;

	memset(elf, 0, sizeof(elf));
	for (unsigned int i = 0; i < 256; i++)
		elf[0x100 + i] = (uint8_t)i;
	for (size_t i = 0; i < count; i++) {
		size_t at = symtab + (i + 1) * symbol_len;
		put_number(at, names - strtab, 4);
		memcpy(elf + names, symbols[i].name, strlen(symbols[i].name) + 1);
		names += strlen(symbols[i].name) + 1;
		put_number(at + (is_64 ? 4 : 12), symbols[i].info, 1);
		put_number(at + (is_64 ? 6 : 14), symbols[i].section, 2);
		put_number(at + (is_64 ? 8 : 4), symbols[i].value, word);
		put_number(at + (is_64 ? 16 : 8), symbols[i].size, word);
	}
	size_t shstrtab = names;
	memcpy(elf + shstrtab, section_names, sizeof(section_names));
	size_t sections = (shstrtab + sizeof(section_names) + 7) & ~(size_t)7;

	memcpy(elf, "\177ELF", 4);
	elf[4] = is_64 ? 2 : 1;
	elf[5] = is_big_endian ? 2 : 1;
	elf[6] = 1;
	put_number(16, 2, 2);
	put_number(18, machine, 2);
	put_number(20, 1, 4);
	put_number(24, addr, word);
	put_number(24 + word, header_len, word);
	put_number(24 + 2 * word, sections, word);
	put_number(24 + 3 * word + 4, header_len, 2);
	put_number(24 + 3 * word + 6, is_64 ? 56 : 32, 2);
	put_number(24 + 3 * word + 8, 1, 2);
	put_number(24 + 3 * word + 10, section_len, 2);
	put_number(24 + 3 * word + 12, 4, 2);
	put_number(24 + 3 * word + 14, 3, 2);

	put_number(header_len, 1, 4);
	if (is_64)
		put_number(header_len + 4, 5, 4);
	put_number(header_len + (is_64 ? 8 : 4), 0x100, word);
	put_number(header_len + (is_64 ? 16 : 8), addr, word);
	put_number(header_len + (is_64 ? 24 : 12), addr, word);
	put_number(header_len + (is_64 ? 32 : 16), 256, word);
	put_number(header_len + (is_64 ? 40 : 20), 512, word);

	struct {
		uint32_t name, type;
		uint64_t flags, addr, off, len, link, entry;
	} table[] = {
		{ 1, 1, 6, addr, 0x100, 256, 0, 0 },
		{ 7, 2, 0, 0, symtab, (count + 1) * symbol_len, 3, symbol_len },
		{ 15, 3, 0, 0, strtab, shstrtab + sizeof(section_names) - strtab, 0, 0 },
	};
	/* one string table serves for names of symbols and sections */
	for (unsigned int i = 0; i < 3; i++) {
		size_t at = sections + (i + 1) * section_len;
		put_number(at, shstrtab - strtab + table[i].name, 4);
		put_number(at + 4, table[i].type, 4);
		put_number(at + 8, table[i].flags, word);
		put_number(at + 8 + word, table[i].addr, word);
		put_number(at + 8 + 2 * word, table[i].off, word);
		put_number(at + 8 + 3 * word, table[i].len, word);
		put_number(at + 8 + 4 * word, table[i].link, 4);
		put_number(at + 16 + 5 * word, table[i].entry, word);
	}
	size_t len = sections + 4 * section_len;
	assert_true(len <= sizeof(elf));
	return len;
}

static struct itrace_symbols *load(const char *name, uint64_t offset)
{
	char why[512];
	struct itrace_symbols *symbols = itrace_symbols_new();
	assert_non_null(symbols);
	itrace_symbols_set_family(symbols, family);
	if (itrace_symbols_add_elf(symbols, in_dir(name), offset, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	return symbols;
}

/* The symbol at an address must be NAME+off, or none when name is NULL. */
static void expect(struct itrace_symbols *symbols, uint64_t addr, const char *name, uint64_t want)
{
	/* twice: the second answer comes from the memo */
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t off = 0;
		const struct itrace_symbol *symbol = itrace_symbols_find(symbols, addr, &off);
		if (!name) {
			if (symbol)
				fail_msg("0x%" PRIx64 " is %s", addr, symbol->name);
			continue;
		}
		if (!symbol)
			fail_msg("0x%" PRIx64 " is not %s", addr, name);
		assert_string_equal(symbol->name, name);
		assert_int_equal(off, want);
		assert_int_equal(symbol->addr + off, addr);
		assert_true(off < symbol->len);
	}
}

static void test_segments(void **state)
{
	(void)state;
	for (unsigned int is_64 = 0; is_64 < 2; is_64++) {
		put_bytes("a.elf", elf, make_elf(is_64, is_64 ? 183 : 40, 0x8000, NULL, 0));
		struct itrace_symbols *symbols = load("a.elf", 0x1000);
		size_t count;
		const struct itrace_segment *segments = itrace_symbols_segments(symbols, &count);
		assert_int_equal(count, 1);
		assert_int_equal(segments[0].addr, 0x9000);
		assert_int_equal(segments[0].len, 256);
		assert_int_equal(segments[0].data[255], 255);
		assert_int_equal(segments[0].space, ITRACE_SPACE_ANY);
		assert_int_equal(segments[0].source, 0);

		char why[512];
		put_bytes("raw.bin", "hello", 5);
		assert_int_equal(itrace_symbols_add_image(symbols, in_dir("raw.bin"), 0x20000, why, sizeof(why)), 1);
		assert_string_equal(why, "");
		assert_int_equal(itrace_symbols_add_source(symbols, "snapshot"), 2);
		segments = itrace_symbols_segments(symbols, &count);
		assert_int_equal(count, 2);
		assert_int_equal(segments[1].addr, 0x20000);
		assert_int_equal(segments[1].source, 1);
		assert_memory_equal(segments[1].data, "hello", 5);
		assert_int_equal(itrace_symbols_source_count(symbols), 3);
		assert_string_equal(itrace_symbols_source_name(symbols, 1), in_dir("raw.bin"));
		assert_string_equal(itrace_symbols_source_name(symbols, 2), "snapshot");
		assert_null(itrace_symbols_source_name(symbols, 3));
		assert_false(itrace_symbols_have_names(symbols));
		expect(symbols, 0x9000, NULL, 0);
		itrace_symbols_free(symbols);
	}
	itrace_symbols_free(NULL);
}

static void test_lookup(void **state)
{
	static const struct symbol table[] = {
		{ "file.c", 0, 0, 0x04, 0xfff1 },
		{ "$x", 0x8000, 0, LOCAL_LABEL, 1 },
		{ "local_alias", 0x8000, 16, LOCAL_FUNC, 1 },
		{ "main", 0x8000, 16, GLOBAL_FUNC, 1 },
		{ "label_alias", 0x8000, 0, GLOBAL_LABEL, 1 },
		{ "loop", 0x8008, 0, LOCAL_LABEL, 1 },
		{ "outer", 0x8020, 32, GLOBAL_FUNC, 1 },
		{ "inner", 0x8028, 8, LOCAL_FUNC, 1 },
		{ "$d.1", 0x8040, 0, LOCAL_LABEL, 1 },
		{ "start", 0x8050, 0, GLOBAL_LABEL, 1 },
		{ "next", 0x8060, 0, WEAK_FUNC, 1 },
		{ "$x.2", 0x8060, 0, LOCAL_LABEL, 1 },
		{ "twice", 0x8080, 4, LOCAL_FUNC, 1 },
		{ "twice", 0x8090, 4, LOCAL_FUNC, 1 },
		{ "data", 0x80a0, 8, GLOBAL_OBJECT, 1 },
		{ "last", 0x80f8, 64, GLOBAL_FUNC, 1 },
		{ "rom", 0xf000, 0, GLOBAL_FUNC, 0xfff1 },
		{ "constant", 0x8004, 0, GLOBAL_LABEL, 0xfff1 },
		{ "elsewhere", 0x8004, 4, GLOBAL_FUNC, 0 },
	};
	uint64_t start, end;

	(void)state;
	if (!has_elfutils())
		skip();
	put_bytes("a.elf", elf, make_elf(true, 183, 0x8000, table, sizeof(table) / sizeof(table[0])));
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t o = i ? 0xffffff8000000000 : 0;
		struct itrace_symbols *symbols = load("a.elf", o);
		assert_true(itrace_symbols_have_names(symbols));
		expect(symbols, o + 0x7fff, NULL, 0);
		expect(symbols, o + 0x8000, "main", 0);
		expect(symbols, o + 0x8004, "main", 4);
		expect(symbols, o + 0x800c, "main", 12);
		expect(symbols, o + 0x8010, NULL, 0);
		expect(symbols, o + 0x8024, "outer", 4);
		expect(symbols, o + 0x8028, "inner", 0);
		expect(symbols, o + 0x802f, "inner", 7);
		expect(symbols, o + 0x8030, "outer", 16);
		expect(symbols, o + 0x8040, NULL, 0);
		expect(symbols, o + 0x805f, "start", 15);
		expect(symbols, o + 0x807f, "next", 31);
		expect(symbols, o + 0x80a0, NULL, 0);
		expect(symbols, o + 0x8137, "last", 63);
		expect(symbols, o + 0xf000, "rom", 0);
		expect(symbols, o + 0xf004, NULL, 0);

		const struct itrace_symbol *symbol = itrace_symbols_find(symbols, o + 0x8050, NULL);
		assert_false(symbol->is_function);
		assert_false(symbol->is_sized);
		assert_true(symbol->is_global);
		assert_int_equal(symbol->len, 16);

		assert_int_equal(itrace_symbols_range(symbols, "main", &start, &end), 1);
		assert_int_equal(start, o + 0x8000);
		assert_int_equal(end, o + 0x8010);
		assert_int_equal(itrace_symbols_range(symbols, "start", &start, &end), 1);
		assert_int_equal(end, o + 0x8060);
		assert_int_equal(itrace_symbols_range(symbols, "data", &start, &end), 1);
		assert_int_equal(start, o + 0x80a0);
		assert_int_equal(end, o + 0x80a8);
		assert_int_equal(itrace_symbols_range(symbols, "label_alias", &start, &end), 1);
		assert_int_equal(end, o + 0x8010);
		assert_int_equal(itrace_symbols_range(symbols, "loop", &start, NULL), 1);
		assert_int_equal(start, o + 0x8008);
		assert_int_equal(itrace_symbols_range(symbols, "twice", &start, &end), 2);
		assert_int_equal(start, o + 0x8080);
		assert_int_equal(itrace_symbols_range(symbols, "elsewhere", NULL, NULL), 0);
		assert_int_equal(itrace_symbols_range(symbols, "mai", NULL, NULL), 0);
		assert_int_equal(itrace_symbols_range(symbols, "", NULL, NULL), 0);
		assert_int_equal(itrace_symbols_range(symbols, "$x", NULL, NULL), 0);

		assert_int_equal(itrace_symbols_content_at(symbols, o + 0x7fff), ITRACE_SYMBOLS_CONTENT_UNKNOWN);
		assert_int_equal(itrace_symbols_content_at(symbols, o + 0x803f), ITRACE_SYMBOLS_CONTENT_A64);
		assert_int_equal(itrace_symbols_content_at(symbols, o + 0x8040), ITRACE_SYMBOLS_CONTENT_DATA);
		assert_int_equal(itrace_symbols_content_at(symbols, o + 0x8060), ITRACE_SYMBOLS_CONTENT_A64);
		assert_int_equal(itrace_symbols_content_at(symbols, o + 0x80ff), ITRACE_SYMBOLS_CONTENT_A64);
		assert_int_equal(itrace_symbols_content_at(symbols, o + 0x8100), ITRACE_SYMBOLS_CONTENT_UNKNOWN);
		itrace_symbols_free(symbols);
	}
}

static void test_arm(void **state)
{
	static const struct symbol table[] = {
		{ "$a", 0x8000, 0, LOCAL_LABEL, 1 },
		{ "arm", 0x8000, 16, GLOBAL_FUNC, 1 },
		{ "$t", 0x8010, 0, LOCAL_LABEL, 1 },
		{ "thumb", 0x8011, 15, GLOBAL_FUNC, 1 },
		{ "$d", 0x8020, 0, LOCAL_LABEL, 1 },
		{ "$Ven$AA$L$$x", 0x8030, 4, GLOBAL_FUNC, 1 },
	};
	uint64_t start, end;

	(void)state;
	if (!has_elfutils())
		skip();
	put_bytes("a.elf", elf, make_elf(false, 40, 0x8000, table, sizeof(table) / sizeof(table[0])));
	struct itrace_symbols *symbols = load("a.elf", 0);
	expect(symbols, 0x800c, "arm", 12);
	expect(symbols, 0x8010, "thumb", 0);
	expect(symbols, 0x801e, "thumb", 14);
	expect(symbols, 0x8032, "$Ven$AA$L$$x", 2);
	assert_int_equal(itrace_symbols_range(symbols, "thumb", &start, &end), 1);
	assert_int_equal(start, 0x8010);
	assert_int_equal(itrace_symbols_content_at(symbols, 0x8000), ITRACE_SYMBOLS_CONTENT_A32);
	assert_int_equal(itrace_symbols_content_at(symbols, 0x801f), ITRACE_SYMBOLS_CONTENT_T32);
	assert_int_equal(itrace_symbols_content_at(symbols, 0x8020), ITRACE_SYMBOLS_CONTENT_DATA);
	itrace_symbols_free(symbols);
}

/* Two files: the first that has a symbol for an address wins; names are found in both. */
static void test_two_files(void **state)
{
	static const struct symbol first[] = {
		{ "one", 0x8000, 16, GLOBAL_FUNC, 1 }, { "both", 0x8010, 4, LOCAL_FUNC, 1 }
	};
	static const struct symbol second[] = {
		{ "two", 0x8008, 32, GLOBAL_FUNC, 1 }, { "both", 0x8020, 4, GLOBAL_FUNC, 1 }
	};
	char why[512];
	uint64_t start;

	(void)state;
	if (!has_elfutils())
		skip();
	put_bytes("a.elf", elf, make_elf(true, 183, 0x8000, first, 2));
	put_bytes("b.elf", elf, make_elf(true, 183, 0x8000, second, 2));
	struct itrace_symbols *symbols = load("a.elf", 0);
	expect(symbols, 0x8018, NULL, 0);
	assert_int_equal(itrace_symbols_add_elf(symbols, in_dir("b.elf"), 0, why, sizeof(why)), 1);
	expect(symbols, 0x8008, "one", 8);
	expect(symbols, 0x8018, "two", 16);
	assert_int_equal(itrace_symbols_range(symbols, "both", &start, NULL), 1);
	assert_int_equal(start, 0x8020);
	itrace_symbols_free(symbols);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The file is refused with a line that begins with its path and says @a text. */
static void refused(const char *name, const char *text)
{
	char why[512];
	struct itrace_symbols *symbols = itrace_symbols_new();
	size_t count;

	assert_non_null(symbols);
	itrace_symbols_set_family(symbols, family);
	assert_int_equal(itrace_symbols_add_elf(symbols, in_dir(name), 0, why, sizeof(why)), -1);
	if (strncmp(why, in_dir(name), strlen(in_dir(name))) || !strstr(why, text) || strchr(why, '\n'))
		fail_msg("'%s' does not say '%s'", why, text);
	assert_null(itrace_symbols_segments(symbols, &count));
	assert_int_equal(itrace_symbols_source_count(symbols), 0);
	char small[9];
	memset(small, 'x', sizeof(small));
	assert_int_equal(itrace_symbols_add_elf(symbols, in_dir(name), 0, small, 8), -1);
	assert_int_equal(small[8], 'x');
	itrace_symbols_free(symbols);
}

static void spoiled(size_t off, uint64_t value, unsigned int len, const char *text)
{
	size_t size = make_elf(true, 183, 0x8000, NULL, 0);
	put_number(off, value, len);
	put_bytes("bad.elf", elf, size);
	refused("bad.elf", text);
}

/*
 * Xtensa, of both byte orders. Functions may begin at odd addresses, "$d" is a label like others, and what the compiler
 * calls a place for itself is none.
 */
static void test_xtensa(void **state)
{
	static const struct symbol list[] = {
		{ "main", 0x8001, 0x20, GLOBAL_FUNC, 1 },
		{ ".L12", 0x8010, 0, LOCAL_LABEL, 1 },
		{ "start", 0x8030, 0, GLOBAL_LABEL, 1 },
		{ ".L13", 0x8034, 0, LOCAL_LABEL, 1 },
		{ ".LC1", 0x803c, 4, 0x01, 1 },		/* a literal */
		{ "isr", 0x8041, 0, LOCAL_FUNC, 1 },
		{ ".Lliteral_position", 0x8048, 0, LOCAL_LABEL, 1 },
		{ "$d", 0x8050, 0, LOCAL_LABEL, 1 },
	};

	(void)state;
	family = ITRACE_SYMBOLS_FAMILY_XTENSA;
	for (unsigned int i = 0; i < 2; i++) {
		is_big_endian = i;
		put_bytes("x.elf", elf, make_elf(false, 94, 0x8000, list, 8));
		struct itrace_symbols *symbols = load("x.elf", 0);
		size_t count;
		const struct itrace_segment *segments = itrace_symbols_segments(symbols, &count);
		assert_int_equal(count, 1);
		assert_int_equal(segments[0].addr, 0x8000);
		assert_int_equal(segments[0].len, 256);
		assert_int_equal(segments[0].data[3], 3);
		assert_int_equal(itrace_symbols_word_size(symbols, 0), 32);
		if (has_elfutils()) {
			expect(symbols, 0x8000, NULL, 0);
			expect(symbols, 0x8001, "main", 0);
			expect(symbols, 0x8012, "main", 0x11);
			expect(symbols, 0x8021, NULL, 0);
			expect(symbols, 0x8036, "start", 6);
			expect(symbols, 0x803d, "start", 13);
			expect(symbols, 0x8040, "start", 16);
			expect(symbols, 0x804f, "isr", 14);
			expect(symbols, 0x8051, "$d", 1);
			assert_int_equal(itrace_symbols_content_at(symbols, 0x8051), ITRACE_SYMBOLS_CONTENT_UNKNOWN);
			uint64_t start;
			uint64_t end;
			assert_int_equal(itrace_symbols_range(symbols, "main", &start, &end), 1);
			assert_int_equal(start, 0x8001);
			assert_int_equal(end, 0x8021);
		}
		itrace_symbols_free(symbols);

		put_number(28, UINT32_MAX, 4);
		put_bytes("x.elf", elf, 0x200);
		refused("x.elf", "program headers end at 0x10000001f");
	}
	is_big_endian = false;
	spoiled(18, 40, 2, "ELF for Arm, not for Xtensa");
	spoiled(18, 183, 2, "ELF for AArch64, not for Xtensa");
	spoiled(18, 94, 2, "for Xtensa, but of the 64-bit class");
	spoiled(5, 3, 1, "unknown byte order 3");
}

static void test_bad_files(void **state)
{
	(void)state;
	refused("absent.elf", "absent.elf: No such file");
	assert_int_equal(mkdir(in_dir("d.elf"), 0777), 0);
	refused("d.elf", "is a directory");
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	refused("fifo", "not a regular file");
	put_bytes("bad.elf", "", 0);
	refused("bad.elf", "empty file");
	put_bytes("bad.elf", "MZ plain text that is longer than an ELF header, which makes no difference at all", 80);
	refused("bad.elf", "not an ELF file");
	put_bytes("bad.elf", "\177ELF", 4);
	refused("bad.elf", "cut off at 4 bytes");
	spoiled(18, 62, 2, "ELF for x86-64, not for Arm");
	spoiled(18, 94, 2, "ELF for Xtensa, not for Arm");
	spoiled(18, 999, 2, "ELF for machine 999, not for Arm");
	spoiled(5, 2, 1, "ELF for machine 46848, not for Arm");
	spoiled(5, 3, 1, "unknown byte order 3");
	spoiled(4, 7, 1, "unknown class 7");
	spoiled(56, 0, 2, "ELF without program headers, it has no loadable segments");
	spoiled(56, 60000, 2, "program headers end at");
	spoiled(54, 8, 2, "1 program headers of 8 bytes");
	spoiled(56, 0xffff, 2, "65535 program headers");
	spoiled(32, UINT64_MAX, 8, "program headers end at 0xffffffffffffffff");
	spoiled(32, UINT64_MAX - 10, 8, "program headers end at");
	spoiled(64 + 8, 0x4000, 8, "needs 0x100 bytes from offset 0x4000");
	spoiled(64 + 8, UINT64_MAX, 8, "needs 0x100 bytes");
	spoiled(64 + 32, 0x1000, 8, "has 4096 bytes in the file, but 512 in memory");
	spoiled(64 + 16, UINT64_MAX - 3, 8, "passes the end of the address space");
	spoiled(64, 2, 4, "no loadable bytes");

	size_t size = make_elf(true, 183, 0x8000, NULL, 0);
	put_number(16, 1, 2);
	put_number(56, 0, 2);
	put_bytes("bad.elf", elf, size);
	refused("bad.elf", "object file that is not linked");

	/* big-endian Arm */
	memset(elf, 0, 64);
	memcpy(elf, "\177ELF\1\2\1", 7);
	elf[19] = 40;
	put_bytes("bad.elf", elf, 64);
	refused("bad.elf", "big-endian");

	/* cut anywhere: a line, or (behind the code) fewer symbols */
	static const struct symbol table[] = { { "main", 0x8000, 16, GLOBAL_FUNC, 1 } };
	size = make_elf(true, 183, 0x8000, table, 1);
	for (size_t cut = 0; cut < size; cut++) {
		put_bytes("bad.elf", elf, cut);
		if (cut < 0x200) {
			refused("bad.elf", cut && cut < 4 ? "not an ELF" : cut ? "cut off at" : "empty");
			continue;
		}
		struct itrace_symbols *symbols = load("bad.elf", 0);
		expect(symbols, 0x8000, NULL, 0);
		itrace_symbols_free(symbols);
	}
}

/* Sizes that a file claims cost nothing. */
static void test_hostile(void **state)
{
	(void)state;
	char why[512];

	/* a sparse file with a segment of 64 GB */
	size_t size = make_elf(true, 183, 0x8000, NULL, 0);
	put_number(64 + 32, (uint64_t)64 << 30, 8);
	put_number(64 + 40, (uint64_t)64 << 30, 8);
	put_bytes("big.elf", elf, size);
	if (!truncate(in_dir("big.elf"), (off_t)65 << 30))
		refused("big.elf", "at most 1073741824");
	struct itrace_symbols *symbols = itrace_symbols_new();
	assert_non_null(symbols);
	assert_int_equal(itrace_symbols_add_image(symbols, in_dir("big.elf"), 0, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "at most 1073741824"));
	assert_int_equal(itrace_symbols_add_image(symbols, in_dir("absent"), 0, why, sizeof(why)), -1);
	assert_int_equal(itrace_symbols_add_image(symbols, dir, 0, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "is a directory"));
	put_bytes("raw.bin", "1234", 4);
	assert_int_equal(itrace_symbols_add_image(symbols, in_dir("raw.bin"), UINT64_MAX - 2, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "passes the end"));

	/* a thousand segments of the same bytes are loaded once */
	memset(elf, 0, sizeof(elf));
	make_elf(true, 183, 0x8000, NULL, 0);
	uint8_t *many = calloc(1, 1 << 20);
	assert_non_null(many);
	memcpy(many, elf, 64);
	for (unsigned int i = 0; i < 1000; i++) {
		memcpy(elf, elf + 64, 56);
		put_number(8, 0, 8);
		put_number(16, (uint64_t)i << 32, 8);
		put_number(32, 1 << 20, 8);
		put_number(40, 1 << 20, 8);
		memcpy(many + 64 + i * 56, elf, 56);
	}
	many[56] = 1000 & 0xff;
	many[57] = 1000 >> 8;
	put_bytes("many.elf", many, 1 << 20);
	free(many);
	assert_int_equal(itrace_symbols_add_elf(symbols, in_dir("many.elf"), 0, why, sizeof(why)), 0);
	size_t count;
	const struct itrace_segment *segments = itrace_symbols_segments(symbols, &count);
	assert_int_equal(count, 1000);
	assert_ptr_equal(segments[0].data, segments[999].data);

	/* no more numbers than there are */
	int number = 0;
	while (number >= 0)
		number = itrace_symbols_add_source(symbols, "x");
	assert_int_equal(itrace_symbols_source_count(symbols), ITRACE_SYMBOLS_SOURCES_MAX);
	assert_int_equal(itrace_symbols_add_image(symbols, in_dir("raw.bin"), 0, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "at most 64 files"));
	assert_int_equal(itrace_symbols_add_elf(symbols, in_dir("a.elf"), 0, why, sizeof(why)), -1);
	itrace_symbols_free(symbols);
}

/* What is missing is said: of each file, or once of the build. */
static void test_notes(void **state)
{
	(void)state;
	char why[512];
	struct itrace_symbols *symbols = itrace_symbols_new();

	assert_non_null(symbols);
	put_bytes("a.elf", elf, make_elf(true, 183, 0x8000, NULL, 0));
	assert_int_equal(itrace_symbols_add_elf(symbols, in_dir("a.elf"), 0, why, sizeof(why)), 0);
	assert_non_null(strstr(why, has_elfutils() ? "a.elf: no symbols" : "built without elfutils"));
	assert_int_equal(itrace_symbols_add_elf(symbols, in_dir("a.elf"), 0, why, sizeof(why)), 1);
	if (!has_elfutils())
		assert_string_equal(why, "");
	itrace_symbols_free(symbols);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* debug information, as compilers write it */

static const char source[] =
	"static int depth2(int x) __attribute__((always_inline));\n"
	"static int depth1(int x) __attribute__((always_inline));\n"
	"volatile int sink;\n"
	"static int depth2(int x)\n"
	"{\n"
	"	return sink * x;\n"				/* 6 */
	"}\n"
	"static int depth1(int x)\n"
	"{\n"
	"	return depth2(x) + 1;\n"			/* 10 */
	"}\n"
	"__attribute__((noinline)) int work(int x)\n"
	"{\n"
	"	sink = 5;\n"					/* 14 */
	"	return depth1(x);\n"				/* 15 */
	"}\n"
	"__attribute__((noinline, section(\".text.other\"))) int other(int x)\n"
	"{\n"
	"	return work(x) + 2;\n"				/* 19 */
	"}\n"
	"int unused(int x)\n"
	"{\n"
	"	return x + sink;\n"
	"}\n"
	"void _start(void)\n"
	"{\n"
	"	sink = work(3) + other(4);\n"			/* 27 */
	"}\n";

/* @returns false when there is no compiler for this target */
static bool compile(const char *options, const char *name)
{
	char command[1500];

	put_bytes("work.c", source, sizeof(source) - 1);
	snprintf(command, sizeof(command), "cd '%s' && clang %s -g -O1 -ffreestanding -nostdlib -ffunction-sections "
		"-fuse-ld=lld -Wl,--gc-sections -Wl,-e,_start work.c -o %s >/dev/null 2>&1", dir, options, name);
	return !system(command);
}

static void check_debug(const char *name, uint64_t offset)
{
	struct itrace_symbols *symbols = load(name, offset);
	struct itrace_inline chain[8];
	struct itrace_source_line at;
	uint64_t start, end;
	bool saw_6 = false, saw_14 = false;
	unsigned int deepest = 0;

	assert_int_equal(itrace_symbols_range(symbols, "unused", NULL, NULL), 0);
	assert_int_equal(itrace_symbols_range(symbols, "work", &start, &end), 1);
	assert_true(end > start);
	for (uint64_t addr = start; addr < end; addr += 2) {
		expect(symbols, addr, "work", addr - start);
		assert_true(itrace_symbols_line(symbols, addr, &at));
		assert_string_equal(strrchr(at.file, '/') + 1, "work.c");
		unsigned int n = itrace_symbols_inlines(symbols, addr, chain, 8);
		assert_in_range(n, 1, 3);
		assert_string_equal(chain[n - 1].function, "work");
		/* the innermost level has the line of the address */
		assert_int_equal(chain[0].at.line, at.line);
		assert_string_equal(chain[0].at.file, at.file);
		if (n == 3) {
			assert_string_equal(chain[0].function, "depth2");
			assert_string_equal(chain[1].function, "depth1");
			assert_int_equal(chain[1].at.line, 10);
			assert_int_equal(chain[2].at.line, 15);
			assert_string_equal(strrchr(chain[2].at.file, '/') + 1, "work.c");
			saw_6 |= at.line == 6;
			/* room for fewer levels: the outer ones are left out */
			assert_int_equal(itrace_symbols_inlines(symbols, addr, chain, 2), 2);
			assert_string_equal(chain[1].function, "depth1");
		}
		saw_14 |= at.line == 14;
		if (n > deepest)
			deepest = n;
	}
	assert_int_equal(deepest, 3);
	assert_true(saw_6 && saw_14);

	/* a function of another section of the same unit */
	assert_int_equal(itrace_symbols_range(symbols, "other", &start, NULL), 1);
	assert_true(itrace_symbols_line(symbols, start, &at));
	assert_in_range(at.line, 18, 19);
	assert_int_equal(itrace_symbols_inlines(symbols, start, chain, 8), 1);
	assert_string_equal(chain[0].function, "other");

	/* nothing is there; functions that the linker threw away may claim it */
	assert_false(itrace_symbols_line(symbols, offset, &at));
	assert_null(at.file);
	assert_int_equal(at.line, 0);
	assert_int_equal(itrace_symbols_inlines(symbols, offset, chain, 8), 0);
	assert_false(itrace_symbols_line(symbols, UINT64_MAX, &at));
	itrace_symbols_free(symbols);
}

static void test_debug_information(void **state)
{
	static const char * const options[] = {
		"--target=aarch64-none-elf", "--target=aarch64-none-elf -gdwarf-4", "--target=aarch64-none-elf -gdwarf-2",
		"--target=armv7a-none-eabi -marm", "--target=thumbv7m-none-eabi", "--target=aarch64-none-elf -gdwarf-5 -gz",
	};
	unsigned int count = 0;

	(void)state;
	if (!has_elfutils())
		skip();
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!compile(options[i], "work.elf"))
			continue;
		check_debug("work.elf", 0);
		check_debug("work.elf", 0x40000000);
		count++;
	}
	if (!count)
		skip();
}

/* Any byte of a file with debug information may be wrong: no crash, no endless loop. */
static void test_debug_information_is_bad(void **state)
{
	(void)state;
	if (!has_elfutils() || !compile("--target=aarch64-none-elf", "work.elf"))
		skip();
	FILE *f = fopen(in_dir("work.elf"), "rb");
	assert_non_null(f);
	static uint8_t bytes[65536];
	size_t len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_in_range(len, 1000, sizeof(bytes) - 1);

	uint32_t random = 1;
	for (unsigned int round = 0; round < 2000; round++) {
		uint8_t copy[sizeof(bytes)];
		memcpy(copy, bytes, len);
		for (unsigned int i = 0; i < 1 + round % 8; i++) {
			random = random * 1664525 + 1013904223;
			size_t at = (random >> 8) % len;
			random = random * 1664525 + 1013904223;
			/* leave the program headers as they are, so that the rest is looked at */
			if (at >= 0x200)
				copy[at] = (uint8_t)(random >> 16);
		}
		put_bytes("bad.elf", copy, len);
		char why[512];
		struct itrace_symbols *symbols = itrace_symbols_new();
		assert_non_null(symbols);
		if (itrace_symbols_add_elf(symbols, in_dir("bad.elf"), 0, why, sizeof(why)) >= 0) {
			size_t count;
			const struct itrace_segment *segments = itrace_symbols_segments(symbols, &count);
			for (size_t i = 0; i < count; i++) {
				for (uint64_t off = 0; off < segments[i].len && off < 256; off += 4) {
					struct itrace_inline chain[4];
					struct itrace_source_line at;
					itrace_symbols_find(symbols, segments[i].addr + off, NULL);
					itrace_symbols_line(symbols, segments[i].addr + off, &at);
					itrace_symbols_inlines(symbols, segments[i].addr + off, chain, 4);
				}
			}
		}
		itrace_symbols_free(symbols);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_segments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lookup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_xtensa, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_notes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debug_information, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debug_information_is_bad, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
