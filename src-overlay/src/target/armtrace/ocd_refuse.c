// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stdlib.h>

#include "ocd_refuse.h"

void ocd_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int ocd_refuse(struct command_invocation *cmd, int retval, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *line = alloc_vprintf(format, arguments);
	va_end(arguments);
	if (line)
		ocd_one_line(line);
	command_print_sameline(cmd, "%s", line ? line : "out of memory");
	free(line);
	return retval;
}
