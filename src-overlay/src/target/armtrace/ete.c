// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The command group 'ete'. It decodes by the library's one entry point; what is here
 * is only how OpenOCD gives the text, keeps its clients alive and reads target memory.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ete.h"
#include "ocd_compat.h"

#if BUILD_ITRACE

#include <itrace/report/decode_run.h>
#include <server/server.h>
#include <target/target.h>

/* a larger listing is no use as the result of a command */
#define ARM_ETE_RESULT_MAX	(16 * 1024 * 1024)
#define ARM_ETE_LEDGER_SIZE	(64 * 1024)

/* text that grows; failed once there was no memory or no room for more */
struct arm_ete_text {
	char *data;
	size_t len;
	size_t size;
};

struct arm_ete_decode {
	struct target *target;
	struct arm_ete_text listing;
	struct arm_ete_text errors;
	bool too_long;
	bool no_memory;
	bool stopped;
};

/* the last decode's ledger, a Tcl dict; NULL: nothing was decoded yet */
static char *arm_ete_last_ledger;

static bool arm_ete_text_add(struct arm_ete_text *text, const char *data, size_t len)
{
	if (text->size - text->len <= len) {
		size_t size = text->size ? text->size : 4096;

		while (size - text->len <= len)
			size *= 2;

		char *grown = realloc(text->data, size);
		if (!grown) {
			LOG_ERROR("Out of memory");
			return false;
		}
		text->data = grown;
		text->size = size;
	}

	memcpy(text->data + text->len, data, len);
	text->len += len;
	text->data[text->len] = '\0';
	return true;
}

static int arm_ete_decode_write(void *ctx, const char *data, size_t len)
{
	struct arm_ete_decode *decode = ctx;

	if (len > ARM_ETE_RESULT_MAX - decode->listing.len) {
		decode->too_long = true;
		return -1;
	}
	if (!arm_ete_text_add(&decode->listing, data, len)) {
		decode->no_memory = true;
		return -1;
	}
	return 0;
}

/* Here a place that takes no more is always an error of the command, reported below. */
static bool arm_ete_decode_write_closed(void *ctx)
{
	return true;
}

static void arm_ete_decode_message(void *ctx, enum itrace_message_level level, const char *line)
{
	struct arm_ete_decode *decode = ctx;

	switch (level) {
	case ITRACE_MESSAGE_ERROR:
		/* becomes the text of the Tcl error */
		if ((decode->errors.len && !arm_ete_text_add(&decode->errors, "\n", 1)) ||
				!arm_ete_text_add(&decode->errors, line, strlen(line)))
			decode->no_memory = true;
		break;
	case ITRACE_MESSAGE_WARNING:
		LOG_WARNING("%s", line);
		break;
	case ITRACE_MESSAGE_INFO:
		LOG_INFO("%s", line);
		break;
	case ITRACE_MESSAGE_PROGRESS:
		break;
	}
}

static bool arm_ete_decode_poll(void *ctx)
{
	struct arm_ete_decode *decode = ctx;

	keep_alive();
	if (openocd_is_shutdown_pending())
		decode->stopped = true;
	return decode->stopped;
}

static size_t arm_ete_decode_read_memory(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct arm_ete_decode *decode = ctx;

	/* many pages may be read between two looks at the clock, over a slow adapter */
	keep_alive();
	if (len > UINT32_MAX)
		len = UINT32_MAX;
	if (target_read_buffer(decode->target, addr, len, dst) != ERROR_OK)
		return 0;
	return len;
}

static int arm_ete_decode_result(struct command_invocation *cmd, struct arm_ete_decode *decode,
		enum itrace_decode_status status)
{
	if (decode->no_memory) {
		ocd_result(cmd, "out of memory");
		return ERROR_FAIL;
	}
	if (decode->too_long) {
		command_print_sameline(cmd, "the listing is longer than %d MB: use -o, -last or -format summary",
				ARM_ETE_RESULT_MAX / 1024 / 1024);
		return ERROR_FAIL;
	}
	if (decode->stopped)
		LOG_WARNING("decode was interrupted; what was decoded until then is kept");

	switch (status) {
	case ITRACE_DECODE_OK:
	case ITRACE_DECODE_GAPS:
		/* errors are rare here; they concern a part of what was asked */
		if (decode->errors.len)
			LOG_ERROR("%s", decode->errors.data);
		if (decode->listing.len)
			ocd_result(cmd, decode->listing.data);
		return ERROR_OK;
	case ITRACE_DECODE_USAGE:
		ocd_result(cmd, decode->errors.len ? decode->errors.data : "wrong use of ete decode");
		return ERROR_COMMAND_ARGUMENT_INVALID;
	case ITRACE_DECODE_NOTHING:
		break;
	}
	ocd_result(cmd, decode->errors.len ? decode->errors.data : "nothing was decoded");
	return ERROR_FAIL;
}

COMMAND_HANDLER(handle_ete_decode_command)
{
	if (!CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;

	struct arm_ete_decode decode = {
		.target = get_current_target_or_null(CMD_CTX),
	};
	bool readable = decode.target && target_was_examined(decode.target);
	struct itrace_decode_io io = {
		.write = arm_ete_decode_write,
		.write_closed = arm_ete_decode_write_closed,
		.message = arm_ete_decode_message,
		.poll = arm_ete_decode_poll,
		.read_memory = readable ? arm_ete_decode_read_memory : NULL,
		.ctx = &decode,
	};

	char *ledger = calloc(1, ARM_ETE_LEDGER_SIZE);
	if (!ledger) {
		LOG_ERROR("Out of memory");
		return ERROR_FAIL;
	}

	enum itrace_decode_status status = itrace_decode_run(CMD_ARGV, CMD_ARGC, "-", &io,
			ledger, ARM_ETE_LEDGER_SIZE);

	/* wrong use decodes nothing: the last ledger stays */
	if (ledger[0]) {
		free(arm_ete_last_ledger);
		arm_ete_last_ledger = ledger;
	} else {
		free(ledger);
	}

	int retval = arm_ete_decode_result(CMD, &decode, status);
	free(decode.listing.data);
	free(decode.errors.data);
	return retval;
}

COMMAND_HANDLER(handle_ete_ledger_command)
{
	if (CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;
	if (!arm_ete_last_ledger) {
		ocd_result(CMD, "nothing was decoded yet: use ete decode first");
		return ERROR_FAIL;
	}
	ocd_result(CMD, arm_ete_last_ledger);
	return ERROR_OK;
}

#else

COMMAND_HANDLER(handle_ete_decode_command)
{
	ocd_result(CMD, "this OpenOCD was configured with --disable-itrace: it cannot decode");
	return ERROR_NOT_IMPLEMENTED;
}

COMMAND_HANDLER(handle_ete_ledger_command)
{
	return CALL_COMMAND_HANDLER(handle_ete_decode_command);
}

#endif

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
