// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A64 part of the program generator. x0-x7 hold data, x9 and x12 are scratch, x10 is a pseudo-random state, x19 + n is
 * the loop counter of function n, x28 points to memory.
 */

#include "program_build.h"

enum { CALL_BL, CALL_ADR };

static void put(struct builder *b, uint32_t opcode)
{
	build_word(b, opcode);
}

static unsigned int reg(struct builder *b)
{
	return build_pick(b, 8);
}

static void filler(struct builder *b)
{
	uint32_t d = reg(b);
	uint32_t n = reg(b);
	uint32_t m = reg(b);

	switch (build_pick(b, 10)) {
	case 0:
		put(b, 0x91000000 | build_pick(b, 4096) << 10 | n << 5 | d);	/* ADD immediate */
		break;
	case 1:
		put(b, 0xca000000 | m << 16 | n << 5 | d);			/* EOR */
		break;
	case 2:
		put(b, 0x9b007c00 | m << 16 | n << 5 | d);			/* MUL */
		break;
	case 3:
		put(b, 0xf9400380 | build_pick(b, 64) << 10 | d);		/* LDR [x28] */
		break;
	case 4:
		put(b, 0xf9000380 | build_pick(b, 64) << 10 | d);		/* STR [x28] */
		break;
	case 5:
		put(b, 0xd2800000 | build_pick(b, 65536) << 5 | d);		/* MOVZ */
		break;
	case 6:
		put(b, 0x9a800000 | m << 16 | build_pick(b, 14) << 12 | n << 5 | d);	/* CSEL */
		break;
	case 7:
		put(b, build_pick(b, 2) ? 0xd5033f9f : 0xd5033fbf);		/* DSB, DMB */
		break;
	case 8:
		put(b, 0xd503201f);						/* NOP */
		break;
	default:
		put(b, 0xeb00001f | m << 16 | n << 5);				/* CMP */
		break;
	}
}

/* x10 = next pseudo-random number */
static void step(struct builder *b)
{
	put(b, 0x9127754a);		/* ADD x10, x10, #0x9dd */
	put(b, 0xcaca354a);		/* EOR x10, x10, x10, ROR #13 */
}

static uint32_t branch_if(struct builder *b, bool near)
{
	uint32_t bits = build_pick(b, 3);

	(void)near;
	step(b);
	switch (build_pick(b, 4)) {
	case 0:
		put(b, 0x92400149 | bits << 10);				/* AND x9, x10, #bits */
		put(b, (build_pick(b, 2) ? 0xb4000009 : 0x35000009));		/* CBZ x9, CBNZ w9 */
		break;
	case 1:
		put(b, 0x3600000a | build_pick(b, 2) << 24 | build_pick(b, 32) << 19);	/* TBZ, TBNZ w10 */
		break;
	case 2:
		put(b, 0xb600000a | build_pick(b, 2) << 24 | build_pick(b, 32) << 19);	/* TBZ, TBNZ x10 */
		break;
	default:
		if (build_pick(b, 2))
			put(b, 0xf240015f | bits << 10);			/* TST x10, #bits */
		else
			put(b, 0xeb00015f | reg(b) << 16);			/* CMP x10, xN */
		put(b, 0x54000000 | build_pick(b, 15));				/* B.cond, AL among them */
		break;
	}
	return build_here(b) - 4;
}

static uint32_t branch(struct builder *b, bool near)
{
	(void)near;
	put(b, 0x14000000);
	return build_here(b) - 4;
}

static void patch(struct builder *b, uint32_t at, uint32_t target)
{
	uint32_t opcode = build_get(b, at);
	uint32_t words = (target - at) / 4;

	if ((opcode & 0x7c000000) == 0x14000000)
		opcode |= ((int32_t)(target - at) >> 2) & 0x03ffffff;
	else if ((opcode & 0x7e000000) == 0x36000000)
		opcode |= (words & 0x3fff) << 5;
	else
		opcode |= (words & 0x7ffff) << 5;
	build_set(b, at, opcode);
}

static void loop_begin(struct builder *b, unsigned int count)
{
	put(b, 0xd2800000 | count << 5 | (19 + b->func));	/* MOVZ */
}

static void loop_end(struct builder *b, uint32_t top)
{
	uint32_t c = 19 + b->func;
	uint32_t words;

	if (build_pick(b, 2)) {
		put(b, 0xf1000400 | c << 5 | c);				/* SUBS */
		words = ((int32_t)(top - build_here(b)) >> 2) & 0x7ffff;
		put(b, 0x54000001 | words << 5);				/* B.NE */
	} else {
		put(b, 0xd1000400 | c << 5 | c);				/* SUB */
		words = ((int32_t)(top - build_here(b)) >> 2) & 0x7ffff;
		put(b, 0xb5000000 | words << 5 | c);				/* CBNZ */
	}
}

static void call(struct builder *b, unsigned int func)
{
	build_add_call(b, build_here(b), func, CALL_BL);
	put(b, 0x94000000);
}

static void call_indirect(struct builder *b, unsigned int func)
{
	static const uint32_t plain[] = { 0xd63f0120 };
	static const uint32_t auth[] = { 0xd63f0120, 0xd73f092c, 0xd73f0d2c, 0xd63f093f, 0xd63f0d3f };

	build_add_call(b, build_here(b), func, CALL_ADR);
	put(b, 0x10000009);							/* ADR x9 */
	if (build_pick(b, 2))
		filler(b);
	put(b, b->options->pointer_auth ? auth[build_pick(b, 5)] : plain[0]);
}

static uint32_t with_adr(uint32_t opcode, uint32_t bytes)
{
	return opcode | (bytes & 3) << 29 | ((bytes >> 2) & 0x7ffff) << 5;
}

static void patch_call(struct builder *b, const struct build_call *to)
{
	uint32_t target = b->func_at[to->func];

	if (to->kind == CALL_BL)
		patch(b, to->at, target);
	else
		build_set(b, to->at, with_adr(build_get(b, to->at), target - to->at));
}

static void jump(struct builder *b)
{
	static const uint32_t plain[] = { 0xd61f0180 };
	static const uint32_t auth[] = { 0xd61f0180, 0xd71f0989, 0xd71f0d89, 0xd61f099f, 0xd61f0d9f };
	unsigned int bits = sim_random_range(b->random, 1, 3);
	uint32_t ends[8];

	step(b);
	put(b, 0x92400149 | (bits - 1) << 10);					/* AND x9, x10, #mask */
	put(b, with_adr(0x1000000c, 12));					/* ADR x12, table */
	put(b, 0x8b090d8c);							/* ADD x12, x12, x9, LSL #3 */
	put(b, b->options->pointer_auth ? auth[build_pick(b, 5)] : plain[0]);	/* BR x12 */
	for (unsigned int i = 0; i < 1u << bits; i++) {
		filler(b);
		ends[i] = branch(b, true);
	}
	filler(b);
	for (unsigned int i = 0; i < 1u << bits; i++)
		patch(b, ends[i], build_here(b) - 4);
}

static void prologue(struct builder *b)
{
	if (b->options->pointer_auth && build_pick(b, 2))
		put(b, build_pick(b, 2) ? 0xd503233f : 0xd503237f);		/* PACIASP, PACIBSP */
	put(b, 0xa9bf7bfd);							/* STP x29, x30, [sp, #-16]! */
}

static void epilogue(struct builder *b)
{
	put(b, 0xa8c17bfd);							/* LDP x29, x30, [sp], #16 */
	if (b->handler) {
		static const uint32_t returns[] = { 0xd69f03e0, 0xd69f0bff, 0xd69f0fff };
		put(b, returns[b->options->pointer_auth ? build_pick(b, 3) : 0]);
		return;
	}
	switch (build_pick(b, b->options->pointer_auth ? 5 : 3)) {
	case 0:
		put(b, 0xaa1e03e9);						/* MOV x9, x30 */
		put(b, 0xd65f0120);						/* RET x9 */
		break;
	case 1:
		put(b, build_pick(b, 4) ? 0xd65f03c0 : 0xd61f03c0);		/* RET, BR x30 */
		break;
	case 3:
		put(b, 0xd65f0bff);						/* RETAA */
		break;
	case 4:
		put(b, 0xd65f0fff);						/* RETAB */
		break;
	default:
		put(b, 0xd65f03c0);						/* RET */
		break;
	}
}

static void early_return(struct builder *b)
{
	uint32_t skip = branch_if(b, true);

	epilogue(b);
	patch(b, skip, build_here(b));
}

static void isb(struct builder *b)
{
	put(b, 0xd5033fdf);
}

static void wfx(struct builder *b)
{
	static const uint32_t opcodes[] = { 0xd503205f, 0xd503207f, 0xd5031005, 0xd5031026 };

	put(b, opcodes[build_pick(b, 4)]);
}

static void svc(struct builder *b)
{
	put(b, 0xd4000001 | build_pick(b, 256) << 5);
}

/* TSTART x9; CBNZ x9, out; body, perhaps with TCANCEL; TCOMMIT; out: */
static void transaction(struct builder *b)
{
	put(b, 0xd5233069);
	put(b, 0xb5000009);
	uint32_t skip = build_here(b) - 4;
	filler(b);
	uint32_t keep = branch_if(b, true);
	put(b, 0xd4600000 | build_pick(b, 256) << 5);
	patch(b, keep, build_here(b));
	filler(b);
	put(b, 0xd503307f);
	patch(b, skip, build_here(b));
}

const struct build_ops build_a64 = {
	.filler = filler,
	.branch_if = branch_if,
	.branch = branch,
	.patch = patch,
	.loop_begin = loop_begin,
	.loop_end = loop_end,
	.call = call,
	.call_indirect = call_indirect,
	.patch_call = patch_call,
	.jump = jump,
	.prologue = prologue,
	.epilogue = epilogue,
	.early_return = early_return,
	.isb = isb,
	.wfx = wfx,
	.svc = svc,
	.transaction = transaction,
};
