// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A32 part of the program generator. r0-r3 hold data, r4 is a pseudo-random state, r5 + n is the loop counter of
 * function n, r11 points to memory, r12 is scratch. Functions of the other instruction set are called with BLX.
 */

#include "program_build.h"

enum { CALL_BL, CALL_MOVW_MOVT, CALL_COND_BL };

#define AL 0xe0000000

/* How the prologue saved LR. */
enum { FRAME_PUSH2, FRAME_STR };

static void put(struct builder *b, uint32_t opcode)
{
	build_word(b, opcode);
}

static uint32_t condition(struct builder *b)
{
	return (uint32_t)build_pick(b, 14) << 28;
}

static void filler(struct builder *b)
{
	uint32_t d = build_pick(b, 4);
	uint32_t n = build_pick(b, 4);
	uint32_t m = build_pick(b, 4);

	switch (build_pick(b, 10)) {
	case 0:
		put(b, AL | 0x02800000 | n << 16 | d << 12 | build_pick(b, 256));		/* ADD immediate */
		break;
	case 1:
		put(b, condition(b) | 0x02800000 | n << 16 | d << 12 | build_pick(b, 256));	/* ADD<c> */
		break;
	case 2:
		put(b, AL | 0x00200000 | n << 16 | d << 12 | m);				/* EOR */
		break;
	case 3:
		put(b, AL | 0x00000090 | d << 16 | m << 8 | n);					/* MUL */
		break;
	case 4:
		put(b, AL | 0x059b0000 | d << 12 | build_pick(b, 64) * 4);			/* LDR [r11] */
		break;
	case 5:
		put(b, condition(b) | 0x058b0000 | d << 12 | build_pick(b, 64) * 4);		/* STR<c> [r11] */
		break;
	case 6:
		put(b, AL | 0x03000000 | d << 12 | build_pick(b, 4096));			/* MOVW */
		break;
	case 7:
		put(b, build_pick(b, 2) ? 0xf57ff04f : 0xf57ff05f);				/* DSB, DMB */
		break;
	case 8:
		put(b, AL | 0x0320f000);							/* NOP */
		break;
	default:
		put(b, AL | 0x01500000 | n << 16 | m);						/* CMP */
		break;
	}
}

static void step(struct builder *b)
{
	put(b, 0xe284409d);		/* ADD r4, r4, #0x9d */
	put(b, 0xe02446e4);		/* EOR r4, r4, r4, ROR #13 */
}

/* Set the flags from the pseudo-random state and give a condition to use. */
static uint32_t random_condition(struct builder *b)
{
	step(b);
	if (build_pick(b, 2)) {
		put(b, 0xe3140000 | 1u << build_pick(b, 8));	/* TST r4, #bit */
		return (uint32_t)build_pick(b, 2) << 28;
	}
	put(b, 0xe1540000 | build_pick(b, 4));			/* CMP r4, rN */
	return condition(b);
}

static uint32_t branch_if(struct builder *b, bool near)
{
	uint32_t cond = random_condition(b);

	(void)near;
	put(b, cond | 0x0a000000);
	return build_here(b) - 4;
}

static uint32_t branch(struct builder *b, bool near)
{
	(void)near;
	put(b, 0xea000000);
	return build_here(b) - 4;
}

static void patch(struct builder *b, uint32_t at, uint32_t target)
{
	uint32_t imm = ((int32_t)(target - at - 8) >> 2) & 0x00ffffff;

	build_set(b, at, (build_get(b, at) & 0xff000000) | imm);
}

static void loop_begin(struct builder *b, unsigned int count)
{
	put(b, 0xe3a00000 | (5 + b->func) << 12 | count);
}

static void loop_end(struct builder *b, uint32_t top)
{
	uint32_t c = 5 + b->func;

	put(b, 0xe2500001 | c << 16 | c << 12);			/* SUBS */
	put(b, 0x1a000000);
	patch(b, build_here(b) - 4, top);
}

static void call(struct builder *b, unsigned int func)
{
	/* BLX immediate has no condition. */
	if (b->func_isa[func] == SIM_A32 && !build_pick(b, 3)) {
		uint32_t cond = random_condition(b);
		build_add_call(b, build_here(b), func, CALL_COND_BL);
		put(b, cond | 0x0b000000);
		return;
	}
	build_add_call(b, build_here(b), func, CALL_BL);
	put(b, 0);
}

static void function_pointer(struct builder *b, unsigned int func)
{
	build_add_call(b, build_here(b), func, CALL_MOVW_MOVT);
	put(b, 0xe300c000);					/* MOVW r12 */
	put(b, 0xe340c000);					/* MOVT r12 */
}

static void call_indirect(struct builder *b, unsigned int func)
{
	function_pointer(b, func);
	switch (build_pick(b, 4)) {
	case 0:
		put(b, 0xe58bc100);				/* STR r12, [r11, #256] */
		put(b, 0xe1a0e00f);				/* MOV lr, pc */
		put(b, 0xe59bf100);				/* LDR pc, [r11, #256] */
		break;
	case 1:
		put(b, 0xe1a0e00f);				/* MOV lr, pc */
		put(b, 0xe12fff1c);				/* BX r12 */
		break;
	default:
		put(b, 0xe12fff3c);				/* BLX r12 */
		break;
	}
}

static uint32_t with_imm16(uint32_t opcode, uint32_t imm)
{
	return opcode | (imm & 0xf000) << 4 | (imm & 0xfff);
}

static void patch_call(struct builder *b, const struct build_call *to)
{
	uint32_t target = b->func_at[to->func];
	bool t32 = b->func_isa[to->func] == SIM_T32;

	if (to->kind == CALL_MOVW_MOVT) {
		uint32_t address = SIM_CODE_BASE + target + (t32 ? 1 : 0);
		build_set(b, to->at, with_imm16(build_get(b, to->at), address & 0xffff));
		build_set(b, to->at + 4, with_imm16(build_get(b, to->at + 4), address >> 16));
	} else if (to->kind == CALL_COND_BL) {
		patch(b, to->at, target);
	} else {
		build_set(b, to->at, t32 ? 0xfa000000 : 0xeb000000);
		patch(b, to->at, target);
		if (t32 && ((target - to->at) & 2))
			build_set(b, to->at, build_get(b, to->at) | 1 << 24);
	}
}

/* Slots of two instructions that jump behind the table. */
static void slots(struct builder *b, unsigned int n)
{
	uint32_t ends[8];

	for (unsigned int i = 0; i < n; i++) {
		filler(b);
		ends[i] = branch(b, true);
	}
	filler(b);
	for (unsigned int i = 0; i < n; i++)
		patch(b, ends[i], build_here(b) - 4);
}

static void jump(struct builder *b)
{
	step(b);
	put(b, 0xe204c003);					/* AND r12, r4, #3 */
	switch (build_pick(b, 4)) {
	case 0:
		put(b, 0xe08ff18c);				/* ADD pc, pc, r12, LSL #3 */
		filler(b);
		slots(b, 4);
		break;
	case 1: {
		put(b, 0xe79ff10c);				/* LDR pc, [pc, r12, LSL #2] */
		put(b, 0xe320f000);
		uint32_t table = build_here(b);
		for (unsigned int i = 0; i < 4; i++)
			put(b, 0);
		for (unsigned int i = 0; i < 4; i++)
			build_set(b, table + 4 * i, SIM_CODE_BASE + build_here(b) + 8 * i);
		slots(b, 4);
		break;
	}
	case 2:
		put(b, 0xe28fe008);				/* ADD lr, pc, #8 */
		put(b, 0xe08ec18c);				/* ADD r12, lr, r12, LSL #3 */
		put(b, 0xe320f000);
		put(b, 0xe1a0f00c);				/* MOV pc, r12 */
		slots(b, 4);
		break;
	default:
		put(b, 0xe28fe008);				/* ADD lr, pc, #8 */
		put(b, 0xe08ec18c);				/* ADD r12, lr, r12, LSL #3 */
		put(b, 0xe320f000);
		put(b, 0xe12fff1c);				/* BX r12 */
		slots(b, 4);
		break;
	}
}

static void prologue(struct builder *b)
{
	b->frame = build_pick(b, 2) ? FRAME_PUSH2 : FRAME_STR;
	put(b, b->frame == FRAME_PUSH2 ? 0xe92d5000 : 0xe52de004);	/* PUSH {r12, lr}; STR lr, [sp, #-4]! */
}

static void handler_return(struct builder *b)
{
	static const uint32_t returns[] = { 0xe25ef004, 0xe1b0f00e, 0xf8bd0a00, 0xe8fd8000 };

	put(b, b->frame == FRAME_PUSH2 ? 0xe8bd5000 : 0xe49de004);
	put(b, returns[build_pick(b, 4)]);			/* SUBS pc; MOVS pc, lr; RFE; LDM ^ */
}

static void epilogue(struct builder *b)
{
	if (b->handler) {
		handler_return(b);
		return;
	}
	switch (build_pick(b, 3)) {
	case 0:
		put(b, b->frame == FRAME_PUSH2 ? 0xe8bd9000 : 0xe49df004);	/* POP {r12, pc}; LDR pc, [sp], #4 */
		break;
	default:
		put(b, b->frame == FRAME_PUSH2 ? 0xe8bd5000 : 0xe49de004);	/* POP {r12, lr}; LDR lr, [sp], #4 */
		put(b, build_pick(b, 2) ? 0xe12fff1e : 0xe1a0f00e);		/* BX lr; MOV pc, lr */
		break;
	}
}

static void early_return(struct builder *b)
{
	if (build_pick(b, 2)) {
		uint32_t skip = branch_if(b, true);
		epilogue(b);
		patch(b, skip, build_here(b));
	} else if (!b->handler) {
		uint32_t cond = random_condition(b);
		put(b, cond | (b->frame == FRAME_PUSH2 ? 0x08bd9000 : 0x049df004));
	}
}

static void isb(struct builder *b)
{
	put(b, 0xf57ff06f);
}

static void wfx(struct builder *b)
{
	put(b, build_pick(b, 2) ? 0xe320f002 : 0xe320f003);
}

static void svc(struct builder *b)
{
	put(b, 0xef000000 | build_pick(b, 256));
}

const struct build_ops build_a32 = {
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
