/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The commands 'profile' (on Xtensa targets) and 'xtensa profile'.
 */

#ifndef OPENOCD_TARGET_XTENSA_XTENSA_PROFILE_H
#define OPENOCD_TARGET_XTENSA_XTENSA_PROFILE_H

#include <stdbool.h>

#include <helper/command.h>

struct target;

/*
 * Whether 'profile' of @a target is handled here: it is of type xtensa, esp32, esp32s2 or esp32s3.
 * False for all targets in a build without the trace decoder, whose files and symbols are used.
 */
bool xtensa_profile_supports(struct target *target);

/* 'profile' of such a target: takes over from target.c's handler, before it has looked at its arguments. */
COMMAND_HELPER(xtensa_profile_handle_profile, struct target *target);

/* The subcommand 'profile', for the command groups 'xtensa' of both kinds of targets. */
extern const struct command_registration xtensa_profile_command_handlers[];

#endif /* OPENOCD_TARGET_XTENSA_XTENSA_PROFILE_H */
