// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * What the decode commands of all groups have in common. They decode by the library's
 * one entry point; what is here is only how OpenOCD gives the text, keeps its clients
 * alive and reads target memory.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode_command.h"
#include "ocd_compat.h"

bool armtrace_is_pipe(const char *path, char *why, size_t why_size)
{
#ifdef _WIN32
	return false;
#else
	struct stat info;

	if (stat(path, &info) || !S_ISFIFO(info.st_mode))
		return false;
	const int fd = open(path, O_WRONLY | O_NONBLOCK);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || errno != ENXIO)
		return false;
	snprintf(why, why_size, "%.180s is a pipe that nobody reads: give a file", path);
	return true;
#endif
}

#if BUILD_ITRACE

#include <itrace/report/capture.h>
#include <itrace/report/decode_run.h>
#include <server/server.h>
#include <target/target.h>

/* a larger listing is no use as the result of a command */
#define ARMTRACE_RESULT_MAX	(16 * 1024 * 1024)
#define ARMTRACE_LEDGER_SIZE	(64 * 1024)

/* text that grows; failed once there was no memory or no room for more */
struct armtrace_text {
	char *data;
	size_t len;
	size_t size;
};

struct armtrace_decode {
	struct target *target;
	struct armtrace_text listing;
	struct armtrace_text errors;
	bool too_long;
	bool no_memory;
	bool stopped;
};

static bool armtrace_text_add(struct armtrace_text *text, const char *data, size_t len)
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

static int armtrace_decode_write(void *ctx, const char *data, size_t len)
{
	struct armtrace_decode *decode = ctx;

	if (len > ARMTRACE_RESULT_MAX - decode->listing.len) {
		decode->too_long = true;
		return -1;
	}
	if (!armtrace_text_add(&decode->listing, data, len)) {
		decode->no_memory = true;
		return -1;
	}
	return 0;
}

/* Here a place that takes no more is always an error of the command, reported below. */
static bool armtrace_decode_write_closed(void *ctx)
{
	return true;
}

static void armtrace_decode_message(void *ctx, enum itrace_message_level level, const char *line)
{
	struct armtrace_decode *decode = ctx;

	switch (level) {
	case ITRACE_MESSAGE_ERROR:
		/* becomes the text of the Tcl error */
		if ((decode->errors.len && !armtrace_text_add(&decode->errors, "\n", 1)) ||
				!armtrace_text_add(&decode->errors, line, strlen(line)))
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

static bool armtrace_decode_poll(void *ctx)
{
	struct armtrace_decode *decode = ctx;

	keep_alive();
	if (openocd_is_shutdown_pending())
		decode->stopped = true;
	return decode->stopped;
}

static size_t armtrace_decode_read_memory(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct armtrace_decode *decode = ctx;

	/* many pages may be read between two looks at the clock, over a slow adapter */
	keep_alive();
	if (len > UINT32_MAX)
		len = UINT32_MAX;
	if (target_read_buffer(decode->target, addr, len, dst) != ERROR_OK)
		return 0;
	return len;
}

static int armtrace_decode_result(struct command_invocation *cmd, const struct armtrace_decoder *decoder,
		struct armtrace_decode *decode, enum itrace_decode_status status)
{
	if (decode->no_memory) {
		ocd_result(cmd, "out of memory");
		return ERROR_FAIL;
	}
	if (decode->too_long) {
		command_print_sameline(cmd, "the listing is longer than %d MB: use -o, -last or -format summary",
				ARMTRACE_RESULT_MAX / 1024 / 1024);
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
		if (decode->errors.len)
			ocd_result(cmd, decode->errors.data);
		else
			command_print_sameline(cmd, "wrong use of %s decode", decoder->group);
		return ERROR_COMMAND_ARGUMENT_INVALID;
	case ITRACE_DECODE_NOTHING:
		break;
	}
	ocd_result(cmd, decode->errors.len ? decode->errors.data : "nothing was decoded");
	return ERROR_FAIL;
}

/*
 * The command's arguments, behind those that say which protocol it is when the source is
 * a file. NULL: no memory.
 */
static const char **armtrace_decode_arguments(const struct armtrace_decoder *decoder, const char *const *argv,
		unsigned int argc, unsigned int *count)
{
	const char **arguments = calloc(argc + 2, sizeof(*arguments));
	bool file = false, protocol = false;

	if (!arguments) {
		LOG_ERROR("Out of memory");
		return NULL;
	}
	for (unsigned int i = 0; i < argc; i++) {
		file |= !strcmp(argv[i], "-trace");
		protocol |= !strcmp(argv[i], "-protocol");
	}
	*count = 0;
	if (decoder->protocol && file && !protocol) {
		arguments[(*count)++] = "-protocol";
		arguments[(*count)++] = decoder->protocol;
	}
	for (unsigned int i = 0; i < argc; i++)
		arguments[(*count)++] = argv[i];
	return arguments;
}

static bool armtrace_check_output(struct command_invocation *cmd, const char *const *arguments, unsigned int count)
{
	char why[256];

	for (unsigned int i = 1; i < count; i++) {
		const char *path = !strcmp(arguments[i - 1], "-o") ? arguments[i] : NULL;
		/* KIND=FILE */
		const char *file = !strcmp(arguments[i - 1], "-export") ? strchr(arguments[i], '=') : NULL;
		if (file)
			path = file + 1;
		if (path && armtrace_is_pipe(path, why, sizeof(why))) {
			ocd_result(cmd, why);
			return false;
		}
	}
	return true;
}

static int armtrace_decode_run(struct command_invocation *cmd, struct armtrace_decoder *decoder,
		const char *const *arguments, unsigned int count, const struct itrace_capture *capture, struct target *target)
{
	struct armtrace_decode decode = {
		.target = target,
	};
	bool readable = decode.target && target_was_examined(decode.target);
	struct itrace_decode_io io = {
		.write = armtrace_decode_write,
		.write_closed = armtrace_decode_write_closed,
		.message = armtrace_decode_message,
		.poll = armtrace_decode_poll,
		.read_memory = readable ? armtrace_decode_read_memory : NULL,
		.capture = capture,
		.ctx = &decode,
	};

	if (!armtrace_check_output(cmd, arguments, count))
		return ERROR_COMMAND_ARGUMENT_INVALID;
	char *ledger = calloc(1, ARMTRACE_LEDGER_SIZE);
	if (!ledger) {
		LOG_ERROR("Out of memory");
		return ERROR_FAIL;
	}

	enum itrace_decode_status status = itrace_decode_run(arguments, count, "-", &io, ledger, ARMTRACE_LEDGER_SIZE);

	/* wrong use decodes nothing: the last ledger stays */
	for (struct armtrace_decoder *to = decoder; to && ledger[0]; to = to->also) {
		char *copy = strdup(ledger);
		if (!copy)
			break;
		free(to->ledger);
		to->ledger = copy;
	}
	free(ledger);

	int retval = armtrace_decode_result(cmd, decoder, &decode, status);
	free(decode.listing.data);
	free(decode.errors.data);
	return retval;
}

int armtrace_decode_command(struct command_invocation *cmd, struct armtrace_decoder *decoder)
{
	unsigned int count;

	if (!cmd->argc)
		return ERROR_COMMAND_SYNTAX_ERROR;
	const char **arguments = armtrace_decode_arguments(decoder, cmd->argv, cmd->argc, &count);
	if (!arguments)
		return ERROR_FAIL;
	int retval = armtrace_decode_run(cmd, decoder, arguments, count, NULL, get_current_target_or_null(cmd->ctx));
	free(arguments);
	return retval;
}

int armtrace_decode_capture(struct command_invocation *cmd, struct armtrace_decoder *decoder,
		const struct itrace_capture *capture, struct target *target)
{
	return armtrace_decode_run(cmd, decoder, cmd->argv, cmd->argc, capture, target);
}

bool armtrace_write_snapshot(const struct itrace_capture *capture, const char *dir, char *why, size_t why_size)
{
	return itrace_capture_write_snapshot(capture, dir, why, why_size);
}

int armtrace_ledger_command(struct command_invocation *cmd, struct armtrace_decoder *decoder)
{
	if (cmd->argc)
		return ERROR_COMMAND_SYNTAX_ERROR;
	if (!decoder->ledger) {
		command_print_sameline(cmd, "nothing was decoded yet: use %s decode first", decoder->group);
		return ERROR_FAIL;
	}
	ocd_result(cmd, decoder->ledger);
	return ERROR_OK;
}

#else

int armtrace_decode_command(struct command_invocation *cmd, struct armtrace_decoder *decoder)
{
	ocd_result(cmd, "this OpenOCD was configured with --disable-itrace: it cannot decode");
	return ERROR_NOT_IMPLEMENTED;
}

int armtrace_decode_capture(struct command_invocation *cmd, struct armtrace_decoder *decoder,
		const struct itrace_capture *capture, struct target *target)
{
	return armtrace_decode_command(cmd, decoder);
}

bool armtrace_write_snapshot(const struct itrace_capture *capture, const char *dir, char *why, size_t why_size)
{
	snprintf(why, why_size, "this OpenOCD was configured with --disable-itrace: it cannot write snapshots");
	return false;
}

int armtrace_ledger_command(struct command_invocation *cmd, struct armtrace_decoder *decoder)
{
	return armtrace_decode_command(cmd, decoder);
}

#endif
