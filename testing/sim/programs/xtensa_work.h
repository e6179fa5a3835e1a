/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the Xtensa programs have in common. Freestanding: no library, no interrupts unless one says so. */

#ifndef SIM_XTENSA_WORK_H
#define SIM_XTENSA_WORK_H

#include <stdint.h>

/* Names a function that a profile has to show: not inlined, cloned or merged. */
#define WORK __attribute__((noinline, noclone))

static inline uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

#endif /* SIM_XTENSA_WORK_H */
