// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../insn.h"
#include "program.h"

uint8_t itrace_program_space(unsigned int context)
{
	static const uint8_t spaces[4][4] = {
		/* secure, non-secure, root, realm; EL0 and EL1 share theirs */
		{ ITRACE_SPACE_EL1S, ITRACE_SPACE_EL1N, ITRACE_SPACE_ROOT, ITRACE_SPACE_EL1R },
		{ ITRACE_SPACE_EL1S, ITRACE_SPACE_EL1N, ITRACE_SPACE_ROOT, ITRACE_SPACE_EL1R },
		{ ITRACE_SPACE_EL2S, ITRACE_SPACE_EL2N, ITRACE_SPACE_ROOT, ITRACE_SPACE_EL2R },
		{ ITRACE_SPACE_EL3, ITRACE_SPACE_EL3, ITRACE_SPACE_ROOT, ITRACE_SPACE_ROOT },
	};
	unsigned int security = (context & ITRACE_CONTEXT_NS ? 1 : 0) | (context & ITRACE_CONTEXT_NSE ? 2 : 0);

	return spaces[context & ITRACE_CONTEXT_EL_MASK][security];
}

const uint8_t *itrace_program_bytes(const struct itrace_program *program, uint64_t addr, size_t *avail)
{
	unsigned int space = program->space ? program->space : ITRACE_SPACE_ANY;

	return program->image ? itrace_image_at(program->image, addr, space, avail, NULL) : NULL;
}

unsigned int itrace_program_size(const struct itrace_program *program, enum itrace_isa isa, uint64_t addr)
{
	size_t avail;

	if (isa != ITRACE_ISA_T32)
		return 4;
	const uint8_t *bytes = itrace_program_bytes(program, addr, &avail);
	if (!bytes || avail < 2)
		return 2;
	return itrace_insn_t32_size((uint16_t)(bytes[0] | bytes[1] << 8));
}

uint64_t itrace_program_step(const struct itrace_program *program, const struct itrace_event *range, uint32_t index)
{
	if (index >= range->count)
		return range->end;
	if (range->isa != ITRACE_ISA_T32)
		return range->addr + 4ull * index;

	uint64_t addr = range->addr;
	while (index--)
		addr += itrace_program_size(program, ITRACE_ISA_T32, addr);
	return addr;
}

bool itrace_program_index(const struct itrace_program *program, const struct itrace_event *range, uint64_t addr,
		uint32_t from, uint32_t *index)
{
	if (addr < range->addr || addr >= range->end)
		return false;
	if (range->isa != ITRACE_ISA_T32) {
		uint64_t number = (addr - range->addr) / 4;
		*index = (uint32_t)number;
		return !((addr - range->addr) & 3) && number >= from && number < range->count;
	}

	uint64_t pos = range->addr;
	for (uint32_t i = 0; i < range->count && pos <= addr; i++) {
		if (pos == addr) {
			*index = i;
			return i >= from;
		}
		pos += itrace_program_size(program, ITRACE_ISA_T32, pos);
	}
	return false;
}

void itrace_program_split(const struct itrace_program *program, const struct itrace_event *range, uint32_t count,
		struct itrace_event *head, struct itrace_event *tail)
{
	struct itrace_event whole = *range;
	uint64_t last = itrace_program_step(program, &whole, count - 1);
	unsigned int size = itrace_program_size(program, (enum itrace_isa)whole.isa, last);

	*head = whole;
	head->count = count;
	head->end = last + size;
	head->tag = itrace_event_range_tag((enum itrace_isa)whole.isa, ITRACE_INSN_OTHER, ITRACE_EVENT_EXECUTED, size);
	if (tail) {
		*tail = whole;
		tail->addr = last + size;
		tail->count = whole.count - count;
	}
}

const struct itrace_symbol *itrace_program_function(const struct itrace_program *program, uint64_t addr, uint64_t *off)
{
	return program->symbols ? itrace_symbols_find(program->symbols, addr, off) : NULL;
}

bool itrace_program_line(const struct itrace_program *program, uint64_t addr, struct itrace_source_line *at)
{
	at->file = NULL;
	at->line = 0;
	return program->symbols && itrace_symbols_line(program->symbols, addr, at) && at->file;
}

void itrace_program_write_place(const struct itrace_program *program, struct itrace_output *out, uint64_t addr)
{
	uint64_t off;
	const struct itrace_symbol *symbol = itrace_program_function(program, addr, &off);

	if (!symbol) {
		itrace_output_bytes(out, "0x", 2);
		itrace_output_hex(out, addr, addr >> 32 ? 16 : 8);
		return;
	}
	itrace_output_text(out, symbol->name);
	if (off) {
		itrace_output_bytes(out, "+0x", 3);
		itrace_output_hex(out, off, 1);
	}
}

static bool number(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end;
}

bool itrace_program_address(const struct itrace_program *program, const char *text, uint64_t *addr, char *why,
		size_t why_size)
{
	uint64_t off = 0;
	const char *plus = strrchr(text, '+');

	why[0] = 0;
	if (number(text, addr))
		return true;

	size_t len = plus && number(plus + 1, &off) ? (size_t)(plus - text) : strlen(text);
	if (!program->symbols || !itrace_symbols_have_names(program->symbols)) {
		snprintf(why, why_size, "'%s': there are no symbols to find it in; give an ELF file or a number", text);
		return false;
	}

	/* C++ names have no bound */
	char *name = strndup(text, len);
	if (!name) {
		snprintf(why, why_size, "no memory");
		return false;
	}
	unsigned int count = itrace_symbols_range(program->symbols, name, addr, NULL);
	if (!count) {
		snprintf(why, why_size, "'%s': no symbol of this name in the ELF files", name);
		free(name);
		return false;
	}
	if (count > 1)
		snprintf(why, why_size, "'%s' stands at %u addresses; taking 0x%" PRIx64, name, count, *addr);
	free(name);
	*addr += off;
	return true;
}
