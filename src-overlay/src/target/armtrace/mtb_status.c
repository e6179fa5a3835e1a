// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>

#include <target/target.h>

#include "mtb_configure.h"
#include "mtb_trace.h"
#include "mtb_result.h"
#include "mtb_status.h"
#include "ocd_compat.h"

static const char *const phase_names[ARM_MTB_PHASE_NUM] = { "idle", "armed", "stopped" };

static void print_text(struct command_invocation *cmd, const char *name, const char *text)
{
	command_print_sameline(cmd, "%s ", name);
	arm_mtb_print_element(cmd, text);
}

static void print_pair(struct command_invocation *cmd, const char *name, uint64_t value)
{
	command_print_sameline(cmd, " %s %" PRIu64, name, value);
}

int arm_mtb_status_command(struct command_invocation *cmd)
{
	struct arm_mtb *mtb = CMD_DATA;
	struct arm_mtb_state state = { 0 };
	char why[ARM_MTB_WHY] = "";

	if (CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;
	/* hardware is only asked when something of it can be known */
	const bool known = (mtb->phase != ARM_MTB_IDLE || mtb->identified) && target_was_examined(mtb->target) &&
			arm_mtb_look(mtb, &state, why, sizeof(why)) == ERROR_OK;
	const bool armed = mtb->phase == ARM_MTB_ARMED;
	/* later versions of OpenOCD forget a target that does not answer */
	if (armed && !known && !why[0])
		arm_mtb_need_target(mtb, why, sizeof(why));
	const bool full = mtb->full || (armed && arm_mtb_is_full(mtb, &state));

	print_text(CMD, "name", mtb->name);
	print_text(CMD, " target", target_name(mtb->target));
	command_print_sameline(CMD, " state %s when-full %s", phase_names[mtb->phase],
			arm_mtb_when_full_names[armed ? mtb->when_full : mtb->config.when_full]);
	print_pair(CMD, "adopted", mtb->adopted);
	print_pair(CMD, "enabled", known && state.master & ARM_MTB_MASTER_EN ? 1 : 0);
	print_pair(CMD, "wrapped", known && state.position & ARM_MTB_POSITION_WRAP ? 1 : 0);
	print_pair(CMD, "haltreq", known && state.master & ARM_MTB_MASTER_HALTREQ ? 1 : 0);
	print_pair(CMD, "full", full);
	if (known)
		command_print_sameline(CMD, " position 0x%08" PRIx32 " master 0x%08" PRIx32 " flow 0x%08" PRIx32,
				state.position, state.master, state.flow);
	else
		command_print_sameline(CMD, " position {} master {} flow {}");
	if (mtb->buffer.size)
		command_print_sameline(CMD, " buffer 0x%08" PRIx32, mtb->buffer.addr);
	else
		command_print_sameline(CMD, " buffer {}");
	print_pair(CMD, "size", mtb->buffer.size);
	print_pair(CMD, "packets", armed && known ? arm_mtb_packets(mtb, &state) : 0);
	print_pair(CMD, "bytes", armed && known ? UINT64_C(8) * arm_mtb_packets(mtb, &state) : 0);
	print_pair(CMD, "fillings", mtb->drain.fillings);
	print_pair(CMD, "lost", mtb->capture.lost);
	print_pair(CMD, "captured", mtb->capture.exists ? mtb->capture.len : 0);
	print_pair(CMD, "seams", mtb->capture.seam_count);
	print_text(CMD, " error", why[0] ? why : arm_mtb_error(mtb));
	return ERROR_OK;
}

/* @param by_stop stop writes it, too */
static const char *who_set(const struct arm_mtb *mtb, uint32_t value, uint32_t armed, bool by_stop)
{
	if (mtb->phase == ARM_MTB_IDLE)
		return "reset or the program";
	if (mtb->phase == ARM_MTB_STOPPED && by_stop)
		return "stop";
	if (mtb->phase == ARM_MTB_ARMED && mtb->adopted)
		return "the program";
	return value == armed ? "start" : "the hardware";
}

/* @param ours it is one of those that start sets */
static const char *who_set_trigger(const struct arm_mtb *mtb, bool ours)
{
	return mtb->phase == ARM_MTB_ARMED && !mtb->adopted && ours ? "start" : "reset or the program";
}

static void explain_position(const struct arm_mtb *mtb, uint32_t value, char *text, size_t size)
{
	char at[48] = "place of the next packet";

	if (mtb->ram.aw)
		snprintf(at, sizeof(at), "next packet to 0x%08" PRIx32, arm_mtb_address_of(&mtb->ram, value));
	snprintf(text, size, "%s%s", at, value & ARM_MTB_POSITION_WRAP ? ", has wrapped" : ", has not wrapped");
}

static void explain_master(const struct arm_mtb *mtb, uint32_t value, char *text, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} bits[] = {
		{ ARM_MTB_MASTER_EN, "EN" },
		{ ARM_MTB_MASTER_NSEN, "NSEN" },
		{ ARM_MTB_MASTER_HALTREQ, "HALTREQ" },
		{ ARM_MTB_MASTER_RAMPRIV, "RAMPRIV" },
		{ ARM_MTB_MASTER_SFRWPRIV, "SFRWPRIV" },
		{ ARM_MTB_MASTER_TSTOPEN, "TSTOPEN" },
		{ ARM_MTB_MASTER_TSTARTEN, "TSTARTEN" },
	};
	size_t len = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (value & bits[i].bit)
			len += (size_t)snprintf(text + len, size - len, "%s ", bits[i].name);
	const uint64_t bytes = UINT64_C(16) << (value & ARM_MTB_MASTER_MASK);
	if (mtb->aw && bytes > UINT64_C(1) << mtb->aw)
		snprintf(text + len, size - len, "buffer of all %" PRIu64 " bytes that it addresses", UINT64_C(1) << mtb->aw);
	else
		snprintf(text + len, size - len, "buffer of %" PRIu64 " bytes", bytes);
}

static void explain_flow(const struct arm_mtb *mtb, uint32_t value, char *text, size_t size)
{
	const char *then = value & ARM_MTB_FLOW_AUTOSTOP ? "stop" : value & ARM_MTB_FLOW_AUTOHALT ? "halt" : NULL;

	if (!then)
		snprintf(text, size, "nothing happens at the watermark");
	else if (mtb->ram.aw)
		snprintf(text, size, "%s when the next packet is for 0x%08" PRIx32, then, arm_mtb_address_of(&mtb->ram, value));
	else
		snprintf(text, size, "%s at the watermark", then);
}

static void print_register(struct command_invocation *cmd, const char *name, uint32_t value, const char *meaning,
		const char *who)
{
	command_print(cmd, "%-8s 0x%08" PRIx32 "  %s; set by %s", name, value, meaning, who);
}

int arm_mtb_regs_command(struct command_invocation *cmd)
{
	struct arm_mtb *mtb = CMD_DATA;
	struct arm_mtb_state state;
	char text[128], why[ARM_MTB_WHY] = "";
	uint32_t tstart, tstop;

	if (CMD_ARGC)
		return ERROR_COMMAND_SYNTAX_ERROR;
	const int retval = arm_mtb_look(mtb, &state, why, sizeof(why));
	if (retval != ERROR_OK)
		return arm_mtb_refuse(CMD, retval, why);

	explain_position(mtb, state.position, text, sizeof(text));
	print_register(CMD, "POSITION", state.position, text, who_set(mtb, state.position, mtb->armed.position, false));
	explain_master(mtb, state.master, text, sizeof(text));
	print_register(CMD, "MASTER", state.master, text, who_set(mtb, state.master, mtb->armed.master, true));
	explain_flow(mtb, state.flow, text, sizeof(text));
	print_register(CMD, "FLOW", state.flow, text, who_set(mtb, state.flow, mtb->armed.flow, true));
	if (mtb->config.rambase_given)
		snprintf(text, sizeof(text), "not used: -rambase is 0x%08" PRIx32, mtb->config.rambase);
	else
		snprintf(text, sizeof(text), "%s", state.base ? "address of the RAM" : "wrong: -rambase has to be given");
	print_register(CMD, "BASE", state.base, text, "the part");
	const target_addr_t base = mtb->port.base;
	if (mtb->id.part != 0x932 &&
			arm_mtb_port_read_still_word(mtb->target, base + ARM_MTB_TSTART, UINT32_MAX, &tstart) == ERROR_OK &&
			arm_mtb_port_read_still_word(mtb->target, base + ARM_MTB_TSTOP, UINT32_MAX, &tstop) == ERROR_OK) {
		snprintf(text, sizeof(text), "DWT comparators that start trace (bit n: comparator n)");
		print_register(CMD, "TSTART", tstart, text, who_set_trigger(mtb, mtb->has_start));
		snprintf(text, sizeof(text), "DWT comparators that stop trace (bit n: comparator n)");
		print_register(CMD, "TSTOP", tstop, text, who_set_trigger(mtb, mtb->has_stop));
	}
	return ERROR_OK;
}
