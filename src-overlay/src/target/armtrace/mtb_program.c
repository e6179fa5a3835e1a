// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mtb_program.h"

/* a program for a microcontroller with all of its debug information */
#define FILE_MAX	(512u * 1024 * 1024)

#define ELF_HEADER_LEN	52u
#define SECTION_LEN	40u
#define SEGMENT_LEN	32u
#define SYMBOL_LEN	16u
#define MACHINE_ARM	40u

#define SECTION_PROGBITS	1u
#define SECTION_SYMTAB	2u
#define SECTION_NOBITS	8u
#define SECTION_ALLOC	2u	/* flag */
#define SEGMENT_LOAD	1u
#define MORE_SEGMENTS	0xffffu	/* their number is elsewhere */

/* of sections and of segments together, far more than a linker script makes */
#define HEADERS_MAX	4096u

enum symbol_type { TYPE_NONE = 0, TYPE_OBJECT = 1, TYPE_FUNCTION = 2 };

static uint32_t word(const struct arm_mtb_program *program, size_t off)
{
	const uint8_t *at = program->data + off;

	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t half(const struct arm_mtb_program *program, size_t off)
{
	return program->data[off] | (uint32_t)program->data[off + 1] << 8;
}

static bool inside(const struct arm_mtb_program *program, uint64_t off, uint64_t len)
{
	return off <= program->len && len <= program->len - off;
}

/* Bytes of a table of names up to its last 0: a name that begins there ends there. */
static uint32_t names_len(const struct arm_mtb_program *program, uint32_t table, uint32_t len)
{
	while (len && program->data[table + len - 1])
		len--;
	return len;
}

static const char *name_at(const struct arm_mtb_program *program, uint32_t table, uint32_t len, uint32_t off)
{
	return off < len ? (const char *)program->data + table + off : "";
}

static bool read_file(struct arm_mtb_program *program, const char *path, char *why, size_t why_size)
{
	struct stat info;
	long len = -1;

	/* opening a pipe would wait for somebody to write to it */
	if (!stat(path, &info) && !S_ISREG(info.st_mode)) {
		snprintf(why, why_size, "%s: not an ELF file", path);
		return false;
	}
	FILE *file = fopen(path, "rb");
	if (!file) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		return false;
	}
	if (!fseek(file, 0, SEEK_END))
		len = ftell(file);
	if (len < (long)ELF_HEADER_LEN || len > (long)FILE_MAX || fseek(file, 0, SEEK_SET)) {
		snprintf(why, why_size, "%s: not an ELF file", path);
		fclose(file);
		return false;
	}
	program->data = malloc((size_t)len);
	if (program->data)
		program->len = fread(program->data, 1, (size_t)len, file);
	const bool complete = program->data && program->len == (size_t)len;
	if (!complete)
		snprintf(why, why_size, "%s: %s", path, program->data ? "cannot be read" : "out of memory");
	fclose(file);
	return complete;
}

static bool check_header(const struct arm_mtb_program *program, char *why, size_t why_size)
{
	if (memcmp(program->data, "\177ELF", 4)) {
		snprintf(why, why_size, "%s: not an ELF file", program->path);
		return false;
	}
	if (program->data[4] != 1 || program->data[5] != 1 || half(program, 18) != MACHINE_ARM) {
		snprintf(why, why_size, "%s: not a program for a Cortex-M (32 bit, little-endian, Arm)", program->path);
		return false;
	}
	return true;
}

/* Offset of a section's header. */
static size_t section(const struct arm_mtb_program *program, uint32_t index)
{
	return program->sections + (size_t)index * SECTION_LEN;
}

/* Offset of a segment's header. */
static size_t segment(const struct arm_mtb_program *program, uint32_t index)
{
	return program->segments + (size_t)index * SEGMENT_LEN;
}

/* Is @a what whole, which begins at @a off? @returns false: why */
static bool check_whole(const struct arm_mtb_program *program, const char *what, uint32_t off, uint64_t len, char *why,
		size_t why_size)
{
	if (inside(program, off, len))
		return true;
	snprintf(why, why_size, "%s: cut off at %zu bytes: %s end at 0x%" PRIx64, program->path, program->len, what,
			off + len);
	return false;
}

/* Can it be in a memory of 32-bit addresses? @returns false: why */
static bool check_place(const struct arm_mtb_program *program, const char *what, uint32_t index, uint32_t addr,
		uint32_t len, char *why, size_t why_size)
{
	if (len <= UINT64_C(0x100000000) - addr)
		return true;
	snprintf(why, why_size, "%s: damaged: %s %" PRIu32 " has 0x%" PRIx32 " bytes from 0x%08" PRIx32 " on",
			program->path, what, index, len, addr);
	return false;
}

static bool find_segments(struct arm_mtb_program *program, char *why, size_t why_size)
{
	program->segments = word(program, 28);
	program->segment_count = half(program, 44);
	if (!program->segment_count)
		return true;
	if (program->segments < ELF_HEADER_LEN || program->segment_count == MORE_SEGMENTS ||
			half(program, 42) != SEGMENT_LEN) {
		snprintf(why, why_size, "%s: damaged: %" PRIu32 " program headers of %" PRIu32 " bytes at 0x%" PRIx32,
				program->path, program->segment_count, half(program, 42), program->segments);
		return false;
	}
	if (!check_whole(program, "program headers", program->segments, (uint64_t)program->segment_count * SEGMENT_LEN,
			why, why_size))
		return false;
	for (uint32_t i = 0; i < program->segment_count; i++) {
		const size_t at = segment(program, i);
		if (word(program, at) != SEGMENT_LOAD)
			continue;
		if (!check_whole(program, "bytes of a segment", word(program, at + 4), word(program, at + 16), why, why_size) ||
				!check_place(program, "segment", i, word(program, at + 8), word(program, at + 20), why, why_size))
			return false;
	}
	return true;
}

/* The first symbol table of those that the file has. */
static bool take_symbols(struct arm_mtb_program *program, size_t at, char *why, size_t why_size)
{
	const uint32_t off = word(program, at + 16), len = word(program, at + 20), link = word(program, at + 24);

	if (program->symbols)
		return true;
	if (link >= program->section_count) {
		snprintf(why, why_size, "%s: damaged: the names of its symbols are in section %" PRIu32 " of %" PRIu32,
				program->path, link, program->section_count);
		return false;
	}
	const uint32_t text = word(program, section(program, link) + 16);
	const uint32_t text_len = word(program, section(program, link) + 20);
	if (!check_whole(program, "symbols", off, len, why, why_size) ||
			!check_whole(program, "names of symbols", text, text_len, why, why_size))
		return false;
	program->symbols = off;
	program->symbol_count = len / SYMBOL_LEN;
	program->names = text;
	program->names_len = names_len(program, text, text_len);
	return true;
}

/* What is not read, as debug information, can be missing. */
static bool take_section(struct arm_mtb_program *program, uint32_t index, char *why, size_t why_size)
{
	const size_t at = section(program, index);
	const uint32_t type = word(program, at + 4);

	if (type == SECTION_SYMTAB)
		return take_symbols(program, at, why, why_size);
	if (!(word(program, at + 8) & SECTION_ALLOC))
		return true;
	if (type != SECTION_NOBITS && !check_whole(program, "bytes of a section", word(program, at + 16),
			word(program, at + 20), why, why_size))
		return false;
	return check_place(program, "section", index, word(program, at + 12), word(program, at + 20), why, why_size);
}

static bool find_sections(struct arm_mtb_program *program, char *why, size_t why_size)
{
	program->sections = word(program, 32);
	program->section_count = half(program, 48);
	/* a program can have been stripped of them, but not of their number alone; more than fit there are in none */
	if (!program->sections && !program->section_count)
		return true;
	if (program->sections < ELF_HEADER_LEN || !program->section_count || half(program, 46) != SECTION_LEN) {
		snprintf(why, why_size, "%s: damaged: %" PRIu32 " section headers of %" PRIu32 " bytes at 0x%" PRIx32,
				program->path, program->section_count, half(program, 46), program->sections);
		return false;
	}
	if (!check_whole(program, "section headers", program->sections, (uint64_t)program->section_count * SECTION_LEN,
			why, why_size))
		return false;

	const uint32_t names = half(program, 50);
	if (names && names < program->section_count) {
		const size_t at = section(program, names);
		if (!check_whole(program, "names of sections", word(program, at + 16), word(program, at + 20), why, why_size))
			return false;
		program->section_names = word(program, at + 16);
		program->section_names_len = names_len(program, program->section_names, word(program, at + 20));
	}
	for (uint32_t i = 1; i < program->section_count; i++)
		if (!take_section(program, i, why, why_size))
			return false;
	return true;
}

/* They are looked at pair by pair. */
static bool check_number(const struct arm_mtb_program *program, char *why, size_t why_size)
{
	const uint32_t count = program->section_count + program->segment_count;

	if (count <= HEADERS_MAX)
		return true;
	snprintf(why, why_size, "%s: %" PRIu32 " section and program headers are more than the %u that this can use",
			program->path, count, HEADERS_MAX);
	return false;
}

/* ---- the vector table ---- */

/* Number @a index of what the file has bytes for. @returns false when there is no more; *len can be 0 */
static bool loaded_bytes(const struct arm_mtb_program *program, uint32_t index, uint32_t *addr, uint32_t *off,
		uint32_t *len)
{
	if (index >= program->section_count) {
		index -= program->section_count;
		if (index >= program->segment_count)
			return false;
		const size_t at = segment(program, index);
		*off = word(program, at + 4);
		*addr = word(program, at + 8);
		*len = word(program, at) == SEGMENT_LOAD ? word(program, at + 16) : 0;
		return true;
	}
	const size_t at = section(program, index);
	*addr = word(program, at + 12);
	*off = word(program, at + 16);
	*len = word(program, at + 4) == SECTION_PROGBITS && word(program, at + 8) & SECTION_ALLOC ?
			word(program, at + 20) : 0;
	return true;
}

static bool is_loaded(const struct arm_mtb_program *program, uint32_t where)
{
	uint32_t addr, off, len;

	for (uint32_t i = 0; loaded_bytes(program, i, &addr, &off, &len); i++)
		if (where >= addr && where - addr < len)
			return true;
	return false;
}

/* A stack, and the address of Thumb code that the program has. */
static bool is_vector_table(const struct arm_mtb_program *program, uint32_t off)
{
	const uint32_t stack = word(program, off), reset = word(program, (size_t)off + 4);

	return stack && !(stack & 3) && reset & 1 && is_loaded(program, reset & ~UINT32_C(1));
}

static void find_initial_stack(struct arm_mtb_program *program)
{
	uint64_t lowest = UINT64_MAX;
	uint32_t addr, off, len;

	for (uint32_t i = 0; loaded_bytes(program, i, &addr, &off, &len); i++) {
		/* the linker may have put the file's headers in front of a segment's code */
		if (len < 8 || addr >= lowest || !off || !inside(program, off, len) || !is_vector_table(program, off))
			continue;
		lowest = addr;
		program->stack = word(program, off);
	}
	program->has_stack = lowest != UINT64_MAX;
}

bool arm_mtb_program_stack(const struct arm_mtb_program *program, uint32_t *stack)
{
	*stack = program->stack;
	return program->has_stack;
}

/* ---- loading ---- */

/* A file that says of no address that it is taken would make all of them free. */
static bool check_loaded(const struct arm_mtb_program *program, char *why, size_t why_size)
{
	struct arm_mtb_span span;

	for (unsigned int i = ARM_MTB_PROGRAM_MARKED; arm_mtb_program_span(program, i, &span); i++)
		if (span.start < span.end)
			return true;
	snprintf(why, why_size, "%s: nothing of it is loaded into memory: give the linked program", program->path);
	return false;
}

/* Stretches that linker scripts give names to, both ends. */
static const struct {
	const char *start;
	const char *end;
	const char *what;
} markers[ARM_MTB_PROGRAM_MARKED - 1] = {
	{ "__StackLimit", "__StackTop", "the stack" },
	{ "__stack_limit", "__stack_top", "the stack" },
	{ "_sstack", "_estack", "the stack" },
	{ "__HeapBase", "__HeapLimit", "the heap" },
	{ "__heap_start__", "__heap_end__", "the heap" },
	{ "_sheap", "_eheap", "the heap" },
};

static void find_marked(struct arm_mtb_program *program)
{
	struct arm_mtb_span *top = &program->marked[ARM_MTB_PROGRAM_MARKED - 1];
	struct arm_mtb_symbol start, end;

	for (unsigned int i = 0; i < ARM_MTB_PROGRAM_MARKED - 1; i++) {
		if (!arm_mtb_program_symbol(program, markers[i].start, &start) ||
				!arm_mtb_program_symbol(program, markers[i].end, &end))
			continue;
		program->marked[i].start = start.addr;
		program->marked[i].end = end.addr;
		program->marked[i].name = markers[i].what;
	}
	if (program->has_stack && program->stack >= 8) {
		top->start = program->stack - 8;
		top->end = program->stack;
		top->name = "the stack";
	}
}

bool arm_mtb_program_knows_stack(const struct arm_mtb_program *program)
{
	bool known = program->has_stack;

	for (unsigned int i = 0; i < ARM_MTB_PROGRAM_MARKED - 1; i++)
		known |= program->marked[i].start < program->marked[i].end && !strcmp(markers[i].what, "the stack");
	return known;
}

bool arm_mtb_program_load(struct arm_mtb_program *program, const char *path, char *why, size_t why_size)
{
	memset(program, 0, sizeof(*program));
	program->path = strdup(path);
	if (!program->path) {
		snprintf(why, why_size, "out of memory");
		return false;
	}
	if (!read_file(program, path, why, why_size) || !check_header(program, why, why_size)) {
		arm_mtb_program_free(program);
		return false;
	}
	if (!find_segments(program, why, why_size) || !find_sections(program, why, why_size) ||
			!check_number(program, why, why_size) || !check_loaded(program, why, why_size)) {
		arm_mtb_program_free(program);
		return false;
	}
	find_initial_stack(program);
	find_marked(program);
	return true;
}

void arm_mtb_program_free(struct arm_mtb_program *program)
{
	free(program->path);
	free(program->data);
	memset(program, 0, sizeof(*program));
}

static bool segment_span(const struct arm_mtb_program *program, unsigned int index, struct arm_mtb_span *span)
{
	if (index >= program->segment_count)
		return false;
	const size_t at = segment(program, index);
	const bool loaded = word(program, at) == SEGMENT_LOAD;
	span->name = "segment";
	span->is_section = false;
	span->start = word(program, at + 8);
	span->end = span->start + (loaded ? word(program, at + 20) : 0);
	return true;
}

bool arm_mtb_program_span(const struct arm_mtb_program *program, unsigned int index, struct arm_mtb_span *span)
{
	if (index < ARM_MTB_PROGRAM_MARKED) {
		*span = program->marked[index];
		return true;
	}
	index -= ARM_MTB_PROGRAM_MARKED;

	/* sections first, which have names; a program can have been stripped of them */
	if (index >= program->section_count)
		return segment_span(program, index - program->section_count, span);

	const size_t at = section(program, index);
	const bool loaded = word(program, at + 8) & SECTION_ALLOC;
	span->is_section = true;
	span->name = name_at(program, program->section_names, program->section_names_len, word(program, at));
	span->start = word(program, at + 12);
	span->end = span->start + (loaded ? word(program, at + 20) : 0);
	return true;
}

/* 0: no address of the program, as those of files, sections and thread-local data */
static unsigned int rank(unsigned int info)
{
	const bool global = info >> 4;

	switch (info & 0xf) {
	case TYPE_FUNCTION:
		return 5 + global;
	case TYPE_OBJECT:
		return 3 + global;
	case TYPE_NONE:
		return 1 + global;
	default:
		return 0;
	}
}

static void get_symbol(const struct arm_mtb_program *program, uint32_t index, struct arm_mtb_symbol *symbol)
{
	const size_t at = program->symbols + (size_t)index * SYMBOL_LEN;

	symbol->name = name_at(program, program->names, program->names_len, word(program, at));
	symbol->addr = word(program, at + 4);
	symbol->size = word(program, at + 8);
	if ((program->data[at + 12] & 0xf) == TYPE_FUNCTION)
		symbol->addr &= ~UINT32_C(1);
}

static bool is_defined(const struct arm_mtb_program *program, uint32_t index)
{
	return half(program, program->symbols + (size_t)index * SYMBOL_LEN + 14) != 0;
}

static unsigned int symbol_info(const struct arm_mtb_program *program, uint32_t index)
{
	return program->data[program->symbols + (size_t)index * SYMBOL_LEN + 12];
}

bool arm_mtb_program_symbol(const struct arm_mtb_program *program, const char *name, struct arm_mtb_symbol *symbol)
{
	unsigned int best = 0;

	for (uint32_t i = 1; i < program->symbol_count; i++) {
		struct arm_mtb_symbol found;
		const unsigned int ranked = rank(symbol_info(program, i));
		if (ranked <= best || !is_defined(program, i))
			continue;
		get_symbol(program, i, &found);
		if (strcmp(found.name, name))
			continue;
		best = ranked;
		*symbol = found;
	}
	return best > 0;
}

bool arm_mtb_program_object(const struct arm_mtb_program *program, uint64_t start, uint64_t end,
		struct arm_mtb_symbol *symbol)
{
	for (uint32_t i = 1; i < program->symbol_count; i++) {
		if (!is_defined(program, i) || (symbol_info(program, i) & 0xf) != TYPE_OBJECT)
			continue;
		get_symbol(program, i, symbol);
		if (symbol->size && symbol->addr < end && (uint64_t)symbol->addr + symbol->size > start)
			return true;
	}
	return false;
}
