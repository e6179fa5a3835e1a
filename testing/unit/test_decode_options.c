// SPDX-License-Identifier: GPL-2.0-or-later

/* The options of a decode, as both callers write them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/decode_options.h"
#include "cs_frame.h"
#include "ete_config.h"

#define ARRAY_LEN(array)	(sizeof(array) / sizeof((array)[0]))

static char why[512];

static bool parse(struct itrace_decode_options *options, const char *dash, const char *line)
{
	static char words[1024];
	const char *argv[64];
	int argc = 0;

	/* argv must outlive the options */
	strncpy(words, line, sizeof(words) - 1);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	why[0] = 0;
	return itrace_decode_options_parse(options, argv, argc, NULL, dash, why, sizeof(why));
}

static void accept(struct itrace_decode_options *options, const char *dash, const char *line)
{
	if (!parse(options, dash, line))
		fail_msg("'%s': %s", line, why);
}

static void test_defaults(void **state)
{
	struct itrace_decode_options options;

	(void)state;
	accept(&options, "-", "-trace t.bin");
	assert_string_equal(options.trace, "t.bin");
	assert_null(options.snapshot);
	assert_int_equal(options.format, ITRACE_FORMAT_DEFAULT);
	assert_int_equal(options.framing, ITRACE_FRAMING_AUTO);
	assert_int_equal(options.protocol, -1);
	assert_int_equal(options.trace_id, -1);
	assert_int_equal(options.el, -1);
	assert_true(options.context == -1);
	assert_false(options.first_given || options.last_given || options.fold || options.all_streams);
	itrace_decode_options_free(&options);
}

static void check_everything(const char *dash, const char *line)
{
	struct itrace_decode_options options;

	accept(&options, dash, line);
	assert_int_equal(options.protocol, ITRACE_PROTOCOL_ETMV4);
	assert_int_equal(options.framing, ITRACE_FRAMING_TPIU);
	assert_int_equal(options.trace_id, 0x12);
	assert_int_equal(options.reg_count, 2);
	assert_string_equal(options.regs[0].name, "TRCIDR0");
	assert_int_equal(options.regs[0].value, 0x28000ea1);
	assert_string_equal(options.regs[1].name, "TRCCONFIGR");
	assert_int_equal(options.regs[1].value, 9);
	assert_int_equal(options.elf_count, 2);
	assert_string_equal(options.elfs[0].path, "a@b.elf");
	assert_true(options.elfs[0].addr == 0);
	assert_string_equal(options.elfs[1].path, "c.elf");
	assert_true(options.elfs[1].addr == 0x1000);
	assert_int_equal(options.image_count, 1);
	assert_string_equal(options.images[0].path, "d.bin");
	assert_true(options.images[0].addr == 0xffff000000000000);
	assert_int_equal(options.format, ITRACE_FORMAT_CALLS);
	assert_string_equal(options.output, "-");
	assert_true(options.first == 10 && options.first_given);
	assert_true(options.last == 5 && options.last_given);
	assert_string_equal(options.from, "main");
	assert_string_equal(options.to, "exit");
	assert_true(options.context == 0x4300);
	assert_int_equal(options.el, 1);
	assert_true(options.fold);
	assert_int_equal(options.export_count, 2);
	assert_int_equal(options.exports[0].kind, ITRACE_EXPORT_BTRACE);
	assert_string_equal(options.exports[0].path, "b=c.xml");
	assert_int_equal(options.exports[1].kind, ITRACE_EXPORT_SNAPSHOT);
	assert_int_equal(options.jobs, 4);
	assert_true(options.timeout_s == 2.5);
	assert_true(options.memory);
	assert_string_equal(options.core, "ARMv8-M");
	itrace_decode_options_free(&options);
}

static void test_everything_in_tcl(void **state)
{
	(void)state;
	check_everything("-", "-trace t.bin -protocol etmv4 -framing tpiu -trace-id 0x12 -core ARMv8-M "
			"-reg TRCIDR0=0x28000ea1 -reg TRCCONFIGR=9 -elf a@b.elf -elf c.elf@0x1000 -image d.bin@0xffff000000000000 "
			"-memory -format calls -o - -first 10 -last 5 -from main -to exit -context 0x4300 -el 1 -fold on "
			"-export btrace=b=c.xml -export snapshot=dir -jobs 4 -timeout 2.5");
}

static void test_everything_on_the_command_line(void **state)
{
	(void)state;
	check_everything("--", "--trace=t.bin --protocol etmv4 --framing=tpiu --trace-id 0x12 --core=ARMv8-M "
			"--reg=TRCIDR0=0x28000ea1 --reg TRCCONFIGR=9 --elf a@b.elf --elf=c.elf@0x1000 "
			"--image d.bin@0xffff000000000000 --memory --format=calls -o - --first=10 --last 5 --from=main --to exit "
			"--context=0x4300 --el 1 --fold=on --export=btrace=b=c.xml --export snapshot=dir --jobs=4 --timeout 2.5");
}

static void test_every_format_is_known(void **state)
{
	static const char *const names[] = {
		"functions", "instructions", "elements", "packets", "summary", "calls", "contexts", "exceptions", "hot", "json",
		"opencsd-packets", "opencsd-elements"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct itrace_decode_options options;
		char line[64];

		snprintf(line, sizeof(line), "-snapshot d -format %s", names[i]);
		accept(&options, "-", line);
		assert_string_equal(itrace_format_name(options.format), names[i]);
		itrace_decode_options_free(&options);
	}
}

static void test_not_built_yet_is_not_unknown(void **state)
{
	static const char *const lines[] = {
		"ete0", "ete0 -format calls", "mtb0 -protocol mtb",
		"-trace t -export callgrind=f", "-trace t -export speedscope=f", "-trace t -export folded=f",
		"-trace t -export chrome=f", "-trace t -export lcov=f", "-trace t -export gmon=f"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct itrace_decode_options options;

		assert_false(parse(&options, "-", lines[i]));
		if (!strstr(why, "not in this version"))
			fail_msg("'%s': %s", lines[i], why);
		itrace_decode_options_free(&options);
	}
}

/* Where no name of an object can be meant none is spoken of. */
static void test_stray_words(void **state)
{
	static const struct {
		const char *object, *dash, *words[3];
		const char *says;
	} tried[] = {
		{ "m", "-", { "extra" }, "'extra': neither an option nor the value of one; "
				"the source is known, -help lists the options" },
		{ "m", "-", { "" }, "'': neither an option nor the value of one; "
				"the source is known, -help lists the options" },
		{ "m", "-", { "-fold", "on", "extra" }, "'extra': neither an option nor the value of one; "
				"the source is known, -help lists the options" },
		{ NULL, "--", { "t.bin" }, "'t.bin': neither an option nor the value of one; as source give --snapshot DIR or "
				"--trace FILE" },
		{ NULL, "--", { "--trace", "t.bin", "x" }, "'x': neither an option nor the value of one; "
				"the source is known, --help lists the options" },
		{ NULL, "-", { "-fold", "on", "x" }, "'x': neither an option nor the value of one; as source give -snapshot "
				"DIR or -trace FILE" },
		{ NULL, "-", { "x" }, "'x': no option, and a trace object's name as source is not in this version; give "
				"-snapshot DIR or -trace FILE" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tried); i++) {
		struct itrace_decode_options options;
		int count = 0;

		while (count < 3 && tried[i].words[count])
			count++;
		assert_false(itrace_decode_options_parse(&options, tried[i].words, count, tried[i].object, tried[i].dash, why,
				sizeof(why)));
		assert_string_equal(why, tried[i].says);
		itrace_decode_options_free(&options);
	}
}

static void test_wrong_options(void **state)
{
	static const struct {
		const char *line;
		const char *says;
	} rows[] = {
		{ "", "no source" },
		{ "-trace", "a value is missing" },
		{ "-trace t -snapshot d", "one source" },
		{ "-trace t -bogus", "'-bogus': unknown option" },
		{ "-trace t --format calls", "unknown option" },
		{ "-trace t -format pictures", "'pictures' is none of" },
		{ "-trace t -framing wooden", "none of raw" },
		{ "-trace t -first 0", "not a number" },
		{ "-trace t -first -1", "not a number" },
		{ "-trace t -last 1x", "not a number" },
		{ "-trace t -el 4", "not a number" },
		{ "-trace t extra", "'extra': neither an option nor the value of one; "
				"the source is known, -help lists the options" },
		{ "-format calls extra -trace t", "'extra': neither an option nor the value of one; as source give -snapshot" },
		{ "-trace t -trace-id 0x70", "not a number" },
		{ "-trace t -reg TRCIDR0", "NAME=VALUE" },
		{ "-trace t -reg =1", "NAME=VALUE" },
		{ "-trace t -reg TRCIDR0=0x100000000", "32-bit" },
		{ "-trace t -reg TRCWHAT=1", "TRCWHAT" },
		{ "-trace t -image d.bin", "no address" },
		{ "-trace t -image @0x1000", "names no file" },
		{ "-trace t -export btrace", "KIND=FILE" },
		{ "-trace t -export btrace=", "KIND=FILE" },
		{ "-trace t -export poem=f", "none of btrace" },
		{ "-trace t -fold maybe", "none of on, off" },
		{ "-trace t -timeout 0", "seconds" },
		{ "-trace t -timeout nan", "seconds" },
		{ "-trace t -core Pentium", "Pentium" },
		{ "-trace t -format packets -first 3", "selects instructions" },
		{ "-trace t -format elements -el 1", "selects instructions" },
		{ "-trace t -src-addr-n", "opencsd-elements" },
		{ "-trace t -all-streams -trace-id 1", "give one" },
		{ "-snapshot d -protocol ete", "goes with -trace" },
		{ "-snapshot d -framing raw", "goes with -trace" },
		{ "-trace t -reg POSITION=0", "a register of an MTB; for its trace give protocol mtb" },
		{ "-trace t -protocol mtb -reg TRCIDR0=0", "TRCIDR0 is no register of an MTB" },
		{ "-trace t -protocol mtb -reg POSITION=0 -reg position=4", "position: is given as 0x0 and as 0x4" },
		{ "-trace t -buffer 0x20000000", "goes with -protocol mtb" },
		{ "-trace t -protocol mtb -buffer here", "not a number" },
		{ "-trace t -protocol mtb -buffer 0x100000000", "not a number" },
		{ "-trace t -protocol mtb -framing coresight", "MTB trace has no frames" },
		{ "-trace t -protocol mtb -trace-id 1", "MTB trace has no trace IDs" },
		{ "-trace t -protocol mtb -core Cortex-A53", "has no MTB" },
		{ "-trace t -protocol mtb -format opencsd-packets", "OpenCSD decodes no MTB trace" },
		{ "-trace t -protocol mtb -format opencsd-elements", "OpenCSD decodes no MTB trace" },
		{ "-trace t -protocol mtb -context 1", "does not say which context" },
		{ "-trace t -protocol mtb -el 1", "does not say which exception level" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct itrace_decode_options options;

		assert_false(parse(&options, "-", rows[i].line));
		if (!strstr(why, rows[i].says))
			fail_msg("'%s': '%s' does not say '%s'", rows[i].line, why, rows[i].says);
		assert_null(strchr(why, '\n'));
		itrace_decode_options_free(&options);
	}
}

static void test_mtb(void **state)
{
	struct itrace_decode_options options;

	(void)state;
	assert_true(parse(&options, "-", "-trace t -protocol mtb -framing raw -core Cortex-M33 -buffer 0x20000000 "
		"-reg POSITION=0x14 -reg AW=15 -reg VTOR=0x4000"));
	assert_int_equal(options.protocol, ITRACE_PROTOCOL_MTB);
	assert_true(options.buffer_given);
	assert_int_equal(options.buffer, 0x20000000);
	assert_int_equal(options.reg_count, 3);
	itrace_decode_options_free(&options);
	/* of a snapshot it is known later whose trace it is */
	assert_true(parse(&options, "-", "-snapshot d -reg PC_HALT=0x100 -buffer 0x20000000"));
	itrace_decode_options_free(&options);
}

static void test_flag_takes_no_value(void **state)
{
	struct itrace_decode_options options;

	(void)state;
	assert_false(parse(&options, "--", "--trace t --memory=yes"));
	assert_non_null(strstr(why, "takes no value"));
	itrace_decode_options_free(&options);
}

static void test_message_is_cut(void **state)
{
	const char *const argv[] = { "-format", "a_word_that_is_longer_than_the_room_for_the_message" };
	struct itrace_decode_options options;
	char small[16];

	(void)state;
	memset(small, 'x', sizeof(small));
	assert_false(itrace_decode_options_parse(&options, argv, 2, NULL, "-", small, sizeof(small)));
	assert_true(memchr(small, 0, sizeof(small)));
	itrace_decode_options_free(&options);
}

static void test_help_names_every_option(void **state)
{
	static const char *const names[] = {
		"snapshot", "trace", "protocol", "framing", "trace-id", "core", "reg", "buffer", "elf", "image", "memory",
		"format", "src-addr-n", "first", "last", "from", "to", "context", "el", "fold", "export", "all-streams",
		"jobs", "timeout", "help"
	};
	char all[8192] = "", text[512];

	(void)state;
	for (unsigned int line = 0; itrace_decode_options_help(line, "--", text, sizeof(text)); line++)
		strncat(all, text, sizeof(all) - strlen(all) - 1);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(text, sizeof(text), "  --%s ", names[i]);
		if (!strstr(all, text))
			fail_msg("--%s is not explained", names[i]);
	}
	assert_non_null(strstr(all, "  -o FILE "));
	assert_true(itrace_decode_options_help(0, "-", text, sizeof(text)));
	assert_non_null(strstr(text, " -snapshot DIR"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything_in_tcl),
		cmocka_unit_test(test_everything_on_the_command_line),
		cmocka_unit_test(test_every_format_is_known),
		cmocka_unit_test(test_not_built_yet_is_not_unknown),
		cmocka_unit_test(test_stray_words),
		cmocka_unit_test(test_wrong_options),
		cmocka_unit_test(test_mtb),
		cmocka_unit_test(test_flag_takes_no_value),
		cmocka_unit_test(test_message_is_cut),
		cmocka_unit_test(test_help_names_every_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
