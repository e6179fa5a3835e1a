/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How execution came from one range of instructions to the next: call, return, jump ...
 */

#ifndef OPENOCD_ITRACE_REPORT_TRANSITION_H
#define OPENOCD_ITRACE_REPORT_TRANSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "../event.h"

enum itrace_transition_kind {
	ITRACE_TRANSITION_BEGIN,	/* what ran before is not known */
	ITRACE_TRANSITION_NEXT,		/* the next instruction in memory */
	ITRACE_TRANSITION_JUMP,		/* a branch that neither calls nor returns */
	ITRACE_TRANSITION_CALL,
	ITRACE_TRANSITION_RETURN,
	ITRACE_TRANSITION_EXCEPTION,
	ITRACE_TRANSITION_EXCEPTION_RETURN,
	ITRACE_TRANSITION_NUM
};

struct itrace_transition {
	struct itrace_event range;	/* the last one, when known */
	struct itrace_event exception;	/* the last one, when pending */
	bool known;			/* nothing is missing since range */
	bool exception_pending;		/* an exception was taken since range */
	bool return_pending;		/* an exception return was executed since range */
};

void itrace_transition_init(struct itrace_transition *transition);

/* Show it an event that is not a range. */
void itrace_transition_event(struct itrace_transition *transition, const struct itrace_event *event);

/* How execution came to @a range, which is the last range from now on. */
enum itrace_transition_kind itrace_transition_range(struct itrace_transition *transition,
		const struct itrace_event *range);

/*
 * Whether @a exception (not yet shown to @a transition) was taken where a call went, before the first instruction there
 * ran: then no range says that there was a call, and exception->addr is what was called.
 */
bool itrace_transition_cuts_call(const struct itrace_transition *transition, const struct itrace_event *exception);

/* Address of the last instruction of a range. */
static inline uint64_t itrace_range_last(const struct itrace_event *range)
{
	return range->end - range->last_size;
}

/* Whether a range ends with a branch that was taken: then what comes next is not the next instruction in memory. */
static inline bool itrace_range_branched(const struct itrace_event *range)
{
	return range->flags & ITRACE_EVENT_EXECUTED &&
			(range->branch == ITRACE_INSN_DIRECT || range->branch == ITRACE_INSN_INDIRECT);
}

#endif /* OPENOCD_ITRACE_REPORT_TRANSITION_H */
