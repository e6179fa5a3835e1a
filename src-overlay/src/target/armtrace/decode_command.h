/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The commands decode and ledger, for whatever group they stand in.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_DECODE_COMMAND_H
#define OPENOCD_TARGET_ARMTRACE_DECODE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct command_invocation;

/* A group that decodes. */
struct armtrace_decoder {
	const char *group;	/* "ete" */
	const char *protocol;	/* of -trace where none is given; NULL: the library's own default */
	char *ledger;		/* of its last decode, a Tcl dict; NULL: nothing was decoded yet */
	struct armtrace_decoder *also;	/* has that ledger too; NULL: none */
};

/*
 * Decode as cmd's arguments say. The listing is the command's result, errors are the text of its failure, the ledger
 * goes to the log and stays in @a decoder.
 */
int armtrace_decode_command(struct command_invocation *cmd, struct armtrace_decoder *decoder);

struct itrace_capture;
struct target;

/* The same for a capture in memory; @a target is the one it came from. */
int armtrace_decode_capture(struct command_invocation *cmd, struct armtrace_decoder *decoder,
		const struct itrace_capture *capture, struct target *target);

/* Write @a capture as a snapshot into directory @a dir. @returns false: why, one line */
bool armtrace_write_snapshot(const struct itrace_capture *capture, const char *dir, char *why, size_t why_size);

/*
 * Would opening @a path wait until somebody reads it? Targets and GDB are served meanwhile, so OpenOCD must not.
 * @returns true: it is a pipe that nobody reads; why, one line
 */
bool armtrace_is_pipe(const char *path, char *why, size_t why_size);

/* The last ledger as the command's result. */
int armtrace_ledger_command(struct command_invocation *cmd, struct armtrace_decoder *decoder);

#endif /* OPENOCD_TARGET_ARMTRACE_DECODE_COMMAND_H */
