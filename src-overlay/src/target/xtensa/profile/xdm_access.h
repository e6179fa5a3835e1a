/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The debug module as the profiler sees it: registers, bits and instruction words.
 *
 * NAR numbers and APB offsets are those of target/xtensa/xtensa_debug_module.h; DEBUGPC is in no manual (it was found
 * by experiment, and OpenOCD knows it since 2024 for ESP chips).
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_XDM_ACCESS_H
#define OPENOCD_TARGET_XTENSA_PROFILE_XDM_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <target/xtensa/xtensa.h>

enum xdm_reg {
	XDM_DEBUGPC,
	XDM_DCRSET,
	XDM_DSR,
	XDM_DDR,
	XDM_DIR0EXEC,
	XDM_REG_NUM
};

/* DCR: ask for a stop */
#define XDM_DCR_STOP	(OCDDCR_ENABLEOCD | OCDDCR_DEBUGINTERRUPT)

/* DSR: who stopped the core, and who still wants to; writing ones clears them */
#define XDM_DSR_CAUSES	(OCDDSR_DEBUGPENDBREAK | OCDDSR_DEBUGPENDHOST | OCDDSR_DEBUGPENDTRAX | \
			OCDDSR_DEBUGINTBREAK | OCDDSR_DEBUGINTHOST | OCDDSR_DEBUGINTTRAX)
#define XDM_DSR_FAULTS	(OCDDSR_EXECEXCEPTION | OCDDSR_EXECOVERRUN)

/* What a DSR value proves. */
enum xdm_evidence {
	XDM_GONE,	/* no module answers: no power, no link */
	XDM_FAULTED,	/* an injected instruction faulted or was lost; sticky */
	XDM_RUNS,
	XDM_OURS,	/* stopped by the host's request, which was made after the causes were cleared */
	XDM_FOREIGN,	/* stopped by something else: breakpoint, watchpoint, other core */
	XDM_EVIDENCE_NUM
};

static inline enum xdm_evidence xdm_evidence(uint32_t dsr)
{
	if (dsr == UINT32_MAX || !(dsr & OCDDSR_DBGMODPOWERON))
		return XDM_GONE;
	if (dsr & XDM_DSR_FAULTS)
		return XDM_FAULTED;
	if (!(dsr & OCDDSR_STOPPED))
		return XDM_RUNS;
	/* a request that was not taken because the core stood already stays pending */
	if ((dsr & XDM_DSR_CAUSES) == OCDDSR_DEBUGINTHOST)
		return XDM_OURS;
	return XDM_FOREIGN;
}

/* Special registers in instructions. */
#define XDM_SR_DDR		0x68u
#define XDM_SR_EPC(level)	(0xb0u + (level))

/* Instruction words for DIR0EXEC as little-endian cores have them; register a3, which is in every window. */
#define XDM_INSN_RSR_A3(sr)	(0x030030u | (sr) << 8)
#define XDM_INSN_WSR_A3(sr)	(0x130030u | (sr) << 8)
#define XDM_INSN_XSR_A3(sr)	(0x610030u | (sr) << 8)
#define XDM_INSN_RFDO		0xf1e000u

/*
 * One of these words in the byte order of @a xtensa. Big-endian cores have it at the top, its nibbles reversed; but the
 * number of a special register stays a byte, as in the instruction words of xtensa.c.
 */
static inline uint32_t xdm_insn(const struct xtensa *xtensa, uint32_t word)
{
	uint32_t reversed = 0;

	if (!XT_ISBE(xtensa))
		return word;
	for (unsigned int i = 0; i < 6; i++)
		reversed |= ((word >> (4 * i)) & 0xf) << (4 * (5 - i));
	if (word != XDM_INSN_RFDO)
		reversed = (reversed & ~0xff00u) | (word & 0xff00u);
	return reversed << 8;
}

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_XDM_ACCESS_H */
