// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Format contexts: a line for each stretch of execution in one context.
 *
 *          120       5400  EL1 non-secure AArch64, context ID 0x4300
 *
 * Number of its first instruction, instructions, context.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>

#include "event_note.h"
#include "listing.h"

struct contexts {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
	struct itrace_event context;
	bool known;
	uint64_t total, count;	/* instructions so far, in this context */
};

static void write_stretch(struct contexts *self)
{
	char text[160] = "not known";

	if (!self->count)
		return;
	if (self->known)
		itrace_context_note(self->program->m_profile, &self->context, text, sizeof(text));
	itrace_output_decimal(self->out, self->total - self->count, 12);
	itrace_output_decimal(self->out, self->count, 12);
	itrace_output_bytes(self->out, "  ", 2);
	itrace_output_text(self->out, text);
	itrace_output_char(self->out, '\n');
	self->count = 0;
}

static void take_context(struct contexts *self, const struct itrace_event *event)
{
	bool same = self->known && self->context.number == event->number && self->context.addr == event->addr &&
			self->context.end == event->end;

	if (!same)
		write_stretch(self);
	self->context = *event;
	self->known = true;
}

static void contexts_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	struct contexts *self = (struct contexts *)mouth;

	itrace_listing_heading(self->out, info);
	self->known = false;
	self->total = 0;
	self->count = 0;
}

static void contexts_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct contexts *self = (struct contexts *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_CONTEXT)
			take_context(self, &events[i]);
		if (events[i].kind != ITRACE_EVENT_RANGE)
			continue;
		self->total += events[i].count;
		self->count += events[i].count;
	}
}

static void contexts_end(struct itrace_mouth *mouth)
{
	write_stretch((struct contexts *)mouth);
}

static void contexts_free(struct itrace_mouth *mouth)
{
	free(mouth);
}

static const struct itrace_mouth_ops contexts_ops = {
	.begin = contexts_begin,
	.events = contexts_events,
	.end = contexts_end,
	.free = contexts_free,
};

struct itrace_mouth *itrace_contexts_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct contexts *self = calloc(1, sizeof(*self));

	(void)fold;
	if (!self)
		return NULL;
	self->mouth.ops = &contexts_ops;
	self->program = program;
	self->out = out;
	return &self->mouth;
}
