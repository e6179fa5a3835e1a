// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>

#include "listing.h"

static struct itrace_mouth *(*const mouths[])(struct itrace_program *program, struct itrace_output *out, bool fold) = {
	[ITRACE_FORMAT_FUNCTIONS] = itrace_functions_new,
	[ITRACE_FORMAT_INSTRUCTIONS] = itrace_instructions_new,
	[ITRACE_FORMAT_SUMMARY] = itrace_summary_new,
	[ITRACE_FORMAT_CALLS] = itrace_call_tree_new,
	[ITRACE_FORMAT_CONTEXTS] = itrace_contexts_new,
	[ITRACE_FORMAT_EXCEPTIONS] = itrace_exceptions_new,
	[ITRACE_FORMAT_HOT] = itrace_hot_new,
	[ITRACE_FORMAT_JSON] = itrace_json_new,
	[ITRACE_FORMAT_OPENCSD_ELEMENTS] = itrace_opencsd_elements_new,
};

struct itrace_mouth *itrace_listing_new(enum itrace_format format, struct itrace_program *program,
		struct itrace_output *out, bool fold)
{
	if ((unsigned int)format >= sizeof(mouths) / sizeof(mouths[0]) || !mouths[format])
		return NULL;
	return mouths[format](program, out, fold);
}

void itrace_listing_heading(struct itrace_output *out, const struct itrace_stream_info *info)
{
	if (!info->headed)
		return;
	itrace_output_format(out, "%s=== %s%strace ID 0x%02x, buffer %s ===\n", info->number > 1 ? "\n" : "",
			info->source ? info->source : "", info->source ? ", " : "", info->trace_id, info->buffer);
}

void itrace_listing_opencsd_begin(struct itrace_output *out, const struct itrace_stream_info *info)
{
	if (info->headed)
		itrace_output_format(out, "####### Multi Session decode: Buffer %u of %u; Source name = %s.\n", info->number,
				info->count, info->buffer);
}

void itrace_listing_opencsd_end(struct itrace_output *out, const struct itrace_stream_info *info)
{
	if (info->headed)
		itrace_output_format(out, "####### Buffer %u : %s Complete\n", info->number, info->buffer);
}
