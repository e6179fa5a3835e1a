// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The command group 'mtb'.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "decode_command.h"
#include "mtb.h"
#include "ocd_compat.h"

static struct armtrace_decoder arm_mtb_decoder = { .group = "mtb", .protocol = "mtb" };

COMMAND_HANDLER(handle_mtb_decode_command)
{
	return armtrace_decode_command(CMD, &arm_mtb_decoder);
}

COMMAND_HANDLER(handle_mtb_ledger_command)
{
	return armtrace_ledger_command(CMD, &arm_mtb_decoder);
}

COMMAND_HANDLER(handle_mtb_create_command)
{
	ocd_result(CMD, "not in this version");
	return ERROR_NOT_IMPLEMENTED;
}

static const struct command_registration arm_mtb_subcommand_handlers[] = {
	{
		.name = "create",
		.handler = handle_mtb_create_command,
		.mode = COMMAND_ANY,
		.help = "create a Micro Trace Buffer object (not in this version)",
		.usage = "name '-target' target [options ...]",
	},
	{
		.name = "decode",
		.handler = handle_mtb_decode_command,
		.mode = COMMAND_ANY,
		.help = "decode Micro Trace Buffer trace to functions, instructions, elements or packets; "
			"'mtb decode -help' explains every option",
		.usage = "('-snapshot' directory | '-trace' file ['-buffer' address]) ['-reg' name=value ...] "
			"['-elf' file] ['-format' format] ['-o' file] [options ...]",
	},
	{
		.name = "ledger",
		.handler = handle_mtb_ledger_command,
		.mode = COMMAND_ANY,
		.help = "return the ledger of the last 'mtb decode' as a Tcl dict",
		.usage = "",
	},
	COMMAND_REGISTRATION_DONE
};

const struct command_registration arm_mtb_command_handlers[] = {
	{
		.name = "mtb",
		.mode = COMMAND_ANY,
		.help = "Micro Trace Buffer commands",
		.usage = "",
		.chain = arm_mtb_subcommand_handlers,
	},
	COMMAND_REGISTRATION_DONE
};
