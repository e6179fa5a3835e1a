// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stddef.h>

#include "cs_component.h"

#define DEVARCH_ARM_PRESENT	0x47700000u	/* architect Arm, PRESENT */
#define DEVARCH_FIXED		0xfff00000u
#define ARCHID(devarch)		((devarch) & 0xffffu)
#define ARCHID_ROM_TABLE	0x0af7u
#define TMC_TYPE(devid)		((devid) >> 6 & 3)

struct row {
	uint16_t id;
	const char *name;
	const char *group;
};

static const struct row architectures[] = {
	{ 0x0a17, "MEM-AP", NULL },
	{ 0x0a31, "MTB", "mtb" },
	{ 0x0a34, "power requester", NULL },
	{ 0x0a57, "timestamp generator", NULL },
	{ 0x0a63, "STM", NULL },
	{ 0x0a75, "ELA", NULL },
	{ ARCHID_ROM_TABLE, "ROM table", NULL },
	{ 0x1a01, "ITM", NULL },
	{ 0x1a02, "DWT", NULL },
	{ 0x1a03, "FPB", NULL },
	{ 0x1a14, "CTI", NULL },
	{ 0x2a04, "SCS", NULL },
	{ 0x0a16, "PMU", NULL },
	{ 0x1a16, "PMU", NULL },
	{ 0x2a16, "PMU", NULL },
	{ 0x4a13, "ETMv4", "ete" },
	{ 0x5a13, "ETE", "ete" },
	{ 0x6a15, "core debug", NULL },
	{ 0x7a15, "core debug", NULL },
	{ 0x8a15, "core debug", NULL },
	{ 0x9a15, "core debug", NULL },
};

/* Arm's parts of class CORESIGHT. The model of the MTB in Cortex-M0 parts (0x9a3) was never published. */
static const struct row parts[] = {
	{ 0x193, "timestamp generator", NULL },
	{ 0x906, "CTI", NULL },
	{ 0x907, "ETB", "tmc" },
	{ 0x908, "funnel", "funnel" },
	{ 0x909, "replicator", "replicator" },
	{ 0x912, "TPIU", NULL },
	{ 0x914, "SWO", NULL },
	{ 0x923, "TPIU", NULL },
	{ 0x924, "ETMv3", NULL },
	{ 0x925, "ETMv3", NULL },
	{ 0x950, "PTM", NULL },
	{ 0x955, "ETMv3", NULL },
	{ 0x962, "STM", NULL },
	{ 0x963, "STM", NULL },
	{ 0x9a1, "TPIU", NULL },
	{ 0x9a3, "MTB of unknown model", NULL },
	{ 0x9a4, "power requester", NULL },
	{ 0x9a6, "CTI", NULL },
	{ 0x9a9, "TPIU", NULL },
	{ 0x9e7, "TPIU", NULL },
	{ 0x9e8, "TMC ETR", "tmc" },
	{ 0x9e9, "TMC ETB", "tmc" },
	{ 0x9ea, "TMC ETF", "tmc" },
	{ 0x9eb, "funnel", "funnel" },
	{ 0x9ec, "replicator", "replicator" },
	{ 0x9ed, "CTI", NULL },
	{ 0x9ee, "CATU", NULL },
};

#define PART_TMC	0x961u

static const struct row tmc_types[] = {
	{ 0, "TMC ETB", "tmc" },
	{ 1, "TMC ETR", "tmc" },
	{ 2, "TMC ETF", "tmc" },
};

/* Arm's parts of class GENERIC: what Cortex-M cores before Armv8-M have */
static const struct row generic[] = {
	{ 0x000, "SCS", NULL },
	{ 0x001, "ITM", NULL },
	{ 0x002, "DWT", NULL },
	{ 0x003, "FPB", NULL },
	{ 0x008, "SCS", NULL },
	{ 0x00a, "DWT", NULL },
	{ 0x00b, "BPU", NULL },
	{ 0x00c, "SCS", NULL },
	{ 0x00e, "FPB", NULL },
};

/* What is left: the type, which anybody's component may have */
static const struct row types[] = {
	{ 0x04, "debug logic", NULL },
	{ 0x11, "trace port", NULL },
	{ 0x12, "trace funnel by its type", NULL },
	{ 0x13, "core trace by its type", NULL },
	{ 0x14, "cross trigger", NULL },
	{ 0x15, "core debug", NULL },
	{ 0x16, "PMU", NULL },
	{ 0x21, "trace buffer by its type", NULL },
	{ 0x22, "trace replicator by its type", NULL },
	{ 0x31, "basic trace router by its type", NULL },
	{ 0x32, "trace FIFO by its type", NULL },
	{ 0x63, "software trace by its type", NULL },
};

static const struct row classes[] = {
	{ 0x0, "verification component", NULL },
	{ CS_CLASS_ROM, "ROM table", NULL },
	{ CS_CLASS_CORESIGHT, "CoreSight component", NULL },
	{ 0xb, "peripheral test block", NULL },
	{ CS_CLASS_GENERIC, "generic component", NULL },
	{ 0xf, "PrimeCell or system component", NULL },
};

static const struct row *look_up(const struct row *rows, size_t count, unsigned int id)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].id == id)
			return &rows[i];
	}
	return NULL;
}

#define LOOK_UP(rows, id) look_up(rows, sizeof(rows) / sizeof((rows)[0]), id)

static bool has_architecture(const struct cs_ids *ids)
{
	return ids->component_class == CS_CLASS_CORESIGHT && (ids->devarch & DEVARCH_FIXED) == DEVARCH_ARM_PRESENT;
}

static const struct row *find_coresight(const struct cs_ids *ids)
{
	const struct row *row = has_architecture(ids) ? LOOK_UP(architectures, ARCHID(ids->devarch)) : NULL;

	/* the ID of an MTB with another type than an MTB has is not taken for one */
	if (row && ARCHID(ids->devarch) == 0x0a31 && ids->devtype != 0x31)
		row = NULL;
	if (!row && ids->designer == CS_DESIGNER_ARM)
		row = ids->part == PART_TMC ? LOOK_UP(tmc_types, TMC_TYPE(ids->devid)) : LOOK_UP(parts, ids->part);
	return row ? row : LOOK_UP(types, ids->devtype);
}

struct cs_name cs_component_name(const struct cs_ids *ids)
{
	const struct row *row = NULL;

	if (ids->component_class == CS_CLASS_CORESIGHT)
		row = find_coresight(ids);
	else if (ids->component_class == CS_CLASS_GENERIC && ids->designer == CS_DESIGNER_ARM)
		row = LOOK_UP(generic, ids->part);
	if (!row)
		row = LOOK_UP(classes, ids->component_class);
	return row ? (struct cs_name) { row->name, row->group } : (struct cs_name) { "component of unknown class", NULL };
}

bool cs_component_is_rom_table(const struct cs_ids *ids)
{
	return ids->component_class == CS_CLASS_ROM || (has_architecture(ids) && ARCHID(ids->devarch) == ARCHID_ROM_TABLE);
}
