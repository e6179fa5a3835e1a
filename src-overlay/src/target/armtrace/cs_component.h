/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a CoreSight component is, from its ID registers.
 *
 * Sources: part numbers, types and architecture IDs as Linux, pyOCD and OpenOCD's own table have them.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_CS_COMPONENT_H
#define OPENOCD_TARGET_ARMTRACE_CS_COMPONENT_H

#include <stdbool.h>
#include <stdint.h>

#define CS_DESIGNER_ARM		0x23bu

enum cs_class {
	CS_CLASS_ROM = 0x1,
	CS_CLASS_CORESIGHT = 0x9,
	CS_CLASS_GENERIC = 0xe,
};

struct cs_ids {
	uint8_t component_class;	/* CIDR1[7:4] */
	uint16_t part;			/* of PIDR0, PIDR1 */
	uint16_t designer;		/* JEP106: continuation code << 7 | code */
	/* class CORESIGHT only, else 0 */
	uint32_t devarch;
	uint32_t devid;
	uint8_t devtype;
};

struct cs_name {
	const char *name;		/* never NULL */
	const char *group;		/* command group that can drive it, known by more than its type; or NULL */
};

/** @returns the most exact name that the IDs allow */
struct cs_name cs_component_name(const struct cs_ids *ids);

/** @returns true for a ROM table of either class */
bool cs_component_is_rom_table(const struct cs_ids *ids);

#endif /* OPENOCD_TARGET_ARMTRACE_CS_COMPONENT_H */
