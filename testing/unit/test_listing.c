// SPDX-License-Identifier: GPL-2.0-or-later

/* What listings and exports make of a handful of events. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/btrace.h"
#include "report/json.h"
#include "report/ledger_report.h"
#include "report/listing.h"
#include "report/summary.h"
#include "report_events.h"
#include "report_sink.h"

#define ARRAY_LEN(array)	(sizeof(array) / sizeof((array)[0]))
#define EL1N	(1u | ITRACE_CONTEXT_NS | ITRACE_CONTEXT_SF)

static struct itrace_program program;
static struct itrace_output out;
static struct itrace_ledger ledger;
static const struct itrace_stream_info info = { .buffer = "b", .trace_id = 0x10, .number = 1, .count = 1 };

/* A loop that runs three times, an interrupt in it, and a branch to nowhere. */
static unsigned int story(struct itrace_event *events)
{
	const struct itrace_event list[] = {
		other(ITRACE_EVENT_NO_SYNC, ITRACE_NO_SYNC_INIT),
		trace_on(),
		context(EL1N, 0),
		call(0x1000, 2),
		ret(0x2000, 1),
		jump(0x1008, 2),
		jump(0x1008, 2),
		jump(0x1008, 2),
		plain(0x1008, 1),
		exception(0x0e, 0x100c),
		eret(0x8000, 3),
		other(ITRACE_EVENT_EXCEPTION_RETURN, 0),
		context(EL1N, 0),
		a64_range(0x100c, 1, ITRACE_INSN_INDIRECT, TAKEN),
		gap(ITRACE_GAP_NO_MEMORY, 0x9000),
		other(ITRACE_EVENT_END, 0),
	};

	memcpy(events, list, sizeof(list));
	return ARRAY_LEN(list);
}

static void write_all(struct itrace_mouth *mouth, const struct itrace_stream_info *stream)
{
	struct itrace_event events[32];
	char why[200];
	unsigned int n = story(events);

	assert_non_null(mouth);
	itrace_ledger_init(&ledger);
	itrace_ledger_count(&ledger, events, n);
	itrace_mouth_begin(mouth, stream);
	/* how events are grouped must not matter */
	itrace_mouth_events(mouth, events, 1);
	itrace_mouth_events(mouth, events + 1, n - 1);
	itrace_mouth_end(mouth);
	itrace_mouth_finish(mouth, &ledger);
	itrace_mouth_free(mouth);
	assert_true(itrace_output_close(&out, why, sizeof(why)));
}

static void list(enum itrace_format format, bool fold, const char *expected)
{
	char why[200];

	sink_clear();
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	write_all(itrace_listing_new(format, &program, &out, fold), &info);
	if (expected)
		assert_string_equal(sink.text, expected);
}

static void test_functions(void **state)
{
	(void)state;
	list(ITRACE_FORMAT_FUNCTIONS, false,
			"-- trace on\n"
			"-- context EL1 non-secure AArch64\n"
			"begin     0x00001000                                     2\n"
			"call      0x00002000                                     1\n"
			"return    0x00001008                                     7\n"
			"-- exception IRQ (0x0e), returns to 0x0000100c\n"
			"handler   0x00008000                                     3\n"
			"resume    0x0000100c                                     1\n"
			"-- gap: no memory at 0x9000, byte 0, reached from 0x0000100c\n");
}

static void test_calls(void **state)
{
	(void)state;
	list(ITRACE_FORMAT_CALLS, false,
			"           0  0x00001000\n"
			"           2    0x00002000\n"
			"          10    [IRQ] 0x00008000\n"
			"          14  -- gap: no memory at 0x9000, byte 0\n");
}

static void test_instructions_fold(void **state)
{
	(void)state;
	list(ITRACE_FORMAT_INSTRUCTIONS, true, NULL);
	assert_non_null(strstr(sink.text, "\n  \u00d7 3\n"));
	const char *first = strstr(sink.text, "0x0000000000001008");
	assert_non_null(first);
	/* once in the loop, once when it is left */
	const char *second = strstr(first + 1, "0x0000000000001008");
	assert_non_null(second);
	assert_null(strstr(second + 1, "0x0000000000001008"));

	list(ITRACE_FORMAT_INSTRUCTIONS, false, NULL);
	assert_null(strstr(sink.text, "\u00d7"));
}

static void test_exceptions_and_contexts(void **state)
{
	(void)state;
	list(ITRACE_FORMAT_EXCEPTIONS, false,
			"          10  IRQ (0x0e) at 0x0000100c -> 0x00008000\n"
			"          13  return to 0x0000100c, 3 instructions after IRQ (0x0e)\n");
	list(ITRACE_FORMAT_CONTEXTS, false,
			"           0          14  EL1 non-secure AArch64\n");
}

static void test_hot(void **state)
{
	(void)state;
	list(ITRACE_FORMAT_HOT, false, NULL);
	/* the loop's block first: three times two instructions and one more */
	assert_non_null(strstr(sink.text, "             7  50.00            4  0x00001008\n"));
}

static void test_opencsd_elements_between_session_marks(void **state)
{
	const struct itrace_stream_info session = {
		.buffer = "ETB_2", .trace_id = 1, .number = 1, .count = 2, .headed = true
	};
	char why[200];

	(void)state;
	sink_clear();
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	write_all(itrace_listing_new(ITRACE_FORMAT_OPENCSD_ELEMENTS, &program, &out, false), &session);
	const char *begin = "####### Multi Session decode: Buffer 1 of 2; Source name = ETB_2.\nIdx:0; ID:1; ";
	assert_true(!strncmp(sink.text, begin, strlen(begin)));
	assert_non_null(strstr(sink.text, "\n####### Buffer 1 : ETB_2 Complete\n"));
	assert_non_null(strstr(sink.text, "exec range=0x1000:[0x1008] num_i(2)"));
}

static void test_heading(void **state)
{
	struct itrace_stream_info second = {
		.buffer = "ETB", .source = "ETM_0", .trace_id = 0x10, .number = 2, .count = 2, .headed = true
	};
	char why[200];

	(void)state;
	sink_clear();
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	itrace_listing_heading(&out, &second);
	second.headed = false;
	itrace_listing_heading(&out, &second);
	assert_true(itrace_output_close(&out, why, sizeof(why)));
	assert_string_equal(sink.text, "\n=== ETM_0, trace ID 0x10, buffer ETB ===\n");
}

static void test_json_ends_with_the_ledger(void **state)
{
	(void)state;
	list(ITRACE_FORMAT_JSON, false, NULL);
	unsigned int lines = 0;
	const char *last = NULL;
	for (char *line = strtok(sink.text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_int_equal(line[0], '{');
		assert_int_equal(line[strlen(line) - 1], '}');
		last = line;
		lines++;
	}
	assert_int_equal(lines, 1 + 16 + 1);
	assert_true(!strncmp(last, "{\"kind\":\"ledger\",", 17));
	assert_non_null(strstr(last, "\"instructions\":14,\"ranges\":8,\"exceptions\":1,\"trace_on\":1,"));
	assert_non_null(strstr(last, "\"gap\":{\"no-memory\":{\"count\":1,"));
}

static void test_json_strings(void **state)
{
	char why[200];

	(void)state;
	sink_clear();
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	itrace_json_begin(&out, "x");
	itrace_json_string(&out, "s", "a\"b\\c\n\x01\x7f \xc3\xa9 \xff \xc3 \xed\xa0\x80 \xf0\x9f\x98\x80");
	itrace_json_number(&out, "n", UINT64_MAX);
	itrace_json_hex(&out, "h", 0);
	itrace_json_bool(&out, "b", true);
	itrace_json_end(&out);
	assert_true(itrace_output_close(&out, why, sizeof(why)));
	assert_string_equal(sink.text, "{\"kind\":\"x\",\"s\":\"a\\\"b\\\\c\\u000a\\u0001\\u007f \xc3\xa9 \\u00ff \\u00c3 "
			"\\u00ed\\u00a0\\u0080 \xf0\x9f\x98\x80\",\"n\":18446744073709551615,\"h\":\"0x0\",\"b\":true}\n");
}

static void test_ledger_lines(void **state)
{
	char line[ITRACE_LEDGER_LINE_MAX];

	(void)state;
	itrace_ledger_init(&ledger);
	ledger.trace_len = 4096;
	ledger.decoded_len = 4040;
	ledger.padding_len = 44;
	ledger.unsynced_len = 12;
	ledger.instruction_count = 21713;
	ledger.event_count[ITRACE_EVENT_RANGE] = 5120;
	ledger.event_count[ITRACE_EVENT_EXCEPTION] = 41;
	ledger.event_count[ITRACE_EVENT_TRACE_ON] = 7;
	ledger.gap_count[ITRACE_GAP_OVERFLOW] = 1;
	ledger.gap_first_off[ITRACE_GAP_OVERFLOW] = 2048;
	ledger.gap_count[ITRACE_GAP_NO_MEMORY] = 2;
	ledger.gap_first_addr[ITRACE_GAP_NO_MEMORY] = 0xffff000008080000;
	ledger.gap_first_detail[ITRACE_GAP_NO_MEMORY] = 4;
	ledger.source_count[0] = 21000;
	ledger.source_count[ITRACE_LEDGER_SOURCES] = 713;

	itrace_ledger_line(&ledger, NULL, 0, line, sizeof(line));
	assert_string_equal(line, "trace     4096 bytes: 4040 decoded, 44 padding, 12 not synchronised, 0 skipped");
	itrace_ledger_line(&ledger, NULL, 1, line, sizeof(line));
	assert_string_equal(line, "flow      21713 instructions in 5120 ranges, 41 exceptions, 7 trace-on");
	itrace_ledger_line(&ledger, NULL, 2, line, sizeof(line));
	assert_string_equal(line, "gaps      3: 2 no memory at 0xffff000008080000 (4 bytes wanted); "
			"1 overflow at byte 2048");
	itrace_ledger_line(&ledger, NULL, 3, line, sizeof(line));
	assert_string_equal(line, "code      21000 from source 0, 713 from target memory");

	itrace_ledger_init(&ledger);
	itrace_ledger_line(&ledger, NULL, 2, line, sizeof(line));
	assert_string_equal(line, "gaps      0");
	itrace_ledger_line(&ledger, NULL, 3, line, sizeof(line));
	assert_string_equal(line, "code      none");
}

/* Cut at any size the dict has as many braces open as closed, and whole keys. */
static void test_ledger_dict_is_always_a_dict(void **state)
{
	char text[2048];

	(void)state;
	itrace_ledger_init(&ledger);
	ledger.gap_count[ITRACE_GAP_OVERFLOW] = 1;
	ledger.source_count[3] = 5;
	ledger.packet_count[ITRACE_PACKET_ATOM_F1] = 9;
	ledger.packet_len[ITRACE_PACKET_ATOM_F1] = 9;
	size_t whole = itrace_ledger_dict(&ledger, NULL, text, sizeof(text));
	assert_int_equal(whole, strlen(text));
	assert_non_null(strstr(text, "gaps 1 gap {overflow {count 1 first_off 0 first_addr 0x0}} code {source\\ 3 5} "
			"packets {atom\\ format\\ 1 {9 9}}"));
	for (size_t size = 1; size <= whole + 1; size++) {
		int depth = 0;

		assert_true(itrace_ledger_dict(&ledger, NULL, text, size) < size);
		for (const char *c = text; *c; c++)
			depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
		assert_int_equal(depth, 0);
	}
}

static void test_summary_tells_what_costs(void **state)
{
	char why[200];

	(void)state;
	sink_clear();
	itrace_ledger_init(&ledger);
	ledger.trace_len = 100;
	ledger.instruction_count = 50;
	ledger.packet_count[ITRACE_PACKET_TIMESTAMP] = 10;
	ledger.packet_len[ITRACE_PACKET_TIMESTAMP] = 80;
	ledger.packet_count[ITRACE_PACKET_ATOM_F1] = 20;
	ledger.packet_len[ITRACE_PACKET_ATOM_F1] = 20;
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	itrace_summary_write(&ledger, NULL, &out);
	assert_true(itrace_output_close(&out, why, sizeof(why)));
	const char *timestamps = strstr(sink.text, "80  80.00  -timestamp off\n");
	const char *atoms = strstr(sink.text, "20  20.00  ");
	assert_true(timestamps && atoms && timestamps < atoms);
	assert_non_null(strstr(sink.text, "16.000 bits of trace an instruction"));
}

static void read_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, size - 1, file)] = 0;
	fclose(file);
}

static void test_btrace(void **state)
{
	char path[] = "/tmp/itrace-btrace-XXXXXX", text[2048];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	struct itrace_mouth *mouth = itrace_btrace_new(&program, path);
	assert_non_null(mouth);
	memset(&out, 0, sizeof(out));
	struct itrace_event events[32];
	unsigned int n = story(events);
	itrace_mouth_begin(mouth, &info);
	itrace_mouth_events(mouth, events, n);
	itrace_mouth_end(mouth);
	itrace_mouth_finish(mouth, &ledger);
	assert_null(itrace_btrace_error(mouth));
	itrace_mouth_free(mouth);
	read_file(path, text, sizeof(text));
	unlink(path);
	/* newest first; the hole stands for what the branch to nowhere did */
	assert_string_equal(text, "<btrace version=\"1.0\">\n"
			"<block begin=\"0x1\" end=\"0x0\"/>\n"
			"<block begin=\"0x100c\" end=\"0x100c\"/>\n"
			"<block begin=\"0x8000\" end=\"0x8008\"/>\n"
			"<block begin=\"0x1008\" end=\"0x1008\"/>\n"
			"<block begin=\"0x1008\" end=\"0x100c\"/>\n"
			"<block begin=\"0x1008\" end=\"0x100c\"/>\n"
			"<block begin=\"0x1008\" end=\"0x100c\"/>\n"
			"<block begin=\"0x2000\" end=\"0x2000\"/>\n"
			"<block begin=\"0x1000\" end=\"0x1004\"/>\n"
			"</btrace>\n");
}

/* More blocks than are kept in memory, in the right order. */
static void test_btrace_of_much(void **state)
{
	const unsigned int count = 200000;
	char path[] = "/tmp/itrace-btrace-XXXXXX", line[200];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	struct itrace_mouth *mouth = itrace_btrace_new(&program, path);
	itrace_mouth_begin(mouth, &info);
	for (unsigned int i = 0; i < count; i++) {
		struct itrace_event event = i + 1 < count ? jump(0x1000 + 16 * i, 2) : plain(0x1000 + 16 * i, 2);
		itrace_mouth_events(mouth, &event, 1);
	}
	itrace_mouth_end(mouth);
	itrace_mouth_finish(mouth, &ledger);
	assert_null(itrace_btrace_error(mouth));
	itrace_mouth_free(mouth);

	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	/* first the instruction that comes next */
	assert_non_null(fgets(line, sizeof(line), file));
	unsigned long long begin, end;
	assert_int_equal(sscanf(line, "<block begin=\"0x%llx\" end=\"0x%llx\"/>", &begin, &end), 2);
	assert_true(begin == end && begin == 0x1000 + 16ull * (count - 1) + 8);
	for (unsigned int i = count; i--;) {
		assert_non_null(fgets(line, sizeof(line), file));
		assert_int_equal(sscanf(line, "<block begin=\"0x%llx\" end=\"0x%llx\"/>", &begin, &end), 2);
		if (begin != 0x1000 + 16ull * i || end != begin + 4)
			fail_msg("block %u: %s", i, line);
	}
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "</btrace>\n");
	fclose(file);
	unlink(path);
}

static void test_btrace_says_when_it_cannot_write(void **state)
{
	struct itrace_mouth *mouth = itrace_btrace_new(&program, "/dev/full");
	struct itrace_event event = plain(0x1000, 2);

	(void)state;
	itrace_mouth_events(mouth, &event, 1);
	itrace_mouth_end(mouth);
	itrace_mouth_finish(mouth, &ledger);
	assert_non_null(itrace_btrace_error(mouth));
	assert_non_null(strstr(itrace_btrace_error(mouth), "/dev/full"));
	itrace_mouth_free(mouth);
}

static void test_output_failures(void **state)
{
	char why[200];

	(void)state;
	sink_clear();
	sink.closed = true;
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	itrace_output_text(&out, "x");
	itrace_output_flush(&out);
	assert_true(itrace_output_stopped(&out));
	/* nothing to complain of */
	assert_true(itrace_output_close(&out, why, sizeof(why)));

	sink_clear();
	sink.full = true;
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	itrace_output_text(&out, "x");
	assert_false(itrace_output_close(&out, why, sizeof(why)));
	assert_non_null(strstr(why, "No space"));

	assert_true(itrace_output_open(&out, "/dev/full", &sink_io, why, sizeof(why)));
	for (unsigned int i = 0; i < 100000; i++)
		itrace_output_text(&out, "many lines\n");
	assert_true(itrace_output_stopped(&out));
	assert_false(itrace_output_close(&out, why, sizeof(why)));
	assert_non_null(strstr(why, "/dev/full"));

	assert_false(itrace_output_open(&out, "/nonexistent/file", &sink_io, why, sizeof(why)));
	assert_non_null(strstr(why, "/nonexistent/file"));
}

static void test_output_of_any_length(void **state)
{
	static char line[3 * ITRACE_OUTPUT_ROOM_MAX];
	char why[200];

	(void)state;
	sink_clear();
	memset(line, 'a', sizeof(line));
	assert_true(itrace_output_open(&out, NULL, &sink_io, why, sizeof(why)));
	itrace_output_bytes(&out, line, sizeof(line));
	itrace_output_decimal(&out, 42, 5);
	itrace_output_hex(&out, 0xabc, 6);
	itrace_output_hex(&out, 0, 1);
	uint64_t start = out.total_len;
	itrace_output_text(&out, "12");
	itrace_output_column(&out, start, 4);
	itrace_output_column(&out, start, 1);
	itrace_output_format(&out, "%d", 7);
	assert_true(itrace_output_close(&out, why, sizeof(why)));
	assert_int_equal(sink.len, sizeof(line) + strlen("   42000abc012   7"));
	assert_string_equal(sink.text + sizeof(line), "   42000abc012   7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_instructions_fold),
		cmocka_unit_test(test_exceptions_and_contexts),
		cmocka_unit_test(test_hot),
		cmocka_unit_test(test_opencsd_elements_between_session_marks),
		cmocka_unit_test(test_heading),
		cmocka_unit_test(test_json_ends_with_the_ledger),
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_ledger_lines),
		cmocka_unit_test(test_ledger_dict_is_always_a_dict),
		cmocka_unit_test(test_summary_tells_what_costs),
		cmocka_unit_test(test_btrace),
		cmocka_unit_test(test_btrace_of_much),
		cmocka_unit_test(test_btrace_says_when_it_cannot_write),
		cmocka_unit_test(test_output_failures),
		cmocka_unit_test(test_output_of_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
