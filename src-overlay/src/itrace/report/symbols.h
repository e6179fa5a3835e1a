/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The program: what the ELF files and raw memory dumps say of an address.
 *
 * Each file that is added gets a number, the source number of its segments. Loadable bytes are read by a small reader
 * of our own in every build; names, source lines and inlined functions come from elfutils and are absent without it.
 * Nothing that a file holds is trusted: a file that is cut, hostile or for another machine gives one line of text.
 *
 * All text that is handed out belongs to the struct itrace_symbols and stays until itrace_symbols_free().
 * Not thread safe: look-ups fill caches.
 */

#ifndef OPENOCD_ITRACE_REPORT_SYMBOLS_H
#define OPENOCD_ITRACE_REPORT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../image.h"
#include "../insn.h"

/* As many files (and other sources) may be added. */
#define ITRACE_SYMBOLS_SOURCES_MAX	64u

/* At most so many bytes of one file are loaded; a larger one is refused. */
#define ITRACE_SYMBOLS_LOAD_MAX		((uint64_t)1 << 30)

/* An inline chain is at most so long; the outermost callers of a longer one are left out. */
#define ITRACE_SYMBOLS_INLINE_MAX	32u

struct itrace_symbols;

/* Of which machines files are taken. */
enum itrace_symbols_family {
	ITRACE_SYMBOLS_FAMILY_ARM,	/* EM_ARM, EM_AARCH64; little-endian only. Of a new object */
	ITRACE_SYMBOLS_FAMILY_XTENSA,	/* EM_XTENSA, of either byte order */
	ITRACE_SYMBOLS_FAMILY_NUM
};

/* A function or label. */
struct itrace_symbol {
	uint64_t addr;		/* offset of its file added, T32's bit 0 clear */
	uint64_t len;		/* bytes; of a symbol without a size: up to the next symbol or the end of its section */
	const char *name;	/* as in the ELF (C++ names are not demangled) */
	uint8_t source;		/* number of its file */
	bool is_function;	/* the ELF calls it a function (not a bare label or an object) */
	bool is_global;
	bool is_sized;		/* len is the ELF's */
};

/* A place in the source text. */
struct itrace_source_line {
	const char *file;	/* NULL: not known */
	unsigned int line;	/* 0: not known */
};

/* One level of an inline chain. */
struct itrace_inline {
	const char *function;	/* name in the source text, "?" when it has none */
	struct itrace_source_line at;	/* innermost level: the line of the address; outer levels: where the call stands */
};

/* @returns an empty object, NULL when there is no memory. */
struct itrace_symbols *itrace_symbols_new(void);

/*
 * Take files for other machines from now on: a program for another machine than the target's is refused with a line
 * that says so. Files that were added stay.
 */
void itrace_symbols_set_family(struct itrace_symbols *symbols, enum itrace_symbols_family family);

/* @param symbols may be NULL */
void itrace_symbols_free(struct itrace_symbols *symbols);

/*
 * Add an ELF file: its loadable segments, symbols and debug information.
 *
 * ELF32 and ELF64, for a machine of the family, of any type that has program headers. What is not checked: whether
 * its code is what ran, and whether it overlaps files added before (the first file wins).
 *
 * @param offset is added to every address of the file (modulo 2^64)
 * @param[out] why one line, cut at @a why_size (at least 1): on failure which file and what is wrong with it; on
 * success empty, or a note (no symbols in the file; once for each object: no symbols in this build)
 * @returns the file's source number (>= 0), or -1: nothing was added.
 */
int itrace_symbols_add_elf(struct itrace_symbols *symbols, const char *path, uint64_t offset, char *why,
		size_t why_size);

/*
 * Add a raw memory dump whose first byte is at @a addr, seen in every memory space.
 * A dump that would pass 2^64 is refused, an empty one is not.
 * @returns as itrace_symbols_add_elf()
 */
int itrace_symbols_add_image(struct itrace_symbols *symbols, const char *path, uint64_t addr, char *why,
		size_t why_size);

/*
 * Take a source number for code that comes from elsewhere (the dumps of a snapshot).
 * @param name is copied
 * @returns the number, or -1: no number or no memory is left.
 */
int itrace_symbols_add_source(struct itrace_symbols *symbols, const char *name);

/* @returns the path (or name) that was added under number @a source, NULL when there is none. */
const char *itrace_symbols_source_name(const struct itrace_symbols *symbols, unsigned int source);

/* Of the machine that the ELF with number @a source is for: 64, 32; 0 when it is no ELF. */
unsigned int itrace_symbols_word_size(const struct itrace_symbols *symbols, unsigned int source);

/* @returns how many source numbers are taken. */
unsigned int itrace_symbols_source_count(const struct itrace_symbols *symbols);

/*
 * The segments of all files in the order in which they were added: everything with bytes in the file, executable or
 * not, in space ITRACE_SPACE_ANY. The bytes stay until itrace_symbols_free(), the array until the next file is added.
 * @returns NULL when *count is 0
 */
const struct itrace_segment *itrace_symbols_segments(const struct itrace_symbols *symbols, size_t *count);

/* @returns whether any symbol can be found by address. */
bool itrace_symbols_have_names(const struct itrace_symbols *symbols);

/*
 * The function at @a addr.
 *
 * Functions come before labels, sized symbols before those without a size, global before local ones; of two nested
 * functions the inner one. Labels inside a sized function, mapping symbols ($x, $d ...), labels that a compiler made
 * (.L...), Xtensa's literals and objects are not found.
 * Cheap: a memo of recent addresses, then a binary search.
 *
 * @param[out] off bytes from its start; may be NULL
 * @returns NULL when no symbol covers @a addr. Valid until the next file is added.
 */
const struct itrace_symbol *itrace_symbols_find(struct itrace_symbols *symbols, uint64_t addr, uint64_t *off);

/*
 * The address range [*start, *end) of the symbol called @a name: a function, label or object, in this order of
 * preference, then global before local, then in the order of the files.
 * @param start, end may be NULL
 * @returns how many different start addresses bear this name in the preferred kind (more than 1: ambiguous, the first
 * is given), 0 when there is none.
 */
unsigned int itrace_symbols_range(struct itrace_symbols *symbols, const char *name, uint64_t *start, uint64_t *end);

enum itrace_symbols_content {
	ITRACE_SYMBOLS_CONTENT_UNKNOWN,	/* no mapping symbol covers the address */
	ITRACE_SYMBOLS_CONTENT_DATA,
	ITRACE_SYMBOLS_CONTENT_A64,
	ITRACE_SYMBOLS_CONTENT_A32,
	ITRACE_SYMBOLS_CONTENT_T32,
	ITRACE_SYMBOLS_CONTENT_NUM
};

/* What the mapping symbols ($x, $a, $t, $d) say is at @a addr. */
enum itrace_symbols_content itrace_symbols_content_at(struct itrace_symbols *symbols, uint64_t addr);

/*
 * The source line of the instruction at @a addr.
 * @returns false when it is not known; *at is then all empty.
 */
bool itrace_symbols_line(struct itrace_symbols *symbols, uint64_t addr, struct itrace_source_line *at);

/*
 * The functions that the instruction at @a addr belongs to, innermost first; the last is the one that stands in the
 * code. Needs debug information.
 * @param chain room for @a max levels, of which at most ITRACE_SYMBOLS_INLINE_MAX are used
 * @returns the number of levels, 0 when nothing is known of @a addr.
 */
unsigned int itrace_symbols_inlines(struct itrace_symbols *symbols, uint64_t addr, struct itrace_inline *chain,
		unsigned int max);

/* "elfutils 0.188", or "no elfutils" in a build without it. */
const char *itrace_symbols_build(void);

#endif /* OPENOCD_ITRACE_REPORT_SYMBOLS_H */
