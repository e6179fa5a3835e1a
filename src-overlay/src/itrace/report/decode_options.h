/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The options of a decode: one table from which they are read and explained.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODE_OPTIONS_H
#define OPENOCD_ITRACE_REPORT_DECODE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum itrace_format {
	ITRACE_FORMAT_DEFAULT,		/* functions when there are symbols, else instructions */
	ITRACE_FORMAT_FUNCTIONS,
	ITRACE_FORMAT_INSTRUCTIONS,
	ITRACE_FORMAT_ELEMENTS,
	ITRACE_FORMAT_PACKETS,
	ITRACE_FORMAT_SUMMARY,
	ITRACE_FORMAT_CALLS,
	ITRACE_FORMAT_CONTEXTS,
	ITRACE_FORMAT_EXCEPTIONS,
	ITRACE_FORMAT_HOT,
	ITRACE_FORMAT_JSON,
	ITRACE_FORMAT_OPENCSD_PACKETS,
	ITRACE_FORMAT_OPENCSD_ELEMENTS,
	ITRACE_FORMAT_NUM
};

enum itrace_export {
	ITRACE_EXPORT_BTRACE,
	ITRACE_EXPORT_SNAPSHOT,
	ITRACE_EXPORT_NUM
};

/* As asked for; AUTO looks at the bytes. The others are enum itrace_framing. */
#define ITRACE_FRAMING_AUTO	(-1)

/* What options may be given more than once hold. Strings point into argv but for those that were cut at an @ or =. */
struct itrace_option_file {
	char *path;		/* owned */
	uint64_t addr;		/* -elf: load offset; -image: address */
};

struct itrace_option_reg {
	char *name;		/* owned */
	uint32_t value;
};

struct itrace_option_export {
	char *path;		/* owned */
	enum itrace_export kind;
};

struct itrace_decode_options {
	const char *snapshot;
	const char *trace;
	int protocol;			/* enum itrace_protocol, or -1: not given */
	int framing;			/* enum itrace_framing or ITRACE_FRAMING_AUTO */
	bool framing_given;
	int trace_id;			/* 0x01 .. 0x6f, or -1: not given */
	const char *core;		/* type of the core ("Cortex-M33", "ARMv8-M"); NULL: Armv9-A */
	struct itrace_option_reg *regs;
	size_t reg_count;
	bool buffer_given;		/* MTB: the file is memory from this address on */
	uint64_t buffer;
	struct itrace_option_file *elfs;
	size_t elf_count;
	struct itrace_option_file *images;
	size_t image_count;
	bool memory;
	enum itrace_format format;
	bool src_addr_n;
	const char *output;		/* NULL: the console */
	bool first_given, last_given;
	uint64_t first, last;		/* instructions */
	const char *from, *to;		/* symbols or addresses; NULL: not given */
	int64_t context;		/* context ID, or -1 */
	int el;				/* exception level 0 .. 3, or -1 */
	bool fold;
	struct itrace_option_export *exports;
	size_t export_count;
	bool all_streams;
	unsigned int jobs;
	double timeout_s;		/* 0: none */
	bool help;
};

/*
 * Read @a argv (options only, without the command's name).
 * @param object what holds the trace that is decoded; then no option may say what that is. NULL: the options do
 * @param dash "-" or "--"; with "--" values may also be given as --name=value, and -o as with one dash
 * @param[out] why on failure one line, at most @a why_size bytes with the 0
 * @returns false on a wrong or contradictory option. Call itrace_decode_options_free() in either case.
 * Files and symbols are not looked at.
 */
bool itrace_decode_options_parse(struct itrace_decode_options *options, const char *const *argv, int argc,
		const char *object, const char *dash, char *why, size_t why_size);

/*
 * Add @a path as if -elf had named it, whatever its characters.
 * @returns false without memory
 */
bool itrace_decode_options_add_elf(struct itrace_decode_options *options, const char *path);

void itrace_decode_options_free(struct itrace_decode_options *options);

/* Why these options cannot go with MTB trace, one line; NULL: they can. */
const char *itrace_decode_options_mtb(const struct itrace_decode_options *options);

/* Names as typed. Never NULL. */
const char *itrace_format_name(enum itrace_format format);

/*
 * The explanation of one option, without the last line end; a long one goes on in further lines. 512 bytes are enough.
 * @returns false when @a line is behind the last
 */
bool itrace_decode_options_help(unsigned int line, const char *dash, char *text, size_t size);

#endif /* OPENOCD_ITRACE_REPORT_DECODE_OPTIONS_H */
