// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The command group 'coresight'.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stdlib.h>

#include <helper/jep106.h>
#include <target/arm_adi_v5.h>
#include <target/cortex_m.h>
#include <target/target.h>

#include "coresight.h"
#include "mtb.h"
#include "ocd_compat.h"
#include "ocd_refuse.h"
#include "rom_table.h"

/* AP numbers are given without big holes: so many that are not there are the end. */
#define APS_MISSING	8u
#define APS		256u

#define BASE_NONE	0xffffffffu
#define BASE_PRESENT	(1u << 0)
#define BASE_FORMAT	(1u << 1)

struct discovery {
	struct adiv5_dap *dap;
	struct adiv5_ap *ap;		/* that is walked now */
	unsigned int ap_num;
	uint32_t idr;			/* its identification register */
	struct command_context *create_in;	/* NULL: nothing is to be created */
	bool link_lost;			/* the AP itself does not answer any more */
	char *text;			/* lines of the result, NULL when memory ran out */
	size_t len;
	unsigned int mem_aps, components, unreadable;
};

static void say(struct discovery *disco, const char *format, ...)
	__attribute__((format(PRINTF_ATTRIBUTE_FORMAT, 2, 3)));
static void say(struct discovery *disco, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *more = alloc_vprintf(format, arguments);
	va_end(arguments);
	size_t len = more ? strlen(more) : 0;
	char *text = more && disco->text ? realloc(disco->text, disco->len + len + 1) : NULL;
	if (text) {
		memcpy(text + disco->len, more, len + 1);
		disco->len += len;
	} else {
		free(disco->text);
	}
	disco->text = text;
	free(more);
}

/* ---- what is read ---- */

static bool read_ap_register(struct adiv5_ap *ap, unsigned int reg, uint32_t *value)
{
	*value = 0;
	return dap_queue_ap_read(ap, reg, value) == ERROR_OK && dap_run(ap->dap) == ERROR_OK;
}

/* Some adapter drivers report success when the adapter is gone, and leave values as they were: so this is asked too. */
static void check_link(struct discovery *disco)
{
	uint32_t idr;

	disco->link_lost = !read_ap_register(disco->ap, AP_REG_IDR(disco->dap), &idr) || idr != disco->idr;
}

/* One queue for all words: quiet when memory faults, unlike a block read, as faults are what a walk may meet. */
static bool read_once(struct discovery *disco, uint64_t addr, uint32_t *words, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		words[i] = 0;
		if (mem_ap_read_u32(disco->ap, addr + 4 * i, &words[i]) != ERROR_OK)
			return false;
	}
	return dap_run(disco->dap) == ERROR_OK;
}

static bool read_words(void *ctx, uint64_t addr, uint32_t *words, unsigned int count)
{
	struct discovery *disco = ctx;

	keep_alive();
	if (addr >> 32 && !is_64bit_ap(disco->ap))
		return false;
	/* a WAIT or a bit error on the wire passes; the call behind such an error may do no more than connect anew */
	for (unsigned int attempt = 0; attempt < 3; attempt++) {
		if (read_once(disco, addr, words, count))
			return true;
		check_link(disco);
		if (!disco->link_lost && attempt)
			return false;
	}
	return false;
}

/* ---- lines: each is a Tcl dict ---- */

static const struct {
	const char *state;
	const char *note;
} states[] = {
	[ROM_FIND_COMPONENT] = { "ok", NULL },
	[ROM_FIND_TABLE] = { "ok", NULL },
	[ROM_FIND_ABSENT] = { "absent", "its entry in the ROM table says: not present" },
	[ROM_FIND_UNREADABLE] = { "unreadable", "the access fails: no clock, no power, or the ROM table is wrong" },
	[ROM_FIND_NOTHING] = { "nothing", "no component has such an ID; the ROM table is wrong" },
	[ROM_FIND_AGAIN] = { "again", "this table was walked before; the ROM table is wrong" },
	[ROM_FIND_TOO_DEEP] = { "skipped", "too many tables" },
	[ROM_FIND_CUT] = { "unreadable", "the rest of this ROM table cannot be read" },
	[ROM_FIND_TOO_MANY] = { "skipped", "too many components; the rest is not looked at" },
};

static bool has_ids(const struct rom_find *find)
{
	return find->state == ROM_FIND_COMPONENT || find->state == ROM_FIND_TABLE || find->state == ROM_FIND_AGAIN ||
		find->state == ROM_FIND_TOO_DEEP;
}

static void say_ids(struct discovery *disco, const struct cs_ids *ids)
{
	say(disco, "  part 0x%03x  designer {%s}  name {%s}", ids->part, jep106_manufacturer(ids->designer),
		cs_component_name(ids).name);
	if (ids->component_class == CS_CLASS_CORESIGHT)
		say(disco, "  devtype 0x%02x  devarch 0x%08" PRIx32, ids->devtype, ids->devarch);
}

/* The core whose memory is behind the AP that is walked. */
static struct target *target_here(const struct discovery *disco)
{
	for (struct target *target = all_targets; target; target = target->next) {
		if (!strcmp(target_type_name(target), "cortex_m") && target_was_examined(target) &&
				target_to_cm(target)->armv7m.debug_ap == disco->ap)
			return target;
	}
	return NULL;
}

static void create_mtb(struct discovery *disco, uint64_t addr)
{
	struct target *target = target_here(disco);
	char why[256] = "out of memory";

	if (!target) {
		say(disco, "  note {no object: there is no examined cortex_m target on this AP}");
		return;
	}
	char *name = alloc_printf("%s.mtb", target_name(target));
	struct arm_mtb *mtb = name ? arm_mtb_create(disco->create_in, name, target, why, sizeof(why)) : NULL;
	if (mtb) {
		arm_mtb_set_baseaddr(mtb, addr);
		say(disco, "  object %s", name);
	} else {
		/* braces would end the note */
		for (char *at = why; *at; at++)
			*at = strchr("{}\\", *at) ? '\'' : *at;
		say(disco, "  note {no object: %s}", why);
	}
	free(name);
}

static void create(struct discovery *disco, const struct rom_find *find)
{
	const char *group = cs_component_name(&find->ids).group;

	if (group && !strcmp(group, "mtb"))
		create_mtb(disco, find->addr);
	else if (group)
		say(disco, "  note {no object: '%s create' is not in this version}", group);
}

static bool visit_find(void *ctx, const struct rom_find *find)
{
	struct discovery *disco = ctx;
	const char *note = states[find->state].note;

	if (find->state == ROM_FIND_NOTHING)
		check_link(disco);
	if (disco->link_lost)
		return false;
	disco->components += find->state == ROM_FIND_COMPONENT;
	disco->unreadable += find->state == ROM_FIND_UNREADABLE || find->state == ROM_FIND_CUT;
	say(disco, "%*sap %u  address 0x%08" PRIx64 "  depth %u", 2 * (int)find->depth, "", disco->ap_num, find->addr,
		find->depth);
	if (has_ids(find))
		say_ids(disco, &find->ids);
	say(disco, "  state %s", states[find->state].state);
	if (find->state == ROM_FIND_NOTHING)
		say(disco, "  cidr 0x%08" PRIx32, find->cidr);
	if (find->power_domain >= 0)
		say(disco, "  power-domain %d", find->power_domain);
	if (note)
		say(disco, "  note {%s}", note);
	else if (disco->create_in && find->state == ROM_FIND_COMPONENT)
		create(disco, find);
	say(disco, "\n");
	return true;
}

/* ---- APs ---- */

static const char *ap_type(uint32_t idr)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = {
		{ AP_TYPE_JTAG_AP, "JTAG-AP" }, { AP_TYPE_COM_AP, "COM-AP" }, { AP_TYPE_AHB3_AP, "AHB3-AP" },
		{ AP_TYPE_APB_AP, "APB-AP" }, { AP_TYPE_AXI_AP, "AXI-AP" }, { AP_TYPE_AHB5_AP, "AHB5-AP" },
		{ AP_TYPE_APB4_AP, "APB4-AP" }, { AP_TYPE_AXI5_AP, "AXI5-AP" }, { AP_TYPE_AHB5H_AP, "AHB5-AP" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i].type == (idr & AP_TYPE_MASK))
			return types[i].name;
	}
	return "AP of unknown type";
}

static bool is_mem_ap(uint32_t idr)
{
	return (idr & AP_REG_IDR_CLASS_MASK) >> AP_REG_IDR_CLASS_SHIFT == AP_REG_IDR_CLASS_MEM_AP;
}

static bool read_base(struct adiv5_ap *ap, uint64_t *base)
{
	uint32_t low, high = 0;

	if (!read_ap_register(ap, MEM_AP_REG_BASE(ap->dap), &low))
		return false;
	if (is_64bit_ap(ap) && !read_ap_register(ap, MEM_AP_REG_BASE64(ap->dap), &high))
		return false;
	*base = (uint64_t)high << 32 | low;
	return true;
}

/* All ones is the old form of "none"; else bit 1 says that bit 0 tells it. */
static bool base_is_there(uint64_t base)
{
	return (uint32_t)base != BASE_NONE && (base & (BASE_FORMAT | BASE_PRESENT)) != BASE_FORMAT;
}

static void walk_mem_ap(struct discovery *disco)
{
	struct rom_walk walk = { .read = read_words, .visit = visit_find, .ctx = disco };
	uint64_t base;

	/* an AP that no target uses is not prepared yet */
	if (disco->ap->cfg_reg == MEM_AP_REG_CFG_INVALID && mem_ap_init(disco->ap) != ERROR_OK) {
		say(disco, "  note {it cannot be set up}\n");
		return;
	}
	if (!read_base(disco->ap, &base)) {
		say(disco, "  note {its register BASE cannot be read}\n");
		return;
	}
	if (!base_is_there(base)) {
		say(disco, "  base 0x%08" PRIx64 "  note {it has no ROM table}\n", base);
		return;
	}
	say(disco, "  base 0x%08" PRIx64 "\n", base);
	rom_table_walk(&walk, base);
	if (!disco->link_lost)
		check_link(disco);
}

/* @returns true: there is an AP of this number */
static bool visit_ap(struct discovery *disco, unsigned int ap_num)
{
	struct adiv5_ap *ap = dap_get_ap(disco->dap, ap_num);

	if (!ap)
		return false;
	disco->ap = ap;
	disco->ap_num = ap_num;
	bool found = read_ap_register(ap, AP_REG_IDR(disco->dap), &disco->idr) && disco->idr;
	if (found) {
		say(disco, "ap %u  type {%s}  idr 0x%08" PRIx32, ap_num, ap_type(disco->idr), disco->idr);
		if (is_mem_ap(disco->idr)) {
			disco->mem_aps++;
			walk_mem_ap(disco);
		} else {
			say(disco, "  note {not a memory access port}\n");
		}
	}
	disco->ap = NULL;
	dap_put_ap(ap);
	return found;
}

/* @returns how many numbers were looked at */
static unsigned int visit_aps(struct discovery *disco)
{
	unsigned int missing = 0;
	unsigned int n = 0;

	while (n < APS && missing < APS_MISSING && !disco->link_lost)
		missing = visit_ap(disco, n++) ? 0 : missing + 1;
	return n;
}

/* ---- commands ---- */

static struct adiv5_dap *find_dap(struct command_invocation *cmd, const char *name)
{
	Jim_Interp *interp = cmd->ctx->interp;
	Jim_Obj *object = Jim_NewStringObj(interp, name, -1);

	Jim_IncrRefCount(object);
	struct adiv5_dap *dap = dap_instance_by_jim_obj(interp, object);
	Jim_DecrRefCount(interp, object);
	Jim_SetEmptyResult(interp);
	return dap;
}

static const char *cannot_discover(const struct adiv5_dap *dap)
{
	if (!dap)
		return "there is no DAP of this name; 'dap names' lists them";
	if (!dap->ops)
		return "not connected, or the adapter hides the DAP (high level adapters do): use -baseaddr";
	return is_adiv6(dap) ? "an ADIv6 DAP: not in this version; 'dap info root' shows what it has" : NULL;
}

COMMAND_HANDLER(handle_coresight_discover_command)
{
	if (CMD_ARGC != 1 && !(CMD_ARGC == 2 && !strcmp(CMD_ARGV[1], "-create")))
		return ERROR_COMMAND_SYNTAX_ERROR;
	struct discovery disco = { .dap = find_dap(CMD, CMD_ARGV[0]), .text = calloc(1, 1) };
	disco.create_in = CMD_ARGC == 2 ? CMD_CTX : NULL;
	const char *why = cannot_discover(disco.dap);
	if (why) {
		free(disco.text);
		return ocd_refuse(CMD, ERROR_FAIL, "%s: %s", CMD_ARGV[0], why);
	}
	unsigned int aps = visit_aps(&disco);
	bool ok = !disco.link_lost && disco.mem_aps;
	if (disco.link_lost)
		say(&disco, "%s: AP %u does not answer any more; what stands above was read before", CMD_ARGV[0], disco.ap_num);
	else
		say(&disco, "looked-at {AP 0 to %u}  mem-aps %u  components %u  unreadable %u", aps - 1, disco.mem_aps,
			disco.components, disco.unreadable);
	if (!disco.text) {
		LOG_ERROR("out of memory");
		return ERROR_FAIL;
	}
	if (!ok && !disco.link_lost)
		say(&disco, "\n%s: no memory access port answers; is the target powered, and is debug allowed?", CMD_ARGV[0]);
	ocd_result(CMD, disco.text ? disco.text : "out of memory");
	free(disco.text);
	return ok ? ERROR_OK : ERROR_FAIL;
}

static const struct command_registration arm_coresight_subcommand_handlers[] = {
	{
		.name = "discover",
		.handler = handle_coresight_discover_command,
		.mode = COMMAND_EXEC,
		.help = "list the trace and debug components that the ROM tables of a DAP name, a Tcl dict in each line; "
			"-create makes an object of each that this version can drive",
		.usage = "dap ['-create']",
	},
	COMMAND_REGISTRATION_DONE
};

const struct command_registration arm_coresight_command_handlers[] = {
	{
		.name = "coresight",
		.mode = COMMAND_ANY,
		.help = "CoreSight commands",
		.usage = "",
		.chain = arm_coresight_subcommand_handlers,
	},
	COMMAND_REGISTRATION_DONE
};
