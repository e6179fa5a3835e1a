/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The registers of a Micro Trace Buffer, and the few accesses that driving one takes.
 *
 * All goes through the target's own memory access, so that it works with every adapter and while the core runs; or, so
 * that many words are one exchange, through its access port, if that can be reached. Each function is one or two
 * accesses, as the comment says: with most adapters an access is an exchange.
 * Source of offsets and fields: Arm's manual of the MTB-M0+, NXP's KL25 and LPC84x, TI's header of the M33.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_PORT_H
#define OPENOCD_TARGET_ARMTRACE_MTB_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <helper/types.h>

#include "mtb_batch.h"

struct target;

#define ARM_MTB_POSITION	0x000
#define ARM_MTB_MASTER		0x004
#define ARM_MTB_FLOW		0x008
#define ARM_MTB_BASE		0x00c
#define ARM_MTB_TSTART		0x010
#define ARM_MTB_TSTOP		0x014

#define ARM_MTB_POSITION_POINTER	0xfffffff8u
#define ARM_MTB_POSITION_WRAP		0x4u
#define ARM_MTB_MASTER_EN		0x80000000u
#define ARM_MTB_MASTER_NSEN		0x40000000u
#define ARM_MTB_MASTER_HALTREQ		0x200u
#define ARM_MTB_MASTER_RAMPRIV		0x100u
#define ARM_MTB_MASTER_SFRWPRIV		0x80u
#define ARM_MTB_MASTER_TSTOPEN		0x40u
#define ARM_MTB_MASTER_TSTARTEN		0x20u
#define ARM_MTB_MASTER_MASK		0x1fu
#define ARM_MTB_FLOW_WATERMARK		0xfffffff8u
#define ARM_MTB_FLOW_AUTOHALT		0x2u
#define ARM_MTB_FLOW_AUTOSTOP		0x1u

#define ARM_MTB_AW_MAX		31u	/* more would leave no room for the registers themselves */
#define ARM_MTB_PACKET_LEN	8u	/* bytes: source, destination */

/* of an Armv8-M Mainline core; bits 31:12 of the slot are where the MTB is from there, bit 0: there is one */
#define ARM_MTB_M33_ROM_TABLE	0xe00ff000u
#define ARM_MTB_M33_ROM_SLOT	(ARM_MTB_M33_ROM_TABLE + 0x1c)

/* Is trace switched on and off by comparators? Then nothing is sure of what ran between two packets. */
static inline bool arm_mtb_has_window(uint32_t master)
{
	return master & ARM_MTB_MASTER_TSTARTEN && master & ARM_MTB_MASTER_TSTOPEN;
}

/* As read in one burst. */
struct arm_mtb_state {
	uint32_t position;
	uint32_t master;
	uint32_t flow;
	uint32_t base;
};

/* Does POSITION lie in the buffer of @a size bytes that was armed with @a position and the MASK of @a master? */
static inline bool arm_mtb_is_in_buffer(const struct arm_mtb_state *state, uint32_t position, uint32_t master,
		uint32_t size)
{
	return !((state->position ^ position) & ARM_MTB_POSITION_POINTER & ~(size - 1)) &&
			!((state->master ^ master) & ARM_MTB_MASTER_MASK);
}

/* Who made it, from its ID registers. */
struct arm_mtb_id {
	unsigned int part;	/* PIDR: 0x932 MTB-M0+, 0xd20 M23, 0xd21 M33 */
	uint32_t devarch;
	uint32_t devtype;
};

struct arm_mtb_port {
	struct target *target;
	target_addr_t base;	/* of the registers */
	uint32_t devarch;	/* as identified; 0: not yet */
	uint32_t ram_base;	/* BASE, which never changes; 0: not known */
};

/*
 * Read the ID registers (three accesses).
 * @param[out] why one line, when this is no MTB of the model that this driver knows, or cannot be read
 * @returns ERROR_OK, or an OpenOCD error
 */
int arm_mtb_port_identify(struct arm_mtb_port *port, struct arm_mtb_id *id, char *why, size_t why_size);

/*
 * POSITION, MASTER, FLOW and BASE, proved to be the MTB's, and again if that fails. One access where the adapter can
 * queue, else one or more.
 * Some adapter drivers take an exchange that was lost for zeros, and OpenOCD then believes that the access port holds
 * what it does not: that belief is dropped before the next try. The port has to be identified.
 */
int arm_mtb_port_read(const struct arm_mtb_port *port, struct arm_mtb_state *state);

/*
 * What OpenOCD believes the access port to hold is written anew with the next access, which then does not depend on
 * those before it: an adapter driver may have lost one and said nothing. Then a read comes from somewhere else, and a
 * write goes there.
 */
void arm_mtb_port_resync(struct target *target);

/* A word outside of the MTB, resynced. What is read can still be what a lost exchange left. */
int arm_mtb_port_read_word(struct target *target, target_addr_t addr, uint32_t *value);
int arm_mtb_port_write_word(struct target *target, target_addr_t addr, uint32_t value);

/* The same, until the bits of @a mask, which nothing changes meanwhile, are the same two times in a row. */
int arm_mtb_port_read_still_word(struct target *target, target_addr_t addr, uint32_t mask, uint32_t *value);

struct adiv5_dap;

/* The access port behind which the target's memory is. @returns false: the adapter hides it, or it is not known yet */
bool arm_mtb_port_find_ap(struct target *target, struct adiv5_dap **dap, uint64_t *ap_num);

/*
 * These write registers in the order of their names, then read all: one access where the adapter can queue both.
 * @param[out] state as it is behind that
 */
/* POSITION, MASTER and FLOW of @a should. EN has to be clear before. */
int arm_mtb_port_put(const struct arm_mtb_port *port, const struct arm_mtb_state *should, struct arm_mtb_state *state);
/* MASTER and FLOW */
int arm_mtb_port_put_flow(const struct arm_mtb_port *port, uint32_t master, uint32_t flow, struct arm_mtb_state *state);
/* MASTER */
int arm_mtb_port_put_master(const struct arm_mtb_port *port, uint32_t master, struct arm_mtb_state *state);

/*
 * The same with words of the core beside: begin, add with these and with those of mtb_batch.h, run.
 * arm_mtb_port_run() adds a last word, which proves that it was the MTB that answered, and so that nothing was lost.
 * @returns of begin: false: there is no access port that can queue (the target is not a cortex_m behind an ADIv5 DAP)
 * @returns of run: as arm_mtb_batch_run(), or ERROR_FAIL without that proof; the port has to be identified
 */
bool arm_mtb_port_begin(const struct arm_mtb_port *port, struct arm_mtb_batch *batch);
void arm_mtb_port_add_write(const struct arm_mtb_port *port, struct arm_mtb_batch *batch, unsigned int offset,
		uint32_t value);
void arm_mtb_port_add_state(const struct arm_mtb_port *port, struct arm_mtb_batch *batch, struct arm_mtb_state *state);
int arm_mtb_port_run(const struct arm_mtb_port *port, struct arm_mtb_batch *batch);

/* One register, unseen. */
int arm_mtb_port_write_u32(const struct arm_mtb_port *port, unsigned int offset, uint32_t value);

/* MASTER until it reads so in the bits of @a mask (one access if it does at once). ERROR_FAIL: it does not keep it. */
int arm_mtb_port_set_master(const struct arm_mtb_port *port, uint32_t master, uint32_t mask);

/*
 * How many address bits the MTB's RAM decodes: write ones to POSITION, see what stays, put back @a position, see that
 * it is so (eight accesses). Nothing may be traced meanwhile.
 * @param[out] aw 4 .. ARM_MTB_AW_MAX
 * @returns ERROR_OK; ERROR_FAIL also when what stays makes no sense
 */
int arm_mtb_port_probe_aw(const struct arm_mtb_port *port, uint32_t position, unsigned int *aw);

/*
 * Packets in RAM, once again if the first time fails. No packet has a word that is 0, but where a program branched to
 * 0: then they are read until they are the same twice and the MTB answers in between (see arm_mtb_port_read()).
 */
int arm_mtb_port_read_packets(const struct arm_mtb_port *port, target_addr_t addr, uint8_t *bytes, uint32_t len);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_PORT_H */
