// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Format exceptions: a line when one is taken and one when its handler returns.
 *
 *          120  IRQ (0x0e) at main+0x10 -> irq_handler
 *          166  return to main+0x10, 46 instructions after IRQ (0x0e)
 *
 * The number is that of the next instruction; instructions of a handler include those of handlers that it was
 * interrupted by.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdlib.h>

#include "event_note.h"
#include "listing.h"
#include "transition.h"

#define NESTING_MAX	64u	/* deeper ones are listed, but not matched with their returns */

struct taken {
	uint32_t number;
	uint64_t at;	/* instructions when it was taken */
};

struct exceptions {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
	struct itrace_transition transition;
	struct taken taken[NESTING_MAX];
	unsigned int depth;
	uint64_t total;
	bool any;	/* something is listed */
};

static void write_name(struct exceptions *self, uint32_t number)
{
	/* M profile has no number 0: that is an exception that no known vector leads to */
	if (!number && self->program->m_profile)
		itrace_output_text(self->out, "exception");
	else
		itrace_output_format(self->out, "%s (0x%02" PRIx32 ")",
				itrace_exception_name(self->program->m_profile, number), number);
}

/* @param handler NULL: it ran no instruction, or none is known */
static void write_taken(struct exceptions *self, const struct itrace_event *event, const uint64_t *handler)
{
	self->any = true;
	itrace_output_decimal(self->out, self->total, 12);
	itrace_output_bytes(self->out, "  ", 2);
	write_name(self, event->number);
	if (event->flags & ITRACE_EVENT_UNKNOWN)
		itrace_output_text(self->out, event->number ? " or another with this handler" :
				" that no vector leads to, or the debugger wrote the PC,");
	if (event->flags & ITRACE_EVENT_HAS_ADDR) {
		itrace_output_text(self->out, " at ");
		itrace_program_write_place(self->program, self->out, event->addr);
	}
	if (handler) {
		itrace_output_text(self->out, " -> ");
		itrace_program_write_place(self->program, self->out, *handler);
	}
	itrace_output_char(self->out, '\n');
}

static void push(struct exceptions *self, const struct itrace_event *event)
{
	if (self->depth == NESTING_MAX) {
		memmove(&self->taken[0], &self->taken[1], (NESTING_MAX - 1) * sizeof(self->taken[0]));
		self->depth--;
	}
	self->taken[self->depth].number = event->number;
	self->taken[self->depth].at = self->total;
	self->depth++;
}

static void write_return(struct exceptions *self, uint64_t addr)
{
	self->any = true;
	itrace_output_decimal(self->out, self->total, 12);
	itrace_output_text(self->out, "  return to ");
	itrace_program_write_place(self->program, self->out, addr);
	if (self->depth) {
		self->depth--;
		itrace_output_format(self->out, ", %" PRIu64 " instructions after ",
				self->total - self->taken[self->depth].at);
		write_name(self, self->taken[self->depth].number);
	}
	itrace_output_char(self->out, '\n');
}

static void take_range(struct exceptions *self, const struct itrace_event *range)
{
	struct itrace_event exception = self->transition.exception;

	switch (itrace_transition_range(&self->transition, range)) {
	case ITRACE_TRANSITION_EXCEPTION:
		write_taken(self, &exception, &range->addr);
		break;
	case ITRACE_TRANSITION_EXCEPTION_RETURN:
		write_return(self, range->addr);
		break;
	default:
		break;
	}
	self->total += range->count;
}

static void flush_pending(struct exceptions *self)
{
	if (self->transition.exception_pending)
		write_taken(self, &self->transition.exception, NULL);
	self->transition.exception_pending = false;
}

static void take_other(struct exceptions *self, const struct itrace_event *event)
{
	switch (event->kind) {
	case ITRACE_EVENT_EXCEPTION:
		flush_pending(self);
		/* tail-chained: the handler before has returned, only not to what it interrupted */
		if (self->transition.return_pending && self->depth)
			self->depth--;
		push(self, event);
		break;
	case ITRACE_EVENT_TRACE_ON:
	case ITRACE_EVENT_END:
	case ITRACE_EVENT_GAP:
		flush_pending(self);
		break;
	case ITRACE_EVENT_CONTEXT:
		self->program->space = itrace_program_space(event->number);
		break;
	default:
		break;
	}
	itrace_transition_event(&self->transition, event);
}

static void exceptions_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	struct exceptions *self = (struct exceptions *)mouth;

	itrace_listing_heading(self->out, info);
	itrace_transition_init(&self->transition);
	self->depth = 0;
	self->total = 0;
	self->any = false;
}

static void exceptions_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct exceptions *self = (struct exceptions *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE)
			take_range(self, &events[i]);
		else
			take_other(self, &events[i]);
	}
}

static void exceptions_left_out(struct itrace_mouth *mouth)
{
	struct exceptions *self = (struct exceptions *)mouth;

	flush_pending(self);
	itrace_transition_init(&self->transition);
	self->depth = 0;
}

static void exceptions_end(struct itrace_mouth *mouth)
{
	struct exceptions *self = (struct exceptions *)mouth;

	flush_pending(self);
	/* an empty listing would leave open whether anything was looked at */
	if (!self->any && self->total)
		itrace_output_format(self->out, "no exception in %" PRIu64 " instructions\n", self->total);
}

static void exceptions_free(struct itrace_mouth *mouth)
{
	free(mouth);
}

static const struct itrace_mouth_ops exceptions_ops = {
	.begin = exceptions_begin,
	.events = exceptions_events,
	.left_out = exceptions_left_out,
	.end = exceptions_end,
	.free = exceptions_free,
};

struct itrace_mouth *itrace_exceptions_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct exceptions *self = calloc(1, sizeof(*self));

	(void)fold;
	if (!self)
		return NULL;
	self->mouth.ops = &exceptions_ops;
	self->program = program;
	self->out = out;
	return &self->mouth;
}
