/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Trace of a Micro Trace Buffer that begins and ends by itself where execution reaches an address.
 *
 * Cores of Armv8-M (M23, M33): comparators of the DWT, chosen by the MTB's registers TSTART and TSTOP.
 * Kinetis parts with a Cortex-M0+: the two comparators of their MTB_DWT block.
 * Other Cortex-M0+ parts have no way from a comparator to the MTB.
 *
 * Sources: TI and Microchip headers of the M33 parts for TSTART and TSTOP; the KL25 manual for MTB_DWT.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_TRIGGER_H
#define OPENOCD_TARGET_ARMTRACE_MTB_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <helper/types.h>

struct target;

/* A register that was written, and what to write to have it as before. */
struct arm_mtb_trigger_write {
	uint32_t addr;
	uint32_t before;
	uint32_t mask;		/* bits that read as they are written */
	bool survives_reset;
};

/* All zero: nothing is set. The members are for mtb_trigger.c alone. */
struct arm_mtb_trigger {
	struct target *target;
	struct arm_mtb_trigger_write writes[8];	/* in the order of writing */
	unsigned int write_count;
	uint32_t taken;				/* bit n: comparator n of the DWT is marked as used for this */
	uint32_t comp[4];			/* and what it compares with */
};

/**
 * Set up comparators at @a start and @a stop (NULL: none); neither: nothing is touched.
 * What @a trigger holds from before is cleared first. Comparators that watchpoints of OpenOCD or the program use are
 * left alone; those that are taken here are not given to watchpoints until arm_mtb_trigger_clear(). OpenOCD's own
 * restoring of the DWT at the end of a reset keeps them.
 * @param target an examined cortex_m or hla_target, running or halted
 * @param mtb_base of the MTB's registers, which the caller has identified; MASTER.EN is 0
 * @param start, stop addresses of instructions; bit 0 (Thumb) does not count
 * @param[out] master_bits TSTARTEN (bit 5) and TSTOPEN (bit 6) of MASTER to arm with; with TSTARTEN the trace must be
 *	armed with EN = 0
 * @param[out] why on an error: one line without a line end
 * @returns ERROR_OK; ERROR_COMMAND_ARGUMENT_INVALID: an address where no code can be, or both are the same;
 *	ERROR_TARGET_RESOURCE_NOT_AVAILABLE: this part has no such comparators, or they are in use; ERROR_FAIL: a register
 *	does not keep what it is given; else the error of the access. Then all is as before, as far as the target answers.
 */
int arm_mtb_trigger_set(struct arm_mtb_trigger *trigger, struct target *target, target_addr_t mtb_base,
		const uint32_t *start, const uint32_t *stop, uint32_t *master_bits, char *why, size_t why_size);

/**
 * Put every register back to what it held before arm_mtb_trigger_set(). Nothing to do is fine.
 * @param lost the target was reset meanwhile: what the reset cleared stays cleared, and accesses that fail are no error
 * @returns ERROR_OK; else the error of the access that failed: the rest is still to do and a later call goes on
 */
int arm_mtb_trigger_clear(struct arm_mtb_trigger *trigger, bool lost);

/**
 * The target was examined anew, and with it OpenOCD's list of comparators, which clears their FUNCTION: those that are
 * taken here are marked and set again. @returns ERROR_OK, or the error of the access
 */
int arm_mtb_trigger_keep(struct arm_mtb_trigger *trigger);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_TRIGGER_H */
