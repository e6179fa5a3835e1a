/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Was the program disturbed? A second chip runs it without a debugger for as many instructions, and both are compared.
 */

#ifndef XTENSA_VERIFY_H
#define XTENSA_VERIFY_H

#include "xtensa_soc.h"

/**
 * Compare core @a n with one that nobody touched: all AR, PC, PS, SAR, loop registers, and its program's segments
 * with the stack up to the symbol stack_top. Right only for programs without interrupts, cores that do not wait for
 * each other, and no reset so far. Differences are described in @a text. @returns true: the same.
 */
bool xtensa_verify(struct xtensa_soc *soc, unsigned int n, const char *const path[XTENSA_SOC_CORES],
	struct sim_buffer *text);

#endif
