/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a listing needs to know of the program: names, lines, bytes and how instructions read.
 */

#ifndef OPENOCD_ITRACE_REPORT_PROGRAM_H
#define OPENOCD_ITRACE_REPORT_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "../event.h"
#include "../image.h"
#include "disassembly.h"
#include "output.h"
#include "symbols.h"

/* Everything stays the caller's. All but m_profile and space may be NULL; what is missing is then unknown. */
struct itrace_program {
	struct itrace_symbols *symbols;
	struct itrace_image *image;
	struct itrace_disassembly *disassembly;
	const struct itrace_insn_rules *rules;
	bool m_profile;
	uint8_t space;	/* memory space of the code that is listed now; 0 is as ITRACE_SPACE_ANY */
};

/* The memory space that context bits (ITRACE_CONTEXT_...) select: one ITRACE_SPACE_ bit. */
uint8_t itrace_program_space(unsigned int context);

/* The bytes at @a addr in the current space, as itrace_image_at(). */
const uint8_t *itrace_program_bytes(const struct itrace_program *program, uint64_t addr, size_t *avail);

/* Bytes of the instruction at @a addr: 2 or 4; T32 that cannot be read counts as 2. */
unsigned int itrace_program_size(const struct itrace_program *program, enum itrace_isa isa, uint64_t addr);

/* Address of instruction number @a index (0 .. count) of a range; number count is its end. */
uint64_t itrace_program_step(const struct itrace_program *program, const struct itrace_event *range, uint32_t index);

/*
 * The instruction of a range that stands at @a addr, counted from @a from on.
 * @returns false when none of them begins there.
 */
bool itrace_program_index(const struct itrace_program *program, const struct itrace_event *range, uint64_t addr,
		uint32_t from, uint32_t *index);

/*
 * Divide a range behind its first @a count instructions (1 .. range->count - 1).
 * @param[out] tail may be NULL
 */
void itrace_program_split(const struct itrace_program *program, const struct itrace_event *range, uint32_t count,
		struct itrace_event *head, struct itrace_event *tail);

/* As itrace_symbols_find(); NULL without symbols. */
const struct itrace_symbol *itrace_program_function(const struct itrace_program *program, uint64_t addr, uint64_t *off);

/* As itrace_symbols_line(); false without symbols. */
bool itrace_program_line(const struct itrace_program *program, uint64_t addr, struct itrace_source_line *at);

/* "main+0x1a", "main", or "0x0000000008000100" where there is no symbol. */
void itrace_program_write_place(const struct itrace_program *program, struct itrace_output *out, uint64_t addr);

/*
 * What @a text means: a symbol, symbol+offset, or a number.
 * @param[out] why on failure one line; on success empty, or a note that the name is ambiguous
 * @returns false when it means nothing.
 */
bool itrace_program_address(const struct itrace_program *program, const char *text, uint64_t *addr, char *why,
		size_t why_size);

#endif /* OPENOCD_ITRACE_REPORT_PROGRAM_H */
