/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The commands decode and ledger, for whatever group they stand in.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_DECODE_COMMAND_H
#define OPENOCD_TARGET_ARMTRACE_DECODE_COMMAND_H

struct command_invocation;

/* A group that decodes. */
struct armtrace_decoder {
	const char *group;	/* "ete" */
	const char *protocol;	/* of -trace where none is given; NULL: the library's own default */
	char *ledger;		/* of its last decode, a Tcl dict; NULL: nothing was decoded yet */
};

/*
 * Decode as cmd's arguments say. The listing is the command's result, errors are the text of its failure, the ledger
 * goes to the log and stays in @a decoder.
 */
int armtrace_decode_command(struct command_invocation *cmd, struct armtrace_decoder *decoder);

/* The last ledger as the command's result. */
int armtrace_ledger_command(struct command_invocation *cmd, struct armtrace_decoder *decoder);

#endif /* OPENOCD_TARGET_ARMTRACE_DECODE_COMMAND_H */
