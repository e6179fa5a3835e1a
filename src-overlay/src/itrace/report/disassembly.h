/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One instruction as text.
 *
 * Whatever ends a block is printed by a printer of our own, from the same encodings as the instruction tables; the rest
 * by capstone, or by LLVM where built with it. What a library does not know, or is known to misread, is printed as
 * .inst and its opcode: a line is never wrong.
 */

#ifndef OPENOCD_ITRACE_REPORT_DISASSEMBLY_H
#define OPENOCD_ITRACE_REPORT_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

#include "../insn.h"

/* Room for every line, with the terminating 0. */
#define ITRACE_DISASSEMBLY_MAX	200

struct itrace_disassembly;

/* @returns a disassembler for all instruction sets, NULL when there is no memory. */
struct itrace_disassembly *itrace_disassembly_new(void);

/* @param d may be NULL */
void itrace_disassembly_free(struct itrace_disassembly *d);

/*
 * Print the instruction at @a addr: mnemonic, a space, operands ("b.eq 0x1040"). Addresses are absolute.
 *
 * Unknown: ".inst 0xd5031005" (A64, A32), ".inst.n 0xbf00", ".inst.w 0xf3af8000" (T32: first halfword in the upper
 * half). Instructions in a T32 IT block get their condition when the IT instruction before them has been printed by @a
 * d.
 *
 * @param bytes the @a len bytes that are known from @a addr on (more than one instruction does no harm: 18 bytes let an
 * IT instruction see its whole block)
 * @param rules of the core; NULL: Armv9-A with everything
 * @param[out] text cut at @a size (at least 1); ITRACE_DISASSEMBLY_MAX is enough
 * @returns the bytes of the instruction (2 or 4); 0 with an empty text when @a len is less than that.
 */
unsigned int itrace_disassemble(struct itrace_disassembly *d, enum itrace_isa isa, uint64_t addr, const uint8_t *bytes,
		size_t len, const struct itrace_insn_rules *rules, char *text, size_t size);

/* "capstone 4.0.2", "LLVM 14.0.6", or "no disassembler" in a build without either. */
const char *itrace_disassembly_build(void);

#endif /* OPENOCD_ITRACE_REPORT_DISASSEMBLY_H */
