// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The command group 'ete'.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "decode_command.h"
#include "ete.h"
#include "ocd_compat.h"

static struct armtrace_decoder arm_ete_decoder = { .group = "ete" };

COMMAND_HANDLER(handle_ete_decode_command)
{
	return armtrace_decode_command(CMD, &arm_ete_decoder);
}

COMMAND_HANDLER(handle_ete_ledger_command)
{
	return armtrace_ledger_command(CMD, &arm_ete_decoder);
}

COMMAND_HANDLER(handle_ete_create_command)
{
	ocd_result(CMD, "not in this version");
	return ERROR_NOT_IMPLEMENTED;
}

static const struct command_registration arm_ete_subcommand_handlers[] = {
	{
		.name = "create",
		.handler = handle_ete_create_command,
		.mode = COMMAND_ANY,
		.help = "create a trace object for an ETE or ETMv4 trace unit (not in this version)",
		.usage = "name '-target' target [options ...]",
	},
	{
		.name = "decode",
		.handler = handle_ete_decode_command,
		.mode = COMMAND_ANY,
		.help = "decode ETE or ETMv4 trace to functions, instructions, elements or packets; "
			"'ete decode -help' explains every option",
		.usage = "('-snapshot' directory | '-trace' file '-protocol' protocol) ['-elf' file] ['-format' format] "
			"['-o' file] [options ...]",
	},
	{
		.name = "ledger",
		.handler = handle_ete_ledger_command,
		.mode = COMMAND_ANY,
		.help = "return the ledger of the last 'ete decode' as a Tcl dict",
		.usage = "",
	},
	COMMAND_REGISTRATION_DONE
};

const struct command_registration arm_ete_command_handlers[] = {
	{
		.name = "ete",
		.mode = COMMAND_ANY,
		.help = "Arm Embedded Trace Extension and ETMv4 commands",
		.usage = "",
		.chain = arm_ete_subcommand_handlers,
	},
	COMMAND_REGISTRATION_DONE
};
