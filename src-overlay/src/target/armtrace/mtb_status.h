/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is known of an MTB object and its hardware, for scripts and for people.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_STATUS_H
#define OPENOCD_TARGET_ARMTRACE_MTB_STATUS_H

struct command_invocation;

/* Handlers of commands of an object, which is their CMD_DATA. */
int arm_mtb_status_command(struct command_invocation *cmd);
int arm_mtb_regs_command(struct command_invocation *cmd);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_STATUS_H */
