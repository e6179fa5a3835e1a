/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Results of the commands of MTB objects.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_RESULT_H
#define OPENOCD_TARGET_ARMTRACE_MTB_RESULT_H

struct command_invocation;

/*
 * The text of the Tcl error, when @a retval is one.
 * @param why shown as ocd_refuse() does; not looked at with ERROR_OK
 * @returns @a retval
 */
int arm_mtb_refuse(struct command_invocation *cmd, int retval, const char *why);

/*
 * Add @a text to the result as one element of a Tcl list, quoted where Tcl needs that. The space in front of it is the
 * caller's.
 */
void arm_mtb_print_element(struct command_invocation *cmd, const char *text);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_RESULT_H */
