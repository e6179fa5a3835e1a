// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <target/target.h>

#include "mtb_configure.h"
#include "mtb_result.h"
#include "ocd_refuse.h"

const char *const arm_mtb_when_full_names[ARM_MTB_WHEN_FULL_NUM] = { "wrap", "stop", "halt", "drain" };

static bool read_u32(const char *text, uint32_t *value)
{
	char *end;

	errno = 0;
	const unsigned long long number = strtoull(text, &end, 0);
	*value = (uint32_t)number;
	/* no blank and no sign in front */
	return isdigit((unsigned char)*text) && !*end && !errno && number <= UINT32_MAX;
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

static bool copy_text(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return *copy || !text;
}

static void free_config(Jim_Interp *interp, struct arm_mtb_config *config)
{
	drop_elfs(config);
	free(config->elfs);
	free(config->start);
	free(config->stop);
	for (unsigned int i = 0; i < ARM_MTB_EVENT_NUM; i++)
		if (config->events[i])
			Jim_DecrRefCount(interp, config->events[i]);
}

/* @returns false: no memory, and nothing was made */
static bool copy_config(Jim_Interp *interp, struct arm_mtb_config *copy, const struct arm_mtb_config *config)
{
	*copy = *config;
	copy->elfs = NULL;
	copy->elf_count = 0;
	copy->start = copy->stop = NULL;
	for (unsigned int i = 0; i < ARM_MTB_EVENT_NUM; i++)
		if (copy->events[i])
			Jim_IncrRefCount(copy->events[i]);

	bool good = copy_text(&copy->start, config->start) && copy_text(&copy->stop, config->stop);
	for (size_t i = 0; i < config->elf_count && good; i++)
		good = add_elf(copy, config->elfs[i]);
	if (!good)
		free_config(interp, copy);
	return good;
}

enum option {
	OPTION_TARGET, OPTION_BASEADDR, OPTION_RAMBASE, OPTION_RAMSIZE, OPTION_BUFFER, OPTION_WHEN_FULL, OPTION_CAPTURE_MAX,
	OPTION_START, OPTION_STOP, OPTION_ELF, OPTION_EVENT, OPTION_NUM
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
	[OPTION_CAPTURE_MAX] = { "-capture-max", 1, "a size in bytes" },
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
	char why[ARM_MTB_WHY];
	size_t len = (size_t)snprintf(why, sizeof(why), "unknown option %.80s; there are", *name ? name : "''");

	for (unsigned int i = 0; i < OPTION_NUM; i++)
		len += (size_t)snprintf(why + len, sizeof(why) - len, "%s %s", i ? "," : "", options[i].name);
	return ocd_refuse(cmd, ERROR_COMMAND_ARGUMENT_INVALID, "%s", why);
}

static int bad_value(struct command_invocation *cmd, enum option option, const char *value)
{
	return ocd_refuse(cmd, ERROR_COMMAND_ARGUMENT_INVALID, "%s takes %s, not %s", options[option].name,
			options[option].usage, *value ? value : "''");
}

static int set_event(struct command_invocation *cmd, Jim_Interp *interp, struct arm_mtb_config *config,
		const char *name, const char *body)
{
	const int event = find_name(arm_mtb_event_names, ARM_MTB_EVENT_NUM, name);

	if (event < 0)
		return bad_value(cmd, OPTION_EVENT, name);
	Jim_Obj **slot = &config->events[event];
	if (*slot)
		Jim_DecrRefCount(interp, *slot);
	*slot = NULL;
	if (*body) {
		*slot = Jim_NewStringObj(interp, body, -1);
		Jim_IncrRefCount(*slot);
	}
	return ERROR_OK;
}

/* One option, of a @a config that the object does not have yet; @a values are as many as it takes. */
static int set_option(struct command_invocation *cmd, const struct arm_mtb *mtb, struct arm_mtb_config *config,
		enum option option, const char *const *values, bool first_elf)
{
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
		found = find_name(arm_mtb_when_full_names, ARM_MTB_WHEN_FULL_NUM, values[0]);
		if (found < 0)
			return bad_value(cmd, option, values[0]);
		config->when_full = (enum arm_mtb_when_full)found;
		break;
	case OPTION_CAPTURE_MAX:
		if (!read_u32(values[0], &config->capture_max))
			return bad_value(cmd, option, values[0]);
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
		return set_event(cmd, mtb->interp, config, values[0], values[1]);
	case OPTION_TARGET:
		if (get_target(values[0]) != mtb->target) {
			return ocd_refuse(cmd, ERROR_COMMAND_ARGUMENT_INVALID, "%s: -target cannot be changed; it is %s",
					mtb->name, target_name(mtb->target));
		}
		break;
	case OPTION_NUM:
		break;
	}
	if (!memory)
		return ocd_refuse(cmd, ERROR_FAIL, "out of memory");
	return ERROR_OK;
}

static int set_options(struct command_invocation *cmd, const struct arm_mtb *mtb, struct arm_mtb_config *config,
		const char *const *argv, unsigned int argc, bool *given)
{
	for (unsigned int i = 0; i < argc;) {
		const int option = find_option(argv[i]);
		if (option < 0)
			return unknown_option(cmd, argv[i]);
		if (argc - i - 1 < options[option].values)
			return ocd_refuse(cmd, ERROR_COMMAND_ARGUMENT_INVALID, "%s needs %s", argv[i], options[option].usage);
		if (mtb->phase == ARM_MTB_ARMED && option != OPTION_ELF && option != OPTION_EVENT && option != OPTION_TARGET)
			return ocd_refuse(cmd, ERROR_FAIL, "%s: %s cannot be changed while it is started: %s stop first", mtb->name,
					argv[i], mtb->name);
		const int retval = set_option(cmd, mtb, config, (enum option)option, argv + i + 1, !given[option]);
		if (retval != ERROR_OK)
			return retval;
		given[option] = true;
		i += 1 + options[option].values;
	}
	return ERROR_OK;
}

int arm_mtb_configure(struct command_invocation *cmd, struct arm_mtb *mtb, const char *const *argv, unsigned int argc)
{
	bool given[OPTION_NUM] = { false };
	struct arm_mtb_config draft;

	if (!copy_config(mtb->interp, &draft, &mtb->config))
		return ocd_refuse(cmd, ERROR_FAIL, "out of memory");
	const int retval = set_options(cmd, mtb, &draft, argv, argc, given);
	if (retval != ERROR_OK) {
		free_config(mtb->interp, &draft);
		return retval;
	}
	free_config(mtb->interp, &mtb->config);
	mtb->config = draft;

	/* what is known is of other registers */
	if (given[OPTION_BASEADDR]) {
		mtb->identified = mtb->before_known = false;
		mtb->port.devarch = mtb->port.ram_base = 0;
		mtb->aw = 0;
	}
	return ERROR_OK;
}

int arm_mtb_configure_command(struct command_invocation *cmd)
{
	if (!CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;
	return arm_mtb_configure(CMD, CMD_DATA, CMD_ARGV, CMD_ARGC);
}

static int get_event(struct command_invocation *cmd, const struct arm_mtb *mtb, const char *name)
{
	const int event = find_name(arm_mtb_event_names, ARM_MTB_EVENT_NUM, name);

	if (event < 0)
		return bad_value(cmd, OPTION_EVENT, name);
	if (mtb->config.events[event])
		command_print_sameline(cmd, "%s", Jim_GetString(mtb->config.events[event], NULL));
	return ERROR_OK;
}

int arm_mtb_cget_command(struct command_invocation *cmd)
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
		command_print_sameline(CMD, "%s", arm_mtb_when_full_names[config->when_full]);
		break;
	case OPTION_CAPTURE_MAX:
		if (config->capture_max)
			command_print_sameline(CMD, "%" PRIu32, config->capture_max);
		break;
	case OPTION_START:
		command_print_sameline(CMD, "%s", config->start ? config->start : "");
		break;
	case OPTION_STOP:
		command_print_sameline(CMD, "%s", config->stop ? config->stop : "");
		break;
	case OPTION_ELF:
		for (size_t i = 0; i < config->elf_count; i++) {
			command_print_sameline(CMD, "%s", i ? " " : "");
			arm_mtb_print_element(CMD, config->elfs[i]);
		}
		break;
	case OPTION_EVENT:
		return get_event(CMD, mtb, CMD_ARGV[1]);
	case OPTION_NUM:
		break;
	}
	return ERROR_OK;
}
