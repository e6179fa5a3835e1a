// SPDX-License-Identifier: GPL-2.0-or-later

/* A32 instruction classes against the assembler's table (waypoints/a32.inc), gates, and samples of all opcodes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <itrace/insn.h>

#include "waypoints/waypoint.h"

static const struct waypoint rows[] = {
#include "waypoints/a32.inc"
};

static const struct itrace_insn_rules all_rules = { .wfx = true, .v8_3 = true, .v9 = true };

static void test_table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct waypoint *row = &rows[i];

		for (unsigned int set = 0; set < WAYPOINT_RULES_NUM; set++) {
			const struct itrace_insn_rules rules = waypoint_rules(set);
			const bool applies = waypoint_applies(row, set) && !rules.m_profile;
			unsigned int flags = applies ? row->flags : row->flags & ITRACE_INSN_COND;
			struct itrace_insn insn;

			if (rules.m_profile)
				flags = 0;
			itrace_insn_a32(&rules, row->opcode, row->addr, &insn);
			if (insn.class != (applies ? row->class : ITRACE_INSN_OTHER) || insn.flags != flags ||
				insn.size != row->size || insn.target != (applies ? row->target : 0) ||
				insn.target_isa != (applies ? row->target_isa : ITRACE_ISA_A32) || insn.it_count)
				fail_msg("%s (%08x at %#llx), rules %#x: class %u flags %#x size %u target %#llx isa %u it %u",
					row->text, row->opcode, (unsigned long long)row->addr, set, insn.class, insn.flags,
					insn.size, (unsigned long long)insn.target, insn.target_isa, insn.it_count);
		}
	}
}

/* Addresses have 32 bits, and a sum stays in them. */
static void test_wrap(void **state)
{
	struct itrace_insn insn;

	itrace_insn_a32(&all_rules, 0xea000000, 0xfffffffc, &insn);
	assert_int_equal(insn.target, 0x4);
	itrace_insn_a32(&all_rules, 0xeafffffd, 0, &insn);
	assert_true(insn.target == 0xfffffffc);
	itrace_insn_a32(&all_rules, 0xfb800000, 0x1000, &insn);
	assert_true(insn.target == 0xfe00100a);
	assert_int_equal(insn.target_isa, ITRACE_ISA_T32);
}

/* The condition field of every instruction that has one. */
static void test_condition(void **state)
{
	for (uint32_t cond = 0; cond < 16; cond++) {
		struct itrace_insn insn;

		itrace_insn_a32(&all_rules, cond << 28 | 0x0a000000, 0x1000, &insn);
		assert_int_equal(insn.class, ITRACE_INSN_DIRECT);
		assert_int_equal(!!(insn.flags & ITRACE_INSN_COND), cond < 14);
		assert_int_equal(!!(insn.flags & ITRACE_INSN_LINK), cond == 15);
		/* ADD R0, R0, R0 */
		itrace_insn_a32(&all_rules, cond << 28 | 0x00800000, 0x1000, &insn);
		assert_int_equal(insn.class, ITRACE_INSN_OTHER);
		assert_int_equal(insn.flags, cond < 14 ? ITRACE_INSN_COND : 0);
	}
}

static void check_sane(uint32_t opcode)
{
	struct itrace_insn_rules rules = all_rules;
	struct itrace_insn insn;

	itrace_insn_a32(&rules, opcode, 0x12345678, &insn);
	assert_true(insn.class == ITRACE_INSN_OTHER || insn.class == ITRACE_INSN_DIRECT ||
		insn.class == ITRACE_INSN_INDIRECT || insn.class == ITRACE_INSN_ISB || insn.class == ITRACE_INSN_WFX);
	assert_true(insn.flags < 0x20 && insn.size == 4 && !insn.it_count);
	assert_true((insn.class == ITRACE_INSN_DIRECT) == !!insn.target);
	assert_true(!(insn.target & (insn.target_isa == ITRACE_ISA_T32 ? 1 : 3)) && insn.target <= UINT32_MAX);
	assert_int_equal(!!(insn.flags & ITRACE_INSN_COND), opcode < 0xe0000000);
	if (insn.class == ITRACE_INSN_OTHER)
		assert_int_equal(insn.flags & ~ITRACE_INSN_COND, 0);

	rules.m_profile = true;
	itrace_insn_a32(&rules, opcode, 0x12345678, &insn);
	assert_true(insn.class == ITRACE_INSN_OTHER && !insn.flags && insn.size == 4 && !insn.target);
}

static void test_opcode_space(void **state)
{
	for (uint64_t opcode = 0; opcode <= UINT32_MAX; opcode += 2039)
		check_sane(opcode);

	/* every value of bits 27:20, 15:12 and 7:4 under AL, EQ and in the unconditional space */
	for (uint32_t i = 0; i <= 0xffff; i++) {
		const uint32_t fields = (i & 0xff00) << 12 | (i & 0xf0) << 8 | (i & 0xf) << 4;

		check_sane(0xe0000000 | fields);
		check_sane(0xe00d000e | fields);
		check_sane(0x00000000 | fields);
		check_sane(0xf00d0a00 | fields);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_condition),
		cmocka_unit_test(test_opcode_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
