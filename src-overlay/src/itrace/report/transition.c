// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <string.h>

#include "../insn.h"
#include "transition.h"

void itrace_transition_init(struct itrace_transition *transition)
{
	memset(transition, 0, sizeof(*transition));
}

void itrace_transition_event(struct itrace_transition *transition, const struct itrace_event *event)
{
	switch (event->kind) {
	case ITRACE_EVENT_EXCEPTION:
		transition->exception = *event;
		transition->exception_pending = true;
		break;
	case ITRACE_EVENT_EXCEPTION_RETURN:
		transition->return_pending = true;
		break;
	case ITRACE_EVENT_RANGE_NO_PATH:
	case ITRACE_EVENT_TRACE_ON:
	case ITRACE_EVENT_GAP:
	case ITRACE_EVENT_NO_SYNC:
	case ITRACE_EVENT_END:
		itrace_transition_init(transition);
		break;
	default:
		break;
	}
}

bool itrace_transition_cuts_call(const struct itrace_transition *transition, const struct itrace_event *exception)
{
	return transition->known && !transition->exception_pending && !transition->return_pending &&
		itrace_range_branched(&transition->range) && transition->range.flags & ITRACE_INSN_LINK &&
		exception->flags & ITRACE_EVENT_HAS_ADDR;
}

static enum itrace_transition_kind classify(const struct itrace_transition *transition,
		const struct itrace_event *range)
{
	const struct itrace_event *last = &transition->range;

	/* an exception that is taken right behind a trace-on has no range before it */
	if (transition->exception_pending)
		return ITRACE_TRANSITION_EXCEPTION;
	if (!transition->known)
		return transition->return_pending ? ITRACE_TRANSITION_EXCEPTION_RETURN : ITRACE_TRANSITION_BEGIN;
	if (transition->return_pending)
		return ITRACE_TRANSITION_EXCEPTION_RETURN;
	if (itrace_range_branched(last)) {
		if (last->flags & ITRACE_INSN_ERET)
			return ITRACE_TRANSITION_EXCEPTION_RETURN;
		if (last->flags & ITRACE_INSN_LINK)
			return ITRACE_TRANSITION_CALL;
		if (last->flags & (ITRACE_INSN_RETURN | ITRACE_INSN_IMPLIED_RETURN))
			return ITRACE_TRANSITION_RETURN;
		return ITRACE_TRANSITION_JUMP;
	}
	/* a selection may leave out what lies between */
	return range->addr == last->end ? ITRACE_TRANSITION_NEXT : ITRACE_TRANSITION_BEGIN;
}

enum itrace_transition_kind itrace_transition_range(struct itrace_transition *transition,
		const struct itrace_event *range)
{
	enum itrace_transition_kind kind = classify(transition, range);

	transition->range = *range;
	transition->known = true;
	transition->exception_pending = false;
	transition->return_pending = false;
	return kind;
}
