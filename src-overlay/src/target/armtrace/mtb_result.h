/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Results of the commands of MTB objects.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_RESULT_H
#define OPENOCD_TARGET_ARMTRACE_MTB_RESULT_H

#include <stddef.h>

struct command_invocation;

/* One line of @a text, as far as it fits: what would break it or cannot be seen is a question mark. */
void arm_mtb_printable(const char *text, char *line, size_t size);

/*
 * The text of the Tcl error, when @a retval is one.
 * @param why shown as arm_mtb_printable() does; not looked at with ERROR_OK
 * @returns @a retval
 */
int arm_mtb_refuse(struct command_invocation *cmd, int retval, const char *why);

/*
 * Add @a text to the result as one element of a Tcl list, quoted where Tcl needs that. The space in front of it is the
 * caller's.
 */
void arm_mtb_print_element(struct command_invocation *cmd, const char *text);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_RESULT_H */
