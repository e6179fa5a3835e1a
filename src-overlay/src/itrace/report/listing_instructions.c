// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Format instructions: a line for each instruction.
 *
 *   demo.c:35
 *   0x0000000008000100 94000010  bl 0x8000140                        <main+0x1a> E
 *
 * Address, opcode (T32: halfwords in memory order), text, place, and whether a waypoint was executed (E) or not (N).
 * The source line stands above when it changes.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdlib.h>

#include "event_note.h"
#include "listing.h"
#include "transition.h"

#define COLUMN_TEXT		30
#define COLUMN_PLACE	70
#define CACHE_SIZE		8192u	/* a power of two */
#define CACHE_TEXT		80u

/* The text of an instruction that was listed before. A64 and A32 only: in T32 it may depend on an IT instruction. */
struct cached {
	uint64_t addr;
	uint32_t opcode;
	uint8_t isa;
	uint8_t len;	/* of text; 0: free */
	char text[CACHE_TEXT];
};

struct instructions {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
	struct itrace_transition transition;
	bool fold;
	struct itrace_event last;	/* the block that was written last */
	uint64_t last_count;		/* how often it came in a row; 0: none */
	const char *file;		/* source line that was written last */
	unsigned int line;
	bool have_lines;
	struct cached *cache;
};

static void write_source_line(struct instructions *self, uint64_t addr)
{
	struct itrace_source_line at;

	if (!itrace_program_line(self->program, addr, &at))
		return;
	if (at.line == self->line && self->file && (at.file == self->file || !strcmp(at.file, self->file)))
		return;
	self->file = at.file;
	self->line = at.line;
	itrace_output_format(self->out, "%s:%u\n", at.file, at.line);
}

static uint32_t read_word(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void write_opcode(struct instructions *self, enum itrace_isa isa, const uint8_t *bytes, unsigned int size)
{
	if (isa != ITRACE_ISA_T32) {
		itrace_output_hex(self->out, read_word(bytes), 8);
		return;
	}
	for (unsigned int i = 0; i < size; i += 2) {
		if (i)
			itrace_output_char(self->out, ' ');
		itrace_output_hex(self->out, (uint64_t)bytes[i] | (uint64_t)bytes[i + 1] << 8, 4);
	}
}

static void write_new_text(struct instructions *self, enum itrace_isa isa, uint64_t addr, const uint8_t *bytes,
		size_t avail, struct cached *cached)
{
	char text[ITRACE_DISASSEMBLY_MAX];

	itrace_disassemble(self->program->disassembly, isa, addr, bytes, avail, self->program->rules, text, sizeof(text));
	size_t len = strlen(text);
	itrace_output_bytes(self->out, text, len);
	if (!cached || !len || len > CACHE_TEXT)
		return;
	cached->addr = addr;
	cached->opcode = read_word(bytes);
	cached->isa = (uint8_t)isa;
	cached->len = (uint8_t)len;
	memcpy(cached->text, text, len);
}

static void write_text(struct instructions *self, enum itrace_isa isa, uint64_t addr, const uint8_t *bytes,
		size_t avail)
{
	struct cached *cached = NULL;

	if (!self->program->disassembly)
		return;
	if (isa != ITRACE_ISA_T32) {
		cached = &self->cache[(addr >> 2) & (CACHE_SIZE - 1)];
		if (cached->len && cached->addr == addr && cached->opcode == read_word(bytes) && cached->isa == isa) {
			itrace_output_bytes(self->out, cached->text, cached->len);
			return;
		}
	}
	write_new_text(self, isa, addr, bytes, avail, cached);
}

/* @returns whether there was a name to write */
static bool write_place(struct instructions *self, uint64_t start, uint64_t addr)
{
	uint64_t off;
	const struct itrace_symbol *symbol = itrace_program_function(self->program, addr, &off);

	if (!symbol)
		return false;
	itrace_output_column(self->out, start, COLUMN_PLACE);
	itrace_output_char(self->out, '<');
	itrace_output_text(self->out, symbol->name);
	if (off) {
		itrace_output_bytes(self->out, "+0x", 3);
		itrace_output_hex(self->out, off, 1);
	}
	itrace_output_char(self->out, '>');
	return true;
}

/* @returns bytes of the instruction */
static unsigned int write_instruction(struct instructions *self, const struct itrace_event *range, uint64_t addr)
{
	struct itrace_output *out = self->out;
	enum itrace_isa isa = (enum itrace_isa)range->isa;
	unsigned int size = itrace_program_size(self->program, isa, addr);
	uint64_t start = out->total_len;
	size_t avail = 0;

	itrace_output_bytes(out, "0x", 2);
	itrace_output_hex(out, addr, 16);
	itrace_output_char(out, ' ');
	const uint8_t *bytes = itrace_program_bytes(self->program, addr, &avail);
	if (bytes && avail >= size) {
		write_opcode(self, isa, bytes, size);
		itrace_output_column(out, start, COLUMN_TEXT);
		write_text(self, isa, addr, bytes, avail);
	}
	bool place = write_place(self, start, addr);
	if (addr + size == range->end && range->branch != ITRACE_INSN_OTHER) {
		itrace_output_column(out, start, place ? 0 : COLUMN_PLACE);
		itrace_output_char(out, range->flags & ITRACE_EVENT_EXECUTED ? 'E' : 'N');
	}
	itrace_output_char(out, '\n');
	return size;
}

static void end_fold(struct instructions *self)
{
	if (self->last_count > 1)
		itrace_output_format(self->out, "  × %" PRIu64 "\n", self->last_count);
	self->last_count = 0;
}

static bool same_block(const struct itrace_event *a, const struct itrace_event *b)
{
	return a->addr == b->addr && a->end == b->end && a->count == b->count && a->tag == b->tag;
}

static void take_range(struct instructions *self, const struct itrace_event *range)
{
	uint64_t addr = range->addr;

	itrace_transition_range(&self->transition, range);
	if (self->fold) {
		if (self->last_count && same_block(&self->last, range)) {
			self->last_count++;
			return;
		}
		end_fold(self);
		self->last = *range;
		self->last_count = 1;
	}
	for (uint32_t i = 0; i < range->count && addr < range->end; i++) {
		if (self->have_lines)
			write_source_line(self, addr);
		addr += write_instruction(self, range, addr);
		if (itrace_output_stopped(self->out))
			return;
	}
}

static bool has_line(const struct itrace_event *event)
{
	switch (event->kind) {
	case ITRACE_EVENT_NO_SYNC:
		return event->cause != ITRACE_NO_SYNC_INIT && event->cause != ITRACE_NO_SYNC_RESET;
	case ITRACE_EVENT_END:
		return event->cause == ITRACE_END_AFTER_OVERFLOW;
	default:
		return true;
	}
}

static void take_other(struct instructions *self, const struct itrace_event *event)
{
	struct itrace_transition before = self->transition;

	itrace_transition_event(&self->transition, event);
	if (event->kind == ITRACE_EVENT_CONTEXT)
		self->program->space = itrace_program_space(event->number);
	if (!has_line(event))
		return;
	end_fold(self);
	itrace_output_text(self->out, "-- ");
	itrace_event_note(self->program, event, self->out);
	if (event->kind == ITRACE_EVENT_GAP && event->cause == ITRACE_GAP_NO_MEMORY && before.known) {
		itrace_output_text(self->out, ", reached from ");
		itrace_program_write_place(self->program, self->out, itrace_range_last(&before.range));
	}
	itrace_output_char(self->out, '\n');
}

static void instructions_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	struct instructions *self = (struct instructions *)mouth;

	itrace_listing_heading(self->out, info);
	itrace_transition_init(&self->transition);
	self->file = NULL;
}

static void instructions_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct instructions *self = (struct instructions *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind == ITRACE_EVENT_RANGE)
			take_range(self, &events[i]);
		else
			take_other(self, &events[i]);
	}
}

static void instructions_end(struct itrace_mouth *mouth)
{
	end_fold((struct instructions *)mouth);
}

static void instructions_free(struct itrace_mouth *mouth)
{
	free(((struct instructions *)mouth)->cache);
	free(mouth);
}

static const struct itrace_mouth_ops instructions_ops = {
	.begin = instructions_begin,
	.events = instructions_events,
	.end = instructions_end,
	.free = instructions_free,
};

struct itrace_mouth *itrace_instructions_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct instructions *self = calloc(1, sizeof(*self));

	if (self)
		self->cache = calloc(CACHE_SIZE, sizeof(*self->cache));
	if (!self || !self->cache) {
		free(self);
		return NULL;
	}
	self->mouth.ops = &instructions_ops;
	self->program = program;
	self->out = out;
	self->fold = fold;
	self->have_lines = program->symbols && itrace_symbols_have_names(program->symbols);
	return &self->mouth;
}
