// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The command group 'mtb', and the commands of its objects.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <target/target.h>

#include "decode_command.h"
#include "mtb.h"
#include "mtb_configure.h"
#include "mtb_trace.h"
#include "mtb_result.h"
#include "mtb_status.h"
#include "ocd_compat.h"
#include "ocd_refuse.h"

static struct armtrace_decoder arm_mtb_decoder = { .group = "mtb", .protocol = "mtb" };

/* ---- trace ---- */

typedef int mtb_action(struct arm_mtb *mtb, char *why, size_t why_size);

static int act(struct command_invocation *cmd, mtb_action *action)
{
	char why[ARM_MTB_WHY] = "";

	if (cmd->argc)
		return ERROR_COMMAND_SYNTAX_ERROR;
	return arm_mtb_refuse(cmd, action(CMD_DATA, why, sizeof(why)), why);
}

COMMAND_HANDLER(handle_mtb_start_command)
{
	return act(CMD, arm_mtb_start);
}

COMMAND_HANDLER(handle_mtb_stop_command)
{
	return act(CMD, arm_mtb_stop);
}

COMMAND_HANDLER(handle_mtb_flush_command)
{
	return act(CMD, arm_mtb_flush);
}

COMMAND_HANDLER(handle_mtb_adopt_command)
{
	return act(CMD, arm_mtb_adopt);
}

COMMAND_HANDLER(handle_mtb_disable_command)
{
	return act(CMD, arm_mtb_disable);
}

/* ---- the capture ---- */

static int no_capture(struct command_invocation *cmd, const struct arm_mtb *mtb)
{
	return ocd_refuse(cmd, ERROR_FAIL, "%s: nothing was captured yet: %s start, then stop, flush or adopt", mtb->name,
			mtb->name);
}

/* What is asked for while it traces is what it has traced so far. */
static int fresh_capture(struct command_invocation *cmd, struct arm_mtb *mtb, struct itrace_capture *capture)
{
	char why[ARM_MTB_WHY] = "";

	if (mtb->phase == ARM_MTB_ARMED) {
		const int retval = arm_mtb_flush(mtb, why, sizeof(why));
		/* what was drained before is here, whatever happened to the target */
		if (retval != ERROR_OK && (mtb->fresh || !mtb->capture.in_order))
			return arm_mtb_refuse(cmd, retval, why);
		if (retval != ERROR_OK)
			LOG_WARNING("%s; this is what was drained before", why);
	}
	return arm_mtb_get_capture(mtb, capture) ? ERROR_OK : no_capture(cmd, mtb);
}

static bool is_directory(const char *path)
{
	struct stat info;
	const size_t len = strlen(path);

	return (len && path[len - 1] == '/') || (!stat(path, &info) && S_ISDIR(info.st_mode));
}

/* @returns 0, or errno of what failed first */
static int write_file(const char *path, const uint8_t *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");
	int error = 0;

	if (!file)
		return errno;
	errno = 0;
	/* a short write need not say why */
	if (fwrite(bytes, 1, len, file) != len)
		error = errno ? errno : EIO;
	if (fclose(file) && !error)
		error = errno;
	return error;
}

static int dump_file(struct command_invocation *cmd, const struct arm_mtb *mtb, const char *path)
{
	char text[512];

	if (armtrace_is_pipe(path, text, sizeof(text)))
		return arm_mtb_refuse(cmd, ERROR_COMMAND_ARGUMENT_INVALID, text);
	const int error = write_file(path, mtb->capture.bytes, mtb->capture.len);

	if (error)
		return ocd_refuse(cmd, ERROR_FAIL, "%s: cannot write '%s': %s", mtb->name, path, strerror(error));
	if (mtb->capture.seam_count)
		LOG_INFO("%s: a file of bytes has no seams; a directory (dump DIR) has", mtb->name);
	arm_mtb_capture_options(&mtb->capture, text, sizeof(text));
	ocd_result(cmd, text);
	return ERROR_OK;
}

COMMAND_HANDLER(handle_mtb_dump_command)
{
	struct arm_mtb *mtb = CMD_DATA;
	struct itrace_capture capture;
	char why[ARM_MTB_WHY] = "";

	if (CMD_ARGC != 1)
		return ERROR_COMMAND_SYNTAX_ERROR;
	const int retval = fresh_capture(CMD, mtb, &capture);
	if (retval != ERROR_OK)
		return retval;
	if (!is_directory(CMD_ARGV[0]))
		return dump_file(CMD, mtb, CMD_ARGV[0]);
	if (!armtrace_write_snapshot(&capture, CMD_ARGV[0], why, sizeof(why)))
		return arm_mtb_refuse(CMD, ERROR_FAIL, why);
	return ERROR_OK;
}

COMMAND_HANDLER(handle_mtb_object_decode_command)
{
	struct arm_mtb *mtb = CMD_DATA;
	struct itrace_capture capture;
	const int retval = fresh_capture(CMD, mtb, &capture);

	if (retval != ERROR_OK)
		return retval;
	return armtrace_decode_capture(CMD, &mtb->decoder, &capture, mtb->target);
}

COMMAND_HANDLER(handle_mtb_object_ledger_command)
{
	struct arm_mtb *mtb = CMD_DATA;

	return armtrace_ledger_command(CMD, &mtb->decoder);
}

COMMAND_HANDLER(handle_mtb_address_command)
{
	char why[ARM_MTB_WHY] = "";
	uint32_t addr;

	if (CMD_ARGC != 1)
		return ERROR_COMMAND_SYNTAX_ERROR;
	if (!arm_mtb_address(CMD_DATA, CMD_ARGV[0], &addr, why, sizeof(why)))
		return arm_mtb_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, why);
	command_print_sameline(CMD, "0x%08" PRIx32, addr);
	return ERROR_OK;
}

#define OPTIONS_USAGE \
	"['-baseaddr' address] ['-rambase' address] ['-ramsize' bytes] ['-buffer' address bytes] " \
	"['-when-full' ('wrap'|'stop'|'halt'|'drain')] ['-capture-max' bytes] ['-start' address_or_symbol] " \
	"['-stop' address_or_symbol] ['-elf' file ...] ['-event' name body]"

static const struct command_registration arm_mtb_object_handlers[] = {
	{
		.name = "configure",
		.handler = arm_mtb_configure_command,
		.mode = COMMAND_ANY,
		.help = "set options; a -elf replaces the files of before",
		.usage = OPTIONS_USAGE,
	},
	{
		.name = "cget",
		.handler = arm_mtb_cget_command,
		.mode = COMMAND_ANY,
		.help = "return the value of an option; empty: it is not given",
		.usage = "option [event_name]",
	},
	{
		.name = "start",
		.handler = handle_mtb_start_command,
		.mode = COMMAND_EXEC,
		.help = "check buffer and hardware, then trace",
		.usage = "",
	},
	{
		.name = "stop",
		.handler = handle_mtb_stop_command,
		.mode = COMMAND_EXEC,
		.help = "read the buffer into the capture and stop tracing",
		.usage = "",
	},
	{
		.name = "flush",
		.handler = handle_mtb_flush_command,
		.mode = COMMAND_EXEC,
		.help = "read the buffer into the capture; tracing goes on",
		.usage = "",
	},
	{
		.name = "adopt",
		.handler = handle_mtb_adopt_command,
		.mode = COMMAND_EXEC,
		.help = "take over, and capture, trace that the program armed",
		.usage = "",
	},
	{
		.name = "disable",
		.handler = handle_mtb_disable_command,
		.mode = COMMAND_EXEC,
		.help = "put the MTB's registers back to what start found, without a capture",
		.usage = "",
	},
	{
		.name = "status",
		.handler = arm_mtb_status_command,
		.mode = COMMAND_ANY,
		.help = "return what is known of trace and capture as a Tcl dict",
		.usage = "",
	},
	{
		.name = "regs",
		.handler = arm_mtb_regs_command,
		.mode = COMMAND_EXEC,
		.help = "list the MTB's registers, what they mean and who set them",
		.usage = "",
	},
	{
		.name = "dump",
		.handler = handle_mtb_dump_command,
		.mode = COMMAND_ANY,
		.help = "write the capture's bytes to a file and return the options of 'mtb decode' for it, "
			"or a snapshot into a directory",
		.usage = "(file | directory)",
	},
	{
		.name = "decode",
		.handler = handle_mtb_object_decode_command,
		.mode = COMMAND_ANY,
		.help = "decode the capture; while tracing, what was traced so far ('mtb decode -help' explains the options)",
		.usage = "['-elf' file] ['-format' format] ['-o' file] [options ...]",
	},
	{
		.name = "ledger",
		.handler = handle_mtb_object_ledger_command,
		.mode = COMMAND_ANY,
		.help = "return the ledger of the last decode of this object as a Tcl dict",
		.usage = "",
	},
	{
		.name = "address",
		.handler = handle_mtb_address_command,
		.mode = COMMAND_ANY,
		.help = "return the address of a symbol, as -start and -stop take it",
		.usage = "address_or_symbol",
	},
	COMMAND_REGISTRATION_DONE
};

/* ---- the group ---- */

#define NAME_MAX_LEN	64u	/* it begins every message */

/* One that can be typed, and does not break a message into lines or pass for an option. */
static bool is_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return false;
	return *name && *name != '-' && strlen(name) <= NAME_MAX_LEN;
}

static bool check_name(struct command_context *ctx, const char *name, char *why, size_t why_size)
{
	if (!is_name(name)) {
		snprintf(why, why_size, "'%.79s' is no name for an object: it comes first, has no blanks, does not begin with "
				"-, and has at most %u characters", name, NAME_MAX_LEN);
		ocd_one_line(why);
		return false;
	}
	if (!arm_mtb_command_exists(ctx->interp, name))
		return true;
	snprintf(why, why_size, "%s is a command already: choose another name", name);
	return false;
}

struct arm_mtb *arm_mtb_create(struct command_context *ctx, const char *name, struct target *target, char *why,
		size_t why_size)
{
	if (!check_name(ctx, name, why, why_size))
		return NULL;
	struct arm_mtb *mtb = arm_mtb_new(ctx->interp, name, target, why, why_size);
	if (!mtb)
		return NULL;
	mtb->decoder.also = &arm_mtb_decoder;
	const struct command_registration commands[] = {
		{
			.name = mtb->name,
			.mode = COMMAND_ANY,
			.help = "Micro Trace Buffer object",
			.usage = "",
			.chain = arm_mtb_object_handlers,
		},
		COMMAND_REGISTRATION_DONE
	};
	if (register_commands_with_data(ctx, NULL, commands, mtb) != ERROR_OK) {
		snprintf(why, why_size, "%s cannot be made a command", name);
		arm_mtb_free(mtb);
		return NULL;
	}
	return mtb;
}

void arm_mtb_set_baseaddr(struct arm_mtb *mtb, target_addr_t base)
{
	mtb->config.base = base;
	mtb->config.base_given = true;
}

/* Options are tried on an object that nobody has seen yet, so that a wrong one creates nothing. */
COMMAND_HANDLER(handle_mtb_create_command)
{
	struct target *target = NULL;
	char why[ARM_MTB_WHY] = "";

	if (CMD_ARGC < 1)
		return ERROR_COMMAND_SYNTAX_ERROR;
	if (!check_name(CMD_CTX, CMD_ARGV[0], why, sizeof(why)))
		return arm_mtb_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, why);
	for (unsigned int i = 1; i + 1 < CMD_ARGC; i++) {
		if (strcmp(CMD_ARGV[i], "-target"))
			continue;
		target = get_target(CMD_ARGV[i + 1]);
		if (!target)
			return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "%s: there is no target %s", CMD_ARGV[0],
					CMD_ARGV[i + 1]);
		break;
	}
	if (!target)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "%s: -target is missing: the core whose MTB this is",
				CMD_ARGV[0]);
	struct arm_mtb *draft = arm_mtb_new(CMD_CTX->interp, CMD_ARGV[0], target, why, sizeof(why));
	if (!draft)
		return arm_mtb_refuse(CMD, ERROR_FAIL, why);
	const int retval = arm_mtb_configure(CMD, draft, CMD_ARGV + 1, CMD_ARGC - 1);
	arm_mtb_free(draft);
	if (retval != ERROR_OK)
		return retval;

	struct arm_mtb *mtb = arm_mtb_create(CMD_CTX, CMD_ARGV[0], target, why, sizeof(why));
	if (!mtb)
		return arm_mtb_refuse(CMD, ERROR_FAIL, why);
	return arm_mtb_configure(CMD, mtb, CMD_ARGV + 1, CMD_ARGC - 1);
}

COMMAND_HANDLER(handle_mtb_decode_command)
{
	struct itrace_capture capture;

	if (!CMD_ARGC || CMD_ARGV[0][0] == '-')
		return armtrace_decode_command(CMD, &arm_mtb_decoder);

	struct arm_mtb *mtb = arm_mtb_find(CMD_ARGV[0]);
	if (!mtb)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "there is no trace object %s: mtb create it, or give "
				"-trace FILE or -snapshot DIR", CMD_ARGV[0]);
	const int retval = fresh_capture(CMD, mtb, &capture);
	if (retval != ERROR_OK)
		return retval;
	CMD_ARGC--;
	CMD_ARGV++;
	return armtrace_decode_capture(CMD, &mtb->decoder, &capture, mtb->target);
}

COMMAND_HANDLER(handle_mtb_ledger_command)
{
	return armtrace_ledger_command(CMD, &arm_mtb_decoder);
}

static const struct command_registration arm_mtb_subcommand_handlers[] = {
	{
		.name = "create",
		.handler = handle_mtb_create_command,
		.mode = COMMAND_ANY,
		.help = "create a Micro Trace Buffer object, which becomes a command",
		.usage = "name '-target' target " OPTIONS_USAGE,
	},
	{
		.name = "decode",
		.handler = handle_mtb_decode_command,
		.mode = COMMAND_ANY,
		.help = "decode Micro Trace Buffer trace to functions, instructions, elements or packets; "
			"'mtb decode -help' explains every option",
		.usage = "(name | '-snapshot' directory | '-trace' file ['-buffer' address]) ['-reg' name=value ...] "
			"['-elf' file] ['-format' format] ['-o' file] [options ...]",
	},
	{
		.name = "ledger",
		.handler = handle_mtb_ledger_command,
		.mode = COMMAND_ANY,
		.help = "return the ledger of the last decode of MTB trace as a Tcl dict",
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
