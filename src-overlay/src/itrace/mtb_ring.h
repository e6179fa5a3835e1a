/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which bytes of a memory dump are a Micro Trace Buffer's trace, and in which order.
 *
 * An MTB writes packets upwards into a buffer of 2^(MASK+4) bytes, aligned to its size, and begins again at its start.
 * POSITION holds where the next packet goes, as a bus address modulo 2^AW: AW is how many bits of an address the MTB's
 * RAM decodes, BASE where that RAM is on the bus. WRAP says that the end was passed, so that the oldest packet is the
 * one that would be overwritten next.
 */

#ifndef OPENOCD_ITRACE_MTB_RING_H
#define OPENOCD_ITRACE_MTB_RING_H

#include <stdbool.h>
#include <stdint.h>

/* The registers as read, and what was noted beside them. Which are known is in given. */
struct itrace_mtb_registers {
	uint32_t position;
	uint32_t master;
	uint32_t flow;
	uint32_t base;
	uint32_t aw;		/* no register: address bits, as found by writing POSITION */
	uint32_t pc_arm;	/* where the core was when tracing was armed */
	uint32_t pc_halt;	/* where it was halted */
	uint32_t vtor;		/* address of the vector table */
	uint32_t given;		/* set of ITRACE_MTB_REG_... */
};

#define ITRACE_MTB_REG_POSITION	0x01u
#define ITRACE_MTB_REG_MASTER	0x02u
#define ITRACE_MTB_REG_FLOW	0x04u
#define ITRACE_MTB_REG_BASE	0x08u
#define ITRACE_MTB_REG_AW	0x10u
#define ITRACE_MTB_REG_PC_ARM	0x20u
#define ITRACE_MTB_REG_PC_HALT	0x40u
#define ITRACE_MTB_REG_VTOR	0x80u

#define ITRACE_MTB_POSITION_WRAP	0x4u
#define ITRACE_MTB_MASTER_EN		0x80000000u
#define ITRACE_MTB_MASTER_HALTREQ	0x200u
#define ITRACE_MTB_MASTER_MASK		0x1fu
#define ITRACE_MTB_FLOW_AUTOHALT	0x2u
#define ITRACE_MTB_FLOW_AUTOSTOP	0x1u

enum itrace_mtb_ring_status {
	ITRACE_MTB_RING_OK,
	ITRACE_MTB_RING_BAD_AW,			/* AW is not 4 .. 32 */
	ITRACE_MTB_RING_BAD_BASE,		/* BASE is no multiple of 32 */
	ITRACE_MTB_RING_POSITION_ABOVE_AW,	/* POSITION has bits that an MTB of this AW reads as zero */
	ITRACE_MTB_RING_NO_SIZE,		/* POSITION without MASTER, and the dump's length is no buffer's */
	ITRACE_MTB_RING_NO_PLACE,		/* a dump at an address, but neither BASE nor AW says where the buffer is */
	ITRACE_MTB_RING_AMBIGUOUS,		/* the dump is longer than 2^AW and BASE is not known */
	ITRACE_MTB_RING_NEEDS_AW,		/* BASE is no multiple of 2^AW for every AW that there can be */
	ITRACE_MTB_RING_OUTSIDE,		/* the buffer begins outside of the dump */
	ITRACE_MTB_RING_CUT,			/* the dump ends inside of what was traced */
	ITRACE_MTB_RING_BEFORE,			/* the dump begins inside of what was traced */
	ITRACE_MTB_RING_STATUS_NUM
};

/* A stretch of the dump. */
struct itrace_mtb_piece {
	uint64_t off;
	uint64_t len;
};

struct itrace_mtb_ring {
	struct itrace_mtb_piece pieces[2];	/* oldest packet first */
	unsigned int piece_count;	/* 0: nothing was traced */
	bool known;			/* by registers; false: the dump is taken as packets in order */
	bool wrapped;			/* older packets were overwritten */
	bool size_from_dump;		/* MASTER is not known */
	bool front_missing;		/* the dump begins inside the buffer, which has not wrapped */
	bool clamped;			/* MASTER.MASK is above AW - 4: the MTB takes it as that */
	uint64_t size;			/* of the buffer */
	uint64_t start;			/* address of its first byte modulo 2^AW: P0 */
	uint64_t dump_off;		/* offset in the dump of its first byte */
	uint64_t need_len;		/* CUT, OUTSIDE: bytes that the dump would have to have */
};

/*
 * Find the trace in a dump of @a len bytes.
 * @param has_addr the dump begins at bus address @a addr; else it is the buffer itself, from its first byte on (and may
 *                 end where the trace ends when that did not wrap)
 * @param[out] ring filled as far as the status allows
 * @returns enum itrace_mtb_ring_status. A partial packet at the end of a dump in order is left in its piece.
 */
enum itrace_mtb_ring_status itrace_mtb_ring_find(struct itrace_mtb_ring *ring,
		const struct itrace_mtb_registers *regs, bool has_addr, uint64_t addr, uint64_t len);

/* Bus address of @a position (its low 3 bits are ignored), by the formula of LPC84x's and Arm's manuals. */
uint64_t itrace_mtb_bus_address(uint32_t base, unsigned int aw, uint32_t position);

/*
 * The register called @a name ("POSITION", without regard to case) or NULL. @a bit is its ITRACE_MTB_REG_... bit; it
 * may be NULL.
 */
uint32_t *itrace_mtb_register(struct itrace_mtb_registers *regs, const char *name, uint32_t *bit);

/* Names in the order of their bits; NULL behind the last. */
const char *itrace_mtb_register_name(unsigned int index);

/* What is wrong and what to do, one line without values; never NULL. */
const char *itrace_mtb_ring_status_text(enum itrace_mtb_ring_status status);

#endif /* OPENOCD_ITRACE_MTB_RING_H */
