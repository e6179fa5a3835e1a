/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Options of MTB objects: `NAME configure`, `NAME cget`, and behind the name of `mtb create`.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_CONFIGURE_H
#define OPENOCD_TARGET_ARMTRACE_MTB_CONFIGURE_H

#include "mtb_object.h"

/* As -when-full takes them. */
extern const char *const arm_mtb_when_full_names[ARM_MTB_WHEN_FULL_NUM];

/*
 * Set options, in order: all of them, or none where one is wrong. No access to hardware: whether an address is that of
 * an MTB, a buffer lies in RAM or a file can be read is checked by start.
 * @param argv options and their values
 * @returns ERROR_OK; ERROR_COMMAND_ARGUMENT_INVALID: no option, or a wrong value; ERROR_FAIL: it is started, or no
 *          memory. The command's result says which.
 */
int arm_mtb_configure(struct command_invocation *cmd, struct arm_mtb *mtb, const char *const *argv, unsigned int argc);

/* Handlers of commands of an object, which is their CMD_DATA. */
int arm_mtb_configure_command(struct command_invocation *cmd);
int arm_mtb_cget_command(struct command_invocation *cmd);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_CONFIGURE_H */
