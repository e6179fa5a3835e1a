/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Lines that repeat, written once with x N behind.
 */

#ifndef OPENOCD_ITRACE_REPORT_FOLD_H
#define OPENOCD_ITRACE_REPORT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"

#define ITRACE_FOLD_LINE_MAX	2048u	/* longer lines are never folded */

struct itrace_fold {
	struct itrace_output *out;
	bool on;
	struct itrace_output scratch;	/* the line that is being made */
	char line[ITRACE_FOLD_LINE_MAX];	/* the line that is held */
	size_t len, skip;
	uint64_t count;			/* how often it came; 0 = none is held */
};

/*
 * @a out stays the caller's.
 * @returns false when there is no memory
 */
bool itrace_fold_init(struct itrace_fold *fold, struct itrace_output *out, bool on);

/* Where to write the next line, without line end. */
struct itrace_output *itrace_fold_begin(struct itrace_fold *fold);

/* The line is complete. Its first @a skip bytes do not count when lines are compared; those of the first are shown. */
void itrace_fold_end(struct itrace_fold *fold, size_t skip);

/* Write what is held. */
void itrace_fold_flush(struct itrace_fold *fold);

void itrace_fold_free(struct itrace_fold *fold);

#endif /* OPENOCD_ITRACE_REPORT_FOLD_H */
