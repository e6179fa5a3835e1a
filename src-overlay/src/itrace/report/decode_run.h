/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The one place where a decode is put together: options, source, core, mouths, ledger.
 * Called by the standalone program and by the Tcl commands alike.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODE_RUN_H
#define OPENOCD_ITRACE_REPORT_DECODE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode_io.h"

/* Exit statuses, as in the manual. */
enum itrace_decode_status {
	ITRACE_DECODE_OK = 0,		/* decoded, no gap */
	ITRACE_DECODE_NOTHING = 1,	/* nothing of the asked kind, or unreadable input */
	ITRACE_DECODE_USAGE = 2,
	ITRACE_DECODE_GAPS = 3		/* decoded, with gaps */
};

/*
 * Decode as @a argv says (options as in the manual, without the command's own name). With io->capture that is what is
 * decoded, and its program where @a argv names no ELF file.
 * @param dash "-" (Tcl) or "--" (command line): what options begin with
 * @param[out] ledger_dict the ledger as a Tcl dict (key value key value ...), cut at @a ledger_size; may be NULL
 * @returns an exit status. Every error has been given to message() as one line.
 */
enum itrace_decode_status itrace_decode_run(const char *const *argv, int argc, const char *dash,
		const struct itrace_decode_io *io, char *ledger_dict, size_t ledger_size);

/* The options with a line of explanation each, for help texts; @a dash as above. Writes through @a io. */
void itrace_decode_usage(const char *dash, const struct itrace_decode_io *io);

/* What this build was made with: "elfutils 0.188, capstone 4.0.2" or what is missing. */
const char *itrace_decode_build(void);

#endif /* OPENOCD_ITRACE_REPORT_DECODE_RUN_H */
