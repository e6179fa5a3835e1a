/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A Micro Trace Buffer as an object: what the user configured, what is known of the hardware, and the trace.
 *
 *     idle ──start──► armed ──stop──► stopped ──start──► ...
 *
 * idle and stopped: nothing of ours is in the hardware. armed: it traces, or waits, or is full. A capture that was made
 * stays until the first one of the next start. Every function that can fail gives one line in @a why.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_MTB_OBJECT_H
#define OPENOCD_TARGET_ARMTRACE_MTB_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <helper/command.h>
#include <helper/jim-nvp.h>
#include <helper/list.h>
#include <helper/types.h>

#include "decode_command.h"
#include "mtb_buffer.h"
#include "mtb_capture.h"
#include "mtb_drain.h"
#include "mtb_port.h"
#include "mtb_trigger.h"

struct target;
struct target_type;

#define ARM_MTB_WHY	640	/* bytes of a line that tells why */

enum arm_mtb_phase {
	ARM_MTB_IDLE,
	ARM_MTB_ARMED,
	ARM_MTB_STOPPED,
	ARM_MTB_PHASE_NUM
};

enum arm_mtb_when_full {
	ARM_MTB_WRAP,
	ARM_MTB_STOP,
	ARM_MTB_HALT,
	ARM_MTB_DRAIN,
	ARM_MTB_WHEN_FULL_NUM
};

enum arm_mtb_event {
	ARM_MTB_PRE_ENABLE,
	ARM_MTB_POST_ENABLE,
	ARM_MTB_PRE_DISABLE,
	ARM_MTB_RESET,
	ARM_MTB_EVENT_NUM
};

/* What the user says. */
struct arm_mtb_config {
	bool base_given;
	target_addr_t base;
	bool rambase_given;
	uint32_t rambase;
	uint32_t ramsize;	/* 0: not given */
	bool buffer_given;
	struct arm_mtb_buffer buffer;
	enum arm_mtb_when_full when_full;
	char *start;		/* address or symbol; NULL: none */
	char *stop;
	char **elfs;
	size_t elf_count;
	Jim_Obj *events[ARM_MTB_EVENT_NUM];
};

struct arm_mtb {
	struct list_head lh;
	char *name;
	struct target *target;
	Jim_Interp *interp;
	struct arm_mtb_config config;

	/* of the hardware */
	struct arm_mtb_port port;
	bool identified;
	struct arm_mtb_id id;
	unsigned int aw;		/* 0: not known */
	bool stopping;			/* captured to stop, but the hardware was not stopped yet */
	bool disabling;			/* disable failed */
	int64_t retry_at;		/* of the timer, in ms */
	bool ours;			/* POSITION and MASK are still those of the buffer, FLOW is 0 */
	bool before_known;
	struct arm_mtb_state before;	/* registers as they were found */

	/* of the trace */
	enum arm_mtb_phase phase;
	bool adopted;			/* what is armed is not ours */
	bool paused;			/* EN was cleared here, to be set again */
	bool rearm;			/* the target was reset: arm again */
	bool reset_seen;		/* armed again since, and nothing was captured since */
	bool full;
	enum arm_mtb_when_full when_full;
	struct arm_mtb_ram ram;
	struct arm_mtb_buffer buffer;
	struct arm_mtb_state armed;	/* as written; MASTER with EN */
	bool has_pc_arm;
	uint32_t pc_arm;
	bool has_start, has_stop;
	uint32_t start, stop;
	struct arm_mtb_trigger trigger;
	bool vtor_known;
	uint32_t vtor;

	/* of the capture */
	bool fresh;			/* nothing was captured since start */
	struct arm_mtb_capture capture;
	struct arm_mtb_capture drained;	/* what is drained first, until it is sure that the capture can go */
	struct arm_mtb_drain drain;
	bool ticking;			/* the timer runs */
	int (*target_poll)(struct target *target);	/* the original, while it is replaced; NULL: it is not */
	char error[ARM_MTB_WHY];	/* of the last action in the background; empty: none */
	struct armtrace_decoder decoder;
};

/*
 * A new object, before or after init; its command is the caller's affair (mtb.h).
 * @param target of type cortex_m or hla_target, or mem_ap (then without what needs a core)
 * @returns NULL: why
 */
struct arm_mtb *arm_mtb_new(Jim_Interp *interp, const char *name, struct target *target, char *why, size_t why_size);

/* Free an object that has no command (yet). */
void arm_mtb_free(struct arm_mtb *mtb);

/* @returns NULL: there is none of this name */
struct arm_mtb *arm_mtb_find(const char *name);

/* Is the target a core, which can be halted? */
bool arm_mtb_has_core(const struct arm_mtb *mtb);

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

/* Packets in the buffer now, by its registers. */
uint32_t arm_mtb_packets(const struct arm_mtb *mtb, const struct arm_mtb_state *state);

/* Has the buffer halted or stopped what it was armed to? */
bool arm_mtb_is_full(const struct arm_mtb *mtb, const struct arm_mtb_state *state);

/* What went wrong in the background last; empty: nothing. */
const char *arm_mtb_error(const struct arm_mtb *mtb);

/* The capture as decodes take it; the strings are the object's. @returns false: there is none */
bool arm_mtb_get_capture(const struct arm_mtb *mtb, struct itrace_capture *capture);

/* All objects go. No access to hardware. */
void arm_mtb_cleanup_all(void);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_OBJECT_H */
