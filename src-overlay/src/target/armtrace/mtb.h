/* SPDX-License-Identifier: GPL-2.0-or-later */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_H
#define OPENOCD_TARGET_ARMTRACE_MTB_H

#include <stddef.h>

#include <helper/command.h>
#include <helper/types.h>

struct arm_mtb;
struct target;

/* The group 'mtb': Micro Trace Buffer. */
extern const struct command_registration arm_mtb_command_handlers[];

/*
 * A new object called @a name, which becomes a command; before or after init, without access to hardware.
 * @returns NULL, with one line in @a why: the name is a command already or cannot be one, or the target is of no use
 */
struct arm_mtb *arm_mtb_create(struct command_context *ctx, const char *name, struct target *target, char *why,
		size_t why_size);

/* As -baseaddr. */
void arm_mtb_set_baseaddr(struct arm_mtb *mtb, target_addr_t base);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_H */
