// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

void itrace_message(const struct itrace_decode_io *io, enum itrace_message_level level, const char *format, ...)
{
	char line[ITRACE_MESSAGE_MAX];
	va_list args;

	if (!io->message)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	line[strcspn(line, "\n")] = 0;
	io->message(io->ctx, level, line);
}
