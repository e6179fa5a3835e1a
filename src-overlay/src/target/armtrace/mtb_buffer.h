/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where a Micro Trace Buffer's packets go: which stretch of RAM, and whether that is safe.
 *
 * A buffer is a power of two of bytes, at least 16, and aligned to its size: with a start that is not, the MTB silently
 * writes elsewhere. POSITION holds bus addresses modulo 2^AW (mtb_ring.h of the decoder has the formula).
 * No hardware is touched here.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_BUFFER_H
#define OPENOCD_TARGET_ARMTRACE_MTB_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mtb_program.h"

#define ARM_MTB_BUFFER_MIN	16u

/* RAM that the MTB can write to. */
struct arm_mtb_ram {
	uint32_t base;		/* bus address: BASE, or what the user says */
	unsigned int aw;	/* it decodes 2^aw bytes */
	uint32_t size;		/* what there really is, as the user says; 0: not known */
};

struct arm_mtb_buffer {
	uint32_t addr;
	uint32_t size;		/* bytes */
};

/* What else lies in RAM. The caller's. */
struct arm_mtb_neighbours {
	const struct arm_mtb_program *programs;
	size_t program_count;
	uint32_t work_area;		/* OpenOCD's own */
	uint32_t work_area_size;	/* 0: none */
};

/* POSITION for a packet at bus address @a addr. */
uint32_t arm_mtb_position_of(const struct arm_mtb_ram *ram, uint32_t addr);

/* Bus address of @a position; its low 3 bits do not count. */
uint32_t arm_mtb_address_of(const struct arm_mtb_ram *ram, uint32_t position);

/* MASTER.MASK for a buffer of @a size bytes. */
uint32_t arm_mtb_mask_of(uint32_t size);

/*
 * Is this a buffer, in RAM, and does nothing else use it? A section may, where the buffer is inside of an object of the
 * program that is there for it (arm_mtb_buffer_symbols).
 * @param[out] why one line, when not
 */
bool arm_mtb_buffer_check(const struct arm_mtb_buffer *buffer, const struct arm_mtb_ram *ram,
		const struct arm_mtb_neighbours *neighbours, char *why, size_t why_size);

/*
 * Choose one: the program's object for it (NULL in @a from: a free corner of RAM). Of an object that is no power of two
 * or not aligned, the largest part that is.
 * @param[out] from what was chosen, for a message: the name of the symbol, or NULL
 * @returns false: why
 */
bool arm_mtb_buffer_choose(struct arm_mtb_buffer *buffer, const struct arm_mtb_ram *ram,
		const struct arm_mtb_neighbours *neighbours, const char **from, char *why, size_t why_size);

/* Names that programs give to the buffer, by custom of the vendors' tools; NULL behind the last. */
extern const char *const arm_mtb_buffer_symbols[];

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_BUFFER_H */
