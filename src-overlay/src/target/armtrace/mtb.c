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
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <target/target.h>

#include "decode_command.h"
#include "mtb.h"
#include "mtb_object.h"
#include "ocd_compat.h"

static struct armtrace_decoder arm_mtb_decoder = { .group = "mtb", .protocol = "mtb" };

static const char *const when_full_names[ARM_MTB_WHEN_FULL_NUM] = { "wrap", "stop", "halt", "drain" };
static const char *const phase_names[ARM_MTB_PHASE_NUM] = { "idle", "armed", "stopped" };
static const char *const event_names[ARM_MTB_EVENT_NUM] = { "pre-enable", "post-enable", "pre-disable", "reset" };

/* The reason becomes the text of the Tcl error. */
static int refuse(struct command_invocation *cmd, int retval, const char *why)
{
	if (retval != ERROR_OK)
		ocd_result(cmd, why);
	return retval;
}

/* ---- options ---- */

static bool read_u32(const char *text, uint32_t *value)
{
	char *end;

	errno = 0;
	const unsigned long long number = strtoull(text, &end, 0);
	*value = (uint32_t)number;
	return *text && !*end && !errno && number <= UINT32_MAX && *text != '-';
}

static int find_name(const char *const *names, unsigned int count, const char *name)
{
	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

static bool replace_text(char **text, const char *value)
{
	char *copy = NULL;

	if (*value) {
		copy = strdup(value);
		if (!copy)
			return false;
	}
	free(*text);
	*text = copy;
	return true;
}

static bool add_elf(struct arm_mtb_config *config, const char *path)
{
	char **grown = realloc(config->elfs, (config->elf_count + 1) * sizeof(*grown));

	if (!grown)
		return false;
	config->elfs = grown;
	config->elfs[config->elf_count] = strdup(path);
	if (!config->elfs[config->elf_count])
		return false;
	config->elf_count++;
	return true;
}

static void drop_elfs(struct arm_mtb_config *config)
{
	while (config->elf_count)
		free(config->elfs[--config->elf_count]);
}

enum option {
	OPTION_TARGET, OPTION_BASEADDR, OPTION_RAMBASE, OPTION_RAMSIZE, OPTION_BUFFER, OPTION_WHEN_FULL, OPTION_START,
	OPTION_STOP, OPTION_ELF, OPTION_EVENT, OPTION_NUM
};

static const struct {
	const char *name;
	unsigned int values;
	const char *usage;
} options[OPTION_NUM] = {
	[OPTION_TARGET] = { "-target", 1, "a target" },
	[OPTION_BASEADDR] = { "-baseaddr", 1, "the address of the MTB's registers" },
	[OPTION_RAMBASE] = { "-rambase", 1, "the address of the RAM that it writes to" },
	[OPTION_RAMSIZE] = { "-ramsize", 1, "the size of that RAM in bytes" },
	[OPTION_BUFFER] = { "-buffer", 2, "an address and a size in bytes" },
	[OPTION_WHEN_FULL] = { "-when-full", 1, "wrap, stop, halt or drain" },
	[OPTION_START] = { "-start", 1, "an address or a symbol" },
	[OPTION_STOP] = { "-stop", 1, "an address or a symbol" },
	[OPTION_ELF] = { "-elf", 1, "a program file" },
	[OPTION_EVENT] = { "-event", 2, "pre-enable, post-enable, pre-disable or reset, and a body" },
};

static int find_option(const char *name)
{
	for (int i = 0; i < OPTION_NUM; i++)
		if (!strcmp(options[i].name, name))
			return i;
	return -1;
}

static int unknown_option(struct command_invocation *cmd, const char *name)
{
	command_print_sameline(cmd, "unknown option %s; there are", name);
	for (unsigned int i = 0; i < OPTION_NUM; i++)
		command_print_sameline(cmd, "%s %s", i ? "," : "", options[i].name);
	return ERROR_COMMAND_ARGUMENT_INVALID;
}

static int bad_value(struct command_invocation *cmd, enum option option, const char *value)
{
	command_print_sameline(cmd, "%s takes %s, not %s", options[option].name, options[option].usage, value);
	return ERROR_COMMAND_ARGUMENT_INVALID;
}

static int set_event(struct command_invocation *cmd, struct arm_mtb *mtb, const char *name, const char *body)
{
	const int event = find_name(event_names, ARM_MTB_EVENT_NUM, name);

	if (event < 0)
		return bad_value(cmd, OPTION_EVENT, name);
	Jim_Obj **slot = &mtb->config.events[event];
	if (*slot)
		Jim_DecrRefCount(mtb->interp, *slot);
	*slot = NULL;
	if (*body) {
		*slot = Jim_NewStringObj(mtb->interp, body, -1);
		Jim_IncrRefCount(*slot);
	}
	return ERROR_OK;
}

/* One option; @a values are as many as it takes. */
static int set_option(struct command_invocation *cmd, struct arm_mtb *mtb, enum option option,
		const char *const *values,
		bool first_elf)
{
	struct arm_mtb_config *config = &mtb->config;
	struct arm_mtb_buffer buffer;
	uint32_t number = 0;
	bool memory = true;
	int found;

	switch (option) {
	case OPTION_BASEADDR:
		if (!read_u32(values[0], &number) || number & 0xfff)
			return bad_value(cmd, option, values[0]);
		config->base = number;
		config->base_given = true;
		mtb->identified = mtb->before_known = false;
		mtb->aw = 0;
		break;
	case OPTION_RAMBASE:
		if (!read_u32(values[0], &number) || number & 0x1f)
			return bad_value(cmd, option, values[0]);
		config->rambase = number;
		config->rambase_given = true;
		break;
	case OPTION_RAMSIZE:
		if (!read_u32(values[0], &number))
			return bad_value(cmd, option, values[0]);
		config->ramsize = number;
		break;
	case OPTION_BUFFER:
		if (!read_u32(values[0], &buffer.addr))
			return bad_value(cmd, option, values[0]);
		if (!read_u32(values[1], &buffer.size))
			return bad_value(cmd, option, values[1]);
		config->buffer = buffer;
		config->buffer_given = buffer.size;
		break;
	case OPTION_WHEN_FULL:
		found = find_name(when_full_names, ARM_MTB_WHEN_FULL_NUM, values[0]);
		if (found < 0)
			return bad_value(cmd, option, values[0]);
		config->when_full = (enum arm_mtb_when_full)found;
		break;
	case OPTION_START:
		memory = replace_text(&config->start, values[0]);
		break;
	case OPTION_STOP:
		memory = replace_text(&config->stop, values[0]);
		break;
	case OPTION_ELF:
		if (first_elf)
			drop_elfs(config);
		memory = !*values[0] || add_elf(config, values[0]);
		break;
	case OPTION_EVENT:
		return set_event(cmd, mtb, values[0], values[1]);
	case OPTION_TARGET:
		if (get_target(values[0]) != mtb->target) {
			command_print_sameline(cmd, "%s: -target cannot be changed; it is %s", mtb->name, target_name(mtb->target));
			return ERROR_COMMAND_ARGUMENT_INVALID;
		}
		break;
	case OPTION_NUM:
		break;
	}
	if (!memory) {
		ocd_result(cmd, "out of memory");
		return ERROR_FAIL;
	}
	return ERROR_OK;
}

static int configure(struct command_invocation *cmd, struct arm_mtb *mtb, const char *const *argv, unsigned int argc)
{
	bool elf = false;

	for (unsigned int i = 0; i < argc;) {
		const int option = find_option(argv[i]);
		if (option < 0)
			return unknown_option(cmd, argv[i]);
		if (argc - i - 1 < options[option].values) {
			command_print_sameline(cmd, "%s needs %s", argv[i], options[option].usage);
			return ERROR_COMMAND_ARGUMENT_INVALID;
		}
		if (mtb->phase == ARM_MTB_ARMED && option != OPTION_ELF && option != OPTION_EVENT && option != OPTION_TARGET) {
			command_print_sameline(cmd, "%s: %s cannot be changed while it is started: %s stop first", mtb->name,
					argv[i],
					mtb->name);
			return ERROR_FAIL;
		}
		const int retval = set_option(cmd, mtb, (enum option)option, argv + i + 1, !elf);
		if (retval != ERROR_OK)
			return retval;
		elf |= option == OPTION_ELF;
		i += 1 + options[option].values;
	}
	return ERROR_OK;
}

COMMAND_HANDLER(handle_mtb_configure_command)
{
	if (!CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;
	return configure(CMD, CMD_DATA, CMD_ARGV, CMD_ARGC);
}

static int get_event(struct command_invocation *cmd, const struct arm_mtb *mtb, const char *name)
{
	const int event = find_name(event_names, ARM_MTB_EVENT_NUM, name);

	if (event < 0)
		return bad_value(cmd, OPTION_EVENT, name);
	if (mtb->config.events[event])
		command_print_sameline(cmd, "%s", Jim_GetString(mtb->config.events[event], NULL));
	return ERROR_OK;
}

COMMAND_HANDLER(handle_mtb_cget_command)
{
	struct arm_mtb *mtb = CMD_DATA;
	const struct arm_mtb_config *config = &mtb->config;

	if (CMD_ARGC < 1)
		return ERROR_COMMAND_SYNTAX_ERROR;
	const int option = find_option(CMD_ARGV[0]);
	if (option < 0)
		return unknown_option(CMD, CMD_ARGV[0]);
	if (CMD_ARGC != (option == OPTION_EVENT ? 2 : 1))
		return ERROR_COMMAND_SYNTAX_ERROR;

	/* what is not given is empty */
	switch ((enum option)option) {
	case OPTION_TARGET:
		command_print_sameline(CMD, "%s", target_name(mtb->target));
		break;
	case OPTION_BASEADDR:
		if (config->base_given)
			command_print_sameline(CMD, TARGET_ADDR_FMT, config->base);
		else if (mtb->identified)
			command_print_sameline(CMD, TARGET_ADDR_FMT, mtb->port.base);
		break;
	case OPTION_RAMBASE:
		if (config->rambase_given)
			command_print_sameline(CMD, "0x%08" PRIx32, config->rambase);
		break;
	case OPTION_RAMSIZE:
		if (config->ramsize)
			command_print_sameline(CMD, "%" PRIu32, config->ramsize);
		break;
	case OPTION_BUFFER:
		if (config->buffer_given)
			command_print_sameline(CMD, "0x%08" PRIx32 " %" PRIu32, config->buffer.addr, config->buffer.size);
		break;
	case OPTION_WHEN_FULL:
		command_print_sameline(CMD, "%s", when_full_names[config->when_full]);
		break;
	case OPTION_START:
		command_print_sameline(CMD, "%s", config->start ? config->start : "");
		break;
	case OPTION_STOP:
		command_print_sameline(CMD, "%s", config->stop ? config->stop : "");
		break;
	case OPTION_ELF:
		for (size_t i = 0; i < config->elf_count; i++)
			command_print_sameline(CMD, "%s{%s}", i ? " " : "", config->elfs[i]);
		break;
	case OPTION_EVENT:
		return get_event(CMD, mtb, CMD_ARGV[1]);
	case OPTION_NUM:
		break;
	}
	return ERROR_OK;
}

/* ---- trace ---- */

typedef int mtb_action(struct arm_mtb *mtb, char *why, size_t why_size);

static int act(struct command_invocation *cmd, mtb_action *action)
{
	char why[ARM_MTB_WHY] = "";

	if (cmd->argc)
		return ERROR_COMMAND_SYNTAX_ERROR;
	return refuse(cmd, action(CMD_DATA, why, sizeof(why)), why);
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

static void print_pair(struct command_invocation *cmd, const char *name, uint64_t value)
{
	command_print_sameline(cmd, " %s %" PRIu64, name, value);
}

COMMAND_HANDLER(handle_mtb_status_command)
{
	struct arm_mtb *mtb = CMD_DATA;
	struct arm_mtb_state state = { 0 };
	char why[ARM_MTB_WHY] = "";

	if (CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;
	/* hardware is only asked when something of it can be known */
	const bool known = (mtb->phase != ARM_MTB_IDLE || mtb->identified) && target_was_examined(mtb->target) &&
			arm_mtb_look(mtb, &state, why, sizeof(why)) == ERROR_OK;
	const bool armed = mtb->phase == ARM_MTB_ARMED;
	const bool full = mtb->full || (armed && arm_mtb_is_full(mtb, &state));

	command_print_sameline(CMD, "name {%s} target {%s} state %s when-full %s", mtb->name, target_name(mtb->target),
			phase_names[mtb->phase], when_full_names[armed ? mtb->when_full : mtb->config.when_full]);
	print_pair(CMD, "adopted", mtb->adopted);
	print_pair(CMD, "enabled", known && state.master & ARM_MTB_MASTER_EN ? 1 : 0);
	print_pair(CMD, "wrapped", known && state.position & ARM_MTB_POSITION_WRAP ? 1 : 0);
	print_pair(CMD, "haltreq", known && state.master & ARM_MTB_MASTER_HALTREQ ? 1 : 0);
	print_pair(CMD, "full", full);
	if (known)
		command_print_sameline(CMD, " position 0x%08" PRIx32 " master 0x%08" PRIx32 " flow 0x%08" PRIx32,
		state.position,
				state.master, state.flow);
	else
		command_print_sameline(CMD, " position {} master {} flow {}");
	if (mtb->buffer.size)
		command_print_sameline(CMD, " buffer 0x%08" PRIx32, mtb->buffer.addr);
	else
		command_print_sameline(CMD, " buffer {}");
	print_pair(CMD, "size", mtb->buffer.size);
	print_pair(CMD, "packets", armed && known ? arm_mtb_packets(mtb, &state) : 0);
	print_pair(CMD, "bytes", armed && known ? UINT64_C(8) * arm_mtb_packets(mtb, &state) : 0);
	print_pair(CMD, "fillings", mtb->drain.fillings);
	print_pair(CMD, "lost", mtb->capture.lost);
	print_pair(CMD, "captured", mtb->capture.exists ? mtb->capture.len : 0);
	print_pair(CMD, "seams", mtb->capture.seam_count);
	command_print_sameline(CMD, " error {%s}", why[0] ? why : arm_mtb_error(mtb));
	return ERROR_OK;
}

static const char *who_set(const struct arm_mtb *mtb, uint32_t value, uint32_t armed)
{
	if (mtb->phase == ARM_MTB_ARMED)
		return mtb->adopted ? "the program" : value == armed ? "start" : "start, then the hardware";
	return mtb->phase == ARM_MTB_STOPPED ? "stop" : "reset or the program";
}

static void explain_position(const struct arm_mtb *mtb, uint32_t value, char *text, size_t size)
{
	char at[48] = "place of the next packet";

	if (mtb->ram.aw)
		snprintf(at, sizeof(at), "next packet to 0x%08" PRIx32, arm_mtb_address_of(&mtb->ram, value));
	snprintf(text, size, "%s%s", at, value & ARM_MTB_POSITION_WRAP ? ", has wrapped" : ", has not wrapped");
}

static void explain_master(uint32_t value, char *text, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} bits[] = {
		{ ARM_MTB_MASTER_EN, "EN" },
		{ ARM_MTB_MASTER_NSEN, "NSEN" },
		{ ARM_MTB_MASTER_HALTREQ, "HALTREQ" },
		{ ARM_MTB_MASTER_RAMPRIV, "RAMPRIV" },
		{ ARM_MTB_MASTER_SFRWPRIV, "SFRWPRIV" },
		{ ARM_MTB_MASTER_TSTOPEN, "TSTOPEN" },
		{ ARM_MTB_MASTER_TSTARTEN, "TSTARTEN" },
	};
	size_t len = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (value & bits[i].bit)
			len += (size_t)snprintf(text + len, size - len, "%s ", bits[i].name);
	snprintf(text + len, size - len, "buffer of %" PRIu64 " bytes", UINT64_C(16) << (value & ARM_MTB_MASTER_MASK));
}

static void explain_flow(const struct arm_mtb *mtb, uint32_t value, char *text, size_t size)
{
	const char *then = value & ARM_MTB_FLOW_AUTOSTOP ? "stop" : value & ARM_MTB_FLOW_AUTOHALT ? "halt" : NULL;

	if (!then)
		snprintf(text, size, "nothing happens at the watermark");
	else if (mtb->ram.aw)
		snprintf(text, size, "%s when the next packet is for 0x%08" PRIx32, then, arm_mtb_address_of(&mtb->ram, value));
	else
		snprintf(text, size, "%s at the watermark", then);
}

static void print_register(struct command_invocation *cmd, const char *name, uint32_t value, const char *meaning,
		const char *who)
{
	command_print(cmd, "%-8s 0x%08" PRIx32 "  %s; set by %s", name, value, meaning, who);
}

COMMAND_HANDLER(handle_mtb_regs_command)
{
	struct arm_mtb *mtb = CMD_DATA;
	struct arm_mtb_state state;
	char text[128], why[ARM_MTB_WHY] = "";
	uint32_t tstart, tstop;

	if (CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;
	const int retval = arm_mtb_look(mtb, &state, why, sizeof(why));
	if (retval != ERROR_OK)
		return refuse(CMD, retval, why);

	explain_position(mtb, state.position, text, sizeof(text));
	print_register(CMD, "POSITION", state.position, text, who_set(mtb, state.position, mtb->armed.position));
	explain_master(state.master, text, sizeof(text));
	print_register(CMD, "MASTER", state.master, text, who_set(mtb, state.master, mtb->armed.master));
	explain_flow(mtb, state.flow, text, sizeof(text));
	print_register(CMD, "FLOW", state.flow, text, who_set(mtb, state.flow, mtb->armed.flow));
	if (mtb->config.rambase_given)
		snprintf(text, sizeof(text), "not used: -rambase is 0x%08" PRIx32, mtb->config.rambase);
	else
		snprintf(text, sizeof(text), "%s", state.base ? "address of the RAM" : "wrong: -rambase has to be given");
	print_register(CMD, "BASE", state.base, text, "the part");
	if (mtb->id.part != 0x932 && target_read_u32(mtb->target, mtb->port.base + ARM_MTB_TSTART, &tstart) == ERROR_OK &&
			target_read_u32(mtb->target, mtb->port.base + ARM_MTB_TSTOP, &tstop) == ERROR_OK) {
		snprintf(text, sizeof(text), "DWT comparators that start trace (bit n: comparator n)");
		print_register(CMD, "TSTART", tstart, text, mtb->has_start ? "start" : "reset or the program");
		snprintf(text, sizeof(text), "DWT comparators that stop trace (bit n: comparator n)");
		print_register(CMD, "TSTOP", tstop, text, mtb->has_stop ? "start" : "reset or the program");
	}
	return ERROR_OK;
}

/* ---- the capture ---- */

static int no_capture(struct command_invocation *cmd, const struct arm_mtb *mtb)
{
	command_print_sameline(cmd, "%s: nothing was captured yet: %s start, then stop, flush or adopt", mtb->name,
			mtb->name);
	return ERROR_FAIL;
}

/* What is asked for while it traces is what it has traced so far. */
static int fresh_capture(struct command_invocation *cmd, struct arm_mtb *mtb, struct itrace_capture *capture)
{
	char why[ARM_MTB_WHY] = "";

	if (mtb->phase == ARM_MTB_ARMED) {
		const int retval = arm_mtb_flush(mtb, why, sizeof(why));
		/* what was drained before is here, whatever happened to the target */
		if (retval != ERROR_OK && (mtb->fresh || !mtb->capture.in_order))
			return refuse(cmd, retval, why);
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

static int dump_file(struct command_invocation *cmd, const struct arm_mtb *mtb, const char *path)
{
	char text[512];
	FILE *file = fopen(path, "wb");
	bool written = file;

	if (file) {
		written = fwrite(mtb->capture.bytes, 1, mtb->capture.len, file) == mtb->capture.len;
		written &= !fclose(file);
	}
	if (!written) {
		command_print_sameline(cmd, "%s: %s", path, strerror(errno));
		return ERROR_FAIL;
	}
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
		return refuse(CMD, ERROR_FAIL, why);
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
		return refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, why);
	command_print_sameline(CMD, "0x%08" PRIx32, addr);
	return ERROR_OK;
}

static const struct command_registration arm_mtb_object_handlers[] = {
	{
		.name = "configure",
		.handler = handle_mtb_configure_command,
		.mode = COMMAND_ANY,
		.help = "set options; a -elf replaces the files of before",
		.usage = "['-baseaddr' address] ['-rambase' address] ['-ramsize' bytes] ['-buffer' address bytes] "
			"['-when-full' ('wrap'|'stop'|'halt'|'drain')] ['-start' address_or_symbol] ['-stop' address_or_symbol] "
			"['-elf' file ...] ['-event' name body]",
	},
	{
		.name = "cget",
		.handler = handle_mtb_cget_command,
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
		.handler = handle_mtb_status_command,
		.mode = COMMAND_ANY,
		.help = "return what is known of trace and capture as a Tcl dict",
		.usage = "",
	},
	{
		.name = "regs",
		.handler = handle_mtb_regs_command,
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

static bool command_exists(struct command_context *ctx, const char *name)
{
	Jim_Obj *object = Jim_NewStringObj(ctx->interp, name, -1);

	Jim_IncrRefCount(object);
	const bool exists = Jim_GetCommand(ctx->interp, object, JIM_NONE);
	Jim_DecrRefCount(ctx->interp, object);
	return exists;
}

struct arm_mtb *arm_mtb_create(struct command_context *ctx, const char *name, struct target *target, char *why,
		size_t why_size)
{
	if (command_exists(ctx, name)) {
		snprintf(why, why_size, "%s is a command already: choose another name", name);
		return NULL;
	}
	struct arm_mtb *mtb = arm_mtb_new(ctx->interp, name, target, why, why_size);
	if (!mtb)
		return NULL;
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
	for (unsigned int i = 1; i + 1 < CMD_ARGC; i++) {
		if (strcmp(CMD_ARGV[i], "-target"))
			continue;
		target = get_target(CMD_ARGV[i + 1]);
		if (!target) {
			command_print_sameline(CMD, "%s: there is no target %s", CMD_ARGV[0], CMD_ARGV[i + 1]);
			return ERROR_COMMAND_ARGUMENT_INVALID;
		}
		break;
	}
	if (!target) {
		command_print_sameline(CMD, "%s: -target is missing: the core whose MTB this is", CMD_ARGV[0]);
		return ERROR_COMMAND_ARGUMENT_INVALID;
	}
	if (command_exists(CMD_CTX, CMD_ARGV[0])) {
		command_print_sameline(CMD, "%s is a command already: choose another name", CMD_ARGV[0]);
		return ERROR_FAIL;
	}
	struct arm_mtb *draft = arm_mtb_new(CMD_CTX->interp, CMD_ARGV[0], target, why, sizeof(why));
	if (!draft)
		return refuse(CMD, ERROR_FAIL, why);
	const int retval = configure(CMD, draft, CMD_ARGV + 1, CMD_ARGC - 1);
	arm_mtb_free(draft);
	if (retval != ERROR_OK)
		return retval;

	struct arm_mtb *mtb = arm_mtb_create(CMD_CTX, CMD_ARGV[0], target, why, sizeof(why));
	if (!mtb)
		return refuse(CMD, ERROR_FAIL, why);
	return configure(CMD, mtb, CMD_ARGV + 1, CMD_ARGC - 1);
}

COMMAND_HANDLER(handle_mtb_decode_command)
{
	struct itrace_capture capture;

	if (!CMD_ARGC || CMD_ARGV[0][0] == '-')
		return armtrace_decode_command(CMD, &arm_mtb_decoder);

	struct arm_mtb *mtb = arm_mtb_find(CMD_ARGV[0]);
	if (!mtb) {
		command_print_sameline(CMD, "there is no trace object %s: mtb create it, or give -trace FILE or -snapshot DIR",
				CMD_ARGV[0]);
		return ERROR_COMMAND_ARGUMENT_INVALID;
	}
	const int retval = fresh_capture(CMD, mtb, &capture);
	if (retval != ERROR_OK)
		return retval;
	CMD_ARGC--;
	CMD_ARGV++;
	return armtrace_decode_capture(CMD, &arm_mtb_decoder, &capture, mtb->target);
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
		.usage = "name '-target' target ['-baseaddr' address] ['-rambase' address] ['-ramsize' bytes] "
			"['-buffer' address bytes] [options of configure ...]",
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
