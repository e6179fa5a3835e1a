/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A Micro Trace Buffer as an object: what the user configured, what is known of the hardware, and of the trace.
 *
 *     idle ──start──► armed ──stop──► stopped ──start──► ...
 *
 * idle and stopped: nothing of ours is in the hardware. armed: it traces, or waits, or is full. A capture that was made
 * stays until the first one of the next start. Every function that can fail gives one line in @a why.
 *
 * What is done with it is declared in mtb_trace.h. How it is armed stands in mtb_arm.c, read in mtb_read.c, and what
 * happens without a command (halts, resets, other users of the core) in mtb_background.c.
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
#include "ocd_compat.h"

struct target;

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

extern const char *const arm_mtb_event_names[ARM_MTB_EVENT_NUM];

/* What the user says. */
struct arm_mtb_config {
	bool base_given;
	target_addr_t base;
	bool rambase_given;
	uint32_t rambase;
	uint32_t ramsize;	/* 0: not given */
	uint32_t capture_max;	/* bytes of a drained capture; 0: not given */
	bool buffer_given;
	struct arm_mtb_buffer buffer;
	enum arm_mtb_when_full when_full;
	char *start;		/* address or symbol; NULL: none */
	char *stop;
	char **elfs;
	size_t elf_count;
	Jim_Obj *events[ARM_MTB_EVENT_NUM];
};

/* What was cleared so that the buffer can be read. */
struct arm_mtb_held {
	bool held;
	bool en;
	bool flow;		/* FLOW was cleared too */
};

/* Functions of the target's own copy of its type that are replaced while it is traced (mtb_background.c). */
struct arm_mtb_hooks {
	bool set;
	ocd_poll_fn *poll;
	ocd_run_algorithm_fn *run_algorithm;
	ocd_start_algorithm_fn *start_algorithm;
	ocd_wait_algorithm_fn *wait_algorithm;
	bool paused;	/* by start_algorithm, until wait_algorithm */
};

struct arm_mtb {
	struct list_head lh;		/* the newest first */
	char *name;
	struct target *target;
	Jim_Interp *interp;
	struct arm_mtb_config config;

	/* of the hardware */
	struct arm_mtb_port port;
	bool identified;
	struct arm_mtb_id id;
	unsigned int aw;		/* 0: not known */
	struct arm_mtb_buffer seen;	/* there is memory in this one; size 0: none was looked at */
	bool before_known;
	struct arm_mtb_state before;	/* registers as they were found */

	/* of the trace */
	enum arm_mtb_phase phase;
	unsigned int trace_number;	/* of those that were begun */
	bool starting;			/* a start runs its pre-enable body */
	bool touched;			/* this start has written to the hardware */
	bool adopted;			/* what is armed is not ours */
	bool stopping;			/* captured to stop, but the hardware was not stopped yet */
	bool disabling;			/* disable failed */
	bool said_goodbye;		/* pre-disable was run */
	bool paused;			/* held for OpenOCD's own code on the core */
	bool rearm;			/* the target was reset: arm again */
	bool unasked_reset;		/* and not by OpenOCD */
	int64_t rearm_until;		/* ms; 0: not tried yet */
	bool reset_told;		/* the event reset was run */
	bool reset_seen;		/* armed again since, and nothing was captured since */
	bool full;
	bool told_off;			/* that tracing was found off */
	struct arm_mtb_held held;
	enum arm_mtb_when_full when_full;
	struct arm_mtb_ram ram;
	struct arm_mtb_buffer buffer;
	struct arm_mtb_state armed;	/* as written; MASTER with EN */
	bool left_known;		/* nothing was armed since stop */
	struct arm_mtb_state left;	/* as stop has left it, and captured it */
	bool found_left;		/* and as this trace has found it */
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
	bool draining;
	struct arm_mtb_drain drain;

	/* of the background */
	struct arm_mtb_hooks hooks;
	bool ticking;			/* the timer is wanted */
	bool timer;			/* it is registered */
	int64_t retry_at;		/* ms, of the timer's look at the core */
	bool haltreq_settled;		/* looked at since the core was halted */
	char error[ARM_MTB_WHY];	/* of the last action in the background; empty: none */
	struct armtrace_decoder decoder;
};

/*
 * A new object that nobody looks after yet (see arm_mtb_new()).
 * @param target of type cortex_m or hla_target, or mem_ap (then without what needs a core)
 * @returns NULL: why
 */
struct arm_mtb *arm_mtb_object_new(Jim_Interp *interp, const char *name, struct target *target, char *why,
		size_t why_size);

void arm_mtb_object_free(struct arm_mtb *mtb);

/* Each may be freed by its own @a action. */
void arm_mtb_objects_each(void (*action)(struct arm_mtb *mtb));

/* The newest of this name, as the command of an older one may be deleted. @returns NULL: there is none */
struct arm_mtb *arm_mtb_find(const char *name);

/* The object that traces @a target; NULL: none. */
struct arm_mtb *arm_mtb_tracing(const struct target *target);

/* Another that traces with the MTB of this one: by the same core, or by another way to its registers. NULL: none */
struct arm_mtb *arm_mtb_rival(const struct arm_mtb *mtb);

/* Is there a Tcl command of this name? */
bool arm_mtb_command_exists(Jim_Interp *interp, const char *name);

/* Is the target a core, which can be halted? */
bool arm_mtb_has_core(const struct arm_mtb *mtb);

/* One line that begins with the object's name. @returns @a retval, or ERROR_FAIL if that is none */
int arm_mtb_fail(char *why, size_t why_size, int retval, const struct arm_mtb *mtb, const char *format, ...)
	__attribute__((format(PRINTF_ATTRIBUTE_FORMAT, 5, 6)));

/* "... cannot be read" or "written", as @a what says. */
int arm_mtb_unreachable(const struct arm_mtb *mtb, int retval, const char *what, char *why, size_t why_size);

/* Can the target be accessed? */
int arm_mtb_need_target(const struct arm_mtb *mtb, char *why, size_t why_size);

/* As OpenOCD knows it; a mem_ap has no core that could stand. */
bool arm_mtb_is_halted(const struct arm_mtb *mtb);

/* Where the halted core stands. @returns false: it is not halted, or does not say */
bool arm_mtb_core_pc(const struct arm_mtb *mtb, uint32_t *pc);

/* Run the user's body for it, if there is one. */
int arm_mtb_run_event(struct arm_mtb *mtb, enum arm_mtb_event event, char *why, size_t why_size);

/* Bytes of the buffer that hold packets. */
uint32_t arm_mtb_used_bytes(const struct arm_mtb *mtb, const struct arm_mtb_state *state);

/* Packets in the buffer now, by its registers. */
uint32_t arm_mtb_packets(const struct arm_mtb *mtb, const struct arm_mtb_state *state);

/* Has the buffer halted or stopped what it was armed to? */
bool arm_mtb_is_full(const struct arm_mtb *mtb, const struct arm_mtb_state *state);

/* What went wrong in the background last; empty: nothing. */
const char *arm_mtb_error(const struct arm_mtb *mtb);

#endif /* OPENOCD_TARGET_ARMTRACE_MTB_OBJECT_H */
