/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The packets that make up nine tenths of every trace - atoms and addresses - read inline.
 *
 * Private to the core. Exactly what itrace_ete_packet_read() would give; it calls this first.
 */

#ifndef OPENOCD_ITRACE_ETE_PACKET_FAST_H
#define OPENOCD_ITRACE_ETE_PACKET_FAST_H

#include <string.h>

#include "ete_packet.h"

#define ITRACE_ATOM_HEADER	0xc0u	/* this header byte and all above are atoms */

struct itrace_atoms {
	uint32_t bits;	/* bit n = atom n, oldest first; 1 = E */
	uint8_t count;
	uint8_t kind;	/* enum itrace_packet_kind */
};

/* Format 6: 3 to 23 E and one more, E or N. */
#define ITRACE_ATOM_6E(n) { (16u << (n)) - 1, (n) + 4, ITRACE_PACKET_ATOM_F6 }
#define ITRACE_ATOM_6N(n) { (8u << (n)) - 1, (n) + 4, ITRACE_PACKET_ATOM_F6 }
#define ITRACE_ATOM_6X7(m, n) ITRACE_ATOM_ ## m(n), ITRACE_ATOM_ ## m(n + 1), ITRACE_ATOM_ ## m(n + 2), \
		ITRACE_ATOM_ ## m(n + 3), ITRACE_ATOM_ ## m(n + 4), ITRACE_ATOM_ ## m(n + 5), ITRACE_ATOM_ ## m(n + 6)

/* By header byte - ITRACE_ATOM_HEADER. */
static const struct itrace_atoms itrace_atoms_table[64] = {
	/* c0 - d4 */
	ITRACE_ATOM_6X7(6E, 0), ITRACE_ATOM_6X7(6E, 7), ITRACE_ATOM_6X7(6E, 14),
	/* d5 NNNNN, d6 NENEN, d7 ENENE */
	{ 0x00, 5, ITRACE_PACKET_ATOM_F5 }, { 0x0a, 5, ITRACE_PACKET_ATOM_F5 }, { 0x15, 5, ITRACE_PACKET_ATOM_F5 },
	/* d8 - db */
	{ 0, 2, ITRACE_PACKET_ATOM_F2 }, { 1, 2, ITRACE_PACKET_ATOM_F2 },
	{ 2, 2, ITRACE_PACKET_ATOM_F2 }, { 3, 2, ITRACE_PACKET_ATOM_F2 },
	/* dc NEEE, dd NNNN, de NENE, df ENEN */
	{ 0x0e, 4, ITRACE_PACKET_ATOM_F4 }, { 0x00, 4, ITRACE_PACKET_ATOM_F4 },
	{ 0x0a, 4, ITRACE_PACKET_ATOM_F4 }, { 0x05, 4, ITRACE_PACKET_ATOM_F4 },
	/* e0 - f4 */
	ITRACE_ATOM_6X7(6N, 0), ITRACE_ATOM_6X7(6N, 7), ITRACE_ATOM_6X7(6N, 14),
	/* f5 NEEEE */
	{ 0x1e, 5, ITRACE_PACKET_ATOM_F5 },
	/* f6 N, f7 E */
	{ 0, 1, ITRACE_PACKET_ATOM_F1 }, { 1, 1, ITRACE_PACKET_ATOM_F1 },
	/* f8 - ff */
	{ 0, 3, ITRACE_PACKET_ATOM_F3 }, { 1, 3, ITRACE_PACKET_ATOM_F3 }, { 2, 3, ITRACE_PACKET_ATOM_F3 },
	{ 3, 3, ITRACE_PACKET_ATOM_F3 }, { 4, 3, ITRACE_PACKET_ATOM_F3 }, { 5, 3, ITRACE_PACKET_ATOM_F3 },
	{ 6, 3, ITRACE_PACKET_ATOM_F3 }, { 7, 3, ITRACE_PACKET_ATOM_F3 },
};

/* The 32-bit little-endian word at @a bytes. */
static inline uint32_t itrace_le32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Bits 31:0 of a long address from its four low bytes. Bit 7 of the first (IS0: of the second, too) is none. */
static inline uint32_t itrace_addr32(const uint8_t *bytes, unsigned int is)
{
	uint32_t word = itrace_le32(bytes);

	if (is)
		return (word & 0x7f) << 1 | (word & 0xffffff00);
	return (word & 0x7f) << 2 | (word & 0x7f00) << 1 | (word & 0xffff0000);
}

/*
 * @returns the length of an atom or target address packet and *packet filled (but not its intended); 0 when it is
 * another kind, or perhaps not whole in @a len bytes (at least 1): then itrace_ete_packet_read() has to look.
 */
static inline int itrace_ete_packet_read_fast(const uint8_t *bytes, size_t len, struct itrace_ete_packet *packet)
{
	const uint8_t header = bytes[0];

	if (header >= ITRACE_ATOM_HEADER) {
		const struct itrace_atoms *atoms = &itrace_atoms_table[header - ITRACE_ATOM_HEADER];
		packet->kind = atoms->kind;
		packet->flags = 0;
		packet->atoms = atoms->bits;
		packet->atom_count = atoms->count;
		packet->len = 1;
		return 1;
	}
	if (header == 0x95 && len >= 3) {
		packet->kind = ITRACE_PACKET_ADDR_SHORT_IS0;
		packet->flags = ITRACE_PKT_ADDR;
		packet->atom_count = 0;
		packet->is = 0;
		if (bytes[1] & 0x80) {
			packet->addr = (uint32_t)(bytes[1] & 0x7f) << 2 | (uint32_t)bytes[2] << 9;
			packet->addr_bits = 17;
			packet->len = 3;
			return 3;
		}
		packet->addr = (uint32_t)bytes[1] << 2;
		packet->addr_bits = 9;
		packet->len = 2;
		return 2;
	}
	if ((header & 0xfe) == 0x9a && len >= 5) {
		packet->kind = (uint8_t)(ITRACE_PACKET_ADDR_32_IS0 + (header & 1));
		packet->flags = ITRACE_PKT_ADDR;
		packet->atom_count = 0;
		packet->is = header & 1;
		packet->addr = itrace_addr32(bytes + 1, header & 1);
		packet->addr_bits = 32;
		packet->len = 5;
		return 5;
	}
	return 0;
}

#endif /* OPENOCD_ITRACE_ETE_PACKET_FAST_H */
