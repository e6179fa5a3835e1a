// SPDX-License-Identifier: GPL-2.0-or-later
// check-group: xtensa

/*
 * What the simulated Xtensa core does for a debugger: stopping, injecting, breakpoints, stepping; its time; and the
 * exceptions that testing/diff/test_xtensa_qemu.py does not compare. The core is included: it is not in a library that
 * tests are linked with.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/xtensa_cpu.c"
#include "sim/xtensa_insn.c"

#define CODE		0x40080000u
#define DATA		0x3ffb0000u
#define DEVICE		0x3ff00000u
#define LEN		0x1000u
#define START		(CODE + 0x400)
#define NO_END		1000000u

/* Words to inject or to execute. */
#define XSR_DDR_A3	0x616830u
#define RSR_DDR_A3	0x036830u
#define WSR_DDR_A3	0x136830u
#define RSR_EPC6_A3	0x03b630u
#define RFDO		0xf1e000u
#define ROTW(n)		(0x408000u | ((n) & 15u) << 4)
#define WSR(sr, t)	(0x130000u | (sr) << 8 | (t) << 4)
#define RSR(sr, t)	(0x030000u | (sr) << 8 | (t) << 4)
#define XSR(sr, t)	(0x610000u | (sr) << 8 | (t) << 4)
#define MOVI(t, n)	(0x00a002u | ((n) & 0xffu) << 16 | ((n) & 0xf00u) | (t) << 4)
#define ADDI(t, s, n)	(0x00c002u | ((n) & 0xffu) << 16 | (s) << 8 | (t) << 4)
#define L32I(t, s)	(0x002002u | (s) << 8 | (t) << 4)
#define S32I(t, s)	(0x006002u | (s) << 8 | (t) << 4)
#define S8I(t, s)	(0x004002u | (s) << 8 | (t) << 4)
#define ENTRY(s, frame)	(0x000036u | (frame) / 8u << 12 | (s) << 8)
#define RETW		0x000090u
#define RFWO		0x003400u
#define L8UI(t, s)	(0x000002u | (s) << 8 | (t) << 4)
#define QUOU(r, s, t)	(0xc20000u | (r) << 12 | (s) << 8 | (t) << 4)
#define LDDR32_P(s)	(0x0070e0u | (s) << 8)
#define SDDR32_P(s)	(0x0070f0u | (s) << 8)
#define RFR(r, f)	(0xfa0040u | (f) << 8 | (r) << 12)
#define WFR(f, s)	(0xfa0050u | (s) << 8 | (f) << 12)
#define RUR(r, u)	(0xe30000u | (u) << 4 | (r) << 12)
#define WUR(u, t)	(0xf30000u | (u) << 8 | (t) << 4)
#define MOVSP(t, s)	(0x001000u | (s) << 8 | (t) << 4)
#define BREAK		0x004000u
#define WAITI		0x007000u
#define NOP		0x0020f0u
#define SYSCALL		0x005000u
#define RFI(n)		(0x003010u | (n) << 8)
#define RFE		0x003000u
#define J_SELF		0xffff06u	/* to itself */
#define J_BACK(n)	((((0u - 4 - (n)) << 6) & 0xffffc0u) | 6)

struct board {
	struct xtensa_cpu cpu;
	uint8_t code[LEN];
	uint8_t data[LEN];
	uint32_t device;
	unsigned int reads, writes;
	uint32_t raise;		/* interrupts that a write to the device raises */
	uint64_t profile[LEN];
};

static enum xtensa_bus_result bus_read(void *ctx, uint32_t addr, unsigned int size, uint32_t *value)
{
	struct board *board = ctx;

	if (addr != DEVICE || size != 4)
		return XTENSA_BUS_ERROR;
	board->reads++;
	*value = board->device;
	return XTENSA_BUS_OK;
}

static enum xtensa_bus_result bus_write(void *ctx, uint32_t addr, unsigned int size, uint32_t value)
{
	struct board *board = ctx;

	if (addr != DEVICE || size != 4)
		return XTENSA_BUS_ERROR;
	board->writes++;
	board->device = value;
	if (board->raise)
		xtensa_cpu_irq(&board->cpu, board->raise);
	return XTENSA_BUS_OK;
}

static uint8_t *bus_memory(void *ctx, uint32_t addr, uint32_t *start, uint32_t *len)
{
	struct board *board = ctx;

	*len = LEN;
	*start = addr & ~(LEN - 1);
	return *start == CODE ? board->code : *start == DATA ? board->data : NULL;
}

static const uint8_t *bus_fetch(void *ctx, uint32_t addr, size_t *len)
{
	uint32_t start;
	uint32_t size;
	const uint8_t *bytes = bus_memory(ctx, addr, &start, &size);

	*len = size - (addr - start);
	return bytes ? bytes + (addr - start) : NULL;
}

static int setup(void **state)
{
	static struct board board;
	const struct xtensa_config config = {
		.debug_level = 6,
		.excm_level = 3,
		.reset_vector = START,
		.vecbase = CODE,
		.prid = 0xcdcd,
		.timer_interrupt = { 6, 15, 16 },
		.interrupt_level = { [2] = 2, [6] = 1, [7] = 1, [14] = 7, [15] = 3, [16] = 5 },
		.lddr32p = true,
	};
	const struct xtensa_bus bus = { &board, bus_read, bus_write, bus_fetch, bus_memory };

	memset(&board, 0, sizeof(board));
	assert_int_equal(xtensa_cpu_init(&board.cpu, &config, &bus), 0);
	for (unsigned int i = 0; i < XTENSA_AR_COUNT; i++)
		board.cpu.ar[i] = 0xa0000000 + i;
	*state = &board;
	return 0;
}

static int teardown(void **state)
{
	struct board *board = *state;

	xtensa_cpu_free(&board->cpu);
	return 0;
}

/* Write instructions of 3 bytes from @a addr on, up to a 0. */
static void put(struct board *board, uint32_t addr, const uint32_t *words)
{
	for (uint8_t *at = board->code + (addr - CODE); *words; words++, at += 3)
		put_bytes(at, 2, *words), at[2] = *words >> 16;
}

#define PUT(board, addr, ...)	put(board, addr, (const uint32_t[]){ __VA_ARGS__, 0 })

static void step(struct xtensa_cpu *cpu)
{
	assert_int_equal(xtensa_cpu_run(cpu, cpu->cycle + 1, true), XTENSA_RUNNING);
}

static void set_ps(struct xtensa_cpu *cpu, uint32_t ps)
{
	xtensa_ps_write(cpu, ps);
}

static void inject(struct xtensa_cpu *cpu, uint32_t word)
{
	assert_int_equal(xtensa_cpu_inject(cpu, word), XTENSA_INJECT_DONE);
}

static void resume(struct xtensa_cpu *cpu)
{
	assert_int_equal(xtensa_cpu_inject(cpu, RFDO), XTENSA_INJECT_RESUMED);
	assert_false(cpu->in_ocd);
}

static void assert_no_change(struct xtensa_cpu *cpu, uint32_t word)
{
	static struct xtensa_cpu before;

	before = *cpu;
	assert_int_equal(xtensa_cpu_inject(cpu, word), XTENSA_INJECT_EXCEPTION);
	/* the interpreter's own looking around is no change */
	before.limit = cpu->limit;
	assert_memory_equal(&before, cpu, sizeof(before));
}

/* ---- stop, inject, resume ---- */

static void test_stop_and_resume(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, ADDI(2, 2, 1), ADDI(3, 3, 1), J_BACK(6));
	set_ps(cpu, 0x20);
	step(cpu);
	assert_int_equal(cpu->pc, START + 3);
	assert_true(xtensa_cpu_can_interrupt(cpu, false));
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	assert_true(cpu->in_ocd);
	assert_false(xtensa_cpu_can_interrupt(cpu, true));
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1 + 5], START + 3);
	assert_int_equal(cpu->sr[XTENSA_SR_EPS2 + 4], 0x20);
	assert_int_equal(cpu->sr[XTENSA_SR_PS], 0x36);
	assert_int_equal(cpu->sr[XTENSA_SR_DEBUGCAUSE], 0x20);
	assert_int_equal(cpu->debug_cause, 0x20);
	/* nothing executes, but time passes */
	const uint64_t cycle = cpu->cycle;
	assert_int_equal(xtensa_cpu_run(cpu, cycle + 1000, true), XTENSA_RUNNING);
	assert_int_equal(cpu->cycle, cycle + 1000);
	assert_int_equal(cpu->standing, 1000);
	assert_int_equal(cpu->retired, 1);
	resume(cpu);
	assert_int_equal(cpu->pc, START + 3);
	assert_int_equal(cpu->sr[XTENSA_SR_PS], 0x20);
	step(cpu);
	assert_int_equal(xtensa_cpu_a(cpu, 3), 0xa0000004);
}

/* X, R, X: the value of a3 goes through DDR and comes back, DDR then has the PC. */
static void test_lean_sequence(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	xtensa_sr_write(cpu, XTENSA_SR_WINDOWBASE, 5);
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	cpu->ddr = 0x11111111;
	inject(cpu, XSR_DDR_A3);
	assert_int_equal(xtensa_cpu_a(cpu, 3), 0x11111111);
	assert_int_equal(cpu->ddr, 0xa0000000 + 23);
	assert_true(cpu->ddr_read && cpu->ddr_written);
	inject(cpu, RSR_EPC6_A3);
	assert_int_equal(xtensa_cpu_a(cpu, 3), START);
	inject(cpu, XSR_DDR_A3);
	assert_int_equal(cpu->ddr, START);
	for (unsigned int i = 0; i < XTENSA_AR_COUNT; i++)
		assert_int_equal(cpu->ar[i], 0xa0000000 + i);
}

static void test_xsr_of_ddr_as_configured(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	cpu->ddr = 5;
	cpu->config.xsr_ddr = XTENSA_XSR_READS_ONLY;
	inject(cpu, XSR_DDR_A3);
	assert_int_equal(xtensa_cpu_a(cpu, 3), 5);
	assert_int_equal(cpu->ddr, 5);
	assert_true(cpu->ddr_read && !cpu->ddr_written);
	cpu->config.xsr_ddr = XTENSA_XSR_FAULTS;
	assert_no_change(cpu, XSR_DDR_A3);
	/* other registers are swapped all the same */
	inject(cpu, XSR(XTENSA_SR_EPC1 + 5, 3));
	assert_int_equal(xtensa_cpu_a(cpu, 3), START);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1 + 5], 5);
	inject(cpu, WSR_DDR_A3);
	assert_true(cpu->ddr_written);
	assert_int_equal(cpu->ddr, START);
	inject(cpu, MOVI(3, 1));
	inject(cpu, RSR_DDR_A3);
	assert_int_equal(xtensa_cpu_a(cpu, 3), START);
}

static void test_rotation_comes_round(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	xtensa_sr_write(cpu, XTENSA_SR_WINDOWBASE, 3);
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	for (unsigned int i = 1; i <= 4; i++) {
		inject(cpu, ROTW(4));
		assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], (3 + 4 * i) % 16);
		assert_int_equal(xtensa_cpu_a(cpu, 15), 0xa0000000 + (12 + 16 * i + 15) % 64);
	}
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 3);
	inject(cpu, ROTW(0u - 1));
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 2);
	/* a value of more than 4 bits is cut off */
	inject(cpu, MOVI(2, 0x7f));
	inject(cpu, WSR(XTENSA_SR_WINDOWBASE, 2));
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 15);
}

static void test_memory_through_ddr(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	put_bytes(board->data, 4, 0x12345678);
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	*xtensa_ar(cpu, 2) = DATA;
	inject(cpu, LDDR32_P(2));
	assert_int_equal(cpu->ddr, 0x12345678);
	assert_true(cpu->ddr_written && !cpu->ddr_read);
	inject(cpu, SDDR32_P(2));
	assert_int_equal(get_bytes(board->data + 4, 4), 0x12345678);
	assert_true(cpu->ddr_read);
	assert_int_equal(xtensa_cpu_a(cpu, 2), DATA + 8);
	/* nothing there, not aligned, not configured */
	*xtensa_ar(cpu, 2) = 0x80000000;
	assert_no_change(cpu, LDDR32_P(2));
	assert_no_change(cpu, SDDR32_P(2));
	assert_no_change(cpu, L32I(4, 2));
	assert_no_change(cpu, S32I(4, 2));
	*xtensa_ar(cpu, 2) = DATA + 1;
	assert_no_change(cpu, LDDR32_P(2));
	*xtensa_ar(cpu, 2) = DATA;
	cpu->config.lddr32p = false;
	assert_no_change(cpu, LDDR32_P(2));
	assert_no_change(cpu, SDDR32_P(2));
}

static void test_injected_that_fault(void **state)
{
	static const uint32_t words[] = {
		BREAK, WAITI, SYSCALL, J_SELF, RFE, RFI(2), 0x000080 /* RET */, 0x0000c0 /* CALLX0 */, 0x000005 /* CALL0 */,
		0x000090 /* RETW */, 0x000000 /* ILL */, 0xf01d /* RETW.N */, 0x028076 /* LOOP */, 0x004136 /* ENTRY */,
		0x000016 /* BEQZ */, QUOU(4, 5, 6), RFR(4, 1), WFR(1, 4), RUR(4, 232u), WUR(233u, 4),
	};
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	/* while it runs, nothing can be injected */
	assert_no_change(cpu, MOVI(3, 1));
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	*xtensa_ar(cpu, 6) = 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_no_change(cpu, words[i]);
	/* registers that a debugger would have to save windows for, if it lets window exceptions in */
	cpu->sr[XTENSA_SR_WINDOWSTART] = 3;
	set_ps(cpu, PS_WOE | 6);
	assert_no_change(cpu, MOVI(4, 1));
	inject(cpu, MOVI(3, 1));
}

static void test_float_and_user_registers(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	inject(cpu, WUR(231u, 4));
	inject(cpu, RUR(5u, 231u));
	assert_int_equal(xtensa_cpu_a(cpu, 5), 0xa0000004);
	inject(cpu, MOVI(2, 1));
	inject(cpu, WSR(XTENSA_SR_CPENABLE, 2));
	inject(cpu, WFR(7u, 4));
	inject(cpu, RFR(6u, 7u));
	assert_int_equal(xtensa_cpu_a(cpu, 6), 0xa0000004);
	inject(cpu, WUR(232u, 4));
	inject(cpu, RUR(7u, 232u));
	assert_int_equal(xtensa_cpu_a(cpu, 7), 0xa0000004);
}

static void test_code_written_by_injection(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, MOVI(2, 1), J_BACK(3));
	set_ps(cpu, 0);
	xtensa_cpu_run(cpu, 10, true);
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	*xtensa_ar(cpu, 4) = START;
	*xtensa_ar(cpu, 5) = MOVI(2, 7) | (J_BACK(3) & 0xff) << 24;
	inject(cpu, S32I(5, 4));
	resume(cpu);
	xtensa_cpu_run(cpu, cpu->cycle + 10, true);
	assert_int_equal(xtensa_cpu_a(cpu, 2), 7);
	/* by somebody else, who says so */
	PUT(board, START, MOVI(2, 8));
	xtensa_cpu_code_changed(cpu, START, 3);
	xtensa_cpu_run(cpu, cpu->cycle + 10, true);
	assert_int_equal(xtensa_cpu_a(cpu, 2), 8);
}

/* A store into the last byte of an instruction only. */
static void test_last_byte_written(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, MOVI(2, 1), J_BACK(3));
	xtensa_cpu_run(cpu, 10, true);
	assert_int_equal(xtensa_cpu_a(cpu, 2), 1);
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	*xtensa_ar(cpu, 4) = START + 2;
	*xtensa_ar(cpu, 5) = 9;
	inject(cpu, S8I(5, 4));
	resume(cpu);
	xtensa_cpu_run(cpu, cpu->cycle + 10, true);
	assert_int_equal(xtensa_cpu_a(cpu, 2), 9);
}

/* ---- windows, where qemu's programs do not get ---- */

/* ENTRY finds the registers in use that no call has asked for. */
static void test_entry_overflows(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, ENTRY(1, 32));
	xtensa_sr_write(cpu, XTENSA_SR_WINDOWBASE, 15);
	xtensa_sr_write(cpu, XTENSA_SR_WINDOWSTART, 0x8006);
	set_ps(cpu, PS_WOE | 2 << PS_CALLINC_SHIFT);
	step(cpu);
	/* the frame at 1 is 4 long: at 2 there is the next one */
	assert_int_equal(cpu->pc, CODE + VECTOR_OVERFLOW4);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 1);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1], START);
	assert_int_equal(cpu->sr[XTENSA_SR_PS], PS_WOE | PS_EXCM | 2 << PS_CALLINC_SHIFT | 15 << PS_OWB_SHIFT);
	PUT(board, CODE, RFWO);
	xtensa_cpu_code_changed(cpu, CODE, 3);
	step(cpu);
	assert_int_equal(cpu->pc, START);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 15);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWSTART], 0x8004);
	/* what is at 2 is in nobody's way yet */
	step(cpu);
	assert_int_equal(cpu->pc, START + 3);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 1);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWSTART], 0x8006);
	assert_int_equal(xtensa_cpu_a(cpu, 1), 0xa0000000 + 61 - 32);
}

static void test_return_to_nobody(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;
	static const uint32_t ps[] = { PS_WOE, PS_WOE, 0 };
	static const uint32_t a0[] = { 0xc0080500, 0x00080500, 0x80080500 };

	PUT(board, START, RETW);
	for (unsigned int i = 0; i < 3; i++) {
		/* the caller is 2 panes down; a0 says 3 or 0, or there are no windows */
		cpu->pc = START;
		xtensa_sr_write(cpu, XTENSA_SR_WINDOWBASE, 9);
		xtensa_sr_write(cpu, XTENSA_SR_WINDOWSTART, 1 << 9 | 1 << 7);
		*xtensa_ar(cpu, 0) = a0[i];
		set_ps(cpu, ps[i]);
		step(cpu);
		assert_int_equal(cpu->pc, CODE + 0x300);
		assert_int_equal(cpu->sr[XTENSA_SR_EXCCAUSE], EXC_ILLEGAL);
		assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 9);
	}
	cpu->pc = START;
	*xtensa_ar(cpu, 0) = 0x80080500;
	set_ps(cpu, PS_WOE);
	step(cpu);
	assert_int_equal(cpu->pc, 0x40080500);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 7);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWSTART], 1 << 7);
}

/* ---- breakpoints and steps ---- */

static void expect_stop(struct xtensa_cpu *cpu, uint32_t pc, uint32_t cause)
{
	assert_int_equal(xtensa_cpu_run(cpu, cpu->cycle + NO_END, true), XTENSA_STOPPED);
	assert_true(cpu->in_ocd);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1 + 5], pc);
	assert_int_equal(cpu->debug_cause, cause);
	assert_int_equal(cpu->sr[XTENSA_SR_DEBUGCAUSE], cause);
}

static void test_break(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, NOP, BREAK, NOP, J_BACK(9));
	set_ps(cpu, 0);
	expect_stop(cpu, START + 3, XTENSA_CAUSE_BREAK);
	/* met again and again, until it is stepped over */
	resume(cpu);
	expect_stop(cpu, START + 3, XTENSA_CAUSE_BREAK);
	cpu->sr[XTENSA_SR_EPC1 + 5] += 3;
	resume(cpu);
	expect_stop(cpu, START + 3, XTENSA_CAUSE_BREAK);
	put_bytes(board->code + 0x403, 2, 0xf02d);		/* BREAK.N */
	xtensa_cpu_code_changed(cpu, START, 16);
	resume(cpu);
	expect_stop(cpu, START + 3, XTENSA_CAUSE_BREAKN);
}

static void test_break_without_debugger(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, BREAK, MOVI(5, 5), J_SELF);
	PUT(board, CODE + 0x280, RSR(XTENSA_SR_EPC1 + 5, 2), ADDI(2, 2, 3), WSR(XTENSA_SR_EPC1 + 5, 2), RFI(6u));
	set_ps(cpu, 0);
	assert_int_equal(xtensa_cpu_run(cpu, 100, false), XTENSA_RUNNING);
	assert_false(cpu->in_ocd);
	assert_int_equal(cpu->pc, START + 6);
	assert_int_equal(xtensa_cpu_a(cpu, 5), 5);
	/* masked, it does nothing at all */
	set_ps(cpu, 6);
	cpu->pc = START;
	step(cpu);
	assert_int_equal(cpu->pc, START + 3);
}

static void test_instruction_breakpoint(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, ADDI(2, 2, 1), ADDI(3, 3, 1), J_BACK(6));
	set_ps(cpu, 0);
	cpu->sr[XTENSA_SR_IBREAKA0 + 1] = START + 3;
	xtensa_sr_write(cpu, XTENSA_SR_IBREAKENABLE, 2);
	expect_stop(cpu, START + 3, XTENSA_CAUSE_IBREAK);
	assert_int_equal(xtensa_cpu_a(cpu, 2), 0xa0000003);
	assert_int_equal(xtensa_cpu_a(cpu, 3), 0xa0000003);
	/* at the same place: at once again */
	const uint64_t cycle = cpu->cycle;
	resume(cpu);
	expect_stop(cpu, START + 3, XTENSA_CAUSE_IBREAK);
	assert_int_equal(cpu->cycle, cycle);
	/* not where the level masks it */
	resume(cpu);
	set_ps(cpu, 6);
	assert_int_equal(xtensa_cpu_run(cpu, cpu->cycle + 100, true), XTENSA_RUNNING);
}

static void test_data_breakpoint(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, L8UI(5, 4), S32I(6, 4), ADDI(4, 4, 4), J_BACK(9));
	*xtensa_ar(cpu, 4) = DATA;
	set_ps(cpu, 0);
	cpu->sr[XTENSA_SR_DBREAKA0] = DATA + 0x106;
	xtensa_sr_write(cpu, XTENSA_SR_DBREAKC0, 0x8000003fu);
	expect_stop(cpu, START + 3, XTENSA_CAUSE_DBREAK);
	assert_int_equal(xtensa_cpu_a(cpu, 4), DATA + 0x104);
	assert_int_equal(get_bytes(board->data + 0x104, 4), 0);
	/* loads, of any of 16 bytes */
	resume(cpu);
	cpu->sr[XTENSA_SR_DBREAKA0] = DATA + 0x208;
	xtensa_sr_write(cpu, XTENSA_SR_DBREAKC0, 0x40000030u);
	expect_stop(cpu, START, XTENSA_CAUSE_DBREAK);
	assert_int_equal(xtensa_cpu_a(cpu, 4), DATA + 0x200);
	/* the debugger's own accesses do not count */
	inject(cpu, L8UI(5, 4));
}

static void test_single_step(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, ADDI(2, 2, 1), ADDI(3, 3, 1), J_BACK(6));
	set_ps(cpu, 0);
	for (unsigned int i = 1; i < 10; i++) {
		xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
		xtensa_sr_write(cpu, XTENSA_SR_ICOUNTLEVEL, 6);
		xtensa_sr_write(cpu, XTENSA_SR_ICOUNT, -2u);
		resume(cpu);
		expect_stop(cpu, START + i % 3 * 3, XTENSA_CAUSE_ICOUNT);
		assert_int_equal(cpu->retired, i);
		assert_int_equal(cpu->sr[XTENSA_SR_ICOUNT], -1u);
		xtensa_sr_write(cpu, XTENSA_SR_ICOUNTLEVEL, 0);
		resume(cpu);
	}
	/* what is not below the level does not count */
	xtensa_sr_write(cpu, XTENSA_SR_ICOUNTLEVEL, 2);
	xtensa_sr_write(cpu, XTENSA_SR_ICOUNT, -5u);
	set_ps(cpu, 2);
	xtensa_cpu_run(cpu, cpu->cycle + 100, true);
	assert_int_equal(cpu->sr[XTENSA_SR_ICOUNT], -5u);
}

static void test_interrupt_conditions(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	for (unsigned int level = 0; level < 8; level++) {
		set_ps(cpu, level | PS_EXCM);
		assert_int_equal(xtensa_cpu_can_interrupt(cpu, false), level < 6);
		assert_true(xtensa_cpu_can_interrupt(cpu, true));
	}
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	assert_false(xtensa_cpu_can_interrupt(cpu, true));
	/* another cause while it is stopped */
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_BREAK);
	assert_int_equal(cpu->debug_cause, XTENSA_CAUSE_DEBUGINT | XTENSA_CAUSE_BREAK);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1 + 5], START);
}

/* ---- waiting, time, interrupts ---- */

static void test_waiti(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, WAITI, ADDI(2, 2, 1), J_BACK(6));
	PUT(board, CODE + 0x300, ADDI(3, 3, 1), WSR(XTENSA_SR_CCOMPARE0, 4), RFE);
	board->cpu.profile = board->profile;
	board->cpu.profile_start = CODE;
	board->cpu.profile_end = CODE + LEN;
	*xtensa_ar(cpu, 4) = 0;
	set_ps(cpu, 5);
	xtensa_cpu_run(cpu, 500, true);
	assert_true(cpu->waiting);
	assert_int_equal(cpu->sr[XTENSA_SR_PS], 0);
	assert_int_equal(cpu->cycle, 500);
	assert_int_equal(cpu->pc, START + 3);
	assert_int_equal(cpu->retired, 1);
	/* a debugger finds it behind, and it does not wait any more then */
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1 + 5], START + 3);
	xtensa_cpu_run(cpu, 600, true);
	resume(cpu);
	xtensa_cpu_run(cpu, 700, true);
	assert_int_equal(xtensa_cpu_a(cpu, 2), 0xa0000003);
	assert_true(cpu->waiting);
	/* a timer ends it, exactly */
	xtensa_sr_write(cpu, XTENSA_SR_CCOMPARE0, ccount(cpu) + 50);
	xtensa_sr_write(cpu, XTENSA_SR_INTENABLE, 1 << 6);
	xtensa_cpu_run(cpu, 750, true);
	assert_int_equal(cpu->pc, START + 3);
	xtensa_cpu_run(cpu, 751, true);
	assert_int_equal(cpu->pc, CODE + 0x303);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1], START + 3);
	assert_int_equal(cpu->sr[XTENSA_SR_EXCCAUSE], EXC_LEVEL1_INTERRUPT);
	xtensa_cpu_run(cpu, 900, true);
	assert_true(cpu->waiting);
	assert_int_equal(cpu->interrupts, 0);
	assert_int_equal(xtensa_cpu_a(cpu, 3), 0xa0000004);
	/* every cycle is somewhere */
	uint64_t sum = cpu->profile_outside;
	for (unsigned int i = 0; i < LEN; i++)
		sum += board->profile[i];
	assert_int_equal(sum, cpu->cycle - cpu->standing);
	assert_int_equal(cpu->standing, 100);
	assert_int_equal(board->profile[0x300] + board->profile[0x303] + board->profile[0x306], 5);
	/* WAITI 3 times, the jump twice, the rest at the ADDI */
	assert_int_equal(board->profile[0x400], 3);
	assert_int_equal(board->profile[0x406], 6);
}

static void test_cycles(void **state)
{
	/* a0 is made a place to return to by CALL0, which is at START */
	static const struct {
		uint32_t word;
		unsigned int cycles;
	} cases[] = {
		{ NOP, 1 }, { ADDI(2, 2, 1), 1 }, { L32I(2, 4), 1 }, { S32I(2, 4), 1 }, { J_SELF, 3 }, { 0x000080, 3 },
		{ 0x0000a0, 3 }, { QUOU(5u, 5, 5), 13 }, { 0x000005, 3 }, { 0x0000c0, 3 },
		{ 0x005797 /* BBC a7, a9 */, 3 }, { 0x00d797 /* BBS */, 1 }, { RFE, 3 },
	};
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	*xtensa_ar(cpu, 4) = DATA;
	*xtensa_ar(cpu, 7) = 0;
	*xtensa_ar(cpu, 0) = START;
	cpu->sr[XTENSA_SR_EPC1] = START;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		PUT(board, START, cases[i].word);
		xtensa_cpu_code_changed(cpu, START, 3);
		cpu->pc = START;
		const uint64_t cycle = cpu->cycle;
		step(cpu);
		assert_int_equal(cpu->cycle - cycle, cases[i].cycles);
		assert_int_equal(cpu->retired, i + 1);
	}
}

static void test_ccount(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, J_SELF);
	xtensa_cpu_run(cpu, 300, true);
	assert_int_equal(xtensa_sr_read(cpu, XTENSA_SR_CCOUNT), 300);
	xtensa_sr_write(cpu, XTENSA_SR_CCOUNT, -100u);
	xtensa_sr_write(cpu, XTENSA_SR_CCOMPARE0 + 1, 50);
	xtensa_cpu_run(cpu, 447, true);
	assert_false(cpu->interrupts & 1 << 15);
	xtensa_cpu_run(cpu, 453, true);
	assert_true(cpu->interrupts & 1 << 15);
	/* on, or not, while the debugger has it */
	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	xtensa_cpu_run(cpu, 1453, true);
	assert_int_equal(xtensa_sr_read(cpu, XTENSA_SR_CCOUNT), 1053);
	cpu->config.ccount_stops = true;
	assert_int_equal(xtensa_sr_read(cpu, XTENSA_SR_CCOUNT), 53);
	xtensa_cpu_run(cpu, 2000, true);
	assert_int_equal(xtensa_sr_read(cpu, XTENSA_SR_CCOUNT), 53);
}

static void test_run_stall(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, J_SELF);
	cpu->run_stall = true;
	assert_int_equal(xtensa_cpu_run(cpu, 100, true), XTENSA_RUNNING);
	assert_int_equal(cpu->cycle, 100);
	assert_int_equal(cpu->stalled, 100);
	assert_int_equal(cpu->retired, 0);
	cpu->run_stall = false;
	xtensa_cpu_run(cpu, 130, true);
	assert_int_equal(cpu->retired, 10);
	assert_int_equal(cpu->stalled, 100);
}

static void test_interrupts_from_outside(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, S32I(2, 4), ADDI(3, 3, 1), J_SELF);
	PUT(board, CODE + 0x180, S32I(3, 4), J_SELF);
	PUT(board, CODE + 0x2c0, J_SELF);
	*xtensa_ar(cpu, 4) = DEVICE;
	board->raise = 1 << 2;
	xtensa_sr_write(cpu, XTENSA_SR_INTENABLE, 1 << 2);
	set_ps(cpu, 0x20);
	xtensa_cpu_run(cpu, 20, true);
	/* right behind the store */
	assert_int_equal(board->writes, 2);
	assert_int_equal(board->device, 0xa0000003);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1 + 1], START + 3);
	assert_int_equal(cpu->sr[XTENSA_SR_EPS2], 0x20);
	assert_int_equal(cpu->sr[XTENSA_SR_PS], 0x32);
	assert_int_equal(cpu->pc, CODE + 0x183);
	/* NMI: at its edge, once, whatever the level is */
	set_ps(cpu, 6);
	xtensa_cpu_irq(cpu, 1 << 14);
	xtensa_cpu_settle(cpu);
	assert_int_equal(cpu->pc, CODE + 0x2c0);
	assert_int_equal(cpu->sr[XTENSA_SR_EPC1 + 6], CODE + 0x183);
	set_ps(cpu, 0);
	cpu->pc = START + 6;
	xtensa_cpu_settle(cpu);
	assert_int_equal(cpu->pc, START + 6);
}

/* ---- exceptions ---- */

static void test_exceptions(void **state)
{
	static const struct {
		uint32_t word;
		uint32_t addr;		/* a4 */
		enum xtensa_exccause cause;
		bool with_address;
	} cases[] = {
		{ L32I(2, 4), 0x80000000, EXC_LOAD_STORE_ERROR, true },
		{ S32I(2, 4), 0x80000000, EXC_LOAD_STORE_ERROR, true },
		{ L32I(2, 4), DATA + 2, EXC_UNALIGNED, true },
		{ S32I(2, 4), DATA + 1, EXC_UNALIGNED, true },
		{ SYSCALL, 0, EXC_SYSCALL, false },
		{ QUOU(2, 2, 4), 0, EXC_DIVIDE_BY_ZERO, false },
		{ RFR(2, 1), 0, EXC_COPROCESSOR0, false },
		{ MOVSP(2, 4), 0, EXC_ALLOCA, false },
		{ RFDO, 0, EXC_ILLEGAL, false },
		{ LDDR32_P(4), DATA, EXC_ILLEGAL, false },
		{ 0x000004 /* MAC16 */, 0, EXC_ILLEGAL, false },
	};
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		PUT(board, START, cases[i].word);
		xtensa_cpu_code_changed(cpu, START, 3);
		*xtensa_ar(cpu, 4) = cases[i].addr;
		cpu->pc = START;
		set_ps(cpu, i & 1 ? PS_UM : 0);
		step(cpu);
		assert_int_equal(cpu->pc, CODE + (i & 1 ? 0x340 : 0x300));
		assert_int_equal(cpu->sr[XTENSA_SR_EPC1], START);
		assert_int_equal(cpu->sr[XTENSA_SR_EXCCAUSE], cases[i].cause);
		if (cases[i].with_address)
			assert_int_equal(cpu->sr[XTENSA_SR_EXCVADDR], cases[i].addr);
		/* a second one in the handler */
		cpu->pc = START;
		step(cpu);
		assert_int_equal(cpu->pc, CODE + 0x3c0);
		assert_int_equal(cpu->sr[XTENSA_SR_DEPC], START);
		assert_int_equal(cpu->retired, 0);
	}
	/* no code there */
	cpu->pc = 0x90000000;
	set_ps(cpu, 0);
	step(cpu);
	assert_int_equal(cpu->sr[XTENSA_SR_EXCCAUSE], EXC_FETCH_ERROR);
	assert_int_equal(cpu->sr[XTENSA_SR_EXCVADDR], 0x90000000);
}

static void test_device(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	PUT(board, START, S32I(2, 4), L32I(3, 4), L8UI(5, 4), J_SELF);
	*xtensa_ar(cpu, 4) = DEVICE;
	set_ps(cpu, 0);
	step(cpu);
	step(cpu);
	assert_int_equal(board->writes, 1);
	assert_int_equal(board->reads, 1);
	assert_int_equal(xtensa_cpu_a(cpu, 3), 0xa0000002);
	/* bytes it does not have */
	step(cpu);
	assert_int_equal(cpu->sr[XTENSA_SR_EXCCAUSE], EXC_LOAD_STORE_ERROR);
}

static void test_reset(void **state)
{
	struct board *board = *state;
	struct xtensa_cpu *cpu = &board->cpu;

	xtensa_cpu_stop(cpu, XTENSA_CAUSE_DEBUGINT);
	xtensa_sr_write(cpu, XTENSA_SR_IBREAKENABLE, 1);
	xtensa_sr_write(cpu, XTENSA_SR_WINDOWBASE, 9);
	xtensa_cpu_reset(cpu);
	assert_false(cpu->in_ocd);
	assert_int_equal(cpu->pc, START);
	assert_int_equal(cpu->sr[XTENSA_SR_PS], 0x1f);
	assert_int_equal(cpu->sr[XTENSA_SR_IBREAKENABLE], 0);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWBASE], 0);
	assert_int_equal(cpu->sr[XTENSA_SR_WINDOWSTART], 1);
	assert_int_equal(cpu->sr[XTENSA_SR_PRID], 0xcdcd);
	assert_int_equal(xtensa_cpu_a(cpu, 3), 0xa0000003);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stop_and_resume),
		TEST(test_lean_sequence),
		TEST(test_xsr_of_ddr_as_configured),
		TEST(test_rotation_comes_round),
		TEST(test_memory_through_ddr),
		TEST(test_injected_that_fault),
		TEST(test_float_and_user_registers),
		TEST(test_code_written_by_injection),
		TEST(test_last_byte_written),
		TEST(test_entry_overflows),
		TEST(test_return_to_nobody),
		TEST(test_break),
		TEST(test_break_without_debugger),
		TEST(test_instruction_breakpoint),
		TEST(test_data_breakpoint),
		TEST(test_single_step),
		TEST(test_interrupt_conditions),
		TEST(test_waiti),
		TEST(test_cycles),
		TEST(test_ccount),
		TEST(test_run_stall),
		TEST(test_interrupts_from_outside),
		TEST(test_exceptions),
		TEST(test_device),
		TEST(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
