// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/*
 * Packets of a Micro Trace Buffer, the order of its ring, and their lines of text: each row worked by hand.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/mtb_packet.h>
#include <itrace/mtb_ring.h>
#include <itrace/text.h>

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))

/* Packets */

struct packet_row {
	const char *bytes;	/* as in memory */
	uint32_t source, destination;
	bool atomic, start;
	enum itrace_mtb_kind kind;
	const char *packet, *element;
};

static const struct packet_row packet_rows[] = {
	{	/* exception taken at 0x100, handler 0x200 */
		"\x01\x01\x00\x00\x00\x02\x00\x00", 0x100, 0x200, true, false, ITRACE_MTB_EXCEPTION,
		"     128  00000101 00000200 exception entry: 0x00000100 -> 0x00000200, A",
		"     128  exception, returns to 0x00000100, handler 0x00000200"
	}, {	/* first packet of a trace: a loop */
		"\x24\x01\x00\x00\x21\x01\x00\x00", 0x124, 0x120, false, true, ITRACE_MTB_BRANCH,
		"     128  00000124 00000121 branch: 0x00000124 -> 0x00000120, S",
		"     128  trace on, branch at 0x00000124 to 0x00000120"
	}, {	/* the two halves of an exception return */
		"\x10\x02\x00\x00\xf8\xff\xff\xff", 0x210, 0xfffffff8, false, false, ITRACE_MTB_RETURN,
		"     128  00000210 fffffff8 return begins: 0x00000210 -> 0xfffffff8",
		"     128  return by the instruction at 0x00000210, EXC_RETURN 0xfffffff9"
	}, {
		"\xf9\xff\xff\xff\x00\x01\x00\x00", 0xfffffff8, 0x100, true, false, ITRACE_MTB_RESUME,
		"     128  fffffff9 00000100 return ends: 0xfffffff8 -> 0x00000100, A",
		"     128  returned by EXC_RETURN 0xfffffff9, goes on at 0x00000100"
	}, {	/* to handler mode: bit 0 of 0xfffffff1 is lost */
		"\x10\x02\x00\x00\xf0\xff\xff\xff", 0x210, 0xfffffff0, false, false, ITRACE_MTB_RETURN,
		"     128  00000210 fffffff0 return begins: 0x00000210 -> 0xfffffff0",
		"     128  return by the instruction at 0x00000210, EXC_RETURN 0xfffffff1"
	}, {	/* Armv8-M: secure, thread, process stack */
		"\x10\x02\x00\x00\xfc\xff\xff\xff", 0x210, 0xfffffffc, false, false, ITRACE_MTB_RETURN,
		"     128  00000210 fffffffc return begins: 0x00000210 -> 0xfffffffc",
		"     128  return by the instruction at 0x00000210, EXC_RETURN 0xfffffffd"
	}, {	/* Armv8-M: non-secure, with floating point, process stack */
		"\x10\x02\x00\x00\xac\xff\xff\xff", 0x210, 0xffffffac, false, false, ITRACE_MTB_RETURN,
		"     128  00000210 ffffffac return begins: 0x00000210 -> 0xffffffac",
		"     128  return by the instruction at 0x00000210, EXC_RETURN 0xffffffad"
	}, {	/* the return of a secure function to its non-secure caller */
		"\x10\x02\x00\x00\xfe\xff\xff\xfe", 0x210, 0xfefffffe, false, false, ITRACE_MTB_RETURN,
		"     128  00000210 fefffffe return begins: 0x00000210 -> 0xfefffffe",
		"     128  return by the instruction at 0x00000210, FNC_RETURN 0xfeffffff"
	}, {	/* lock-up, both addresses */
		"\x11\x02\x00\x00\xfe\xff\xff\xff", 0x210, 0xfffffffe, true, false, ITRACE_MTB_LOCKUP,
		"     128  00000211 fffffffe lock-up: 0x00000210 -> 0xfffffffe, A",
		"     128  exception, returns to 0x00000210, lock-up 0xfffffffe"
	}, {
		"\x10\x02\x00\x00\xfe\xff\xff\xef", 0x210, 0xeffffffe, false, false, ITRACE_MTB_LOCKUP,
		"     128  00000210 effffffe lock-up: 0x00000210 -> 0xeffffffe",
		"     128  exception by the instruction at 0x00000210, lock-up 0xeffffffe"
	}, {	/* a device address is code as far as a packet knows */
		"\x10\x02\x00\x00\x00\x00\x00\xe0", 0x210, 0xe0000000, false, false, ITRACE_MTB_BRANCH,
		"     128  00000210 e0000000 branch: 0x00000210 -> 0xe0000000",
		"     128  branch at 0x00000210 to 0xe0000000"
	}, {	/* memory that was never written is a packet, too */
		"\x00\x00\x00\x00\x00\x00\x00\x00", 0, 0, false, false, ITRACE_MTB_BRANCH,
		"     128  00000000 00000000 branch: 0x00000000 -> 0x00000000",
		"     128  branch at 0x00000000 to 0x00000000"
	}
};

static void test_packets(void **state)
{
	for (size_t i = 0; i < ARRAY_NUM(packet_rows); i++) {
		const struct packet_row *row = &packet_rows[i];
		struct itrace_mtb_packet packet = { .off = 128 };
		char line[ITRACE_TEXT_MAX];

		/* the heap's red zones tell when a byte too many is read */
		uint8_t *bytes = malloc(ITRACE_MTB_PACKET_LEN);
		memcpy(bytes, row->bytes, ITRACE_MTB_PACKET_LEN);
		assert_int_equal(itrace_mtb_packet_read(bytes, ITRACE_MTB_PACKET_LEN, &packet), ITRACE_MTB_PACKET_LEN);
		free(bytes);
		assert_int_equal(packet.source, row->source);
		assert_int_equal(packet.destination, row->destination);
		assert_int_equal(packet.atomic, row->atomic);
		assert_int_equal(packet.start, row->start);
		assert_int_equal(packet.kind, row->kind);
		itrace_text_mtb_packet(&packet, line, sizeof(line));
		assert_string_equal(line, row->packet);
		itrace_text_mtb_element(&packet, line, sizeof(line));
		assert_string_equal(line, row->element);
	}
}

static void test_need_more(void **state)
{
	for (size_t len = 0; len < ITRACE_MTB_PACKET_LEN; len++) {
		struct itrace_mtb_packet packet;
		uint8_t *bytes = calloc(1, len + 1);
		uint8_t *end = realloc(bytes, len ? len : 1);

		assert_int_equal(itrace_mtb_packet_read(end, len, &packet), ITRACE_NEED_MORE);
		free(end);
	}
}

static void test_text_is_cut(void **state)
{
	struct itrace_mtb_packet packet = { .off = UINT64_MAX, .source = 0xfffffff8, .destination = 0xfefffffe,
		.atomic = true, .start = true };

	for (unsigned int kind = 0; kind <= ITRACE_MTB_KIND_NUM; kind++) {
		packet.kind = (uint8_t)kind;
		for (size_t size = 0; size < 120; size++) {
			char *buf = malloc(size ? size : 1);
			size_t len = itrace_text_mtb_packet(&packet, buf, size);
			assert_true(size ? len < size && strlen(buf) == len : !len);
			len = itrace_text_mtb_element(&packet, buf, size);
			assert_true(size ? len < size && strlen(buf) == len : !len);
			free(buf);
		}
	}
}

/* The ring */

#define POSITION	ITRACE_MTB_REG_POSITION
#define MASTER		ITRACE_MTB_REG_MASTER
#define BASE		ITRACE_MTB_REG_BASE
#define AW		ITRACE_MTB_REG_AW

struct ring_row {
	const char *name;
	struct itrace_mtb_registers regs;
	bool has_addr;
	uint64_t addr, len;
	enum itrace_mtb_ring_status status;
	struct itrace_mtb_piece pieces[2];	/* as many as have a length */
	bool wrapped, clamped;
};

#define REGS(given_, ...)	{ .given = (given_), __VA_ARGS__ }

static const struct ring_row ring_rows[] = {
	{
		"no register: packets in order", REGS(0), .len = 64,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 64 } }
	}, {
		"no register, an odd length stays as it is", REGS(0), .len = 67,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 67 } }
	}, {
		"no byte", REGS(0), .len = 0, .status = ITRACE_MTB_RING_OK
	}, {
		/* buffer [0x20010000, 0x20011000): oldest at 0x20010a30, newest at 0x20010a28, 512 packets */
		"wrapped", REGS(POSITION | MASTER | BASE | AW, .position = 0xa34, .master = 8, .base = 0x20010000, .aw = 13),
		.len = 4096, .status = ITRACE_MTB_RING_OK, .pieces = { { 0xa30, 0x5d0 }, { 0, 0xa30 } }, .wrapped = true
	}, {
		"wrapped, as a dump of all RAM",
		REGS(POSITION | MASTER | BASE | AW, .position = 0xa34, .master = 8, .base = 0x20010000, .aw = 13),
		.has_addr = true, .addr = 0x20000000, .len = 0x20000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0x10a30, 0x5d0 }, { 0x10000, 0xa30 } }, .wrapped = true
	}, {
		/* KL25: RAM decodes 15 bits, BASE is no multiple of that; 2 packets at 0x1ffff000 */
		"KL25, not wrapped",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x7010, .master = 5, .base = 0x1ffff000, .aw = 15),
		.has_addr = true, .addr = 0x1ffff000, .len = 0x4000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 16 } }
	}, {
		"KL25, a buffer at 0x20000000",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x0018, .master = 5, .base = 0x1ffff000, .aw = 15),
		.has_addr = true, .addr = 0x1ffff000, .len = 0x4000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0x1000, 24 } }
	}, {
		"KL25 without BASE: addresses modulo 2^AW say the same",
		REGS(POSITION | MASTER | AW, .position = 0x0018, .master = 5, .aw = 15),
		.has_addr = true, .addr = 0x1ffff000, .len = 0x4000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0x1000, 24 } }
	}, {
		"8 KiB Kinetis: buffer at BASE is at 0x7800",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x7800 + 8, .master = 4, .base = 0x1ffff800, .aw = 15),
		.has_addr = true, .addr = 0x1ffff800, .len = 0x2000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 8 } }
	}, {
		"32 KiB Kinetis: buffer at BASE is at 0x6000",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x6000 + 8, .master = 4, .base = 0x1fffe000, .aw = 15),
		.has_addr = true, .addr = 0x1fffe000, .len = 0x8000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 8 } }
	}, {
		"not wrapped, only what was used is there",
		REGS(POSITION | MASTER, .position = 0x20, .master = 8), .len = 32,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 32 } }
	}, {
		"nothing was traced", REGS(POSITION | MASTER, .position = 0x1000, .master = 8), .len = 4096,
		.status = ITRACE_MTB_RING_OK
	}, {
		"wrapped to its very start", REGS(POSITION | MASTER, .position = 0x1004, .master = 8), .len = 4096,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 4096 } }, .wrapped = true
	}, {
		"the smallest: 16 bytes", REGS(POSITION | MASTER, .position = 0x1c, .master = 0), .len = 16,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 8, 8 }, { 0, 8 } }, .wrapped = true
	}, {
		"MSPM0: 32 bytes at 0x40403000",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x1c, .master = 0x80000001, .base = 0x40403000, .aw = 5),
		.has_addr = true, .addr = 0x40403000, .len = 32,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 24, 8 }, { 0, 24 } }, .wrapped = true
	}, {
		"MASK above AW-4 acts as AW-4",
		REGS(POSITION | MASTER | AW, .position = 0x14, .master = 31, .aw = 5), .len = 32,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 16, 16 }, { 0, 16 } }, .wrapped = true, .clamped = true
	}, {
		"bits 1:0 of POSITION are nothing", REGS(POSITION | MASTER, .position = 0x13, .master = 1), .len = 32,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 16 } }
	}, {
		"size by the dump", REGS(POSITION, .position = 0x20000214), .len = 512,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 16, 496 }, { 0, 16 } }, .wrapped = true
	}, {
		"size by the dump, which is at its address", REGS(POSITION, .position = 0x214),
		.has_addr = true, .addr = 0x20000200, .len = 512,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 16, 496 }, { 0, 16 } }, .wrapped = true
	}, {
		"no size", REGS(POSITION, .position = 0x10), .len = 48, .status = ITRACE_MTB_RING_NO_SIZE
	}, {
		"no size: a dump that is aligned like no buffer", REGS(POSITION, .position = 0x10),
		.has_addr = true, .addr = 0x20000010, .len = 32,
		.status = ITRACE_MTB_RING_NO_SIZE
	}, {
		"LPC81x: BASE reads 0, so AW has to say where the buffer is",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x808, .master = 3, .base = 0, .aw = 12),
		.has_addr = true, .addr = 0x10000000, .len = 0x1000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0x800, 8 } }
	}, {
		"BASE 0 and no AW", REGS(POSITION | MASTER | BASE, .position = 0x808, .master = 3, .base = 0),
		.has_addr = true, .addr = 0x10000000, .len = 0x1000,
		.status = ITRACE_MTB_RING_NO_PLACE
	}, {
		"neither BASE nor AW", REGS(POSITION | MASTER, .position = 0x808, .master = 3),
		.has_addr = true, .addr = 0x10000000, .len = 0x1000,
		.status = ITRACE_MTB_RING_NO_PLACE
	}, {
		"neither BASE nor AW, but the dump is the buffer", REGS(POSITION | MASTER, .position = 0x808, .master = 3),
		.has_addr = true, .addr = 0x10000800, .len = 0x80,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 8 } }
	}, {
		"BASE without AW: a multiple of 2^AW", REGS(POSITION | MASTER | BASE, .position = 0x808, .master = 3,
		.base = 0x20000000), .has_addr = true, .addr = 0x20000000, .len = 0x1000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0x800, 8 } }
	}, {
		"KL25 without AW: only one place is in the dump", REGS(POSITION | MASTER | BASE, .position = 0x7010,
		.master = 5, .base = 0x1ffff000), .has_addr = true, .addr = 0x1ffff000, .len = 0x4000,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 16 } }
	}, {
		/* by AW 15 at 0x20000000, by AW 12 at BASE */
		"KL25 without AW: two places are", REGS(POSITION | MASTER | BASE, .position = 0x0018, .master = 5,
		.base = 0x1ffff000), .has_addr = true, .addr = 0x1ffff000, .len = 0x4000,
		.status = ITRACE_MTB_RING_NEEDS_AW
	}, {
		"POSITION is the bus address, without AW", REGS(POSITION | MASTER | BASE, .position = 0x20000018, .master = 1,
		.base = 0x20000000), .has_addr = true, .addr = 0x20000000, .len = 64,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 24 } }
	}, {
		"more RAM than AW, without BASE", REGS(POSITION | MASTER | AW, .position = 0x8, .master = 3, .aw = 12),
		.has_addr = true, .addr = 0x20000000, .len = 0x2000,
		.status = ITRACE_MTB_RING_AMBIGUOUS
	}, {
		"AW too small", REGS(POSITION | MASTER | AW, .position = 0x8, .aw = 3), .len = 64,
		.status = ITRACE_MTB_RING_BAD_AW
	}, {
		"AW too large", REGS(POSITION | MASTER | AW, .position = 0x8, .aw = 33), .len = 64,
		.status = ITRACE_MTB_RING_BAD_AW
	}, {
		"AW of a whole bus", REGS(POSITION | MASTER | BASE | AW, .position = 0x20000018, .base = 0x20000000, .aw = 32,
		.master = 1),
		.has_addr = true, .addr = 0x20000000, .len = 64,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 24 } }
	}, {
		"BASE not aligned", REGS(POSITION | MASTER | BASE, .position = 0x8, .base = 0x20000010), .len = 64,
		.status = ITRACE_MTB_RING_BAD_BASE
	}, {
		"POSITION above AW", REGS(POSITION | MASTER | AW, .position = 0x20000008, .aw = 15), .len = 64,
		.status = ITRACE_MTB_RING_POSITION_ABOVE_AW
	}, {
		"the dump is elsewhere", REGS(POSITION | MASTER | BASE | AW, .position = 0x808, .master = 3,
		.base = 0x20000000, .aw = 15), .has_addr = true, .addr = 0x20001000, .len = 0x1000,
		.status = ITRACE_MTB_RING_OUTSIDE
	}, {
		"the dump ends before", REGS(POSITION | MASTER | BASE | AW, .position = 0x808, .master = 3,
		.base = 0x20000000, .aw = 15), .has_addr = true, .addr = 0x20000000, .len = 0x800,
		.status = ITRACE_MTB_RING_OUTSIDE
	}, {
		"the dump ends inside", REGS(POSITION | MASTER, .position = 0x28, .master = 2), .len = 32,
		.status = ITRACE_MTB_RING_CUT
	}, {
		"wrapped, and the dump is not all of it", REGS(POSITION | MASTER, .position = 0xc, .master = 2), .len = 56,
		.status = ITRACE_MTB_RING_CUT, .wrapped = true
	}, {
		/* a one-shot buffer need not be aligned: it ends before it would wrap */
		"the dump begins inside, and it has not wrapped",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x38, .master = 11, .base = 0x20000000, .aw = 15),
		.has_addr = true, .addr = 0x20000020, .len = 0x100,
		.status = ITRACE_MTB_RING_OK, .pieces = { { 0, 24 } }
	}, {
		"the dump begins inside, and it has wrapped",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x3c, .master = 2, .base = 0x20000000, .aw = 15),
		.has_addr = true, .addr = 0x20000020, .len = 0x100,
		.status = ITRACE_MTB_RING_BEFORE, .wrapped = true
	}, {
		"the dump begins behind what was traced",
		REGS(POSITION | MASTER | BASE | AW, .position = 0x18, .master = 2, .base = 0x20000000, .aw = 15),
		.has_addr = true, .addr = 0x20000020, .len = 0x100,
		.status = ITRACE_MTB_RING_OUTSIDE
	}
};

static void test_ring(void **state)
{
	bool seen[ITRACE_MTB_RING_STATUS_NUM] = { false };

	for (size_t i = 0; i < ARRAY_NUM(ring_rows); i++) {
		const struct ring_row *row = &ring_rows[i];
		struct itrace_mtb_ring ring;
		enum itrace_mtb_ring_status status = itrace_mtb_ring_find(&ring, &row->regs, row->has_addr, row->addr,
				row->len);

		if (status != row->status)
			fail_msg("%s: status %d (%s)", row->name, status, itrace_mtb_ring_status_text(status));
		seen[status] = true;
		if (ring.wrapped != row->wrapped || ring.clamped != row->clamped)
			fail_msg("%s: wrapped %d, clamped %d", row->name, ring.wrapped, ring.clamped);
		if (status != ITRACE_MTB_RING_OK)
			continue;
		for (unsigned int piece = 0; piece < 2; piece++) {
			const struct itrace_mtb_piece none = { 0, 0 };
			const struct itrace_mtb_piece *got = piece < ring.piece_count ? &ring.pieces[piece] : &none;
			if (got->off != row->pieces[piece].off || got->len != row->pieces[piece].len)
				fail_msg("%s: piece %u is %llu + %llu", row->name, piece, (unsigned long long)got->off,
					(unsigned long long)got->len);
		}
	}
	for (unsigned int status = 0; status < ITRACE_MTB_RING_STATUS_NUM; status++)
		assert_true(seen[status]);
}

/* Any registers: the pieces lie in the dump, do not overlap, and are the whole buffer when it has wrapped. */
static void test_ring_bounds(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15;

	for (unsigned int round = 0; round < 200000; round++) {
		struct itrace_mtb_registers regs;
		struct itrace_mtb_ring ring;
		uint64_t numbers[8];

		for (unsigned int i = 0; i < ARRAY_NUM(numbers); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			numbers[i] = seed >> 24;
		}
		regs = (struct itrace_mtb_registers){
			.position = (uint32_t)numbers[0] & (numbers[7] & 1 ? 0x7fff : UINT32_MAX), .master = numbers[1] & 0x1f,
			.base = (uint32_t)numbers[2] & ~0x1fu, .aw = numbers[3] % 36, .given = numbers[4] & 0x1f,
		};
		const uint64_t len = numbers[5] % (numbers[7] & 2 ? 100 : 0x20000);
		if (itrace_mtb_ring_find(&ring, &regs, numbers[7] & 4, numbers[7] & 8 ? regs.base : (uint32_t)numbers[6], len))
			continue;
		uint64_t sum = 0;
		assert_true(ring.piece_count <= 2);
		for (unsigned int i = 0; i < ring.piece_count; i++) {
			assert_true(ring.pieces[i].len && ring.pieces[i].off + ring.pieces[i].len <= len);
			sum += ring.pieces[i].len;
		}
		if (ring.piece_count == 2)
			assert_true(ring.pieces[1].off + ring.pieces[1].len == ring.pieces[0].off);
		if (ring.wrapped)
			assert_true(sum == ring.size);
	}
}

static void test_bus_address(void **state)
{
	assert_int_equal(itrace_mtb_bus_address(0x20010000, 13, 0xa34), 0x20010a30);
	assert_int_equal(itrace_mtb_bus_address(0x1ffff000, 15, 0x7010), 0x1ffff010);
	assert_int_equal(itrace_mtb_bus_address(0x1ffff000, 15, 0), 0x20000000);
	assert_int_equal(itrace_mtb_bus_address(0x1fffe000, 15, 0x6000), 0x1fffe000);
	assert_int_equal(itrace_mtb_bus_address(0x20000000, 32, 0x20000018), 0x20000018);
}

static void test_register_names(void **state)
{
	struct itrace_mtb_registers regs;
	uint32_t bit, seen = 0;

	for (unsigned int i = 0; itrace_mtb_register_name(i); i++) {
		assert_non_null(itrace_mtb_register(&regs, itrace_mtb_register_name(i), &bit));
		seen |= bit;
	}
	assert_int_equal(seen, 0xff);
	assert_ptr_equal(itrace_mtb_register(&regs, "position", NULL), &regs.position);
	assert_ptr_equal(itrace_mtb_register(&regs, "Pc_Halt", &bit), &regs.pc_halt);
	assert_int_equal(bit, ITRACE_MTB_REG_PC_HALT);
	assert_null(itrace_mtb_register(&regs, "POSITION2", NULL));
	assert_null(itrace_mtb_register(&regs, "", NULL));
	assert_null(itrace_mtb_register(&regs, "TRCIDR0", NULL));
	assert_string_equal(itrace_mtb_ring_status_text(ITRACE_MTB_RING_STATUS_NUM), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_need_more),
		cmocka_unit_test(test_text_is_cut),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_ring_bounds),
		cmocka_unit_test(test_bus_address),
		cmocka_unit_test(test_register_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
