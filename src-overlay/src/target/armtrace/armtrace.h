/* SPDX-License-Identifier: GPL-2.0-or-later */

#ifndef OPENOCD_TARGET_ARMTRACE_ARMTRACE_H
#define OPENOCD_TARGET_ARMTRACE_ARMTRACE_H

#include <helper/command.h>

/* All command groups of this folder; the one thing that target.c knows of it. */
extern const struct command_registration armtrace_command_handlers[];

/* Free all objects of this folder; before targets are freed. What would halt a core later is switched off. */
void armtrace_cleanup(void);

#endif /* OPENOCD_TARGET_ARMTRACE_ARMTRACE_H */
