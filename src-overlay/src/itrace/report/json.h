/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * JSON, as far as it is written here: one object a line.
 *
 * Addresses and other 64-bit values are strings in hex ("0x8000100"), because many readers keep numbers as doubles.
 */

#ifndef OPENOCD_ITRACE_REPORT_JSON_H
#define OPENOCD_ITRACE_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"

/* Begin an object whose first member is "kind": @a kind. */
void itrace_json_begin(struct itrace_output *out, const char *kind);

/* One member. Keys are not escaped. */
void itrace_json_number(struct itrace_output *out, const char *key, uint64_t value);
void itrace_json_hex(struct itrace_output *out, const char *key, uint64_t value);
void itrace_json_bool(struct itrace_output *out, const char *key, bool value);
/* Any bytes; those that are not UTF-8 are written as if they were Latin-1. */
void itrace_json_string(struct itrace_output *out, const char *key, const char *value);

/* End the object and the line. */
void itrace_json_end(struct itrace_output *out);

#endif /* OPENOCD_ITRACE_REPORT_JSON_H */
