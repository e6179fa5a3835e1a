/* SPDX-License-Identifier: GPL-2.0-or-later */

#ifndef OPENOCD_TARGET_ARMTRACE_ETE_H
#define OPENOCD_TARGET_ARMTRACE_ETE_H

#include <helper/command.h>

/* The group 'ete': Embedded Trace Extension and ETMv4. */
extern const struct command_registration arm_ete_command_handlers[];

#endif /* OPENOCD_TARGET_ARMTRACE_ETE_H */
