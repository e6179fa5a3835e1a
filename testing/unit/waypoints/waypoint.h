/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A row of a64.inc, a32.inc, t32.inc, and what it says under each combination of rules. */

#ifndef TESTING_UNIT_WAYPOINTS_WAYPOINT_H
#define TESTING_UNIT_WAYPOINTS_WAYPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include <itrace/insn.h>

/* struct waypoint.needs; the first four are also the bits of waypoint_rules() */
#define NEEDS_WFX	0x01u
#define NEEDS_V8_3	0x02u
#define NEEDS_V9	0x04u
#define NEEDS_M		0x08u
#define NEEDS_NOT_M	0x10u

#define WAYPOINT_RULES_NUM 16

struct waypoint {
	uint32_t opcode;
	uint64_t addr;
	enum itrace_insn_class class;
	unsigned int flags;
	unsigned int size;
	uint64_t target;
	enum itrace_isa target_isa;
	unsigned int it_count;
	unsigned int needs;
	const char *text;
};

/* Bits of @a set as rules, 0 <= set < WAYPOINT_RULES_NUM. */
static inline struct itrace_insn_rules waypoint_rules(unsigned int set)
{
	return (struct itrace_insn_rules) {
		.wfx = set & NEEDS_WFX,
		.v8_3 = set & NEEDS_V8_3,
		.v9 = set & NEEDS_V9,
		.m_profile = set & NEEDS_M,
	};
}

/* Is the row a waypoint under waypoint_rules(set)? */
static inline bool waypoint_applies(const struct waypoint *row, unsigned int set)
{
	return !(row->needs & ~(set & NEEDS_M ? set : set | NEEDS_NOT_M));
}

#endif /* TESTING_UNIT_WAYPOINTS_WAYPOINT_H */
