// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>

#include <target/cortex_m.h>
#include <target/target.h>

#include "mtb_parts.h"
#include "mtb_trace.h"

static bool is_armv8m(const struct arm_mtb *mtb)
{
	if (!arm_mtb_has_core(mtb))
		return false;
	const struct cortex_m_common *cortex_m = target_to_cm(mtb->target);
	return cortex_m->core_info && cortex_m->core_info->arch == ARM_ARCH_V8M;
}

static int find_base(struct arm_mtb *mtb, char *why, size_t why_size)
{
	uint32_t slot;

	if (mtb->config.base_given) {
		mtb->port.base = mtb->config.base;
		return ERROR_OK;
	}
	if (!is_armv8m(mtb))
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "where the MTB is differs from part to part: give "
				"-baseaddr (see the part's manual, or coresight discover)");
	int retval = arm_mtb_port_read_word(mtb->target, ARM_MTB_M33_ROM_SLOT, &slot);
	/* a read that got lost would say the same */
	if (retval != ERROR_OK || !(slot & 1))
		retval = arm_mtb_port_read_word(mtb->target, ARM_MTB_M33_ROM_SLOT, &slot);
	if (retval != ERROR_OK)
		return arm_mtb_fail(why, why_size, retval, mtb, "the core's ROM table (0x%08x) cannot be read: give -baseaddr",
				ARM_MTB_M33_ROM_SLOT);
	if (!(slot & 1))
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "the core's ROM table says that this part has no MTB "
				"(0x%08" PRIx32 " at 0x%08x); if it has, give -baseaddr", slot, ARM_MTB_M33_ROM_SLOT);
	mtb->port.base = ARM_MTB_M33_ROM_TABLE + (slot & ~UINT32_C(0xfff));
	return ERROR_OK;
}

static int identify(struct arm_mtb *mtb, char *why, size_t why_size)
{
	char reason[ARM_MTB_WHY / 2];
	int retval = arm_mtb_need_target(mtb, why, why_size);

	if (retval != ERROR_OK || mtb->identified)
		return retval;
	retval = find_base(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	retval = arm_mtb_port_identify(&mtb->port, &mtb->id, reason, sizeof(reason));
	if (retval != ERROR_OK)
		return arm_mtb_fail(why, why_size, retval, mtb, "%s", reason);
	mtb->identified = true;
	return ERROR_OK;
}

int arm_mtb_look(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size)
{
	int retval = identify(mtb, why, why_size);

	if (retval != ERROR_OK)
		return retval;
	retval = arm_mtb_port_read(&mtb->port, state);
	return retval == ERROR_OK ? ERROR_OK : arm_mtb_unreachable(mtb, retval, "read", why, why_size);
}

int arm_mtb_look_alone(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size)
{
	int retval = arm_mtb_look(mtb, state, why, why_size);

	if (retval != ERROR_OK || !arm_mtb_rival(mtb))
		return retval;
	/* if it can be ended, the registers are others than before */
	retval = arm_mtb_need_alone(mtb, why, why_size);
	return retval == ERROR_OK ? arm_mtb_look(mtb, state, why, why_size) : retval;
}

int arm_mtb_find_ram(struct arm_mtb *mtb, uint32_t base, char *why, size_t why_size)
{
	if (mtb->config.rambase_given)
		base = mtb->config.rambase;
	else if (!base)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "BASE reads 0, which some parts have wrong: give "
				"-rambase, the address of the RAM");
	mtb->ram.base = base;
	mtb->ram.aw = mtb->aw;
	mtb->ram.size = mtb->config.ramsize;
	return ERROR_OK;
}

int arm_mtb_find_aw(struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size)
{
	if (mtb->aw)
		return ERROR_OK;
	const int retval = arm_mtb_port_probe_aw(&mtb->port, state->position, &mtb->aw);
	if (retval == ERROR_OK)
		return ERROR_OK;
	mtb->aw = 0;
	return arm_mtb_fail(why, why_size, retval, mtb, "POSITION at " TARGET_ADDR_FMT " does not keep what is written: "
			"is the MTB clocked, and writable for the debugger?", mtb->port.base);
}

int arm_mtb_find_armed(struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size)
{
	int retval = arm_mtb_find_aw(mtb, state, why, why_size);

	if (retval == ERROR_OK)
		retval = arm_mtb_find_ram(mtb, state->base, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	const uint64_t size = UINT64_C(16) << (state->master & ARM_MTB_MASTER_MASK);
	const uint64_t most = UINT64_C(1) << mtb->aw;
	mtb->buffer.size = (uint32_t)(size > most ? most : size);
	mtb->buffer.addr = arm_mtb_address_of(&mtb->ram, state->position & ~(mtb->buffer.size - 1));
	return ERROR_OK;
}
