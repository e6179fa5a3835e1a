// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A64 instruction classes against the assembler's table (waypoints/a64.inc), gates, and samples of the whole
 * opcode space.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <itrace/insn.h>

#include "waypoints/waypoint.h"

static const struct waypoint rows[] = {
#include "waypoints/a64.inc"
};

static const struct itrace_insn_rules all_rules = { .wfx = true, .v8_3 = true, .v9 = true };

static void test_table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct waypoint *row = &rows[i];

		for (unsigned int set = 0; set < WAYPOINT_RULES_NUM; set++) {
			const struct itrace_insn_rules rules = waypoint_rules(set);
			const bool applies = waypoint_applies(row, set);
			struct itrace_insn insn;

			itrace_insn_a64(&rules, row->opcode, row->addr, &insn);
			if (insn.class != (applies ? row->class : ITRACE_INSN_OTHER) ||
				insn.flags != (applies ? row->flags : 0) || insn.size != row->size ||
				insn.target != (applies ? row->target : 0) || insn.target_isa != ITRACE_ISA_A64 ||
				insn.it_count)
				fail_msg("%s (%08x at %#llx), rules %#x: class %u flags %#x size %u target %#llx isa %u it %u",
					row->text, row->opcode, (unsigned long long)row->addr, set, insn.class, insn.flags,
					insn.size, (unsigned long long)insn.target, insn.target_isa, insn.it_count);
			if (row->class != ITRACE_INSN_OTHER)
				assert_true(itrace_insn_a64_may_branch(row->opcode));
		}
	}
}

/* The opcodes of the synthetic traces of FEAT_CMPBR and TEXIT. */
static void test_vectors(void **state)
{
	static const struct {
		uint32_t opcode;
		uint64_t addr;
		enum itrace_insn_class class;
		unsigned int flags;
		uint64_t target;
	} vectors[] = {
		{ 0xd503201f, 0x1000, ITRACE_INSN_OTHER, 0, 0 },
		{ 0xd6ff03e0, 0x1004, ITRACE_INSN_INDIRECT, ITRACE_INSN_ERET, 0 },
		{ 0xd6ff07e0, 0x1004, ITRACE_INSN_INDIRECT, ITRACE_INSN_ERET, 0 },
		{ 0x74000040, 0x1004, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x100c },
		{ 0xf5000040, 0x1010, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x1018 },
		{ 0x7400c040, 0x101c, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x1024 },
		{ 0x74008040, 0x1028, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x1030 },
		{ 0x7423a005, 0x1000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x0c00 },
		{ 0x7423e005, 0x1000, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 0x0c00 },
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct itrace_insn insn;

		itrace_insn_a64(&all_rules, vectors[i].opcode, vectors[i].addr, &insn);
		assert_int_equal(insn.class, vectors[i].class);
		assert_int_equal(insn.flags, vectors[i].flags);
		assert_int_equal(insn.target, vectors[i].target);
	}
}

/* Targets are computed modulo 2^64. */
static void test_wrap(void **state)
{
	struct itrace_insn insn;

	itrace_insn_a64(&all_rules, 0x14000002, UINT64_C(0xfffffffffffffffc), &insn);
	assert_int_equal(insn.target, 0x4);
	itrace_insn_a64(&all_rules, 0x97ffffff, 0, &insn);
	assert_true(insn.target == UINT64_C(0xfffffffffffffffc));
	itrace_insn_a64(&all_rules, 0x36040000, 0x1000, &insn);
	assert_true(insn.target == UINT64_C(0xffffffffffff9000));
}

static void check_sane(uint32_t opcode)
{
	const uint64_t addr = UINT64_C(0x7fff12345678);
	struct itrace_insn insn;

	itrace_insn_a64(&all_rules, opcode, addr, &insn);
	assert_true(insn.class < ITRACE_INSN_CLASS_NUM);
	assert_true(insn.class != ITRACE_INSN_UNDESCRIBED);
	assert_true(insn.flags < 0x20 && insn.size == 4 && insn.target_isa == ITRACE_ISA_A64 && !insn.it_count);
	assert_true((insn.class == ITRACE_INSN_DIRECT) == !!insn.target);
	assert_true(!(insn.target & 3));
	if (insn.class == ITRACE_INSN_OTHER)
		assert_int_equal(insn.flags, 0);
	else
		assert_true(itrace_insn_a64_may_branch(opcode));

	/* no rule makes a waypoint of what is none with all of them */
	if (insn.class == ITRACE_INSN_OTHER) {
		const struct itrace_insn_rules no_rules = { .wfx = false };

		itrace_insn_a64(&no_rules, opcode, addr, &insn);
		assert_int_equal(insn.class, ITRACE_INSN_OTHER);
	}
}

static void test_opcode_space(void **state)
{
	/* a stride that is odd reaches every value of every field */
	for (uint64_t opcode = 0; opcode <= UINT32_MAX; opcode += 4093)
		check_sane(opcode);

	/* the branch space by all values of its high and low half */
	for (uint32_t high = 0x1400; high <= 0xffff; high++) {
		if (!itrace_insn_a64_may_branch(high << 16))
			continue;
		for (uint32_t low = 0; low <= 0xffff; low += 0xfb)
			check_sane(high << 16 | low);
	}
	for (uint32_t low = 0; low <= 0xffff; low++) {
		check_sane(0xd61f0000 | low);
		check_sane(0xd65f0000 | low);
		check_sane(0xd69f0000 | low);
		check_sane(0xd6ff0000 | low);
		check_sane(0xd71f0000 | low);
		check_sane(0xd5030000 | low);
		check_sane(0xd5230000 | low);
		check_sane(0x54000000 | low);
		check_sane(0x74000000 | low);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_opcode_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
