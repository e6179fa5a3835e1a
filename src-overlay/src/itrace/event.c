// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Words for flow events: causes of gaps, exception types.
 */

#include <stddef.h>

#include "event.h"

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))

/* exception types of the interrupts from number 8 on, M profile */
#define M_IRQ_FIRST	0x208u
#define M_IRQ_LAST	0x3efu

struct gap_words {
	const char *name;
	const char *remedy;
};

static const struct gap_words gap_words[] = {
	[ITRACE_GAP_NO_MEMORY] = {
		"no-memory",
		"give the code at this address: the ELF file, a dump of what ran there, or the memory of the target"
	},
	[ITRACE_GAP_OVERFLOW] = {
		"overflow",
		"the trace unit was faster than its sink: trace less (filter, no cycle counts) or let it stall the core"
	},
	[ITRACE_GAP_DISCARD] = {
		"discard",
		"the trace unit was switched off while it traced; stop and flush the trace before power or clocks go"
	},
	[ITRACE_GAP_BAD_PACKET] = {
		"bad-packet",
		"check protocol, trace ID, framing and ID registers; if they are right the bytes were damaged"
	},
	[ITRACE_GAP_BAD_SEQUENCE] = {
		"bad-sequence",
		"check protocol and ID registers; if they are right packets were lost"
	},
	[ITRACE_GAP_COMMIT_OVERRUN] = {
		"commit-overrun",
		"check TRCIDR8 and TRCIDR0; if they are right packets were lost"
	},
	[ITRACE_GAP_SPECULATION_DEPTH] = {
		"speculation-depth",
		"check TRCIDR8: it asks for more uncommitted elements than any known trace unit has"
	},
	[ITRACE_GAP_RETURN_STACK] = {
		"return-stack",
		"check TRCCONFIGR.RS and the program image; if they are right switch the return stack off"
	},
	[ITRACE_GAP_NOT_DESCRIBED] = {
		"not-described",
		"no public source says how this branch (the BF family) is traced; build that function without it"
	},
	[ITRACE_GAP_BAD_IMAGE] = {
		"bad-image",
		"the program image is not what ran: give the ELF file of this build, or the code as relocated"
	},
	[ITRACE_GAP_NO_ADDRESS] = {
		"no-address",
		"check TRCCONFIGR.RS; if it is right the trace unit did not send where a branch or an exception went"
	},
	[ITRACE_GAP_FRAME] = {
		"frame",
		"check the framing and that the buffer starts at a frame; a trace port may have lost bytes"
	},
	[ITRACE_GAP_JOIN] = {
		"join",
		"nothing to do: two pieces of trace meet here, and nothing is known about what ran between them"
	},
	[ITRACE_GAP_TARGET_DIFFERS] = {
		"target-differs",
		"the program image is not what ran, or the trace was read while it was written: give the ELF file of this build"
	},
	[ITRACE_GAP_NOT_A_BRANCH] = {
		"not-a-branch",
		"give the ELF file of this build; code that was patched or loaded later has to come from the target's memory"
	},
	[ITRACE_GAP_NO_WAY] = {
		"no-way",
		"the program image is not what ran, or packets are missing: give the ELF of this build, check the registers"
	}
};

_Static_assert(ARRAY_NUM(gap_words) == ITRACE_GAP_NUM, "each cause of a gap needs its words");

const char *itrace_gap_name(enum itrace_gap gap)
{
	return (unsigned int)gap < ITRACE_GAP_NUM ? gap_words[gap].name : "unknown";
}

const char *itrace_gap_remedy(enum itrace_gap gap)
{
	return (unsigned int)gap < ITRACE_GAP_NUM ? gap_words[gap].remedy : "none is known";
}

/* NULL: reserved */
static const char * const exception_names[0x10] = {
	[0x00] = "PE Reset", [0x01] = "Debug Halt", [0x02] = "Call", [0x03] = "Trap",
	[0x04] = "System Error", [0x06] = "Inst Debug", [0x07] = "Data Debug", [0x0a] = "Alignment",
	[0x0b] = "Inst Fault", [0x0c] = "Data Fault", [0x0e] = "IRQ", [0x0f] = "FIQ"
};

static const char * const exception_names_m[0x20] = {
	[0x01] = "PE Reset", [0x02] = "NMI", [0x03] = "HardFault", [0x04] = "MemManage",
	[0x05] = "BusFault", [0x06] = "UsageFault", [0x0b] = "SVC", [0x0c] = "DebugMonitor",
	[0x0e] = "PendSV", [0x0f] = "SysTick", [0x10] = "IRQ0", [0x11] = "IRQ1",
	[0x12] = "IRQ2", [0x13] = "IRQ3", [0x14] = "IRQ4", [0x15] = "IRQ5",
	[0x16] = "IRQ6", [0x17] = "IRQ7", [0x18] = "DebugHalt", [0x19] = "LazyFP Push",
	[0x1a] = "Lockup"
};

const char *itrace_exception_name(bool m_profile, unsigned int type)
{
	const char *name = NULL;

	if (!m_profile && type < ARRAY_NUM(exception_names))
		name = exception_names[type];
	else if (m_profile && type < ARRAY_NUM(exception_names_m))
		name = exception_names_m[type];
	else if (m_profile && type >= M_IRQ_FIRST && type <= M_IRQ_LAST)
		name = "IRQ";
	return name ? name : "Reserved";
}
