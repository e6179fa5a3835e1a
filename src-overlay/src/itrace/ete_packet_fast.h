/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The packets that make up nine tenths of every trace - atoms and target addresses - read inline, by tables.
 *
 * Private to the core. The same as itrace_ete_packet_read() and the stream's resolution would give. Which packet comes
 * next cannot be predicted, so that a row for each form costs less than a branch for each.
 */

#ifndef OPENOCD_ITRACE_ETE_PACKET_FAST_H
#define OPENOCD_ITRACE_ETE_PACKET_FAST_H

#include <string.h>

#include "addr_history.h"
#include "ete_packet.h"

#define ITRACE_ATOM_HEADER	0xc0u	/* this header byte and all above are atoms */
#define ITRACE_ADDR_HEADER	0x90u	/* this one and the eleven behind it are target addresses, if any */
#define ITRACE_ADDR_HEADER_NUM	12u
#define ITRACE_ADDR_LEN_MAX	5u	/* bytes that must be readable to read one by its row */

struct itrace_atoms {
	uint64_t small;	/* of the packet */
	uint32_t bits;	/* bit n = atom n, oldest first; 1 = E */
	uint8_t count;
	uint8_t kind;	/* enum itrace_packet_kind */
};

#define ITRACE_ATOMS(bits, count, format) \
	{ ITRACE_PACKET_SMALL(0, ITRACE_PACKET_ATOM_ ## format, 0, 0, count, 0), bits, count, \
	ITRACE_PACKET_ATOM_ ## format }

/* Format 6: 3 to 23 E and one more, E or N. */
#define ITRACE_ATOM_6E(n) ITRACE_ATOMS((16u << (n)) - 1, (n) + 4, F6)
#define ITRACE_ATOM_6N(n) ITRACE_ATOMS((8u << (n)) - 1, (n) + 4, F6)
#define ITRACE_ATOM_6X7(m, n) ITRACE_ATOM_ ## m(n), ITRACE_ATOM_ ## m(n + 1), ITRACE_ATOM_ ## m(n + 2), \
		ITRACE_ATOM_ ## m(n + 3), ITRACE_ATOM_ ## m(n + 4), ITRACE_ATOM_ ## m(n + 5), ITRACE_ATOM_ ## m(n + 6)

/* By header byte - ITRACE_ATOM_HEADER. */
static const struct itrace_atoms itrace_atoms_table[64] = {
	/* c0 - d4 */
	ITRACE_ATOM_6X7(6E, 0), ITRACE_ATOM_6X7(6E, 7), ITRACE_ATOM_6X7(6E, 14),
	/* d5 NNNNN, d6 NENEN, d7 ENENE */
	ITRACE_ATOMS(0x00, 5, F5), ITRACE_ATOMS(0x0a, 5, F5), ITRACE_ATOMS(0x15, 5, F5),
	/* d8 - db */
	ITRACE_ATOMS(0, 2, F2), ITRACE_ATOMS(1, 2, F2), ITRACE_ATOMS(2, 2, F2), ITRACE_ATOMS(3, 2, F2),
	/* dc NEEE, dd NNNN, de NENE, df ENEN */
	ITRACE_ATOMS(0x0e, 4, F4), ITRACE_ATOMS(0x00, 4, F4), ITRACE_ATOMS(0x0a, 4, F4), ITRACE_ATOMS(0x05, 4, F4),
	/* e0 - f4 */
	ITRACE_ATOM_6X7(6N, 0), ITRACE_ATOM_6X7(6N, 7), ITRACE_ATOM_6X7(6N, 14),
	/* f5 NEEEE */
	ITRACE_ATOMS(0x1e, 5, F5),
	/* f6 N, f7 E */
	ITRACE_ATOMS(0, 1, F1), ITRACE_ATOMS(1, 1, F1),
	/* f8 - ff */
	ITRACE_ATOMS(0, 3, F3), ITRACE_ATOMS(1, 3, F3), ITRACE_ATOMS(2, 3, F3), ITRACE_ATOMS(3, 3, F3),
	ITRACE_ATOMS(4, 3, F3), ITRACE_ATOMS(5, 3, F3), ITRACE_ATOMS(6, 3, F3), ITRACE_ATOMS(7, 3, F3),
};

/* The 32-bit little-endian word at @a bytes. */
static inline uint32_t itrace_le32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/*
 * How an address comes out of the four bytes behind the header, read as a word: bits 6:0 shifted by @c first, the
 * bits of
 * @c mask shifted by @c second, and the bits of @c high where they are; they replace the bits of @c low in a
 * history entry.
 */
struct itrace_addr_row {
	uint64_t small;		/* of the packet, but for is of an exact match */
	uint32_t mask;
	uint32_t high;
	uint32_t low;
	uint8_t first;
	uint8_t second;
	uint8_t entry;		/* of the history */
	uint8_t is;		/* instruction set bit; with ITRACE_ADDR_IS_ENTRY that of the entry */
	uint8_t len;		/* of the packet; 0: no such packet */
	uint8_t kind;		/* enum itrace_packet_kind */
};

#define ITRACE_ADDR_IS_ENTRY	2u

#define ITRACE_ADDR_MATCHES(n) \
	{ ITRACE_PACKET_SMALL(ITRACE_PKT_ADDR, ITRACE_PACKET_ADDR_MATCH, 0, 0, 0, n), 0, 0, 0, 0, 0, n, \
	ITRACE_ADDR_IS_ENTRY, 1, ITRACE_PACKET_ADDR_MATCH }
#define ITRACE_ADDR_SHORT(form, bits, mask, first, second, is, len) \
	{ ITRACE_PACKET_SMALL(ITRACE_PKT_ADDR, ITRACE_PACKET_ADDR_SHORT_ ## form, bits, is, 0, 0), mask, 0, \
	(1u << (bits)) - 1, first, second, 0, is, len, ITRACE_PACKET_ADDR_SHORT_ ## form }
#define ITRACE_ADDR_32(form, mask, first, second, is) \
	{ ITRACE_PACKET_SMALL(ITRACE_PKT_ADDR, ITRACE_PACKET_ADDR_32_ ## form, 32, is, 0, 0), mask, 0xffff0000, \
	0xffffffff, first, second, 0, is, 5, ITRACE_PACKET_ADDR_32_ ## form }

/* By (header byte - ITRACE_ADDR_HEADER) * 2 + bit 7 of the byte behind it, which in a short address says: one more. */
static const struct itrace_addr_row itrace_addr_rows[2 * ITRACE_ADDR_HEADER_NUM] = {
	/* 90 - 92 */
	[0] = ITRACE_ADDR_MATCHES(0), ITRACE_ADDR_MATCHES(0), ITRACE_ADDR_MATCHES(1), ITRACE_ADDR_MATCHES(1),
	ITRACE_ADDR_MATCHES(2), ITRACE_ADDR_MATCHES(2),
	/* 95, 96 */
	[10] = ITRACE_ADDR_SHORT(IS0, 9, 0, 2, 0, 0, 2), ITRACE_ADDR_SHORT(IS0, 17, 0xff00, 2, 1, 0, 3),
	ITRACE_ADDR_SHORT(IS1, 8, 0, 1, 0, 1, 2), ITRACE_ADDR_SHORT(IS1, 16, 0xff00, 1, 0, 1, 3),
	/* 9a, 9b */
	[20] = ITRACE_ADDR_32(IS0, 0x7f00, 2, 1, 0), ITRACE_ADDR_32(IS0, 0x7f00, 2, 1, 0),
	ITRACE_ADDR_32(IS1, 0xff00, 1, 0, 1), ITRACE_ADDR_32(IS1, 0xff00, 1, 0, 1),
};

/*
 * The row of the packet at @a bytes; NULL when it is another, or when fewer than ITRACE_ADDR_LEN_MAX bytes are
 * readable.
 */
static inline const struct itrace_addr_row *itrace_addr_row(const uint8_t *bytes, size_t len)
{
	const unsigned int form = (uint8_t)(bytes[0] - ITRACE_ADDR_HEADER);

	if (form >= ITRACE_ADDR_HEADER_NUM || len < ITRACE_ADDR_LEN_MAX)
		return NULL;
	const struct itrace_addr_row *row = &itrace_addr_rows[2 * form + (bytes[1] >> 7)];
	return row->len ? row : NULL;
}

/* The address that the packet at @a bytes stands for, pushed on the history. @param[out] is its instruction set bit */
static inline uint64_t itrace_addr_row_read(const struct itrace_addr_row *row, const uint8_t *bytes,
		struct itrace_addr_history *history, uint8_t *is)
{
	const uint32_t word = itrace_le32(bytes + 1);
	const uint32_t sent = (word & 0x7f) << row->first | (word & row->mask) << row->second | (word & row->high);
	const uint64_t addr = (history->addr[row->entry] & ~(uint64_t)row->low) | (sent & row->low);

	*is = row->is == ITRACE_ADDR_IS_ENTRY ? history->is[row->entry] : row->is;
	itrace_addr_history_push(history, addr, *is);
	return addr;
}

#endif /* OPENOCD_ITRACE_ETE_PACKET_FAST_H */
