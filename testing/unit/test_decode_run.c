// SPDX-License-Identifier: GPL-2.0-or-later

/* A decode as its callers see it: text, messages, exit status, and the world around it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/decode_run.h"
#include "report_sink.h"

#define ARGUMENTS	32

/* b.ne +8; nop; ret at 0x1000 */
static const uint8_t code[] = {
	0x41, 0x00, 0x00, 0x54, 0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6
};

/* A-Sync, Trace Info, Trace On, address 0x1000 with context EL1N, N, E, address 0x1000, E */
static const uint8_t trace[] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x00, 0x04, 0x82, 0x00, 0x08, 0x00, 0x00, 0x31, 0xf6, 0xf7,
	0x9a, 0x00, 0x08, 0x00, 0x00, 0xf7
};

static char dir[] = "/tmp/itrace-test-XXXXXX";
static char path[128], code_path[128], image[160];
static char dict[4096];

static struct {
	uint8_t bytes[sizeof(code)];
	unsigned int reads, polls;
	bool stop;
} target;

static size_t read_target(void *ctx, uint64_t addr, void *dst, size_t len)
{
	uint8_t *to = dst;
	size_t n = 0;

	(void)ctx;
	target.reads++;
	while (n < len && addr + n >= 0x1000 && addr + n < 0x1000 + sizeof(code)) {
		to[n] = target.bytes[addr + n - 0x1000];
		n++;
	}
	return n;
}

static bool poll_target(void *ctx)
{
	(void)ctx;
	target.polls++;
	return target.stop;
}

static void write_file(const char *name, const void *bytes, size_t len)
{
	FILE *file = fopen(name, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t.bin", dir);
	snprintf(code_path, sizeof(code_path), "%s/code.bin", dir);
	snprintf(image, sizeof(image), "%s@0x1000", code_path);
	write_file(code_path, code, sizeof(code));
	return 0;
}

static int tear_down(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static enum itrace_decode_status run_io(const struct itrace_decode_io *io, const char *first, ...)
{
	const char *argv[ARGUMENTS];
	int argc = 0;
	va_list args;

	va_start(args, first);
	for (const char *arg = first; arg; arg = va_arg(args, const char *))
		argv[argc++] = arg;
	va_end(args);
	sink.len = 0;
	sink.text[0] = 0;
	sink.messages_len = 0;
	sink.messages[0] = 0;
	return itrace_decode_run(argv, argc, "-", io, dict, sizeof(dict));
}

#define run(...)	run_io(&sink_io, __VA_ARGS__, (const char *)NULL)

static void says(const char *text)
{
	if (!strstr(sink.messages, text))
		fail_msg("'%s' is not in:\n%s", text, sink.messages);
}

static void test_decoded(void **state)
{
	(void)state;
	sink_clear();
	write_file(path, trace, sizeof(trace));
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image), ITRACE_DECODE_OK);
	assert_non_null(strstr(sink.text, "0x0000000000001000 54000041   b.ne 0x1008"));
	says("I: trace     29 bytes: 17 decoded, 12 padding, 0 not synchronised, 0 skipped\n");
	says("I: flow      4 instructions in 3 ranges, 0 exceptions, 1 trace-on\n");
	says("I: gaps      0\n");
	says("I: code      4 from code.bin\n");
	assert_non_null(strstr(dict, "trace_len 29 decoded_len 17 padding_len 12 "));
	assert_non_null(strstr(dict, " instructions 4 ranges 3 "));
	says("registers not given (-reg), decoded with their defaults: TRCCONFIGR=");
}

static void test_gaps_have_a_status(void **state)
{
	uint8_t bytes[sizeof(trace) + 6];

	(void)state;
	/* and a branch to 0x80000 */
	memcpy(bytes, trace, sizeof(trace));
	memcpy(bytes + sizeof(trace), "\x9a\x00\x00\x08\x00\xf7", 6);
	write_file(path, bytes, sizeof(bytes));
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image), ITRACE_DECODE_GAPS);
	says("W: branched to unmapped 0x80000 from 0x1000 (byte 34)\n");
	says("I: gaps      1: 1 no memory at 0x80000 (4 bytes wanted)\n");
	write_file(path, trace, sizeof(trace));
}

static void test_nothing_says_why(void **state)
{
	(void)state;
	write_file(path, trace, sizeof(trace));
	assert_int_equal(run("-trace", path, "-framing", "raw"), ITRACE_DECODE_NOTHING);
	says("E: ");
	says("no code is known at 0x1000");
	assert_int_equal(run("-trace", path, "-framing", "raw", "-format", "packets"), ITRACE_DECODE_OK);
	assert_int_equal(run("-trace", path, "-framing", "raw", "-format", "elements"), ITRACE_DECODE_OK);

	write_file(path, "hello, world: this is no trace", 30);
	assert_int_equal(run("-trace", path, "-format", "packets"), ITRACE_DECODE_NOTHING);
	says("no A-Sync in 30 bytes");
	write_file(path, "", 0);
	assert_int_equal(run("-trace", path), ITRACE_DECODE_NOTHING);
	says("0 bytes");
	assert_int_equal(run("-trace", dir), ITRACE_DECODE_NOTHING);
	says("directory");
	assert_int_equal(run("-trace", "/nonexistent/t"), ITRACE_DECODE_NOTHING);
	says("/nonexistent/t");
	assert_int_equal(run("-snapshot", dir), ITRACE_DECODE_NOTHING);
	says("snapshot.ini");
	assert_int_equal(run("-nonsense"), ITRACE_DECODE_USAGE);
	says("E: '-nonsense': unknown option");
}

static void test_wrong_framing_is_recognised(void **state)
{
	(void)state;
	write_file(path, trace, sizeof(trace));
	assert_int_equal(run("-trace", path, "-framing", "coresight", "-trace-id", "1"), ITRACE_DECODE_NOTHING);
	says("E: ");
	assert_int_equal(run("-trace", path, "-image", image), ITRACE_DECODE_OK);
	says("I: framing raw: packets make up 100 %");
}

/* Frames that carry two trace IDs; see the index rule in cs_frame.h. */
static void frame_ids(uint8_t *frames, unsigned int ids, size_t *len)
{
	*len = 0;
	for (unsigned int id = 1; id <= ids; id++) {
		for (size_t done = 0; done < sizeof(trace); done += 14) {
			uint8_t *frame = frames + *len;

			memset(frame, 0, 16);
			/* the ID, effective at once; then 14 bytes of which every second lends its lowest bit */
			frame[0] = (uint8_t)((0x10 + id) << 1 | 1);
			for (size_t i = 0; i < 14; i++) {
				/* behind the end: Ignore packets */
				uint8_t byte = done + i < sizeof(trace) ? trace[done + i] : 0x70;
				size_t pos = i + 1;
				frame[pos] = pos & 1 ? byte : byte & 0xfe;
				if (!(pos & 1) && byte & 1)
					frame[15] |= (uint8_t)(1 << (pos / 2));
			}
			*len += 16;
		}
	}
}

static void test_one_trace_id_is_found_and_two_are_asked_about(void **state)
{
	uint8_t frames[256];
	size_t len;

	(void)state;
	frame_ids(frames, 1, &len);
	write_file(path, frames, len);
	run("-trace", path, "-image", image, "-format", "packets");
	says("I: framing coresight: ");
	assert_non_null(strstr(sink.text, "trace on"));

	frame_ids(frames, 2, &len);
	write_file(path, frames, len);
	assert_int_equal(run("-trace", path, "-framing", "coresight", "-image", image), ITRACE_DECODE_NOTHING);
	says("holds 2 trace IDs: 0x11 (");
	says("0x12 (");
	says("-all-streams");
	run("-trace", path, "-framing", "coresight", "-image", image, "-trace-id", "0x12");
	assert_null(strstr(sink.text, "==="));
	run("-trace", path, "-framing", "coresight", "-image", image, "-all-streams");
	assert_non_null(strstr(sink.text, "=== trace ID 0x11, buffer "));
	assert_non_null(strstr(sink.text, "\n=== trace ID 0x12, buffer "));
	assert_int_equal(run("-trace", path, "-framing", "coresight", "-trace-id", "0x20"), ITRACE_DECODE_NOTHING);
	says("no byte of trace with this trace ID");
	write_file(path, trace, sizeof(trace));
}

static void test_code_from_the_target(void **state)
{
	struct itrace_decode_io io = sink_io;

	(void)state;
	write_file(path, trace, sizeof(trace));
	assert_int_equal(run("-trace", path, "-framing", "raw", "-memory"), ITRACE_DECODE_NOTHING);
	says("E: -memory: there is no target");

	io.read_memory = read_target;
	memcpy(target.bytes, code, sizeof(code));
	assert_int_equal(run_io(&io, "-trace", path, "-framing", "raw", "-memory", NULL), ITRACE_DECODE_OK);
	says("I: code      4 from target memory\n");

	/* the file has all of it: the target is only compared with */
	assert_int_equal(run_io(&io, "-trace", path, "-framing", "raw", "-memory", "-image", image, NULL),
			ITRACE_DECODE_OK);
	says("I: code      4 from code.bin\n");
	assert_null(strstr(sink.messages, "differs"));
	target.bytes[5] ^= 1;
	assert_int_equal(run_io(&io, "-trace", path, "-framing", "raw", "-memory", "-image", image, NULL),
			ITRACE_DECODE_OK);
	says("W: target memory differs from the files in 1 of 1 pages that ran, first at 0x1005");
}

static void test_stops_when_asked_to(void **state)
{
	struct itrace_decode_io io = sink_io;
	FILE *file = fopen(path, "wb");

	(void)state;
	fwrite(trace, 1, sizeof(trace), file);
	/* enough to last longer than it takes to be asked */
	for (unsigned int i = 0; i < 20000000; i++)
		putc(0xf7, file);
	fclose(file);
	io.poll = poll_target;
	target.stop = true;
	target.polls = 0;
	run_io(&io, "-trace", path, "-framing", "raw", "-image", image, "-format", "packets", NULL);
	assert_true(target.polls > 0);
	says("W: stopped (interrupted): ");
	target.stop = false;

	run("-trace", path, "-framing", "raw", "-image", image, "-format", "json", "-timeout", "0.05");
	says("W: stopped (timeout): ");
	/* what was written stays whole */
	assert_int_equal(sink.text[0], '{');
	write_file(path, trace, sizeof(trace));
}

static void test_output_that_fails(void **state)
{
	char report[64];

	(void)state;
	write_file(path, trace, sizeof(trace));
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-o", "/dev/full"), ITRACE_DECODE_NOTHING);
	says("E: cannot write '/dev/full': No space left on device\n");
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-o", path), ITRACE_DECODE_NOTHING);
	says("the trace itself");
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-export", "btrace=/dev/full"),
			ITRACE_DECODE_NOTHING);
	says("E: btrace: cannot write '/dev/full'");

	sink.full = true;
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image), ITRACE_DECODE_NOTHING);
	says("E: cannot write the output: No space left on device\n");
	sink_clear();
	sink.closed = true;
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image), ITRACE_DECODE_OK);
	assert_null(strstr(sink.messages, "E: "));
	sink_clear();

	snprintf(report, sizeof(report), "%s/out", dir);
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-o", report), ITRACE_DECODE_OK);
	assert_int_equal(sink.len, 0);
	assert_int_equal(access(report, R_OK), 0);
}

static void test_snapshot_round_trip(void **state)
{
	char export[160], snapshot[128];
	char *before;

	(void)state;
	write_file(path, trace, sizeof(trace));
	snprintf(snapshot, sizeof(snapshot), "%s/snapshot", dir);
	snprintf(export, sizeof(export), "snapshot=%s", snapshot);
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-trace-id", "5", "-format",
			"opencsd-elements", "-export", export), ITRACE_DECODE_OK);
	before = strdup(sink.text);
	assert_int_equal(run("-snapshot", snapshot, "-format", "opencsd-elements"), ITRACE_DECODE_OK);
	assert_string_equal(sink.text, before);
	free(before);
	assert_int_equal(run("-snapshot", snapshot, "-export", export), ITRACE_DECODE_NOTHING);
	says("is the snapshot that is decoded");
}

static void test_selection_by_option(void **state)
{
	(void)state;
	write_file(path, trace, sizeof(trace));
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-first", "2", "-format",
			"opencsd-elements"), ITRACE_DECODE_OK);
	assert_non_null(strstr(sink.text, "exec range=0x1004:[0x1008] num_i(1)"));
	assert_null(strstr(sink.text, "0x100c"));
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-from", "0x5000"), ITRACE_DECODE_NOTHING);
	says("none of 4 instructions is selected");
	assert_int_equal(run("-trace", path, "-framing", "raw", "-image", image, "-from", "main"), ITRACE_DECODE_NOTHING);
	says("'main': there are no symbols");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decoded),
		cmocka_unit_test(test_gaps_have_a_status),
		cmocka_unit_test(test_nothing_says_why),
		cmocka_unit_test(test_wrong_framing_is_recognised),
		cmocka_unit_test(test_one_trace_id_is_found_and_two_are_asked_about),
		cmocka_unit_test(test_code_from_the_target),
		cmocka_unit_test(test_stops_when_asked_to),
		cmocka_unit_test(test_output_that_fails),
		cmocka_unit_test(test_snapshot_round_trip),
		cmocka_unit_test(test_selection_by_option),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
