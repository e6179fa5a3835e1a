/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One packet of a Micro Trace Buffer: eight bytes in, one value struct out. No state.
 *
 * A packet is a source word and a destination word; bit 0 of either is a flag, because all M-profile code is Thumb.
 * Every value of both words is a packet, so there is no bad one: what a packet cannot mean shows only beside the
 * program. Source of the rules: the MTB's technical reference manual (DDI 0486), and vendors' manuals that repeat it.
 */

#ifndef OPENOCD_ITRACE_MTB_PACKET_H
#define OPENOCD_ITRACE_MTB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define ITRACE_MTB_PACKET_LEN	8u

/* What an address stands for: code, or one of the values that a core branches to in place of code. */
enum itrace_mtb_place {
	ITRACE_MTB_CODE,
	ITRACE_MTB_EXC_RETURN,	/* 0xffxxxxx.: a branch there returns from an exception */
	ITRACE_MTB_FNC_RETURN,	/* 0xfefffffe: a branch there returns to the caller's security state (Armv8-M) */
	ITRACE_MTB_LOCKED_UP	/* 0xfffffffe, 0xeffffffe: where a core in lock-up says that it is */
};

/* What a packet is by itself. */
enum itrace_mtb_kind {
	ITRACE_MTB_BRANCH,	/* a branch was taken */
	ITRACE_MTB_EXCEPTION,	/* an exception was taken, or the debugger wrote the PC */
	ITRACE_MTB_RETURN,	/* first half of a return: a branch to EXC_RETURN or FNC_RETURN */
	ITRACE_MTB_RESUME,	/* its second half: from there to where execution goes on */
	ITRACE_MTB_LOCKUP,
	ITRACE_MTB_KIND_NUM
};

struct itrace_mtb_packet {
	uint64_t off;		/* byte offset in the trace; set by who reads, not by itrace_mtb_packet_read() */
	uint32_t source;	/* bit 0 clear */
	uint32_t destination;	/* bit 0 clear */
	bool atomic;		/* A: not caused by an instruction; source is the preferred return address */
	bool start;		/* S: the first packet since trace was started */
	uint8_t kind;		/* enum itrace_mtb_kind */
};

/* From here on an address may stand for something else than code. */
#define ITRACE_MTB_SPECIAL	0xeffffffeu

static inline enum itrace_mtb_place itrace_mtb_place(uint32_t addr)
{
	if (addr < ITRACE_MTB_SPECIAL)
		return ITRACE_MTB_CODE;
	if (addr == 0xeffffffe || addr == 0xfffffffe)
		return ITRACE_MTB_LOCKED_UP;
	if (addr == 0xfefffffe)
		return ITRACE_MTB_FNC_RETURN;
	/* bit 1 of an EXC_RETURN is 0 */
	return addr >= 0xff000000 && !(addr & 2) ? ITRACE_MTB_EXC_RETURN : ITRACE_MTB_CODE;
}

/* A value that only stands for a way back; the next packet says where to. */
static inline bool itrace_mtb_is_return(uint32_t addr)
{
	const enum itrace_mtb_place place = itrace_mtb_place(addr);

	return place == ITRACE_MTB_EXC_RETURN || place == ITRACE_MTB_FNC_RETURN;
}

static inline uint32_t itrace_mtb_word(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* A branch from code to code, without a flag, by the two words; other packets may be of that kind as well. */
static inline bool itrace_mtb_is_plain_branch(uint32_t source, uint32_t destination)
{
	return !((source | destination) & 1) && source < ITRACE_MTB_SPECIAL && destination < ITRACE_MTB_SPECIAL;
}

/*
 * Read one packet.
 * @returns ITRACE_MTB_PACKET_LEN, or ITRACE_NEED_MORE: @a len is less than that.
 */
static inline int itrace_mtb_packet_read(const uint8_t *bytes, size_t len, struct itrace_mtb_packet *packet)
{
	if (len < ITRACE_MTB_PACKET_LEN)
		return ITRACE_NEED_MORE;
	const uint32_t source = itrace_mtb_word(bytes);
	const uint32_t destination = itrace_mtb_word(bytes + 4);
	packet->source = source & ~UINT32_C(1);
	packet->destination = destination & ~UINT32_C(1);
	packet->atomic = source & 1;
	packet->start = destination & 1;
	if (itrace_mtb_place(packet->destination) == ITRACE_MTB_LOCKED_UP)
		packet->kind = ITRACE_MTB_LOCKUP;
	else if (itrace_mtb_is_return(packet->source))
		packet->kind = ITRACE_MTB_RESUME;
	else if (packet->atomic)
		packet->kind = ITRACE_MTB_EXCEPTION;
	else if (itrace_mtb_is_return(packet->destination))
		packet->kind = ITRACE_MTB_RETURN;
	else
		packet->kind = ITRACE_MTB_BRANCH;
	return ITRACE_MTB_PACKET_LEN;
}

/* "branch", "exception" ...; never NULL. */
const char *itrace_mtb_kind_name(enum itrace_mtb_kind kind);

#endif /* OPENOCD_ITRACE_MTB_PACKET_H */
