// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The program: segments, symbols and source lines of ELF files and raw dumps.
 *
 * A file is read as a whole, and its segments are found here, with every offset checked against its size. Symbols come
 * from libelf, lines and inlined functions from libdw. What is looked up by address is first made into a sorted array
 * of intervals that do not overlap, so that a look-up is one binary search; nesting is resolved once.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#if defined(HAVE_ELFUTILS) && HAVE_ELFUTILS
#define WITH_ELFUTILS 1
#else
#define WITH_ELFUTILS 0
#endif

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if WITH_ELFUTILS
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/version.h>
#include <gelf.h>
#include <libelf.h>
#endif

#include "symbols.h"

/* Headers of the two classes, only as far as they are read. */
#define ELF_IDENT_LEN		16u
#define ELF32_HEADER_LEN	52u
#define ELF64_HEADER_LEN	64u
#define ELF32_PHDR_LEN		32u
#define ELF64_PHDR_LEN		56u
#define ELF_TYPE_REL		1u
#define ELF_MACHINE_ARM		40u
#define ELF_MACHINE_XTENSA	94u
#define ELF_MACHINE_AARCH64	183u
#define ELF_SEGMENT_LOAD	1u
#define ELF_PHNUM_ESCAPE	0xffffu

#define NONE			UINT32_MAX
#define MEMO_NUM		1024u

/* [start, end) of something with an index; end UINT64_MAX stands for the end of the address space. */
struct interval {
	uint64_t start;
	uint64_t end;
	uint32_t index;
	uint32_t order;		/* of equal ones the later is the inner */
};

struct intervals {
	struct interval *items;
	size_t count;
	size_t room;
};

#if WITH_ELFUTILS

/*
 * What debug information of one file may cost: entries of .debug_info that are visited, and address ranges that are
 * kept. Both are several times what the largest programs have.
 */
#define DIES_MAX		(64u << 20)
#define RANGES_MAX		(4u << 20)
#define DIE_DEPTH_MAX		64u

/* A function or an inlined instance of one. */
struct scope {
	Dwarf_Die die;
	uint32_t parent;	/* NONE: the outermost */
	bool is_inlined;
};

struct unit {
	Dwarf_Die die;
	bool is_walked;
	struct scope *scopes;
	size_t scope_count;
	size_t scope_room;
	struct intervals code;	/* innermost scope by address */
};

struct mapping {
	uint64_t addr;
	uint64_t end;		/* of its section */
	uint32_t order;
	uint8_t content;	/* enum itrace_symbols_content */
};

#endif

struct file {
	char *name;
	uint64_t offset;
	uint8_t *bytes;		/* the whole file and PADDING_LEN zeros: segments, names and libelf point into it */
	uint64_t size;
	unsigned int machine;	/* of an ELF; 0: none */
	struct itrace_symbol *syms;	/* all with a name, objects too */
	uint8_t *kinds;			/* enum kind of each */
	size_t sym_count;
	struct intervals names;		/* index in syms by address */
#if WITH_ELFUTILS
	Elf *elf;
	struct mapping *mappings;
	size_t mapping_count;
	bool is_dwarf_tried;
	Dwarf *dwarf;
	struct unit *units;
	size_t unit_count;
	struct intervals unit_code;	/* index in units by address */
	size_t die_budget;
	size_t range_budget;
#endif
};

enum kind {
	KIND_FUNCTION,
	KIND_LABEL,
	KIND_OBJECT
};

struct name_memo {
	uint64_t addr;
	const struct itrace_symbol *symbol;
	bool is_used;
};

#if WITH_ELFUTILS
struct line_memo {
	uint64_t addr;
	struct itrace_source_line at;
	bool is_used;
};
#endif

/* A symbol in the order of names. */
struct by_name {
	const struct itrace_symbol *symbol;
	uint8_t kind;
};

struct itrace_symbols {
	enum itrace_symbols_family family;
	struct file *files[ITRACE_SYMBOLS_SOURCES_MAX];
	unsigned int file_count;
	struct itrace_segment *segments;
	size_t segment_count;
	struct by_name *by_name;
	size_t by_name_count;
	bool is_by_name_made;
	bool is_told;		/* that this build has no symbols */
	struct name_memo names[MEMO_NUM];
#if WITH_ELFUTILS
	struct line_memo lines[MEMO_NUM];
#endif
};

static void say(char *why, size_t why_size, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 3, 4)))
#endif
;

static void say(char *why, size_t why_size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_size, format, args);
	va_end(args);
}

static char *copy_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);
	if (copy)
		memcpy(copy, text, size);
	return copy;
}

static uint32_t get_le(const uint8_t *bytes, unsigned int len)
{
	uint32_t value = 0;
	while (len--)
		value = value << 8 | bytes[len];
	return value;
}

/* Of a number of an ELF: its byte order. @a len is at most 4 */
static uint32_t get(const uint8_t *bytes, unsigned int len, bool is_big)
{
	uint32_t value = 0;

	if (!is_big)
		return get_le(bytes, len);
	for (unsigned int i = 0; i < len; i++)
		value = value << 8 | bytes[i];
	return value;
}

static uint64_t get_word(const uint8_t *bytes, bool is_64, bool is_big)
{
	if (!is_64)
		return get(bytes, 4, is_big);
	return get(bytes + (is_big ? 4 : 0), 4, is_big) | (uint64_t)get(bytes + (is_big ? 0 : 4), 4, is_big) << 32;
}

static unsigned int memo_index(uint64_t addr)
{
	return (unsigned int)((addr >> 1) ^ (addr >> 11)) % MEMO_NUM;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* intervals */

static const struct interval *intervals_find(const struct intervals *list, uint64_t addr)
{
	size_t low = 0;
	size_t high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->items[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || list->items[low - 1].end <= addr)
		return NULL;
	return &list->items[low - 1];
}

#if WITH_ELFUTILS

static bool intervals_add(struct intervals *list, uint64_t start, uint64_t end, uint32_t index)
{
	if (start >= end)
		return true;
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct interval *items = realloc(list->items, room * sizeof(*items));
		if (!items)
			return false;
		list->items = items;
		list->room = room;
	}
	struct interval *item = &list->items[list->count];
	item->start = start;
	item->end = end;
	item->index = index;
	item->order = (uint32_t)list->count++;
	return true;
}

/* By start, then the outer before the inner one. */
static int interval_compare(const void *left, const void *right)
{
	const struct interval *a = left;
	const struct interval *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/*
 * Turn nested intervals into intervals that do not overlap, each with the index of the innermost. One that reaches past
 * the end of the interval it begins in is cut there.
 * @returns false when there is no memory; the list is then empty
 */
static bool intervals_flatten(struct intervals *list)
{
	struct intervals flat = { 0 };
	size_t *stack = NULL;
	size_t depth = 0;
	uint64_t pos = 0;
	bool is_ok = true;

	if (list->count < 2)
		return true;
	qsort(list->items, list->count, sizeof(*list->items), interval_compare);
	stack = malloc(list->count * sizeof(*stack));
	if (!stack)
		is_ok = false;

	for (size_t i = 0; is_ok && i <= list->count; i++) {
		struct interval *item = i < list->count ? &list->items[i] : NULL;

		while (is_ok && depth && (!item || list->items[stack[depth - 1]].end <= item->start)) {
			const struct interval *top = &list->items[stack[--depth]];
			is_ok = intervals_add(&flat, pos, top->end, top->index);
			if (pos < top->end)
				pos = top->end;
		}
		if (!item || !is_ok)
			break;
		if (depth) {
			const struct interval *top = &list->items[stack[depth - 1]];
			is_ok = intervals_add(&flat, pos, item->start, top->index);
			if (item->end > top->end)
				item->end = top->end;
		}
		if (pos < item->start)
			pos = item->start;
		stack[depth++] = i;
	}

	free(stack);
	free(list->items);
	if (!is_ok) {
		free(flat.items);
		memset(&flat, 0, sizeof(flat));
	}
	*list = flat;
	return is_ok;
}

#endif /* WITH_ELFUTILS */

/* ------------------------------------------------------------------------------------------------------------------ */
/* files and their loadable bytes */

static void file_free(struct file *file)
{
	if (!file)
		return;
#if WITH_ELFUTILS
	for (size_t i = 0; i < file->unit_count; i++) {
		free(file->units[i].scopes);
		free(file->units[i].code.items);
	}
	free(file->units);
	free(file->unit_code.items);
	free(file->mappings);
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->elf)
		elf_end(file->elf);
#endif
	free(file->bytes);
	free(file->syms);
	free(file->kinds);
	free(file->names.items);
	free(file->name);
	free(file);
}

static struct file *file_new(const char *name, uint64_t offset)
{
	struct file *file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
#if WITH_ELFUTILS
	file->die_budget = DIES_MAX;
	file->range_budget = RANGES_MAX;
#endif
	file->offset = offset;
	file->name = copy_text(name);
	if (!file->name) {
		file_free(file);
		return NULL;
	}
	return file;
}

/* Zeros behind the bytes of a file: where a text that the file does not end is ended. */
#define PADDING_LEN	64u

/* Read a whole file. @returns NULL with *why filled when that cannot be; else the caller's to free */
static uint8_t *read_file(const char *path, uint64_t *size, char *why, size_t why_size)
{
	struct stat st;

	if (stat(path, &st)) {
		say(why, why_size, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		say(why, why_size, "%s: %s", path, S_ISDIR(st.st_mode) ? "is a directory" : "not a regular file");
		return NULL;
	}
	*size = (uint64_t)st.st_size;
	if (*size > ITRACE_SYMBOLS_LOAD_MAX) {
		say(why, why_size, "%s: has %" PRIu64 " bytes, at most %" PRIu64 " are read", path, *size,
			ITRACE_SYMBOLS_LOAD_MAX);
		return NULL;
	}
	FILE *f = fopen(path, "rb");
	if (!f) {
		say(why, why_size, "%s: %s", path, strerror(errno));
		return NULL;
	}
	uint8_t *bytes = malloc((size_t)*size + PADDING_LEN);
	if (!bytes) {
		say(why, why_size, "%s: no memory for %" PRIu64 " bytes", path, *size);
	} else if (fread(bytes, 1, (size_t)*size, f) != *size) {
		say(why, why_size, "%s: cannot be read", path);
		free(bytes);
		bytes = NULL;
	} else {
		memset(bytes + *size, 0, PADDING_LEN);
	}
	fclose(f);
	return bytes;
}

static const char *elf_machine_name(unsigned int machine, char *number, size_t size)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {
		{ 2, "SPARC" }, { 3, "x86" }, { 4, "68k" }, { 8, "MIPS" }, { 20, "PowerPC" }, { 21, "PowerPC64" },
		{ 22, "s390" }, { 40, "Arm" }, { 42, "SuperH" }, { 43, "SPARC V9" }, { 50, "IA-64" }, { 62, "x86-64" },
		{ 83, "AVR" },
		{ 92, "OpenRISC" }, { 93, "ARC" }, { 94, "Xtensa" }, { 105, "MSP430" }, { 164, "Hexagon" },
		{ 183, "AArch64" }, { 195, "ARC" }, { 224, "AMDGPU" }, { 243, "RISC-V" }, { 247, "BPF" }, { 258, "LoongArch" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == machine)
			return names[i].name;
	}
	say(number, size, "machine %u", machine);
	return number;
}

/* Which machines are meant by each family, and whether their code may be big-endian. */
static const struct {
	const char *name;
	unsigned int machines[2];
	bool has_big_endian;
} families[ITRACE_SYMBOLS_FAMILY_NUM] = {
	[ITRACE_SYMBOLS_FAMILY_ARM] = { "Arm", { ELF_MACHINE_ARM, ELF_MACHINE_AARCH64 }, false },
	[ITRACE_SYMBOLS_FAMILY_XTENSA] = { "Xtensa", { ELF_MACHINE_XTENSA, ELF_MACHINE_XTENSA }, true },
};

/* Check machine, class and byte order of an ELF header. @returns false with *why filled */
static bool elf_is_of_family(const char *path, const uint8_t *header, enum itrace_symbols_family family, char *why,
		size_t why_size)
{
	char number[32];

	if (header[5] != 1 && header[5] != 2) {
		say(why, why_size, "%s: ELF of unknown byte order %u", path, header[5]);
		return false;
	}
	bool is_big = header[5] == 2;
	unsigned int machine = get(header + 18, 2, is_big);
	if (machine != families[family].machines[0] && machine != families[family].machines[1]) {
		say(why, why_size, "%s: ELF for %s, not for %s", path, elf_machine_name(machine, number, sizeof(number)),
			families[family].name);
		return false;
	}
	if (is_big && !families[family].has_big_endian) {
		say(why, why_size, "%s: big-endian ELF, only little-endian code can be decoded", path);
		return false;
	}
	if (machine == ELF_MACHINE_XTENSA && header[4] != 1) {
		say(why, why_size, "%s: bad ELF: for Xtensa, but of the 64-bit class", path);
		return false;
	}
	return true;
}

/* A loadable segment of an ELF as its header says. */
struct load {
	uint64_t off;
	uint64_t addr;
	uint64_t len;
};

/*
 * Check the headers of an ELF of @a size bytes and list its loadable segments.
 * @param[out] loads the caller's to free
 * @returns false with *why filled
 */
static bool elf_loads(const char *path, const uint8_t *header, uint64_t size, enum itrace_symbols_family family,
		struct load **loads, size_t *count, char *why, size_t why_size)
{
	*loads = NULL;
	*count = 0;
	if (!size) {
		say(why, why_size, "%s: empty file", path);
		return false;
	}
	if (size < 4 || memcmp(header, "\177ELF", 4)) {
		say(why, why_size, "%s: not an ELF file", path);
		return false;
	}
	bool is_64 = header[4] == 2;
	if (size < ELF_IDENT_LEN || size < (is_64 ? ELF64_HEADER_LEN : ELF32_HEADER_LEN)) {
		say(why, why_size, "%s: ELF cut off at %" PRIu64 " bytes", path, size);
		return false;
	}
	if (header[4] != 1 && header[4] != 2) {
		say(why, why_size, "%s: ELF of unknown class %u", path, header[4]);
		return false;
	}
	if (!elf_is_of_family(path, header, family, why, why_size))
		return false;

	bool is_big = header[5] == 2;
	uint64_t phoff = get_word(header + (is_64 ? 32 : 28), is_64, is_big);
	unsigned int entry_len = get(header + (is_64 ? 54 : 42), 2, is_big);
	unsigned int phnum = get(header + (is_64 ? 56 : 44), 2, is_big);
	if (!phnum) {
		bool is_linked = get(header + 16, 2, is_big) != ELF_TYPE_REL;
		say(why, why_size, "%s: %s, it has no loadable segments", path,
			is_linked ? "ELF without program headers" : "object file that is not linked");
		return false;
	}
	if (entry_len < (is_64 ? ELF64_PHDR_LEN : ELF32_PHDR_LEN) || phnum == ELF_PHNUM_ESCAPE) {
		say(why, why_size, "%s: bad ELF: %u program headers of %u bytes", path, phnum, entry_len);
		return false;
	}
	uint64_t table_len = (uint64_t)entry_len * phnum;
	if (phoff > size || table_len > size - phoff) {
		say(why, why_size, "%s: cut off at %" PRIu64 " bytes: program headers end at 0x%" PRIx64, path, size,
			phoff > UINT64_MAX - table_len ? UINT64_MAX : phoff + table_len);
		return false;
	}

	struct load *list = malloc(phnum * sizeof(*list));
	bool is_ok = false;
	size_t n = 0;
	if (!list) {
		say(why, why_size, "%s: no memory for %u program headers", path, phnum);
		return false;
	}
	for (unsigned int i = 0; i < phnum; i++) {
		const uint8_t *entry = header + phoff + (size_t)i * entry_len;
		if (get(entry, 4, is_big) != ELF_SEGMENT_LOAD)
			continue;
		uint64_t off = get_word(entry + (is_64 ? 8 : 4), is_64, is_big);
		uint64_t addr = get_word(entry + (is_64 ? 16 : 8), is_64, is_big);
		uint64_t file_len = get_word(entry + (is_64 ? 32 : 16), is_64, is_big);
		uint64_t mem_len = get_word(entry + (is_64 ? 40 : 20), is_64, is_big);
		if (!file_len)
			continue;
		if (file_len > mem_len) {
			say(why, why_size, "%s: bad ELF: segment at 0x%" PRIx64 " has %" PRIu64 " bytes in the file, but %" PRIu64
				" in memory", path, addr, file_len, mem_len);
			goto done;
		}
		if (off > size || file_len > size - off) {
			say(why, why_size, "%s: cut off at %" PRIu64 " bytes: segment at 0x%" PRIx64 " needs 0x%" PRIx64
				" bytes from offset 0x%" PRIx64, path, size, addr, file_len, off);
			goto done;
		}
		list[n].off = off;
		list[n].addr = addr;
		list[n].len = file_len;
		n++;
	}
	is_ok = true;
done:
	if (!is_ok) {
		free(list);
		return false;
	}
	*loads = list;
	*count = n;
	return true;
}

/* Make segments of @a loads. @returns false with *why filled */
static bool file_make_segments(const struct file *file, const struct load *loads, size_t count,
		struct itrace_segment *segments, char *why, size_t why_size)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t addr = loads[i].addr + file->offset;
		if (loads[i].len > UINT64_MAX - addr) {
			say(why, why_size, "%s: segment at 0x%" PRIx64 " of 0x%" PRIx64
				" bytes passes the end of the address space", file->name, addr, loads[i].len);
			return false;
		}
		segments[i].addr = addr;
		segments[i].len = loads[i].len;
		segments[i].data = file->bytes + loads[i].off;
		segments[i].space = ITRACE_SPACE_ANY;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* symbols of one file */

#if WITH_ELFUTILS

/* Whether the section headers of an ELF that elf_loads() accepted, and with them its symbols, are behind its end. */
static bool elf_sections_cut(const uint8_t *header, uint64_t size)
{
	bool is_64 = header[4] == 2;
	bool is_big = header[5] == 2;
	uint64_t shoff = get_word(header + (is_64 ? 40 : 32), is_64, is_big);
	uint64_t len = (uint64_t)get(header + (is_64 ? 58 : 46), 2, is_big) * get(header + (is_64 ? 60 : 48), 2, is_big);

	return shoff && (shoff > size || len > size - shoff);
}

static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] >= 'a' && name[1] <= 'z' && (!name[2] || name[2] == '.');
}

/* A label that the compiler or the assembler made for itself; some linkers keep them. */
static bool is_compiler_label(const char *name)
{
	return name[0] == '.' && name[1] == 'L';
}

static bool file_add_mapping(struct file *file, uint64_t addr, uint64_t end, char letter, bool is_a64)
{
	struct mapping mapping = { .addr = addr, .end = end, .order = (uint32_t)file->mapping_count };

	switch (letter) {
	case 'x':
		mapping.content = ITRACE_SYMBOLS_CONTENT_A64;
		break;
	case 'a':
		mapping.content = ITRACE_SYMBOLS_CONTENT_A32;
		break;
	case 't':
		mapping.content = ITRACE_SYMBOLS_CONTENT_T32;
		break;
	case 'd':
		mapping.content = ITRACE_SYMBOLS_CONTENT_DATA;
		break;
	default:
		return true;
	}
	if (is_a64 != (letter == 'x') && letter != 'd')
		return true;
	/* grows by doubling: the count is a power of two when it is full */
	if (!(file->mapping_count & (file->mapping_count - 1))) {
		size_t room = file->mapping_count ? file->mapping_count * 2 : 1;
		struct mapping *mappings = realloc(file->mappings, room * sizeof(*mappings));
		if (!mappings)
			return false;
		file->mappings = mappings;
	}
	file->mappings[file->mapping_count++] = mapping;
	return true;
}

static int mapping_compare(const void *left, const void *right)
{
	const struct mapping *a = left;
	const struct mapping *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* What a section is to its symbols. */
struct section {
	uint64_t end;		/* address behind it, offset of the file added */
	bool is_code;
	bool is_there;
};

/* Xtensa's constants stand in sections that may be marked as code. */
static bool is_literal_section(const struct file *file, const char *name)
{
	return file->machine == ELF_MACHINE_XTENSA && name && (strstr(name, ".literal") || !strncmp(name, ".lit4", 5));
}

static struct section *file_sections(struct file *file, size_t *count)
{
	size_t strings;

	*count = 0;
	if (elf_getshdrnum(file->elf, count) || !*count)
		return NULL;
	if (elf_getshdrstrndx(file->elf, &strings))
		strings = SHN_UNDEF;
	struct section *sections = calloc(*count, sizeof(*sections));
	if (!sections)
		return NULL;
	Elf_Scn *scn = NULL;
	while ((scn = elf_nextscn(file->elf, scn))) {
		GElf_Shdr shdr;
		size_t ndx = elf_ndxscn(scn);
		if (ndx >= *count || !gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
			continue;
		sections[ndx].is_there = true;
		sections[ndx].is_code = shdr.sh_flags & SHF_EXECINSTR &&
			!is_literal_section(file, elf_strptr(file->elf, strings, shdr.sh_name));
		uint64_t start = shdr.sh_addr + file->offset;
		sections[ndx].end = shdr.sh_size > UINT64_MAX - start ? UINT64_MAX : start + shdr.sh_size;
	}
	return sections;
}

/* Better symbols of the same address first. */
static int symbol_rank(const struct itrace_symbol *symbol)
{
	return (symbol->is_function ? 0 : 4) + (symbol->is_sized ? 0 : 2) + (symbol->is_global ? 0 : 1);
}

/* A candidate for look-ups by address. */
struct candidate {
	uint64_t addr;
	uint64_t section_end;
	uint32_t index;
	uint8_t rank;
};

static int candidate_compare(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Make file->names of @a count candidates. */
static bool file_index_names(struct file *file, struct candidate *candidates, size_t count)
{
	struct intervals gaps = { 0 };
	size_t n = 0;

	qsort(candidates, count, sizeof(*candidates), candidate_compare);
	for (size_t i = 0; i < count; i++) {
		if (!n || candidates[n - 1].addr != candidates[i].addr)
			candidates[n++] = candidates[i];
	}
	for (size_t i = 0; i < n; i++) {
		const struct itrace_symbol *symbol = &file->syms[candidates[i].index];
		uint64_t end = symbol->len > UINT64_MAX - symbol->addr ? UINT64_MAX : symbol->addr + symbol->len;
		if (symbol->is_sized && !intervals_add(&file->names, symbol->addr, end, candidates[i].index))
			return false;
	}
	if (!intervals_flatten(&file->names))
		return false;

	/* symbols without a size fill what is left, each up to the next symbol */
	for (size_t i = 0; i < n; i++) {
		struct itrace_symbol *symbol = &file->syms[candidates[i].index];
		if (symbol->is_sized)
			continue;
		uint64_t end = candidates[i].section_end;
		if (i + 1 < n && candidates[i + 1].addr < end)
			end = candidates[i + 1].addr;
		if (intervals_find(&file->names, symbol->addr) || end <= symbol->addr)
			continue;
		symbol->len = end - symbol->addr;
		if (!intervals_add(&gaps, symbol->addr, end, candidates[i].index))
			goto failed;
	}
	/* no two overlap, but sorting and flattening does no harm and keeps one way of doing it */
	for (size_t i = 0; i < gaps.count; i++) {
		if (!intervals_add(&file->names, gaps.items[i].start, gaps.items[i].end, gaps.items[i].index))
			goto failed;
	}
	free(gaps.items);
	return intervals_flatten(&file->names);

failed:
	free(gaps.items);
	return false;
}

/* @returns false when there is no memory */
static bool file_read_symbols(struct file *file, uint8_t source)
{
	Elf_Scn *table = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Ehdr ehdr;
	bool is_full = false;
	size_t section_count;

	if (!gelf_getehdr(file->elf, &ehdr))
		return true;
	bool is_a64 = ehdr.e_machine == EM_AARCH64;
	bool is_arm = ehdr.e_machine == EM_ARM;
	while (!is_full && (scn = elf_nextscn(file->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr))
			continue;
		if (shdr.sh_type == SHT_SYMTAB || (shdr.sh_type == SHT_DYNSYM && !table)) {
			table = scn;
			is_full = shdr.sh_type == SHT_SYMTAB;
		}
	}
	if (!table || !gelf_getshdr(table, &shdr))
		return true;
	Elf_Data *data = elf_getdata(table, NULL);
	size_t entry_len = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (!data || !entry_len || data->d_size / entry_len > INT_MAX)
		return true;
	size_t count = data->d_size / entry_len;

	struct section *sections = file_sections(file, &section_count);
	struct candidate *candidates = calloc(count ? count : 1, sizeof(*candidates));
	file->syms = calloc(count ? count : 1, sizeof(*file->syms));
	file->kinds = calloc(count ? count : 1, sizeof(*file->kinds));
	size_t candidate_count = 0;
	bool is_ok = false;
	if (!candidates || !file->syms || !file->kinds)
		goto done;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym))
			continue;
		if (sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_COMMON)
			continue;
		unsigned int type = GELF_ST_TYPE(sym.st_info);
		/* 13: STT_ARM_TFUNC of old tools */
		bool is_old_thumb = is_arm && type == 13;
		bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC || is_old_thumb;
		if (!is_function && type != STT_NOTYPE && type != STT_OBJECT)
			continue;
		const char *name = elf_strptr(file->elf, shdr.sh_link, sym.st_name);
		if (!name || !*name)
			continue;

		const struct section *section = NULL;
		if (sections && sym.st_shndx < section_count && sections[sym.st_shndx].is_there)
			section = &sections[sym.st_shndx];
		uint64_t addr = sym.st_value;
		if (is_function && is_arm)
			addr &= ~(uint64_t)1;
		addr += file->offset;
		if (type == STT_NOTYPE && (is_a64 || is_arm) && is_mapping_symbol(name)) {
			if (section && !file_add_mapping(file, addr, section->end, name[1], is_a64))
				goto done;
			continue;
		}

		bool is_label = type == STT_NOTYPE && section && section->is_code && !is_compiler_label(name);
		struct itrace_symbol *symbol = &file->syms[file->sym_count];
		symbol->addr = addr;
		symbol->len = sym.st_size;
		symbol->name = name;
		symbol->source = source;
		symbol->is_function = is_function;
		symbol->is_global = GELF_ST_BIND(sym.st_info) != STB_LOCAL;
		symbol->is_sized = sym.st_size;
		file->kinds[file->sym_count] = is_function ? KIND_FUNCTION : is_label ? KIND_LABEL : KIND_OBJECT;
		if (is_function || is_label) {
			struct candidate *candidate = &candidates[candidate_count++];
			candidate->addr = addr;
			candidate->section_end = section ? section->end : addr < UINT64_MAX - 4 ? addr + 4 : UINT64_MAX;
			candidate->index = (uint32_t)file->sym_count;
			candidate->rank = (uint8_t)symbol_rank(symbol);
		}
		file->sym_count++;
	}
	is_ok = file_index_names(file, candidates, candidate_count);
	if (file->mapping_count)
		qsort(file->mappings, file->mapping_count, sizeof(*file->mappings), mapping_compare);
done:
	free(candidates);
	free(sections);
	return is_ok;
}

/* @returns false when there is no memory. What elfutils cannot make sense of is left out. */
static bool file_open_elf(struct file *file, uint8_t source)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return true;
	file->elf = elf_memory((char *)file->bytes, (size_t)file->size);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return true;
	return file_read_symbols(file, source);
}

#endif /* WITH_ELFUTILS */

/* ------------------------------------------------------------------------------------------------------------------ */
/* the set of files */

struct itrace_symbols *itrace_symbols_new(void)
{
	return calloc(1, sizeof(struct itrace_symbols));
}

void itrace_symbols_set_family(struct itrace_symbols *symbols, enum itrace_symbols_family family)
{
	symbols->family = family;
}

void itrace_symbols_free(struct itrace_symbols *symbols)
{
	if (!symbols)
		return;
	for (unsigned int i = 0; i < symbols->file_count; i++)
		file_free(symbols->files[i]);
	free(symbols->segments);
	free(symbols->by_name);
	free(symbols);
}

static void symbols_forget(struct itrace_symbols *symbols)
{
	memset(symbols->names, 0, sizeof(symbols->names));
#if WITH_ELFUTILS
	memset(symbols->lines, 0, sizeof(symbols->lines));
#endif
	free(symbols->by_name);
	symbols->by_name = NULL;
	symbols->by_name_count = 0;
	symbols->is_by_name_made = false;
}

/* Make room for @a count more segments. @returns NULL when there is no memory */
static struct itrace_segment *symbols_segment_room(struct itrace_symbols *symbols, size_t count)
{
	size_t total = symbols->segment_count + count;
	struct itrace_segment *segments = realloc(symbols->segments, (total ? total : 1) * sizeof(*segments));
	if (!segments)
		return NULL;
	symbols->segments = segments;
	memset(segments + symbols->segment_count, 0, count * sizeof(*segments));
	return segments + symbols->segment_count;
}

/* @returns the number of the file */
static int symbols_keep(struct itrace_symbols *symbols, struct file *file, size_t segment_count)
{
	unsigned int number = symbols->file_count++;

	symbols->files[number] = file;
	for (size_t i = 0; i < segment_count; i++)
		symbols->segments[symbols->segment_count + i].source = (uint8_t)number;
	symbols->segment_count += segment_count;
	symbols_forget(symbols);
	return (int)number;
}

/* Read @a path into a file that has no number yet. @returns NULL with *why filled */
static struct file *symbols_read(const struct itrace_symbols *symbols, const char *path, uint64_t offset, char *why,
		size_t why_size)
{
	uint64_t size;

	why[0] = 0;
	if (symbols->file_count == ITRACE_SYMBOLS_SOURCES_MAX) {
		say(why, why_size, "%s: at most %u files", path, ITRACE_SYMBOLS_SOURCES_MAX);
		return NULL;
	}
	uint8_t *bytes = read_file(path, &size, why, why_size);
	if (!bytes)
		return NULL;
	struct file *file = file_new(path, offset);
	if (!file) {
		say(why, why_size, "%s: no memory", path);
		free(bytes);
		return NULL;
	}
	file->bytes = bytes;
	file->size = size;
	return file;
}

int itrace_symbols_add_elf(struct itrace_symbols *symbols, const char *path, uint64_t offset, char *why,
		size_t why_size)
{
	struct load *loads = NULL;
	size_t count = 0;

	struct file *file = symbols_read(symbols, path, offset, why, why_size);
	if (!file)
		return -1;
	if (!elf_loads(path, file->bytes, file->size, symbols->family, &loads, &count, why, why_size))
		goto failed;
	file->machine = get(file->bytes + 18, 2, file->bytes[5] == 2);
	struct itrace_segment *segments = symbols_segment_room(symbols, count);
	if (!segments) {
		say(why, why_size, "%s: no memory", path);
		goto failed;
	}
	if (!file_make_segments(file, loads, count, segments, why, why_size))
		goto failed;
#if WITH_ELFUTILS
	if (!file_open_elf(file, (uint8_t)symbols->file_count)) {
		say(why, why_size, "%s: no memory for its symbols", path);
		goto failed;
	}
	if (!file->names.count)
		say(why, why_size, "%s: no symbols of functions in it%s", path, elf_sections_cut(file->bytes, file->size) ?
			": the file is cut off before its section headers" : "");
#else
	if (!symbols->is_told)
		say(why, why_size, "built without elfutils: no symbols and no source lines");
	symbols->is_told = true;
#endif
	if (!count && !file->names.count) {
		say(why, why_size, "%s: no loadable bytes in it", path);
		goto failed;
	}
	free(loads);
	return symbols_keep(symbols, file, count);

failed:
	free(loads);
	file_free(file);
	return -1;
}

int itrace_symbols_add_image(struct itrace_symbols *symbols, const char *path, uint64_t addr, char *why,
		size_t why_size)
{
	struct file *file = symbols_read(symbols, path, 0, why, why_size);
	if (!file)
		return -1;
	if (!file->size) {
		say(why, why_size, "%s: empty file", path);
		file_free(file);
		return -1;
	}
	struct load load = { .addr = addr, .len = file->size };
	struct itrace_segment *segments = symbols_segment_room(symbols, 1);
	if (!segments)
		say(why, why_size, "%s: no memory", path);
	if (!segments || !file_make_segments(file, &load, 1, segments, why, why_size)) {
		file_free(file);
		return -1;
	}
	return symbols_keep(symbols, file, 1);
}

int itrace_symbols_add_source(struct itrace_symbols *symbols, const char *name)
{
	if (symbols->file_count == ITRACE_SYMBOLS_SOURCES_MAX)
		return -1;
	struct file *file = file_new(name, 0);
	if (!file)
		return -1;
	return symbols_keep(symbols, file, 0);
}

const char *itrace_symbols_source_name(const struct itrace_symbols *symbols, unsigned int source)
{
	return source < symbols->file_count ? symbols->files[source]->name : NULL;
}

unsigned int itrace_symbols_word_size(const struct itrace_symbols *symbols, unsigned int source)
{
	unsigned int machine = source < symbols->file_count ? symbols->files[source]->machine : 0;

	if (machine == ELF_MACHINE_AARCH64)
		return 64;
	return machine == ELF_MACHINE_ARM || machine == ELF_MACHINE_XTENSA ? 32 : 0;
}

unsigned int itrace_symbols_source_count(const struct itrace_symbols *symbols)
{
	return symbols->file_count;
}

const struct itrace_segment *itrace_symbols_segments(const struct itrace_symbols *symbols, size_t *count)
{
	*count = symbols->segment_count;
	return symbols->segment_count ? symbols->segments : NULL;
}

bool itrace_symbols_have_names(const struct itrace_symbols *symbols)
{
	for (unsigned int i = 0; i < symbols->file_count; i++) {
		if (symbols->files[i]->names.count)
			return true;
	}
	return false;
}

const struct itrace_symbol *itrace_symbols_find(struct itrace_symbols *symbols, uint64_t addr, uint64_t *off)
{
	struct name_memo *memo = &symbols->names[memo_index(addr)];

	if (!memo->is_used || memo->addr != addr) {
		memo->addr = addr;
		memo->is_used = true;
		memo->symbol = NULL;
		for (unsigned int i = 0; !memo->symbol && i < symbols->file_count; i++) {
			const struct interval *found = intervals_find(&symbols->files[i]->names, addr);
			if (found)
				memo->symbol = &symbols->files[i]->syms[found->index];
		}
	}
	if (memo->symbol && off)
		*off = addr - memo->symbol->addr;
	return memo->symbol;
}

static int by_name_compare(const void *left, const void *right)
{
	const struct by_name *a = left;
	const struct by_name *b = right;
	int order = strcmp(a->symbol->name, b->symbol->name);

	if (order)
		return order;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->symbol->is_global != b->symbol->is_global)
		return a->symbol->is_global ? -1 : 1;
	if (a->symbol->source != b->symbol->source)
		return a->symbol->source < b->symbol->source ? -1 : 1;
	return a->symbol->addr < b->symbol->addr ? -1 : a->symbol->addr > b->symbol->addr;
}

static void symbols_make_by_name(struct itrace_symbols *symbols)
{
	size_t count = 0;

	symbols->is_by_name_made = true;
	for (unsigned int i = 0; i < symbols->file_count; i++)
		count += symbols->files[i]->sym_count;
	if (!count)
		return;
	symbols->by_name = malloc(count * sizeof(*symbols->by_name));
	if (!symbols->by_name)
		return;
	for (unsigned int i = 0; i < symbols->file_count; i++) {
		const struct file *file = symbols->files[i];
		for (size_t n = 0; n < file->sym_count; n++) {
			symbols->by_name[symbols->by_name_count].symbol = &file->syms[n];
			symbols->by_name[symbols->by_name_count++].kind = file->kinds[n];
		}
	}
	qsort(symbols->by_name, symbols->by_name_count, sizeof(*symbols->by_name), by_name_compare);
}

unsigned int itrace_symbols_range(struct itrace_symbols *symbols, const char *name, uint64_t *start, uint64_t *end)
{
	size_t low = 0;

	if (!symbols->is_by_name_made)
		symbols_make_by_name(symbols);
	size_t high = symbols->by_name_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(symbols->by_name[middle].symbol->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == symbols->by_name_count || strcmp(symbols->by_name[low].symbol->name, name))
		return 0;

	const struct by_name *first = &symbols->by_name[low];
	unsigned int places = 1;
	uint64_t last = first->symbol->addr;
	for (size_t i = low + 1; i < symbols->by_name_count; i++) {
		const struct by_name *other = &symbols->by_name[i];
		if (other->kind != first->kind || other->symbol->is_global != first->symbol->is_global ||
			strcmp(other->symbol->name, name))
			break;
		if (other->symbol->addr != last && other->symbol->addr != first->symbol->addr && places < UINT_MAX)
			places++;
		last = other->symbol->addr;
	}

	if (start)
		*start = first->symbol->addr;
	if (end) {
		uint64_t len = first->symbol->len;
		if (!len && first->kind != KIND_OBJECT) {
			/* another symbol at the same address has the length */
			const struct interval *found = intervals_find(&symbols->files[first->symbol->source]->names,
				first->symbol->addr);
			if (found)
				len = found->end - first->symbol->addr;
		}
		*end = len > UINT64_MAX - first->symbol->addr ? UINT64_MAX : first->symbol->addr + len;
	}
	return places;
}

enum itrace_symbols_content itrace_symbols_content_at(struct itrace_symbols *symbols, uint64_t addr)
{
#if WITH_ELFUTILS
	for (unsigned int i = 0; i < symbols->file_count; i++) {
		const struct file *file = symbols->files[i];
		size_t low = 0;
		size_t high = file->mapping_count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (file->mappings[middle].addr <= addr)
				low = middle + 1;
			else
				high = middle;
		}
		if (low && addr < file->mappings[low - 1].end)
			return file->mappings[low - 1].content;
	}
#else
	(void)symbols;
	(void)addr;
#endif
	return ITRACE_SYMBOLS_CONTENT_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* debug information */

#if WITH_ELFUTILS

/*
 * Whether debug information that begins at address 0 is about real code: linkers give this address to functions that
 * they have thrown away.
 */
static bool file_has_code_at_zero(const struct file *file)
{
	const struct interval *found = intervals_find(&file->names, file->offset);
	return found && file->syms[found->index].is_function && file->syms[found->index].addr == file->offset;
}

/* Add the address ranges of @a die to @a list. @returns whether it has any */
static bool die_ranges(struct file *file, Dwarf_Die *die, struct intervals *list, uint32_t index)
{
	ptrdiff_t next = 0;
	Dwarf_Addr base;
	Dwarf_Addr start;
	Dwarf_Addr end;
	bool has_any = false;

	while (file->range_budget && (next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		file->range_budget--;
		if (start >= end || (!start && !file_has_code_at_zero(file)))
			continue;
		if (!intervals_add(list, start, end, index))
			return has_any;
		has_any = true;
	}
	return has_any;
}

/* Whether every text of the debug information ends inside its section: libdw relies on it. */
static bool file_texts_end(struct file *file)
{
	static const char * const names[] = { ".debug_str", ".debug_line_str", ".zdebug_str", ".zdebug_line_str" };
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(file->elf, &strings))
		return false;
	while ((scn = elf_nextscn(file->elf, scn))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(file->elf, strings, shdr.sh_name) : NULL;
		for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
			if (strcmp(name, names[i]))
				continue;
			const Elf_Data *data = elf_rawdata(scn, NULL);
			if (data && data->d_size && (!data->d_buf || ((const char *)data->d_buf)[data->d_size - 1]))
				return false;
		}
	}
	return true;
}

static void file_open_dwarf(struct file *file)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	size_t room = 0;

	file->is_dwarf_tried = true;
	if (!file->elf)
		return;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!file->dwarf || !file_texts_end(file))
		return;
	while (!dwarf_get_units(file->dwarf, cu, &cu, &version, &type, &die, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (file->unit_count == room) {
			room = room ? room * 2 : 16;
			struct unit *units = realloc(file->units, room * sizeof(*units));
			if (!units)
				return;
			file->units = units;
		}
		if (!die_ranges(file, &die, &file->unit_code, (uint32_t)file->unit_count))
			continue;
		memset(&file->units[file->unit_count], 0, sizeof(file->units[0]));
		file->units[file->unit_count++].die = die;
	}
	intervals_flatten(&file->unit_code);
}

/* Whether functions may be found inside an entry of this kind. */
static bool is_container(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

static uint32_t unit_add_scope(struct unit *unit, const Dwarf_Die *die, uint32_t parent, bool is_inlined)
{
	if (unit->scope_count == unit->scope_room) {
		size_t room = unit->scope_room ? unit->scope_room * 2 : 16;
		struct scope *scopes = realloc(unit->scopes, room * sizeof(*scopes));
		if (!scopes)
			return NONE;
		unit->scopes = scopes;
		unit->scope_room = room;
	}
	struct scope *scope = &unit->scopes[unit->scope_count];
	scope->die = *die;
	scope->parent = parent;
	scope->is_inlined = is_inlined;
	return (uint32_t)unit->scope_count++;
}

/* List the functions of @a unit and what is inlined into them. */
static void unit_walk(struct file *file, struct unit *unit)
{
	Dwarf_Die dies[DIE_DEPTH_MAX];
	uint32_t parents[DIE_DEPTH_MAX];
	unsigned int depth = 0;

	unit->is_walked = true;
	if (dwarf_child(&unit->die, &dies[0]))
		return;
	parents[0] = NONE;

	while (file->die_budget) {
		file->die_budget--;
		Dwarf_Die *die = &dies[depth];
		uint32_t parent = parents[depth];
		int tag = dwarf_tag(die);
		bool is_inlined = tag == DW_TAG_inlined_subroutine;
		bool goes_down = is_container(tag);

		if (is_inlined || tag == DW_TAG_subprogram) {
			uint32_t scope = unit_add_scope(unit, die, is_inlined ? parent : NONE, is_inlined);
			if (scope == NONE)
				break;
			goes_down = die_ranges(file, die, &unit->code, scope);
			parent = scope;
			if (!goes_down)
				unit->scope_count--;
		}
		if (goes_down && depth + 1 < DIE_DEPTH_MAX && !dwarf_child(die, &dies[depth + 1])) {
			parents[++depth] = parent;
			continue;
		}
		while (dwarf_siblingof(&dies[depth], &dies[depth])) {
			if (!depth)
				goto done;
			depth--;
		}
	}
done:
	intervals_flatten(&unit->code);
}

/* @param[out] local @a addr as the file has it */
static struct unit *symbols_unit(struct itrace_symbols *symbols, uint64_t addr, struct file **owner, uint64_t *local)
{
	for (unsigned int i = 0; i < symbols->file_count; i++) {
		struct file *file = symbols->files[i];
		if (!file->elf)
			continue;
		if (!file->is_dwarf_tried)
			file_open_dwarf(file);
		*local = addr - file->offset;
		const struct interval *found = intervals_find(&file->unit_code, *local);
		if (found) {
			*owner = file;
			return &file->units[found->index];
		}
	}
	return NULL;
}

static void unit_line(struct unit *unit, uint64_t local, struct itrace_source_line *at)
{
	int number = 0;

	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, local);
	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return;
	at->file = dwarf_linesrc(line, NULL, NULL);
	at->line = at->file ? (unsigned int)number : 0;
}

/* Where the call of an inlined function stands. */
static void scope_call(struct unit *unit, struct scope *scope, struct itrace_source_line *at)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file_index;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t count;

	at->file = NULL;
	at->line = 0;
	if (!dwarf_attr(&scope->die, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &file_index))
		return;
	if (dwarf_getsrcfiles(&unit->die, &files, &count) || file_index >= count)
		return;
	at->file = dwarf_filesrc(files, (size_t)file_index, NULL, NULL);
	if (!at->file || !dwarf_attr(&scope->die, DW_AT_call_line, &attribute) ||
		dwarf_formudata(&attribute, &number) || number > UINT_MAX)
		return;
	at->line = (unsigned int)number;
}

#endif /* WITH_ELFUTILS */

bool itrace_symbols_line(struct itrace_symbols *symbols, uint64_t addr, struct itrace_source_line *at)
{
	at->file = NULL;
	at->line = 0;
#if WITH_ELFUTILS
	struct line_memo *memo = &symbols->lines[memo_index(addr)];
	if (!memo->is_used || memo->addr != addr) {
		struct file *file;
		uint64_t local;
		memo->addr = addr;
		memo->is_used = true;
		memo->at = *at;
		struct unit *unit = symbols_unit(symbols, addr, &file, &local);
		if (unit)
			unit_line(unit, local, &memo->at);
	}
	*at = memo->at;
#else
	(void)symbols;
	(void)addr;
#endif
	return at->file;
}

unsigned int itrace_symbols_inlines(struct itrace_symbols *symbols, uint64_t addr, struct itrace_inline *chain,
		unsigned int max)
{
	unsigned int count = 0;

#if WITH_ELFUTILS
	struct file *file;
	uint64_t local;
	struct unit *unit = symbols_unit(symbols, addr, &file, &local);
	if (!unit)
		return 0;
	if (!unit->is_walked)
		unit_walk(file, unit);
	const struct interval *found = intervals_find(&unit->code, local);
	if (!found)
		return 0;
	if (max > ITRACE_SYMBOLS_INLINE_MAX)
		max = ITRACE_SYMBOLS_INLINE_MAX;

	struct itrace_source_line at;
	itrace_symbols_line(symbols, addr, &at);
	for (uint32_t index = found->index; index != NONE && count < max; index = unit->scopes[index].parent) {
		struct scope *scope = &unit->scopes[index];
		const char *name = dwarf_diename(&scope->die);
		chain[count].function = name ? name : "?";
		chain[count++].at = at;
		if (!scope->is_inlined)
			break;
		scope_call(unit, scope, &at);
	}
#else
	(void)symbols;
	(void)addr;
	(void)chain;
	(void)max;
#endif
	return count;
}

#if WITH_ELFUTILS
#define STRING_OF(x)	#x
#define NUMBER_OF(x)	STRING_OF(x)
#endif

const char *itrace_symbols_build(void)
{
#if WITH_ELFUTILS
#ifdef _ELFUTILS_VERSION
	return "elfutils 0." NUMBER_OF(_ELFUTILS_VERSION);
#else
	return "elfutils";
#endif
#else
	return "no elfutils";
#endif
}
