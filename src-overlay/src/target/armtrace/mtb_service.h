/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The core that stands so that its Micro Trace Buffer can be read: what both say, and what is asked of them, in as few
 * exchanges as can be, since the core stands for all of them.
 *
 * OpenOCD knows nothing of most of such halts, and its register cache is not used. Reading DHCSR clears S_RESET_ST, by
 * which OpenOCD sees that the part was reset: so it is told when that is met here.
 *
 * The target is a cortex_m that arm_mtb_port_begin() takes.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_SERVICE_H
#define OPENOCD_TARGET_ARMTRACE_MTB_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mtb_port.h"

struct arm_mtb_service {
	struct arm_mtb_port *port;
	uint32_t dhcsr;		/* as read last; 0: it was not, since OpenOCD had the core halted */
	bool reset_met;		/* since arm_mtb_service_begin(); or the core stands no more for whatever reason */
	bool has_pc;		/* of the core, where it stands */
	uint32_t pc;
	uint32_t dfsr;		/* causes of the halt, as read last */
	bool dfsr_known;
	uint32_t kept;		/* DCRDR as the program has it */
	bool lent;		/* that is still to be put back */
	bool awaited;		/* the core was asked for its PC, and has not answered yet */
};

/* What one exchange tells. */
struct arm_mtb_view {
	uint32_t before;	/* DHCSR, before a halt was asked for */
	uint32_t dhcsr;
	uint32_t dfsr;
	uint32_t dcrdr;
	struct arm_mtb_state state;
};

/* A register of the MTB that is written. */
struct arm_mtb_write {
	unsigned int offset;
	uint32_t value;
};

/* @param port stays the caller's */
void arm_mtb_service_init(struct arm_mtb_service *service, struct arm_mtb_port *port);

/* The core stands from here on: a reset that was met before is none of this service. */
void arm_mtb_service_begin(struct arm_mtb_service *service);

/* The core has run since: what was known of where it stood is not true any more. */
void arm_mtb_service_end_stand(struct arm_mtb_service *service);

/* The same, and OpenOCD may have written DHCSR. */
void arm_mtb_service_end(struct arm_mtb_service *service);

/*
 * How the core stands, and why, without the MTB, which may be switched off. Some tries.
 * @returns ERROR_OK, or an error
 */
int arm_mtb_service_read_core(struct arm_mtb_service *service, uint32_t *dhcsr);

/*
 * How both stand. Some tries; if all fail, the core alone.
 * @returns ERROR_OK, or an error: then nothing in @a view is true
 */
int arm_mtb_service_look(struct arm_mtb_service *service, struct arm_mtb_view *view);

/*
 * The same, and ask the core to halt if it runs, which it can take a while to do.
 * @param[out] halted whether it stands, or will, because of that; behind an error: whether it can be so
 */
int arm_mtb_service_halt(struct arm_mtb_service *service, struct arm_mtb_view *view, bool *halted);

/* Take back what arm_mtb_service_halt() has asked. @returns ERROR_OK, or an error: it may halt yet */
int arm_mtb_service_do_not_halt(struct arm_mtb_service *service);

/*
 * Write to the MTB, in that order, and see how both stand behind it; with the PC, if it is not known yet. One try.
 * Not checked: that the core stands.
 * @returns ERROR_OK (also if the core does not say its PC), or an error
 */
int arm_mtb_service_put(struct arm_mtb_service *service, const struct arm_mtb_write *writes, unsigned int count,
		struct arm_mtb_view *view);

/* The PC if it is not known, and there was no reset, behind which the core can be anywhere. @returns has_pc */
bool arm_mtb_service_find_pc(struct arm_mtb_service *service);

/*
 * Let the core go on as OpenOCD had it: interrupts stay masked or not. The causes are cleared with that, else the next
 * halt would be taken for this one.
 * @param[out] dhcsr behind that: the core can stand again already
 * @returns ERROR_OK, or an error: whether it was done is not known
 */
int arm_mtb_service_release(struct arm_mtb_service *service, uint32_t *dhcsr);

/* Put DCRDR back, if the core is not released here. Some tries; what fails is tried again with a release. */
void arm_mtb_service_give_back(struct arm_mtb_service *service);

/* Some access has met a reset that OpenOCD does not know of yet. */
bool arm_mtb_service_is_reset_unseen(const struct arm_mtb_service *service);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_SERVICE_H */
