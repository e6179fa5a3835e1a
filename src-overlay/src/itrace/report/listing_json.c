// SPDX-License-Identifier: GPL-2.0-or-later

/* Format json: every event as one object a line; the last object is the ledger. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>

#include "event_note.h"
#include "json.h"
#include "ledger_report.h"
#include "listing.h"
#include "transition.h"

struct json_mouth {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
	struct itrace_transition transition;
	bool symbols;
};

static const char *const transition_names[] = {
	[ITRACE_TRANSITION_BEGIN] = "begin",
	[ITRACE_TRANSITION_NEXT] = "next",
	[ITRACE_TRANSITION_JUMP] = "jump",
	[ITRACE_TRANSITION_CALL] = "call",
	[ITRACE_TRANSITION_RETURN] = "return",
	[ITRACE_TRANSITION_EXCEPTION] = "exception",
	[ITRACE_TRANSITION_EXCEPTION_RETURN] = "exception-return",
};
_Static_assert(sizeof(transition_names) / sizeof(transition_names[0]) == ITRACE_TRANSITION_NUM, "a name for each");

static const char *branch_name(const struct itrace_event *range)
{
	switch (range->branch) {
	case ITRACE_INSN_DIRECT:
		return "direct";
	case ITRACE_INSN_INDIRECT:
		return "indirect";
	case ITRACE_INSN_ISB:
		return "isb";
	case ITRACE_INSN_WFX:
		return "wfx";
	case ITRACE_INSN_TSTART:
		return "tstart";
	default:
		return "none";
	}
}

static void write_place(struct json_mouth *self, uint64_t addr)
{
	struct itrace_source_line at;
	uint64_t off;

	if (!self->symbols)
		return;
	const struct itrace_symbol *symbol = itrace_program_function(self->program, addr, &off);
	if (symbol) {
		itrace_json_string(self->out, "function", symbol->name);
		itrace_json_number(self->out, "function_off", off);
	}
	if (itrace_program_line(self->program, addr, &at)) {
		itrace_json_string(self->out, "file", at.file);
		itrace_json_number(self->out, "line", at.line);
	}
}

static void write_range(struct json_mouth *self, const struct itrace_event *range)
{
	struct itrace_output *out = self->out;
	enum itrace_transition_kind how = itrace_transition_range(&self->transition, range);

	itrace_json_begin(out, "range");
	itrace_json_number(out, "off", range->off);
	itrace_json_hex(out, "addr", range->addr);
	itrace_json_hex(out, "end", range->end);
	itrace_json_number(out, "count", range->count);
	itrace_json_string(out, "isa", itrace_isa_name(range->isa));
	itrace_json_string(out, "entered_by", transition_names[how]);
	itrace_json_hex(out, "last", itrace_range_last(range));
	itrace_json_string(out, "branch", branch_name(range));
	itrace_json_bool(out, "executed", range->flags & ITRACE_EVENT_EXECUTED);
	itrace_json_bool(out, "conditional", range->flags & ITRACE_INSN_COND);
	write_place(self, range->addr);
	itrace_json_end(out);
}

static void write_context(struct json_mouth *self, const struct itrace_event *event)
{
	struct itrace_output *out = self->out;

	itrace_json_string(out, "isa", itrace_isa_name(event->isa));
	itrace_json_number(out, "el", event->number & ITRACE_CONTEXT_EL_MASK);
	itrace_json_string(out, "security", itrace_security_name(event->number));
	itrace_json_bool(out, "aarch64", event->number & ITRACE_CONTEXT_SF);
	if (event->number & ITRACE_CONTEXT_HAS_CID)
		itrace_json_hex(out, "context_id", event->addr);
	if (event->number & ITRACE_CONTEXT_HAS_VMID)
		itrace_json_hex(out, "vmid", event->end);
}

static void write_exception(struct json_mouth *self, const struct itrace_event *event)
{
	struct itrace_output *out = self->out;

	const bool none = event->flags & ITRACE_EVENT_UNKNOWN && !event->number;

	itrace_json_number(out, "number", event->number);
	itrace_json_string(out, "name", none ? "unknown" :
			itrace_exception_name(self->program->m_profile, event->number));
	if (event->flags & ITRACE_EVENT_UNKNOWN)
		itrace_json_bool(out, "is_sure", false);
	if (event->flags & ITRACE_EVENT_HAS_ADDR)
		itrace_json_hex(out, "return_addr", event->addr);
	itrace_json_bool(out, "is_branch_target", event->flags & ITRACE_EVENT_MATCHES_TARGET);
	itrace_json_bool(out, "fault_pending", event->flags & ITRACE_EVENT_FAULT_PENDING);
}

static void write_gap(struct json_mouth *self, const struct itrace_event *event)
{
	struct itrace_output *out = self->out;

	itrace_json_string(out, "cause", itrace_gap_name((enum itrace_gap)event->cause));
	if (event->flags & ITRACE_EVENT_HAS_ADDR)
		itrace_json_hex(out, "addr", event->addr);
	if (itrace_gap_is_contradiction(event->cause)) {
		itrace_json_hex(out, "by_trace", event->end);
		itrace_json_hex(out, "by_program", event->number);
		return;
	}
	itrace_json_number(out, "count", event->count);
	if (event->cause == ITRACE_GAP_NO_MEMORY && self->transition.known)
		itrace_json_hex(out, "from", itrace_range_last(&self->transition.range));
}

static const char *const kind_names[] = {
	[ITRACE_EVENT_RANGE] = "range",
	[ITRACE_EVENT_RANGE_NO_PATH] = "range-no-path",
	[ITRACE_EVENT_TRACE_ON] = "trace-on",
	[ITRACE_EVENT_CONTEXT] = "context",
	[ITRACE_EVENT_EXCEPTION] = "exception",
	[ITRACE_EVENT_EXCEPTION_RETURN] = "exception-return",
	[ITRACE_EVENT_TIMESTAMP] = "timestamp",
	[ITRACE_EVENT_CYCLES] = "cycles",
	[ITRACE_EVENT_MARKER] = "marker",
	[ITRACE_EVENT_TRIGGER] = "trigger",
	[ITRACE_EVENT_TRANSACTION] = "transaction",
	[ITRACE_EVENT_INSTRUMENTATION] = "instrumentation",
	[ITRACE_EVENT_SEAM] = "seam",
	[ITRACE_EVENT_GAP] = "gap",
	[ITRACE_EVENT_NO_SYNC] = "no-sync",
	[ITRACE_EVENT_END] = "end",
};
_Static_assert(sizeof(kind_names) / sizeof(kind_names[0]) == ITRACE_EVENT_NUM, "a name for each");

static void write_members(struct json_mouth *self, const struct itrace_event *event)
{
	struct itrace_output *out = self->out;

	switch (event->kind) {
	case ITRACE_EVENT_RANGE_NO_PATH:
		if (event->flags & ITRACE_EVENT_HAS_ADDR)
			itrace_json_hex(out, "addr", event->addr);
		itrace_json_hex(out, "end", event->end);
		if (event->count)
			itrace_json_number(out, "count", event->count);
		break;
	case ITRACE_EVENT_TRACE_ON:
		itrace_json_string(out, "cause", event->cause == ITRACE_TRACE_ON_OVERFLOW ? "overflow" : "normal");
		break;
	case ITRACE_EVENT_CONTEXT:
		write_context(self, event);
		break;
	case ITRACE_EVENT_EXCEPTION:
		write_exception(self, event);
		break;
	case ITRACE_EVENT_EXCEPTION_RETURN:
		if (event->number)
			itrace_json_hex(out, "exc_return", event->number);
		break;
	case ITRACE_EVENT_TIMESTAMP:
		itrace_json_hex(out, "time", event->addr);
		if (event->flags & ITRACE_EVENT_HAS_CYCLES)
			itrace_json_number(out, "cycles", event->count);
		break;
	case ITRACE_EVENT_CYCLES:
		if (!(event->flags & ITRACE_EVENT_UNKNOWN))
			itrace_json_number(out, "count", event->count);
		break;
	case ITRACE_EVENT_TRIGGER:
		itrace_json_number(out, "mask", event->number);
		break;
	case ITRACE_EVENT_TRANSACTION:
		itrace_json_string(out, "what", itrace_transaction_name(event->cause));
		break;
	case ITRACE_EVENT_INSTRUMENTATION:
		itrace_json_hex(out, "value", event->addr);
		itrace_json_number(out, "el", event->number);
		break;
	case ITRACE_EVENT_SEAM:
		if (event->flags & ITRACE_EVENT_HAS_ADDR)
			itrace_json_hex(out, "pc", event->addr);
		break;
	case ITRACE_EVENT_GAP:
		write_gap(self, event);
		break;
	case ITRACE_EVENT_NO_SYNC:
		itrace_json_string(out, "cause", itrace_no_sync_name(event->cause));
		break;
	case ITRACE_EVENT_END:
		itrace_json_string(out, "cause", event->cause == ITRACE_END_AFTER_OVERFLOW ? "after-overflow" : "end");
		break;
	default:
		break;
	}
}

static void write_other(struct json_mouth *self, const struct itrace_event *event)
{
	if (event->kind >= ITRACE_EVENT_NUM)
		return;
	itrace_json_begin(self->out, kind_names[event->kind]);
	itrace_json_number(self->out, "off", event->off);
	write_members(self, event);
	itrace_json_end(self->out);
	itrace_transition_event(&self->transition, event);
}

static void json_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	struct json_mouth *self = (struct json_mouth *)mouth;

	itrace_transition_init(&self->transition);
	itrace_json_begin(self->out, "stream");
	itrace_json_string(self->out, "buffer", info->buffer);
	if (info->source)
		itrace_json_string(self->out, "source", info->source);
	itrace_json_number(self->out, "trace_id", info->trace_id);
	itrace_json_end(self->out);
}

static void json_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct json_mouth *self = (struct json_mouth *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE)
			write_range(self, &events[i]);
		else
			write_other(self, &events[i]);
	}
}

static void json_left_out(struct itrace_mouth *mouth)
{
	itrace_transition_init(&((struct json_mouth *)mouth)->transition);
}

static void json_finish(struct itrace_mouth *mouth, const struct itrace_ledger *ledger)
{
	struct json_mouth *self = (struct json_mouth *)mouth;

	itrace_ledger_json(ledger, self->program->symbols, self->out);
}

static void json_free(struct itrace_mouth *mouth)
{
	free(mouth);
}

static const struct itrace_mouth_ops json_ops = {
	.begin = json_begin,
	.events = json_events,
	.left_out = json_left_out,
	.finish = json_finish,
	.free = json_free,
};

struct itrace_mouth *itrace_json_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct json_mouth *self = calloc(1, sizeof(*self));

	(void)fold;
	if (!self)
		return NULL;
	self->mouth.ops = &json_ops;
	self->program = program;
	self->out = out;
	self->symbols = program->symbols && itrace_symbols_have_names(program->symbols);
	return &self->mouth;
}
