// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mtb_buffer.h"

/* the stack below its top, when nothing says how deep it can be */
#define STACK_GUESS	1024u
/* a free corner smaller than this is looked for between heap and stack too */
#define CORNER_ENOUGH	256u

const char *const arm_mtb_buffer_symbols[] = { "__mtb_buffer__", "mtb_buffer", NULL };

/* Addresses that are taken, and by whom. */
struct taken {
	uint64_t start;
	uint64_t end;
	const char *what;	/* "section", "the stack" ... */
	const char *name;	/* of the section; NULL: what says all */
	const struct arm_mtb_program *program;	/* NULL: none */
};

static uint64_t decoded(const struct arm_mtb_ram *ram)
{
	return UINT64_C(1) << ram->aw;
}

/* Bytes behind the RAM's base that can be used, as far as is known. */
static uint64_t usable(const struct arm_mtb_ram *ram)
{
	return ram->size && ram->size < decoded(ram) ? ram->size : decoded(ram);
}

uint32_t arm_mtb_position_of(const struct arm_mtb_ram *ram, uint32_t addr)
{
	return (uint32_t)(addr & (decoded(ram) - 1) & ~UINT64_C(7));
}

uint32_t arm_mtb_address_of(const struct arm_mtb_ram *ram, uint32_t position)
{
	return ram->base + (uint32_t)(((position & ~UINT32_C(7)) - (uint64_t)ram->base) & (decoded(ram) - 1));
}

uint32_t arm_mtb_mask_of(uint32_t size)
{
	uint32_t mask = 0;

	while (mask < 27 && UINT32_C(16) << mask < size)
		mask++;
	return mask;
}

/* ---- what is taken ---- */

/* Number @a index of what the program takes. @returns false when there is no more; empty ones are among them. */
static bool program_takes(const struct arm_mtb_program *program, unsigned int index, struct taken *taken)
{
	struct arm_mtb_span span;

	if (!arm_mtb_program_span(program, index, &span))
		return false;
	taken->start = span.start;
	taken->end = span.end;
	taken->what = span.is_section ? "section" : span.name;
	taken->name = span.is_section ? span.name : NULL;
	taken->program = program;
	return true;
}

static bool work_area_takes(const struct arm_mtb_neighbours *neighbours, struct taken *taken)
{
	memset(taken, 0, sizeof(*taken));
	taken->start = neighbours->work_area;
	taken->end = taken->start + neighbours->work_area_size;
	taken->what = "OpenOCD's working area";
	return neighbours->work_area_size != 0;
}

static bool meets(const struct taken *taken, uint64_t start, uint64_t end)
{
	return taken->start < taken->end && taken->start < end && taken->end > start;
}

/* The first thing that has a byte in [start, end). */
static bool find_taken(const struct arm_mtb_neighbours *neighbours, uint64_t start, uint64_t end, struct taken *taken)
{
	for (size_t i = 0; i < neighbours->program_count; i++)
		for (unsigned int j = 0; program_takes(&neighbours->programs[i], j, taken); j++)
			if (meets(taken, start, end))
				return true;
	return work_area_takes(neighbours, taken) && meets(taken, start, end);
}

/* ---- the check ---- */

/* Is it inside of what the program has for it? */
static bool is_reserved(const struct arm_mtb_buffer *buffer, const struct arm_mtb_neighbours *neighbours)
{
	for (size_t i = 0; i < neighbours->program_count; i++) {
		for (unsigned int j = 0; arm_mtb_buffer_symbols[j]; j++) {
			struct arm_mtb_symbol symbol;
			if (arm_mtb_program_symbol(&neighbours->programs[i], arm_mtb_buffer_symbols[j], &symbol) &&
					buffer->addr >= symbol.addr &&
					(uint64_t)buffer->addr + buffer->size <= (uint64_t)symbol.addr + symbol.size)
				return true;
		}
	}
	return false;
}

static void tell_taken(const struct arm_mtb_buffer *buffer, const struct taken *taken, char *why, size_t why_size)
{
	const uint64_t end = (uint64_t)buffer->addr + buffer->size;
	struct arm_mtb_symbol symbol;
	char object[160] = "";

	if (taken->program && taken->name && arm_mtb_program_object(taken->program, buffer->addr, end, &symbol))
		snprintf(object, sizeof(object), " (%.100s at 0x%08" PRIx32 ")", symbol.name, symbol.addr);
	snprintf(why, why_size, "the buffer 0x%08" PRIx32 "..0x%08" PRIx64 " overlaps %s%s%.60s 0x%08" PRIx64 "..0x%08"
			PRIx64 "%s%s%s: give another -buffer%s", buffer->addr, end - 1, taken->what, taken->name ? " " : "",
			taken->name ? taken->name : "", taken->start, taken->end - 1, object, taken->program ? " of " : "",
			taken->program ? taken->program->path : "",
			taken->program ? "" : ", or move that by the target's -work-area-phys");
}

static bool check_shape(const struct arm_mtb_buffer *buffer, const struct arm_mtb_ram *ram, char *why, size_t why_size)
{
	const uint64_t end = (uint64_t)buffer->addr + buffer->size;
	const uint64_t ram_end = (uint64_t)ram->base + usable(ram);

	if (buffer->size < ARM_MTB_BUFFER_MIN || buffer->size & (buffer->size - 1)) {
		snprintf(why, why_size, "the buffer's size %" PRIu32 " is no power of two of at least %u bytes", buffer->size,
				ARM_MTB_BUFFER_MIN);
		return false;
	}
	if (buffer->addr & (buffer->size - 1)) {
		snprintf(why, why_size, "the buffer 0x%08" PRIx32 " is not aligned to its size of 0x%" PRIx32 " bytes: the MTB "
				"would write from 0x%08" PRIx32 " on; take an aligned address", buffer->addr, buffer->size,
				buffer->addr & ~(buffer->size - 1));
		return false;
	}
	if (buffer->size > decoded(ram)) {
		snprintf(why, why_size, "the buffer's size 0x%" PRIx32 " is more than the 0x%" PRIx64 " bytes that this MTB "
				"addresses (AW %u)", buffer->size, decoded(ram), ram->aw);
		return false;
	}
	if (buffer->addr < ram->base || end > ram_end) {
		snprintf(why, why_size, "the buffer 0x%08" PRIx32 "..0x%08" PRIx64 " is not in the MTB's RAM 0x%08" PRIx32
				"..0x%08" PRIx64 "%s", buffer->addr, end - 1, ram->base, ram_end - 1,
				buffer->addr >= ram->base && end <= ram->base + decoded(ram) ? " (-ramsize)" :
				"; if that is wrong give -rambase");
		return false;
	}
	return true;
}

bool arm_mtb_buffer_check(const struct arm_mtb_buffer *buffer, const struct arm_mtb_ram *ram,
		const struct arm_mtb_neighbours *neighbours, char *why, size_t why_size)
{
	const uint64_t end = (uint64_t)buffer->addr + buffer->size;
	struct taken taken;

	if (!check_shape(buffer, ram, why, why_size))
		return false;
	if (work_area_takes(neighbours, &taken) && meets(&taken, buffer->addr, end)) {
		tell_taken(buffer, &taken, why, why_size);
		return false;
	}
	if (!is_reserved(buffer, neighbours) && find_taken(neighbours, buffer->addr, end, &taken)) {
		tell_taken(buffer, &taken, why, why_size);
		return false;
	}
	return true;
}

/* ---- the choice ---- */

/* The largest aligned power of two in [start, end), the lowest of them. 0: none */
static uint32_t largest_aligned(uint64_t start, uint64_t end, uint64_t max, uint32_t *addr)
{
	for (uint64_t size = max; size >= ARM_MTB_BUFFER_MIN; size >>= 1) {
		const uint64_t at = (start + size - 1) & ~(size - 1);
		if (at + size <= end) {
			*addr = (uint32_t)at;
			return (uint32_t)size;
		}
	}
	return 0;
}

static uint64_t largest_size(const struct arm_mtb_ram *ram)
{
	return decoded(ram) > UINT64_C(1) << 31 ? UINT64_C(1) << 31 : decoded(ram);
}

static bool choose_symbol(struct arm_mtb_buffer *buffer, const struct arm_mtb_ram *ram,
		const struct arm_mtb_symbol *symbol, char *why, size_t why_size)
{
	if (!symbol->size) {
		snprintf(why, why_size, "%s at 0x%08" PRIx32 " has no size in the ELF file: give -buffer 0x%08" PRIx32 " SIZE",
				symbol->name, symbol->addr, symbol->addr);
		return false;
	}
	buffer->size = largest_aligned(symbol->addr, (uint64_t)symbol->addr + symbol->size, largest_size(ram),
			&buffer->addr);
	if (!buffer->size) {
		snprintf(why, why_size, "%s (%" PRIu32 " bytes at 0x%08" PRIx32 ") holds no aligned buffer of %u bytes",
				symbol->name, symbol->size, symbol->addr, ARM_MTB_BUFFER_MIN);
		return false;
	}
	return true;
}

/* Where RAM ends as far as program, stack and working area prove it; its base: nothing lies in it. */
static uint64_t proven_end(const struct arm_mtb_ram *ram, const struct arm_mtb_neighbours *neighbours)
{
	const uint64_t limit = (uint64_t)ram->base + usable(ram);
	uint64_t end = ram->base;
	struct taken taken;

	for (size_t i = 0; i < neighbours->program_count; i++)
		for (unsigned int j = 0; program_takes(&neighbours->programs[i], j, &taken); j++)
			if (meets(&taken, ram->base, limit) && taken.end > end)
				end = taken.end;
	if (work_area_takes(neighbours, &taken) && meets(&taken, ram->base, limit) && taken.end > end)
		end = taken.end;
	return end > limit ? limit : end;
}

/* Where what the stack may take begins. @param whole: all down to what the program has there */
static uint64_t stack_floor(const struct arm_mtb_neighbours *neighbours, uint64_t base, uint64_t stack, bool whole)
{
	uint64_t floor = base;
	struct taken taken;

	for (size_t i = 0; i < neighbours->program_count; i++)
		for (unsigned int j = 0; program_takes(&neighbours->programs[i], j, &taken); j++)
			if (taken.start < taken.end && taken.end < stack && taken.end > floor)
				floor = taken.end;
	if (whole)
		return floor;
	const uint64_t depth = (stack - floor) / 4 > STACK_GUESS ? (stack - floor) / 4 : STACK_GUESS;
	return depth > stack - floor ? floor : stack - depth;
}

/* The first stack at or behind @a from that has a byte below @a end: what it may take. */
static bool find_stack(const struct arm_mtb_neighbours *neighbours, uint64_t base, uint64_t start, uint64_t end,
		bool whole, uint64_t *stack_end)
{
	for (size_t i = 0; i < neighbours->program_count; i++) {
		uint32_t stack;
		if (!arm_mtb_program_stack(&neighbours->programs[i], &stack) || stack <= start)
			continue;
		if (stack_floor(neighbours, base, stack, whole) < end) {
			*stack_end = stack;
			return true;
		}
	}
	return false;
}

/* The lowest free aligned stretch of @a size bytes in [start, end). */
static bool find_free(const struct arm_mtb_neighbours *neighbours, uint64_t start, uint64_t end, uint64_t size,
		bool whole, uint32_t *addr)
{
	uint64_t at = (start + size - 1) & ~(size - 1);

	while (at + size <= end) {
		struct taken taken;
		uint64_t next;
		if (find_taken(neighbours, at, at + size, &taken)) {
			next = taken.end;
		} else if (!find_stack(neighbours, start, at, at + size, whole, &next)) {
			*addr = (uint32_t)at;
			return true;
		}
		at = (next + size - 1) & ~(size - 1);
	}
	return false;
}

/* Without it the stack can be anywhere, behind the data, between and in front of them. */
static bool knows_stack(const struct arm_mtb_neighbours *neighbours)
{
	for (size_t i = 0; i < neighbours->program_count; i++)
		if (arm_mtb_program_knows_stack(&neighbours->programs[i]))
			return true;
	return false;
}

static bool choose_corner(struct arm_mtb_buffer *buffer, const struct arm_mtb_ram *ram,
		const struct arm_mtb_neighbours *neighbours, char *why, size_t why_size)
{
	uint64_t end = (uint64_t)ram->base + usable(ram);

	if (!neighbours->program_count) {
		snprintf(why, why_size, "where RAM is free is not known without the program: give -buffer ADDR SIZE, or -elf "
				"FILE");
		return false;
	}
	if (!knows_stack(neighbours)) {
		snprintf(why, why_size, "no stack is known of %s, so what is free may not be: give -buffer ADDR SIZE",
				neighbours->programs[0].path);
		return false;
	}
	/*
	 * 2^AW can be more than there is: without -ramsize only what the program shows to be RAM is taken, or all of a RAM
	 * that is the MTB's own, as the program and its stack are elsewhere
	 */
	const uint64_t proven = proven_end(ram, neighbours);
	if (!ram->size && proven > ram->base)
		end = proven;
	for (int whole = 1; whole >= 0; whole--) {
		for (uint64_t size = largest_size(ram); size >= ARM_MTB_BUFFER_MIN; size >>= 1) {
			if (!find_free(neighbours, ram->base, end, size, whole, &buffer->addr))
				continue;
			buffer->size = (uint32_t)size;
			if (size >= CORNER_ENOUGH || !whole || size == decoded(ram))
				return true;
			break;
		}
	}
	snprintf(why, why_size, "no part of RAM 0x%08" PRIx32 "..0x%08" PRIx64 " is free: reserve an aligned array %s in "
			"the program, or give -buffer ADDR SIZE", ram->base, end - 1, arm_mtb_buffer_symbols[0]);
	return false;
}

bool arm_mtb_buffer_choose(struct arm_mtb_buffer *buffer, const struct arm_mtb_ram *ram,
		const struct arm_mtb_neighbours *neighbours, const char **from, char *why, size_t why_size)
{
	for (size_t i = 0; i < neighbours->program_count; i++) {
		for (unsigned int j = 0; arm_mtb_buffer_symbols[j]; j++) {
			struct arm_mtb_symbol symbol;
			if (!arm_mtb_program_symbol(&neighbours->programs[i], arm_mtb_buffer_symbols[j], &symbol))
				continue;
			*from = symbol.name;
			return choose_symbol(buffer, ram, &symbol, why, why_size) &&
					arm_mtb_buffer_check(buffer, ram, neighbours, why, why_size);
		}
	}
	*from = NULL;
	return choose_corner(buffer, ram, neighbours, why, why_size);
}
