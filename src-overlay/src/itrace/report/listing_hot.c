// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Format hot: functions by the instructions that ran in them, the most first. Without symbols, blocks of code.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdlib.h>

#include "listing.h"
#include "transition.h"

#define PLACES_MAX	((size_t)1 << 21)	/* slots; a hostile trace runs at any number of addresses */

struct place {
	uint64_t addr;
	uint64_t count;		/* instructions; 0 = free slot */
	uint64_t entries;	/* calls, or how often a block ran */
};

struct hot {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
	struct itrace_transition transition;
	uint64_t cut_addr;	/* what was called last before an exception came */
	bool cut_call;
	struct place *places;	/* hash table with open addressing */
	size_t size, used;	/* size is a power of two */
	uint64_t lost;		/* instructions for which there was no memory */
	bool symbols;
	/* of the last function */
	uint64_t start, end;
	uint64_t block;		/* without symbols: the last one */
	bool at_seam;		/* a seam came behind it */
};

static struct place *find_slot(struct place *places, size_t size, uint64_t addr)
{
	size_t i = (size_t)((addr * 0x9e3779b97f4a7c15ull) >> 32) & (size - 1);

	while (places[i].count && places[i].addr != addr)
		i = (i + 1) & (size - 1);
	return &places[i];
}

static bool grow(struct hot *self)
{
	size_t size = self->size ? self->size * 2 : 1024;
	struct place *places = size <= PLACES_MAX ? calloc(size, sizeof(*places)) : NULL;

	if (!places)
		return false;
	for (size_t i = 0; i < self->size; i++)
		if (self->places[i].count)
			*find_slot(places, size, self->places[i].addr) = self->places[i];
	free(self->places);
	self->places = places;
	self->size = size;
	return true;
}

static void add(struct hot *self, uint64_t addr, uint64_t count, bool entered)
{
	bool full = self->used * 4 >= self->size * 3 && !grow(self);

	if (!self->size) {
		self->lost += count;
		return;
	}
	struct place *place = find_slot(self->places, self->size, addr);
	if (!place->count) {
		if (full) {
			self->lost += count;
			return;
		}
		place->addr = addr;
		place->entries = 0;
		self->used++;
	}
	place->count += count;
	place->entries += entered;
}

static void take_range(struct hot *self, const struct itrace_event *range)
{
	const unsigned int before = self->transition.range.branch;
	enum itrace_transition_kind how = itrace_transition_range(&self->transition, range);
	bool entered = how == ITRACE_TRANSITION_CALL || how == ITRACE_TRANSITION_EXCEPTION;

	/* called, but an exception came before its first instruction */
	if (how == ITRACE_TRANSITION_EXCEPTION_RETURN && self->cut_call && range->addr == self->cut_addr) {
		entered = true;
		self->cut_call = false;
	}

	if (!range->count)
		return;
	if (!self->symbols) {
		/* what a seam cut is still one block */
		const bool same = self->at_seam && how == ITRACE_TRANSITION_NEXT && before == ITRACE_INSN_OTHER;
		self->at_seam = false;
		if (!same)
			self->block = range->addr;
		add(self, self->block, range->count, !same);
		return;
	}
	if (range->addr < self->start || range->addr >= self->end) {
		uint64_t off = 0;
		const struct itrace_symbol *symbol = itrace_program_function(self->program, range->addr, &off);
		self->start = range->addr - off;
		self->end = symbol ? self->start + symbol->len : self->start + 1;
		/* a jump to a function's beginning is a tail call */
		entered = entered || (how == ITRACE_TRANSITION_JUMP && !off);
	}
	add(self, self->start, range->count, entered);
}

static void take_other(struct hot *self, const struct itrace_event *event)
{
	if (event->kind == ITRACE_EVENT_EXCEPTION && itrace_transition_cuts_call(&self->transition, event)) {
		self->cut_call = true;
		self->cut_addr = event->addr;
	}
	if (event->kind == ITRACE_EVENT_SEAM)
		self->at_seam = true;
	itrace_transition_event(&self->transition, event);
}

static void hot_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	(void)info;
	itrace_transition_init(&((struct hot *)mouth)->transition);
}

static void hot_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct hot *self = (struct hot *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE)
			take_range(self, &events[i]);
		else
			take_other(self, &events[i]);
	}
}

static void hot_left_out(struct itrace_mouth *mouth)
{
	itrace_transition_init(&((struct hot *)mouth)->transition);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return left->addr < right->addr ? -1 : left->addr > right->addr;
}

static void hot_finish(struct itrace_mouth *mouth, const struct itrace_ledger *ledger)
{
	struct hot *self = (struct hot *)mouth;
	uint64_t total = self->lost;

	(void)ledger;
	if (!self->size)
		return;
	qsort(self->places, self->size, sizeof(*self->places), compare_places);
	for (size_t i = 0; i < self->used; i++)
		total += self->places[i].count;
	itrace_output_format(self->out, "%14s %6s %12s  %s\n", "instructions", "%", self->symbols ? "entered" : "times",
			self->symbols ? "function" : "block");
	for (size_t i = 0; i < self->used; i++) {
		const struct place *place = &self->places[i];
		itrace_output_format(self->out, "%14" PRIu64 " %6.2f %12" PRIu64 "  ", place->count,
				100 * (double)place->count / (double)total, place->entries);
		itrace_program_write_place(self->program, self->out, place->addr);
		itrace_output_char(self->out, '\n');
	}
	if (self->lost)
		itrace_output_format(self->out, "%14" PRIu64 " elsewhere (no memory to count them)\n", self->lost);
	/* sorting has broken the table */
	free(self->places);
	self->places = NULL;
	self->size = 0;
	self->used = 0;
}

static void hot_free(struct itrace_mouth *mouth)
{
	free(((struct hot *)mouth)->places);
	free(mouth);
}

static const struct itrace_mouth_ops hot_ops = {
	.begin = hot_begin,
	.events = hot_events,
	.left_out = hot_left_out,
	.finish = hot_finish,
	.free = hot_free,
};

struct itrace_mouth *itrace_hot_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct hot *self = calloc(1, sizeof(*self));

	(void)fold;
	if (!self)
		return NULL;
	self->mouth.ops = &hot_ops;
	self->program = program;
	self->out = out;
	self->symbols = program->symbols && itrace_symbols_have_names(program->symbols);
	return &self->mouth;
}
