// SPDX-License-Identifier: GPL-2.0-or-later

/* T32 instruction classes against the assembler's table (waypoints/t32.inc), gates, and samples of all opcodes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <itrace/insn.h>

#include "waypoints/waypoint.h"

static const struct waypoint rows[] = {
#include "waypoints/t32.inc"
};

static const struct itrace_insn_rules a_rules = { .wfx = true, .v8_3 = true, .v9 = true };
static const struct itrace_insn_rules m_rules = { .wfx = true, .m_profile = true };

static void test_table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct waypoint *row = &rows[i];
		const uint16_t hw1 = row->size == 2 ? row->opcode : row->opcode >> 16;
		/* behind a 16-bit instruction may stand anything */
		const uint16_t hw2 = row->size == 2 ? 0xf000 + i : row->opcode;

		assert_int_equal(itrace_insn_t32_size(hw1), row->size);
		for (unsigned int set = 0; set < WAYPOINT_RULES_NUM; set++) {
			const struct itrace_insn_rules rules = waypoint_rules(set);
			const bool applies = waypoint_applies(row, set);
			struct itrace_insn insn;

			itrace_insn_t32(&rules, hw1, hw2, row->addr, &insn);
			if (insn.class != (applies ? row->class : ITRACE_INSN_OTHER) ||
				insn.flags != (applies ? row->flags : 0) || insn.size != row->size ||
				insn.target != (applies ? row->target : 0) ||
				insn.target_isa != (applies ? row->target_isa : ITRACE_ISA_T32) ||
				insn.it_count != row->it_count)
				fail_msg("%s (%x at %#llx), rules %#x: class %u flags %#x size %u target %#llx isa %u it %u",
					row->text, row->opcode, (unsigned long long)row->addr, set, insn.class, insn.flags,
					insn.size, (unsigned long long)insn.target, insn.target_isa, insn.it_count);
		}
	}
}

/* The code of the synthetic traces of low-overhead loops and IT blocks. */
static void test_vectors(void **state)
{
	static const struct {
		uint16_t hw1;
		uint16_t hw2;
		uint64_t addr;
		enum itrace_insn_class class;
		unsigned int flags;
		unsigned int size;
		uint64_t target;
		unsigned int it_count;
	} vectors[] = {
		{ 0xbf00, 0xf040, 0x1000, ITRACE_INSN_OTHER, 0, 2, 0, 0 },
		{ 0xf040, 0xc005, 0x1002, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 4, 0x100e, 0 },
		{ 0x3101, 0xbf00, 0x1006, ITRACE_INSN_OTHER, 0, 2, 0, 0 },
		{ 0xf00f, 0xc005, 0x100a, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 4, 0x1006, 0 },
		{ 0x2800, 0xbf08, 0x1002, ITRACE_INSN_OTHER, 0, 2, 0, 0 },
		{ 0xbf08, 0x4770, 0x1004, ITRACE_INSN_OTHER, 0, 2, 0, 1 },
		{ 0x4770, 0xffff, 0x1006, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN, 2, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		for (int m_profile = 0; m_profile < 2; m_profile++) {
			struct itrace_insn insn;

			itrace_insn_t32(m_profile ? &m_rules : &a_rules, vectors[i].hw1, vectors[i].hw2, vectors[i].addr,
				&insn);
			assert_int_equal(insn.class, vectors[i].class);
			assert_int_equal(insn.flags, vectors[i].flags);
			assert_int_equal(insn.size, vectors[i].size);
			assert_int_equal(insn.target, vectors[i].target);
			assert_int_equal(insn.it_count, vectors[i].it_count);
		}
	}
}

/* Addresses have 32 bits, and a sum stays in them. */
static void test_wrap(void **state)
{
	struct itrace_insn insn;

	/* B .+4 */
	itrace_insn_t32(&a_rules, 0xe000, 0, 0xfffffffe, &insn);
	assert_int_equal(insn.target, 0x2);
	/* B .-2 */
	itrace_insn_t32(&a_rules, 0xe7fd, 0, 0, &insn);
	assert_true(insn.target == 0xfffffffe);
	/* LE LR, .-8 */
	itrace_insn_t32(&m_rules, 0xf00f, 0xc007, 4, &insn);
	assert_true(insn.target == 0xfffffffc);
}

/* BLX counts from the aligned PC. */
static void test_blx_alignment(void **state)
{
	struct itrace_insn insn;

	itrace_insn_t32(&a_rules, 0xf000, 0xe800, 0x1000, &insn);
	assert_int_equal(insn.target, 0x1004);
	assert_int_equal(insn.target_isa, ITRACE_ISA_A32);
	itrace_insn_t32(&a_rules, 0xf000, 0xe800, 0x1002, &insn);
	assert_int_equal(insn.target, 0x1004);
	/* bit 0 of hw2 set: UNDEFINED */
	itrace_insn_t32(&a_rules, 0xf000, 0xe801, 0x1000, &insn);
	assert_int_equal(insn.class, ITRACE_INSN_OTHER);
}

static void check_sane(const struct itrace_insn_rules *rules, uint16_t hw1, uint16_t hw2)
{
	struct itrace_insn insn;

	itrace_insn_t32(rules, hw1, hw2, 0x12345678, &insn);
	assert_true(insn.class < ITRACE_INSN_CLASS_NUM && insn.class != ITRACE_INSN_TSTART);
	assert_true(insn.class != ITRACE_INSN_UNDESCRIBED || rules->m_profile);
	assert_true(insn.flags < 0x20 && insn.size == itrace_insn_t32_size(hw1));
	assert_true((insn.class == ITRACE_INSN_DIRECT) == !!insn.target);
	assert_true(!(insn.target & (insn.target_isa == ITRACE_ISA_A32 ? 3 : 1)) && insn.target <= UINT32_MAX);
	assert_true(insn.target_isa == ITRACE_ISA_T32 || !rules->m_profile);
	if (insn.class == ITRACE_INSN_OTHER)
		assert_int_equal(insn.flags, 0);
	if (insn.it_count)
		assert_true(insn.class == ITRACE_INSN_OTHER && insn.size == 2 && insn.it_count <= 4);
}

static void test_opcode_space(void **state)
{
	for (uint32_t hw1 = 0; hw1 <= 0xffff; hw1++) {
		const bool wide = hw1 >> 11 >= 0x1d;
		struct itrace_insn insn, again;

		assert_int_equal(itrace_insn_t32_size(hw1), wide ? 4 : 2);
		for (uint32_t hw2 = 0; hw2 <= 0xffff; hw2 += wide ? 0x1ed : 0x2001) {
			check_sane(&a_rules, hw1, hw2);
			check_sane(&m_rules, hw1, hw2);
		}
		if (!wide) {
			itrace_insn_t32(&a_rules, hw1, 0, 0x1000, &insn);
			itrace_insn_t32(&a_rules, hw1, 0xffff, 0x1000, &again);
			assert_memory_equal(&insn, &again, offsetof(struct itrace_insn, it_count) + 1);
		}
	}

	static const uint16_t branch_hw1[] = { 0xf000, 0xf00f, 0xf01f, 0xf02f, 0xf03f, 0xf040, 0xf04f, 0xf050, 0xf080,
		0xf3af, 0xf3bf, 0xf3c1, 0xf3de, 0xf440, 0xf460, 0xf470, 0xf7f0, 0xf850, 0xf85d, 0xf85f, 0xf8d0, 0xe8bd,
		0xe89f, 0xe8d0, 0xee07, 0xfb50 };

	for (size_t i = 0; i < sizeof(branch_hw1) / sizeof(branch_hw1[0]); i++) {
		for (uint32_t hw2 = 0; hw2 <= 0xffff; hw2++) {
			check_sane(&a_rules, branch_hw1[i], hw2);
			check_sane(&m_rules, branch_hw1[i], hw2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_blx_alignment),
		cmocka_unit_test(test_opcode_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
