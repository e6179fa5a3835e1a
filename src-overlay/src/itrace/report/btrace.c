// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../insn.h"
#include "btrace.h"
#include "transition.h"

#define BLOCKS	65536u	/* that are kept in memory */

struct block {
	uint64_t begin, end;
};

/* How GDB is told of a hole: it prints "decode error" and goes on with the next block. */
static const struct block hole = { .begin = 1, .end = 0 };

struct btrace {
	struct itrace_mouth mouth;
	const struct itrace_program *program;
	const char *path;
	struct block *blocks;
	uint32_t count;		/* in memory */
	uint64_t spilled;	/* in the file */
	FILE *spill;
	FILE *file;		/* open from the beginning: that it cannot be written is known before the decode */
	struct block block;	/* the one that is being made */
	bool open;
	bool hole;		/* the last thing was a hole */
	bool any;
	struct itrace_event last;	/* last range, when open */
	char why[512];
};

static void fail(struct btrace *self, const char *path, int error)
{
	if (!self->why[0])
		snprintf(self->why, sizeof(self->why), "btrace: cannot write '%.400s': %s", path, strerror(error));
}

static bool spill(struct btrace *self)
{
	if (!self->spill)
		self->spill = tmpfile();
	if (!self->spill || fwrite(self->blocks, sizeof(struct block), self->count, self->spill) != self->count) {
		fail(self, "a temporary file", errno);
		return false;
	}
	self->spilled += self->count;
	self->count = 0;
	return true;
}

static void push(struct btrace *self, const struct block *block)
{
	if (self->why[0])
		return;
	if (self->count == BLOCKS && !spill(self))
		return;
	self->blocks[self->count++] = *block;
	self->any = true;
}

static void close_block(struct btrace *self)
{
	if (self->open)
		push(self, &self->block);
	self->open = false;
}

static void add_hole(struct btrace *self)
{
	close_block(self);
	if (self->any && !self->hole)
		push(self, &hole);
	self->hole = true;
}

static void take_range(struct btrace *self, const struct itrace_event *range)
{
	if (!range->count)
		return;
	if (!self->open || range->addr != self->last.end || itrace_range_branched(&self->last)) {
		close_block(self);
		self->block.begin = range->addr;
		self->open = true;
	}
	self->block.end = itrace_range_last(range);
	self->last = *range;
	self->hole = false;
}

static void btrace_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct btrace *self = (struct btrace *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		switch (events[i].kind) {
		case ITRACE_EVENT_RANGE:
			take_range(self, &events[i]);
			break;
		case ITRACE_EVENT_RANGE_NO_PATH:
		case ITRACE_EVENT_TRACE_ON:
		case ITRACE_EVENT_GAP:
			add_hole(self);
			break;
		case ITRACE_EVENT_EXCEPTION:
			close_block(self);
			break;
		default:
			break;
		}
	}
}

/*
 * GDB takes the first block's end for the instruction that is about to be executed. That address is known unless the
 * trace ends with an indirect branch (then GDB counts one instruction less) or with a hole.
 */
static bool next_addr(const struct btrace *self, uint64_t *addr)
{
	const struct itrace_event *last = &self->last;
	struct itrace_insn insn;
	size_t avail;

	if (!self->open)
		return false;
	*addr = last->end;
	if (!itrace_range_branched(last))
		return true;
	uint64_t pc = itrace_range_last(last);
	const uint8_t *bytes = itrace_program_bytes(self->program, pc, &avail);
	if (last->branch != ITRACE_INSN_DIRECT || !bytes || avail < last->last_size || !self->program->rules)
		return false;

	uint16_t hw1 = (uint16_t)(bytes[0] | bytes[1] << 8);
	uint16_t hw2 = last->last_size == 4 ? (uint16_t)(bytes[2] | bytes[3] << 8) : 0;
	uint32_t word = (uint32_t)hw2 << 16 | hw1;
	if (last->isa == ITRACE_ISA_A64)
		itrace_insn_a64(self->program->rules, word, pc, &insn);
	else if (last->isa == ITRACE_ISA_A32)
		itrace_insn_a32(self->program->rules, word, pc, &insn);
	else
		itrace_insn_t32(self->program->rules, hw1, hw2, pc, &insn);
	*addr = insn.target;
	return insn.class == ITRACE_INSN_DIRECT;
}

static void btrace_end(struct itrace_mouth *mouth)
{
	struct btrace *self = (struct btrace *)mouth;
	struct block current;

	if (next_addr(self, &current.begin)) {
		close_block(self);
		current.end = current.begin;
		push(self, &current);
	}
	close_block(self);
	/* of several streams */
	self->hole = false;
}

static void btrace_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	(void)info;
	add_hole((struct btrace *)mouth);
}

static void btrace_left_out(struct itrace_mouth *mouth)
{
	add_hole((struct btrace *)mouth);
}

static void write_blocks(struct btrace *self, FILE *file)
{
	for (uint32_t i = self->count; i--;)
		fprintf(file, "<block begin=\"0x%llx\" end=\"0x%llx\"/>\n", (unsigned long long)self->blocks[i].begin,
				(unsigned long long)self->blocks[i].end);
}

/* The spilled blocks, from the end of the file in pieces of BLOCKS. */
static bool read_back(struct btrace *self)
{
	self->spilled -= BLOCKS;
	if (fseeko(self->spill, (off_t)(self->spilled * sizeof(struct block)), SEEK_SET) ||
			fread(self->blocks, sizeof(struct block), BLOCKS, self->spill) != BLOCKS) {
		fail(self, "a temporary file", errno);
		return false;
	}
	self->count = BLOCKS;
	return true;
}

static void btrace_finish(struct itrace_mouth *mouth, const struct itrace_ledger *ledger)
{
	struct btrace *self = (struct btrace *)mouth;

	FILE *file = self->file;

	(void)ledger;
	if (self->why[0] || !file)
		return;
	self->file = NULL;
	fputs("<btrace version=\"1.0\">\n", file);
	write_blocks(self, file);
	while (self->spilled && read_back(self))
		write_blocks(self, file);
	fputs("</btrace>\n", file);
	errno = 0;
	bool bad = ferror(file) || fflush(file);
	int error = errno ? errno : ENOSPC;
	if (fclose(file) || bad)
		fail(self, self->path, error);
}

static void btrace_free(struct itrace_mouth *mouth)
{
	struct btrace *self = (struct btrace *)mouth;

	if (self->spill)
		fclose(self->spill);
	if (self->file)
		fclose(self->file);
	free(self->blocks);
	free(self);
}

const char *itrace_btrace_error(const struct itrace_mouth *mouth)
{
	const struct btrace *self = (const struct btrace *)mouth;

	return self->why[0] ? self->why : NULL;
}

static const struct itrace_mouth_ops btrace_ops = {
	.begin = btrace_begin,
	.events = btrace_events,
	.left_out = btrace_left_out,
	.end = btrace_end,
	.finish = btrace_finish,
	.free = btrace_free,
};

struct itrace_mouth *itrace_btrace_new(const struct itrace_program *program, const char *path)
{
	struct btrace *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->mouth.ops = &btrace_ops;
	self->program = program;
	self->path = path;
	self->blocks = malloc(BLOCKS * sizeof(*self->blocks));
	if (!self->blocks) {
		free(self);
		return NULL;
	}
	self->file = fopen(path, "w");
	if (!self->file)
		fail(self, path, errno);
	return &self->mouth;
}
