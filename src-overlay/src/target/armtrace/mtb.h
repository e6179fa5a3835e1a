/* SPDX-License-Identifier: GPL-2.0-or-later */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_H
#define OPENOCD_TARGET_ARMTRACE_MTB_H

#include <helper/command.h>

/* The group 'mtb': Micro Trace Buffer. */
extern const struct command_registration arm_mtb_command_handlers[];

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_H */
