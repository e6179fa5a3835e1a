// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "mtb_source.h"

/* Symbols that start-up code gives its vector table: CMSIS, GCC's and vendors' start files, Zephyr, Rust. */
static const char *const vector_symbols[] = {
	"__Vectors", "__isr_vector", "g_pfnVectors", "__vectors", "_vectors", "__vector_table", "_vector_table",
	"vector_table", "exception_table", "__isr_vectors", "isr_vector", "vectors", "__VECTOR_TABLE", "interruptVectors"
};

bool itrace_mtb_source_registers(struct itrace_mtb_source *source, const struct itrace_decode_options *options,
		const char *dash, const struct itrace_decode_io *io)
{
	for (size_t i = 0; i < options->reg_count; i++) {
		uint32_t bit;
		uint32_t *reg = itrace_mtb_register(&source->regs, options->regs[i].name, &bit);
		if (!reg) {
			itrace_error(io, "%sreg: %s is no register of an MTB; its trace needs POSITION, MASTER, FLOW, BASE, AW, "
					"PC_ARM, PC_HALT, VTOR", dash, options->regs[i].name);
			return false;
		}
		*reg = options->regs[i].value;
		source->regs.given |= bit;
	}
	return true;
}

uint64_t itrace_mtb_source_len(const struct itrace_mtb_source *source)
{
	uint64_t len = 0;

	for (unsigned int i = 0; i < source->ring.piece_count; i++)
		len += source->ring.pieces[i].len;
	return len;
}

static bool has(const struct itrace_mtb_source *source, uint32_t bit)
{
	return source->regs.given & bit;
}

uint64_t itrace_mtb_source_most(const struct itrace_mtb_source *source, const struct itrace_decode_options *options)
{
	if (has(source, ITRACE_MTB_REG_POSITION) && has(source, ITRACE_MTB_REG_AW) && source->regs.aw < 32 &&
			!options->buffer_given)
		return UINT64_C(1) << source->regs.aw;
	return UINT64_C(1) << 32;
}

/* The registers that are known, for a message. */
static void list_given(const struct itrace_mtb_source *source, char *text, size_t size)
{
	struct itrace_mtb_registers regs = source->regs;
	size_t len = 0;
	const char *name;

	text[0] = 0;
	for (unsigned int i = 0; (name = itrace_mtb_register_name(i)); i++) {
		uint32_t bit;
		const uint32_t *reg = itrace_mtb_register(&regs, name, &bit);
		if (!(regs.given & bit & ~(uint32_t)(ITRACE_MTB_REG_PC_ARM | ITRACE_MTB_REG_PC_HALT | ITRACE_MTB_REG_VTOR |
				ITRACE_MTB_REG_FLOW)))
			continue;
		int n = snprintf(text + len, size - len, bit == ITRACE_MTB_REG_AW ? "%s%s=%" PRIu32 : "%s%s=0x%" PRIx32,
				len ? " " : "", name, *reg);
		if (n < 0 || (size_t)n >= size - len)
			return;
		len += (size_t)n;
	}
}

static void tell_misfit(const struct itrace_mtb_source *source, enum itrace_mtb_ring_status status,
		const struct itrace_decode_options *options, const char *label, uint64_t len,
		const struct itrace_decode_io *io)
{
	const struct itrace_mtb_ring *ring = &source->ring;
	char given[160], at[32] = "", need[80] = "";

	list_given(source, given, sizeof(given));
	if (options->buffer_given)
		snprintf(at, sizeof(at), " at 0x%" PRIx64, options->buffer);
	if (status == ITRACE_MTB_RING_CUT)
		snprintf(need, sizeof(need), ": %" PRIu64 " bytes are needed, %" PRIu64 " missing", ring->need_len,
				ring->need_len - len);
	else if (status == ITRACE_MTB_RING_OUTSIDE && ring->need_len)
		snprintf(need, sizeof(need), ": it would be at byte 0x%" PRIx64, ring->dump_off);
	itrace_error(io, "%s (%" PRIu64 " bytes%s, %s): %s%s", label, len, at, given, itrace_mtb_ring_status_text(status),
			need);
}

static void tell_defaults(const struct itrace_mtb_source *source, const char *label, const char *dash,
		const struct itrace_decode_io *io)
{
	/* no option could give more, and of no packet there is no more to say */
	if (io->capture) {
		if (!has(source, ITRACE_MTB_REG_PC_HALT) && itrace_mtb_source_len(source))
			itrace_inform(io, "%s: where the core was at the end is not known, nor what ran behind the last packet",
					label);
		return;
	}
	/* of what was drained there is none */
	if (!has(source, ITRACE_MTB_REG_POSITION) && !source->hints.seam_count)
		itrace_inform(io, "registers not given (%sreg): POSITION; the file is taken as packets in order, oldest first",
				dash);
	else if (has(source, ITRACE_MTB_REG_POSITION) && source->ring.size_from_dump)
		itrace_inform(io, "registers not given (%sreg): MASTER; the buffer is taken to be as long as the file, %" PRIu64
				" bytes", dash, source->ring.size);
	if (!has(source, ITRACE_MTB_REG_PC_HALT))
		itrace_inform(io, "registers not given (%sreg): PC_HALT; what ran behind the last packet is not known", dash);
}

static void tell_ring(const struct itrace_mtb_source *source, const char *label, const struct itrace_decode_io *io)
{
	const struct itrace_mtb_ring *ring = &source->ring;
	const uint64_t len = itrace_mtb_source_len(source);

	if (ring->clamped)
		itrace_warn(io, "%s: MASTER.MASK is %" PRIu32 ", more than AW-4 = %" PRIu32 ": an MTB takes it as that", label,
				source->regs.master & ITRACE_MTB_MASTER_MASK, source->regs.aw - 4);
	if (!ring->known)
		return;
	if (ring->wrapped)
		itrace_inform(io, "MTB buffer of %" PRIu64 " bytes has wrapped: %" PRIu64 " packets, the oldest at byte 0x%"
				PRIx64, ring->size, len / 8, ring->pieces[0].off);
	else if (len || !io->capture)
		itrace_inform(io, "MTB buffer of %" PRIu64 " bytes has not wrapped: %" PRIu64 " packets from byte 0x%" PRIx64
				" on", ring->size, len / 8, ring->dump_off);
	/* registers of an object were not saved and restored: it traces, and nothing has come yet */
	if (!len && !io->capture && has(source, ITRACE_MTB_REG_MASTER) && source->regs.master & ITRACE_MTB_MASTER_EN)
		itrace_warn(io, "%s: MASTER.EN is set (0x%08" PRIx32 "), but POSITION (0x%08" PRIx32 ") says that nothing was "
				"traced; were the registers saved and restored in another order?", label, source->regs.master,
				source->regs.position);
}

static void set_hints(struct itrace_mtb_source *source, const struct itrace_decode_io *io)
{
	struct itrace_mtb_hints *hints = &source->hints;
	const bool stopped = has(source, ITRACE_MTB_REG_MASTER) && !(source->regs.master & ITRACE_MTB_MASTER_EN);

	hints->wrapped = source->ring.wrapped;
	hints->has_pc_arm = has(source, ITRACE_MTB_REG_PC_ARM);
	hints->pc_arm = source->regs.pc_arm;
	hints->has_pc_halt = has(source, ITRACE_MTB_REG_PC_HALT) && !stopped;
	hints->pc_halt = source->regs.pc_halt;
	hints->has_vtor = has(source, ITRACE_MTB_REG_VTOR);
	hints->vtor = source->regs.vtor;
	if (stopped && has(source, ITRACE_MTB_REG_PC_HALT))
		itrace_inform(io, "PC_HALT is not used: tracing had stopped before (MASTER.EN is 0)");
	else if (hints->has_pc_halt && itrace_mtb_place(hints->pc_halt & ~UINT32_C(1)) == ITRACE_MTB_LOCKED_UP)
		itrace_inform(io, "PC_HALT 0x%08" PRIx32 ": the core was in lock-up; what ran behind the last packet is not "
				"known", hints->pc_halt);
}

bool itrace_mtb_source_find(struct itrace_mtb_source *source, const struct itrace_decode_options *options,
		const char *label, uint64_t len, const char *dash, const struct itrace_decode_io *io)
{
	const enum itrace_mtb_ring_status status = itrace_mtb_ring_find(&source->ring, &source->regs,
			options->buffer_given, options->buffer, len);

	if (status != ITRACE_MTB_RING_OK) {
		tell_misfit(source, status, options, label, len, io);
		return false;
	}
	tell_defaults(source, label, dash, io);
	tell_ring(source, label, io);
	if (source->ring.known && source->hints.seam_count) {
		itrace_warn(io, "%s: seams are of packets in order, but POSITION is given; they are left out", label);
		source->hints.seam_count = 0;
	}
	set_hints(source, io);
	return true;
}

/* ---- the vector table ---- */

static bool read_word(const struct itrace_segment *segments, size_t count, uint64_t addr, uint32_t *word)
{
	for (size_t i = 0; i < count; i++) {
		const struct itrace_segment *segment = &segments[i];
		if (addr < segment->addr || addr - segment->addr >= segment->len || segment->len - (addr - segment->addr) < 4)
			continue;
		const uint8_t *bytes = segment->data + (addr - segment->addr);
		*word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
		return true;
	}
	return false;
}

/* A stack pointer, and a reset handler in known code. */
static bool is_table(const struct itrace_segment *segments, size_t count, uint64_t addr)
{
	uint32_t stack, reset, code;

	return !(addr & 3) && addr <= UINT32_MAX && read_word(segments, count, addr, &stack) && stack && !(stack & 3) &&
			read_word(segments, count, addr + 4, &reset) && reset & 1 &&
			read_word(segments, count, reset & ~UINT32_C(1), &code);
}

void itrace_mtb_source_vectors(struct itrace_mtb_source *source, struct itrace_symbols *symbols,
		const struct itrace_segment *segments, size_t count, const struct itrace_decode_io *io)
{
	const char *how = "the beginning of the program";
	uint64_t addr = UINT64_MAX;

	if (source->hints.has_vtor)
		return;
	for (size_t i = 0; i < sizeof(vector_symbols) / sizeof(vector_symbols[0]) && symbols; i++) {
		uint64_t start;
		if (itrace_symbols_range(symbols, vector_symbols[i], &start, NULL) == 1 && is_table(segments, count, start)) {
			addr = start;
			how = vector_symbols[i];
			break;
		}
	}
	if (addr == UINT64_MAX && is_table(segments, count, 0)) {
		addr = 0;
		how = "its place after reset";
	}
	if (addr == UINT64_MAX) {
		for (size_t i = 0; i < count; i++)
			if (segments[i].len && segments[i].addr < addr)
				addr = segments[i].addr;
		if (addr == UINT64_MAX || !is_table(segments, count, addr)) {
			itrace_inform(io, "no vector table found: exceptions have no names; give its address as VTOR");
			return;
		}
	}
	source->hints.has_vtor = true;
	source->hints.vtor = (uint32_t)addr;
	itrace_inform(io, "vector table at 0x%" PRIx64 " (%s)", addr, how);
}
