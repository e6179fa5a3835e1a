/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Words that are written and read in one exchange with an access port, in the order in which they were added.
 *
 * It depends on nothing that was before it (see arm_mtb_port_resync()). Behind a transfer that the port refuses it
 * refuses all others: what an error cuts off is the end of the list. An error can also mean that all was done, and
 * only the answer got lost. Some adapter drivers do not say that an exchange was lost, and all words read 0 then: so
 * the last one should be one that has a known value, or none that is ever 0.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_BATCH_H
#define OPENOCD_TARGET_ARMTRACE_MTB_BATCH_H

#include <stdint.h>

#include <helper/types.h>

struct adiv5_ap;

#define ARM_MTB_BATCH_MAX	20u

struct arm_mtb_batch {
	struct adiv5_ap *ap;
	unsigned int count;
	struct arm_mtb_batch_word {
		target_addr_t addr;
		uint32_t *into;		/* NULL: value is written */
		uint32_t value;
	} words[ARM_MTB_BATCH_MAX];
};

void arm_mtb_batch_begin(struct arm_mtb_batch *batch, struct adiv5_ap *ap);

/* There is room for ARM_MTB_BATCH_MAX words: what a caller adds is known when it is compiled. */
void arm_mtb_batch_write(struct arm_mtb_batch *batch, target_addr_t addr, uint32_t value);
void arm_mtb_batch_read(struct arm_mtb_batch *batch, target_addr_t addr, uint32_t *into);

/*
 * Carry it out.
 * @returns ERROR_OK, or OpenOCD's error. Behind that a word can be what the register held, 0, or what the line made of
 * it: it is there for those who ask a register that forgets what it told
 */
int arm_mtb_batch_run(struct arm_mtb_batch *batch);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_BATCH_H */
