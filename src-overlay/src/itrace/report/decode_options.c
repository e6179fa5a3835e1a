// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cs_frame.h"
#include "../ete_config.h"
#include "../mtb_ring.h"
#include "decode_options.h"

struct option_reader {
	struct itrace_decode_options *options;
	const char *object;	/* whose capture is decoded; NULL: the options say what is */
	const char *dash;
	const char *name;	/* of the option at hand, without dashes */
	char *why;
	size_t why_size;
};

struct option_row {
	const char *name;
	const char *argument;	/* as the help shows it; NULL: the option takes none */
	bool (*set)(struct option_reader *reader, const char *value);
	const char *help;
};

/* A word that an option's value may be, and what it stands for; a number below 0: not built yet. */
struct option_word {
	const char *word;
	int number;
};

#define NOT_YET	(-100)

static const struct option_word formats[] = {
	{ "functions", ITRACE_FORMAT_FUNCTIONS },
	{ "instructions", ITRACE_FORMAT_INSTRUCTIONS },
	{ "elements", ITRACE_FORMAT_ELEMENTS },
	{ "packets", ITRACE_FORMAT_PACKETS },
	{ "summary", ITRACE_FORMAT_SUMMARY },
	{ "calls", ITRACE_FORMAT_CALLS },
	{ "contexts", ITRACE_FORMAT_CONTEXTS },
	{ "exceptions", ITRACE_FORMAT_EXCEPTIONS },
	{ "hot", ITRACE_FORMAT_HOT },
	{ "json", ITRACE_FORMAT_JSON },
	{ "opencsd-packets", ITRACE_FORMAT_OPENCSD_PACKETS },
	{ "opencsd-elements", ITRACE_FORMAT_OPENCSD_ELEMENTS },
	{ NULL, 0 }
};

static const struct option_word protocols[] = {
	{ "ete", ITRACE_PROTOCOL_ETE },
	{ "etmv4", ITRACE_PROTOCOL_ETMV4 },
	{ "mtb", ITRACE_PROTOCOL_MTB },
	{ NULL, 0 }
};

static const struct option_word framings[] = {
	{ "raw", ITRACE_FRAMING_RAW },
	{ "coresight", ITRACE_FRAMING_CORESIGHT },
	{ "tpiu", ITRACE_FRAMING_TPIU },
	{ "dstream", ITRACE_FRAMING_DSTREAM },
	{ "auto", ITRACE_FRAMING_AUTO },
	{ NULL, 0 }
};

static const struct option_word exports[] = {
	{ "btrace", ITRACE_EXPORT_BTRACE },
	{ "snapshot", ITRACE_EXPORT_SNAPSHOT },
	{ "callgrind", NOT_YET },
	{ "speedscope", NOT_YET },
	{ "folded", NOT_YET },
	{ "chrome", NOT_YET },
	{ "lcov", NOT_YET },
	{ "gmon", NOT_YET },
	{ NULL, 0 }
};

static const struct option_word on_off[] = {
	{ "on", 1 },
	{ "off", 0 },
	{ NULL, 0 }
};

static bool fail(struct option_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct option_reader *reader, const char *format, ...)
{
	int len = snprintf(reader->why, reader->why_size, "%s%s: ", reader->name[1] ? reader->dash : "-", reader->name);
	if (len < 0 || (size_t)len >= reader->why_size)
		return false;

	va_list args;
	va_start(args, format);
	vsnprintf(reader->why + len, reader->why_size - (size_t)len, format, args);
	va_end(args);
	return false;
}

static bool read_number(const char *text, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	if (errno || *end)
		return false;
	*number = value;
	return true;
}

static bool option_number(struct option_reader *reader, const char *value, uint64_t low, uint64_t high,
		uint64_t *number)
{
	if (!read_number(value, number) || *number < low || *number > high) {
		if (high == UINT64_MAX)
			return fail(reader, "'%s' is not a number from %llu up", value, (unsigned long long)low);
		return fail(reader, high < 10 ? "'%s' is not a number from %llu to %llu" :
				"'%s' is not a number from %llu to 0x%llx", value, (unsigned long long)low,
				(unsigned long long)high);
	}
	return true;
}

/* The words of a table, for a message. */
static void list_words(const struct option_word *words, char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (; words->word && used < size; words++) {
		if (words->number == NOT_YET)
			continue;
		int len = snprintf(text + used, size - used, "%s%s", used ? ", " : "", words->word);
		if (len < 0)
			return;
		used += (size_t)len;
	}
}

static bool option_word(struct option_reader *reader, const struct option_word *words, const char *value, size_t len,
		int *number)
{
	for (const struct option_word *word = words; word->word; word++) {
		if (strlen(word->word) != len || strncmp(word->word, value, len))
			continue;
		if (word->number == NOT_YET)
			return fail(reader, "%s: not in this version", word->word);
		*number = word->number;
		return true;
	}

	char list[256];
	list_words(words, list, sizeof(list));
	return fail(reader, "'%.*s' is none of %s", (int)len, value, list);
}

/* One more element of @a size bytes, zeroed, at the end of the array *array. */
static void *append(struct option_reader *reader, void *array, size_t *count, size_t size)
{
	char **base = array;
	char *grown = realloc(*base, (*count + 1) * size);

	if (!grown) {
		fail(reader, "no memory");
		return NULL;
	}
	*base = grown;
	memset(grown + *count * size, 0, size);
	return grown + (*count)++ * size;
}

static bool copy(struct option_reader *reader, char **to, const char *text, size_t len)
{
	*to = strndup(text, len);
	if (!*to)
		return fail(reader, "no memory");
	return true;
}

/* FILE@NUMBER: the last @ counts, and only when a number follows it. */
static bool set_file(struct option_reader *reader, const char *value, struct itrace_option_file *file, bool need_addr)
{
	const char *at = strrchr(value, '@');
	size_t len = strlen(value);

	if (at && read_number(at + 1, &file->addr))
		len = (size_t)(at - value);
	else if (need_addr)
		return fail(reader, "'%s' has no address: give FILE@ADDRESS", value);
	if (!len)
		return fail(reader, "'%s' names no file", value);
	return copy(reader, &file->path, value, len);
}

static bool set_snapshot(struct option_reader *reader, const char *value)
{
	if (reader->options->snapshot)
		return fail(reader, "is given twice; give one source");
	reader->options->snapshot = value;
	return true;
}

static bool set_trace(struct option_reader *reader, const char *value)
{
	if (reader->options->trace)
		return fail(reader, "is given twice; give one source");
	reader->options->trace = value;
	return true;
}

static bool set_protocol(struct option_reader *reader, const char *value)
{
	return option_word(reader, protocols, value, strlen(value), &reader->options->protocol);
}

static bool set_framing(struct option_reader *reader, const char *value)
{
	reader->options->framing_given = true;
	return option_word(reader, framings, value, strlen(value), &reader->options->framing);
}

static bool set_trace_id(struct option_reader *reader, const char *value)
{
	uint64_t number;

	if (!option_number(reader, value, 0, 0x6f, &number))
		return false;
	reader->options->trace_id = (int)number;
	return true;
}

static bool set_core(struct option_reader *reader, const char *value)
{
	enum itrace_profile profile;
	enum itrace_arch arch;

	if (!itrace_core_type(value, &profile, &arch))
		return fail(reader, "'%s' is not known; give a core (Cortex-A53) or an architecture (ARMv8-A, ARMv8-M, "
				"ARM-AA64)", value);
	reader->options->core = value;
	return true;
}

/* What tells the registers apart, without regard to case; NULL: there is none of that name. */
static const void *find_register(const char *name)
{
	static struct itrace_ete_registers ete;
	static struct itrace_mtb_registers mtb;
	const void *found = itrace_ete_register(&ete, name);

	return found ? found : itrace_mtb_register(&mtb, name, NULL);
}

static bool set_reg(struct option_reader *reader, const char *value)
{
	const char *equal = strchr(value, '=');
	uint64_t number;

	if (!equal || equal == value)
		return fail(reader, "'%s' is not NAME=VALUE", value);
	if (!read_number(equal + 1, &number) || number > UINT32_MAX)
		return fail(reader, "%.*s: '%s' is not a 32-bit number", (int)(equal - value), value, equal + 1);

	struct itrace_option_reg *reg = append(reader, &reader->options->regs, &reader->options->reg_count, sizeof(*reg));
	if (!reg || !copy(reader, &reg->name, value, (size_t)(equal - value)))
		return false;
	reg->value = (uint32_t)number;

	const void *which = find_register(reg->name);
	if (!which)
		return fail(reader, "%s: decoding needs no register of that name (it needs TRCIDR0, TRCIDR1, TRCIDR2, "
				"TRCIDR8 to TRCIDR13, TRCCONFIGR, TRCTRACEIDR, TRCDEVARCH; of an MTB POSITION, MASTER, FLOW, BASE, AW, "
				"PC_ARM, PC_HALT, VTOR)", reg->name);
	for (const struct itrace_option_reg *other = reader->options->regs; other < reg; other++)
		if (find_register(other->name) == which && other->value != reg->value)
			return fail(reader, "%s: is given as 0x%x and as 0x%x; give it once", reg->name,
					(unsigned int)other->value, (unsigned int)reg->value);
	return true;
}

static bool set_buffer(struct option_reader *reader, const char *value)
{
	reader->options->buffer_given = true;
	return option_number(reader, value, 0, UINT32_MAX, &reader->options->buffer);
}

static bool set_elf(struct option_reader *reader, const char *value)
{
	struct itrace_option_file *file = append(reader, &reader->options->elfs, &reader->options->elf_count,
			sizeof(*file));

	return file && set_file(reader, value, file, false);
}

static bool set_image(struct option_reader *reader, const char *value)
{
	struct itrace_option_file *file = append(reader, &reader->options->images, &reader->options->image_count,
			sizeof(*file));

	return file && set_file(reader, value, file, true);
}

static bool set_memory(struct option_reader *reader, const char *value)
{
	(void)value;
	reader->options->memory = true;
	return true;
}

static bool set_format(struct option_reader *reader, const char *value)
{
	int number;

	if (!option_word(reader, formats, value, strlen(value), &number))
		return false;
	reader->options->format = (enum itrace_format)number;
	return true;
}

static bool set_src_addr_n(struct option_reader *reader, const char *value)
{
	(void)value;
	reader->options->src_addr_n = true;
	return true;
}

static bool set_output(struct option_reader *reader, const char *value)
{
	if (!*value)
		return fail(reader, "names no file");
	reader->options->output = value;
	return true;
}

static bool set_first(struct option_reader *reader, const char *value)
{
	reader->options->first_given = true;
	return option_number(reader, value, 1, UINT64_MAX, &reader->options->first);
}

static bool set_last(struct option_reader *reader, const char *value)
{
	reader->options->last_given = true;
	return option_number(reader, value, 1, UINT64_MAX, &reader->options->last);
}

static bool set_from(struct option_reader *reader, const char *value)
{
	reader->options->from = value;
	return true;
}

static bool set_to(struct option_reader *reader, const char *value)
{
	reader->options->to = value;
	return true;
}

static bool set_context(struct option_reader *reader, const char *value)
{
	uint64_t number;

	if (!option_number(reader, value, 0, UINT32_MAX, &number))
		return false;
	reader->options->context = (int64_t)number;
	return true;
}

static bool set_el(struct option_reader *reader, const char *value)
{
	uint64_t number;

	if (!option_number(reader, value, 0, 3, &number))
		return false;
	reader->options->el = (int)number;
	return true;
}

static bool set_fold(struct option_reader *reader, const char *value)
{
	int number;

	if (!option_word(reader, on_off, value, strlen(value), &number))
		return false;
	reader->options->fold = number;
	return true;
}

static bool set_export(struct option_reader *reader, const char *value)
{
	const char *equal = strchr(value, '=');
	int number;

	if (!option_word(reader, exports, value, equal ? (size_t)(equal - value) : strlen(value), &number))
		return false;
	if (!equal || !equal[1])
		return fail(reader, "'%s' names no file: give KIND=FILE", value);
	for (size_t i = 0; i < reader->options->export_count; i++)
		if (reader->options->exports[i].kind == (enum itrace_export)number)
			return fail(reader, "%.*s is given twice; it is written to one place", (int)(equal - value), value);

	struct itrace_option_export *export = append(reader, &reader->options->exports, &reader->options->export_count,
			sizeof(*export));
	if (!export)
		return false;
	export->kind = (enum itrace_export)number;
	return copy(reader, &export->path, equal + 1, strlen(equal + 1));
}

static bool set_all_streams(struct option_reader *reader, const char *value)
{
	(void)value;
	reader->options->all_streams = true;
	return true;
}

static bool set_jobs(struct option_reader *reader, const char *value)
{
	uint64_t number;

	if (!option_number(reader, value, 1, 1024, &number))
		return false;
	reader->options->jobs = (unsigned int)number;
	return true;
}

static bool set_timeout(struct option_reader *reader, const char *value)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !isfinite(seconds) || seconds <= 0)
		return fail(reader, "'%s' is not a number of seconds above 0", value);
	reader->options->timeout_s = seconds;
	return true;
}

static bool set_help(struct option_reader *reader, const char *value)
{
	(void)value;
	reader->options->help = true;
	return true;
}

/* In the order of the help. */
static const struct option_row rows[] = {
	{ "snapshot", "DIR", set_snapshot,
		"source: a CoreSight snapshot (snapshot.ini, trace.ini, registers, memory dumps)" },
	{ "trace", "FILE", set_trace, "source: the bytes of a trace buffer; - is standard input" },
	{ "protocol", "P", set_protocol, "with trace: ete (default, but for 'mtb decode'), etmv4, mtb" },
	{ "framing", "F", set_framing, "with trace: raw, coresight, tpiu, dstream or auto (default: look at the bytes)" },
	{ "trace-id", "N", set_trace_id, "of framed trace: the source to decode; of raw trace: its ID for listings" },
	{ "core", "TYPE", set_core, "with trace: type of the core (Cortex-A53, ARMv8-M ...; default ARM-AA64)" },
	{ "reg", "NAME=VALUE", set_reg,
		"a register of the trace unit (TRCIDR0, TRCCONFIGR ...; of an MTB POSITION, MASTER, FLOW, BASE, AW, PC_ARM, "
		"PC_HALT, VTOR); repeatable" },
	{ "buffer", "ADDR", set_buffer,
		"of MTB trace: the file is a dump of memory from ADDR on, with the buffer somewhere in it" },
	{ "elf", "FILE[@OFFSET]", set_elf, "program: code, symbols, source lines, loaded OFFSET higher; repeatable" },
	{ "image", "FILE@ADDR", set_image, "program: raw memory dump; repeatable" },
	{ "memory", NULL, set_memory, "program: read missing code from the target" },
	{ "format", "F", set_format,
		"functions (default with symbols), instructions (default without), elements, packets, summary, calls, "
		"contexts, exceptions, hot, json, opencsd-packets, opencsd-elements" },
	{ "src-addr-n", NULL, set_src_addr_n, "opencsd-elements: a range ends at every N atom" },
	{ "o", "FILE", set_output, "where to; - is the console (default)" },
	{ "first", "N", set_first, "only the first N of the selected instructions; stops reading there" },
	{ "last", "N", set_last, "only the last N of the selected instructions" },
	{ "from", "SYM", set_from, "begin where execution reaches SYM (symbol, symbol+offset or address)" },
	{ "to", "SYM", set_to, "end where execution reaches SYM, with that instruction; with from: again at each" },
	{ "context", "ID", set_context, "only while the context ID is ID; not of MTB trace" },
	{ "el", "N", set_el, "only at exception level N; not of MTB trace" },
	{ "fold", "on|off", set_fold, "write runs of the same once, with x N (default off)" },
	{ "export", "KIND=FILE", set_export,
		"also write btrace=FILE (GDB's XML) or snapshot=DIR; callgrind, speedscope, folded, chrome, "
		"lcov, gmon: not in this version; repeatable" },
	{ "all-streams", NULL, set_all_streams, "every trace ID of a framed buffer, every buffer of a snapshot" },
	{ "jobs", "N", set_jobs, "accepted; this version decodes one stream after the other" },
	{ "timeout", "S", set_timeout, "stop after S seconds and keep what there is" },
	{ "help", NULL, set_help, "this list" },
};

#define ROW_NUM	(sizeof(rows) / sizeof(rows[0]))

static const struct option_row *find_row(const char *name, size_t len)
{
	for (size_t i = 0; i < ROW_NUM; i++)
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, name, len))
			return &rows[i];
	return NULL;
}

/*
 * The row that @a arg names, or NULL. @a value: behind a '=', or NULL. A single letter may have one dash on the command
 * line, too.
 */
static const struct option_row *match_option(const char *arg, const char *dash, const char **value)
{
	bool gnu = !strcmp(dash, "--");
	const char *name;

	*value = NULL;
	if (!strncmp(arg, dash, strlen(dash)))
		name = arg + strlen(dash);
	else if (arg[0] == '-' && arg[1] && !arg[2])
		name = arg + 1;
	else
		return NULL;

	size_t len = strlen(name);
	const char *equal = gnu ? strchr(name, '=') : NULL;
	if (equal) {
		len = (size_t)(equal - name);
		*value = equal + 1;
	}
	return find_row(name, len);
}

static bool looks_like_option(const char *arg)
{
	return arg[0] == '-' && arg[1];
}

/* Only of OpenOCD's commands a first word can be meant as the name of a trace object. */
static bool stray_word(struct option_reader *reader, const char *word, bool first)
{
	const char *dash = reader->dash;
	const bool name = first && !reader->object && !dash[1];

	if (reader->object || reader->options->snapshot || reader->options->trace)
		snprintf(reader->why, reader->why_size, "'%s': neither an option nor the value of one; the source "
				"is known, %shelp lists the options", word, dash);
	else
		snprintf(reader->why, reader->why_size, "'%s': %s give %ssnapshot DIR or %strace FILE", word,
				name ? "no option, and a trace object's name as source is not in this version;" :
				"neither an option nor the value of one; as source", dash, dash);
	return false;
}

static bool parse_arguments(struct option_reader *reader, const char *const *argv, int argc)
{
	for (int i = 0; i < argc; i++) {
		const char *value;
		const struct option_row *row = match_option(argv[i], reader->dash, &value);

		if (!row && looks_like_option(argv[i])) {
			snprintf(reader->why, reader->why_size, "'%s': unknown option; they have %s, %shelp lists them", argv[i],
					reader->dash[1] ? "two dashes" : "one dash", reader->dash);
			return false;
		}
		if (!row)
			return stray_word(reader, argv[i], i == 0);
		reader->name = row->name;
		if (!row->argument && value)
			return fail(reader, "takes no value");
		if (row->argument && !value) {
			if (++i == argc)
				return fail(reader, "a value is missing: %s", row->argument);
			value = argv[i];
		}
		if (!row->set(reader, value))
			return false;
	}
	return true;
}

static bool is_flow_format(enum itrace_format format)
{
	return format != ITRACE_FORMAT_PACKETS && format != ITRACE_FORMAT_OPENCSD_PACKETS &&
			format != ITRACE_FORMAT_ELEMENTS;
}

static const char *selecting_option(const struct itrace_decode_options *options)
{
	if (options->first_given)
		return "first";
	if (options->last_given)
		return "last";
	if (options->from)
		return "from";
	if (options->to)
		return "to";
	if (options->context >= 0)
		return "context";
	return options->el >= 0 ? "el" : NULL;
}

/* An option that says what the trace is, or where; NULL: none was given. */
static const char *source_option(const struct itrace_decode_options *options)
{
	if (options->snapshot)
		return "snapshot";
	if (options->trace)
		return "trace";
	if (options->protocol >= 0)
		return "protocol";
	if (options->framing_given)
		return "framing";
	if (options->trace_id >= 0)
		return "trace-id";
	if (options->core)
		return "core";
	if (options->reg_count)
		return "reg";
	return options->buffer_given ? "buffer" : NULL;
}

static bool check_source(struct option_reader *reader)
{
	const struct itrace_decode_options *options = reader->options;
	const char *dash = reader->dash;

	if (reader->object) {
		reader->name = source_option(options);
		return !reader->name || fail(reader, "what is decoded is the capture of %s, which knows its own; leave it out",
				reader->object);
	}
	if (options->snapshot && options->trace) {
		snprintf(reader->why, reader->why_size, "%ssnapshot and %strace: give one source", dash, dash);
		return false;
	}
	if (!options->snapshot && !options->trace) {
		snprintf(reader->why, reader->why_size, "no source: give %ssnapshot DIR or %strace FILE", dash, dash);
		return false;
	}
	if (!options->trace && (options->protocol >= 0 || options->core)) {
		reader->name = options->core ? "core" : "protocol";
		return fail(reader, "goes with %strace; a snapshot names its own", dash);
	}
	if (!options->trace && options->framing_given) {
		reader->name = "framing";
		return fail(reader, "goes with %strace; a snapshot names its own", dash);
	}
	if (options->all_streams && options->trace_id >= 0) {
		snprintf(reader->why, reader->why_size, "%sall-streams and %strace-id: give one", dash, dash);
		return false;
	}
	return true;
}

/* What goes with MTB trace; of a snapshot its plan knows. */
static bool check_mtb(struct option_reader *reader)
{
	const struct itrace_decode_options *options = reader->options;
	const bool mtb = options->protocol == ITRACE_PROTOCOL_MTB;
	struct itrace_mtb_registers regs;
	enum itrace_profile profile;
	enum itrace_arch arch;

	reader->name = "reg";
	for (size_t i = 0; i < options->reg_count && options->trace; i++) {
		if (!itrace_mtb_register(&regs, options->regs[i].name, NULL) == !mtb)
			continue;
		return fail(reader, mtb ? "%s is no register of an MTB" :
				"%s is a register of an MTB; for its trace give protocol mtb, too", options->regs[i].name);
	}
	reader->name = "buffer";
	if (!mtb)
		return !options->buffer_given || options->snapshot || fail(reader, "goes with %sprotocol mtb", reader->dash);
	reader->name = "framing";
	if (options->framing != ITRACE_FRAMING_AUTO && options->framing != ITRACE_FRAMING_RAW)
		return fail(reader, "MTB trace has no frames; leave it out");
	reader->name = "trace-id";
	if (options->trace_id >= 0)
		return fail(reader, "MTB trace has no trace IDs; leave it out");
	reader->name = "core";
	if (options->core && itrace_core_type(options->core, &profile, &arch) && profile != ITRACE_PROFILE_M)
		return fail(reader, "'%s' has no MTB, only M-profile cores do; leave it out", options->core);
	const char *why = itrace_decode_options_mtb(options);
	reader->name = "";
	if (why) {
		snprintf(reader->why, reader->why_size, "%s", why);
		return false;
	}
	return true;
}

static bool check_together(struct option_reader *reader)
{
	const struct itrace_decode_options *options = reader->options;

	if (!check_source(reader) || !check_mtb(reader))
		return false;
	reader->name = selecting_option(options);
	if (reader->name && !is_flow_format(options->format))
		return fail(reader, "selects instructions, format %s lists none; leave it out or choose another format",
				itrace_format_name(options->format));
	reader->name = "src-addr-n";
	if (options->src_addr_n && options->format != ITRACE_FORMAT_OPENCSD_ELEMENTS)
		return fail(reader, "goes with format opencsd-elements");
	return true;
}

bool itrace_decode_options_add_elf(struct itrace_decode_options *options, const char *path)
{
	struct itrace_option_file *elfs = realloc(options->elfs, (options->elf_count + 1) * sizeof(*elfs));

	if (!elfs)
		return false;
	options->elfs = elfs;
	elfs[options->elf_count].addr = 0;
	elfs[options->elf_count].path = strdup(path);
	if (!elfs[options->elf_count].path)
		return false;
	options->elf_count++;
	return true;
}

bool itrace_decode_options_parse(struct itrace_decode_options *options, const char *const *argv, int argc,
		const char *object, const char *dash, char *why, size_t why_size)
{
	struct option_reader reader = {
		.options = options, .object = object, .dash = dash, .name = "", .why = why, .why_size = why_size
	};

	memset(options, 0, sizeof(*options));
	options->protocol = -1;
	options->framing = ITRACE_FRAMING_AUTO;
	options->trace_id = -1;
	options->context = -1;
	options->el = -1;
	options->jobs = 1;
	if (!parse_arguments(&reader, argv, argc))
		return false;
	return options->help || check_together(&reader);
}

const char *itrace_decode_options_mtb(const struct itrace_decode_options *options)
{
	if (options->format == ITRACE_FORMAT_OPENCSD_PACKETS)
		return "format opencsd-packets: OpenCSD decodes no MTB trace; format packets lists its packets";
	if (options->format == ITRACE_FORMAT_OPENCSD_ELEMENTS)
		return "format opencsd-elements: OpenCSD decodes no MTB trace; format elements lists what its packets say";
	if (options->context >= 0)
		return "context: MTB trace does not say which context ran; leave it out";
	if (options->el >= 0)
		return "el: MTB trace does not say which exception level ran; leave it out";
	return NULL;
}

void itrace_decode_options_free(struct itrace_decode_options *options)
{
	for (size_t i = 0; i < options->reg_count; i++)
		free(options->regs[i].name);
	for (size_t i = 0; i < options->elf_count; i++)
		free(options->elfs[i].path);
	for (size_t i = 0; i < options->image_count; i++)
		free(options->images[i].path);
	for (size_t i = 0; i < options->export_count; i++)
		free(options->exports[i].path);
	free(options->regs);
	free(options->elfs);
	free(options->images);
	free(options->exports);
	memset(options, 0, sizeof(*options));
}

const char *itrace_format_name(enum itrace_format format)
{
	for (const struct option_word *word = formats; word->word; word++)
		if (word->number == (int)format)
			return word->word;
	return "default";
}

#define HELP_COLUMN	25
#define HELP_WIDTH	100

/* Append @a words, broken into lines that begin at HELP_COLUMN. */
static void wrap(char *text, size_t size, const char *words)
{
	size_t len = strlen(text), column = len;

	while (*words) {
		size_t word = strcspn(words, " ");
		const char *before = " ";
		if (column + 1 + word > HELP_WIDTH)
			before = "\n                         ";
		column = *before == '\n' ? HELP_COLUMN + word : column + 1 + word;
		int n = snprintf(text + len, size - len, "%s%.*s", before, (int)word, words);
		if (n < 0 || (size_t)n >= size - len)
			return;
		len += (size_t)n;
		words += word;
		words += *words == ' ';
	}
}

bool itrace_decode_options_help(unsigned int line, const char *dash, char *text, size_t size)
{
	if (line >= ROW_NUM)
		return false;

	char usage[64];
	snprintf(usage, sizeof(usage), "%s%s %s", rows[line].name[1] ? dash : "-", rows[line].name,
			rows[line].argument ? rows[line].argument : "");
	snprintf(text, size, "  %-22s", usage);
	wrap(text, size, rows[line].help);
	return true;
}
