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
	size_t len = strlen(line);
	if (len && line[len - 1] == '\n')
		line[--len] = 0;
	/* names from files and from the command line may hold anything: one line stays one, and no terminal is driven */
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	io->message(io->ctx, level, line);
}
