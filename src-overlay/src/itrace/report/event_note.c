// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>

#include "event_note.h"

#define ARRAY_LEN(array)	(sizeof(array) / sizeof((array)[0]))

static const char *name_of(const char *const *names, size_t count, unsigned int index)
{
	return index < count && names[index] ? names[index] : "unknown";
}

const char *itrace_no_sync_name(unsigned int cause)
{
	static const char *const names[] = {
		[ITRACE_NO_SYNC_INIT] = "start",
		[ITRACE_NO_SYNC_RESET] = "next buffer",
		[ITRACE_NO_SYNC_OVERFLOW] = "overflow",
		[ITRACE_NO_SYNC_DISCARD] = "discard",
		[ITRACE_NO_SYNC_BAD_PACKET] = "bad packet",
	};
	_Static_assert(ARRAY_LEN(names) == ITRACE_NO_SYNC_NUM, "a name for each");

	return name_of(names, ARRAY_LEN(names), cause);
}

const char *itrace_transaction_name(unsigned int cause)
{
	static const char *const names[] = {
		[ITRACE_TRANSACTION_INIT] = "init",
		[ITRACE_TRANSACTION_START] = "start",
		[ITRACE_TRANSACTION_COMMIT] = "commit",
		[ITRACE_TRANSACTION_FAIL] = "fail",
	};
	_Static_assert(ARRAY_LEN(names) == ITRACE_TRANSACTION_NUM, "a name for each");

	return name_of(names, ARRAY_LEN(names), cause);
}

const char *itrace_isa_name(unsigned int isa)
{
	static const char *const names[] = {
		[ITRACE_ISA_A64] = "A64",
		[ITRACE_ISA_A32] = "A32",
		[ITRACE_ISA_T32] = "T32",
	};
	_Static_assert(ARRAY_LEN(names) == ITRACE_ISA_NUM, "a name for each");

	return name_of(names, ARRAY_LEN(names), isa);
}

const char *itrace_security_name(unsigned int context)
{
	switch (context & ITRACE_CONTEXT_SECURITY) {
	case ITRACE_SECURITY_SECURE:
		return "secure";
	case ITRACE_SECURITY_NON_SECURE:
		return "non-secure";
	case ITRACE_SECURITY_ROOT:
		return "root";
	default:
		return "realm";
	}
}

void itrace_gap_words(enum itrace_gap gap, char *text, size_t size)
{
	snprintf(text, size, "%s", itrace_gap_name(gap));
	for (; *text; text++)
		if (*text == '-')
			*text = ' ';
}

size_t itrace_context_note(bool m_profile, const struct itrace_event *context, char *text, size_t size)
{
	char id[32] = "", vmid[32] = "";

	if (context->number & ITRACE_CONTEXT_HAS_CID)
		snprintf(id, sizeof(id), ", context ID 0x%" PRIx64, context->addr);
	if (context->number & ITRACE_CONTEXT_HAS_VMID)
		snprintf(vmid, sizeof(vmid), ", VMID 0x%" PRIx64, context->end);

	int len;
	if (m_profile)
		/* M profile: level 0 is thread mode or handler mode; the packet tells only the security state */
		len = snprintf(text, size, "%s%s%s", itrace_security_name(context->number), id, vmid);
	else
		len = snprintf(text, size, "EL%u %s %s%s%s", context->number & ITRACE_CONTEXT_EL_MASK,
				itrace_security_name(context->number),
				context->number & ITRACE_CONTEXT_SF ? "AArch64" : "AArch32", id, vmid);
	return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

static void note_exception(const struct itrace_program *program, const struct itrace_event *event,
		struct itrace_output *out)
{
	if (event->flags & ITRACE_EVENT_UNKNOWN && !event->number)
		itrace_output_text(out, "exception, or the debugger wrote the PC (no vector leads there)");
	else
		itrace_output_format(out, "exception %s (0x%02x)%s", itrace_exception_name(program->m_profile, event->number),
				event->number, event->flags & ITRACE_EVENT_UNKNOWN ? " or another with this handler" : "");
	if (!(event->flags & ITRACE_EVENT_HAS_ADDR))
		return;
	itrace_output_text(out, ", returns to ");
	itrace_program_write_place(program, out, event->addr);
	if (event->flags & ITRACE_EVENT_MATCHES_TARGET)
		itrace_output_text(out, " (the target of the branch before)");
	if (event->flags & ITRACE_EVENT_FAULT_PENDING)
		itrace_output_text(out, " (fault pending)");
}

/* What the trace says, and what the program says. */
static void note_contradiction(const struct itrace_program *program, const struct itrace_event *event,
		struct itrace_output *out)
{
	switch (event->cause) {
	case ITRACE_GAP_TARGET_DIFFERS:
		itrace_output_text(out, ": by the trace this branch went to ");
		itrace_program_write_place(program, out, event->end);
		itrace_output_text(out, ", by the program it goes to ");
		itrace_program_write_place(program, out, event->number);
		break;
	case ITRACE_GAP_NOT_A_BRANCH:
		itrace_output_text(out, ": by the trace it went to ");
		itrace_program_write_place(program, out, event->end);
		itrace_output_text(out, ", by the program this is no branch");
		break;
	default:
		itrace_output_text(out, ": by the trace execution went straight on to ");
		itrace_program_write_place(program, out, event->end);
		if (!event->number) {
			itrace_output_text(out, ", which is not ahead");
			break;
		}
		itrace_output_text(out, ", by the program that way ends at ");
		itrace_program_write_place(program, out, event->number);
		break;
	}
}

static void note_gap(const struct itrace_program *program, const struct itrace_event *event, struct itrace_output *out)
{
	char words[32];

	itrace_gap_words((enum itrace_gap)event->cause, words, sizeof(words));
	itrace_output_format(out, "gap: %s", words);
	if (event->flags & ITRACE_EVENT_HAS_ADDR) {
		itrace_output_format(out, " at 0x%" PRIx64, event->addr);
		if (itrace_program_function(program, event->addr, NULL)) {
			itrace_output_text(out, " <");
			itrace_program_write_place(program, out, event->addr);
			itrace_output_char(out, '>');
		}
	}
	if (itrace_gap_is_contradiction(event->cause))
		note_contradiction(program, event, out);
	itrace_output_format(out, ", byte %" PRIu64, event->off);
}

void itrace_event_note(const struct itrace_program *program, const struct itrace_event *event,
		struct itrace_output *out)
{
	char text[160];

	switch (event->kind) {
	case ITRACE_EVENT_RANGE_NO_PATH:
		itrace_output_text(out, "unknown path from ");
		if (event->flags & ITRACE_EVENT_HAS_ADDR)
			itrace_program_write_place(program, out, event->addr);
		else
			itrace_output_text(out, "an unknown place");
		itrace_output_text(out, " to ");
		itrace_program_write_place(program, out, event->end);
		if (event->count)
			itrace_output_format(out, ", %" PRIu32 " instructions", event->count);
		return;
	case ITRACE_EVENT_TRACE_ON:
		itrace_output_text(out, event->cause == ITRACE_TRACE_ON_OVERFLOW ? "trace on, after an overflow" : "trace on");
		return;
	case ITRACE_EVENT_CONTEXT:
		itrace_context_note(program->m_profile, event, text, sizeof(text));
		itrace_output_text(out, "context ");
		itrace_output_text(out, text);
		return;
	case ITRACE_EVENT_EXCEPTION:
		note_exception(program, event, out);
		return;
	case ITRACE_EVENT_EXCEPTION_RETURN:
		itrace_output_text(out, "exception return");
		if (event->number)
			itrace_output_format(out, ", EXC_RETURN 0x%08" PRIx32, event->number);
		return;
	case ITRACE_EVENT_TIMESTAMP:
		itrace_output_format(out, "timestamp 0x%" PRIx64, event->addr);
		if (event->flags & ITRACE_EVENT_HAS_CYCLES)
			itrace_output_format(out, ", %" PRIu32 " cycles", event->count);
		return;
	case ITRACE_EVENT_CYCLES:
		if (event->flags & ITRACE_EVENT_UNKNOWN)
			itrace_output_text(out, "cycles unknown");
		else
			itrace_output_format(out, "%" PRIu32 " cycles", event->count);
		return;
	case ITRACE_EVENT_MARKER:
		itrace_output_text(out, "timestamp marker");
		return;
	case ITRACE_EVENT_TRIGGER:
		itrace_output_format(out, "event outputs 0x%" PRIx32, event->number);
		return;
	case ITRACE_EVENT_TRANSACTION:
		itrace_output_format(out, "transaction %s", itrace_transaction_name(event->cause));
		return;
	case ITRACE_EVENT_INSTRUMENTATION:
		itrace_output_format(out, "instrumentation 0x%016" PRIx64 " at EL%" PRIu32, event->addr, event->number);
		return;
	case ITRACE_EVENT_SEAM:
		itrace_output_text(out, "seam: the buffer was read and emptied here");
		if (event->flags & ITRACE_EVENT_HAS_ADDR) {
			itrace_output_text(out, ", the core stood at ");
			itrace_program_write_place(program, out, event->addr);
		}
		return;
	case ITRACE_EVENT_GAP:
		note_gap(program, event, out);
		return;
	case ITRACE_EVENT_NO_SYNC:
		itrace_output_format(out, "not synchronised (%s)", itrace_no_sync_name(event->cause));
		return;
	case ITRACE_EVENT_END:
		itrace_output_text(out, event->cause == ITRACE_END_AFTER_OVERFLOW ? "end of trace, after an overflow" :
				"end of trace");
		return;
	default:
		return;
	}
}
