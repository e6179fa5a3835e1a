/* SPDX-License-Identifier: GPL-2.0-or-later */

#ifndef OPENOCD_TARGET_ARMTRACE_CORESIGHT_H
#define OPENOCD_TARGET_ARMTRACE_CORESIGHT_H

#include <helper/command.h>

/* The group 'coresight': what trace components a chip has. */
extern const struct command_registration arm_coresight_command_handlers[];

#endif /* OPENOCD_TARGET_ARMTRACE_CORESIGHT_H */
