/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Export btrace: the branch trace as GDB's "btrace" XML document (format BTS).
 *
 * GDB wants the newest block first, so blocks are kept until the end: the last ones in memory, older ones in a
 * temporary file. A hole in the trace becomes a block that GDB shows as a decode error.
 */

#ifndef OPENOCD_ITRACE_REPORT_BTRACE_H
#define OPENOCD_ITRACE_REPORT_BTRACE_H

#include <stddef.h>

#include "mouth.h"
#include "program.h"

/*
 * A mouth that opens file @a path (itrace_btrace_error() tells when that failed) and writes the document when it is
 * finished.
 * Both arguments stay the caller's. Of several streams all blocks are written, with a hole between them.
 * @returns NULL when there is no memory
 */
struct itrace_mouth *itrace_btrace_new(const struct itrace_program *program, const char *path);

/* @returns NULL when all went well, else one line that names the file. Valid until the mouth is freed. */
const char *itrace_btrace_error(const struct itrace_mouth *mouth);

#endif /* OPENOCD_ITRACE_REPORT_BTRACE_H */
