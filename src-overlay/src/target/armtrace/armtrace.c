// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The command groups of this folder in one table, and those that are not in this
 * version: they answer so, instead of being unknown.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "armtrace.h"
#include "coresight.h"
#include "ete.h"
#include "mtb.h"
#include "mtb_trace.h"
#include "ocd_compat.h"

COMMAND_HANDLER(handle_later_command)
{
	ocd_result(CMD, "not in this version");
	return ERROR_NOT_IMPLEMENTED;
}

static const struct command_registration tmc_subcommand_handlers[] = {
	{
		.name = "create",
		.handler = handle_later_command,
		.mode = COMMAND_ANY,
		.help = "create an ETB, ETF or ETR object (not in this version)",
		.usage = "name '-dap' dap '-ap-num' number '-baseaddr' address [options ...]",
	},
	COMMAND_REGISTRATION_DONE
};

static const struct command_registration funnel_subcommand_handlers[] = {
	{
		.name = "create",
		.handler = handle_later_command,
		.mode = COMMAND_ANY,
		.help = "create a trace funnel object (not in this version)",
		.usage = "name '-dap' dap '-ap-num' number '-baseaddr' address",
	},
	COMMAND_REGISTRATION_DONE
};

static const struct command_registration replicator_subcommand_handlers[] = {
	{
		.name = "create",
		.handler = handle_later_command,
		.mode = COMMAND_ANY,
		.help = "create a trace replicator object (not in this version)",
		.usage = "name '-dap' dap '-ap-num' number '-baseaddr' address",
	},
	COMMAND_REGISTRATION_DONE
};

static const struct command_registration gdb_btrace_subcommand_handlers[] = {
	{
		.name = "auto",
		.handler = handle_later_command,
		.mode = COMMAND_ANY,
		.help = "offer a finished capture to GDB when it connects (not in this version)",
		.usage = "('on'|'off')",
	},
	COMMAND_REGISTRATION_DONE
};

const struct command_registration armtrace_command_handlers[] = {
	{
		.chain = arm_ete_command_handlers,
	},
	{
		.chain = arm_mtb_command_handlers,
	},
	{
		.name = "tmc",
		.mode = COMMAND_ANY,
		.help = "Trace Memory Controller commands",
		.usage = "",
		.chain = tmc_subcommand_handlers,
	},
	{
		.name = "funnel",
		.mode = COMMAND_ANY,
		.help = "trace funnel commands",
		.usage = "",
		.chain = funnel_subcommand_handlers,
	},
	{
		.name = "replicator",
		.mode = COMMAND_ANY,
		.help = "trace replicator commands",
		.usage = "",
		.chain = replicator_subcommand_handlers,
	},
	{
		.chain = arm_coresight_command_handlers,
	},
	{
		.name = "gdb_btrace",
		.mode = COMMAND_ANY,
		.help = "branch trace for GDB",
		.usage = "",
		.chain = gdb_btrace_subcommand_handlers,
	},
	COMMAND_REGISTRATION_DONE
};

void armtrace_cleanup(void)
{
	arm_mtb_cleanup_all();
}
