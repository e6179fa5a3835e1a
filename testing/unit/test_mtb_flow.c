// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/*
 * Packets of a Micro Trace Buffer to flow events, as lines: each case worked by hand. Each is decoded in many ways,
 * which all give the same events.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/mtb_flow.h>
#include <itrace/text.h>

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))
#define TEXT_NUM		8192
#define PACKET_MAX		24
#define CODE_MAX		64
#define SEGMENT_MAX		6
#define BLOCK_NUM		64

/* Memory: halfwords */

#define NOP	0xbf00
#define CMP	0x2800		/* CMP R0, #0 */
#define BEQ_4	0xd000		/* BEQ .+4 */
#define B_SELF	0xe7fe
#define B_8	0xe002		/* B .+8 */
#define B_NEXT	0xe7ff		/* B .+2 */
#define BX_LR	0x4770
#define BLX_R3	0x4798
#define POP_PC	0xbd10		/* POP {R4, PC} */
#define SVC_1	0xdf01
#define WFI	0xbf30
#define BKPT	0xbe00
#define ISB	0xf3bf, 0x8f6f
#define PUSH_W	0xe92d, 0x4ff0	/* PUSH.W {R4-R11, LR} */
#define BL_F4	0xf000, 0xf87a	/* BL .+0xf8 */
#define IT_EQ	0xbf08
#define ITT_EQ	0xbf04
#define ADDS	0x3101

struct code {
	uint32_t addr;
	unsigned int count;
	uint16_t words[CODE_MAX];
};

#define CODE(addr, ...)	{ addr, sizeof((uint16_t[]){ __VA_ARGS__ }) / 2, { __VA_ARGS__ } }
#define LO(word)	((word) & 0xffff), ((word) >> 16)

/* main at 0x100, a function at 0x200, handlers at 0x300, 0x310, 0x320 */
#define MAIN	CODE(0x100, NOP, CMP, BEQ_4, NOP, BL_F4, NOP, SVC_1, NOP, B_SELF)
#define FUNC	CODE(0x200, NOP, BX_LR)
#define HANDLERS CODE(0x300, NOP, BX_LR, NOP, NOP, NOP, NOP, NOP, NOP, NOP, POP_PC, NOP, NOP, NOP, NOP, NOP, NOP, \
		NOP, BX_LR)
/*
 * Vectors: HardFault 0x310, SVC 0x320, SysTick 0x300, IRQ0 0x310 (as HardFault), IRQ9 0x310 + 4. Behind IRQ9: a word
 * that is no handler.
 */
#define VECTORS	CODE(0x1000, LO(0x20001000), LO(0x101), LO(0x101), LO(0x311), LO(0), LO(0), LO(0), LO(0), LO(0), \
		LO(0), LO(0), LO(0x321), LO(0), LO(0), LO(0), LO(0x301), \
		LO(0x311), LO(0), LO(0), LO(0), LO(0), LO(0), LO(0), LO(0), LO(0), LO(0x305), LO(0x20000000), LO(0x307))

static const struct code program[] = { MAIN, FUNC, HANDLERS, VECTORS, { 0 } };
static const struct code it_program[] = {
	/* ITT EQ; ADDS; BXEQ LR; NOP; IT EQ; BEQ .+8; NOP */
	CODE(0x100, ITT_EQ, ADDS, BX_LR, NOP, IT_EQ, B_8, NOP, NOP, NOP, B_SELF), FUNC, HANDLERS, VECTORS, { 0 }
};
static const struct code wide_program[] = {
	CODE(0x100, NOP, PUSH_W, ISB, NOP, WFI, BKPT, NOP, BLX_R3, NOP, B_NEXT, NOP, B_SELF), FUNC, HANDLERS, VECTORS,
	{ 0 }
};

struct hint {
	bool wrapped;
	uint32_t pc_arm, pc_halt;	/* 0: not known */
	bool no_vectors;
	unsigned int seam_count;
	struct itrace_seam seams[3];
};

struct vector {
	const char *name;
	const struct code *program;
	struct hint hint;
	const char *events;
	unsigned int count;
	uint32_t words[2 * PACKET_MAX];
};

#define PACKETS(...)	sizeof((uint32_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ }

#define BEGIN	"       0  not synchronised: begin\n"
#define ON	"       0  trace on: begin or filter\n"
#define END(off) off "  end of trace\n"

static const struct vector vectors[] = {
	{
		"from the PC at arming to the first branch, over one that is not taken", program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional branch not taken\n"
		"       0  range 0x106 .. 0x10c: 2 T32, call taken\n"
		"       8  range 0x200 .. 0x204: 2 T32, return taken\n"
		END("       8"),
		PACKETS(0x108, 0x201, 0x202, 0x10c)
	}, {
		"without that PC: the first branch alone", program, { 0 },
		BEGIN ON
		"       0  range 0x108 .. 0x10c: 1 T32, call taken\n"
		"       8  range 0x200 .. 0x204: 2 T32, return taken\n"
		END("       8"),
		PACKETS(0x108, 0x201, 0x202, 0x10c)
	}, {
		"wrapped: the PC at arming is of no use", program, { .wrapped = true, .pc_arm = 0x100 },
		BEGIN
		"       0  range 0x108 .. 0x10c: 1 T32, call taken\n"
		"       8  range 0x200 .. 0x204: 2 T32, return taken\n"
		END("       8"),
		PACKETS(0x108, 0x200, 0x202, 0x10c)
	}, {
		"the branch is taken, and the PC where the core was halted ends the trace", program,
		{ .pc_arm = 0x100, .pc_halt = 0x10c },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional branch taken\n"
		"       8  range 0x108 .. 0x10c: 1 T32, call taken\n"
		"      16  range 0x200 .. 0x204: 2 T32, return taken\n"
		END("      16"),
		PACKETS(0x104, 0x109, 0x108, 0x200, 0x202, 0x10c)
	}, {
		"some instructions behind the last packet", program, { .pc_halt = 0x112 },
		BEGIN ON
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       0  range 0x10c .. 0x112: 3 T32, no branch\n"
		END("       0"),
		PACKETS(0x202, 0x10d)
	}, {
		"no packet at all: between two PCs", program, { .pc_arm = 0x10c, .pc_halt = 0x112 },
		BEGIN
		"       0  range 0x10c .. 0x112: 3 T32, no branch\n"
		END("       0"),
		0, { 0 }
	}, {
		"the core cannot have come to where it is said to be halted", program, { .pc_halt = 0x200 },
		BEGIN ON
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       0  gap: no-way at 0x10c: to 0x200 by the trace, to 0x112 by the program\n"
		END("       0"),
		PACKETS(0x202, 0x10d)
	}, {
		/* SVC itself ran; its return address is behind it */
		"SVC, return", program, { .pc_arm = 0x10c, .pc_halt = 0x112 },
		BEGIN ON
		"       0  range 0x10c .. 0x110: 2 T32, no branch\n"
		"       0  exception: SVC (0xb), return address 0x110\n"
		"       8  range 0x320 .. 0x324: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		"      16  range 0x110 .. 0x112: 1 T32, no branch\n"
		END("      16"),
		PACKETS(0x111, 0x321, 0x322, 0xfffffff8, 0xfffffff9, 0x110)
	}, {
		/* HardFault and IRQ0 have one handler */
		"which of two with one handler", program, { .pc_arm = 0x10c },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: HardFault (0x3) or another with this handler, return address 0x10e\n"
		END("       0"),
		PACKETS(0x10f, 0x311)
	}, {
		"an interrupt from number 8 on", program, { .pc_arm = 0x10c },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: IRQ9 (0x209), return address 0x10e\n"
		END("       0"),
		PACKETS(0x10f, 0x305)
	}, {
		"no vector leads there: the debugger wrote the PC", program, { .pc_arm = 0x10c, .pc_halt = 0x202 },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: not known which, return address 0x10e\n"
		"       0  range 0x200 .. 0x202: 1 T32, no branch\n"
		END("       0"),
		PACKETS(0x10f, 0x201)
	}, {
		"it wrote the PC that it was at", program, { .pc_arm = 0x10c, .pc_halt = 0x110 },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: not known which, return address 0x10e\n"
		"       0  range 0x10e .. 0x110: 1 T32, no branch\n"
		END("       0"),
		PACKETS(0x10f, 0x10f)
	}, {
		"what looks like a vector behind the table is none", program, { .pc_arm = 0x10c },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: not known which, return address 0x10e\n"
		END("       0"),
		PACKETS(0x10f, 0x307)
	}, {
		"an entry of 0 is no handler at 0", program, { .pc_arm = 0x10c },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: not known which, return address 0x10e\n"
		END("       0"),
		PACKETS(0x10f, 0x001)
	}, {
		"no vector table", program, { .pc_arm = 0x10c, .no_vectors = true },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: not known which, return address 0x10e\n"
		END("       0"),
		PACKETS(0x10f, 0x301)
	}, {
		"taken at the target of a branch, before anything ran there", program, { 0 },
		BEGIN ON
		"       0  range 0x108 .. 0x10c: 1 T32, call taken\n"
		"       8  exception: SysTick (0xf), return address 0x200, which is the target before\n"
		"      16  range 0x300 .. 0x304: 2 T32, return taken\n"
		"      16  exception return, EXC_RETURN 0xfffffffd\n"
		"      32  range 0x200 .. 0x204: 2 T32, return taken\n"
		END("      32"),
		PACKETS(0x108, 0x201, 0x201, 0x300, 0x302, 0xfffffffc, 0xfffffffd, 0x200, 0x202, 0x10c)
	}, {
		"nested: handler mode returns to handler mode", program, { .pc_arm = 0x10c, .pc_halt = 0x110 },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  range 0x300 .. 0x302: 1 T32, no branch\n"
		"       8  exception: IRQ9 (0x209), return address 0x302\n"
		"      16  range 0x304 .. 0x314: 8 T32, return taken\n"
		"      16  exception return, EXC_RETURN 0xfffffff1\n"
		"      32  range 0x302 .. 0x304: 1 T32, return taken\n"
		"      32  exception return, EXC_RETURN 0xfffffff9\n"
		"      40  range 0x10e .. 0x110: 1 T32, no branch\n"
		END("      40"),
		PACKETS(0x10f, 0x301, 0x303, 0x304, 0x312, 0xfffffff0, 0xfffffff1, 0x302, 0x302, 0xfffffff8, 0xfffffff9,
			0x10e)
	}, {
		"late arrival: the second handler's return address is the first handler", program, { .pc_arm = 0x10c },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  exception: IRQ9 (0x209), return address 0x300\n"
		END("       8"),
		PACKETS(0x10f, 0x301, 0x301, 0x304)
	}, {
		"late arrival: its return address is that of the first", program, { .pc_arm = 0x10c },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  exception: IRQ9 (0x209), return address 0x10e\n"
		END("       8"),
		PACKETS(0x10f, 0x301, 0x10f, 0x304)
	}, {
		"tail-chaining: from the return value to the next handler", program, { .pc_arm = 0x10c, .pc_halt = 0x110 },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		"      16  exception: IRQ9 (0x209)\n"
		"      24  range 0x304 .. 0x314: 8 T32, return taken\n"
		"      24  exception return, EXC_RETURN 0xfffffff9\n"
		"      32  range 0x10e .. 0x110: 1 T32, no branch\n"
		END("      32"),
		PACKETS(0x10f, 0x301, 0x302, 0xfffffff8, 0xfffffff9, 0x304, 0x312, 0xfffffff8, 0xfffffff9, 0x10e)
	}, {
		"tail-chaining: a whole return, and an exception there", program, { .pc_arm = 0x10c, .pc_halt = 0x110 },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		"      24  exception: IRQ9 (0x209), return address 0x10e\n"
		"      32  range 0x304 .. 0x314: 8 T32, return taken\n"
		"      32  exception return, EXC_RETURN 0xfffffff9\n"
		"      40  range 0x10e .. 0x110: 1 T32, no branch\n"
		END("      40"),
		PACKETS(0x10f, 0x301, 0x302, 0xfffffff8, 0xfffffff9, 0x10e, 0x10f, 0x304, 0x312, 0xfffffff8, 0xfffffff9, 0x10e)
	}, {
		"tail-chaining: half a return, and an exception with the old return address", program,
		{ .pc_arm = 0x10c, .pc_halt = 0x110 },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		"      16  exception: IRQ9 (0x209), return address 0x10e\n"
		"      24  range 0x304 .. 0x314: 8 T32, return taken\n"
		"      24  exception return, EXC_RETURN 0xfffffff9\n"
		"      32  range 0x10e .. 0x110: 1 T32, no branch\n"
		END("      32"),
		PACKETS(0x10f, 0x301, 0x302, 0xfffffff8, 0x10f, 0x304, 0x312, 0xfffffff8, 0xfffffff9, 0x10e)
	}, {
		/* SysTick's handler was itself interrupted at its first instruction: that is where the return goes */
		"a return to a handler's entry is no tail-chaining when it was interrupted there", program, { .pc_arm = 0x10c },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  exception: IRQ9 (0x209), return address 0x300\n"
		"      16  range 0x304 .. 0x314: 8 T32, return taken\n"
		"      16  exception return, EXC_RETURN 0xfffffff1\n"
		"      32  range 0x300 .. 0x304: 2 T32, return taken\n"
		"      32  exception return, EXC_RETURN 0xfffffff9\n"
		END("      32"),
		PACKETS(0x10f, 0x301, 0x301, 0x304, 0x312, 0xfffffff0, 0xfffffff1, 0x300, 0x302, 0xfffffff8)
	}, {
		"a scheduler: return to another thread", program, { .pc_arm = 0x10c, .pc_halt = 0x202 },
		BEGIN ON
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffffd\n"
		"      16  range 0x200 .. 0x202: 1 T32, no branch\n"
		END("      16"),
		PACKETS(0x10f, 0x301, 0x302, 0xfffffffc, 0xfffffffd, 0x200)
	}, {
		"the buffer begins with the second half of a return", program, { .wrapped = true, .pc_halt = 0x110 },
		BEGIN
		"       0  exception return, EXC_RETURN 0xfffffff9\n"
		"       0  range 0x10e .. 0x110: 1 T32, no branch\n"
		END("       0"),
		PACKETS(0xfffffff9, 0x10e)
	}, {
		"the buffer begins with an exception", program, { .wrapped = true },
		BEGIN
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		END("       8"),
		PACKETS(0x10f, 0x300, 0x302, 0xfffffff8)
	}, {
		"the second half is missing, and a branch follows", program, { .wrapped = true },
		BEGIN
		"       0  range 0x302 .. 0x304: 1 T32, return taken\n"
		"       0  exception return, EXC_RETURN 0xfffffff9\n"
		"       8  gap: no-address at 0xfffffff8\n"
		"       8  range 0x108 .. 0x10c: 1 T32, call taken\n"
		END("       8"),
		PACKETS(0x302, 0xfffffff8, 0x108, 0x200)
	}, {
		"the first half is missing", program, { .wrapped = true, .pc_halt = 0x110 },
		BEGIN
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  gap: no-way at 0x300: to 0xfffffff8 by the trace, nowhere by the program\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		"       8  range 0x10e .. 0x110: 1 T32, no branch\n"
		END("       8"),
		PACKETS(0x10f, 0x300, 0xfffffff9, 0x10e)
	}, {
		"Armv8-M: back to the other security state", program, { .wrapped = true, .pc_halt = 0x110 },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       8  range 0x10c .. 0x110: 2 T32, no branch\n"
		END("       8"),
		PACKETS(0x202, 0xfefffffe, 0xfefffffe, 0x10c)
	}, {
		"lock-up, as an exception", program, { .wrapped = true, .pc_halt = 0xfffffffe },
		BEGIN
		"       0  exception: HardFault (0x3) or another with this handler, return address 0x10e\n"
		"       8  range 0x310 .. 0x312: 1 T32, no branch\n"
		"       8  exception: Lockup (0x1a), return address 0x312\n"
		END("       8"),
		PACKETS(0x10f, 0x310, 0x313, 0xfffffffe)
	}, {
		"lock-up, as if the failing instruction had branched, and said again", program, { .wrapped = true },
		BEGIN
		"       0  exception: HardFault (0x3) or another with this handler, return address 0x10e\n"
		"       8  range 0x310 .. 0x314: 2 T32, return taken\n"
		"       8  exception: Lockup (0x1a)\n"
		END("      16"),
		PACKETS(0x10f, 0x310, 0x312, 0xeffffffe, 0xefffffff, 0xeffffffe)
	}, {
		"lock-up, no branch there", program, { .wrapped = true },
		BEGIN
		"       0  exception: SysTick (0xf), return address 0x10e\n"
		"       8  exception: Lockup (0x1a), return address 0x300\n"
		"      16  exception: IRQ9 (0x209), return address 0xfffffffe\n"
		END("      16"),
		PACKETS(0x10f, 0x300, 0x300, 0xfffffffe, 0xffffffff, 0x304)
	}, {
		"trace was stopped and started in between", program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional branch taken\n"
		"       8  trace on: begin or filter\n"
		"       8  range 0x202 .. 0x204: 1 T32, return taken\n"
		END("       8"),
		PACKETS(0x104, 0x109, 0x202, 0x10d)
	}, {
		"started again by an exception", program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional branch taken\n"
		"       8  trace on: begin or filter\n"
		"       8  exception: SysTick (0xf), return address 0x10e\n"
		END("       8"),
		PACKETS(0x104, 0x109, 0x10f, 0x301)
	}, {
		"branch to where nothing is, then a fault", program, { .wrapped = true },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       8  gap: no-memory at 0xdeadbeee (2 bytes wanted in space Any)\n"
		"       8  exception: HardFault (0x3) or another with this handler, return address 0xdeadbeee, "
		"which is the target before\n"
		END("       8"),
		PACKETS(0x202, 0xdeadbeee, 0xdeadbeef, 0x310)
	}, {
		"branch to where nothing is, at the end", program, { .wrapped = true },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       0  gap: no-memory at 0xdeadbeee (2 bytes wanted in space Any)\n"
		END("       0"),
		PACKETS(0x202, 0xdeadbeee)
	}, {
		"code that is not known ran, and came back", program, { .wrapped = true },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       8  gap: no-memory at 0x800 (2 bytes wanted in space Any)\n"
		"      16  range 0x10c .. 0x114: 4 T32, branch taken\n"
		END("      16"),
		PACKETS(0x202, 0x800, 0x810, 0x10c, 0x112, 0x112),
	}, {
		"a branch that goes elsewhere by the image", program, { .wrapped = true },
		BEGIN
		"       0  range 0x108 .. 0x10c: 1 T32, call taken\n"
		"       0  gap: target-differs at 0x108: to 0x300 by the trace, to 0x200 by the program\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		END("       8"),
		PACKETS(0x108, 0x300, 0x302, 0x10c)
	}, {
		"a branch where the image has none", program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x102: 1 T32, no branch\n"
		"       0  range 0x102 .. 0x104: 1 T32, no branch\n"
		"       0  gap: not-a-branch at 0x102: to 0x200 by the trace, to 0x104 by the program\n"
		"       8  range 0x200 .. 0x204: 2 T32, return taken\n"
		END("       8"),
		PACKETS(0x102, 0x201, 0x202, 0x10c)
	}, {
		"past a branch that is always taken", program, { .wrapped = true },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       8  range 0x100 .. 0x106: 3 T32, conditional branch not taken\n"
		"       8  gap: no-way at 0x106: to 0x112 by the trace, to 0x108 by the program\n"
		"      16  range 0x112 .. 0x114: 1 T32, branch taken\n"
		END("      16"),
		PACKETS(0x202, 0x100, 0x112, 0x112, 0x112, 0x112)
	}, {
		"backwards", program, { .wrapped = true, .pc_halt = 0x202 },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       8  gap: no-way at 0x10c: to 0x104 by the trace, nowhere by the program\n"
		"       8  range 0x200 .. 0x202: 1 T32, no branch\n"
		END("       8"),
		PACKETS(0x202, 0x10c, 0x104, 0x200)
	}, {
		"a packet for each instruction", program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x102: 1 T32, no branch\n"
		"       8  range 0x102 .. 0x104: 1 T32, no branch\n"
		"      16  range 0x104 .. 0x106: 1 T32, conditional branch not taken\n"
		"      24  range 0x106 .. 0x108: 1 T32, no branch\n"
		"      32  range 0x108 .. 0x10c: 1 T32, call taken\n"
		END("      32"),
		PACKETS(0x100, 0x103, 0x102, 0x104, 0x104, 0x106, 0x106, 0x108, 0x108, 0x200)
	}, {
		"a branch to itself", program, { .wrapped = true },
		BEGIN
		"       0  range 0x112 .. 0x114: 1 T32, branch taken\n"
		"       8  range 0x112 .. 0x114: 1 T32, branch taken\n"
		END("       8"),
		PACKETS(0x112, 0x112, 0x112, 0x112)
	}, {
		/* the last BX of it was not executed: its condition failed */
		"an IT block that is passed", it_program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional return not taken\n"
		"       0  range 0x106 .. 0x10c: 3 T32, conditional branch taken\n"
		END("       0"),
		PACKETS(0x10a, 0x113)
	}, {
		"a return from within an IT block", it_program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional return taken\n"
		END("       0"),
		PACKETS(0x104, 0x201)
	}, {
		"interrupted within an IT block: it goes on as one", it_program, { .pc_arm = 0x100, .pc_halt = 0x10a },
		BEGIN ON
		"       0  range 0x100 .. 0x104: 2 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x104\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		"      16  range 0x104 .. 0x106: 1 T32, conditional return not taken\n"
		"      16  range 0x106 .. 0x10a: 2 T32, no branch\n"
		END("      16"),
		PACKETS(0x105, 0x301, 0x302, 0xfffffff8, 0xfffffff9, 0x104)
	}, {
		"returned into an IT block whose beginning is not in the trace", it_program,
		{ .wrapped = true, .pc_halt = 0x10a },
		BEGIN
		"       0  exception return, EXC_RETURN 0xfffffff9\n"
		"       0  range 0x104 .. 0x106: 1 T32, return not taken\n"
		"       0  range 0x106 .. 0x10a: 2 T32, no branch\n"
		END("       0"),
		PACKETS(0xfffffff9, 0x104)
	}, {
		/* sleeping leaves nothing; ISB is executed and goes on */
		"32-bit instructions, ISB, sleeping", wide_program, { .pc_arm = 0x100, .pc_halt = 0x10e },
		BEGIN
		"       0  range 0x100 .. 0x10a: 3 T32, instruction barrier\n"
		"       0  range 0x10a .. 0x10e: 2 T32, no branch\n"
		END("       0"),
		0, { 0 }
	}, {
		/* it is not complete, and runs again after the return */
		"interrupted in a store of many registers", wide_program, { .pc_arm = 0x100, .pc_halt = 0x10a },
		BEGIN ON
		"       0  range 0x100 .. 0x102: 1 T32, no branch\n"
		"       0  exception: SysTick (0xf), return address 0x102\n"
		"       8  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       8  exception return, EXC_RETURN 0xfffffff9\n"
		"      16  range 0x102 .. 0x10a: 2 T32, instruction barrier\n"
		END("      16"),
		PACKETS(0x103, 0x301, 0x302, 0xfffffff8, 0xfffffff9, 0x102)
	}, {
		"a return address inside of an instruction", wide_program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x102: 1 T32, no branch\n"
		"       0  gap: no-way at 0x100: to 0x104 by the trace, to 0x102 by the program\n"
		"       0  exception: SysTick (0xf), return address 0x104\n"
		END("       0"),
		PACKETS(0x105, 0x301)
	}, {
		"a packet for ISB", wide_program, { .pc_arm = 0x100 },
		BEGIN ON
		"       0  range 0x100 .. 0x10a: 3 T32, instruction barrier\n"
		END("       0"),
		PACKETS(0x106, 0x10b)
	}, {
		"an indirect call, and a branch to the next instruction that leaves no packet", wide_program,
		{ .pc_arm = 0x10e, .pc_halt = 0x11a },
		BEGIN ON
		"       0  range 0x10e .. 0x114: 3 T32, indirect call taken\n"
		"       8  range 0x200 .. 0x204: 2 T32, return taken\n"
		"       8  range 0x114 .. 0x118: 2 T32, branch taken\n"
		"       8  range 0x118 .. 0x11a: 1 T32, no branch\n"
		END("       8"),
		PACKETS(0x112, 0x201, 0x202, 0x114)
	}, {
		"a seam cuts the way in two", program,
		{ .pc_arm = 0x100, .pc_halt = 0x112, .seam_count = 1, .seams = { { 16, 0x10e, true } } },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional branch not taken\n"
		"       0  range 0x106 .. 0x10c: 2 T32, call taken\n"
		"       8  range 0x200 .. 0x204: 2 T32, return taken\n"
		"      16  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"      16  seam: the core stood at 0x10e\n"
		"      16  range 0x10e .. 0x114: 3 T32, branch taken\n"
		END("      16"),
		PACKETS(0x108, 0x201, 0x202, 0x10c, 0x112, 0x112)
	}, {
		"a seam before trace begins anew: the way ends where the core stood, wherever the next one begins", program,
		{ .pc_arm = 0x100, .seam_count = 1, .seams = { { 16, 0x10e, true } } },
		BEGIN ON
		"       0  range 0x100 .. 0x106: 3 T32, conditional branch not taken\n"
		"       0  range 0x106 .. 0x10c: 2 T32, call taken\n"
		"       8  range 0x200 .. 0x204: 2 T32, return taken\n"
		"      16  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"      16  seam: the core stood at 0x10e\n"
		"      16  trace on: begin or filter\n"
		"      16  range 0x202 .. 0x204: 1 T32, return taken\n"
		END("      16"),
		PACKETS(0x108, 0x201, 0x202, 0x10c, 0x202, 0x113)
	}, {
		"a seam behind a branch that is not taken, one at the packet's source, one with no PC", program,
		{ .pc_arm = 0x100, .seam_count = 3, .seams = { { 0, 0x106, true }, { 0, 0x108, true }, { 0, 0, false } } },
		BEGIN
		"       0  range 0x100 .. 0x106: 3 T32, conditional branch not taken\n"
		"       0  seam: the core stood at 0x106\n"
		"       0  range 0x106 .. 0x108: 1 T32, no branch\n"
		"       0  seam: the core stood at 0x108\n"
		"       0  seam\n" ON
		"       0  range 0x108 .. 0x10c: 1 T32, call taken\n"
		END("       0"),
		PACKETS(0x108, 0x201)
	}, {
		"the PC of a seam behind the packet's source, and inside of an instruction: nothing is cut", wide_program,
		{ .pc_arm = 0x100, .seam_count = 2, .seams = { { 0, 0x104, true }, { 8, 0x118, true } } },
		BEGIN
		"       0  seam: the core stood at 0x104\n" ON
		"       0  range 0x100 .. 0x10a: 3 T32, instruction barrier\n"
		"       8  seam: the core stood at 0x118\n"
		"       8  range 0x10a .. 0x10c: 1 T32, no branch\n"
		"       8  exception: SysTick (0xf), return address 0x10c\n"
		END("       8"),
		PACKETS(0x106, 0x10b, 0x10d, 0x300)
	}, {
		"the PC of a seam begins a way that was not known", program,
		{ .seam_count = 1, .seams = { { 0, 0x106, true } } },
		BEGIN
		"       0  seam: the core stood at 0x106\n"
		"       0  range 0x106 .. 0x10c: 2 T32, call taken\n"
		END("       0"),
		PACKETS(0x108, 0x200)
	}, {
		"a last filling without packets: the way goes to its seam, and on to where the core was halted", program,
		{ .pc_halt = 0x112, .seam_count = 2, .seams = { { 8, 0x10e, true }, { 8, 0x10e, true } } },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       0  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"       8  seam: the core stood at 0x10e\n"
		"       8  seam: the core stood at 0x10e\n"
		"       0  range 0x10e .. 0x112: 2 T32, no branch\n"
		END("       0"),
		PACKETS(0x202, 0x10c)
	}, {
		"the same when where it was halted is not known", program,
		{ .seam_count = 1, .seams = { { 8, 0x110, true } } },
		BEGIN
		"       0  range 0x202 .. 0x204: 1 T32, return taken\n"
		"       0  range 0x10c .. 0x110: 2 T32, no branch\n"
		"       8  seam: the core stood at 0x110\n"
		END("       0"),
		PACKETS(0x202, 0x10c)
	}, {
		"a seam between the halves of a return, and one in front of a new start", program,
		{ .pc_arm = 0x300, .seam_count = 2, .seams = { { 8, 0x10c, true }, { 16, 0x10e, true } } },
		BEGIN
		"       0  range 0x300 .. 0x304: 2 T32, return taken\n"
		"       0  exception return, EXC_RETURN 0xfffffff9\n"
		"       8  seam: the core stood at 0x10c\n"
		"      16  range 0x10c .. 0x10e: 1 T32, no branch\n"
		"      16  seam: the core stood at 0x10e\n"
		"      16  trace on: begin or filter\n"
		"      16  range 0x112 .. 0x114: 1 T32, branch taken\n"
		END("      16"),
		PACKETS(0x302, 0xfffffff8, 0xfffffff9, 0x10c, 0x112, 0x113)
	}, {
		"a seam cuts a way where nothing is known", program,
		{ .pc_arm = 0x204, .seam_count = 1, .seams = { { 0, 0x206, true } } },
		BEGIN
		"       0  seam: the core stood at 0x206\n"
		"       0  gap: no-memory at 0x204 (2 bytes wanted in space Any)\n"
		"       8  range 0x112 .. 0x114: 1 T32, branch taken\n"
		END("       8"),
		PACKETS(0x212, 0x112, 0x112, 0x112)
	}
};

struct way {
	size_t first, chunk;	/* bytes of the chunks; 0: all */
	unsigned int n;
	size_t blocks;
	bool one_by_one;
};

static struct itrace_image image;
static struct itrace_mtb_flow flow;

static void put_events(unsigned int n, char *text)
{
	struct itrace_event events[16];
	char line[ITRACE_TEXT_MAX];
	unsigned int got;

	while ((got = itrace_mtb_flow_next(&flow, events, n)) != 0) {
		for (unsigned int i = 0; i < got; i++) {
			itrace_text_event(&events[i], true, line, sizeof(line));
			assert_true(strlen(text) + strlen(line) + 2 < TEXT_NUM);
			strcat(text, line);
			strcat(text, "\n");
		}
	}
}

static void decode(const struct vector *vector, const struct way *way, char *text)
{
	struct itrace_segment segments[SEGMENT_MAX];
	struct itrace_ledger ledger;
	uint8_t *copies[SEGMENT_MAX];
	const size_t len = vector->count * 8;
	uint8_t bytes[PACKET_MAX * 8];
	struct itrace_block *blocks = malloc(way->blocks * sizeof(*blocks));
	size_t count = 0;

	for (; vector->program[count].count; count++) {
		const struct code *code = &vector->program[count];
		assert_true(count < SEGMENT_MAX);
		copies[count] = malloc(code->count * 2);
		for (unsigned int i = 0; i < code->count; i++) {
			copies[count][2 * i] = code->words[i] & 0xff;
			copies[count][2 * i + 1] = code->words[i] >> 8;
		}
		segments[count] = (struct itrace_segment){
			.addr = code->addr, .len = code->count * 2, .data = copies[count], .space = ITRACE_SPACE_ANY
		};
	}
	for (unsigned int i = 0; i < 2 * vector->count; i++)
		for (unsigned int byte = 0; byte < 4; byte++)
			bytes[4 * i + byte] = (uint8_t)(vector->words[i] >> 8 * byte);

	const struct itrace_mtb_hints hints = {
		.wrapped = vector->hint.wrapped,
		.has_pc_arm = vector->hint.pc_arm, .pc_arm = vector->hint.pc_arm,
		.has_pc_halt = vector->hint.pc_halt, .pc_halt = vector->hint.pc_halt,
		.has_vtor = !vector->hint.no_vectors, .vtor = 0x1000,
		.seams = vector->hint.seams, .seam_count = vector->hint.seam_count,
	};
	itrace_image_init(&image, segments, count, NULL, NULL);
	itrace_ledger_init(&ledger);
	itrace_mtb_flow_init(&flow, &hints, &image, blocks, way->blocks, &ledger);
	flow.one_by_one = way->one_by_one;
	text[0] = 0;
	for (size_t pos = 0, part = way->first; pos < len; part = way->chunk) {
		if (!part || part > len - pos)
			part = len - pos;
		/* a copy, so that reading a byte behind it is found */
		uint8_t *chunk = malloc(part);
		memcpy(chunk, bytes + pos, part);
		itrace_mtb_flow_feed(&flow, pos, chunk, part);
		put_events(way->n, text);
		free(chunk);
		pos += part;
	}
	itrace_mtb_flow_finish(&flow);
	put_events(way->n, text);
	assert_true(itrace_ledger_balances(&ledger));
	assert_int_equal(ledger.trace_len, len);
	assert_int_equal(ledger.decoded_len, len);
	for (size_t i = 0; i < count; i++)
		free(copies[i]);
	free(blocks);
}

static void test_events(void **state)
{
	static char text[TEXT_NUM];
	unsigned int failed = 0;

	for (size_t i = 0; i < ARRAY_NUM(vectors); i++) {
		const struct way way = { .n = 16, .blocks = BLOCK_NUM };

		decode(&vectors[i], &way, text);
		if (!strcmp(text, vectors[i].events))
			continue;
		failed++;
		/* in pieces: cmocka cuts long messages */
		print_error("%s:\n", vectors[i].name);
		print_error("%s", text);
		print_error("not:\n");
		print_error("%s\n", vectors[i].events);
	}
	assert_int_equal(failed, 0);
}

static void test_ways(void **state)
{
	static char whole[TEXT_NUM], text[TEXT_NUM];

	for (size_t i = 0; i < ARRAY_NUM(vectors); i++) {
		const struct way usual = { .n = 16, .blocks = BLOCK_NUM };

		decode(&vectors[i], &usual, whole);
		for (size_t first = 1; first < 8 * vectors[i].count + 1; first++) {
			for (unsigned int kind = 0; kind < 8; kind++) {
				const struct way way = {
					.first = first, .chunk = kind & 1 ? 1 + first % 11 : 0, .n = kind & 2 ? 1 + first % 3 : 16,
					.blocks = first % 2 ? 1 : BLOCK_NUM, .one_by_one = kind & 4,
				};
				decode(&vectors[i], &way, text);
				if (strcmp(text, whole))
					fail_msg("%s, first %zu, chunk %zu, n %u, blocks %zu:\n%snot:\n%s", vectors[i].name, way.first,
						way.chunk, way.n, way.blocks, text, whole);
			}
		}
	}
}

/* A packet that is cut off at the end is in the ledger, and no gap. */
static void test_partial(void **state)
{
	static const uint8_t bytes[] = { 0x12, 1, 0, 0, 0x12, 1, 0, 0, 0x12, 1, 0 };
	struct itrace_block blocks[1];
	struct itrace_event events[16];
	struct itrace_ledger ledger;

	itrace_image_init(&image, NULL, 0, NULL, NULL);
	itrace_ledger_init(&ledger);
	itrace_mtb_flow_init(&flow, NULL, &image, blocks, 1, &ledger);
	itrace_mtb_flow_feed(&flow, 0, bytes, sizeof(bytes));
	itrace_mtb_flow_finish(&flow);
	while (itrace_mtb_flow_next(&flow, events, 16))
		;
	assert_true(itrace_ledger_balances(&ledger));
	assert_int_equal(ledger.trace_len, 11);
	assert_int_equal(ledger.decoded_len, 8);
	assert_int_equal(ledger.partial_len, 3);
	assert_int_equal(ledger.unsynced_len, 3);
	assert_int_equal(ledger.packet_count[ITRACE_LEDGER_MTB + ITRACE_MTB_BRANCH], 1);
	assert_int_equal(ledger.packet_len[ITRACE_LEDGER_MTB + ITRACE_MTB_BRANCH], 8);
	/* no code is known where it came from, nor where it went */
	assert_int_equal(ledger.gap_count[ITRACE_GAP_NO_MEMORY], 2);
	assert_string_equal(itrace_ledger_packet_name(ITRACE_LEDGER_MTB + ITRACE_MTB_LOCKUP), "lock-up");
	assert_string_equal(itrace_ledger_packet_name(ITRACE_PACKET_ASYNC), "alignment synchronisation");
	assert_string_equal(itrace_ledger_packet_name(ITRACE_LEDGER_KINDS), "unknown");
}

/* A reset forgets where the program was and what was cut, but no byte. */
static void test_reset(void **state)
{
	static const uint8_t bytes[] = { 0x12, 1, 0, 0, 0x13, 1, 0, 0, 0x12, 1, 0, 0x12, 1, 0, 0, 0x12, 1, 0, 0 };
	static const uint8_t self[] = { 0xfe, 0xe7 };
	const struct itrace_segment segment = { 0x112, 2, self, ITRACE_SPACE_ANY, 0 };
	static char text[TEXT_NUM];
	struct itrace_block blocks[1];
	struct itrace_ledger ledger;

	itrace_image_init(&image, &segment, 1, NULL, NULL);
	itrace_ledger_init(&ledger);
	itrace_mtb_flow_init(&flow, NULL, &image, blocks, 1, &ledger);
	itrace_mtb_flow_feed(&flow, 0, bytes, 11);
	text[0] = 0;
	put_events(16, text);
	itrace_mtb_flow_reset(&flow, NULL, ITRACE_NO_SYNC_RESET);
	itrace_mtb_flow_feed(&flow, 11, bytes + 11, 8);
	itrace_mtb_flow_finish(&flow);
	put_events(16, text);
	assert_string_equal(text,
		"       0  not synchronised: begin\n"
		"       0  trace on: begin or filter\n"
		"       0  range 0x112 .. 0x114: 1 T32, branch taken\n"
		"       0  not synchronised: further input\n"
		"      11  range 0x112 .. 0x114: 1 T32, branch taken\n"
		"      11  end of trace\n");
	assert_true(itrace_ledger_balances(&ledger));
	assert_int_equal(ledger.trace_len, 19);
	assert_int_equal(ledger.decoded_len, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
