/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What was read out of a Micro Trace Buffer: bytes, registers, and seams where it was read in several fillings.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_CAPTURE_H
#define OPENOCD_TARGET_ARMTRACE_MTB_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <itrace/report/capture.h>

/* if nothing else is said: so that a drain which nobody ends does not take all memory */
#define ARM_MTB_CAPTURE_MAX	((size_t)256 * 1024 * 1024)

/* All zero: there is none. */
struct arm_mtb_capture {
	bool exists;
	bool in_order;		/* packets in order, oldest first; else the buffer from its first byte on */
	uint8_t *bytes;
	size_t len;
	size_t staged;		/* bytes behind len that are here, but may be read once more */
	size_t room;
	size_t most;		/* it must not get longer; 0: ARM_MTB_CAPTURE_MAX */
	struct itrace_seam *seams;
	size_t seam_count;
	size_t seam_room;
	struct itrace_mtb_registers regs;
	uint32_t buffer;	/* bus address of the buffer's first byte */
	uint32_t buffer_size;
	uint64_t lost;		/* packets that were overwritten before they could be read */
};

/* Forget all, keep the memory. */
void arm_mtb_capture_clear(struct arm_mtb_capture *capture);

void arm_mtb_capture_free(struct arm_mtb_capture *capture);

/*
 * Room for @a len bytes behind those that count and those that are staged.
 * @returns where they go; NULL: no memory, or too much
 */
uint8_t *arm_mtb_capture_stage(struct arm_mtb_capture *capture, size_t len);

/* What is staged counts from now on. */
void arm_mtb_capture_commit(struct arm_mtb_capture *capture);

/* The next bytes are of another filling; @a pc: where the core stood, NULL: not known. @returns false: no memory */
bool arm_mtb_capture_seam(struct arm_mtb_capture *capture, const uint32_t *pc);

/* Packets that were traced, as registers and bytes say. */
uint64_t arm_mtb_capture_packets(const struct arm_mtb_capture *capture);

/*
 * The options with which `mtb decode -trace FILE` decodes these bytes: "-buffer 0x... -reg NAME=0x... ...".
 * @a text: 512 bytes are enough
 */
void arm_mtb_capture_options(const struct arm_mtb_capture *capture, char *text, size_t size);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_CAPTURE_H */
