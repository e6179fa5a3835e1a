/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The text formats that are made from flow events, one mouth for each.
 */

#ifndef OPENOCD_ITRACE_REPORT_LISTING_H
#define OPENOCD_ITRACE_REPORT_LISTING_H

#include <stdbool.h>

#include "decode_options.h"
#include "mouth.h"
#include "output.h"
#include "program.h"

/*
 * The mouth of @a format.
 * @a program and @a out stay the caller's; the mouth keeps program->space up to date.
 * @param fold write runs of the same once
 * @returns NULL when there is no memory, and for formats that are not made from events (packets, elements).
 */
struct itrace_mouth *itrace_listing_new(enum itrace_format format, struct itrace_program *program,
		struct itrace_output *out, bool fold);

/* The heading of a stream in our own formats: "=== ETM_0, trace ID 0x10, buffer ETB_0 ===". Nothing unless headed. */
void itrace_listing_heading(struct itrace_output *out, const struct itrace_stream_info *info);

/* The lines of OpenCSD's -multi_session before and behind a buffer. Nothing unless headed. */
void itrace_listing_opencsd_begin(struct itrace_output *out, const struct itrace_stream_info *info);
void itrace_listing_opencsd_end(struct itrace_output *out, const struct itrace_stream_info *info);

/* The single mouths, for the table in listing.c. */
struct itrace_mouth *itrace_functions_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_instructions_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_opencsd_elements_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_summary_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_call_tree_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_contexts_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_exceptions_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_hot_new(struct itrace_program *program, struct itrace_output *out, bool fold);
struct itrace_mouth *itrace_json_new(struct itrace_program *program, struct itrace_output *out, bool fold);

#endif /* OPENOCD_ITRACE_REPORT_LISTING_H */
