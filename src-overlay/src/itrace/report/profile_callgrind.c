// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The profile format of callgrind, as its manual describes it: a header, then "fl=" and "fn=" lines that say where the
 * cost lines behind them belong. A cost line is address, line, and a number for each event. "fi=" and "fe=" change the
 * source file inside a function, for code that was inlined from elsewhere, and back.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "profile_format.h"

#define UNKNOWN	"???"	/* what callgrind calls files that it does not know */

/* Where the next cost line would belong. */
struct place {
	const struct itrace_symbol *symbol;
	const char *object;
	const char *function_file;
	const char *file;
	bool is_begun;
};

/* A name up to the end of the line. One that begins with '(' would be taken for the number of a name. */
static void write_name(struct itrace_output *out, const char *key, const char *name)
{
	itrace_output_text(out, key);
	for (const char *c = name; *c; c++)
		itrace_output_char(out, (unsigned char)*c < ' ' || *c == 0x7f || (c == name && *c == '(') ? '_' : *c);
	itrace_output_char(out, '\n');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* An event's name is one word. */
static void write_word(struct itrace_output *out, const char *text)
{
	for (; *text; text++)
		itrace_output_char(out, is_letter(*text) || (*text >= '0' && *text <= '9') ? *text : '_');
}

static void write_events(struct itrace_output *out, const struct itrace_profile *profile)
{
	char name[ITRACE_PROFILE_NAME_MAX];
	const char *unit = itrace_profile_unit(profile);
	char first = unit[0] >= 'a' && unit[0] <= 'z' ? (char)(unit[0] - 'a' + 'A') : unit[0];

	itrace_output_text(out, "events:");
	for (unsigned int i = 0; i < profile->core_count; i++) {
		itrace_output_char(out, ' ');
		/* a word of letters begins with one */
		itrace_output_char(out, is_letter(first) ? first : 'N');
		write_word(out, unit + 1);
		if (profile->core_count > 1) {
			itrace_profile_core_name(profile, i, name);
			itrace_output_char(out, '_');
			write_word(out, name);
		}
	}
	itrace_output_char(out, '\n');
}

static void write_header(struct itrace_output *out, const struct itrace_profile *profile)
{
	itrace_output_text(out, "# callgrind format\nversion: 1\ncreator: OpenOCD\n");
	if (profile->command)
		write_name(out, "cmd: ", profile->command);
	if (profile->elapsed_ns) {
		itrace_output_text(out, "desc: Duration: ");
		itrace_output_decimal(out, profile->elapsed_ns / 1000000, 0);
		itrace_output_text(out, " ms\n");
	}
	if (profile->has_range) {
		uint64_t top = profile->word_size == 64 ? UINT64_MAX : UINT32_MAX;
		itrace_output_text(out, "desc: Range: ");
		itrace_profile_write_addr(out, profile, profile->range_start);
		itrace_output_char(out, '-');
		itrace_profile_write_addr(out, profile, profile->range_end ? profile->range_end - 1 : top);
		itrace_output_char(out, '\n');
	}
	itrace_output_text(out, "positions: instr line\n");
	write_events(out, profile);
	itrace_output_text(out, "summary:");
	for (unsigned int i = 0; i < profile->core_count; i++) {
		itrace_output_char(out, ' ');
		itrace_output_decimal(out, itrace_pc_histogram_total(profile->cores[i].histogram), 0);
	}
	itrace_output_char(out, '\n');
}

static const char *file_of(const struct itrace_profile *profile, uint64_t addr)
{
	struct itrace_source_line at;

	return profile->symbols && itrace_symbols_line(profile->symbols, addr, &at) ? at.file : UNKNOWN;
}

static void begin_function(struct itrace_output *out, const struct itrace_profile *profile, struct place *place,
		const struct itrace_symbol *symbol, uint64_t addr)
{
	const char *object = symbol ? itrace_symbols_source_name(profile->symbols, symbol->source) : UNKNOWN;

	itrace_output_char(out, '\n');
	if (!place->object || strcmp(place->object, object))
		write_name(out, "ob=", object);
	place->object = object;
	place->function_file = file_of(profile, symbol ? symbol->addr : addr);
	place->file = place->function_file;
	write_name(out, "fl=", place->file);
	if (symbol) {
		write_name(out, "fn=", symbol->name);
	} else {
		itrace_output_text(out, "fn=");
		itrace_profile_write_addr(out, profile, addr);
		itrace_output_char(out, '\n');
	}
	place->symbol = symbol;
	place->is_begun = true;
}

static void write_cost(struct itrace_output *out, const struct itrace_profile *profile, struct place *place,
		const struct itrace_profile_walk *walk)
{
	struct itrace_source_line at = { 0 };

	const struct itrace_symbol *symbol = itrace_profile_symbol(profile, walk->addr, NULL);
	if (!place->is_begun || !symbol || symbol != place->symbol)
		begin_function(out, profile, place, symbol, walk->addr);
	if (profile->symbols)
		itrace_symbols_line(profile->symbols, walk->addr, &at);
	if (at.file && strcmp(at.file, place->file)) {
		write_name(out, strcmp(at.file, place->function_file) ? "fi=" : "fe=", at.file);
		place->file = at.file;
	}
	itrace_output_text(out, "0x");
	itrace_output_hex(out, walk->addr, 1);
	itrace_output_char(out, ' ');
	itrace_output_decimal(out, at.line, 0);
	for (unsigned int i = 0; i < walk->core_count; i++) {
		itrace_output_char(out, ' ');
		itrace_output_decimal(out, walk->counts[i], 0);
	}
	itrace_output_char(out, '\n');
}

bool itrace_profile_write_callgrind(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size)
{
	struct itrace_profile_walk walk;
	struct place place = { 0 };

	(void)note;
	(void)note_size;
	if (!itrace_profile_walk_begin(&walk, profile, ITRACE_PROFILE_ALL_CORES))
		return false;
	write_header(out, profile);
	while (itrace_profile_walk_next(&walk) && !itrace_output_stopped(out))
		write_cost(out, profile, &place, &walk);
	itrace_profile_walk_end(&walk);
	return true;
}
