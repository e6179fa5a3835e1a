/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An MTB's trace as the source of a decode: which bytes of its file, and what its registers tell the decoder.
 */

#ifndef OPENOCD_ITRACE_REPORT_MTB_SOURCE_H
#define OPENOCD_ITRACE_REPORT_MTB_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "../mtb_flow.h"
#include "../mtb_ring.h"
#include "decode_io.h"
#include "decode_options.h"
#include "symbols.h"

struct itrace_mtb_source {
	struct itrace_mtb_registers regs;
	struct itrace_mtb_ring ring;
	struct itrace_mtb_hints hints;
};

/*
 * Take over the registers that the options give. @param dash as in the options
 * @returns false when one is none of an MTB's; that has been told.
 */
bool itrace_mtb_source_registers(struct itrace_mtb_source *source, const struct itrace_decode_options *options,
		const char *dash, const struct itrace_decode_io *io);

/* How many bytes the file can have: those of the MTB's RAM, if it is that; else of all memory that a core sees. */
uint64_t itrace_mtb_source_most(const struct itrace_mtb_source *source, const struct itrace_decode_options *options);

/*
 * Find the trace in the file, of @a len bytes, and tell what of it there is, and which registers are missing. Seams are
 * those that hints already has.
 * @param label what messages call the file
 * @returns false when the registers and the file do not fit; that has been told.
 */
bool itrace_mtb_source_find(struct itrace_mtb_source *source, const struct itrace_decode_options *options,
		const char *label, uint64_t len, const char *dash, const struct itrace_decode_io *io);

/*
 * Where the vector table is, when no register says so: by the usual symbols, at address 0, or at the start of the code.
 * Tells what was chosen.
 */
void itrace_mtb_source_vectors(struct itrace_mtb_source *source, struct itrace_symbols *symbols,
		const struct itrace_segment *segments, size_t count, const struct itrace_decode_io *io);

/* Bytes that were traced. */
uint64_t itrace_mtb_source_len(const struct itrace_mtb_source *source);

#endif /* OPENOCD_ITRACE_REPORT_MTB_SOURCE_H */
