// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/*
 * A capture in memory as the source of a decode: every format and export of it, the seams of a buffer that was drained,
 * and as a snapshot that is read again.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/capture.h"
#include "report/decode_run.h"
#include "report_sink.h"

#define ARGUMENTS	16
#define CODE_OFF	0x54u	/* in the ELF file, of address 0x100 */

/* 0x100: NOP; CMP R0, #0; BEQ .+4; NOP; BL 0x200; NOP; NOP; NOP; B . */
static const uint16_t main_code[] = { 0xbf00, 0x2800, 0xd000, 0xbf00, 0xf000, 0xf87a, 0xbf00, 0xbf00, 0xbf00, 0xe7fe };
/* 0x200: NOP; BX LR */
static const uint16_t func_code[] = { 0xbf00, 0x4770 };

static const uint32_t packets[] = { 0x108, 0x201, 0x202, 0x10c, 0x112, 0x112, 0x112, 0x112, 0x112, 0x112 };
static const struct itrace_seam seams[] = { { 16, 0x10f, true }, { 32, 0x112, true }, { 32, 0, false } };

static char dir[] = "/tmp/itrace-test-XXXXXX";
static char elf_path[128], other_path[128];
static char dict[4096];
static const char *const elfs[] = { elf_path };
static struct itrace_capture capture;
static struct itrace_decode_io io;

static void put(uint8_t *bytes, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

/* One segment, no sections. */
static void write_elf(const char *path)
{
	static uint8_t elf[CODE_OFF + 0x104];
	static const uint32_t program_header[] = { 1, CODE_OFF, 0x100, 0x100, 0x104, 0x104, 5, 4 };

	memcpy(elf, "\177ELF\1\1\1", 7);
	put(elf + 16, 2 | 40 << 16);	/* an executable, of Arm */
	put(elf + 20, 1);
	put(elf + 24, 0x101);
	put(elf + 28, 52);
	put(elf + 36, 0x05000000);
	put(elf + 40, 52 | 32 << 16);
	put(elf + 44, 1);
	for (unsigned int i = 0; i < 8; i++)
		put(elf + 52 + 4 * i, program_header[i]);
	memcpy(elf + CODE_OFF, main_code, sizeof(main_code));
	memcpy(elf + CODE_OFF + 0x100, func_code, sizeof(func_code));
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(elf, 1, sizeof(elf), file), sizeof(elf));
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	/* not what -elf would take for an address */
	snprintf(elf_path, sizeof(elf_path), "%s/fw@0x1000", dir);
	snprintf(other_path, sizeof(other_path), "%s/out", dir);
	write_elf(elf_path);
	return 0;
}

static int tear_down(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static int begin(void **state)
{
	(void)state;
	capture = (struct itrace_capture){
		.name = "mtb0", .protocol = ITRACE_PROTOCOL_MTB, .core = "Cortex-M33",
		.mtb = {
			.pc_arm = 0x100, .pc_halt = 0x112, .given = ITRACE_MTB_REG_PC_ARM | ITRACE_MTB_REG_PC_HALT
		},
		.bytes = (const uint8_t *)packets, .len = sizeof(packets),
		.seams = seams, .seam_count = 3, .elfs = elfs, .elf_count = 1,
	};
	io = sink_io;
	io.capture = &capture;
	return 0;
}

static enum itrace_decode_status run_args(const char *first, ...)
{
	const char *argv[ARGUMENTS];
	int argc = 0;
	va_list args;

	va_start(args, first);
	for (const char *arg = first; arg; arg = va_arg(args, const char *))
		argv[argc++] = arg;
	va_end(args);
	sink_clear();
	return itrace_decode_run(argv, argc, "-", &io, dict, sizeof(dict));
}

#define run(...)	run_args(__VA_ARGS__, (const char *)NULL)

static void in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void test_instructions(void **state)
{
	(void)state;
	assert_int_equal(run("-format", "instructions"), ITRACE_DECODE_OK);
	const char *before = strstr(sink.text, "000000010c bf00"), *behind = strstr(sink.text, "000000010e bf00");
	const char *seam = strstr(sink.text, "-- seam: the buffer was read and emptied here, the core stood at 0x0000010e");
	in(sink.text, "-- seam: the buffer was read and emptied here\n");
	if (!before || !seam || !behind || before > seam || seam > behind)
		fail_msg("%s", sink.text);
	in(sink.messages, "I: flow      13 instructions in 7 ranges, 0 exceptions, 1 trace-on, 3 seams\n");
	in(sink.messages, "I: code      13 from fw@0x1000\n");
	in(dict, " trace_on 1 seams 3 ");
}

static void test_json(void **state)
{
	(void)state;
	assert_int_equal(run("-format", "json"), ITRACE_DECODE_OK);
	in(sink.text, "{\"kind\":\"seam\",\"off\":16,\"pc\":\"0x10e\"}\n");
	in(sink.text, "{\"kind\":\"seam\",\"off\":32}\n");
	in(sink.text, ",\"seams\":3,");
	in(sink.text, "\"source\":\"mtb0\"");
}

/* What only counts instructions or calls, or draws the flow for GDB, is the same with and without seams. */
static void test_same_without_seams(void **state)
{
	static const char *const formats[] = { "hot", "calls", "exceptions", "contexts", "packets", "elements" };
	char *with;

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		capture.seam_count = 3;
		run("-format", formats[i]);
		with = strdup(sink.text);
		capture.seam_count = 0;
		run("-format", formats[i]);
		assert_string_equal(with, sink.text);
		free(with);
	}
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	size_t len = fread(bytes, 1, size - 1, file);
	fclose(file);
	bytes[len] = 0;
	return len;
}

static void test_btrace(void **state)
{
	static char with[8192], without[8192];
	char export[160];

	(void)state;
	snprintf(export, sizeof(export), "btrace=%s", other_path);
	assert_int_equal(run("-format", "summary", "-export", export), ITRACE_DECODE_OK);
	in(sink.text, ", 3 seams\n");
	const size_t len = read_file(other_path, with, sizeof(with));
	assert_true(len);
	capture.seam_count = 0;
	assert_int_equal(run("-format", "summary", "-export", export), ITRACE_DECODE_OK);
	assert_null(strstr(sink.text, "seams"));
	assert_int_equal(read_file(other_path, without, sizeof(without)), len);
	assert_string_equal(with, without);
}

static void test_selection(void **state)
{
	(void)state;
	/* the last three stand on both sides of the first seam's range, and of the second seam */
	assert_int_equal(run("-format", "instructions", "-last", "4"), ITRACE_DECODE_OK);
	assert_null(strstr(sink.text, "000000010e bf00"));
	in(sink.text, "0000000110 bf00");
	assert_int_equal(run("-format", "instructions", "-from", "0x10e", "-to", "0x110"), ITRACE_DECODE_OK);
	assert_null(strstr(sink.text, "000000010c bf00"));
	in(sink.text, "000000010e bf00");
	assert_int_equal(run("-format", "instructions", "-first", "8"), ITRACE_DECODE_OK);
	in(sink.text, "000000010c bf00");
	assert_null(strstr(sink.text, "000000010e bf00"));
}

static void test_what_it_is_belongs_to_the_object(void **state)
{
	static const char *const options[][2] = {
		{ "-snapshot", "d" }, { "-trace", "f" }, { "-protocol", "mtb" }, { "-framing", "raw" }, { "-trace-id", "1" },
		{ "-core", "Cortex-M33" }, { "-reg", "POSITION=0" }, { "-buffer", "0x20000000" }
	};
	char line[160];

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		assert_int_equal(run(options[i][0], options[i][1]), ITRACE_DECODE_USAGE);
		snprintf(line, sizeof(line),
				"E: %s: what is decoded is the capture of mtb0, which knows its own; leave it out\n", options[i][0]);
		assert_string_equal(sink.messages, line);
	}
	assert_int_equal(run("-format", "opencsd-elements"), ITRACE_DECODE_NOTHING);
	in(sink.messages, "E: format opencsd-elements: OpenCSD decodes no MTB trace");
}

static void test_program(void **state)
{
	(void)state;
	/* another one that is named, in place of the object's */
	snprintf(other_path, sizeof(other_path), "%s/other", dir);
	write_elf(other_path);
	assert_int_equal(run("-format", "summary", "-elf", other_path), ITRACE_DECODE_OK);
	in(sink.text, "code      13 from other\n");
	capture.elf_count = 0;
	assert_int_equal(run("-format", "instructions"), ITRACE_DECODE_NOTHING);
	in(sink.messages, "no memory at 0x100");
	capture.core = "Cortex-A53";
	assert_int_equal(run("-format", "summary"), ITRACE_DECODE_NOTHING);
	in(sink.messages, "E: mtb0: core type 'Cortex-A53' is no M-profile core that is known\n");
	capture.protocol = ITRACE_PROTOCOL_ETE;
	assert_int_equal(run("-format", "summary"), ITRACE_DECODE_NOTHING);
	in(sink.messages, "E: mtb0: only the capture of an MTB can be decoded from memory\n");
}

static void test_ring(void **state)
{
	/* of four packets the oldest, at 16, is the third */
	static const uint32_t ring[] = { 0x112, 0x112, 0x112, 0x112, 0x108, 0x200, 0x202, 0x10c };

	(void)state;
	capture.bytes = (const uint8_t *)ring;
	capture.len = sizeof(ring);
	capture.seam_count = 0;
	capture.mtb.position = 0x14;
	capture.mtb.master = 0x80000001;
	capture.mtb.given |= ITRACE_MTB_REG_POSITION | ITRACE_MTB_REG_MASTER;
	assert_int_equal(run("-format", "instructions"), ITRACE_DECODE_OK);
	in(sink.messages, "I: MTB buffer of 32 bytes has wrapped: 4 packets, the oldest at byte 0x10\n");
	in(sink.messages, "I: flow      8 instructions in 4 ranges");
	/* a ring has no seams */
	capture.seam_count = 3;
	assert_int_equal(run("-format", "summary"), ITRACE_DECODE_OK);
	in(sink.messages, "W: mtb0: seams are of packets in order, but POSITION is given; they are left out\n");
	in(sink.messages, "I: flow      8 instructions in 4 ranges, 0 exceptions, 0 trace-on\n");
}

static void test_empty(void **state)
{
	(void)state;
	capture.bytes = NULL;
	capture.len = 0;
	capture.seam_count = 0;
	capture.mtb.given = 0;
	assert_int_equal(run("-format", "instructions"), ITRACE_DECODE_NOTHING);
	in(sink.messages, "mtb0");
}

static void test_snapshot(void **state)
{
	static char ini[4096];
	char path[200], export[200], why[512];
	char *text;

	(void)state;
	assert_int_equal(run("-format", "instructions"), ITRACE_DECODE_OK);
	text = strdup(sink.text);
	snprintf(path, sizeof(path), "%s/snapshot", dir);
	assert_true(itrace_capture_write_snapshot(&capture, path, why, sizeof(why)));
	io.capture = NULL;
	assert_int_equal(run("-snapshot", path, "-format", "instructions"), ITRACE_DECODE_OK);
	assert_string_equal(sink.text, text);

	/* and the snapshot of the snapshot */
	snprintf(export, sizeof(export), "snapshot=%s/second", dir);
	assert_int_equal(run("-snapshot", path, "-format", "instructions", "-export", export), ITRACE_DECODE_OK);
	snprintf(path, sizeof(path), "%s/second", dir);
	assert_int_equal(run("-snapshot", path, "-format", "instructions"), ITRACE_DECODE_OK);
	assert_string_equal(sink.text, text);
	snprintf(path, sizeof(path), "%s/second/source0.ini", dir);
	read_file(path, ini, sizeof(ini));
	in(ini, "class=mtb\n");
	in(ini, "\n[seams]\nseam0=0x10,0x10f\nseam1=0x20,0x112\nseam2=0x20\n");
	snprintf(path, sizeof(path), "%s/snapshot/core0.ini", dir);
	read_file(path, ini, sizeof(ini));
	in(ini, "type=Cortex-M33\n");

	/* what cannot be written says why, and writes nothing over */
	free(text);
	snprintf(path, sizeof(path), "%s/fw@0x1000", dir);
	assert_false(itrace_capture_write_snapshot(&capture, path, why, sizeof(why)));
	in(why, "is not a directory");
	capture.len = 0;
	capture.mtb.position = 0x14;
	capture.mtb.given |= ITRACE_MTB_REG_POSITION;
	snprintf(path, sizeof(path), "%s/third", dir);
	assert_false(itrace_capture_write_snapshot(&capture, path, why, sizeof(why)));
	in(why, "mtb0");
	static const char *const missing[] = { "missing.elf" };
	begin(NULL);
	capture.elfs = missing;
	assert_false(itrace_capture_write_snapshot(&capture, path, why, sizeof(why)));
	in(why, "missing.elf");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_instructions, begin),
		cmocka_unit_test_setup(test_json, begin),
		cmocka_unit_test_setup(test_same_without_seams, begin),
		cmocka_unit_test_setup(test_btrace, begin),
		cmocka_unit_test_setup(test_selection, begin),
		cmocka_unit_test_setup(test_what_it_is_belongs_to_the_object, begin),
		cmocka_unit_test_setup(test_program, begin),
		cmocka_unit_test_setup(test_ring, begin),
		cmocka_unit_test_setup(test_empty, begin),
		cmocka_unit_test_setup(test_snapshot, begin),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
