// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Comma-separated values after RFC 4180, but with LF line ends.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <string.h>

#include "profile_format.h"

static void write_field(struct itrace_output *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		itrace_output_text(out, text);
		return;
	}
	itrace_output_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			itrace_output_char(out, '"');
		itrace_output_char(out, *text);
	}
	itrace_output_char(out, '"');
}

static void write_row(struct itrace_output *out, const struct itrace_profile *profile, const char *core, uint64_t addr,
		uint64_t count)
{
	struct itrace_source_line at = { 0 };
	uint64_t off = 0;

	const struct itrace_symbol *symbol = itrace_profile_symbol(profile, addr, &off);
	if (profile->symbols)
		itrace_symbols_line(profile->symbols, addr, &at);
	write_field(out, core);
	itrace_output_char(out, ',');
	itrace_profile_write_addr(out, profile, addr);
	itrace_output_char(out, ',');
	itrace_output_decimal(out, count, 0);
	itrace_output_char(out, ',');
	if (symbol) {
		write_field(out, symbol->name);
		itrace_output_text(out, ",0x");
		itrace_output_hex(out, off, 1);
	} else {
		itrace_output_char(out, ',');
	}
	itrace_output_char(out, ',');
	if (at.file)
		write_field(out, at.file);
	itrace_output_char(out, ',');
	if (at.line)
		itrace_output_decimal(out, at.line, 0);
	itrace_output_char(out, '\n');
}

bool itrace_profile_write_csv(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size)
{
	char name[ITRACE_PROFILE_NAME_MAX];
	struct itrace_profile_walk walk;

	(void)note;
	(void)note_size;
	itrace_output_text(out, "core,address,count,function,offset,file,line\n");
	for (unsigned int i = 0; i < profile->core_count; i++) {
		if (!itrace_profile_walk_begin(&walk, profile, i))
			return false;
		itrace_profile_core_name(profile, i, name);
		while (itrace_profile_walk_next(&walk) && !itrace_output_stopped(out))
			write_row(out, profile, name, walk.addr, walk.sum);
		itrace_profile_walk_end(&walk);
	}
	return true;
}
