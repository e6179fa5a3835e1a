// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "selection.h"

/* The last N instructions are in at most N ranges; this many other events may stand between them. */
#define RING_SPARE		65536u
#define RING_SIZE_MAX	((size_t)1 << 26)

/* Stands where something was left out. */
#define LEFT_OUT		ITRACE_EVENT_NUM

void itrace_selection_init(struct itrace_selection *selection, const struct itrace_selection_rules *rules,
		struct itrace_program *program, void (*emit)(void *ctx, const struct itrace_event *events, unsigned int n),
		void *ctx)
{
	memset(selection, 0, sizeof(*selection));
	selection->rules = *rules;
	selection->program = program;
	selection->emit = emit;
	selection->ctx = ctx;
	selection->inside = !rules->has_from;
}

bool itrace_selection_is_all(const struct itrace_selection_rules *rules)
{
	return !rules->has_first && !rules->has_last && !rules->has_from && !rules->has_to && rules->context < 0 &&
			rules->el < 0;
}

static bool is_range(const struct itrace_event *event)
{
	return event->kind == ITRACE_EVENT_RANGE;
}

static struct itrace_event *ring_at(struct itrace_selection *selection, size_t index)
{
	return &selection->ring[(selection->ring_head + index) % selection->ring_size];
}

static void ring_pop(struct itrace_selection *selection)
{
	struct itrace_event *event = ring_at(selection, 0);

	if (is_range(event))
		selection->ring_count -= event->count;
	if (event->kind == ITRACE_EVENT_CONTEXT) {
		selection->ring_context = *event;
		selection->ring_context_known = true;
	}
	selection->ring_head = (selection->ring_head + 1) % selection->ring_size;
	selection->ring_len--;
	if (selection->ring_lead)
		selection->ring_lead--;
}

static size_t ring_limit(const struct itrace_selection *selection)
{
	uint64_t last = selection->rules.last;

	return last > (RING_SIZE_MAX - RING_SPARE) / 4 ? RING_SIZE_MAX : (size_t)last * 4 + RING_SPARE;
}

/* @returns false when the ring may not or cannot grow. */
static bool ring_grow(struct itrace_selection *selection)
{
	size_t limit = ring_limit(selection);
	size_t size = selection->ring_size ? selection->ring_size * 2 : 1024;

	if (selection->ring_size >= limit)
		return false;
	if (size > limit)
		size = limit;
	struct itrace_event *ring = malloc(size * sizeof(*ring));
	if (!ring)
		return false;
	for (size_t i = 0; i < selection->ring_len; i++)
		ring[i] = *ring_at(selection, i);
	free(selection->ring);
	selection->ring = ring;
	selection->ring_size = size;
	selection->ring_head = 0;
	return true;
}

/* Drop what is older than the last N instructions. */
static void ring_trim(struct itrace_selection *selection)
{
	while (selection->ring_count >= selection->rules.last) {
		size_t i = selection->ring_lead;
		while (!is_range(ring_at(selection, i)))
			i++;
		selection->ring_lead = i;
		if (selection->ring_count - ring_at(selection, i)->count < selection->rules.last)
			return;
		for (size_t n = i + 1; n--;)
			ring_pop(selection);
	}
}

static void ring_push(struct itrace_selection *selection, const struct itrace_event *event)
{
	if (selection->ring_len == selection->ring_size && !ring_grow(selection)) {
		selection->last_cut = true;
		if (!selection->ring_len)
			return;
		ring_pop(selection);
	}
	selection->ring_len++;
	*ring_at(selection, selection->ring_len - 1) = *event;
	if (is_range(event)) {
		selection->ring_count += event->count;
		ring_trim(selection);
	}
}

static void emit_one(struct itrace_selection *selection, const struct itrace_event *event)
{
	if (selection->rules.has_last)
		ring_push(selection, event);
	else if (event->kind == LEFT_OUT)
		selection->emit(selection->ctx, NULL, 0);
	else
		selection->emit(selection->ctx, event, 1);
}

static void emit_left_out(struct itrace_selection *selection)
{
	struct itrace_event event;

	if (selection->dropped && selection->count) {
		memset(&event, 0, sizeof(event));
		event.kind = LEFT_OUT;
		emit_one(selection, &event);
	}
	selection->dropped = false;
}

static void emit_with_context(struct itrace_selection *selection, const struct itrace_event *event)
{
	emit_left_out(selection);
	if (selection->context_held) {
		selection->context_held = false;
		emit_one(selection, &selection->context);
	}
	emit_one(selection, event);
}

/* The filter "first"; @a event is a range. */
static void emit_first(struct itrace_selection *selection, const struct itrace_event *event)
{
	uint64_t left = selection->rules.first - selection->count;

	if (selection->done)
		return;
	if (!selection->rules.has_first || event->count < left) {
		emit_with_context(selection, event);
		selection->count += event->count;
		return;
	}

	struct itrace_event head = *event;
	if (event->count > left)
		itrace_program_split(selection->program, event, (uint32_t)left, &head, NULL);
	emit_with_context(selection, &head);
	selection->count += left;
	selection->done = true;
}

/* Hand on the instructions @a from .. @a to - 1 of a range. */
static void emit_part(struct itrace_selection *selection, const struct itrace_event *event, uint32_t from, uint32_t to)
{
	struct itrace_event head, part = *event;

	if (from >= to)
		return;
	if (to < part.count)
		itrace_program_split(selection->program, &part, to, &part, NULL);
	if (from)
		itrace_program_split(selection->program, &part, from, &head, &part);
	emit_first(selection, &part);
}

/* The filters "from" and "to": a range may hold several parts. */
static void select_parts(struct itrace_selection *selection, const struct itrace_event *event)
{
	const struct itrace_selection_rules *rules = &selection->rules;
	/* from a place to the same place: everything since it was reached */
	bool ends = rules->has_to && !(rules->has_from && rules->from == rules->to);
	uint32_t pos = 0, index;

	while (pos < event->count && !selection->done) {
		if (!selection->inside) {
			selection->dropped = true;
			if (!itrace_program_index(selection->program, event, rules->from, pos, &index))
				return;
			selection->inside = true;
			selection->reached = true;
			pos = index;
		}
		if (!ends || !itrace_program_index(selection->program, event, rules->to, pos, &index)) {
			emit_part(selection, event, pos, event->count);
			return;
		}
		emit_part(selection, event, pos, index + 1);
		pos = index + 1;
		selection->inside = false;
		if (!rules->has_from)
			selection->done = true;
	}
}

/* The filters "context" and "el". */
static bool in_context(const struct itrace_selection *selection)
{
	const struct itrace_selection_rules *rules = &selection->rules;

	if (rules->context < 0 && rules->el < 0)
		return true;
	if (!selection->context_known)
		return false;
	uint32_t bits = selection->context.number;
	if (rules->el >= 0 && (bits & ITRACE_CONTEXT_EL_MASK) != (uint32_t)rules->el)
		return false;
	return rules->context < 0 ||
			(bits & ITRACE_CONTEXT_HAS_CID && selection->context.addr == (uint64_t)rules->context);
}

static void select_one(struct itrace_selection *selection, const struct itrace_event *event)
{
	switch (event->kind) {
	case ITRACE_EVENT_CONTEXT:
		selection->context = *event;
		selection->context_known = true;
		selection->context_held = true;
		selection->program->space = itrace_program_space(event->number);
		return;
	case ITRACE_EVENT_END:
		emit_one(selection, event);
		return;
	case ITRACE_EVENT_RANGE:
		if (in_context(selection))
			select_parts(selection, event);
		else
			selection->dropped = true;
		return;
	default:
		if (in_context(selection) && selection->inside && !selection->done)
			emit_with_context(selection, event);
		return;
	}
}

void itrace_selection_events(struct itrace_selection *selection, const struct itrace_event *events, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		select_one(selection, &events[i]);
}

static void finish_last(struct itrace_selection *selection)
{
	uint64_t surplus = 0;

	if (selection->ring_count > selection->rules.last)
		surplus = selection->ring_count - selection->rules.last;
	/* what stands before a range that is cut belongs to the part that is left out */
	while (surplus && !is_range(ring_at(selection, 0)))
		ring_pop(selection);
	if (selection->ring_context_known && selection->ring_len && ring_at(selection, 0)->kind != ITRACE_EVENT_CONTEXT)
		selection->emit(selection->ctx, &selection->ring_context, 1);
	if (surplus) {
		struct itrace_event *range = ring_at(selection, 0);
		struct itrace_event head;

		if (selection->ring_context_known)
			selection->program->space = itrace_program_space(selection->ring_context.number);
		itrace_program_split(selection->program, range, (uint32_t)surplus, &head, range);
	}
	for (size_t i = 0; i < selection->ring_len; i++) {
		const struct itrace_event *event = ring_at(selection, i);
		bool left_out = event->kind == LEFT_OUT;
		selection->emit(selection->ctx, left_out ? NULL : event, left_out ? 0 : 1);
	}
	selection->ring_len = 0;
	selection->ring_count = 0;
}

void itrace_selection_finish(struct itrace_selection *selection)
{
	if (selection->rules.has_last && selection->ring_size)
		finish_last(selection);
}

void itrace_selection_free(struct itrace_selection *selection)
{
	free(selection->ring);
	selection->ring = NULL;
	selection->ring_size = 0;
	selection->ring_len = 0;
}
