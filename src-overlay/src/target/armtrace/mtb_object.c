// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <helper/binarybuffer.h>
#include <target/cortex_m.h>
#include <target/register.h>
#include <target/target.h>

#include "mtb_object.h"

const char *const arm_mtb_event_names[ARM_MTB_EVENT_NUM] = {
	[ARM_MTB_PRE_ENABLE] = "pre-enable",
	[ARM_MTB_POST_ENABLE] = "post-enable",
	[ARM_MTB_PRE_DISABLE] = "pre-disable",
	[ARM_MTB_RESET] = "reset",
};

static OOCD_LIST_HEAD(all_mtb);

int arm_mtb_fail(char *why, size_t why_size, int retval, const struct arm_mtb *mtb, const char *format, ...)
{
	const int len = snprintf(why, why_size, "%s: ", mtb->name);
	va_list ap;

	va_start(ap, format);
	if (len > 0 && (size_t)len < why_size)
		vsnprintf(why + len, why_size - (size_t)len, format, ap);
	va_end(ap);
	return retval == ERROR_OK ? ERROR_FAIL : retval;
}

int arm_mtb_unreachable(const struct arm_mtb *mtb, int retval, const char *what, char *why, size_t why_size)
{
	return arm_mtb_fail(why, why_size, retval, mtb, "%s at " TARGET_ADDR_FMT " cannot be %s: is the part asleep, "
			"without power or in reset?", !strcmp(what, "read") ? "the MTB's registers" : "an MTB register",
			mtb->port.base, what);
}

int arm_mtb_need_target(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	/* packets and registers are little-endian, whatever the core is */
	if (mtb->target->endianness == TARGET_BIG_ENDIAN)
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "target %s is big-endian (-endian big), which is not "
				"supported", target_name(mtb->target));
	if (!target_was_examined(mtb->target))
		return arm_mtb_fail(why, why_size, ERROR_TARGET_NOT_EXAMINED, mtb, "target %s is not examined yet: use this "
				"after init, or examine it (arp_examine)", target_name(mtb->target));
	return ERROR_OK;
}

bool arm_mtb_has_core(const struct arm_mtb *mtb)
{
	const char *type = target_type_name(mtb->target);

	return !strcmp(type, "cortex_m") || !strcmp(type, "hla_target");
}

bool arm_mtb_is_halted(const struct arm_mtb *mtb)
{
	return arm_mtb_has_core(mtb) && mtb->target->state == TARGET_HALTED;
}

bool arm_mtb_core_pc(const struct arm_mtb *mtb, uint32_t *pc)
{
	if (!arm_mtb_is_halted(mtb))
		return false;
	struct reg *reg = register_get_by_name(mtb->target->reg_cache, "pc", true);
	if (!reg || (!reg->valid && reg->type->get(reg) != ERROR_OK))
		return false;
	/* the core has not been told yet */
	if (reg->dirty)
		return false;
	*pc = buf_get_u32(reg->value, 0, 32) & ~UINT32_C(1);
	return true;
}

int arm_mtb_run_event(struct arm_mtb *mtb, enum arm_mtb_event event, char *why, size_t why_size)
{
	Jim_Interp *interp = mtb->interp;
	int retval = ERROR_OK;

	if (!mtb->config.events[event])
		return ERROR_OK;
	/* the body speaks to the target of the trace, as its own event handlers do */
	struct command_context *ctx = current_command_context(interp);
	struct target *saved = ctx->current_target_override;
	ctx->current_target_override = mtb->target;
	/* not among the variables of the procedure that happens to run */
	const int code = Jim_EvalGlobal(interp, Jim_GetString(mtb->config.events[event], NULL));
	if (code != JIM_OK) {
		const char *said = Jim_GetString(Jim_GetResult(interp), NULL);
		const int line = (int)strcspn(said, "\n");
		retval = arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "event %s: %.*s%s", arm_mtb_event_names[event],
				line, said, line ? "" : code == JIM_ERR ? "its body failed" : "its body did not run to its end");
	}
	ctx->current_target_override = saved;
	return retval;
}

uint32_t arm_mtb_used_bytes(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	if (state->position & ARM_MTB_POSITION_WRAP)
		return mtb->buffer.size;
	return state->position & ARM_MTB_POSITION_POINTER & (mtb->buffer.size - 1);
}

uint32_t arm_mtb_packets(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	return mtb->buffer.size ? arm_mtb_used_bytes(mtb, state) / ARM_MTB_PACKET_LEN : 0;
}

bool arm_mtb_is_full(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	const bool at_watermark = !((state->position ^ state->flow) & ARM_MTB_POSITION_POINTER);

	return state->master & ARM_MTB_MASTER_HALTREQ || (mtb->when_full == ARM_MTB_STOP && at_watermark &&
			state->flow & ARM_MTB_FLOW_AUTOSTOP);
}

const char *arm_mtb_error(const struct arm_mtb *mtb)
{
	return mtb->error[0] ? mtb->error : mtb->drain.error;
}

/* ---- objects ---- */

struct arm_mtb *arm_mtb_find(const char *name)
{
	struct arm_mtb *mtb;

	list_for_each_entry(mtb, &all_mtb, lh)
		if (!strcmp(mtb->name, name))
			return mtb;
	return NULL;
}

struct arm_mtb *arm_mtb_tracing(const struct target *target)
{
	struct arm_mtb *mtb;

	list_for_each_entry(mtb, &all_mtb, lh)
		if (mtb->target == target && mtb->phase == ARM_MTB_ARMED)
			return mtb;
	return NULL;
}

static bool is_same_mtb(const struct arm_mtb *a, const struct arm_mtb *b)
{
	struct adiv5_dap *dap_a, *dap_b;
	uint64_t ap_a, ap_b;

	if (a->target == b->target)
		return true;
	return a->identified && b->identified && a->port.base == b->port.base &&
			arm_mtb_port_find_ap(a->target, &dap_a, &ap_a) && arm_mtb_port_find_ap(b->target, &dap_b, &ap_b) &&
			dap_a == dap_b && ap_a == ap_b;
}

struct arm_mtb *arm_mtb_rival(const struct arm_mtb *mtb)
{
	struct arm_mtb *other;

	list_for_each_entry(other, &all_mtb, lh)
		if (other != mtb && other->phase == ARM_MTB_ARMED && is_same_mtb(other, mtb))
			return other;
	return NULL;
}

bool arm_mtb_command_exists(Jim_Interp *interp, const char *name)
{
	Jim_Obj *object = Jim_NewStringObj(interp, name, -1);

	Jim_IncrRefCount(object);
	const bool exists = Jim_GetCommand(interp, object, JIM_NONE);
	Jim_DecrRefCount(interp, object);
	return exists;
}

struct arm_mtb *arm_mtb_object_new(Jim_Interp *interp, const char *name, struct target *target, char *why,
		size_t why_size)
{
	static const char *const types[] = { "cortex_m", "hla_target", "mem_ap" };
	bool known = false;

	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		known |= !strcmp(target_type_name(target), types[i]);
	if (!known) {
		snprintf(why, why_size, "%s: target %s is %s; an MTB needs cortex_m, hla_target or mem_ap", name,
				target_name(target), target_type_name(target));
		return NULL;
	}
	struct arm_mtb *mtb = calloc(1, sizeof(*mtb));
	if (mtb)
		mtb->name = strdup(name);
	if (!mtb || !mtb->name) {
		free(mtb);
		snprintf(why, why_size, "%s: out of memory", name);
		return NULL;
	}
	mtb->target = target;
	mtb->interp = interp;
	mtb->port.target = target;
	mtb->decoder.group = mtb->name;
	mtb->decoder.protocol = "mtb";
	list_add(&mtb->lh, &all_mtb);
	return mtb;
}

void arm_mtb_object_free(struct arm_mtb *mtb)
{
	list_del(&mtb->lh);
	for (unsigned int i = 0; i < ARM_MTB_EVENT_NUM; i++)
		if (mtb->config.events[i])
			Jim_DecrRefCount(mtb->interp, mtb->config.events[i]);
	for (size_t i = 0; i < mtb->config.elf_count; i++)
		free(mtb->config.elfs[i]);
	free(mtb->config.elfs);
	free(mtb->config.start);
	free(mtb->config.stop);
	arm_mtb_capture_free(&mtb->capture);
	arm_mtb_capture_free(&mtb->drained);
	free(mtb->decoder.ledger);
	free(mtb->name);
	free(mtb);
}

void arm_mtb_objects_each(void (*action)(struct arm_mtb *mtb))
{
	struct arm_mtb *mtb, *next;

	list_for_each_entry_safe(mtb, next, &all_mtb, lh)
		action(mtb);
}
