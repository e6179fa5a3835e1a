// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stdio.h>

#include <helper/log.h>
#include <target/breakpoints.h>
#include <target/cortex_m.h>
#include <target/target.h>

#include "mtb_port.h"
#include "mtb_trigger.h"

#define MTB_TRIGGERS		4u		/* TSTART and TSTOP know so many comparators */

/* DWT of Armv8-M: COMPn, FUNCTIONn */
#define V8M_DWT(devarch)	(((devarch) & 0x10ffffu) == 0x101a02u)
#define FUNCTION_MATCH		0xfu
#define FUNCTION_MATCH_INSN	2u		/* instruction address; with ACTION 0 nothing but the trigger */
#define FUNCTION_ACTION		(3u << 4)
#define FUNCTION_CAN_INSN	(1u << 28)	/* of the ID in [31:27] */
#define FUNCTION_ID		(0x1fu << 27)

/* The block of Kinetis parts. No other part with a Cortex-M0+ has anything at this place. */
#define KINETIS_MTB		0xf0000000u
#define MTB_DWT			0xf0001000u
#define MTB_DWT_COMP(n)		(MTB_DWT + 0x20 + 0x10 * (n))
#define MTB_DWT_MASK(n)		(MTB_DWT + 0x24 + 0x10 * (n))
#define MTB_DWT_FCT(n)		(MTB_DWT + 0x28 + 0x10 * (n))
#define MTB_DWT_TBCTRL		(MTB_DWT + 0x200)
#define FCT_FETCH		4u

struct reason {
	char *text;
	size_t size;
};

static int refuse(const struct reason *why, int error, const char *format, ...)
	__attribute__((format(PRINTF_ATTRIBUTE_FORMAT, 3, 4)));
static int refuse(const struct reason *why, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, why->size, format, arguments);
	va_end(arguments);
	return error;
}

static int get(struct target *target, const char *name, uint32_t addr, uint32_t mask, uint32_t *value,
		const struct reason *why)
{
	int retval = arm_mtb_port_read_still_word(target, addr, mask, value);

	if (retval != ERROR_OK)
		return refuse(why, retval, "%s: register %s at 0x%08" PRIx32 " cannot be read", target_name(target), name,
				addr);
	return ERROR_OK;
}

/* of a comparator's function register: reading it clears the bit, and the core can set it again */
#define FUNCTION_MATCHED	(1u << 24)

struct wanted {
	const char *name;
	uint32_t addr;
	uint32_t value;
	uint32_t mask;		/* bits that are read back as they are written */
	bool survives_reset;
};

/* Write a register, note what it held, and look whether it keeps the value. */
static int put(struct arm_mtb_trigger *trigger, const struct wanted *wanted, const struct reason *why)
{
	struct target *target = trigger->target;
	uint32_t before, after;
	int retval = get(target, wanted->name, wanted->addr, wanted->mask, &before, why);

	if (retval != ERROR_OK)
		return retval;
	trigger->writes[trigger->write_count++] = (struct arm_mtb_trigger_write) {
		.addr = wanted->addr,
		.before = before,
		.mask = wanted->mask,
		.survives_reset = wanted->survives_reset,
	};
	retval = arm_mtb_port_write_word(target, wanted->addr, wanted->value);
	if (retval != ERROR_OK)
		return refuse(why, retval, "%s: register %s at 0x%08" PRIx32 " cannot be written", target_name(target),
				wanted->name, wanted->addr);
	retval = get(target, wanted->name, wanted->addr, wanted->mask, &after, why);
	if (retval != ERROR_OK)
		return retval;
	if ((after ^ wanted->value) & wanted->mask)
		return refuse(why, ERROR_FAIL, "%s: register %s at 0x%08" PRIx32 " does not keep 0x%08" PRIx32
				": it reads 0x%08" PRIx32, target_name(target), wanted->name, wanted->addr, wanted->value, after);
	return ERROR_OK;
}

static int put_all(struct arm_mtb_trigger *trigger, const struct wanted *wanted, size_t count, const struct reason *why)
{
	for (size_t i = 0; i < count; i++) {
		int retval = put(trigger, &wanted[i], why);

		if (retval != ERROR_OK)
			return retval;
	}
	return ERROR_OK;
}

/* ---- DWT of Armv8-M ---- */

/* Entry of OpenOCD's list of comparators, from which watchpoints are given and which a reset restores. */
static struct cortex_m_dwt_comparator *comparator_of(struct target *target, unsigned int n)
{
	struct cortex_m_common *cm = target_to_cm(target);

	return n < cm->dwt_num_comp && cm->dwt_comparator_list ? &cm->dwt_comparator_list[n] : NULL;
}

static int function_name(char *name, size_t size, unsigned int n)
{
	return snprintf(name, size, "DWT_FUNCTION%u", n);
}

/* Who has comparators, as text for a message. */
static void list_users(struct target *target, uint32_t programs, char *text, size_t size)
{
	const char *between = "; in use:";
	size_t len = 0;

	text[0] = '\0';
	for (struct watchpoint *wp = target->watchpoints; wp && len < size; wp = wp->next) {
		len += snprintf(text + len, size - len, "%s watchpoint at " TARGET_ADDR_FMT, between, wp->address);
		between = ",";
	}
	for (unsigned int n = 0; n < MTB_TRIGGERS && len < size; n++) {
		if (!(programs >> n & 1))
			continue;
		len += snprintf(text + len, size - len, "%s comparator %u by the program", between, n);
		between = ",";
	}
}

/* @a chosen: @a count comparators that nobody uses, from the highest down. */
static int choose(struct target *target, unsigned int count, unsigned int *chosen, const struct reason *why)
{
	struct cortex_m_common *cm = target_to_cm(target);
	/* watchpoints that are to be set at the next resume have no comparator yet, but a claim to one */
	unsigned int unclaimed = cm->dwt_comp_available;
	unsigned int there = MIN(cm->dwt_num_comp, MTB_TRIGGERS);
	unsigned int found = 0;
	unsigned int able = 0;
	uint32_t programs = 0;

	for (unsigned int n = there; n-- > 0;) {
		const struct cortex_m_dwt_comparator *comparator = comparator_of(target, n);
		uint32_t function;
		char name[24];

		if (!comparator || comparator->used)
			continue;
		function_name(name, sizeof(name), n);
		int retval = get(target, name, comparator->dwt_comparator_address + 8, ~FUNCTION_MATCHED, &function, why);
		if (retval != ERROR_OK)
			return retval;
		if (function & FUNCTION_MATCH) {
			programs |= 1u << n;
			continue;
		}
		if (function & FUNCTION_ID && !(function & FUNCTION_CAN_INSN))
			continue;
		able++;
		if (found < count)
			chosen[found++] = n;
	}
	if (found == count && unclaimed >= count)
		return ERROR_OK;
	char users[256];
	list_users(target, programs, users, sizeof(users));
	return refuse(why, ERROR_TARGET_RESOURCE_NOT_AVAILABLE, "%s: -start/-stop need %u of the DWT's %u comparators, "
			"free %u%s; remove watchpoints by rwp", target_name(target), count, cm->dwt_num_comp, MIN(able, unclaimed),
			users);
}

static void take(struct arm_mtb_trigger *trigger, unsigned int n, uint32_t address)
{
	struct cortex_m_dwt_comparator *comparator = comparator_of(trigger->target, n);

	comparator->used = true;
	comparator->comp = address;
	comparator->mask = 0;
	comparator->function = FUNCTION_MATCH_INSN;
	target_to_cm(trigger->target)->dwt_comp_available--;
	trigger->taken |= 1u << n;
	trigger->comp[n] = address;
}

static void give_back(struct arm_mtb_trigger *trigger)
{
	for (unsigned int n = 0; n < MTB_TRIGGERS; n++) {
		struct cortex_m_dwt_comparator *comparator = trigger->taken >> n & 1 ? comparator_of(trigger->target, n) : NULL;

		/* a target that was examined anew has a new list */
		if (!comparator || !comparator->used || comparator->function != FUNCTION_MATCH_INSN)
			continue;
		comparator->used = false;
		comparator->comp = 0;
		comparator->function = 0;
		target_to_cm(trigger->target)->dwt_comp_available++;
	}
	trigger->taken = 0;
}

static int set_comparator(struct arm_mtb_trigger *trigger, unsigned int n, uint32_t address, const struct reason *why)
{
	uint32_t base = comparator_of(trigger->target, n)->dwt_comparator_address;
	char comp_name[24], name[24];

	snprintf(comp_name, sizeof(comp_name), "DWT_COMP%u", n);
	function_name(name, sizeof(name), n);
	const struct wanted wanted[] = {
		{ comp_name, base, address, ~0u, true },
		{ name, base + 8, FUNCTION_MATCH_INSN, FUNCTION_MATCH | FUNCTION_ACTION, true },
	};
	take(trigger, n, address);
	return put_all(trigger, wanted, ARRAY_SIZE(wanted), why);
}

static int enable_dwt(struct arm_mtb_trigger *trigger, const struct reason *why)
{
	uint32_t demcr;
	int retval = get(trigger->target, "DEMCR", DCB_DEMCR, UINT32_MAX, &demcr, why);

	if (retval != ERROR_OK || demcr & TRCENA)
		return retval;
	const struct wanted wanted = { "DEMCR", DCB_DEMCR, demcr | TRCENA, TRCENA, false };
	return put(trigger, &wanted, why);
}

static int set_v8m(struct arm_mtb_trigger *trigger, uint32_t mtb_base, const uint32_t *start, const uint32_t *stop,
		const struct reason *why)
{
	const struct {
		const char *name;
		uint32_t offset;
		const uint32_t *address;
	} ends[] = {
		{ "MTB_TSTART", ARM_MTB_TSTART, start },
		{ "MTB_TSTOP", ARM_MTB_TSTOP, stop },
	};
	unsigned int chosen[2];
	unsigned int used = 0;
	int retval = choose(trigger->target, !!start + !!stop, chosen, why);

	if (retval == ERROR_OK)
		retval = enable_dwt(trigger, why);
	for (unsigned int i = 0; i < ARRAY_SIZE(ends) && retval == ERROR_OK; i++) {
		if (!ends[i].address)
			continue;
		unsigned int n = chosen[used++];
		const struct wanted wanted = { ends[i].name, mtb_base + ends[i].offset, 1u << n, 0xf, false };
		retval = set_comparator(trigger, n, *ends[i].address, why);
		if (retval == ERROR_OK)
			retval = put(trigger, &wanted, why);
	}
	return retval;
}

int arm_mtb_trigger_keep(struct arm_mtb_trigger *trigger)
{
	int retval = ERROR_OK;

	for (unsigned int n = 0; n < MTB_TRIGGERS && retval == ERROR_OK; n++) {
		struct cortex_m_dwt_comparator *comparator = trigger->taken >> n & 1 ? comparator_of(trigger->target, n) : NULL;

		if (!comparator || comparator->used)
			continue;
		take(trigger, n, trigger->comp[n]);
		retval = arm_mtb_port_write_word(trigger->target, comparator->dwt_comparator_address, comparator->comp);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_write_word(trigger->target, comparator->dwt_comparator_address + 8,
					comparator->function);
	}
	return retval;
}

/* ---- MTB_DWT ---- */

/* Its IDs: a CoreSight component of type "debug logic", with two comparators. */
static int find_mtb_dwt(struct target *target, uint32_t mtb_base, const struct reason *why)
{
	static const struct {
		uint32_t addr;
		uint32_t mask;
		uint32_t value;
	} ids[] = {
		{ MTB_DWT + 0xff0, 0xff, 0x0d }, { MTB_DWT + 0xff4, 0xff, 0x90 }, { MTB_DWT + 0xff8, 0xff, 0x05 },
		{ MTB_DWT + 0xffc, 0xff, 0xb1 }, { MTB_DWT + 0xfcc, 0xff, 0x04 }, { MTB_DWT, 0xf0000000, 0x20000000 },
	};
	bool found = mtb_base == KINETIS_MTB;

	for (unsigned int i = 0; i < ARRAY_SIZE(ids) && found; i++) {
		uint32_t value;

		found = arm_mtb_port_read_still_word(target, ids[i].addr, ids[i].mask, &value) == ERROR_OK &&
				(value & ids[i].mask) == ids[i].value;
	}
	if (found)
		return ERROR_OK;
	return refuse(why, ERROR_TARGET_RESOURCE_NOT_AVAILABLE, "%s: -start/-stop need an MTB_DWT or a DWT with "
			"TSTART/TSTOP; this part has neither", target_name(target));
}

/* Comparator 0 starts, 1 stops. */
static int set_mtb_dwt(struct arm_mtb_trigger *trigger, const uint32_t *start, const uint32_t *stop,
		const struct reason *why)
{
	static const char *const names[2][3] = {
		{ "MTB_DWT_COMP0", "MTB_DWT_MASK0", "MTB_DWT_FCT0" }, { "MTB_DWT_COMP1", "MTB_DWT_MASK1", "MTB_DWT_FCT1" },
	};
	const uint32_t *const addresses[2] = { start, stop };
	const struct wanted tbctrl = { "MTB_DWT_TBCTRL", MTB_DWT_TBCTRL, 1, 3, true };

	for (unsigned int n = 0; n < 2; n++) {
		uint32_t function;
		int retval = get(trigger->target, names[n][2], MTB_DWT_FCT(n), ~FUNCTION_MATCHED, &function, why);

		if (retval != ERROR_OK)
			return retval;
		if (function & 0xf)
			return refuse(why, ERROR_TARGET_RESOURCE_NOT_AVAILABLE, "%s: the program uses comparator %u of the MTB_DWT "
					"(%s reads 0x%08" PRIx32 "): write 0 there first", target_name(trigger->target), n, names[n][2],
					function);
	}
	int retval = put(trigger, &tbctrl, why);
	for (unsigned int n = 0; n < 2 && retval == ERROR_OK; n++) {
		if (!addresses[n])
			continue;
		const struct wanted wanted[] = {
			{ names[n][0], MTB_DWT_COMP(n), *addresses[n], ~0u, true },
			{ names[n][1], MTB_DWT_MASK(n), 0, 0x1f, true },
			{ names[n][2], MTB_DWT_FCT(n), FCT_FETCH, 0xf, true },
		};
		retval = put_all(trigger, wanted, ARRAY_SIZE(wanted), why);
	}
	return retval;
}

/* ---- both ---- */

/* Instructions are never fetched from device memory, nor from the system region. */
static int check_address(struct target *target, const char *option, const uint32_t *address, const struct reason *why)
{
	static const struct {
		uint32_t first;
		uint32_t last;
	} code[] = { { 0, 0x3fffffff }, { 0x60000000, 0x9fffffff } };

	for (unsigned int i = 0; i < ARRAY_SIZE(code); i++) {
		if (!address || (*address >= code[i].first && *address <= code[i].last))
			return ERROR_OK;
	}
	return refuse(why, ERROR_COMMAND_ARGUMENT_INVALID, "%s: %s 0x%08" PRIx32 ": no code can be there; give an address "
			"below 0x40000000 or in 0x60000000 to 0x9fffffff", target_name(target), option, *address);
}

static int check_target(struct target *target, const struct reason *why)
{
	const char *type = target_type_name(target);

	if (strcmp(type, "cortex_m") && strcmp(type, "hla_target"))
		return refuse(why, ERROR_TARGET_RESOURCE_NOT_AVAILABLE, "%s: -start/-stop need a target of type cortex_m or "
				"hla_target, this one is %s", target_name(target), type);
	if (!target_was_examined(target))
		return refuse(why, ERROR_TARGET_NOT_EXAMINED, "%s: not examined yet; is it powered and connected?",
				target_name(target));
	return ERROR_OK;
}

int arm_mtb_trigger_set(struct arm_mtb_trigger *trigger, struct target *target, target_addr_t mtb_base,
		const uint32_t *start, const uint32_t *stop, uint32_t *master_bits, char *why, size_t why_size)
{
	const struct reason reason = { why, why_size };
	uint32_t at_start = start ? *start & ~1u : 0;
	uint32_t at_stop = stop ? *stop & ~1u : 0;

	*master_bits = 0;
	int retval = arm_mtb_trigger_clear(trigger, false);
	if (retval != ERROR_OK)
		return refuse(&reason, retval, "%s: the comparators of the last -start/-stop cannot be put back",
				target_name(target));
	if (!start && !stop)
		return ERROR_OK;
	retval = check_target(target, &reason);
	if (retval == ERROR_OK)
		retval = check_address(target, "-start", start, &reason);
	if (retval == ERROR_OK)
		retval = check_address(target, "-stop", stop, &reason);
	if (retval == ERROR_OK && start && stop && at_start == at_stop)
		retval = refuse(&reason, ERROR_COMMAND_ARGUMENT_INVALID, "%s: -start and -stop are both 0x%08" PRIx32
				": nothing would be traced", target_name(target), at_start);
	if (retval != ERROR_OK)
		return retval;

	trigger->target = target;
	start = start ? &at_start : NULL;
	stop = stop ? &at_stop : NULL;
	if (V8M_DWT(target_to_cm(target)->dwt_devarch)) {
		retval = set_v8m(trigger, mtb_base, start, stop, &reason);
	} else {
		retval = find_mtb_dwt(target, mtb_base, &reason);
		if (retval == ERROR_OK)
			retval = set_mtb_dwt(trigger, start, stop, &reason);
	}
	if (retval != ERROR_OK) {
		/* what cannot be put back now is, at the next set or clear */
		arm_mtb_trigger_clear(trigger, false);
		return retval;
	}
	*master_bits = (start ? ARM_MTB_MASTER_TSTARTEN : 0) | (stop ? ARM_MTB_MASTER_TSTOPEN : 0);
	return ERROR_OK;
}

/* Some adapter drivers do not say that a write got lost. */
static int put_back(struct target *target, const struct arm_mtb_trigger_write *write)
{
	int retval = ERROR_FAIL;

	for (unsigned int i = 0; i < 3; i++) {
		uint32_t now = ~write->before;

		retval = arm_mtb_port_write_word(target, write->addr, write->before);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_read_still_word(target, write->addr, write->mask, &now);
		if (retval != ERROR_OK || !((now ^ write->before) & write->mask))
			return retval;
	}
	return ERROR_FAIL;
}

int arm_mtb_trigger_clear(struct arm_mtb_trigger *trigger, bool lost)
{
	while (trigger->write_count) {
		const struct arm_mtb_trigger_write *write = &trigger->writes[trigger->write_count - 1];

		if (!lost || write->survives_reset) {
			int retval = put_back(trigger->target, write);

			if (retval != ERROR_OK && !lost)
				return retval;
		}
		trigger->write_count--;
	}
	if (trigger->taken)
		give_back(trigger);
	return ERROR_OK;
}
