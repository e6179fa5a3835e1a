// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <target/armtrace/ocd_refuse.h>
#include <target/target.h>
#include <target/target_type.h>

#include "xtensa_profile.h"

#if BUILD_ITRACE

#include "profile/report.h"
#include "profile/sampling.h"

#define PROFILE_SECONDS_MAX	(7 * 24 * 3600u)
#define PROFILE_RATE_MAX	10000000u
#define PROFILE_DUTY_MAX	99u
#define PROFILE_DUTY		50u
#define PROFILE_TOP_MAX		1000u
#define PROFILE_TOP		10u
#define PROFILE_WHY_SIZE	1024u

bool xtensa_profile_supports(struct target *target)
{
	static const char *const types[] = { "xtensa", "esp32", "esp32s2", "esp32s3" };

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcmp(target_type_name(target), types[i]))
			return true;
	}
	return false;
}

/* --- arguments --- */

/* OpenOCD's own parsers of numbers and choices name the variable, not the option. */
static bool profile_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

static COMMAND_HELPER(profile_parse_seconds, struct sampling_options *options)
{
	uint64_t seconds;

	if (!profile_number(CMD_ARGV[0], &seconds) || !seconds || seconds > PROFILE_SECONDS_MAX)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID,
			"'%s' seconds: a profile takes 1 to %u", CMD_ARGV[0], PROFILE_SECONDS_MAX);
	options->seconds = seconds;
	options->path = CMD_ARGV[1];
	return ERROR_OK;
}

static COMMAND_HELPER(profile_parse_range, struct sampling_options *options, const char *start, const char *end)
{
	if (!profile_number(start, &options->range_start) || !profile_number(end, &options->range_end))
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID,
			"the range from '%s' to '%s': these are no addresses", start, end);
	if (options->range_end < options->range_start || options->range_end - options->range_start < 2)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID,
			"the range from %s to %s is empty: the end must be at least 2 above the start", start, end);
	options->has_range = true;
	return ERROR_OK;
}

static COMMAND_HELPER(profile_parse_limited, const char *option, const char *text, unsigned int min, unsigned int max,
		unsigned int *value)
{
	uint64_t number;

	if (!profile_number(text, &number) || number < min || number > max)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "%s '%s': %u to %u", option, text, min, max);
	*value = number;
	return ERROR_OK;
}

static COMMAND_HELPER(profile_parse_jitter, struct sampling_options *options, const char *text)
{
	options->jitter = !strcmp(text, "on");
	if (!options->jitter && strcmp(text, "off"))
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "-jitter '%s': on or off", text);
	return ERROR_OK;
}

static COMMAND_HELPER(profile_parse_seed, struct sampling_options *options, const char *text)
{
	options->has_seed = profile_number(text, &options->seed);
	if (!options->has_seed)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "-seed '%s': a number of 64 bits", text);
	return ERROR_OK;
}

static COMMAND_HELPER(profile_parse_method, struct sampling_options *options, const char *name)
{
	options->method = sampling_method_find(name);
	if (!options->method && strcmp(name, "auto"))
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID,
			"unknown method '%s': auto, debugpc, pipeline, wsr, batch or legacy", name);
	return ERROR_OK;
}

static COMMAND_HELPER(profile_parse_format, struct sampling_options *options, const char *name)
{
	char why[PROFILE_WHY_SIZE];

	if (itrace_profile_format_find(name, &options->format, why, sizeof(why)))
		return ERROR_OK;
	return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "%s", why);
}

static COMMAND_HELPER(profile_parse_cores, struct sampling_options *options, const char *which)
{
	options->all_cores = !strcmp(which, "all");
	if (!options->all_cores && strcmp(which, "current"))
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "-cores '%s': current or all", which);
	return ERROR_OK;
}

static COMMAND_HELPER(profile_parse_elf, struct sampling_options *options, const char *path)
{
	if (!*path)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "-elf '': the name of the program's file");
	options->elf = path;
	return ERROR_OK;
}

enum profile_option {
	PROFILE_OPTION_METHOD,
	PROFILE_OPTION_FORMAT,
	PROFILE_OPTION_CORES,
	PROFILE_OPTION_RATE,
	PROFILE_OPTION_DUTY,
	PROFILE_OPTION_TOP,
	PROFILE_OPTION_JITTER,
	PROFILE_OPTION_SEED,
	PROFILE_OPTION_ELF,
	PROFILE_OPTION_RANGE,
	PROFILE_OPTION_NUM
};

static enum profile_option profile_option_find(const char *name)
{
	static const char *const names[PROFILE_OPTION_NUM] = {
		[PROFILE_OPTION_METHOD] = "-method",
		[PROFILE_OPTION_FORMAT] = "-format",
		[PROFILE_OPTION_CORES] = "-cores",
		[PROFILE_OPTION_RATE] = "-rate",
		[PROFILE_OPTION_DUTY] = "-duty",
		[PROFILE_OPTION_TOP] = "-top",
		[PROFILE_OPTION_JITTER] = "-jitter",
		[PROFILE_OPTION_SEED] = "-seed",
		[PROFILE_OPTION_ELF] = "-elf",
		[PROFILE_OPTION_RANGE] = "-range",
	};
	unsigned int option = 0;

	while (option < PROFILE_OPTION_NUM && strcmp(name, names[option]))
		option++;
	return (enum profile_option)option;
}

/* @param words the option's name, then its values */
static COMMAND_HELPER(profile_parse_option, struct sampling_options *options, enum profile_option option,
		const char *const *words)
{
	switch (option) {
	case PROFILE_OPTION_METHOD:
		return CALL_COMMAND_HANDLER(profile_parse_method, options, words[1]);
	case PROFILE_OPTION_FORMAT:
		return CALL_COMMAND_HANDLER(profile_parse_format, options, words[1]);
	case PROFILE_OPTION_CORES:
		return CALL_COMMAND_HANDLER(profile_parse_cores, options, words[1]);
	case PROFILE_OPTION_RATE:
		return CALL_COMMAND_HANDLER(profile_parse_limited, words[0], words[1], 1, PROFILE_RATE_MAX,
			&options->rate_hz);
	case PROFILE_OPTION_DUTY:
		return CALL_COMMAND_HANDLER(profile_parse_limited, words[0], words[1], 0, PROFILE_DUTY_MAX,
			&options->duty_percent);
	case PROFILE_OPTION_TOP:
		return CALL_COMMAND_HANDLER(profile_parse_limited, words[0], words[1], 0, PROFILE_TOP_MAX, &options->top);
	case PROFILE_OPTION_JITTER:
		return CALL_COMMAND_HANDLER(profile_parse_jitter, options, words[1]);
	case PROFILE_OPTION_SEED:
		return CALL_COMMAND_HANDLER(profile_parse_seed, options, words[1]);
	case PROFILE_OPTION_ELF:
		return CALL_COMMAND_HANDLER(profile_parse_elf, options, words[1]);
	case PROFILE_OPTION_RANGE:
		return CALL_COMMAND_HANDLER(profile_parse_range, options, words[1], words[2]);
	default:
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "unknown option '%s': see 'help xtensa profile'",
			words[0]);
	}
}

static COMMAND_HELPER(profile_parse_options, struct sampling_options *options)
{
	unsigned int values;

	for (unsigned int i = 2; i < CMD_ARGC; i += 1 + values) {
		enum profile_option option = profile_option_find(CMD_ARGV[i]);

		values = option == PROFILE_OPTION_RANGE ? 2 : 1;
		if (option < PROFILE_OPTION_NUM && CMD_ARGC - i <= values)
			return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID, "option '%s' lacks %s", CMD_ARGV[i],
				values == 2 ? "its start and end" : "its value");

		int retval = CALL_COMMAND_HANDLER(profile_parse_option, options, option, &CMD_ARGV[i]);

		if (retval != ERROR_OK)
			return retval;
	}
	return ERROR_OK;
}

/* --- the profile --- */

/* Where the system numbers files (elsewhere st_ino is 0). */
static bool profile_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_ino && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* What can be known to be wrong before anything is touched. */
static COMMAND_HELPER(profile_check, struct target *target, const struct sampling_options *options)
{
	char why[PROFILE_WHY_SIZE];

	if (!target_was_examined(target))
		return ocd_refuse(CMD, ERROR_TARGET_NOT_EXAMINED,
			"%s was not examined: use 'init', or '%s arp_examine' when it has power",
			target_name(target), target_name(target));
	if (target->tap && !target->tap->enabled)
		return ocd_refuse(CMD, ERROR_FAIL,
			"%s: TAP %s is disabled: enable it with 'jtag tapenable', or choose another target",
			target_name(target), target->tap->dotted_name);
	if (options->all_cores && options->method == &sampling_legacy)
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID,
			"method legacy samples one core: leave out '-cores all'");
	if (options->elf && profile_same_file(options->path, options->elf))
		return ocd_refuse(CMD, ERROR_COMMAND_ARGUMENT_INVALID,
			"%s is the program: name another file for the profile", options->path);
	if (!itrace_profile_file_check(options->path, why, sizeof(why)))
		return ocd_refuse(CMD, ERROR_FAIL, "%s", why);
	return ERROR_OK;
}

static COMMAND_HELPER(profile_load_symbols, const struct sampling_options *options, struct itrace_symbols **symbols)
{
	char why[PROFILE_WHY_SIZE];

	*symbols = NULL;
	if (!options->elf)
		return ERROR_OK;

	*symbols = itrace_symbols_new();
	if (!*symbols) {
		LOG_ERROR("Out of memory");
		return ERROR_FAIL;
	}
	itrace_symbols_set_family(*symbols, ITRACE_SYMBOLS_FAMILY_XTENSA);
	if (itrace_symbols_add_elf(*symbols, options->elf, 0, why, sizeof(why)) < 0) {
		itrace_symbols_free(*symbols);
		*symbols = NULL;
		return ocd_refuse(CMD, ERROR_FAIL, "%s", why);
	}
	if (*why)
		LOG_WARNING("%s", why);
	return ERROR_OK;
}

/* Write what was sampled, and say how it went. */
static COMMAND_HELPER(profile_conclude, struct sampling *sampling, struct itrace_symbols *symbols)
{
	const struct sampling_options *options = sampling->options;
	const struct xdm_link *link = &sampling->link;
	struct itrace_profile_core cores[XDM_CORES_MAX];
	char why[PROFILE_WHY_SIZE];
	uint64_t total = 0;

	for (unsigned int i = 0; i < link->core_count; i++) {
		cores[i].name = target_name(link->cores[i].target);
		cores[i].histogram = &sampling->histograms[i];
		total += itrace_pc_histogram_total(&sampling->histograms[i]);
	}

	const struct itrace_profile profile = {
		.cores = cores,
		.core_count = link->core_count,
		.elapsed_ns = sampling->end_ns - sampling->begin_ns,
		.samples = sampling->sample_count,
		.symbols = symbols,
		.command = "OpenOCD xtensa profile",
		.has_range = options->has_range,
		.range_start = options->range_start,
		.range_end = options->range_end,
		.word_size = 32,
		.is_big_endian = sampling->target->endianness == TARGET_BIG_ENDIAN,
	};

	if (!total) {
		ocd_refuse(CMD, ERROR_FAIL, "no samples%s: %s; nothing was written",
			sampling->outside_count ? " in the range" : "", sampling->why);
		profile_report_more_warnings(CMD, sampling);
		return ERROR_FAIL;
	}

	bool is_written = itrace_profile_file_write(&profile, options->format, options->path, why, sizeof(why));

	if (is_written && *why)
		sampling_note(sampling, "%s", why);
	/* what was seen is not lost with the file */
	profile_report(CMD, sampling, &profile);
	if (!is_written)
		return ocd_refuse(CMD, ERROR_FAIL, "%s", why);
	command_print_sameline(CMD, "Wrote %s", options->path);
	return ERROR_OK;
}

static COMMAND_HELPER(profile_run, struct target *target, const struct sampling_options *options)
{
	struct itrace_symbols *symbols;
	int retval = CALL_COMMAND_HANDLER(profile_check, target, options);

	if (retval == ERROR_OK)
		retval = CALL_COMMAND_HANDLER(profile_load_symbols, options, &symbols);
	if (retval != ERROR_OK)
		return retval;

	struct sampling *sampling = malloc(sizeof(*sampling));

	if (!sampling) {
		LOG_ERROR("Out of memory");
		itrace_symbols_free(symbols);
		return ERROR_FAIL;
	}

	retval = sampling_run(sampling, target, options);
	if (retval == ERROR_OK) {
		retval = CALL_COMMAND_HANDLER(profile_conclude, sampling, symbols);
	} else {
		ocd_refuse(CMD, retval, "%s", sampling->why);
		profile_report_more_warnings(CMD, sampling);
	}

	sampling_free(sampling);
	free(sampling);
	itrace_symbols_free(symbols);
	return retval;
}

static void profile_defaults(struct sampling_options *options)
{
	*options = (struct sampling_options) {
		.format = ITRACE_PROFILE_GMON,
		.duty_percent = PROFILE_DUTY,
		.jitter = true,
		.top = PROFILE_TOP,
	};
}

COMMAND_HELPER(xtensa_profile_handle_profile, struct target *target)
{
	struct sampling_options options;

	if (CMD_ARGC != 2 && CMD_ARGC != 4)
		return ERROR_COMMAND_SYNTAX_ERROR;

	profile_defaults(&options);
	int retval = CALL_COMMAND_HANDLER(profile_parse_seconds, &options);

	if (retval == ERROR_OK && CMD_ARGC == 4)
		retval = CALL_COMMAND_HANDLER(profile_parse_range, &options, CMD_ARGV[2], CMD_ARGV[3]);
	if (retval != ERROR_OK)
		return retval;
	return CALL_COMMAND_HANDLER(profile_run, target, &options);
}

COMMAND_HANDLER(handle_xtensa_profile_command)
{
	struct sampling_options options;

	if (CMD_ARGC < 2)
		return ERROR_COMMAND_SYNTAX_ERROR;

	struct target *target = get_current_target(CMD_CTX);

	if (!xtensa_profile_supports(target))
		return ocd_refuse(CMD, ERROR_FAIL, "%s is no Xtensa target: choose one with 'targets'", target_name(target));

	profile_defaults(&options);
	int retval = CALL_COMMAND_HANDLER(profile_parse_seconds, &options);

	if (retval == ERROR_OK)
		retval = CALL_COMMAND_HANDLER(profile_parse_options, &options);
	if (retval != ERROR_OK)
		return retval;
	return CALL_COMMAND_HANDLER(profile_run, target, &options);
}

#else /* BUILD_ITRACE */

bool xtensa_profile_supports(struct target *target)
{
	return false;
}

COMMAND_HELPER(xtensa_profile_handle_profile, struct target *target)
{
	return ERROR_NOT_IMPLEMENTED;
}

COMMAND_HANDLER(handle_xtensa_profile_command)
{
	return ocd_refuse(CMD, ERROR_NOT_IMPLEMENTED, "not in this build: it was configured with --disable-itrace");
}

#endif /* BUILD_ITRACE */

const struct command_registration xtensa_profile_command_handlers[] = {
	{
		.name = "profile",
		.handler = handle_xtensa_profile_command,
		.mode = COMMAND_EXEC,
		.help = "sample the program counter for some seconds and write a profile",
		.usage = "seconds filename ['-method' auto|debugpc|pipeline|wsr|batch|legacy] "
			"['-format' gmon|folded|callgrind|csv] ['-elf' filename] ['-range' start end] ['-cores' current|all] "
			"['-rate' hz] ['-duty' percent] ['-jitter' on|off] ['-top' number] ['-seed' number]",
	},
	COMMAND_REGISTRATION_DONE
};
