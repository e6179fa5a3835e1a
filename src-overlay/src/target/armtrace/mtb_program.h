/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an ELF file says of RAM: which addresses its sections and segments take, and where its symbols are.
 *
 * Only what placing a trace buffer needs, so that it works in every build. ELF32, little-endian, of Arm.
 * Nothing that the file holds is trusted, and a damaged one is refused: what it does not say any more would be taken
 * for free RAM.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_PROGRAM_H
#define OPENOCD_TARGET_ARMTRACE_MTB_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses [start, end) that the program takes; nothing when start is not below end. */
struct arm_mtb_span {
	uint64_t start;
	uint64_t end;
	const char *name;	/* of the section, or "the stack" ...; belongs to the program */
	bool is_section;
};

/* what symbols mark, and the top of the initial stack */
#define ARM_MTB_PROGRAM_MARKED	7u

struct arm_mtb_program {
	char *path;
	uint8_t *data;		/* the whole file */
	size_t len;
	uint32_t sections;	/* offset of the section headers; 0: none */
	uint32_t section_count;
	uint32_t section_names;	/* offset of their names, and how many bytes */
	uint32_t section_names_len;
	uint32_t segments;	/* offset of the program headers; 0: none */
	uint32_t segment_count;
	uint32_t symbols;	/* offset of the symbol table; 0: none */
	uint32_t symbol_count;
	uint32_t names;		/* offset of its names, and how many bytes */
	uint32_t names_len;
	bool has_stack;
	uint32_t stack;
	struct arm_mtb_span marked[ARM_MTB_PROGRAM_MARKED];
};

struct arm_mtb_symbol {
	uint32_t addr;		/* of a function without the Thumb bit */
	uint32_t size;		/* 0: not known */
	const char *name;	/* belongs to the program */
};

/*
 * Read @a path. Headers, bytes that are loaded, symbols and names have to be there whole; debug information need not.
 * @returns false: why, one line; the program is then empty. Call arm_mtb_program_free() in the end.
 */
bool arm_mtb_program_load(struct arm_mtb_program *program, const char *path, char *why, size_t why_size);

void arm_mtb_program_free(struct arm_mtb_program *program);

/* What the program takes, in no order, empty spans among them. @returns false when @a index is behind the last. */
bool arm_mtb_program_span(const struct arm_mtb_program *program, unsigned int index, struct arm_mtb_span *span);

/* The symbol called @a name; a function before an object before a label, global before local. @returns false: none */
bool arm_mtb_program_symbol(const struct arm_mtb_program *program, const char *name, struct arm_mtb_symbol *symbol);

/* An object with a size that has a byte in [start, end), the first in the table. @returns false: none */
bool arm_mtb_program_object(const struct arm_mtb_program *program, uint64_t start, uint64_t end,
		struct arm_mtb_symbol *symbol);

/*
 * The initial stack pointer: first word of the lowest section or segment that begins as a vector table does, with a
 * stack and the address of Thumb code that the program has.
 */
bool arm_mtb_program_stack(const struct arm_mtb_program *program, uint32_t *stack);

/* Is it known where the stack is, by that or by symbols that mark it? */
bool arm_mtb_program_knows_stack(const struct arm_mtb_program *program);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_PROGRAM_H */
