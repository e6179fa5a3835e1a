/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Random trace configurations, code and byte streams: mostly packets that make sense one by one, seldom in their order.
 * What they decode to does not matter; that it is the same however they are fed does.
 */

#ifndef TESTING_PROPERTY_STREAM_RANDOM_H
#define TESTING_PROPERTY_STREAM_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include <itrace/ete_config.h>
#include <itrace/image.h>

#define CODE_BASE	0x10000u
#define CODE_LEN	4096u
#define STREAM_LEN_MAX	4096u

struct random_case {
	uint64_t state;
	struct itrace_ete_config config;
	uint8_t code[CODE_LEN];
	struct itrace_segment segments[3];
	uint8_t *stream;	/* exactly len bytes, so that a sanitizer sees each read past it */
	size_t len;
};

static inline uint64_t random_next(struct random_case *c)
{
	/* xorshift64*: small, and the same everywhere */
	c->state ^= c->state >> 12;
	c->state ^= c->state << 25;
	c->state ^= c->state >> 27;
	return c->state * 0x2545f4914f6cdd1dull;
}

static inline uint32_t random_below(struct random_case *c, uint32_t n)
{
	return (uint32_t)((random_next(c) >> 32) % n);
}

static inline void random_config(struct random_case *c)
{
	static const uint32_t depths[] = { 0, 0, 0, 4, 40, 0xffffffffu };
	struct itrace_ete_registers regs;
	enum itrace_protocol protocol = random_below(c, 3) ? ITRACE_PROTOCOL_ETE : ITRACE_PROTOCOL_ETMV4;
	enum itrace_profile profile = ITRACE_PROFILE_A;

	itrace_ete_registers_default(protocol, &regs);
	if (protocol == ITRACE_PROTOCOL_ETE) {
		regs.trcdevarch = 0x47705a13 | random_below(c, 4) << 16;
	} else {
		regs.trcidr1 = 0x4100f400 | random_below(c, 7) << 4;
		if (!random_below(c, 3))
			profile = ITRACE_PROFILE_M;
	}
	regs.trcidr0 = (uint32_t)random_next(c);
	regs.trcidr2 = random_below(c, 2) ? 0xc0001088 : 0x488;
	regs.trcidr8 = depths[random_below(c, sizeof(depths) / sizeof(depths[0]))];
	regs.trcconfigr = random_below(c, 2) << 12 | random_below(c, 2) << 4 | 1;
	itrace_ete_config_init(&c->config, protocol, profile, (enum itrace_arch)random_below(c, ITRACE_ARCH_NUM), &regs,
		NULL);
}

/* Words that are branches in one instruction set or another, to places inside the code. */
static inline uint32_t random_opcode(struct random_case *c)
{
	uint32_t imm = random_below(c, 64);

	switch (random_below(c, 12)) {
	case 0:
		return 0x54000000 | imm << 5 | random_below(c, 16);	/* A64 B.cond */
	case 1:
		return 0x94000000 | imm;				/* A64 BL */
	case 2:
		return 0xd65f03c0;					/* A64 RET */
	case 3:
		return 0xd69f03e0;					/* A64 ERET */
	case 4:
		return 0xea000000 | imm;				/* A32 B */
	case 5:
		return 0xfa000000 | imm;				/* A32 BLX */
	case 6:
		return 0xe12fff1e;					/* A32 BX LR */
	case 7:
		return 0xd0024770;					/* T32 BX LR; BEQ */
	case 8:
		return 0xf802f000;					/* T32 BL */
	case 9:
		return 0xbf08bf00 | random_below(c, 16) << 16;		/* T32 NOP; IT */
	case 10:
		return 0xd61f0000;					/* A64 BR */
	default:
		return 0xd503201f;					/* A64 NOP */
	}
}

static inline void random_code(struct random_case *c)
{
	for (unsigned int i = 0; i < CODE_LEN; i += 4) {
		uint32_t opcode = random_below(c, 20) ? random_opcode(c) : (uint32_t)random_next(c);
		memcpy(c->code + i, &opcode, 4);
	}
	/* three segments with a seam, a gap and, now and then, memory spaces of their own */
	c->segments[0] = (struct itrace_segment){ CODE_BASE, 1026, c->code, ITRACE_SPACE_ANY, 0 };
	c->segments[1] = (struct itrace_segment){ CODE_BASE + 1026, 2000, c->code + 1026,
		random_below(c, 2) ? ITRACE_SPACE_ANY : ITRACE_SPACE_N, 1 };
	c->segments[2] = (struct itrace_segment){ CODE_BASE + 3100, CODE_LEN - 3100, c->code + 3100, ITRACE_SPACE_ANY, 2 };
}

static inline void put_async(struct random_case *c, size_t *at)
{
	static const uint8_t bytes[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01 };

	if (*at + sizeof(bytes) + 2 > c->len)
		return;
	memcpy(c->stream + *at, bytes, sizeof(bytes));
	*at += sizeof(bytes);
	if (c->config.max_spec_depth && random_below(c, 2)) {
		c->stream[(*at)++] = 0x04;	/* speculation depth */
		c->stream[(*at)++] = (uint8_t)random_below(c, 6);
	} else {
		c->stream[(*at)++] = 0;
	}
}

/* An address in or near the code, mostly with a context. */
static inline void put_addr(struct random_case *c, size_t *at)
{
	static const uint8_t infos[] = { 0x31, 0x31, 0x30, 0x11, 0x20, 0x00, 0x39, 0xf1 };
	uint32_t addr = CODE_BASE + (random_below(c, CODE_LEN + 64) & ~3u);
	bool is1 = random_below(c, 3) == 0;
	uint8_t header = (uint8_t)((random_below(c, 3) ? 0x9a : 0x82) + is1);
	uint8_t bytes[5] = {
		header,
		(uint8_t)((is1 ? addr >> 1 : addr >> 2) & 0x7f),
		(uint8_t)(is1 ? addr >> 8 : (addr >> 9) & 0x7f),
		(uint8_t)(addr >> 16),
		(uint8_t)(addr >> 24)
	};

	if (*at + sizeof(bytes) + 1 > c->len)
		return;
	memcpy(c->stream + *at, bytes, sizeof(bytes));
	*at += sizeof(bytes);
	if (header < 0x90)
		c->stream[(*at)++] = infos[random_below(c, sizeof(infos))];
}

static inline void random_stream(struct random_case *c)
{
	static const uint8_t headers[] = {
		0x02, 0x03, 0x04, 0x05, 0x06, 0x06, 0x07, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x1f,
		0x2d, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x35, 0x39, 0x3f, 0x70, 0x71, 0x7f, 0x80, 0x81, 0x88,
		0x90, 0x91, 0x92, 0x95, 0x96, 0x9d, 0xa0, 0xa5, 0xaa, 0xac, 0xaf, 0xb0, 0xb4, 0xb5, 0xb6, 0xb8
	};
	size_t at = 0;

	c->len = 1 + random_below(c, STREAM_LEN_MAX);
	c->stream = malloc(c->len);
	if (!c->stream)
		abort();
	if (random_below(c, 4))
		put_async(c, &at);
	while (at < c->len) {
		uint32_t what = random_below(c, 100);
		if (what < 2) {
			put_async(c, &at);
		} else if (what < 25) {
			put_addr(c, &at);
		} else if (what < 70) {
			c->stream[at++] = (uint8_t)(0xc0 + random_below(c, 64));
		} else if (what < 97) {
			c->stream[at++] = headers[random_below(c, sizeof(headers))];
			/* payload that mostly ends at once */
			if (at < c->len && random_below(c, 2))
				c->stream[at++] = (uint8_t)random_below(c, 0x90);
		} else if (what < 98) {
			c->stream[at++] = 0;
			if (at < c->len)
				c->stream[at++] = random_below(c, 2) ? 0x03 : 0x05;
		} else if (what == 98) {
			c->stream[at++] = 0x04;
		} else {
			c->stream[at++] = (uint8_t)random_next(c);
		}
	}
}

static inline void random_case_make(struct random_case *c, uint64_t seed)
{
	memset(c, 0, sizeof(*c));
	c->state = seed * 0x9e3779b97f4a7c15ull + 1;
	random_next(c);
	random_config(c);
	random_code(c);
	random_stream(c);
}

static inline void random_case_free(struct random_case *c)
{
	free(c->stream);
	c->stream = NULL;
}

#endif /* TESTING_PROPERTY_STREAM_RANDOM_H */
