/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Lines for people, by way of the caller of a decode.
 */

#ifndef OPENOCD_ITRACE_REPORT_MESSAGE_H
#define OPENOCD_ITRACE_REPORT_MESSAGE_H

#include "decode_io.h"

#define ITRACE_MESSAGE_MAX	2048	/* bytes of a line with its 0; a longer one is cut */

/* As printf; a line end at the end is dropped, other control characters become '?'. */
void itrace_message(const struct itrace_decode_io *io, enum itrace_message_level level, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

#define itrace_error(io, ...)	itrace_message(io, ITRACE_MESSAGE_ERROR, __VA_ARGS__)
#define itrace_warn(io, ...)	itrace_message(io, ITRACE_MESSAGE_WARNING, __VA_ARGS__)
#define itrace_inform(io, ...)	itrace_message(io, ITRACE_MESSAGE_INFO, __VA_ARGS__)

#endif /* OPENOCD_ITRACE_REPORT_MESSAGE_H */
