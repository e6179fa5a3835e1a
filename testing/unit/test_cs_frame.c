// SPDX-License-Identifier: GPL-2.0-or-later

/* CoreSight frames: IDs, indices, syncs, DSTREAM blocks, errors, and any split of the input. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/cs_frame.h>

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))
#define RUN_NUM			4096
#define ERROR_ID		0x100u	/* a record of an error: off = error_off */
#define JOIN_ID			0x101u	/* a record of two captures that meet, likewise */

struct record {
	uint64_t off;
	unsigned int id;
	unsigned int len;
	uint8_t bytes[16];
};

struct log {
	size_t count;
	struct record records[RUN_NUM];
};

static void drain(struct itrace_cs_frame *frame, struct log *log)
{
	struct itrace_frame_run run;
	int result;

	while ((result = itrace_cs_frame_next(frame, &run))) {
		assert_true(log->count < RUN_NUM);
		struct record *record = &log->records[log->count++];
		memset(record, 0, sizeof(*record));
		if (result < 0) {
			assert_true(result == -1 || result == ITRACE_FRAME_JOIN);
			record->off = frame->error_off;
			record->id = result == -1 ? ERROR_ID : JOIN_ID;
			continue;
		}
		assert_in_range(run.len, 1, 16);
		record->off = run.off;
		record->id = run.id;
		record->len = run.len;
		memcpy(record->bytes, run.bytes, run.len);
	}
}

/* Every byte is in exactly one of the counts. */
static void check_balance(const struct itrace_cs_frame *frame, const struct log *log, size_t len)
{
	uint64_t counted[ITRACE_ID_NUM] = { 0 };
	uint64_t errors = 0;
	unsigned int rest = itrace_cs_frame_rest(frame);

	assert_int_equal(16 * frame->frame_count + frame->sync_len_total + frame->error_len + rest, len);
	assert_in_range(rest, 0, 15);
	for (size_t i = 0; i < log->count; i++) {
		if (log->records[i].id == ERROR_ID)
			errors++;
		else if (log->records[i].id != JOIN_ID)
			counted[log->records[i].id] += log->records[i].len;
	}
	assert_int_equal(errors, frame->error_count);
	assert_memory_equal(counted, frame->id_len, sizeof(counted));
}

/*
 * Decode @a len bytes in chunks: the first is @a first long, the others @a chunk (0: the rest in one). Each chunk is in
 * memory of exactly its length.
 */
static void decode_chunks(enum itrace_framing framing, const uint8_t *bytes, size_t len, uint64_t off, size_t first,
		size_t chunk, struct itrace_cs_frame *frame, struct log *log)
{
	log->count = 0;
	itrace_cs_frame_init(frame, framing);
	for (size_t pos = 0, part = first; pos < len; pos += part, part = chunk) {
		if (!part || part > len - pos)
			part = len - pos;
		uint8_t *copy = malloc(part);
		memcpy(copy, bytes + pos, part);
		itrace_cs_frame_feed(frame, off + pos, copy, part);
		drain(frame, log);
		free(copy);
		itrace_cs_frame_feed(frame, off + pos + part, NULL, 0);
		drain(frame, log);
		if (!chunk)
			chunk = len;
	}
	if (framing != ITRACE_FRAMING_RAW)
		check_balance(frame, log, len);
}

static struct log whole_log, parts_log;

static void assert_same_log(const struct log *a, const struct log *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		assert_int_equal(a->records[i].off, b->records[i].off);
		assert_int_equal(a->records[i].id, b->records[i].id);
		assert_int_equal(a->records[i].len, b->records[i].len);
		assert_memory_equal(a->records[i].bytes, b->records[i].bytes, 16);
	}
}

/* Decode as a whole into whole_log, then split at every byte, and in small chunks: always the same. */
static void decode(enum itrace_framing framing, const uint8_t *bytes, size_t len, uint64_t off,
		struct itrace_cs_frame *frame)
{
	struct itrace_cs_frame other;

	for (size_t first = 1; first < len; first++) {
		decode_chunks(framing, bytes, len, off, first, 0, &other, &parts_log);
		if (first == 1)
			decode_chunks(framing, bytes, len, off, 0, 0, frame, &whole_log);
		assert_same_log(&whole_log, &parts_log);
	}
	for (size_t chunk = 1; chunk < 20; chunk++) {
		decode_chunks(framing, bytes, len, off, chunk, chunk, &other, &parts_log);
		assert_same_log(&whole_log, &parts_log);
		assert_int_equal(other.error_count, frame->error_count);
		assert_int_equal(other.sync_len_total, frame->sync_len_total);
		assert_int_equal(other.id, frame->id);
	}
	decode_chunks(framing, bytes, len, off, 0, 0, frame, &whole_log);
}

/* One expected run: "off id: bytes", or "off error". */
static void assert_record(size_t index, const char *expected)
{
	char text[128];
	const struct record *record = &whole_log.records[index];
	int len;

	if (index >= whole_log.count)
		fail_msg("run %zu is missing: %s", index, expected);
	if (record->id == ERROR_ID || record->id == JOIN_ID) {
		snprintf(text, sizeof(text), "%llu %s", (unsigned long long)record->off,
			record->id == ERROR_ID ? "error" : "join");
	} else {
		len = snprintf(text, sizeof(text), "%llu %02x:", (unsigned long long)record->off, record->id);
		for (unsigned int i = 0; i < record->len; i++)
			len += snprintf(text + len, sizeof(text) - len, " %02x", record->bytes[i]);
	}
	assert_string_equal(text, expected);
}

static void assert_log(const char * const *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_record(i, expected[i]);
	assert_int_equal(whole_log.count, count);
}

#define EXPECT(...) do { \
	static const char * const expected_[] = { __VA_ARGS__ }; \
	assert_log(expected_, ARRAY_NUM(expected_)); \
} while (0)

#define SYNC	0xff, 0xff, 0xff, 0x7f
/* a frame that begins with ID 0x10 and holds f1 .. */
#define FRAME_10 0x21, 0xf1, 0x02, 0xf3, 0x04, 0xf5, 0x06, 0xf7, 0x08, 0xf9, 0x0a, 0xfb, 0x0c, 0xfd, 0x0e, 0x00
#define RUN_10	" 10: f1 02 f3 04 f5 06 f7 08 f9 0a fb 0c fd 0e"
/* a frame without an ID */
#define FRAME_D	0x00, 0xe1, 0x02, 0xe3, 0x04, 0xe5, 0x06, 0xe7, 0x08, 0xe9, 0x0a, 0xeb, 0x0c, 0xed, 0x0e, 0x81
#define RUN_D	" 10: 01 e1 02 e3 04 e5 06 e7 08 e9 0a eb 0c ed 0f"

/* The worked example of the protocol reference. */
static void test_example(void **state)
{
	static const uint8_t bytes[] = {
		0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x04, 0x82, 0x00, 0x08, 0x00, 0x00, 0x30, 0xf7, 0x23, 0xf6, 0xaa, 0xbb, 0x21, 0xf7, 0xda, 0x98
	};
	struct itrace_cs_frame frame;

	decode(ITRACE_FRAMING_CORESIGHT, bytes, sizeof(bytes), 0, &frame);
	EXPECT("0 10: 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
		"16 10: 04 82 00 08 00 00 31 f7 f6",
		"24 11: aa bb",
		"28 10: f7 db");
	assert_int_equal(frame.id_len[0x10], 14 + 9 + 2);
	assert_int_equal(frame.id_len[0x11], 2);
	assert_int_equal(frame.frame_count, 2);
}

static void test_id_rules(void **state)
{
	static const uint8_t same[] = {	/* the current ID again: no change, whatever the auxiliary bit */
		0x21, 0x01, 0x21, 0x03, 0x21, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x21, 0x0d, 0x20, 0x42
	};
	static const uint8_t late[] = {	/* the odd byte is still of the old ID; byte 14 is for the next frame */
		0x21, 0x01, 0x02, 0x03, 0x23, 0x05, 0x06, 0x07, 0x25, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x27, 0x84,
		0x02, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x00
	};
	static const uint8_t relabel[] = {	/* two IDs in a row: the empty run keeps its index, gets the second */
		0x21, 0x01, 0x02, 0x03, 0x23, 0x05, 0x25, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x04
	};
	static const uint8_t every[] = {	/* a change in every pair */
		0x21, 0x01, 0x23, 0x03, 0x21, 0x05, 0x23, 0x07, 0x21, 0x09, 0x23, 0x0b, 0x21, 0x0d, 0x23, 0x00,
		0x21, 0x11, 0x23, 0x13, 0x21, 0x15, 0x23, 0x17, 0x21, 0x19, 0x23, 0x1b, 0x21, 0x1d, 0x1e, 0xff
	};
	static const uint8_t before[] = {	/* before the first ID */
		0x00, 0x01, 0x02, 0x03, 0x21, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x04
	};
	struct itrace_cs_frame frame;

	decode(ITRACE_FRAMING_CORESIGHT, same, sizeof(same), 0, &frame);
	EXPECT("0 10: 01 03 05 06 07 08 09 0a 0b 0d 20");

	decode(ITRACE_FRAMING_CORESIGHT, late, sizeof(late), 100, &frame);
	EXPECT("100 10: 01 02 03 05", "104 11: 06 07", "108 12: 09 0a 0b 0c 0d",
		"116 13: 02 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e");

	decode(ITRACE_FRAMING_CORESIGHT, relabel, sizeof(relabel), 0, &frame);
	EXPECT("0 10: 01 02 03 05", "4 12: 07 08 09 0a 0b 0c 0d 0e");

	decode(ITRACE_FRAMING_CORESIGHT, every, sizeof(every), 0, &frame);
	EXPECT("0 10: 01", "2 11: 03", "4 10: 05", "6 11: 07", "8 10: 09", "10 11: 0b", "12 10: 0d",
		"16 11: 11", "16 10: 13", "18 11: 15", "20 10: 17", "22 11: 19", "24 10: 1b", "26 11: 1d", "28 10: 1f");

	decode(ITRACE_FRAMING_CORESIGHT, before, sizeof(before), 0, &frame);
	EXPECT("4 10: 06 07 08 09 0a 0b 0c 0d 0e");
	assert_int_equal(frame.no_id_len, 5);
}

/* Padding (0) and reserved IDs are handed out; 0x7f cannot be, it is a sync. */
static void test_reserved_ids(void **state)
{
	struct itrace_cs_frame frame;

	for (unsigned int id = 0; id < 0x80; id++) {
		uint8_t bytes[48] = { FRAME_10, FRAME_D, FRAME_D };
		char text[128];

		bytes[16] = (uint8_t)(id << 1 | 1);
		bytes[31] &= 0xfe;
		bytes[40] |= 1;		/* ID 4 later on */
		decode(ITRACE_FRAMING_CORESIGHT, bytes, sizeof(bytes), 0, &frame);
		assert_record(0, "0" RUN_10);
		if (id == 0x7f) {
			assert_record(1, "16 error");
			assert_int_equal(frame.error_count, 1);
			assert_int_equal(frame.error_len, 16);
			assert_record(2, "40 04: e9 0a eb 0c ed 0f");
			continue;
		}
		snprintf(text, sizeof(text), "16 %02x: e1 02 e3 04 e5 06 e7 08 e9 0a eb 0c ed 0f", id);
		assert_record(1, text);
		assert_int_equal(frame.error_count, 0);
		assert_true(frame.id_len[id] >= 14);
	}
}

/* The last byte of a frame as the impossible ID, and each other place of it. */
static void test_impossible_id(void **state)
{
	struct itrace_cs_frame frame;

	for (unsigned int pair = 0; pair < 8; pair++) {
		uint8_t bytes[48] = { FRAME_10, FRAME_10, FRAME_10 };

		bytes[16 + 2 * pair] = 0xff;
		decode(ITRACE_FRAMING_CORESIGHT, bytes, sizeof(bytes), 0, &frame);
		EXPECT("0" RUN_10, "16 error", "32" RUN_10);
	}
}

/* A frame of full syncs in aligned frames, as perf writes it where two captures meet: the ID behind it is not known. */
static void test_barrier(void **state)
{
	static const uint8_t bytes[] = { FRAME_10, SYNC, SYNC, SYNC, SYNC, FRAME_D, FRAME_10 };
	struct itrace_cs_frame frame;

	decode(ITRACE_FRAMING_CORESIGHT, bytes, sizeof(bytes), 0, &frame);
	EXPECT("0" RUN_10, "16 join", "48" RUN_10);
	assert_int_equal(frame.sync_len_total, 16);
	assert_int_equal(frame.no_id_len, 15);
}

static void test_full_sync(void **state)
{
	static const uint8_t bytes[] = {
		0x12, 0xff, 0xff, 0x00, SYNC, FRAME_10, FRAME_D, SYNC, FRAME_D, SYNC, SYNC, FRAME_D
	};
	static const uint8_t odd[] = { 0x12, 0xff, SYNC, FRAME_10, SYNC, 0x00 };
	static const uint8_t none[] = { FRAME_10, FRAME_D };
	static const uint8_t half[] = { FRAME_10, 0xff, 0xff };
	struct itrace_cs_frame frame;

	decode(ITRACE_FRAMING_TPIU, bytes, sizeof(bytes), 0, &frame);
	EXPECT("8" RUN_10, "24" RUN_D, "44" RUN_D, "68" RUN_D);
	assert_int_equal(frame.sync_len_total, 20);

	decode(ITRACE_FRAMING_TPIU, odd, sizeof(odd), 1000, &frame);
	EXPECT("1006" RUN_10);
	assert_int_equal(itrace_cs_frame_rest(&frame), 1);

	decode(ITRACE_FRAMING_TPIU, none, sizeof(none), 0, &frame);
	assert_int_equal(whole_log.count, 0);
	assert_int_equal(frame.sync_len_total, sizeof(none));
	assert_false(frame.synced);

	uint8_t cut[4 + sizeof(half)] = { SYNC };
	memcpy(cut + 4, half, sizeof(half));
	for (size_t len = 20; len <= sizeof(cut); len++) {
		decode(ITRACE_FRAMING_TPIU, cut, len, 0, &frame);
		EXPECT("4" RUN_10);
		assert_int_equal(itrace_cs_frame_rest(&frame), len - 20);
	}
}

/*
 * FF 7F at each offset of a frame. Between two halfwords it is a half sync, and vanishes. At an odd offset it is not:
 * the FF is the odd byte of a pair, the 7F an even one, which is an ID.
 */
static void test_half_sync(void **state)
{
	static const uint8_t plain[] = { SYNC, FRAME_10, FRAME_D, FRAME_D };
	struct itrace_cs_frame frame;

	for (unsigned int at = 0; at <= 16; at++) {
		uint8_t bytes[sizeof(plain) + 2];
		unsigned int start = 20 + at;

		memcpy(bytes, plain, start);
		bytes[start] = 0xff;
		bytes[start + 1] = 0x7f;
		memcpy(bytes + start + 2, plain + start, sizeof(plain) - start);
		decode(ITRACE_FRAMING_TPIU, bytes, sizeof(bytes), 0, &frame);
		assert_int_equal(frame.error_count, 0);
		assert_record(0, "4" RUN_10);
		if (at % 2) {
			assert_int_equal(frame.sync_len_total, 4);
			assert_int_equal(itrace_cs_frame_rest(&frame), 2);
			continue;
		}
		assert_int_equal(frame.sync_len_total, 6);
		assert_int_equal(itrace_cs_frame_rest(&frame), 0);
		assert_record(1, at ? "20" RUN_D : "22" RUN_D);
		assert_record(2, "38" RUN_D);
		assert_int_equal(whole_log.count, 3);
	}
}

/* Half syncs everywhere, several in a row. */
static void test_many_half_syncs(void **state)
{
	static const uint8_t frame_10[] = { FRAME_10 };
	uint8_t bytes[4 + 8 * (2 + 6) + 2] = { SYNC };
	size_t len = 4;
	struct itrace_cs_frame frame;

	for (unsigned int pair = 0; pair < 8; pair++) {
		memcpy(bytes + len, frame_10 + 2 * pair, 2);
		len += 2;
		for (unsigned int i = 0; i < pair % 4; i++) {
			bytes[len++] = 0xff;
			bytes[len++] = 0x7f;
		}
	}
	decode(ITRACE_FRAMING_TPIU, bytes, len, 0, &frame);
	EXPECT("4" RUN_10);
	assert_int_equal(frame.sync_len_total, 4 + 2 * 2 * (0 + 1 + 2 + 3));
}

/* A full sync in a frame, at each offset: the frame is lost, the sync is found, nothing else happens. */
static void test_sync_in_frame(void **state)
{
	static const uint8_t plain[] = { SYNC, FRAME_10, FRAME_D };
	struct itrace_cs_frame frame;

	for (unsigned int at = 1; at < 16; at++) {
		uint8_t bytes[4 + 16 + 16 + 4 + 16] = { 0 };
		size_t len = 20 + at;
		char text[128];

		memcpy(bytes, plain, len);
		memcpy(bytes + len, plain, 20);		/* SYNC FRAME_10 */
		len += 20;
		decode(ITRACE_FRAMING_TPIU, bytes, len, 0, &frame);
		snprintf(text, sizeof(text), "%u%s", 20 + at + 4, RUN_10);
		assert_record(0, "4" RUN_10);
		assert_int_equal(frame.error_count, 1);
		if (at == 15) {		/* the first FF completes the frame */
			assert_record(1, "20 10: 01 e1 03 e3 05 e5 07 e7 09 e9 0b eb 0d ed 0f");
			assert_record(2, "36 error");
			assert_record(3, text);
			continue;
		}
		assert_record(1, "20 error");
		assert_record(2, text);
		assert_int_equal(whole_log.count, 3);
		/* at an odd offset the byte before the sync made a pair with its first FF */
		assert_int_equal(frame.error_len, at + at % 2);
	}
}

static void test_bad_sync(void **state)
{
	static const uint8_t mid[] = { SYNC, FRAME_10, 0x00, 0x01, 0xff, 0xff, FRAME_D, SYNC, FRAME_D, FRAME_10 };
	static const uint8_t bad[] = { SYNC, FRAME_10, 0xff, 0xff, 0xff, 0x00, FRAME_D, SYNC, FRAME_10 };
	static const uint8_t worse[] = { SYNC, FRAME_10, 0xff, 0xff, 0x00, 0x00, FRAME_D, SYNC, FRAME_10 };
	static const uint8_t id[] = { SYNC, FRAME_10, 0xff, 0x12, FRAME_D, SYNC, FRAME_10 };
	static const uint8_t longer[] = { SYNC, FRAME_10, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, FRAME_10 };
	static const uint8_t shifted[] = { SYNC, FRAME_10, 0x00, SYNC, FRAME_10 };
	/* the last byte of a frame is FF, and a byte of the sync behind it was lost */
	static const uint8_t tail[] = {
		SYNC, 0x21, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0xff,
		0xff, 0xff, 0x7f, FRAME_10
	};
	struct itrace_cs_frame frame;

	decode(ITRACE_FRAMING_TPIU, mid, sizeof(mid), 0, &frame);
	EXPECT("4" RUN_10, "20 error", "60" RUN_10);
	assert_int_equal(frame.error_len, 2);
	assert_int_equal(frame.no_id_len, 15);

	decode(ITRACE_FRAMING_TPIU, bad, sizeof(bad), 0, &frame);
	EXPECT("4" RUN_10, "20 error", "44" RUN_10);
	decode(ITRACE_FRAMING_TPIU, worse, sizeof(worse), 0, &frame);
	EXPECT("4" RUN_10, "20 error", "44" RUN_10);
	decode(ITRACE_FRAMING_TPIU, id, sizeof(id), 0, &frame);
	EXPECT("4" RUN_10, "20 error", "42" RUN_10);
	decode(ITRACE_FRAMING_TPIU, longer, sizeof(longer), 0, &frame);
	EXPECT("4" RUN_10, "20 error", "26" RUN_10);
	decode(ITRACE_FRAMING_TPIU, shifted, sizeof(shifted), 0, &frame);
	EXPECT("4" RUN_10, "20 error", "25" RUN_10);
	decode(ITRACE_FRAMING_TPIU, tail, sizeof(tail), 0, &frame);
	EXPECT("4 10: 03 03 05 05 07 07 09 09 0b 0b 0d 0d 0f", "20 error", "23" RUN_10);
}

/* 504 bytes of frames with full syncs, 8 bytes of footer, which may look like anything. */
static void test_dstream(void **state)
{
	static const uint8_t frame_d[] = { FRAME_D };
	static const uint8_t frame_10[] = { FRAME_10 };
	static const uint8_t sync[] = { SYNC };
	static uint8_t bytes[3 * 512];
	static uint64_t offs[3 * 512 / 16];
	uint8_t stream[3 * 504];
	size_t len = 0;
	size_t frame_num = 0;
	struct itrace_cs_frame frame;

	/* syncs so that one of them, and some frames, stand across a footer */
	while (len + 20 <= sizeof(stream)) {
		if (!frame_num || len == 502 || frame_num % 9 == 3) {
			memcpy(stream + len, sync, 4);
			len += 4;
		}
		offs[frame_num++] = len + len / 504 * 8;
		memcpy(stream + len, frame_num == 1 ? frame_10 : frame_d, 16);
		len += 16;
	}
	size_t rest = sizeof(stream) - len;
	memset(stream + len, 0x10, rest);

	for (unsigned int block = 0; block < 3; block++) {
		memcpy(bytes + 512 * block, stream + 504 * block, 504);
		memcpy(bytes + 512 * block + 504, sync, 4);
		memset(bytes + 512 * block + 508, block ? 0xff : 0x21, 4);
	}
	decode_chunks(ITRACE_FRAMING_DSTREAM, bytes, sizeof(bytes), 0, 0, 0, &frame, &whole_log);
	assert_int_equal(frame.error_count, 0);
	assert_int_equal(whole_log.count, frame_num);
	for (size_t i = 0; i < frame_num; i++)
		assert_int_equal(whole_log.records[i].off, offs[i]);
	assert_record(0, "4" RUN_10);
	assert_int_equal(itrace_cs_frame_rest(&frame), rest);

	struct itrace_cs_frame other;
	for (size_t first = 1; first < sizeof(bytes); first++) {
		decode_chunks(ITRACE_FRAMING_DSTREAM, bytes, sizeof(bytes), 0, first, 0, &other, &parts_log);
		assert_same_log(&whole_log, &parts_log);
	}
	for (size_t chunk = 1; chunk < 600; chunk += 7) {
		decode_chunks(ITRACE_FRAMING_DSTREAM, bytes, sizeof(bytes), 0, chunk, chunk, &other, &parts_log);
		assert_same_log(&whole_log, &parts_log);
	}
}

/* DSTREAM has no half syncs. */
static void test_dstream_half_sync(void **state)
{
	static const uint8_t bytes[] = { SYNC, FRAME_10, 0x00, 0x01, 0xff, 0x7f, FRAME_D, SYNC, FRAME_10 };
	struct itrace_cs_frame frame;

	decode(ITRACE_FRAMING_DSTREAM, bytes, sizeof(bytes), 0, &frame);
	EXPECT("4" RUN_10, "20 error", "44" RUN_10);
}

static void test_raw(void **state)
{
	uint8_t bytes[40];
	struct itrace_cs_frame frame;
	size_t len = 0;

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37);
	decode_chunks(ITRACE_FRAMING_RAW, bytes, sizeof(bytes), 7, 5, 0, &frame, &whole_log);
	for (size_t i = 0; i < whole_log.count; i++) {
		assert_int_equal(whole_log.records[i].id, ITRACE_ID_NONE);
		assert_int_equal(whole_log.records[i].off, 7 + len);
		assert_memory_equal(whole_log.records[i].bytes, bytes + len, whole_log.records[i].len);
		len += whole_log.records[i].len;
	}
	assert_int_equal(len, sizeof(bytes));
	assert_int_equal(itrace_cs_frame_rest(&frame), 0);
}

/* A frame that is not complete, of every length. */
static void test_rest(void **state)
{
	static const uint8_t bytes[] = { FRAME_10, FRAME_D };
	struct itrace_cs_frame frame;

	for (unsigned int len = 0; len <= 32; len++) {
		decode_chunks(ITRACE_FRAMING_CORESIGHT, bytes, len, 0, 0, 0, &frame, &whole_log);
		assert_int_equal(itrace_cs_frame_rest(&frame), len % 16);
		assert_int_equal(whole_log.count, len / 16);
	}
}

/* Two pieces whose offsets are not adjacent: a frame has the offset of its first byte. */
static void test_offsets(void **state)
{
	static const uint8_t bytes[] = { FRAME_10, FRAME_D };
	struct itrace_cs_frame frame;

	itrace_cs_frame_init(&frame, ITRACE_FRAMING_CORESIGHT);
	whole_log.count = 0;
	itrace_cs_frame_feed(&frame, 5000, bytes, 20);
	drain(&frame, &whole_log);
	itrace_cs_frame_feed(&frame, 0, bytes + 20, 12);
	drain(&frame, &whole_log);
	EXPECT("5000" RUN_10, "5016" RUN_D);
}

/* What a formatter would make of bytes of several IDs, written from the frame format, is read back. */
static void test_round_trip(void **state)
{
	static uint8_t bytes[16 * 600];
	static struct { uint8_t id, byte; } data[16 * 600];
	uint32_t random = 1;
	struct itrace_cs_frame frame;

	for (unsigned int round = 0; round < 20; round++) {
		size_t data_num = 0;
		uint8_t current = ITRACE_ID_NONE;	/* of the formatter */
		uint8_t id = 1;

		for (size_t start = 0; start < sizeof(bytes); start += 16) {
			uint8_t *out = bytes + start;
			memset(out, 0, 16);
			for (unsigned int pair = 0; pair < 8; pair++) {
				random = random * 1664525 + 1013904223;
				uint8_t even = (uint8_t)(random >> 24);
				uint8_t odd = (uint8_t)(random >> 16);
				if ((random >> 8 & 0xf) < round)
					id = (uint8_t)((random >> 12 & 7) + 1);
				if (id == current) {
					out[2 * pair] = even & 0xfe;
					out[15] |= (even & 1) << pair;
					data[data_num].id = id;
					data[data_num++].byte = even;
				} else {
					bool late = pair < 7 && current != ITRACE_ID_NONE && random & 0x40;
					out[2 * pair] = (uint8_t)(id << 1 | 1);
					if (late) {
						out[15] |= 1 << pair;
						data[data_num].id = current;
						data[data_num++].byte = out[2 * pair + 1] = odd;
					}
					current = id;
					if (late)
						continue;
				}
				if (pair < 7) {
					out[2 * pair + 1] = odd;
					data[data_num].id = id;
					data[data_num++].byte = odd;
				}
			}
		}
		decode_chunks(ITRACE_FRAMING_CORESIGHT, bytes, sizeof(bytes), 0, 0, 0, &frame, &whole_log);
		size_t at = 0;
		for (size_t i = 0; i < whole_log.count; i++) {
			for (unsigned int k = 0; k < whole_log.records[i].len; k++, at++) {
				assert_true(at < data_num);
				assert_int_equal(whole_log.records[i].id, data[at].id);
				assert_int_equal(whole_log.records[i].bytes[k], data[at].byte);
			}
		}
		assert_int_equal(at, data_num);
	}
}

/* Any bytes: progress, balance, the same for each split. */
static void test_hostile(void **state)
{
	static const uint8_t likely[] = { 0xff, 0x7f, 0xff, 0xff, 0x21, 0x23, 0x00, 0x01 };
	static uint8_t bytes[1500];
	uint32_t random = 7;
	struct itrace_cs_frame frame, other;

	for (unsigned int round = 0; round < 300; round++) {
		enum itrace_framing framing = ITRACE_FRAMING_CORESIGHT + round % 3;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random = random * 1664525 + 1013904223;
			bool pick = (random >> 8 & 0xff) < round;
			bytes[i] = pick ? likely[random >> 29] : (uint8_t)(random >> 20 & 0xfe);
			if (random >> 16 == 0x1234 && i + 4 <= sizeof(bytes))
				memcpy(bytes + i, (const uint8_t[]){ SYNC }, 4);
		}
		memcpy(bytes, (const uint8_t[]){ SYNC }, 4);
		decode_chunks(framing, bytes, sizeof(bytes), 0, 0, 0, &frame, &whole_log);
		for (size_t chunk = 1; chunk < 40; chunk += 3) {
			decode_chunks(framing, bytes, sizeof(bytes), 0, chunk, chunk, &other, &parts_log);
			assert_same_log(&whole_log, &parts_log);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_id_rules),
		cmocka_unit_test(test_reserved_ids),
		cmocka_unit_test(test_impossible_id),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_full_sync),
		cmocka_unit_test(test_half_sync),
		cmocka_unit_test(test_many_half_syncs),
		cmocka_unit_test(test_sync_in_frame),
		cmocka_unit_test(test_bad_sync),
		cmocka_unit_test(test_dstream),
		cmocka_unit_test(test_dstream_half_sync),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
