/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the parts of an MTB object share (see mtb_object.h). Not for others.
 * All that return int give ERROR_OK, or an OpenOCD error and one line in @a why.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_PARTS_H
#define OPENOCD_TARGET_ARMTRACE_MTB_PARTS_H

#include "mtb_object.h"

/* ---- mtb_hardware.c ---- */

/* The RAM's place: the user's word wins over BASE. */
int arm_mtb_find_ram(struct arm_mtb *mtb, uint32_t base, char *why, size_t why_size);

/*
 * arm_mtb_look(), when it is known which MTB this is and nobody else uses it: arm_mtb_need_alone() of both the object
 * and its MTB.
 */
int arm_mtb_look_alone(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size);

/* How many address bits; EN is clear, or the core stands. Once for each part. */
int arm_mtb_find_aw(struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size);

/* Place and size of the buffer that @a state tells of. Nothing is traced, or AW is known. */
int arm_mtb_find_armed(struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size);

/* ---- mtb_arm.c ---- */

/* Find the hardware, place the buffer, write all, EN last. On failure what was written is put back. */
int arm_mtb_arm(struct arm_mtb *mtb, char *why, size_t why_size);

/* The same place and mode once more, behind a reset. */
int arm_mtb_arm_again(struct arm_mtb *mtb, char *why, size_t why_size);

/* What was armed just now: where does its first instruction lie, if that is known? */
void arm_mtb_note_begin(struct arm_mtb *mtb);

/* Is it still armed as it was? While the core runs POSITION moves, and the hardware can clear EN or set HALTREQ. */
bool arm_mtb_is_armed(const struct arm_mtb *mtb, const struct arm_mtb_state *state);

/* Registers as found before start. */
int arm_mtb_put_back(struct arm_mtb *mtb);

/* ---- mtb_trace.c ---- */

/*
 * An MTB has one object that uses it: two would undo each other's work. The trace of one whose command is deleted ends
 * for this one. By core only as long as the MTB is not identified.
 */
int arm_mtb_need_alone(const struct arm_mtb *mtb, char *why, size_t why_size);

/* ---- mtb_read.c ---- */

/* What the buffer holds, into mtb->capture. @param end tracing ends; @param[out] state as last read */
int arm_mtb_capture_now(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size);

/* The line that a full buffer of mode halt has, once for each halt. @param state as read before HALTREQ was cleared */
void arm_mtb_tell_full(const struct arm_mtb *mtb, const struct arm_mtb_state *state);

/* Nothing is traced until arm_mtb_let_go(). @param end for ever; @param[in,out] state as last read */
int arm_mtb_hold(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size);

/* Tracing goes on after arm_mtb_hold(). Nothing to do is fine. */
int arm_mtb_let_go(struct arm_mtb *mtb, char *why, size_t why_size);

/* Nothing of ours stays in the hardware. @param[in,out] state as last read */
int arm_mtb_disarm(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size);

/* What was drained is the capture from now on. */
void arm_mtb_take_drained(struct arm_mtb *mtb);

/* ---- mtb_background.c ---- */

/* Begin and end to look after a new or dying object. */
void arm_mtb_attach(struct arm_mtb *mtb);
void arm_mtb_detach(struct arm_mtb *mtb);

/*
 * Behind a reset that OpenOCD says it has seen, but did not do.
 * @returns what is armed may still be there: it is (then this is no longer behind a reset), or the MTB does not answer
 */
bool arm_mtb_survived_reset(struct arm_mtb *mtb);

/* Behind a reset that OpenOCD did not do: what the MTB has kept of what led to it is the capture, once. */
void arm_mtb_capture_unasked(struct arm_mtb *mtb);

/* Tracing begins, or has ended. */
void arm_mtb_hook(struct arm_mtb *mtb);
void arm_mtb_unhook(struct arm_mtb *mtb);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_PARTS_H */
