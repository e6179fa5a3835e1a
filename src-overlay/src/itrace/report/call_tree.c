// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Format calls: a line for each call, indented by its depth.
 *
 *          120    mul                     demo.c:8
 *
 * Instruction number, function, source line. Exceptions are calls: their name stands before the handler's. What was
 * running before the trace begins is not known, so the depth is relative; a return to a caller that the trace has not
 * seen begins at depth 0 again.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdlib.h>

#include "call_tree.h"
#include "event_note.h"
#include "fold.h"
#include "listing.h"

#define INDENT_MAX	64u	/* deeper calls stand at this depth, with their depth written out */
#define NUMBER_WIDTH	12u

struct call_tree_mouth {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
	struct itrace_fold fold;
	struct itrace_call_tree tree;
	uint64_t count;
	bool symbols;
};

void itrace_call_tree_init(struct itrace_call_tree *tree)
{
	itrace_transition_init(&tree->transition);
	tree->depth = 0;
	tree->lost = 0;
}

/* The oldest half of the callers is forgotten when the calls are too deep to keep. */
static void push(struct itrace_call_tree *tree, uint64_t return_addr, bool exception)
{
	if (tree->depth == ITRACE_CALL_DEPTH) {
		uint32_t half = ITRACE_CALL_DEPTH / 2;
		memmove(&tree->frames[0], &tree->frames[half], (ITRACE_CALL_DEPTH - half) * sizeof(tree->frames[0]));
		tree->depth -= half;
		tree->lost += half;
	}
	tree->frames[tree->depth].return_addr = return_addr;
	tree->frames[tree->depth].exception = exception;
	tree->depth++;
}

/* The newest frame that returns to @a addr; only_exceptions: that an exception made. */
static bool unwind(struct itrace_call_tree *tree, uint64_t addr, bool only_exceptions)
{
	for (uint32_t i = tree->depth; i--;) {
		if (tree->frames[i].return_addr == addr && (tree->frames[i].exception || !only_exceptions)) {
			tree->depth = i;
			return true;
		}
	}
	return false;
}

static void forget(struct itrace_call_tree *tree)
{
	tree->depth = 0;
	tree->lost = 0;
}

bool itrace_call_tree_cut_call(struct itrace_call_tree *tree, const struct itrace_event *exception)
{
	if (!itrace_transition_cuts_call(&tree->transition, exception))
		return false;
	push(tree, tree->transition.range.end, false);
	return true;
}

/* The handler before has returned, but nothing ran where it returned to: this one stands in its place. */
static uint64_t pop_tail_chained(struct itrace_call_tree *tree)
{
	for (uint32_t i = tree->depth; i--;) {
		if (!tree->frames[i].exception)
			continue;
		tree->depth = i;
		return tree->frames[i].return_addr;
	}
	return UINT64_MAX;
}

void itrace_call_tree_event(struct itrace_call_tree *tree, const struct itrace_event *event)
{
	uint64_t return_addr = UINT64_MAX;

	if (event->kind == ITRACE_EVENT_EXCEPTION && tree->transition.return_pending)
		return_addr = pop_tail_chained(tree);
	itrace_transition_event(&tree->transition, event);
	/* tracing was off: nothing is known of what was called and returned meanwhile; a short loss is worth guessing */
	if (event->kind == ITRACE_EVENT_TRACE_ON && event->cause == ITRACE_TRACE_ON_NORMAL)
		forget(tree);
	if (event->kind == ITRACE_EVENT_EXCEPTION)
		push(tree, event->flags & ITRACE_EVENT_HAS_ADDR ? event->addr : return_addr, true);
}

/*
 * A return: to its caller, or past callers whose returns were not seen. A return to somewhere else is one of a caller
 * that called before the trace began when nothing is open, and else one that changed its return address (or a jump by
 * way of a return): then only the call itself ends.
 */
static enum itrace_call_change change_return(struct itrace_call_tree *tree, uint64_t addr, bool from_exception)
{
	if (unwind(tree, addr, from_exception) || (from_exception && unwind(tree, addr, false)))
		return ITRACE_CALL_RETURNED;
	if (from_exception) {
		/* a scheduler went on in another thread: its callers are not known */
		forget(tree);
		return ITRACE_CALL_ROOT;
	}
	if (tree->depth) {
		tree->depth--;
		return ITRACE_CALL_TAIL;
	}
	return ITRACE_CALL_ROOT;
}

enum itrace_call_change itrace_call_tree_range(struct itrace_call_tree *tree, const struct itrace_event *range)
{
	struct itrace_event last = tree->transition.range;
	enum itrace_transition_kind how = itrace_transition_range(&tree->transition, range);

	switch (how) {
	case ITRACE_TRANSITION_CALL:
		push(tree, last.end, false);
		return ITRACE_CALL_CALLED;
	case ITRACE_TRANSITION_EXCEPTION:
		return ITRACE_CALL_EXCEPTION;
	case ITRACE_TRANSITION_RETURN:
		return change_return(tree, range->addr, false);
	case ITRACE_TRANSITION_EXCEPTION_RETURN:
		return change_return(tree, range->addr, true);
	case ITRACE_TRANSITION_JUMP:
		/* returns that do not look like one: BR X30, LDR PC */
		if (last.branch == ITRACE_INSN_INDIRECT && tree->depth &&
				tree->frames[tree->depth - 1].return_addr == range->addr) {
			tree->depth--;
			return ITRACE_CALL_RETURNED;
		}
		return ITRACE_CALL_SAME;
	case ITRACE_TRANSITION_BEGIN:
		unwind(tree, range->addr, false);
		return ITRACE_CALL_RESUMED;
	default:
		return ITRACE_CALL_SAME;
	}
}

static uint64_t line_begin(struct call_tree_mouth *self, struct itrace_output *out)
{
	uint64_t start = out->total_len;
	uint64_t depth = self->tree.depth + self->tree.lost;

	itrace_output_decimal(out, self->count, NUMBER_WIDTH);
	itrace_output_column(out, start, NUMBER_WIDTH + 2 + 2 * (unsigned int)(depth < INDENT_MAX ? depth : INDENT_MAX));
	if (depth > INDENT_MAX)
		itrace_output_format(out, "(%" PRIu64 ") ", depth);
	return start;
}

static void write_line(struct call_tree_mouth *self, const struct itrace_event *exception, uint64_t addr,
		const char *remark)
{
	struct itrace_output *out = itrace_fold_begin(&self->fold);
	uint64_t start = line_begin(self, out);
	struct itrace_source_line at;

	if (exception)
		itrace_output_format(out, "[%s] ", itrace_exception_name(self->program->m_profile, exception->number));
	itrace_program_write_place(self->program, out, addr);
	itrace_output_text(out, remark);
	if (itrace_program_line(self->program, addr, &at)) {
		itrace_output_column(out, start, 50);
		itrace_output_format(out, " %s:%u", at.file, at.line);
	}
	itrace_fold_end(&self->fold, NUMBER_WIDTH);
}

static void write_note(struct call_tree_mouth *self, const struct itrace_event *event)
{
	struct itrace_output *out = itrace_fold_begin(&self->fold);

	line_begin(self, out);
	itrace_output_text(out, "-- ");
	itrace_event_note(self->program, event, out);
	itrace_fold_end(&self->fold, NUMBER_WIDTH);
}

static bool new_function(struct call_tree_mouth *self, const struct itrace_event *last, uint64_t addr)
{
	const struct itrace_symbol *now = itrace_program_function(self->program, addr, NULL);
	const struct itrace_symbol *before = itrace_program_function(self->program, itrace_range_last(last), NULL);

	return now != before && (now || before);
}

static void take_range(struct call_tree_mouth *self, const struct itrace_event *range)
{
	struct itrace_event last = self->tree.transition.range;
	struct itrace_event exception = self->tree.transition.exception;

	switch (itrace_call_tree_range(&self->tree, range)) {
	case ITRACE_CALL_CALLED:
	case ITRACE_CALL_ROOT:
	case ITRACE_CALL_RESUMED:
		write_line(self, NULL, range->addr, "");
		break;
	case ITRACE_CALL_EXCEPTION:
		write_line(self, &exception, range->addr, "");
		break;
	case ITRACE_CALL_TAIL:
		write_line(self, NULL, range->addr, " (return to elsewhere)");
		break;
	case ITRACE_CALL_SAME:
		if (self->symbols && new_function(self, &last, range->addr))
			write_line(self, NULL, range->addr, " (jump)");
		break;
	default:
		break;
	}
	self->count += range->count;
}

static void take_other(struct call_tree_mouth *self, const struct itrace_event *event)
{
	struct itrace_transition *transition = &self->tree.transition;

	if (event->kind == ITRACE_EVENT_CONTEXT)
		self->program->space = itrace_program_space(event->number);
	/* two exceptions in a row: the first handler ran no instruction */
	if (event->kind == ITRACE_EVENT_EXCEPTION && transition->exception_pending) {
		struct itrace_event first = transition->exception;
		write_line(self, &first, event->addr, "");
	}
	if (event->kind == ITRACE_EVENT_EXCEPTION && itrace_call_tree_cut_call(&self->tree, event))
		write_line(self, NULL, event->addr, "");
	if (event->kind == ITRACE_EVENT_GAP || event->kind == ITRACE_EVENT_RANGE_NO_PATH)
		write_note(self, event);
	itrace_call_tree_event(&self->tree, event);
}

static void mouth_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	struct call_tree_mouth *self = (struct call_tree_mouth *)mouth;

	itrace_listing_heading(self->out, info);
	itrace_call_tree_init(&self->tree);
	self->count = 0;
}

static void mouth_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct call_tree_mouth *self = (struct call_tree_mouth *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE)
			take_range(self, &events[i]);
		else
			take_other(self, &events[i]);
	}
}

static void mouth_left_out(struct itrace_mouth *mouth)
{
	itrace_call_tree_init(&((struct call_tree_mouth *)mouth)->tree);
}

static void mouth_end(struct itrace_mouth *mouth)
{
	itrace_fold_flush(&((struct call_tree_mouth *)mouth)->fold);
}

static void mouth_free(struct itrace_mouth *mouth)
{
	itrace_fold_free(&((struct call_tree_mouth *)mouth)->fold);
	free(mouth);
}

static const struct itrace_mouth_ops mouth_ops = {
	.begin = mouth_begin,
	.events = mouth_events,
	.left_out = mouth_left_out,
	.end = mouth_end,
	.free = mouth_free,
};

struct itrace_mouth *itrace_call_tree_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct call_tree_mouth *self = calloc(1, sizeof(*self));

	if (!self || !itrace_fold_init(&self->fold, out, fold)) {
		free(self);
		return NULL;
	}
	self->mouth.ops = &mouth_ops;
	self->program = program;
	self->out = out;
	self->symbols = program->symbols && itrace_symbols_have_names(program->symbols);
	itrace_call_tree_init(&self->tree);
	return &self->mouth;
}
