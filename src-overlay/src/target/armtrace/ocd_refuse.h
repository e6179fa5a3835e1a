/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a command that is refused says.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_OCD_REFUSE_H
#define OPENOCD_TARGET_ARMTRACE_OCD_REFUSE_H

#include <helper/command.h>
#include <helper/log.h>

/* Control characters of @a text, which values of the user may have brought in, become '?': one line stays one. */
void ocd_one_line(char *text);

/*
 * Add one line to the result of the command, as the text of the Tcl error: without a line end. As printf.
 * @returns @a retval
 */
int ocd_refuse(struct command_invocation *cmd, int retval, const char *format, ...)
	__attribute__((format(PRINTF_ATTRIBUTE_FORMAT, 3, 4)));

#endif /* OPENOCD_TARGET_ARMTRACE_OCD_REFUSE_H */
