// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Format functions: a line for each stretch of execution in one function.
 *
 *   call       mul+0x4                                  12  demo.c:8
 *
 * How execution came there, where, how many instructions until it left, and the source line where the stretch begins.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>

#include "event_note.h"
#include "fold.h"
#include "listing.h"
#include "transition.h"

struct functions {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
	struct itrace_fold fold;
	struct itrace_transition transition;
	struct itrace_event context;
	bool context_known;
	/* the stretch at hand */
	bool open;
	enum itrace_transition_kind how;
	uint64_t addr;
	uint64_t count;
	uint64_t start, end;	/* of its function; both 0: not known */
};

static const char *const how_names[] = {
	[ITRACE_TRANSITION_BEGIN] = "begin",
	[ITRACE_TRANSITION_NEXT] = "continue",
	[ITRACE_TRANSITION_JUMP] = "jump",
	[ITRACE_TRANSITION_CALL] = "call",
	[ITRACE_TRANSITION_RETURN] = "return",
	[ITRACE_TRANSITION_EXCEPTION] = "handler",
	[ITRACE_TRANSITION_EXCEPTION_RETURN] = "resume",
};
_Static_assert(sizeof(how_names) / sizeof(how_names[0]) == ITRACE_TRANSITION_NUM, "a name for each");

static void close_stretch(struct functions *self)
{
	struct itrace_source_line at;

	if (!self->open)
		return;
	self->open = false;
	struct itrace_output *out = itrace_fold_begin(&self->fold);
	uint64_t start = out->total_len;
	itrace_output_text(out, how_names[self->how]);
	itrace_output_column(out, start, 10);
	itrace_program_write_place(self->program, out, self->addr);
	itrace_output_column(out, start, 50);
	itrace_output_decimal(out, self->count, 8);
	if (itrace_program_line(self->program, self->addr, &at))
		itrace_output_format(out, "  %s:%u", at.file, at.line);
	itrace_fold_end(&self->fold, 0);
}

static void open_stretch(struct functions *self, enum itrace_transition_kind how, uint64_t addr)
{
	uint64_t off;
	const struct itrace_symbol *symbol = itrace_program_function(self->program, addr, &off);

	self->open = true;
	self->how = how;
	self->addr = addr;
	self->count = 0;
	self->start = symbol ? addr - off : 0;
	self->end = symbol ? self->start + symbol->len : 0;
}

/* Without a symbol, code is one function until a call or a return. */
static bool same_function(const struct functions *self, uint64_t addr)
{
	if (self->end)
		return addr >= self->start && addr < self->end;
	return !itrace_program_function(self->program, addr, NULL);
}

static bool goes_on(const struct functions *self, enum itrace_transition_kind how, uint64_t addr)
{
	return self->open && (how == ITRACE_TRANSITION_NEXT || how == ITRACE_TRANSITION_JUMP) && same_function(self, addr);
}

static void take_range(struct functions *self, const struct itrace_event *range)
{
	enum itrace_transition_kind how = itrace_transition_range(&self->transition, range);

	if (!goes_on(self, how, range->addr)) {
		close_stretch(self);
		open_stretch(self, how, range->addr);
	}
	if (self->end && range->end > self->end) {
		/* code that runs on into the next function */
		struct itrace_event head = *range, tail = *range;
		uint32_t index;
		if (itrace_program_index(self->program, range, self->end, 1, &index)) {
			itrace_program_split(self->program, range, index, &head, &tail);
			self->count += head.count;
			close_stretch(self);
			open_stretch(self, ITRACE_TRANSITION_NEXT, tail.addr);
			self->count += tail.count;
			return;
		}
	}
	self->count += range->count;
}

/* A context that says nothing new gives no line. */
static bool same_context(struct functions *self, const struct itrace_event *event)
{
	bool same = self->context_known && self->context.number == event->number && self->context.addr == event->addr &&
			self->context.end == event->end;

	self->context = *event;
	self->context_known = true;
	self->program->space = itrace_program_space(event->number);
	return same;
}

static bool has_line(struct functions *self, const struct itrace_event *event)
{
	switch (event->kind) {
	case ITRACE_EVENT_CONTEXT:
		return !same_context(self, event);
	case ITRACE_EVENT_EXCEPTION_RETURN:	/* told by the next stretch */
	case ITRACE_EVENT_CYCLES:
	case ITRACE_EVENT_MARKER:
		return false;
	case ITRACE_EVENT_NO_SYNC:
		return event->cause != ITRACE_NO_SYNC_INIT && event->cause != ITRACE_NO_SYNC_RESET;
	case ITRACE_EVENT_END:
		return event->cause == ITRACE_END_AFTER_OVERFLOW;
	default:
		return true;
	}
}

static void take_other(struct functions *self, const struct itrace_event *event)
{
	struct itrace_transition before = self->transition;

	itrace_transition_event(&self->transition, event);
	if (!has_line(self, event))
		return;
	close_stretch(self);
	struct itrace_output *out = itrace_fold_begin(&self->fold);
	itrace_output_text(out, "-- ");
	itrace_event_note(self->program, event, out);
	if (event->kind == ITRACE_EVENT_GAP && event->cause == ITRACE_GAP_NO_MEMORY && before.known) {
		itrace_output_text(out, ", reached from ");
		itrace_program_write_place(self->program, out, itrace_range_last(&before.range));
	}
	itrace_fold_end(&self->fold, 0);
}

static void functions_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	struct functions *self = (struct functions *)mouth;

	itrace_listing_heading(self->out, info);
	itrace_transition_init(&self->transition);
	self->context_known = false;
}

static void functions_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct functions *self = (struct functions *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE)
			take_range(self, &events[i]);
		else
			take_other(self, &events[i]);
	}
}

static void functions_left_out(struct itrace_mouth *mouth)
{
	struct functions *self = (struct functions *)mouth;

	close_stretch(self);
	itrace_transition_init(&self->transition);
}

static void functions_end(struct itrace_mouth *mouth)
{
	struct functions *self = (struct functions *)mouth;

	close_stretch(self);
	itrace_fold_flush(&self->fold);
}

static void functions_free(struct itrace_mouth *mouth)
{
	struct functions *self = (struct functions *)mouth;

	itrace_fold_free(&self->fold);
	free(self);
}

static const struct itrace_mouth_ops functions_ops = {
	.begin = functions_begin,
	.events = functions_events,
	.left_out = functions_left_out,
	.end = functions_end,
	.free = functions_free,
};

struct itrace_mouth *itrace_functions_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct functions *self = calloc(1, sizeof(*self));

	if (!self || !itrace_fold_init(&self->fold, out, fold)) {
		free(self);
		return NULL;
	}
	self->mouth.ops = &functions_ops;
	self->program = program;
	self->out = out;
	return &self->mouth;
}
