// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>

#include "fold.h"

bool itrace_fold_init(struct itrace_fold *fold, struct itrace_output *out, bool on)
{
	char why[80];

	fold->out = out;
	fold->on = on;
	fold->len = 0;
	fold->skip = 0;
	fold->count = 0;
	fold->scratch.buf = NULL;
	/* a buffer that is written nowhere */
	return !on || itrace_output_open(&fold->scratch, NULL, NULL, why, sizeof(why));
}

struct itrace_output *itrace_fold_begin(struct itrace_fold *fold)
{
	if (!fold->on)
		return fold->out;
	fold->scratch.len = 0;
	return &fold->scratch;
}

static bool same_line(const struct itrace_fold *fold, size_t skip)
{
	size_t len = fold->scratch.len;

	return fold->count && len - skip == fold->len - fold->skip &&
			!memcmp(fold->scratch.buf + skip, fold->line + fold->skip, len - skip);
}

void itrace_fold_end(struct itrace_fold *fold, size_t skip)
{
	if (!fold->on) {
		itrace_output_char(fold->out, '\n');
		return;
	}
	if (same_line(fold, skip)) {
		fold->count++;
		return;
	}
	itrace_fold_flush(fold);
	if (fold->scratch.len > sizeof(fold->line)) {
		itrace_output_bytes(fold->out, fold->scratch.buf, fold->scratch.len);
		itrace_output_char(fold->out, '\n');
		return;
	}
	memcpy(fold->line, fold->scratch.buf, fold->scratch.len);
	fold->len = fold->scratch.len;
	fold->skip = skip;
	fold->count = 1;
}

void itrace_fold_flush(struct itrace_fold *fold)
{
	if (!fold->count)
		return;
	itrace_output_bytes(fold->out, fold->line, fold->len);
	if (fold->count > 1)
		itrace_output_format(fold->out, "  × %" PRIu64, fold->count);
	itrace_output_char(fold->out, '\n');
	fold->count = 0;
}

void itrace_fold_free(struct itrace_fold *fold)
{
	char why[80];

	itrace_output_close(&fold->scratch, why, sizeof(why));
}
