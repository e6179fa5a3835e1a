/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Export snapshot: what was decoded as a CoreSight snapshot, so that it can be decoded elsewhere.
 */

#ifndef OPENOCD_ITRACE_REPORT_SNAPSHOT_EXPORT_H
#define OPENOCD_ITRACE_REPORT_SNAPSHOT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "decode_plan.h"

/* The code that the decoder of a stream saw; each array is the caller's. */
struct itrace_export_code {
	const struct itrace_segment *segments;
	size_t count;
};

/*
 * Whether the buffers of @a plan can be written to @a dir, without a file that the decode reads being lost.
 * @param[out] why if not, one line
 */
bool itrace_snapshot_export_check(const char *dir, const struct itrace_plan *plan, char *why, size_t why_size);

/*
 * Write the buffers and sources of @a plan to directory @a dir, which has been checked.
 * @param code one for each stream of the plan
 * @param[out] why on failure one line
 */
bool itrace_snapshot_export(const char *dir, struct itrace_plan *plan, const struct itrace_export_code *code, char *why,
		size_t why_size);

#endif /* OPENOCD_ITRACE_REPORT_SNAPSHOT_EXPORT_H */
