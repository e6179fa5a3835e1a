// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * T32 part of the program generator, for A/R and M profile. Registers as in program_a32.c. Opcodes of 32 bits are
 * written with the first halfword high.
 */

#include "program_build.h"

enum { CALL_BL, CALL_MOVW_MOVT };

enum { FRAME_PUSH1, FRAME_PUSH2, FRAME_STR };

static void put16(struct builder *b, uint16_t opcode)
{
	build_half(b, opcode);
}

static void put32(struct builder *b, uint32_t opcode)
{
	build_word(b, opcode);
}

static void filler32(struct builder *b)
{
	uint32_t d = build_pick(b, 4);
	uint32_t n = build_pick(b, 4);

	switch (build_pick(b, 6)) {
	case 0:
		put32(b, 0xf1000000 | n << 16 | d << 8 | build_pick(b, 256));	/* ADD.W */
		break;
	case 1:
		put32(b, 0xfb00f000 | n << 16 | d << 8 | build_pick(b, 4));	/* MUL */
		break;
	case 2:
		put32(b, 0xf8db0000 | d << 12 | build_pick(b, 64) * 4);		/* LDR.W [r11] */
		break;
	case 3:
		put32(b, 0xf8cb0000 | d << 12 | build_pick(b, 64) * 4);		/* STR.W [r11] */
		break;
	case 4:
		put32(b, 0xf2400000 | d << 8 | build_pick(b, 256));		/* MOVW */
		break;
	default:
		put32(b, 0xf3af8000);						/* NOP.W */
		break;
	}
}

static void filler16(struct builder *b)
{
	uint32_t d = build_pick(b, 4);

	switch (build_pick(b, 5)) {
	case 0:
		put16(b, 0x3000 | d << 8 | build_pick(b, 256));			/* ADDS */
		break;
	case 1:
		put16(b, 0x2000 | d << 8 | build_pick(b, 256));			/* MOVS */
		break;
	case 2:
		put16(b, 0x4040 | build_pick(b, 4) << 3 | d);			/* EORS */
		break;
	case 3:
		put16(b, 0x4280 | build_pick(b, 4) << 3 | d);			/* CMP */
		break;
	default:
		put16(b, 0xbf00);						/* NOP */
		break;
	}
}

static void step(struct builder *b)
{
	put32(b, 0xf104049d);		/* ADD.W r4, r4, #0x9d */
	put32(b, 0xea843474);		/* EOR.W r4, r4, r4, ROR #13 */
}

static uint32_t random_condition(struct builder *b)
{
	step(b);
	if (build_pick(b, 2)) {
		put32(b, 0xf0140f00 | 1u << build_pick(b, 8));			/* TST.W r4, #bit */
		return build_pick(b, 2);
	}
	put16(b, 0x4280 | build_pick(b, 4) << 3 | 4);				/* CMP r4, rN */
	return build_pick(b, 14);
}

/* IT with a block of @a n instructions: the first under @a cond, the others under it or its opposite. */
static void it(struct builder *b, uint32_t cond, unsigned int n, bool same)
{
	unsigned int mask = 1u << (4 - n);

	for (unsigned int i = 1; i < n; i++) {
		unsigned int bit = same || build_pick(b, 2) ? cond & 1 : (cond & 1) ^ 1;
		mask |= bit << (4 - i);
	}
	put16(b, 0xbf00 | cond << 4 | mask);
}

static void it_block(struct builder *b)
{
	unsigned int n = sim_random_range(b->random, 1, 4);

	it(b, random_condition(b), n, false);
	while (n--) {
		/* CMP would change the flags inside of the block. */
		if (build_pick(b, 2))
			put16(b, 0x3000 | build_pick(b, 4) << 8 | build_pick(b, 256));
		else
			filler32(b);
	}
}

static void filler(struct builder *b)
{
	unsigned int what = build_pick(b, 12);

	if (what < 5)
		filler16(b);
	else if (what < 10)
		filler32(b);
	else if (what < 11)
		it_block(b);
	else
		put32(b, build_pick(b, 2) ? 0xf3bf8f4f : 0xf3bf8f5f);		/* DSB, DMB */
}

static uint32_t branch_if(struct builder *b, bool near)
{
	uint32_t cond;

	if (near && !build_pick(b, 3)) {
		step(b);
		put32(b, 0xf0040200 | 1u << build_pick(b, 8));			/* AND.W r2, r4, #bit */
		put16(b, build_pick(b, 2) ? 0xb102 : 0xb902);			/* CBZ, CBNZ r2 */
		return build_here(b) - 2;
	}
	cond = random_condition(b);
	if (!build_pick(b, 4)) {
		/* A branch that is conditional by an IT block. */
		it(b, cond, 1, true);
		if (near) {
			put16(b, 0xe000);
			return build_here(b) - 2;
		}
		put32(b, 0xf0009000);
		return build_here(b) - 4;
	}
	if (near) {
		put16(b, 0xd000 | cond << 8);
		return build_here(b) - 2;
	}
	put32(b, 0xf0008000 | cond << 22);
	return build_here(b) - 4;
}

static uint32_t branch(struct builder *b, bool near)
{
	if (near && build_pick(b, 4)) {
		put16(b, 0xe000);
		return build_here(b) - 2;
	}
	put32(b, 0xf0009000);
	return build_here(b) - 4;
}

/* Offset fields of B T4, BL and BLX: S:I1:I2:imm10:imm11. */
static uint32_t with_offset25(uint32_t opcode, int32_t offset)
{
	uint32_t u = offset;
	uint32_t s = (u >> 24) & 1;
	uint32_t j1 = (~(u >> 23) ^ s) & 1;
	uint32_t j2 = (~(u >> 22) ^ s) & 1;

	return opcode | s << 26 | ((u >> 12) & 0x3ff) << 16 | j1 << 13 | j2 << 11 | ((u >> 1) & 0x7ff);
}

/* Offset fields of B<c> T3: S:J2:J1:imm6:imm11. */
static uint32_t with_offset21(uint32_t opcode, int32_t offset)
{
	uint32_t u = offset;

	return opcode | ((u >> 20) & 1) << 26 | ((u >> 12) & 0x3f) << 16 | ((u >> 18) & 1) << 13 |
		((u >> 19) & 1) << 11 | ((u >> 1) & 0x7ff);
}

static void patch(struct builder *b, uint32_t at, uint32_t target)
{
	int32_t offset = (int32_t)(target - at - 4);
	uint16_t half = build_get_half(b, at);
	uint32_t u = offset;

	if ((half & 0xf500) == 0xb100) {
		build_set_half(b, at, half | ((u >> 6) & 1) << 9 | ((u >> 1) & 31) << 3);
	} else if ((half & 0xf000) == 0xd000) {
		build_set_half(b, at, half | ((u >> 1) & 0xff));
	} else if ((half & 0xf800) == 0xe000) {
		build_set_half(b, at, half | ((u >> 1) & 0x7ff));
	} else {
		uint32_t opcode = build_get(b, at);
		bool conditional = (opcode & 0x1000) == 0;
		build_set(b, at, conditional ? with_offset21(opcode, offset) : with_offset25(opcode, offset));
	}
}

static void loop_begin(struct builder *b, unsigned int count)
{
	put32(b, 0xf04f0000 | (5 + b->func) << 8 | count);			/* MOV.W */
}

static void loop_end(struct builder *b, uint32_t top)
{
	uint32_t c = 5 + b->func;

	put32(b, 0xf1b00001 | c << 16 | c << 8);				/* SUBS.W */
	if (build_here(b) - top < 200 && build_pick(b, 4)) {
		put16(b, 0xd100);
		patch(b, build_here(b) - 2, top);
	} else {
		put32(b, 0xf0408000);
		patch(b, build_here(b) - 4, top);
	}
}

static void call(struct builder *b, unsigned int func)
{
	build_add_call(b, build_here(b), func, CALL_BL);
	put32(b, b->func_isa[func] == SIM_A32 ? 0xf000c000 : 0xf000d000);
}

static void function_pointer(struct builder *b, unsigned int func)
{
	build_add_call(b, build_here(b), func, CALL_MOVW_MOVT);
	put32(b, 0xf2400c00);							/* MOVW r12 */
	put32(b, 0xf2c00c00);							/* MOVT r12 */
}

static void call_indirect(struct builder *b, unsigned int func)
{
	uint32_t cond;

	if (build_pick(b, 3)) {
		function_pointer(b, func);
		put16(b, 0x47e0);						/* BLX r12 */
		return;
	}
	cond = random_condition(b);
	function_pointer(b, func);
	it(b, cond, 1, true);
	put16(b, 0x47e0);							/* BLX<c> r12 */
}

static uint32_t with_imm16(uint32_t opcode, uint32_t imm)
{
	return opcode | (imm & 0xf000) << 4 | (imm & 0x800) << 15 | (imm & 0x700) << 4 | (imm & 0xff);
}

static void patch_call(struct builder *b, const struct build_call *to)
{
	uint32_t target = b->func_at[to->func];
	bool t32 = b->func_isa[to->func] == SIM_T32;

	if (to->kind == CALL_MOVW_MOVT) {
		uint32_t address = SIM_CODE_BASE + target + (t32 ? 1 : 0);
		build_set(b, to->at, with_imm16(build_get(b, to->at), address & 0xffff));
		build_set(b, to->at + 4, with_imm16(build_get(b, to->at + 4), address >> 16));
	} else {
		/* BLX counts from the word that holds it. */
		uint32_t from = t32 ? to->at : to->at & ~3u;
		int32_t offset = (int32_t)(target - from - 4);
		build_set(b, to->at, with_offset25(build_get(b, to->at), offset));
	}
}

static void word_align(struct builder *b)
{
	if (build_here(b) & 2)
		put16(b, 0xbf00);
}

/* Slots of eight bytes that jump behind the last one. */
static void slots(struct builder *b, unsigned int n)
{
	uint32_t ends[4];

	for (unsigned int i = 0; i < n; i++) {
		filler32(b);
		put32(b, 0xf0009000);
		ends[i] = build_here(b) - 4;
	}
	filler16(b);
	for (unsigned int i = 0; i < n; i++)
		patch(b, ends[i], build_here(b) - 2);
}

static void table_branch(struct builder *b, bool half)
{
	put32(b, half ? 0xe8dff01c : 0xe8dff00c);				/* TBH, TBB [pc, r12] */
	/* Offsets count halfwords from the table itself. */
	if (half) {
		for (unsigned int i = 0; i < 4; i++)
			put16(b, 4 + 4 * i);
	} else {
		put16(b, 2 | 6 << 8);
		put16(b, 10 | 14 << 8);
	}
	slots(b, 4);
}

static void jump_to_register(struct builder *b)
{
	word_align(b);
	/* ADR counts from the word that holds it, plus 4: the slots begin 12 or 14 bytes after it. */
	put32(b, 0xea4f0ccc);							/* LSL.W r12, r12, #3 */
	put32(b, 0xf20f0e0c);							/* ADR.W lr, slots */
	put32(b, 0xeb0c0c0e);							/* ADD.W r12, r12, lr */
	if (build_pick(b, 2)) {
		put16(b, 0x46e7);						/* MOV pc, r12 */
		put16(b, 0xbf00);
		put32(b, 0xf3af8000);
	} else {
		put32(b, 0xf04c0c01);						/* ORR.W r12, r12, #1 */
		put16(b, 0x4760);						/* BX r12 */
		put16(b, 0xbf00);
	}
	slots(b, 4);
}

static void load_pc(struct builder *b)
{
	word_align(b);
	put32(b, 0xf8dff000);							/* LDR.W pc, [pc, #0] */
	uint32_t literal = build_here(b);
	put32(b, 0);
	filler(b);
	uint32_t target = SIM_CODE_BASE + build_here(b) + 1;
	build_set_data(b, literal, target);
	filler(b);
}

static void jump(struct builder *b)
{
	step(b);
	put32(b, 0xf0040c03);							/* AND.W r12, r4, #3 */
	switch (build_pick(b, 5)) {
	case 0:
		table_branch(b, false);
		break;
	case 1:
		table_branch(b, true);
		break;
	case 2:
		word_align(b);
		put32(b, 0xea4f0ccc);						/* LSL.W r12, r12, #3 */
		put16(b, 0x44e7);						/* ADD pc, r12 */
		put16(b, 0xbf00);
		slots(b, 4);
		break;
	case 3:
		load_pc(b);
		break;
	default:
		jump_to_register(b);
		break;
	}
}

static void prologue(struct builder *b)
{
	b->frame = build_pick(b, 3);
	if (b->frame == FRAME_PUSH1)
		put16(b, 0xb500);						/* PUSH {lr} */
	else
		put32(b, b->frame == FRAME_PUSH2 ? 0xe92d5000 : 0xf84ded04);	/* PUSH {r12, lr}; STR lr, [sp, #-4]! */
}

static void pop_pc(struct builder *b)
{
	if (b->frame == FRAME_PUSH1)
		put16(b, 0xbd00);						/* POP {pc} */
	else
		put32(b, b->frame == FRAME_PUSH2 ? 0xe8bd9000 : 0xf85dfb04);	/* POP {r12, pc}; LDR pc, [sp], #4 */
}

static void pop_lr(struct builder *b)
{
	put32(b, b->frame == FRAME_PUSH2 ? 0xe8bd5000 : 0xf85deb04);
}

static void epilogue(struct builder *b)
{
	if (b->handler && !b->options->m_profile) {
		pop_lr(b);
		put32(b, build_pick(b, 2) ? 0xf3de8f04 : 0xe9bdc000);		/* SUBS pc, lr, #4; RFE */
		return;
	}
	if (build_pick(b, 2)) {
		pop_pc(b);
		return;
	}
	pop_lr(b);
	/* MOV pc does not change the instruction set. */
	put16(b, b->options->m_profile && build_pick(b, 3) == 0 ? 0x46f7 : 0x4770);	/* MOV pc, lr; BX lr */
}

static void early_return(struct builder *b)
{
	if (b->handler || build_pick(b, 2)) {
		uint32_t skip = branch_if(b, true);
		epilogue(b);
		patch(b, skip, build_here(b));
		return;
	}
	it(b, random_condition(b), 1, true);
	pop_pc(b);
}

static void isb(struct builder *b)
{
	put32(b, 0xf3bf8f6f);
}

static void wfx(struct builder *b)
{
	switch (build_pick(b, 3)) {
	case 0:
		put16(b, 0xbf20);
		break;
	case 1:
		put16(b, 0xbf30);
		break;
	default:
		put32(b, build_pick(b, 2) ? 0xf3af8002 : 0xf3af8003);
		break;
	}
}

static void svc(struct builder *b)
{
	put16(b, 0xdf00 | build_pick(b, 256));
}

const struct build_ops build_t32 = {
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
};
