/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What can be done with a Micro Trace Buffer object. Every function that can fail gives one line in @a why.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_TRACE_H
#define OPENOCD_TARGET_ARMTRACE_MTB_TRACE_H

#include "mtb_object.h"

/*
 * A new object, before or after init; its command is the caller's affair (mtb.h).
 * @param target of type cortex_m or hla_target, or mem_ap (then without what needs a core)
 * @returns NULL: why
 */
struct arm_mtb *arm_mtb_new(Jim_Interp *interp, const char *name, struct target *target, char *why, size_t why_size);

/* Free an object that has no command (yet). */
void arm_mtb_free(struct arm_mtb *mtb);

/* Where symbol or number @a text is: even. @returns false: why */
bool arm_mtb_address(const struct arm_mtb *mtb, const char *text, uint32_t *addr, char *why, size_t why_size);

/* Check all that can be checked, then arm. On failure all is as before. */
int arm_mtb_start(struct arm_mtb *mtb, char *why, size_t why_size);

/* Capture and stop. When reading fails the trace stays armed, and stop can be tried again. */
int arm_mtb_stop(struct arm_mtb *mtb, char *why, size_t why_size);

/* Capture; tracing goes on. */
int arm_mtb_flush(struct arm_mtb *mtb, char *why, size_t why_size);

/* Take over what the program armed; capture it if nothing writes to it. */
int arm_mtb_adopt(struct arm_mtb *mtb, char *why, size_t why_size);

/* Registers as before start, without a capture. Nothing to do is fine. */
int arm_mtb_disable(struct arm_mtb *mtb, char *why, size_t why_size);

/*
 * Make sure that it is an MTB, and read its registers (before that they are not touched).
 * @param[out] state as read
 */
int arm_mtb_look(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size);

/* The capture as decodes take it; the strings are the object's. @returns false: there is none */
bool arm_mtb_get_capture(const struct arm_mtb *mtb, struct itrace_capture *capture);

/*
 * All objects go. What would halt the core later, with nobody there to resume it, is switched off as far as the target
 * answers; any other trace stays armed.
 */
void arm_mtb_cleanup_all(void);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_TRACE_H */
