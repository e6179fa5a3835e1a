// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Instructions as text: our own lines at literal addresses, what the library is asked for and what it is not, IT
 * blocks, limits. Whether each line is right is the business of testing/diff/test_disassembly_llvm.py.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "disassembly.h"

enum set {
	A64,
	A32,
	T32,
	M
};

struct line {
	enum set set;
	uint64_t addr;
	uint32_t opcode;	/* T32: above 0xffff it has 32 bits */
	const char *text;
	bool needs_library;	/* without one it is .inst */
};

static const struct line lines[] = {
	/* branches: absolute targets, to both sides, over the ends of the address space */
	{ A64, 0x1000, 0x14000010, "b 0x1040", false },
	{ A64, 0x1000, 0x17ffffff, "b 0xffc", false },
	{ A64, 0, 0x17ffffff, "b 0xfffffffffffffffc", false },
	{ A64, 0xffffffc000081000, 0x94000001, "bl 0xffffffc000081004", false },
	{ A64, 0x1000, 0x54000040, "b.eq 0x1008", false },
	{ A64, 0x1000, 0x5400004e, "b.al 0x1008", false },
	{ A64, 0x1000, 0x54000051, "bc.ne 0x1008", false },
	{ A64, 0x1000, 0xb4000041, "cbz x1, 0x1008", false },
	{ A64, 0x1000, 0x35ffffff, "cbnz wzr, 0xffc", false },
	{ A64, 0x1000, 0xb7f80041, "tbnz x1, #63, 0x1008", false },
	{ A64, 0x1000, 0x36000041, "tbz w1, #0, 0x1008", false },
	{ A64, 0x400, 0x7423a005, "cbbge w5, w3, 0x0", false },
	{ A64, 0x400, 0x7423e005, "cbhge w5, w3, 0x0", false },
	{ A64, 0, 0xd61f0000, "br x0", false },
	{ A64, 0, 0xd63f03c0, "blr x30", false },
	{ A64, 0, 0xd65f03c0, "ret", false },
	{ A64, 0, 0xd65f0000, "ret x0", false },
	{ A64, 0, 0xd65f0bff, "retaa", false },
	{ A64, 0, 0xd65f0fff, "retab", false },
	{ A64, 0x1000, 0x5500005f, "retaasppc 0xff8", false },
	{ A64, 0, 0xd65f0be1, "retaasppcr x1", false },
	{ A64, 0, 0xd61f081f, "braaz x0", false },
	{ A64, 0, 0xd73f0c3f, "blrab x1, sp", false },
	{ A64, 0, 0xd69f03e0, "eret", false },
	{ A64, 0, 0xd69f0bff, "eretaa", false },
	{ A64, 0, 0xd5033fdf, "isb", false },
	{ A64, 0, 0xd5033adf, "isb #10", false },
	{ A64, 0, 0xd503205f, "wfe", false },
	{ A64, 0, 0xd503207f, "wfi", false },
	{ A64, 0, 0xd5031005, "wfet x5", false },
	{ A64, 0, 0xd5031025, "wfit x5", false },
	{ A64, 0, 0xd5233061, "tstart x1", false },
	/* ours as well, so that all builds print them */
	{ A64, 0, 0xd503201f, "nop", false },
	{ A64, 0, 0xd503233f, "paciasp", false },
	{ A64, 0, 0xd503245f, "bti c", false },
	{ A64, 0, 0xd50320bf, "sevl", false },
	{ A64, 0, 0xd5032fff, "hint #127", false },
	{ A64, 0x12345, 0x90000000, "adrp x0, 0x12000", false },
	{ A64, 0x12345, 0x10000020, "adr x0, 0x12349", false },
	{ A64, 0x1000, 0x58000041, "ldr x1, 0x1008", false },
	{ A64, 0, 0xd5300040, "mrs x0, s2_0_c0_c0_2", false },
	/* a library's */
	{ A64, 0, 0x8b020020, "add x0, x1, x2", true },
	{ A64, 0, 0xf9400001, "ldr x1, [x0]", true },
	{ A64, 0, 0xd5033fbf, "dmb sy", true },
	{ A64, 0, 0xd4000001, "svc #0", true },
	/* nobody's: would be read as another register */
	{ A64, 0, 0xd503307f, ".inst 0xd503307f", false },
	{ A64, 0, 0xd500019f, ".inst 0xd500019f", false },
	{ A64, 0, 0x00000001, ".inst 0x00000001", false },

	{ A32, 0x8000, 0xea000000, "b 0x8008", false },
	{ A32, 0x8000, 0x0bfffffe, "bleq 0x8000", false },
	{ A32, 0x8000, 0xfb000000, "blx 0x800a", false },
	{ A32, 0, 0xe12fff1e, "bx lr", false },
	{ A32, 0, 0x112fff33, "blxne r3", false },
	{ A32, 0, 0xe1a0f00e, "mov pc, lr", false },
	{ A32, 0, 0xe1b0f10e, "lsls pc, lr, #2", false },
	{ A32, 0, 0xe25ef004, "subs pc, lr, #0x4", false },
	{ A32, 0, 0xe8bd8010, "pop {r4, pc}", false },
	{ A32, 0, 0xe8fd8010, "ldm sp!, {r4, pc} ^", false },
	{ A32, 0, 0xe49df004, "pop {pc}", false },
	{ A32, 0, 0xe79ff101, "ldr pc, [pc, r1, lsl #2]", false },
	{ A32, 0, 0xe51ff004, "ldr pc, [pc, #-4]", false },
	{ A32, 0, 0xf8bd0a00, "rfeia sp!", false },
	{ A32, 0, 0xe160006e, "eret", false },
	{ A32, 0, 0xf57ff06f, "isb sy", false },
	{ A32, 0, 0xee070f95, "mcr p15, #0, r0, c7, c5, #4", false },
	{ A32, 0, 0xe320f003, "wfi", false },
	{ A32, 0, 0xe0810009, "add r0, r1, r9", true },
	/* bits that should be one are not */
	{ A32, 0, 0xe120001e, ".inst 0xe120001e", false },

	{ T32, 0x8000, 0xe7fe, "b 0x8000", false },
	{ T32, 0x8000, 0xd0fe, "beq 0x8000", false },
	{ T32, 0x8000, 0xb100, "cbz r0, 0x8004", false },
	{ T32, 0x8000, 0xf000f800, "bl 0x8004", false },
	{ T32, 0x8002, 0xf000e800, "blx 0x8004", false },
	{ T32, 0x8000, 0xf43faffe, "beq.w 0x8000", false },
	{ T32, 0x8000, 0xf000b800, "b.w 0x8004", false },
	{ T32, 0, 0x4770, "bx lr", false },
	{ T32, 0, 0x46f7, "mov pc, lr", false },
	{ T32, 0, 0xbd10, "pop {r4, pc}", false },
	{ T32, 0, 0xe8bd8010, "pop.w {r4, pc}", false },
	{ T32, 0, 0xe8d0f001, "tbb [r0, r1]", false },
	{ T32, 0, 0xe8d0f011, "tbh [r0, r1, lsl #1]", false },
	{ T32, 0, 0xf85df00c, "ldr.w pc, [sp, r12]", false },
	{ T32, 0, 0xf3de8f00, "eret", false },
	{ T32, 0, 0xf3de8f04, "subs pc, lr, #4", false },
	{ T32, 0, 0xbf18, "it ne", false },
	{ T32, 0, 0xbf0b, "itete eq", false },
	{ T32, 0, 0xbf00, "nop", false },
	{ T32, 0x8002, 0xa001, "adr r0, 0x8008", false },
	{ T32, 0, 0x1840, "adds r0, r0, r1", true },
	{ T32, 0, 0x4484, "add r12, r0", true },
	{ T32, 0, 0xf00fc001, ".inst.w 0xf00fc001", false },
	{ T32, 0, 0x4774, ".inst.n 0x4774", false },
	/* capstone reads an instruction of A32 there */
	{ T32, 0, 0xf3200f10, ".inst.w 0xf3200f10", false },

	{ M, 0, 0x4774, "bxns lr", false },
	{ M, 0, 0x4784, "blxns r0", false },
	{ M, 0, 0xe97fe97f, "sg", false },
	{ M, 0, 0xe840f080, "tta r0, r0", false },
	{ M, 0x1000, 0xf00fc009, "le lr, 0xff4", false },
	{ M, 0x1000, 0xf042c005, "wls lr, r2, 0x100c", false },
	{ M, 0x1000, 0xf012c005, "wlstp.16 lr, r2, 0x100c", false },
	{ M, 0, 0xf3af801d, "pac r12, lr, sp", false },
	{ M, 0, 0xf000e800, ".inst.w 0xf000e800", false },
	{ M, 0, 0xf9200038, ".inst.w 0xf9200038", false },
	{ M, 0, 0xf3ef8010, "mrs r0, primask", true },
};

static bool has_library(void)
{
	return strcmp(itrace_disassembly_build(), "no disassembler");
}

static size_t put_opcode(enum set set, uint32_t opcode, uint8_t *bytes)
{
	if (set == T32 || set == M) {
		size_t len = 0;
		if (opcode > 0xffff) {
			bytes[len++] = (uint8_t)(opcode >> 16);
			bytes[len++] = (uint8_t)(opcode >> 24);
		}
		bytes[len++] = (uint8_t)opcode;
		bytes[len++] = (uint8_t)(opcode >> 8);
		return len;
	}
	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(opcode >> 8 * i);
	return 4;
}

static unsigned int print(struct itrace_disassembly *d, enum set set, uint64_t addr, const uint8_t *bytes, size_t len,
		char *text, size_t size)
{
	struct itrace_insn_rules m = { .m_profile = true };
	static const enum itrace_isa isas[] = { ITRACE_ISA_A64, ITRACE_ISA_A32, ITRACE_ISA_T32, ITRACE_ISA_T32 };

	return itrace_disassemble(d, isas[set], addr, bytes, len, set == M ? &m : NULL, text, size);
}

static void test_lines(void **state)
{
	(void)state;
	struct itrace_disassembly *d = itrace_disassembly_new();
	assert_non_null(d);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct line *line = &lines[i];
		uint8_t bytes[4];
		char text[ITRACE_DISASSEMBLY_MAX];
		size_t len = put_opcode(line->set, line->opcode, bytes);

		assert_int_equal(print(d, line->set, line->addr, bytes, len, text, sizeof(text)), len);
		if (line->needs_library && !has_library())
			assert_memory_equal(text, ".inst", 5);
		else
			assert_string_equal(text, line->text);

		/* nothing behind the instruction is read, and nothing less is enough */
		for (size_t cut = 0; cut < len; cut++) {
			assert_int_equal(print(d, line->set, line->addr, bytes, cut, text, sizeof(text)), 0);
			assert_string_equal(text, "");
		}
		/* cut to the room there is */
		char small[6];
		memset(small, 'x', sizeof(small));
		assert_int_equal(print(d, line->set, line->addr, bytes, len, small, 5), len);
		assert_true(strlen(small) <= 4);
		assert_int_equal(small[5], 'x');
	}
	itrace_disassembly_free(d);
}

/* Conditions of an IT block: at once, after something else was printed, and not at other addresses. */
static void test_it_block(void **state)
{
	(void)state;
	/* ite eq; moveq r0, #1; movne.w r0, #2; movs r0, #3 */
	static const uint8_t bytes[] = { 0x0c, 0xbf, 0x01, 0x20, 0x4f, 0xf0, 0x02, 0x00, 0x03, 0x20 };
	struct itrace_disassembly *d = itrace_disassembly_new();
	char text[ITRACE_DISASSEMBLY_MAX];

	assert_non_null(d);
	print(d, T32, 0x100, bytes, sizeof(bytes), text, sizeof(text));
	assert_string_equal(text, "ite eq");
	if (has_library()) {
		print(d, T32, 0x108, bytes + 8, 2, text, sizeof(text));
		assert_string_equal(text, "movs r0, #3");
		print(d, T32, 0x104, bytes + 4, 4, text, sizeof(text));
		assert_string_equal(text, "movne.w r0, #2");
		print(d, T32, 0x102, bytes + 2, 2, text, sizeof(text));
		assert_string_equal(text, "moveq r0, #1");
		print(d, T32, 0x202, bytes + 2, 2, text, sizeof(text));
		assert_string_equal(text, "movs r0, #1");
	}
	/* a branch, which is ours */
	static const uint8_t branch[] = { 0xc8, 0xbf, 0x70, 0x47 };
	print(d, T32, 0x300, branch, 4, text, sizeof(text));
	assert_string_equal(text, "it gt");
	print(d, T32, 0x302, branch + 2, 2, text, sizeof(text));
	assert_string_equal(text, "bxgt lr");
	itrace_disassembly_free(d);
}

/* Other code is at the address now: an IT instruction that is printed again replaces what was known. */
static void test_it_block_changes(void **state)
{
	(void)state;
	static const uint8_t first[] = { 0x08, 0xbf, 0x70, 0x47 };
	static const uint8_t second[] = { 0x18, 0xbf, 0x70, 0x47 };
	static const uint8_t third[] = { 0x00, 0xbf, 0x70, 0x47 };
	struct itrace_disassembly *d = itrace_disassembly_new();
	char text[ITRACE_DISASSEMBLY_MAX];

	assert_non_null(d);
	print(d, T32, 0x100, first, 4, text, sizeof(text));
	print(d, T32, 0x102, first + 2, 2, text, sizeof(text));
	assert_string_equal(text, "bxeq lr");
	print(d, T32, 0x100, second, 4, text, sizeof(text));
	print(d, T32, 0x102, second + 2, 2, text, sizeof(text));
	assert_string_equal(text, "bxne lr");
	print(d, T32, 0x100, third, 4, text, sizeof(text));
	print(d, T32, 0x102, third + 2, 2, text, sizeof(text));
	assert_string_equal(text, "bx lr");
	itrace_disassembly_free(d);
}

static void test_m_profile_has_no_a32(void **state)
{
	(void)state;
	static const uint8_t bytes[4] = { 0x1e, 0xff, 0x2f, 0xe1 };
	struct itrace_insn_rules m = { .m_profile = true };
	struct itrace_disassembly *d = itrace_disassembly_new();
	char text[ITRACE_DISASSEMBLY_MAX];

	assert_non_null(d);
	assert_int_equal(itrace_disassemble(d, ITRACE_ISA_A32, 0, bytes, 4, &m, text, sizeof(text)), 4);
	assert_string_equal(text, ".inst 0xe12fff1e");
	itrace_disassembly_free(d);
	itrace_disassembly_free(NULL);
}

/* Every first halfword and every top halfword gives a line that can be printed. */
static void test_any_opcode(void **state)
{
	(void)state;
	struct itrace_disassembly *d = itrace_disassembly_new();
	char text[ITRACE_DISASSEMBLY_MAX];

	assert_non_null(d);
	for (uint32_t i = 0; i < 0x10000; i++) {
		uint8_t bytes[4] = { (uint8_t)(i * 77), (uint8_t)(i * 31), (uint8_t)i, (uint8_t)(i >> 8) };
		for (unsigned int set = A64; set <= M; set++) {
			unsigned int len = print(d, set, 0x1000, set >= T32 ? bytes + 2 : bytes, set >= T32 ? 2 : 4, text,
				sizeof(text));
			assert_true(len == 4 || len == 2 || (set >= T32 && i >= 0xe800));
			assert_true(!len || text[0]);
			for (const char *c = text; *c; c++)
				assert_true(*c >= ' ' && *c < 0x7f);
		}
	}
	itrace_disassembly_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_it_block),
		cmocka_unit_test(test_it_block_changes),
		cmocka_unit_test(test_m_profile_has_no_a32),
		cmocka_unit_test(test_any_opcode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
