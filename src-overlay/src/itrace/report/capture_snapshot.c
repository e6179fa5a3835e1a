// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <string.h>

#include "capture.h"
#include "decode_io.h"
#include "decode_options.h"
#include "decode_plan.h"
#include "message.h"
#include "snapshot_export.h"
#include "symbols.h"

/* Where the plan's errors go. */
struct answer {
	char *why;
	size_t size;
};

static void keep_error(void *ctx, enum itrace_message_level level, const char *line)
{
	const struct answer *answer = ctx;

	if (level == ITRACE_MESSAGE_ERROR && !answer->why[0])
		snprintf(answer->why, answer->size, "%s", line);
}

static bool never(void *ctx)
{
	(void)ctx;
	return false;
}

static bool load_code(const struct itrace_capture *capture, struct itrace_symbols *symbols, char *why, size_t why_size)
{
	for (size_t i = 0; i < capture->elf_count; i++)
		if (itrace_symbols_add_elf(symbols, capture->elfs[i], 0, why, why_size) < 0)
			return false;
	/* what is only a warning of a decode is none here */
	why[0] = 0;
	return true;
}

/* As a decode with -export snapshot= would write it. */
static bool export(const struct itrace_capture *capture, const struct itrace_symbols *symbols, const char *dir,
		char *why, size_t why_size)
{
	struct answer answer = { why, why_size };
	const struct itrace_decode_io io = { .message = keep_error, .ctx = &answer, .capture = capture };
	struct itrace_decode_options options;
	struct itrace_export_code code;
	struct itrace_plan plan;

	bool ok = itrace_decode_options_parse(&options, NULL, 0, capture->name, "-", why, why_size);
	/* so that none of them is written over */
	for (size_t i = 0; i < capture->elf_count && ok; i++) {
		ok = itrace_decode_options_add_elf(&options, capture->elfs[i]);
		if (!ok)
			snprintf(why, why_size, "%s: no memory", capture->name);
	}
	if (ok) {
		ok = itrace_plan_make(&plan, &options, "-", &io, NULL, never, NULL);
		code.segments = itrace_symbols_segments(symbols, &code.count);
		ok = ok && itrace_snapshot_export_check(dir, &plan, why, why_size) &&
				itrace_snapshot_export(dir, &plan, &code, why, why_size);
		itrace_plan_free(&plan);
	}
	itrace_decode_options_free(&options);
	return ok;
}

bool itrace_capture_write_snapshot(const struct itrace_capture *capture, const char *dir, char *why, size_t why_size)
{
	struct itrace_symbols *symbols = itrace_symbols_new();

	why[0] = 0;
	if (!symbols) {
		snprintf(why, why_size, "%s: no memory", capture->name);
		return false;
	}
	const bool ok = load_code(capture, symbols, why, why_size) && export(capture, symbols, dir, why, why_size);
	itrace_symbols_free(symbols);
	return ok;
}
