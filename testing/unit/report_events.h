/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Events as a core would make them, for tests of what reads them.
 */

#ifndef TESTING_UNIT_REPORT_EVENTS_H
#define TESTING_UNIT_REPORT_EVENTS_H

#include <string.h>

#include "event.h"
#include "insn.h"

#define TAKEN	ITRACE_EVENT_EXECUTED

/* @a count A64 instructions from @a addr on; the last one is of class @a branch. */
static inline struct itrace_event a64_range(uint64_t addr, uint32_t count, enum itrace_insn_class branch,
		unsigned int flags)
{
	struct itrace_event event;

	memset(&event, 0, sizeof(event));
	event.addr = addr;
	event.end = addr + 4ull * count;
	event.count = count;
	event.tag = itrace_event_range_tag(ITRACE_ISA_A64, branch, flags, 4);
	return event;
}

static inline struct itrace_event plain(uint64_t addr, uint32_t count)
{
	return a64_range(addr, count, ITRACE_INSN_OTHER, TAKEN);
}

static inline struct itrace_event call(uint64_t addr, uint32_t count)
{
	return a64_range(addr, count, ITRACE_INSN_DIRECT, TAKEN | ITRACE_INSN_LINK);
}

static inline struct itrace_event ret(uint64_t addr, uint32_t count)
{
	return a64_range(addr, count, ITRACE_INSN_INDIRECT, TAKEN | ITRACE_INSN_RETURN);
}

static inline struct itrace_event eret(uint64_t addr, uint32_t count)
{
	return a64_range(addr, count, ITRACE_INSN_INDIRECT, TAKEN | ITRACE_INSN_ERET);
}

static inline struct itrace_event jump(uint64_t addr, uint32_t count)
{
	return a64_range(addr, count, ITRACE_INSN_DIRECT, TAKEN);
}

static inline struct itrace_event not_taken(uint64_t addr, uint32_t count)
{
	return a64_range(addr, count, ITRACE_INSN_DIRECT, ITRACE_INSN_COND);
}

static inline struct itrace_event other(enum itrace_event_kind kind, unsigned int cause)
{
	struct itrace_event event;

	memset(&event, 0, sizeof(event));
	event.tag = itrace_event_tag(kind, 0, cause);
	return event;
}

static inline struct itrace_event trace_on(void)
{
	return other(ITRACE_EVENT_TRACE_ON, ITRACE_TRACE_ON_NORMAL);
}

static inline struct itrace_event context(uint32_t bits, uint64_t id)
{
	struct itrace_event event = other(ITRACE_EVENT_CONTEXT, 0);

	event.number = bits;
	event.addr = id;
	return event;
}

static inline struct itrace_event exception(uint32_t type, uint64_t return_addr)
{
	struct itrace_event event = other(ITRACE_EVENT_EXCEPTION, 0);

	event.flags = ITRACE_EVENT_HAS_ADDR;
	event.number = type;
	event.addr = return_addr;
	return event;
}

static inline struct itrace_event gap(enum itrace_gap cause, uint64_t addr)
{
	struct itrace_event event = other(ITRACE_EVENT_GAP, cause);

	event.flags = ITRACE_EVENT_HAS_ADDR;
	event.addr = addr;
	return event;
}

#endif /* TESTING_UNIT_REPORT_EVENTS_H */
