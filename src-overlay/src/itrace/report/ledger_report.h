/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The ledger for people, for Tcl and for JSON.
 */

#ifndef OPENOCD_ITRACE_REPORT_LEDGER_REPORT_H
#define OPENOCD_ITRACE_REPORT_LEDGER_REPORT_H

#include <stddef.h>

#include "../ledger.h"
#include "output.h"
#include "symbols.h"

#define ITRACE_LEDGER_LINES		4
#define ITRACE_LEDGER_LINE_MAX	2048	/* a longer line is cut */

/*
 * Line @a line (0 .. ITRACE_LEDGER_LINES - 1) without line end:
 *
 *   trace     4096 bytes: 4040 decoded, 44 padding, 12 not synchronised, 0 skipped
 *   flow      21713 instructions in 5120 ranges, 41 exceptions, 7 trace-on
 *   gaps      3: 1 overflow at byte 2048; 2 no memory at 0xffff000008080000 (4 bytes wanted)
 *   code      21000 from fw.elf, 713 from target memory
 *
 * @param symbols names the sources of code; NULL: they are numbered
 */
void itrace_ledger_line(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols, unsigned int line,
		char *text, size_t size);

/*
 * The ledger as a Tcl dict. Keys, in this order; values are decimal unless said otherwise:
 *
 *   trace_len decoded_len padding_len unsynced_len skipped_len frame_len partial_len presync_len   bytes
 *   instructions ranges exceptions trace_on seams unknown_path
 *   gaps                                   how many
 *   gap                                    dict: cause {count first_off first_addr (hex)}, only causes that occurred
 *   code                                   dict: file or "target memory" -> instructions
 *   packets                                dict: kind -> {count bytes}, only kinds that occurred
 *
 * What does not fit into @a size is left out (whole keys, the last ones first); the text is always a dict.
 * @returns the length of the text
 */
size_t itrace_ledger_dict(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols, char *text,
		size_t size);

/* The ledger as one JSON object with the same keys, and "kind": "ledger". */
void itrace_ledger_json(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols,
		struct itrace_output *out);

#endif /* OPENOCD_ITRACE_REPORT_LEDGER_REPORT_H */
