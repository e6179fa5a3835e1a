// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Folded stacks, the input of flame graph programs: frames from the outermost on with ';' between them, a blank, a
 * count. There is no escape for the two separators.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>

#include "profile_format.h"

static void write_frame(struct itrace_output *out, const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;
		itrace_output_char(out, c == ';' || c <= ' ' || c == 0x7f ? '_' : *name);
	}
}

static bool write_core(struct itrace_output *out, const struct itrace_profile *profile, unsigned int core)
{
	struct itrace_profile_place *places;
	size_t count;
	char name[ITRACE_PROFILE_NAME_MAX];

	if (!itrace_profile_top(profile, core, 0, &places, &count))
		return false;
	itrace_profile_core_name(profile, core, name);
	for (size_t i = 0; i < count && !itrace_output_stopped(out); i++) {
		if (profile->core_count > 1) {
			write_frame(out, name);
			itrace_output_char(out, ';');
		}
		if (places[i].name)
			write_frame(out, places[i].name);
		else
			itrace_profile_write_addr(out, profile, places[i].addr);
		itrace_output_char(out, ' ');
		itrace_output_decimal(out, places[i].count, 0);
		itrace_output_char(out, '\n');
	}
	free(places);
	return true;
}

bool itrace_profile_write_folded(struct itrace_output *out, const struct itrace_profile *profile, char *note,
		size_t note_size)
{
	(void)note;
	(void)note_size;
	for (unsigned int i = 0; i < profile->core_count; i++)
		if (!write_core(out, profile, i))
			return false;
	return true;
}
